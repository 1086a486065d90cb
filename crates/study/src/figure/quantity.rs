//! Quantities that are recorded over time: their names in figures, and which are drawn next to each other.

use sojourn_results::metrics::Unit;
use sojourn_results::outcome::{RunOutcome, SeriesOutcome};

use crate::measured::Measured;

/// The quantities that stay in sight where there are too many figures over time.
pub(crate) const MAIN: [&str; 7] = [
    "sojourn_s",
    "backlog_packets",
    "throughput_bps",
    "carried_bps",
    WITH_THRESHOLD,
    "srtt_s",
    "rtt_s",
];
/// The quantities that are drawn over time first, where they were recorded, and the titles of their figures: the main ones before
/// the others.
pub(crate) const OVER_TIME: &[(&str, &str)] = &[
    ("sojourn_s", "Sojourn time over time"),
    ("backlog_packets", "Backlog over time"),
    ("throughput_bps", "Throughput over time"),
    ("carried_bps", "Throughput at the link over time"),
    (WITH_THRESHOLD, "Congestion windows over time"),
    ("srtt_s", "Round-trip times over time"),
    ("rtt_s", "Round trips of probes over time"),
    ("backlog_bytes", "Backlog in bytes over time"),
    ("queue_packets", "Packets in single queues over time"),
    ("queue_bytes", "Bytes in single queues over time"),
    ("queue_deficit_bytes", "Deficits of single queues over time"),
    ("in_flight_bytes", "Bytes in flight over time"),
    ("rto_s", "Retransmission timeouts over time"),
    ("pacing_bps", "Pacing rates over time"),
    ("phase", "Phases of loss recovery over time"),
    ("delivered_pps", "Packets per second over time"),
    ("dropped_pps", "Errors per second over time: packets lost"),
];

/// The congestion window, whose usual figure shows [`THRESHOLD`] too.
pub(crate) const WITH_THRESHOLD: &str = "cwnd_bytes";
pub(crate) const THRESHOLD: &str = "ssthresh_bytes";

/// What links carry, whose figures show [`CAPACITY`] too where it was recorded.
pub(crate) const WITH_CAPACITY: [&str; 2] = ["throughput_bps", "carried_bps"];
pub(crate) const CAPACITY: &str = "capacity_bps";

/// What the numbers of a phase stand for.
pub(crate) const PHASES: &str = "0: nothing is missing; 1: something is, it may be reordering; 2: the window falls for an ECN echo; \
    3: losses are repaired; 4: the retransmission timer has fired.";

/// What the numbers of a mode stand for.
pub(crate) const MODES: &str = "Of BBR 0: startup; 1: drain; 2: probing for bandwidth; 3: probing for the round trip. Of BBRv3 0: startup; 1: drain; \
    2: down; 3: cruise; 4: refill; 5: up; 6: probing for the round trip.";

/// Whether a time series is of what a figure asks for: the bottleneck, or all flows in the direction under study.
pub(crate) fn is_of(
    series: &SeriesOutcome,
    of: Option<&str>,
    run: Option<&RunOutcome>,
    measured: &Measured,
) -> bool {
    // The name of a link, or with that of a queue inside its scheduler or of a flow behind it.
    let at_link = |link: &str| {
        let rest = series.of.strip_prefix(link);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let queue = run.and_then(|run| run.queues.iter().find(|queue| at_link(&queue.link)));
    let flow = run.and_then(|run| run.flows.iter().find(|flow| flow.name == series.of));
    match of {
        None | Some("bottleneck" | "forward") => {
            queue.is_some_and(|queue| measured.is(queue)) || flow.is_some_and(|flow| flow.forward)
        }
        Some("reverse") => flow.is_some_and(|flow| !flow.forward),
        Some("all") => flow.is_some(),
        Some(name) => {
            series.of == name
                || queue.is_some_and(|queue| queue.link == name)
                || flow.is_some_and(|flow| flow.label == name)
        }
    }
}

/// What a total adds up: `throughput_bps` for `throughput_bps_sum`; `None` for what is no total. Rates, packets and bytes add up, durations
/// and states do not.
pub(crate) fn of_total(quantity: &str) -> Option<&str> {
    let own = quantity.strip_suffix("_sum")?;
    let (_, unit) = title_and_unit(own);
    matches!(
        unit,
        Unit::BitsPerSecond | Unit::Packets | Unit::PacketsPerSecond | Unit::Bytes
    )
    .then_some(own)
}

/// The title of a figure of a quantity; a list of several things stays as it was written.
pub(crate) fn title(shown: &str) -> String {
    match shown {
        "sojourn_s" => "Sojourn time".to_owned(),
        "delay_s" => "One-way delay".to_owned(),
        "fct_s" => "Flow completion time".to_owned(),
        "page_load_s" => "Page load time".to_owned(),
        shown if shown.contains([' ', ',']) => shown.to_owned(),
        shown => title_and_unit(shown).0,
    }
}

/// Title and unit of a recorded quantity, or of a total.
pub(crate) fn title_and_unit(quantity: &str) -> (String, Unit) {
    if let Some(own) = of_total(quantity) {
        let (title, unit) = title_and_unit(own);
        return (format!("{title}, total"), unit);
    }
    let unit = match quantity.rsplit('_').next() {
        Some("s") => Unit::Seconds,
        Some("bps") => Unit::BitsPerSecond,
        Some("packets") => Unit::Packets,
        Some("pps") => Unit::PacketsPerSecond,
        Some("bytes") => Unit::Bytes,
        _ => Unit::Index,
    };
    let name = match (quantity.rsplit_once('_'), unit) {
        (None, _) | (_, Unit::Index) => quantity,
        (Some((name, _)), _) => name,
    };
    let name = match name {
        "cwnd" => "congestion window".to_owned(),
        "srtt" => "RTT, smoothed".to_owned(),
        "rtt" => "RTT".to_owned(),
        "rto" => "RTO".to_owned(),
        "ssthresh" => "slow start threshold".to_owned(),
        "pacing" => "pacing rate".to_owned(),
        "target" => "target rate".to_owned(),
        "phase" => "phase of loss recovery".to_owned(),
        name => name.replace('_', " "),
    };
    let mut letters = name.chars();
    let title = letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    });
    (title, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_without_a_title_has_that_of_its_quantity() {
        assert_eq!(title("sojourn_s"), "Sojourn time");
        assert_eq!(title("backlog_packets"), "Backlog");
        assert_eq!(title("a of b, c of d"), "a of b, c of d");
    }

    #[test]
    fn quantities_have_titles_and_units() {
        assert_eq!(
            title_and_unit("backlog_packets"),
            ("Backlog".to_owned(), Unit::Packets)
        );
        assert_eq!(
            title_and_unit("in_flight_bytes"),
            ("In flight".to_owned(), Unit::Bytes)
        );
        assert_eq!(
            title_and_unit("target_bps"),
            ("Target rate".to_owned(), Unit::BitsPerSecond)
        );
        assert_eq!(title_and_unit("count"), ("Count".to_owned(), Unit::Index));
        assert_eq!(
            title_and_unit("throughput_bps_sum"),
            ("Throughput, total".to_owned(), Unit::BitsPerSecond)
        );
    }

    #[test]
    fn rates_packets_and_bytes_add_up_and_durations_and_states_do_not() {
        for (quantity, own) in [
            ("throughput_bps_sum", Some("throughput_bps")),
            ("in_flight_bytes_sum", Some("in_flight_bytes")),
            ("backlog_packets_sum", Some("backlog_packets")),
            ("srtt_s_sum", None),
            ("phase_sum", None),
            ("throughput_bps", None),
        ] {
            assert_eq!(of_total(quantity), own, "{quantity}");
        }
    }
}
