//! What random sources and workloads offer is what was asked for, within the standard error of what they send.

use sojourn_sim::Stream;
use sojourn_traffic::registry::{build_source, catalogue};
use sojourn_traffic::workload::arrivals::{Arrivals, Offered};
use sojourn_traffic::workload::sizes::{DISTRIBUTIONS, Sizes};
use sojourn_transport::app::Source;
use sojourn_units::{Rate, Span, Spec, Time};

/// Independent runs of each case.
const RUNS: u64 = 40;

/// Parameters, and the mean rate in bits per second that they ask for.
type Case = (&'static str, f64);

/// Every source with a rate, whatever makes it random. Heavy tails have a finite variance here: with a shape of 2 or less no number of
/// runs has a standard error.
fn cases(name: &str) -> Vec<Case> {
    match name {
        // Data without a rate.
        "bulk" => vec![],
        "cbr" => vec![
            ("rate=1Mbps size=40B noise=0.5", 1e6),
            ("rate=1Mbps size=40B noise=1 random_phase=true", 1e6),
        ],
        "poisson" => vec![
            ("rate=5Mbps size=40B", 5e6),
            ("rate=5Mbps size=40B sizes=exponential", 5e6),
            ("rate=5Mbps size=1B sizes=exponential", 5e6),
            ("rate=50Mbps size=1000B sizes=exponential", 50e6),
        ],
        "exponential" => vec![
            ("rate=8Mbps size=500B on=20ms off=30ms", 3.2e6),
            ("rate=8Mbps size=500B on=200us off=300us", 3.2e6),
            // Bursts of N packets, N at least 1, last N intervals of 1 ms: E[N] = 1 + exp(-3/2m) / (1 - exp(-1/m)), m = 1.
            (
                "dialect=ns2 rate=8Mbps size=1000B on=1ms off=3ms",
                8e6 * NS2_PACKETS / (NS2_PACKETS + 3.0),
            ),
        ],
        "pareto" => vec![
            ("rate=8Mbps size=500B on=2ms off=3ms shape=3", 3.2e6),
            ("rate=8Mbps size=500B on=200us off=300us shape=3", 3.2e6),
        ],
        "fgn" => vec![
            ("rate=8Mbps size=100B hurst=0.5 slot=1ms", 8e6),
            ("rate=8Mbps size=100B hurst=0.7 slot=1ms", 8e6),
            // A sixth of all slots is a debt.
            ("rate=8Mbps size=100B hurst=0.6 deviation=1 slot=1ms", 8e6),
        ],
        "periodic" => vec![
            (
                "rate=8Mbps size=1000B on=4ms off=6ms random_phase=true",
                3.2e6,
            ),
            // 2.5 gaps: the third packet counts whole.
            (
                "rate=8Mbps size=1000B on=2.5ms off=7.5ms random_phase=true",
                2.4e6,
            ),
        ],
        "on_off" => vec![
            (
                "rate=8Mbps size=500B on_min=0s on_max=4ms off_min=0s off_max=6ms",
                3.2e6,
            ),
            (
                "rate=8Mbps size=500B on_min=100us on_max=300us off_min=0s off_max=600us",
                3.2e6,
            ),
            (
                "dialect=ns3_24 rate=8Mbps size=500B on_min=0s on_max=4ms off_min=0s off_max=6ms",
                3.2e6,
            ),
        ],
        "voice" => vec![
            ("codec=g711 talk=100ms silence=150ms", 64e3 * 0.4),
            ("codec=g729 talk=1.004s silence=1.587s", 8e3 * 1.004 / 2.591),
            ("codec=g723 talk=45ms silence=45ms", 6.4e3 * 0.5),
            ("codec=opus rate=6100bps silence=0s", 6.1e3),
        ],
        "video" => vec![
            ("rate=150kbps", 150e3),
            ("rate=10kbps min_rate=10kbps spread=0", 10e3),
            ("rate=1Mbps gop=12 b_frames=2 spread=0.5", 1e6),
            ("rate=1Mbps sizes=laplace spread=1.5", 1e6),
            ("rate=1Mbps jitter=1", 1e6),
            ("dialect=rfc8593 rate=1Mbps", 1e6),
        ],
        other => panic!("say here what rate the source {other} offers"),
    }
}

/// Of ns-2's bursts with a mean of one packet.
const NS2_PACKETS: f64 = 1.352_986_716;

/// Mean and standard error of rates in bits per second.
fn mean_and_error(rates: &[f64]) -> (f64, f64) {
    let n = RUNS as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let square = rates
        .iter()
        .map(|rate| (rate - mean) * (rate - mean))
        .sum::<f64>()
        / (n - 1.0);
    (mean, (square / n).sqrt())
}

/// Bits per second from `from` on, for `length`, of what `next` says.
fn rate(mut next: impl FnMut() -> (Time, u64), from: Time, length: Span) -> f64 {
    let mut bytes = 0_u64;
    loop {
        let (at, size) = next();
        if at >= from + length {
            return 8.0 * bytes as f64 / length.as_secs_f64();
        }
        if at >= from {
            bytes += size;
        }
    }
}

/// Four standard errors, and the packet that may or may not be in a run.
fn is_within(rates: &[f64], asked: f64, edge: f64) -> bool {
    let (mean, error) = mean_and_error(rates);
    (mean - asked).abs() <= 4.0 * error + edge
}

#[test]
fn every_source_offers_the_rate_that_was_asked_for() {
    let mut wrong = Vec::new();
    for entry in catalogue() {
        for (text, asked) in cases(entry.name) {
            let spec: Spec = format!("{} {text}", entry.name).parse().expect("a spec");
            // From a time on at which nothing is left of the beginning, and so long that some ten thousand packets come.
            let probe: Vec<_> = {
                let mut source = build_source(&spec, None).expect("a source");
                let mut rng = Stream::derive(7, 0, "probe");
                (0..2000).filter_map(|_| source.next(&mut rng)).collect()
            };
            let last = probe.last().expect("packets").at;
            let size = probe
                .iter()
                .map(|write| write.bytes)
                .max()
                .expect("packets");
            let length = last.since(Time::ZERO) * 10;
            let rates: Vec<f64> = (0..RUNS)
                .map(|run| {
                    let mut source = build_source(&spec, None).expect("a source");
                    let mut rng = Stream::derive(1, run, entry.name);
                    let next = || {
                        let write = source.next(&mut rng).expect("no end");
                        (write.at, write.bytes)
                    };
                    rate(next, last, length)
                })
                .collect();
            let edge = 8.0 * size as f64 / length.as_secs_f64();
            if !is_within(&rates, asked, edge) {
                let (mean, error) = mean_and_error(&rates);
                wrong.push(format!("{spec}: {mean} ± {error} bps, asked for {asked}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A distribution of each kind, as small as can be: rounding to whole bytes tells most there.
fn small_sizes(name: &str) -> Vec<&'static str> {
    match name {
        "fixed" => vec!["fixed bytes=40B"],
        "exponential" => vec!["exponential mean=3B", "exponential mean=40B"],
        "pareto" => vec!["pareto mean=4B shape=3", "pareto mean=40B shape=3"],
        "bounded_pareto" => vec![
            "bounded_pareto min=1B max=30B shape=1.2",
            "bounded_pareto min=1kB max=1MB shape=1.2",
        ],
        "lognormal" => vec![
            "lognormal median=2B sigma=0.5",
            "lognormal median=10kB sigma=1",
        ],
        "empirical" => vec![
            "empirical points=\"0:0,1:0.5,7:1\"",
            "empirical points=\"3:1\"",
        ],
        "web_search" => vec!["web_search"],
        "data_mining" => vec!["data_mining"],
        other => panic!("say here how the sizes {other} are tested"),
    }
}

#[test]
fn every_workload_offers_the_load_that_was_asked_for() {
    let mut wrong = Vec::new();
    for sizes in DISTRIBUTIONS.iter().flat_map(|law| small_sizes(law.name)) {
        for process in ["poisson", "deterministic"] {
            let law = Sizes::of("sizes", &sizes.parse().expect("a spec")).expect("sizes");
            let offered = Offered {
                interval: None,
                load: Some(0.6),
                capacity: Rate::mbps(10),
                shares: 2,
            };
            let spec = process.parse().expect("a spec");
            let arrivals = Arrivals::of(&spec, Some(law.clone()), &offered).expect("arrivals");
            let gap = 8.0 * law.mean() / 3e6;
            let length = Span::round_from_secs(10_000.0 * gap);
            let rates: Vec<f64> = (0..RUNS)
                .map(|run| {
                    let mut arrivals = arrivals.clone();
                    let mut rng = Stream::derive(1, run, sizes);
                    let mut at = Time::ZERO;
                    let next = || {
                        let (gap, bytes) = arrivals.next(&mut rng).expect("no end");
                        at += gap;
                        (at, bytes)
                    };
                    rate(next, Time::ZERO, length)
                })
                .collect();
            // One packet more or less, and a part in a million for rounding.
            let edge = 8.000_008 * law.mean() / length.as_secs_f64();
            if !is_within(&rates, 3e6, edge) {
                let (mean, error) = mean_and_error(&rates);
                wrong.push(format!(
                    "{process}, {sizes}: {mean} ± {error} bps, asked for 3e6"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
