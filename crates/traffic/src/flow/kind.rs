//! What a kind of flow is.

use sojourn_units::{DialectInfo, ParamInfo};

/// Which protocol carries a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// Datagrams to a passive sink.
    Udp,
    /// TCP, or another with a receiver that answers.
    Tcp,
}

/// One kind of flow that specifications may name.
#[derive(Clone, Debug)]
pub struct FlowKind {
    /// The name in specifications.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub doc: &'static str,
    /// Which protocol carries it.
    pub transport: Transport,
    /// The parameters that it takes, by part: those of the transport, and of the congestion control or source.
    pub params: Vec<(&'static str, &'static [ParamInfo])>,
    /// Its dialects, the default one first.
    pub dialects: Vec<&'static DialectInfo>,
}

impl FlowKind {
    /// Whether that is its name, or one of the others for it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}
