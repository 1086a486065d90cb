//! The window of one connection in dialect linux beside that of Linux 6.1 itself, for each module of congestion control that has its arithmetic here.
//!
//! Through a drop-tail queue of a bandwidth-delay product at 10 Mbps and 80 ms; `tests/data/linux-6.1/README.md` describes the traces. Compared is, every 7 ms,
//! whether the window here, with the echo of Linux's run beside it, lies between the least and the greatest of Linux's within the row's milliseconds, give or take a part of it and two segments.

use crate::linux_tcp::{rows, scenario_of};
use crate::support::data;
use sojourn_run::run::run;

/// Payload of a segment.
const MSS: f64 = 1448.0;

/// Linux's windows, as they change: milliseconds, segments.
fn linux(module: &str) -> Vec<(usize, f64)> {
    let text = data(&format!("linux-6.1/windows_{module}.csv.gz"));
    text.lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',');
            let mut next = || cells.next().unwrap();
            (next().parse().unwrap(), next().parse().unwrap())
        })
        .collect()
}

/// Ours, every millisecond from the first on.
fn ours(module: &str) -> Vec<f64> {
    let name = format!("bfifo1_{module}_f1_10m_80ms_s1");
    let row = rows().into_iter().find(|row| row.name == name).unwrap();
    let mut scenario = scenario_of(&row, 1, 0.0);
    scenario.series.record = "cwnd".to_owned();
    scenario.series.step = sojourn_units::Span::from_ms(1);
    let outcome = run(&scenario, 0).unwrap();
    let mut all = outcome.series.into_iter();
    let series = all
        .find(|series| series.of == "tcp-1" && series.quantity == "cwnd_bytes")
        .unwrap();
    series.values.iter().map(|bytes| bytes / MSS).collect()
}

/// The part of the time until `until` for which both agree.
fn agreement(module: &str, until: usize, within: usize, part: f64) -> f64 {
    let (linux, ours) = (linux(module), ours(module));
    let (mut agree, mut all) = (0.0, 0.0);
    for (now, &window) in ours.iter().enumerate().take(until).skip(300).step_by(7) {
        // Sample number 0 is that of the first millisecond.
        let now = now + 1;
        let from = linux.partition_point(|change| change.0 + within <= now);
        let to = linux.partition_point(|change| change.0 <= now + within);
        let near = &linux[from.saturating_sub(1)..to];
        let least = near
            .iter()
            .map(|change| change.1)
            .fold(f64::INFINITY, f64::min);
        let most = near.iter().map(|change| change.1).fold(0.0, f64::max);
        let band = (part * window).max(2.0);
        agree += f64::from(u8::from((least - band..=most + band).contains(&window)));
        all += 1.0;
    }
    agree / all
}

/// Modules whose windows part from Linux's. HighSpeed counts acknowledgements. There are about a hundredth more here, so that each loss comes earlier
/// than Linux's by that. Hybla opens its window eightfold per round trip at first, and Linux's receiver does not open its own so fast; the cycles that follow
/// are as long as Linux's and as high, and come at other times.
const PART: [&str; 2] = ["highspeed", "hybla"];

#[test]
#[allow(clippy::print_stdout, reason = "the table is shown with --nocapture")]
fn windows_are_those_of_linux_for_forty_seconds() {
    let modules = [
        "bic", "htcp", "illinois", "lp", "scalable", "veno", "westwood", "yeah",
    ];
    for module in modules {
        let (start, whole) = (
            agreement(module, 10_000, 40, 0.02),
            agreement(module, 40_000, 100, 0.05),
        );
        println!("{module}: {start:.4} of ten seconds, {whole:.4} of forty");
        assert!(start > 0.98, "{module}: {start}");
        assert!(whole > 0.985, "{module}: {whole}");
    }
    for module in PART {
        let (start, whole) = (
            agreement(module, 6_000, 40, 0.02),
            agreement(module, 40_000, 100, 0.05),
        );
        println!("{module}: {start:.4} of six seconds, {whole:.4} of forty");
        assert!(start > 0.2 && whole > 0.5, "{module}: {start}, {whole}");
        assert!(
            start < 1.0 || whole < 0.985,
            "{module} does not part from Linux any more"
        );
    }
}
