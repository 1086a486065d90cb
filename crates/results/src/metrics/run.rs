//! Metrics of a run.

use super::metric::{Entry, named, run};
use super::terms::Unit;
use crate::stats::to_f64;

/// All of them.
pub(super) const TABLE: &[Entry] = &[
    run(
        named(
            "measured_s",
            "Measured time",
            Unit::LongSeconds,
            "Simulated time from the end of the warm-up to the end of the run.",
            "duration − warm-up",
        ),
        |run| run.measured.as_secs_f64(),
    ),
    run(
        named(
            "active_s",
            "Time of the last event",
            Unit::LongSeconds,
            "Simulated time of the last event at an endpoint. Only endpoints of dialect ns3_24 record it; without one, this is the measured time.",
            "max over endpoints of the time of their last packet or timer",
        ),
        |run| run.active().as_secs_f64(),
    ),
    run(
        named(
            "created_packets",
            "Created",
            Unit::Packets,
            "Packets created in the whole run, warm-up included.",
            "count",
        ),
        |run| to_f64(run.census.created),
    ),
    run(
        named(
            "hops_packets",
            "Packet-hops",
            Unit::Packets,
            "Packets that arrived at the far end of a link, once per link, in the whole run.",
            "count",
        ),
        |run| to_f64(run.census.hops),
    ),
];
