//! What traces say of links, nodes and flows beside what a packet carries.

use sojourn_run::compile::{Compiled, FlowInfo, LinkInfo};
use sojourn_sim::topology::Role;
use sojourn_sim::trace_ns2::FlowLabel;
use sojourn_traffic::workload;
use sojourn_units::{Bytes, Rate, Span};
use std::collections::BTreeMap;

/// Links, nodes and connections by their numbers in the network.
pub(super) struct Scene {
    pub(super) links: Vec<Link>,
    pub(super) nodes: Vec<String>,
    pub(super) flows: Vec<Flow>,
}

/// A link direction.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) ends: (u32, u32),
    pub(super) rate: Rate,
    pub(super) delay: Span,
    /// Its discipline, with its limit.
    pub(super) queue: String,
    /// It connects a host with its router.
    pub(super) access: bool,
    /// Its events are written.
    pub(super) chosen: bool,
}

/// A connection.
pub(super) struct Flow {
    pub(super) name: String,
    /// What the flows of its group are called.
    pub(super) group: String,
    pub(super) label: FlowLabel,
    pub(super) transport: Transport,
    /// Bytes that its model counts on a packet with data beside the data: headers, options, and a link's header where the endpoint adds one.
    pub(super) headers: u32,
    /// Bytes of payload of a full segment.
    pub(super) mss: u32,
    /// Connections come and go in it: packets of the sender have the connection's number in place of what they acknowledge, those of the
    /// receiver in place of their own.
    pub(super) numbers_connections: bool,
    /// Its acknowledgements are selective.
    pub(super) selective: bool,
    /// Its acknowledgements count marks in the TCP header (Accurate ECN).
    pub(super) counts_marks: bool,
}

/// What a connection's packets look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transport {
    /// Datagrams, and what runs over them.
    Udp,
    /// TCP that numbers bytes.
    Tcp,
    /// ns-2's TCP, which numbers packets of this many bytes of payload, from the SYN as number 0 on.
    TcpInPackets(u64),
}

impl Scene {
    /// What is written of a network: all links, or those of these names.
    pub(super) fn of(compiled: &Compiled, chosen: &[String]) -> Scene {
        let links = compiled.network.links.iter().zip(&compiled.links);
        Scene {
            links: links
                .map(|(spec, info)| Link {
                    name: info.name.clone(),
                    ends: (spec.from, spec.to),
                    rate: info.rate,
                    delay: info.delay,
                    queue: queue(info),
                    access: info.role == Role::Access,
                    chosen: chosen.is_empty() || chosen.contains(&info.name),
                })
                .collect(),
            nodes: compiled.network.nodes.clone(),
            flows: flows(&compiled.flows),
        }
    }

    /// For each node, whether a flow begins or ends there and only one link leads to it.
    pub(super) fn hosts(&self) -> Vec<bool> {
        let mut links = vec![0_usize; self.nodes.len()];
        let mut ends = vec![false; self.nodes.len()];
        let at = |node: u32| usize::try_from(node).unwrap_or(usize::MAX);
        for link in &self.links {
            if let Some(count) = links.get_mut(at(link.ends.0)) {
                *count += 1;
            }
        }
        for flow in &self.flows {
            for (node, _) in [flow.label.source, flow.label.sink] {
                if let Some(end) = ends.get_mut(at(node)) {
                    *end = true;
                }
            }
        }
        let nodes = links.iter().zip(ends);
        nodes.map(|(links, end)| *links < 2 && end).collect()
    }
}

/// The discipline of a link direction, with its limit.
fn queue(link: &LinkInfo) -> String {
    let title = link.discipline.title;
    let limit = link.resolved.pairs.iter().find(|(key, _)| *key == "limit");
    match limit.map(|(_, limit)| limit.as_str()) {
        None | Some("none") => title.to_owned(),
        Some(limit) => match limit.strip_suffix('p') {
            Some(packets) => format!("{title}, {packets} packets"),
            None => format!("{title}, {limit}"),
        },
    }
}

/// An element by its number.
pub(super) fn item<T>(items: &[T], index: u32) -> Option<&T> {
    items.get(usize::try_from(index).ok()?)
}

/// What traces say of each connection. Agents of a node take its ports in turn, from 0.
fn flows(flows: &[FlowInfo]) -> Vec<Flow> {
    let mut ports: BTreeMap<u32, u32> = BTreeMap::new();
    let mut next = |node: u32| {
        let port = ports.entry(node).or_default();
        *port += 1;
        (node, *port - 1)
    };
    let connections = flows
        .iter()
        .flat_map(|flow| flow.network.clone().map(move |_| flow));
    (1..)
        .zip(connections)
        .map(|(id, flow)| {
            let (transport, headers, mss) = transport(flow);
            Flow {
                name: flow.name.clone(),
                group: flow.label.clone(),
                label: FlowLabel {
                    datagram: match flow.kind.as_str() {
                        "exponential" | "poisson" => "exp".to_owned(),
                        kind => kind.to_owned(),
                    },
                    id,
                    source: next(flow.source),
                    sink: next(flow.sink),
                },
                transport,
                headers,
                mss,
                numbers_connections: workload::find(&flow.kind).is_some(),
                selective: value(flow, "tcp", "recovery") == Some("sack"),
                counts_marks: flow.parts.iter().any(|(name, resolved)| {
                    let wished =
                        |(key, value): &(&str, String)| *key == "accurate_ecn" && value == "true";
                    *name == "sack" && resolved.pairs.iter().any(wished)
                }),
            }
        })
        .collect()
}

/// Bytes of headers where a flow does not say: IPv4 with TCP, or with UDP.
const TCP_HEADERS: u32 = 40;
pub(super) const UDP_HEADERS: u32 = 28;
/// Timestamps (RFC 7323 section 3.2) with the padding to whole words.
const TIMESTAMPS: u32 = 12;
/// Payload of a full segment where a flow does not say (RFC 9293 section 3.7.1).
const MSS: u32 = 536;

/// A resolved parameter of a part of a flow.
fn value<'a>(flow: &'a FlowInfo, part: &str, name: &str) -> Option<&'a str> {
    let (_, resolved) = flow.parts.iter().find(|(called, _)| *called == part)?;
    let (_, value) = resolved.pairs.iter().find(|(key, _)| *key == name)?;
    Some(value)
}

/// What its packets look like, bytes that are no data on a packet with data, and bytes of data in a full segment.
fn transport(flow: &FlowInfo) -> (Transport, u32, u32) {
    let bytes = |part: &str, name: &str| {
        let bytes = value(flow, part, name)?.parse::<Bytes>().ok()?.get();
        Some(u32::try_from(bytes).unwrap_or(u32::MAX))
    };
    let is_tcp = flow.parts.iter().any(|(name, _)| *name == "tcp");
    if !is_tcp {
        let headers = bytes("udp", "headers").unwrap_or(UDP_HEADERS);
        return (Transport::Udp, headers, 0);
    }
    // ns-2's packets have one size.
    if let Some(payload) = bytes("tcp", "payload") {
        let headers = bytes("tcp", "headers").unwrap_or(TCP_HEADERS);
        return (Transport::TcpInPackets(payload.into()), headers, payload);
    }
    // ns-3.24's socket has its options by name, and no parameter for all headers.
    if let Some(segment) = bytes("tcp", "segment") {
        let timestamps = match value(flow, "tcp", "timestamps") {
            Some("true") => TIMESTAMPS,
            _ => 0,
        };
        let link = bytes("tcp", "link_header").unwrap_or(0);
        let headers = TCP_HEADERS.saturating_add(timestamps).saturating_add(link);
        return (Transport::Tcp, headers, segment);
    }
    let headers = bytes("tcp", "headers").unwrap_or(TCP_HEADERS);
    let mss = bytes("tcp", "mss").unwrap_or(MSS);
    (Transport::Tcp, headers, mss)
}
