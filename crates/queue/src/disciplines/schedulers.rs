//! The list of schedulers: one file per scheduler, one line here.

crate::dispatch::schedulers::list! {
    drr::Drr,
    drrpp::Drrpp,
    prio::Prio,
    wrr::Wrr,
    srr::Srr,
    sfq::Sfq,
    wfq::Wfq,
    virtual_clock::VirtualClock,
    qfq::Qfq,
    hhf::Hhf,
    fq_codel::FqCodel,
    fq_pie::FqPie,
    fq_cobalt::FqCobalt,
    dualpi2::DualPi2,
    cake::Cake,
    tbf::Tbf,
    htb::Htb,
    tsw::Tsw,
    police::Police,
}
