//! Flows from outside this crate: others write both ends, and register them as a kind of flow.
//!
//! The ends are asked through a pointer. That costs nothing where no flow is one of these.

use crate::entry::Resolved;
use crate::flow::FlowRequest;
use sojourn_sim::{Host, Packet};
use sojourn_transport::{Gauges, ReceiverReport, SenderReport};
use sojourn_units::{DialectInfo, ParamError, ParamInfo, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

pub use sojourn_units::RegisterError;

/// One end of a flow. The network hands it packets and fires its timer ([`Host::wake`]). It has one; several timers of an end
/// are kept by [`Timers`](sojourn_sim::Timers).
///
/// What it draws comes from a [`Stream`](sojourn_sim::Stream) that it was built with.
pub trait End: Send {
    /// The run begins: time zero. A sender arms its timer for the time when it is to start.
    fn on_start(&mut self, host: &mut dyn Host);
    /// A packet from the other end has arrived.
    fn on_packet(&mut self, packet: &Packet, host: &mut dyn Host);
    /// Its timer fires.
    fn on_wake(&mut self, host: &mut dyn Host);
    /// The warm-up is over: what its reports counted so far is left out.
    fn start_measuring(&mut self, now: Time) {
        let _ = now;
    }
    /// What a sender has done, beyond the packets that the network counts by itself.
    fn sender_report(&self) -> Option<SenderReport> {
        None
    }
    /// What a receiver has got. Without it, all payload that arrives is goodput.
    fn receiver_report(&self) -> Option<ReceiverReport> {
        None
    }
    /// The state of a sender that has a window, for time series.
    fn gauges(&self) -> Option<Gauges> {
        None
    }
}

/// The two ends of a flow.
pub struct Ends {
    /// The sender.
    pub sender: Box<dyn End>,
    /// The receiver; without one, what arrives is counted and nothing answers.
    pub receiver: Option<Box<dyn End>>,
    /// What runs: the dialect in full, and every parameter with its value.
    pub resolved: Resolved,
}

/// Builds the ends of one flow from its arguments.
pub type BuildEnds =
    dyn Fn(&[(String, String)], &FlowRequest<'_>) -> Result<Ends, ParamError> + Send + Sync;

/// A kind of flow from outside. Its texts last as long as the program; leak those that are known at run time only.
pub struct ForeignFlow {
    /// The name in specifications.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    /// Builds the ends of one flow.
    pub build: Box<BuildEnds>,
}

impl fmt::Debug for ForeignFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignFlow")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl ForeignFlow {
    fn is_same(&self, other: &ForeignFlow) -> bool {
        let same = |(one, two): (&ParamInfo, &ParamInfo)| one.is_same(two);
        (self.name, self.doc, self.dialects) == (other.name, other.doc, other.dialects)
            && self.params.len() == other.params.len()
            && self.params.iter().zip(other.params).all(same)
    }
}

static REGISTER: RwLock<BTreeMap<&'static str, &'static ForeignFlow>> =
    RwLock::new(BTreeMap::new());

/// The registered kind of flow called `name`.
pub fn find(name: &str) -> Option<&'static ForeignFlow> {
    let register = REGISTER.read().unwrap_or_else(PoisonError::into_inner);
    register.get(name).copied()
}

/// The registered kinds of flow, by name.
pub fn all() -> Vec<&'static ForeignFlow> {
    let register = REGISTER.read().unwrap_or_else(PoisonError::into_inner);
    register.values().copied().collect()
}

/// Puts a kind of flow whose name is free into the register.
pub(crate) fn put(flow: ForeignFlow) -> Result<(), RegisterError> {
    let mut register = REGISTER.write().unwrap_or_else(PoisonError::into_inner);
    match register.get(flow.name) {
        Some(held) if held.is_same(&flow) => Ok(()),
        Some(_) => Err(taken(flow.name)),
        None => {
            register.insert(flow.name, Box::leak(Box::new(flow)));
            Ok(())
        }
    }
}

pub(crate) fn taken(given: &str) -> RegisterError {
    RegisterError::Taken {
        given: given.to_owned(),
        what: "kind of flow",
    }
}
