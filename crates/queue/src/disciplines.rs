//! The catalogue: one file per discipline, one line here.

crate::registry::register! {
    aqm {
        droptail::DropTail,
        codel::Codel,
    }
    scheduler {
        drr::Drr,
    }
}
