//! The catalogue: one file per discipline, one line here.

crate::registry::register! {
    aqm {
        droptail::DropTail,
        codel::Codel,
        red::Red,
        rio::Rio,
        wred::Wred,
    }
    scheduler {
        drr::Drr,
        hhf::Hhf,
        prio::Prio,
        qfq::Qfq,
        wrr::Wrr,
    }
}
