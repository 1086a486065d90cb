//! The TCP flows that there are, and what the name of each fixes.

use crate::flow::kind::{FlowKind, Transport};
use sojourn_cc::{CongestionControl, EcnUse, registry as cc};
use sojourn_transport::ns2::Ns2Params;
use sojourn_transport::ns3::Ns3Params;
use sojourn_transport::{RledbatParams, SackParams, TcpParams};
use sojourn_units::{DialectInfo, ParamInfo, Params};

/// What the name of a TCP flow fixes.
pub(crate) struct TcpKind {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) doc: &'static str,
    pub(crate) recovery: Option<&'static str>,
    pub(crate) congestion_control: Option<&'static str>,
}

const NAMED_TCP: [TcpKind; 5] = [
    TcpKind {
        name: "reno",
        aliases: &[],
        doc: "TCP Reno. Any new acknowledgement ends fast recovery.",
        recovery: Some("reno"),
        congestion_control: Some("reno"),
    },
    TcpKind {
        name: "newreno",
        aliases: &[],
        doc: "TCP NewReno. Fast recovery lasts until all data in flight at its start is acknowledged.",
        recovery: Some("newreno"),
        congestion_control: Some("reno"),
    },
    TcpKind {
        name: SACK,
        aliases: &[],
        doc: "TCP with selective acknowledgements and Reno's congestion window.",
        recovery: Some(SACK),
        congestion_control: Some("reno"),
    },
    TcpKind {
        name: TAHOE,
        aliases: &[],
        doc: "TCP Tahoe. After a loss, it restarts with slow start. Only in dialects ns2 and ns3_24.",
        recovery: Some("tahoe"),
        congestion_control: None,
    },
    TcpKind {
        name: "tcp",
        aliases: &[],
        doc: "TCP with the loss recovery of `recovery` and the congestion control of `cc`.",
        recovery: None,
        congestion_control: None,
    },
];

/// The recovery that only the agents of ns-2 and ns-3.24 have.
pub(crate) const TAHOE: &str = "tahoe";

/// The congestion control that is an agent of its own in ns-2.
pub(crate) const VEGAS: &str = "vegas";

/// The recovery by selective acknowledgement.
pub(crate) const SACK: &str = "sack";

/// The part of a flow whose receiver bounds it by LEDBAT.
pub(crate) const RLEDBAT: &str = "rledbat";

/// TCP flows by name: those above, and every congestion control that is not among them.
pub(crate) fn tcp_kinds() -> impl Iterator<Item = TcpKind> {
    let others = cc::all()
        .iter()
        .filter(|algorithm| NAMED_TCP.iter().all(|kind| kind.name != algorithm.name))
        .map(TcpKind::of);
    NAMED_TCP.into_iter().chain(others)
}

/// The TCP flow called `name`. A congestion control that is a class of a module is loaded.
pub(crate) fn tcp_kind(name: &str) -> Option<TcpKind> {
    match name.contains(':') {
        true => cc::find(name).map(TcpKind::of),
        false => tcp_kinds().find(|kind| kind.is_called(name)),
    }
}

impl TcpKind {
    /// The flow that is named for its congestion control.
    fn of(algorithm: &'static cc::Algorithm) -> TcpKind {
        TcpKind {
            name: algorithm.name,
            aliases: algorithm.aliases,
            doc: algorithm.doc,
            recovery: None,
            congestion_control: Some(algorithm.name),
        }
    }

    /// Whether ns-2's agent can be this flow.
    pub(crate) fn is_ns2s(&self) -> bool {
        self.recovery.is_some() || self.congestion_control.is_none() || self.name == VEGAS
    }

    /// Whether selective acknowledgement can repair its losses.
    pub(crate) fn may_be_selective(&self) -> bool {
        self.recovery.is_none_or(|recovery| recovery == SACK)
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Whether ns-3.24's socket can be this flow.
    pub(crate) fn is_ns3s(&self) -> bool {
        self.name == TAHOE
    }

    pub(crate) fn flow_kind(&self) -> FlowKind {
        let mut dialects: Vec<&'static DialectInfo> = Vec::new();
        let mut params: Vec<(&'static str, &'static [ParamInfo])> = Vec::new();
        if self.name != TAHOE {
            dialects.extend(TcpParams::DIALECTS);
            params.push(("tcp", TcpParams::TABLE));
            if self.may_be_selective() {
                params.push((SACK, SackParams::TABLE));
                params.push((RLEDBAT, RledbatParams::TABLE));
            }
            if let Some(algorithm) = cc::find(self.congestion_control.unwrap_or(DEFAULT_CC)) {
                params.push((algorithm.name, algorithm.params));
            }
        }
        if self.is_ns2s() {
            dialects.extend(Ns2Params::DIALECTS);
            params.push(("ns-2 tcp", Ns2Params::TABLE));
        }
        if self.is_ns3s() {
            dialects.extend(Ns3Params::DIALECTS);
            params.push(("ns-3.24 tcp", Ns3Params::TABLE));
        }
        FlowKind {
            name: self.name,
            aliases: self.aliases,
            doc: self.doc,
            transport: Transport::Tcp,
            params,
            dialects,
        }
    }
}

/// A parameter of TCP that the name of a flow sets: its name, value and why.
pub type Implied = (&'static str, &'static str, &'static str);

const NAMED: &str = "the name of the flow";
const SELECTIVE: Implied = (
    "recovery",
    SACK,
    "RFC 6675; what was written for it expects it",
);
const MARKS: Implied = ("ecn", "true", "it lives by marks");

/// What the name of a flow sets in its transport, whatever the dialect.
pub fn implied(name: &str) -> &'static [Implied] {
    let Some(kind) = tcp_kind(name) else {
        return &[];
    };
    match (kind.recovery, kind.congestion_control) {
        (Some("reno"), _) => &[("recovery", "reno", NAMED)],
        (Some("newreno"), _) => &[("recovery", "newreno", NAMED)],
        (Some(_), _) => &[("recovery", SACK, NAMED)],
        (None, None) => &[],
        (None, Some(control)) if needs_marks(control) => &[SELECTIVE, MARKS],
        (None, Some(_)) => &[SELECTIVE],
    }
}

/// What the name of a flow sets in ns-2's agent.
pub fn implied_in_ns2(name: &str) -> &'static [Implied] {
    match tcp_kind(name) {
        Some(kind) if kind.name == VEGAS => &[
            ("recovery", VEGAS, NAMED),
            ("headers", "0B", "tcp-vegas.cc, output: none are added"),
        ],
        Some(kind) => match kind.recovery {
            Some("newreno") => &[("recovery", "newreno", NAMED)],
            Some(SACK) => &[("recovery", SACK, NAMED)],
            Some(TAHOE) => &[("recovery", TAHOE, NAMED)],
            _ => &[],
        },
        None => &[],
    }
}

/// Whether a congestion control asks for ECN by itself.
fn needs_marks(control: &str) -> bool {
    cc::prepare(control, None, &[]).is_ok_and(|new| new().traits().ecn != EcnUse::Classic)
}

/// The congestion control of a plain TCP flow.
pub(crate) const DEFAULT_CC: &str = "reno";
