//! Time series that a scenario can ask for, by name.

use sojourn_units::nearest;

use crate::error::{LabError, LabErrorKind};

/// The quantities that can be recorded, and what each is.
pub const QUANTITIES: [(&str, &str); 15] = [
    ("backlog", "packets and bytes in each observed queue"),
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
        "bits on the wire per second of each flow that arrived during the step",
    ),
    (
        "carried",
        "bits per second of each flow that arrived at the far end of each observed link during the step, such as left-right/cbr-1",
    ),
    (
        "capacity",
        "bits per second that each observed link could have carried during the step, from its rate or its opportunities",
    ),
    (
        "cwnd",
        "congestion window, slow start threshold and bytes in flight of each flow that has them; for a flow of many connections, the sum of the windows, the sum of the bytes in flight, and the number of open connections",
    ),
    (
        "rtt",
        "smoothed round-trip time and retransmission timeout of each flow that has them; for a flow of many connections, the mean round trip of the open ones; for each `udp_rr`, the last round trip",
    ),
    (
        "packets",
        "packets of each flow that were sent, delivered and dropped per second during the step",
    ),
    ("pacing", "pacing rate of each flow that paces its segments"),
    (
        "phase",
        "loss recovery phase of each sender that has one: 0 nothing is missing, 1 something is missing and may only be reordered, 2 the window is being reduced after an ECN echo, 3 losses are being repaired, 4 the retransmission timer has expired",
    ),
    (
        "control",
        "internal state of each congestion control, such as w_max_segments of CUBIC, alpha of DCTCP, bw_bps, pacing_gain and mode of BBR (0 startup, 1 drain, 2 probe bandwidth, 3 probe RTT; of BBRv3 0 startup, 1 drain, 2 down, 3 cruise, 4 refill, 5 up, 6 probe RTT), and of BBRv3 also max_bw_bps, extra_acked_bytes and its bounds, such as inflight_longterm_bytes, while it has them",
    ),
    (
        "media",
        "for each RTP sender, the loss, jitter and round trip in the last report, the delay of its receiver's playout buffer, and the target rate of its congestion control",
    ),
    (
        "state",
        "internal state of each observed queue's discipline",
    ),
    (
        "queues",
        "packets, bytes and deficit of each queue inside an observed scheduler, such as left-right/queue-0, and the internal state of its AQM or inner scheduler; the first 64 queues of each scheduler",
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
