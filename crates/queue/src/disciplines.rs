//! The catalogue: one file per discipline, one line here.

crate::registry::register! {
    aqm {
        droptail::DropTail,
        codel::Codel,
        red::Red,
        avq::Avq,
        blue::Blue,
        choke::Choke,
        cobalt::Cobalt,
        pi::Pi,
        pi2::Pi2,
        pie::Pie,
        rem::Rem,
        sfb::Sfb,
        step::Step,
    }
    scheduler {
        drr::Drr,
        drrpp::Drrpp,
        dualpi2::DualPi2,
        fq_cobalt::FqCobalt,
        fq_codel::FqCodel,
        fq_pie::FqPie,
        sfq::Sfq,
        wfq::Wfq,
    }
}
