//! The catalogue: one file per discipline, one line here.

crate::registry::register! {
    aqm {
        droptail::DropTail,
        codel::Codel,
        red::Red,
        avq::Avq,
        pi::Pi,
        pi2::Pi2,
        pie::Pie,
        rem::Rem,
        step::Step,
        blue::Blue,
        choke::Choke,
        cobalt::Cobalt,
        sfb::Sfb,
    }
    scheduler {
        drr::Drr,
        htb::Htb,
        srr::Srr,
        tbf::Tbf,
        dualpi2::DualPi2,
        fq_codel::FqCodel,
        sfq::Sfq,
    }
}
