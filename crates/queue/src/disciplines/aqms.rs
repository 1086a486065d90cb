//! The list of AQMs: one file per AQM, one line here.

crate::dispatch::aqms::list! {
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
