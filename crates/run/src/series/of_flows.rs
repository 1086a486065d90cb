//! What is recorded of flows: one entry per name of `record` and kind of flow.

use sojourn_cc::{CongestionControl, Phase};
use sojourn_traffic::Endpoint;
use sojourn_units::Span;

use super::samples::count;

/// What can be recorded of a flow.
pub(super) struct OfFlow {
    /// The name in `record`.
    pub(super) asked: &'static str,
    /// About how many series there are of a flow, rather more than fewer; none where another entry of this name has said it.
    pub(super) about: u64,
    /// Whether a flow has it.
    pub(super) has: fn(&FlowEnds<'_>) -> bool,
    /// The quantities, each with its unit.
    pub(super) quantities: fn(&FlowEnds<'_>) -> Vec<String>,
    /// A sample of each.
    pub(super) sample: fn(&FlowSample<'_>, &mut Vec<f64>),
}

/// The ends of a flow.
pub(super) struct FlowEnds<'a> {
    pub(super) sender: &'a Endpoint,
    /// Whether it has a receiver of its own, or members.
    pub(super) arrives: bool,
}

/// A flow at the end of a step.
pub(super) struct FlowSample<'a> {
    pub(super) sender: &'a Endpoint,
    pub(super) receiver: Option<&'a Endpoint>,
    /// Number of its first connection.
    pub(super) number: u32,
    /// Bytes that arrived during the step.
    pub(super) arrived: u64,
    /// Packets sent, delivered and dropped during the step; counted only where they are asked for.
    pub(super) packets: [u64; 3],
    pub(super) step: Span,
    /// Names that the congestion control tells, as it tells them.
    pub(super) control: &'a [&'static str],
}

impl FlowSample<'_> {
    fn per_second(&self, number: u64) -> f64 {
        count(number) / self.step.as_secs_f64()
    }
}

fn names<const N: usize>(all: [&str; N]) -> Vec<String> {
    all.map(str::to_owned).to_vec()
}

fn seconds(time: Option<Span>) -> f64 {
    time.map_or(f64::NAN, Span::as_secs_f64)
}

/// Everything, in the order in which it is recorded.
pub(super) const OF_FLOWS: &[OfFlow] = &[
    OfFlow {
        asked: "throughput",
        about: 1,
        has: |_| true,
        quantities: |_| names(["throughput_bps"]),
        sample: |flow, values| values.push(count(flow.arrived) * 8.0 / flow.step.as_secs_f64()),
    },
    OfFlow {
        asked: "cwnd",
        about: 3,
        has: |flow| flow.sender.gauges().is_some(),
        quantities: |_| names(["cwnd_bytes", "ssthresh_bytes", "in_flight_bytes"]),
        sample: |flow, values| {
            if let Some(gauges) = flow.sender.gauges() {
                values.push(count(gauges.cwnd_bytes));
                values.push(gauges.ssthresh_bytes.map_or(f64::NAN, count));
                values.push(count(gauges.in_flight_bytes));
            }
        },
    },
    OfFlow {
        asked: "rtt",
        about: 2,
        has: |flow| flow.sender.gauges().is_some(),
        quantities: |_| names(["srtt_s", "rto_s"]),
        sample: |flow, values| {
            if let Some(gauges) = flow.sender.gauges() {
                values.push(seconds(gauges.srtt));
                values.push(gauges.rto.as_secs_f64());
            }
        },
    },
    // Of a workload, whose connections come and go.
    OfFlow {
        asked: "cwnd",
        about: 0,
        has: |flow| flow.sender.open_connections().is_some(),
        quantities: |_| names(["cwnd_bytes", "in_flight_bytes", "open_connections"]),
        sample: |flow, values| {
            if let Some(open) = flow.sender.open_connections() {
                values.extend([open.cwnd_bytes, open.in_flight_bytes, open.number].map(count));
            }
        },
    },
    OfFlow {
        asked: "rtt",
        about: 0,
        has: |flow| flow.sender.open_connections().is_some(),
        quantities: |_| names(["srtt_s"]),
        sample: |flow, values| {
            if let Some(open) = flow.sender.open_connections() {
                values.push(seconds(open.srtt));
            }
        },
    },
    // Of a flow that measures round trips by requests and responses.
    OfFlow {
        asked: "rtt",
        about: 0,
        has: |flow| flow.sender.requester().is_some(),
        quantities: |_| names(["rtt_s"]),
        sample: |flow, values| {
            if let Some(requester) = flow.sender.requester() {
                values.push(seconds(requester.last_round_trip()));
            }
        },
    },
    OfFlow {
        asked: PACKETS,
        about: 3,
        has: |_| true,
        quantities: |_| names(["sent_pps", "delivered_pps", "dropped_pps"]),
        sample: |flow, values| values.extend(flow.packets.map(|packets| flow.per_second(packets))),
    },
    OfFlow {
        asked: "pacing",
        about: 1,
        has: |flow| flow.sender.paces(),
        quantities: |_| names(["pacing_bps"]),
        sample: |flow, values| {
            let rate = flow.sender.pacing_rate();
            values.push(rate.map_or(f64::NAN, |rate| count(rate.as_bps())));
        },
    },
    OfFlow {
        asked: "phase",
        about: 1,
        has: |flow| flow.sender.phase().is_some(),
        quantities: |_| names(["phase"]),
        sample: |flow, values| {
            values.push(flow.sender.phase().map_or(f64::NAN, phase_number));
        },
    },
    OfFlow {
        asked: "control",
        about: 4,
        has: |flow| flow.sender.control().is_some(),
        quantities: |flow| {
            let told = told_by(flow.sender);
            told.into_iter().map(|told| quantity_of(told).0).collect()
        },
        sample: |flow, values| {
            let Some(control) = flow.sender.control() else {
                return;
            };
            let first = values.len();
            values.resize(first + flow.control.len(), f64::NAN);
            control.series(&mut |name, value| {
                if let Some(place) = flow.control.iter().position(|own| *own == name) {
                    values[first + place] = value * quantity_of(name).1;
                }
            });
        },
    },
    OfFlow {
        asked: MEDIA,
        about: 5,
        has: |flow| flow.arrives && flow.sender.rtp_gauges().is_some(),
        quantities: |_| {
            names([
                "reported_loss_ratio",
                "reported_jitter_s",
                "reported_rtt_s",
                "playout_delay_s",
                "target_bps",
            ])
        },
        sample: |flow, values| {
            if let (Some(receiver), Some(gauges)) = (flow.receiver, flow.sender.rtp_gauges()) {
                let told = [
                    gauges.fraction_lost,
                    gauges.jitter,
                    gauges.round_trip,
                    receiver.playout_delay(flow.number).map(Span::as_secs_f64),
                    gauges.target,
                ];
                values.extend(told.map(|value| value.unwrap_or(f64::NAN)));
            }
        },
    },
];

/// The name of the entry on packets, whose counts take time.
pub(super) const PACKETS: &str = "packets";
/// The name of the entry on media, which only flows of RTP have.
pub(super) const MEDIA: &str = "media";

/// Names that the congestion control of a sender tells, as it tells them.
pub(super) fn told_by(sender: &Endpoint) -> Vec<&'static str> {
    let mut told = Vec::new();
    if let Some(own) = sender.control() {
        own.series(&mut |name, _| told.push(name));
    }
    told
}

/// The quantity that a congestion control calls `name (unit)`, and the factor to its unit.
fn quantity_of(told: &str) -> (String, f64) {
    let (name, unit) = match told.split_once(" (") {
        Some((name, unit)) => (name, unit.trim_end_matches(')')),
        None => (told, ""),
    };
    match unit {
        "" => (name.to_owned(), 1.0),
        "ms" => (format!("{name}_s"), 1e-3),
        "us" => (format!("{name}_s"), 1e-6),
        unit => (format!("{name}_{unit}"), 1.0),
    }
}

/// The phase as a number.
fn phase_number(phase: Phase) -> f64 {
    match phase {
        Phase::Open => 0.0,
        Phase::Disorder => 1.0,
        Phase::Reducing => 2.0,
        Phase::Recovery => 3.0,
        Phase::Loss => 4.0,
    }
}
