//! The catalogue: one file per discipline, one line here.

crate::registry::register! {
    aqm {
        droptail::DropTail,
        codel::Codel,
        red::Red,
    }
    scheduler {
        drr::Drr,
        cake::Cake,
        htb::Htb,
        srr::Srr,
        tbf::Tbf,
    }
}
