//! What a flow is asked for with.

use crate::sources::AnySource;
use sojourn_sim::Stream;
use sojourn_transport::app::Source;
use sojourn_units::{Rate, Time};

/// What a flow needs to know of its surroundings when it is built.
#[derive(Clone, Copy, Debug)]
pub struct FlowRequest<'a> {
    /// Index of the flow in the network.
    pub flow: u32,
    /// Stable name of the flow, such as `flow/reno-1`: random streams derive from it.
    pub name: &'a str,
    /// The dialect of the scenario, if it has one; the flow's own wins.
    pub dialect: Option<&'a str>,
    /// Seed of the run.
    pub seed: u64,
    /// Replication of the run.
    pub replication: u64,
    /// When the flow starts.
    pub start: Time,
    /// When its source falls silent, if it does.
    pub stop: Option<Time>,
    /// The first free number where random variables are numbered as in ns-3.
    pub ns3_number: Option<u64>,
    /// Rate of the slowest link of its path.
    pub capacity: Rate,
    /// Flows of the same entry, which share the load that it offers.
    pub shares: u64,
}

impl FlowRequest<'_> {
    pub(crate) fn stream(&self, purpose: &str) -> Stream {
        let name = format!("{}/{purpose}", self.name);
        Stream::derive(self.seed, self.replication, &name)
    }

    /// Numbers the random variables of a source, if they are to be; says how many numbers it takes. The first replication is
    /// ns-3's first run.
    pub(crate) fn number(&self, source: &mut AnySource) -> u64 {
        let run = self.replication + 1;
        self.ns3_number
            .map_or(0, |first| source.number_streams(self.seed, run, first))
    }
}

/// The flow's own dialect, or else the scenario's.
pub(crate) fn effective_dialect<'a>(
    args: &'a [(String, String)],
    request: &FlowRequest<'a>,
) -> Option<&'a str> {
    args.iter()
        .find(|(key, _)| key == "dialect")
        .map(|(_, name)| name.as_str())
        .or(request.dialect)
}
