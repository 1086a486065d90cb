//! The catalogue: one file per discipline, one line here.

crate::registry::register! {
    aqm {
        droptail::DropTail,
        codel::Codel,
        red::Red,
        blue::Blue,
        choke::Choke,
        cobalt::Cobalt,
        green::Green,
        gsp::Gsp,
        sfb::Sfb,
    }
    scheduler {
        drr::Drr,
    }
}
