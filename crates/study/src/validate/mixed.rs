//! Flows of two congestion controls at one bottleneck: Linux's own shares, and those of a model of BBR beside loss-based flows.
//!
//! `data/linux-mixed-flows.csv` has one boot of Linux 6.1 in each line, set up as `tests/data/linux-6.1/README.md` says: 10 Mbps, 40 ms, the first flow
//! about 100 ms before the second, 140 s; 40 s to 138 s count. Here every row runs with as many start phases as there are seeds: both
//! starts, the time between them and the phase of the echo.
//!
//! The model is that of Ware, Mukerjee, Seshan and Sherry, "Modeling BBR's Interactions with Loss-Based Congestion Control" (IMC 2019),
//! equations 9 to 11.

use sojourn_results::outcome::RunOutcome;
use sojourn_scenario::error::{LabError, LabErrorKind, Place};
use sojourn_units::{Spec, SpecError};
use std::collections::BTreeMap;

use super::cell::{Cell, FRAME, Figures, float, scenario_of, value};

/// Linux's rows, as its runs left them.
const ROWS: &str = include_str!("../../data/linux-mixed-flows.csv");

/// The key of a row's setup that has both congestion controls, in the order of their starts.
pub(super) const CONTROLS: &str = "controls";

/// The share of the first flow in the goodput of both.
const SHARE: &str = "share";

/// The same, compared with the model's.
const MODEL_SHARE: &str = "model_share";

/// Goodput of both flows.
const GOODPUT: &str = "goodput_mbps";

/// The round trip of all rows, transmission of a full segment included.
const RTT_S: f64 = 0.04;

/// The rate of all rows.
const RATE_BPS: f64 = 1e7;

/// BBR's interval between probes for the round trip, and how long each lasts at least.
const PROBE_EVERY_S: f64 = 10.0;
const PROBE_S: f64 = 0.2;

/// Packets that a BBR flow keeps in flight during such a probe.
const PROBE_PACKETS: f64 = 4.0;

/// The part of the link that `flows` flows of BBRv1 get beside loss-based flows over a tail-drop buffer of `buffer` packets, where the link carries
/// `rate` packets per second and the round trip without a queue is `rtt` seconds.
///
/// The loss-based flows keep p = 1/2 − 1/(2X) − 4N/q of the buffer, for N flows of BBR and a buffer of q packets or X bandwidth-delay products
/// (equation 9), none where that is negative. BBR has the rest of the link but in its probes for the round trip: q/c + 0.2 s + l of every ten seconds
/// (equations 10 and 11).
fn model(rate: f64, rtt: f64, buffer: f64, flows: f64) -> f64 {
    let products = buffer / (rate * rtt);
    let others = (0.5 - 0.5 / products - PROBE_PACKETS * flows / buffer).max(0.0);
    let probing = (buffer / rate + PROBE_S + rtt) / PROBE_EVERY_S;
    (1.0 - others) * (1.0 - probing)
}

/// The cells of all rows.
pub(super) fn cells() -> Result<Vec<Cell>, LabError> {
    let mut reader = csv::Reader::from_reader(ROWS.as_bytes());
    let mut cells = Vec::new();
    for (record, line) in reader.records().zip(2..) {
        let bad = |problem: String| {
            LabError::new(LabErrorKind::Bug, problem)
                .in_file("linux-mixed-flows.csv")
                .at(&Place::Line(line))
        };
        let record = record.map_err(|error| bad(error.to_string()))?;
        let text = |column: usize| record.get(column).unwrap_or("");
        let goodputs: Result<Vec<f64>, _> = text(5).split(' ').map(str::parse).collect();
        let goodputs = goodputs.map_err(|error| bad(format!("{}: {error}", text(5))))?;
        let sum: f64 = goodputs.iter().sum();
        let Some(first) = goodputs.first() else {
            return Err(bad("no goodput".to_owned()));
        };
        let limit = text(4).strip_prefix("bfifo limit ");
        let queue = match (limit, text(4)) {
            (Some(limit), _) => format!("droptail dialect=linux limit={limit}B"),
            (None, "codel") => "codel dialect=linux limit=1000p".to_owned(),
            (None, "pie") => "pie dialect=linux limit=1000p".to_owned(),
            (None, "fq_codel noecn") => "fq_codel dialect=linux".to_owned(),
            (None, other) => return Err(bad(format!("{other:?} is no queue of these rows"))),
        };
        let queue: Spec = queue
            .parse()
            .map_err(|error: SpecError| bad(error.to_string()))?;
        let controls = text(1).replace(' ', "/");
        let cell = |peer: &str, metric: &str, theirs: f64| Cell {
            peer: peer.to_owned(),
            row: text(0).replace('_', " "),
            queue: queue.clone(),
            setup: BTreeMap::from([(CONTROLS.to_owned(), controls.clone())]),
            metric: metric.to_owned(),
            theirs,
            runs: 1,
        };
        cells.push(cell("linux-6.1", SHARE, first / sum));
        cells.push(cell("linux-6.1", GOODPUT, sum));
        if let Some(limit) = limit {
            let bytes: f64 = limit
                .parse()
                .map_err(|_| bad(format!("{limit}: no number")))?;
            if text(1).starts_with("bbr ") {
                let packet = f64::from(FRAME);
                let share = model(RATE_BPS / 8.0 / packet, RTT_S, bytes / packet, 1.0);
                cells.push(cell("ware-2019", MODEL_SHARE, share));
            }
        }
    }
    Ok(cells)
}

/// A row in one start phase. The kernel's bottleneck delivers a packet when its transmission begins; here it does when it ends, so that the
/// propagation delay is shorter by that.
pub(super) fn run(cell: &Cell, phase: u64) -> Result<Figures, LabError> {
    let (first, second) = value(cell, CONTROLS)?
        .split_once('/')
        .ok_or_else(|| LabError::new(LabErrorKind::Bug, format!("{}: one control", cell.row)))?;
    let delay_ms = (RTT_S - f64::from(FRAME) * 8.0 / RATE_BPS) / 2.0 * 1e3;
    let number = float(phase);
    // As Linux's seeds move them.
    let start = 173.037 * (number - 1.0);
    let later = start + 100.0 + 1.013 * number;
    let echo = 13.7 + 1.37 * number;
    let flow = |label: &str, control: &str, start: f64| {
        format!(
            "[[flows]]\nspec = \"tcp recovery=sack cc=({control}) headers=66B\"\nlabel = {label:?}\nfrom = \"a\"\nto = \"b\"\nstart = \"{start:.3}ms\"\n"
        )
    };
    let text = format!(
        "name = {:?}\ndialect = \"linux\"\n[run]\nduration = \"138s\"\nwarmup = \"40s\"\n[topology]\nkind = \"graph\"\n\
         [[links]]\nfrom = \"a\"\nto = \"r\"\nrate = \"100Gbps\"\ndelay = \"{delay_ms:.6}ms\"\n\
         queue = \"droptail dialect=linux limit=100000p\"\nobserved = false\n\
         [[links]]\nfrom = \"r\"\nto = \"b\"\nrate = \"10Mbps\"\nreverse_rate = \"100Gbps\"\ndelay = \"0s\"\nqueue = {:?}\n\
         reverse_queue = \"droptail dialect=linux limit=100000p\"\n{}{}\
         [[flows]]\nspec = \"cbr rate=15680bps size=98B headers=0B\"\nlabel = \"echo\"\nfrom = \"a\"\nto = \"b\"\nstart = \"{echo:.3}ms\"\n",
        cell.row,
        cell.queue.to_string(),
        flow("first", first, start),
        flow("second", second, later),
    );
    // What else is random, such as PIE's drops, is drawn anew, too.
    let outcome = sojourn_run::run::run(&scenario_of(&text, &cell.row, phase)?, 0)?;
    let [first, second] = ["first", "second"].map(|label| goodput_mbps(&outcome, label));
    let share = first / (first + second);
    Ok(Figures::from([
        (SHARE.to_owned(), share),
        (MODEL_SHARE.to_owned(), share),
        (GOODPUT.to_owned(), first + second),
    ]))
}

fn goodput_mbps(outcome: &RunOutcome, label: &str) -> f64 {
    let flows = outcome.flows.iter().filter(|flow| flow.label == label);
    let bytes: u64 = flows.map(|flow| flow.goodput_bytes).sum();
    float(bytes) * 8e-6 / outcome.measured.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand for 10 Mbps, 40 ms and packets of 1500 bytes, so that a product has 100/3 packets: p = 1/2 - 1/16 - 4/(800/3) = 0.4225 at 8 products, and
    /// probes take 0.32 + 0.2 + 0.04 of 10 s.
    #[test]
    fn the_model_of_ware_et_al_is_that_of_its_equations() {
        let rate = 1e7 / 12e3;
        let share = |products: f64| model(rate, 0.04, products * rate * 0.04, 1.0);
        assert!(
            (share(8.0) - 0.5775 * 0.944).abs() < 1e-12,
            "{}",
            share(8.0)
        );
        // Below about 1.2 products p would be negative, and BBR has all but its probes.
        assert!((share(1.0) - 0.972).abs() < 1e-12, "{}", share(1.0));
        // In a deep buffer, more than half of the link less the probes.
        assert!((share(64.0) - (0.5 + 1.0 / 128.0 + 0.001_875) * 0.72).abs() < 1e-12);
    }

    /// The suite shows the same shares, rounded.
    #[test]
    fn the_marks_of_the_suite_of_fairness_are_these_shares() {
        let suite = crate::suite::find(std::ffi::OsStr::new("fairness")).expect("the suite");
        let cells = cells().expect("rows");
        let mut seen = 0;
        for case in &suite.cases {
            for (from, value) in case.criteria.iter().flat_map(|own| &own.marks) {
                let Some(rest) = case.about.name.strip_prefix("linux-") else {
                    panic!("{} has marks", case.about.name);
                };
                let (controls, queue) = rest.rsplit_once('-').expect("a queue");
                let queue = match queue.parse::<f64>() {
                    Ok(_) => format!("bfifo{queue}"),
                    Err(_) => queue.to_owned(),
                };
                let row = format!("mix {} {controls} 10m 40ms", queue.replace('_', " "));
                let metric = match from.as_str() {
                    "Linux 6.1" => SHARE,
                    _ => MODEL_SHARE,
                };
                let cell = cells
                    .iter()
                    .find(|cell| cell.row == row && cell.metric == metric);
                let theirs = cell.unwrap_or_else(|| panic!("no row {row}")).theirs;
                assert_eq!(
                    *value,
                    format!("{theirs:.3}").trim_end_matches('0'),
                    "{row}"
                );
                seen += 1;
            }
        }
        assert_eq!(seen, 15 + 7);
    }

    #[test]
    fn each_row_of_linux_has_a_share_and_a_goodput_and_each_of_bbr_over_a_fifo_a_model() {
        let cells = cells().expect("rows");
        let of = |metric: &'static str| cells.iter().filter(move |cell| cell.metric == metric);
        assert_eq!(of(SHARE).count(), 15);
        assert_eq!(of(GOODPUT).count(), 15);
        assert_eq!(of(MODEL_SHARE).count(), 7);
        let deep = of(SHARE).find(|cell| cell.row == "mix bfifo32 bbr-cubic 10m 40ms");
        let deep = deep.expect("the deepest buffer");
        assert!(
            (deep.theirs - 1.9161 / 9.5491).abs() < 1e-9,
            "{}",
            deep.theirs
        );
        assert_eq!(
            deep.queue.to_string(),
            "droptail dialect=linux limit=1600000B"
        );
    }
}
