//! The table of runs: a row per run.

use std::sync::LazyLock;

use super::column::{Columns, columns};
use crate::metrics::{Level, Subject};
use crate::outcome::RunOutcome;

pub(super) static RUNS: LazyLock<Columns<RunOutcome>> = LazyLock::new(|| {
    let mut all = Columns::<RunOutcome>::keyed();
    columns! { all;
        integer "measured_ps", "ps" at [measured] "Length of the measured part of the run.";
        integer "created_packets", "packets" at [census.created] "Packets created by endpoints.";
        integer "replicated_packets", "packets" at [census.replicated] "Packets created by duplication, and where a multicast tree branches.";
        integer "delivered_packets", "packets" at [census.delivered] "Packets delivered to an endpoint.";
        integer "dropped_packets", "packets" at [census.dropped] "Packets dropped, anywhere.";
        integer "left_packets", "packets" at [census.left] "Packets in queues and on wires when the run ended.";
        integer "hops_packets", "packets" at [census.hops] "Packets that arrived at the far end of a link, once per link.";
        integer "events_count", "1" at [census.events] "Events of links and endpoints, including deferred ones that never entered the event list.";
    }
    all.metrics(Level::Run, |run, _| Subject::Run(run));
    all.metrics(Level::Group, |run, measured| {
        let forward = run.flows.iter().filter(|flow| flow.forward);
        Subject::Flows(forward.collect(), measured, run.active())
    });
    all
});
