//! The catalogue: one file per discipline, one line here.

crate::registry::disciplines! {
    aqm {
        droptail::DropTail,
        codel::CoDel,
    }
    scheduler {
        drr::Drr,
    }
}
