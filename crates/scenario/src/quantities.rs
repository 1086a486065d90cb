//! Time series that a scenario can ask for, by name.

use sojourn_units::nearest;

use crate::error::{LabError, LabErrorKind};

/// The quantities that can be recorded, and what each is.
pub const QUANTITIES: [(&str, &str); 15] = [
    (
        "backlog",
        "packets and bytes that wait in each observed queue",
    ),
    (
        "sojourn",
        "mean sojourn time of the packets that left each observed queue during the step",
    ),
    (
        "drops",
        "packets that each observed queue dropped during the step",
    ),
    (
        "throughput",
        "bits on the wire per second of each flow, as they arrived during the step",
    ),
    (
        "carried",
        "bits per second of each flow that arrived at the far end of each observed link during the step, such as left-right/cbr-1",
    ),
    (
        "capacity",
        "bits per second that each observed link could have carried during the step: its rate, or what its opportunities were good for",
    ),
    (
        "cwnd",
        "congestion window, slow start threshold and bytes in flight of each flow that has them; of a flow of many connections the sums \
         of windows and of bytes in flight, and how many are open",
    ),
    (
        "rtt",
        "smoothed round-trip time and retransmission timeout of each flow that has them; of a flow of many connections the mean round \
         trip of those that are open; the last round trip of each `udp_rr`",
    ),
    (
        "packets",
        "packets of each flow sent, delivered and dropped per second, as they were during the step",
    ),
    (
        "pacing",
        "pacing rate of each flow that spaces its segments",
    ),
    (
        "phase",
        "what each sender that recovers from losses does about them: 0 nothing is missing, 1 something is, it may be reordering, \
         2 the window falls for an ECN echo, 3 losses are repaired, 4 the retransmission timer has fired",
    ),
    (
        "control",
        "what each congestion control tells of itself, such as w_max_segments of CUBIC, alpha of DCTCP, bw_bps, pacing_gain and mode of \
         BBR (0 startup, 1 drain, 2 probe bandwidth, 3 probe RTT; of BBRv3 0 startup, 1 drain, 2 down, 3 cruise, 4 refill, 5 up, 6 probe RTT)",
    ),
    (
        "media",
        "what the last report says to each sender of RTP: share lost, jitter, round trip; how long its receiver holds media; the target rate \
         of its congestion control",
    ),
    (
        "state",
        "internal state of the discipline of each observed queue",
    ),
    (
        "queues",
        "packets, bytes and deficit of the single queues inside each observed scheduler, such as left-right/queue-0, and the internal \
         state of what is in each: its AQM, or another scheduler with queues of its own; the first 64 queues of each scheduler",
    ),
];

/// Parses the `record` key: which of [`QUANTITIES`] are wanted.
///
/// # Errors
/// If a name is not among them.
pub fn wanted(record: &str) -> Result<Vec<&'static str>, LabError> {
    if record == "none" || record.trim().is_empty() {
        return Ok(Vec::new());
    }
    if record == "all" {
        return Ok(QUANTITIES.iter().map(|q| q.0).collect());
    }
    let names = || QUANTITIES.iter().map(|q| q.0);
    let mut wanted = Vec::new();
    for given in record.split(',').map(str::trim) {
        let Some(name) = names().find(|name| *name == given) else {
            return Err(LabError::new(
                LabErrorKind::UnknownName,
                format!("unknown time series {given:?}"),
            )
            .key("series.record")
            .nearest(nearest(given, names()))
            .allowed("series", names().collect::<Vec<_>>().join(", ")));
        };
        if !wanted.contains(&name) {
            wanted.push(name);
        }
    }
    Ok(wanted)
}
