//! The catalogue: one file per discipline, one line here.

crate::registry::register! {
    aqm {
        droptail::DropTail,
        codel::Codel,
        red::Red,
        wred::Wred,
        rio::Rio,
        blue::Blue,
        sfb::Sfb,
        choke::Choke,
        fred::Fred,
        green::Green,
        pi::Pi,
        rem::Rem,
        avq::Avq,
        pie::Pie,
        pi2::Pi2,
        cobalt::Cobalt,
        gsp::Gsp,
        step::Step,
    }
    scheduler {
        drr::Drr,
        drrpp::Drrpp,
        prio::Prio,
        wrr::Wrr,
        srr::Srr,
        sfq::Sfq,
        wfq::Wfq,
        qfq::Qfq,
        hhf::Hhf,
        fq_codel::FqCodel,
        fq_pie::FqPie,
        fq_cobalt::FqCobalt,
        dualpi2::DualPi2,
        cake::Cake,
        tbf::Tbf,
        htb::Htb,
    }
}
