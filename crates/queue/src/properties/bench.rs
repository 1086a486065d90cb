//! A port without a link, and what can be seen of one.

use crate::registry::build_port;
use crate::{BuildContext, QueuePort, QueueState};
use sojourn_sim::{DropReason, Label, MarkReason, Packet, Port, PortSink, Ring};
use sojourn_units::{Rate, Spec, Time};

/// The port that a specification describes.
pub fn port(spec: &Spec, seed: u64, name: &str) -> QueuePort {
    build_port(spec, &BuildContext::plain(seed, &format!("queue/{name}"))).expect("a port")
}

/// Everything that a port has counted, and its state.
pub fn show(port: &QueuePort) -> String {
    let mut state = Vec::new();
    port.state(&mut state);
    let account = port.account();
    let counts = (account.total(), account.measured());
    let backlog = (account.backlog_packets(), account.backlog_bytes());
    let most = (account.backlog_max_packets, account.backlog_max_bytes);
    let reasons = (account.drops_by_reason, account.marks_by_reason);
    let least = account.sojourn_min();
    let sojourn = (account.sojourn_sum, least, account.sojourn_max);
    format!(
        "{counts:?} {backlog:?} {most:?} {:?} {reasons:?} {sojourn:?} {:?} {:?} {state:?}",
        account.backlog_mean(),
        account.sojourn(),
        account.flows
    )
}

/// A port without a link.
pub struct Bench {
    /// The port.
    pub port: QueuePort,
    /// Where packets wait under an AQM.
    pub ring: Ring,
    /// What was dropped and marked.
    pub sink: Counts,
    uid: u32,
}

/// What was dropped and marked, by flow.
#[derive(Default)]
pub struct Counts {
    /// Drops.
    pub dropped: Vec<(u32, DropReason)>,
    /// Marks.
    pub marked: Vec<(u32, MarkReason)>,
    /// Numbers of the packets dropped.
    pub(crate) uids: Vec<(u32, DropReason)>,
}

impl PortSink for Counts {
    fn dropped(&mut self, packet: Packet, reason: DropReason, _: Time) {
        self.dropped.push((packet.flow, reason));
        self.uids.push((packet.uid, reason));
    }
    fn marked(&mut self, label: &Label, reason: MarkReason, _: Time) {
        self.marked.push((label.flow, reason));
    }
}

impl Bench {
    /// Around a port of 10 Mbps.
    pub fn new(mut port: QueuePort) -> Bench {
        port.on_rate(Rate::mbps(10));
        Bench {
            port,
            ring: Ring::new(),
            sink: Counts::default(),
            uid: 0,
        }
    }

    /// A packet arrives.
    pub fn offer(&mut self, flow: u32, size: u32, tos: u8, now: Time) {
        let mut packet = Packet::test(size, flow, self.uid);
        self.uid += 1;
        packet.tos = tos;
        self.port
            .enqueue(packet, &mut self.ring, now, &mut self.sink);
    }

    /// The link asks for a packet.
    pub fn take(&mut self, now: Time) -> Option<Packet> {
        if !self.port.dequeue(&mut self.ring, now, &mut self.sink) {
            // A link for which a shaper holds packets back is not idle.
            if self.port.backlog_packets() == 0 {
                self.port.on_idle(now);
            }
            return None;
        }
        self.ring.withdraw()
    }
}

/// The internal state of a port and of all that is inside it, by name.
pub fn states(port: &QueuePort) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    port.state(&mut values);
    let mut found: Vec<(String, f64)> = named("", port.state_names(), &values);
    port.queues(&mut |queue| inside("", &queue, &mut found));
    found
}

fn inside(around: &str, queue: &QueueState<'_>, found: &mut Vec<(String, f64)>) {
    let of = format!("{around}{}/", queue.number);
    let mut values = Vec::new();
    queue.inside.state(&mut values);
    found.extend(named(&of, queue.inside.state_names(), &values));
    queue.inside.queues(&mut |queue| inside(&of, &queue, found));
}

fn named(of: &str, names: &[&str], values: &[f64]) -> Vec<(String, f64)> {
    assert_eq!(names.len(), values.len(), "{names:?}");
    let names = names.iter().map(|name| format!("{of}{name}"));
    names.zip(values.iter().copied()).collect()
}
