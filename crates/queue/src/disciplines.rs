//! The catalogue: one file per discipline, one line here.

crate::registry::register! {
    aqm {
        droptail::DropTail,
        codel::Codel,
        red::Red,
        pie::Pie,
    }
    scheduler {
        drr::Drr,
        drrpp::Drrpp,
        fq_codel::FqCodel,
        fq_pie::FqPie,
        sfq::Sfq,
        wfq::Wfq,
    }
}
