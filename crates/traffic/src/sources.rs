//! The catalogue of traffic sources: one file per source, one line here.
//!
//! A source says when its application writes and how much, in times from its own start.

mod on_off;
mod pacer;

crate::register::register! {
    bulk::Bulk,
    cbr::Cbr,
    poisson::Poisson,
    exponential::Exponential,
    pareto::Pareto,
    fgn::Fgn,
    periodic::Periodic,
    on_off_app::OnOffApp,
    voice::Voice,
    video::Video,
}
