//! No metric of any run leaves the range that it declares.

use proptest::prelude::*;
use sojourn_results::metrics::{Level, Metric, Subject, metrics};
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;
use std::collections::BTreeMap;

use crate::support::scenario;

/// The order of what is said of one quantity: its name ends like this. The mean has none among the percentiles.
const ORDER: [&str; 7] = ["min", "p05", "p50", "p95", "p99", "p999", "max"];

fn subjects(outcome: &RunOutcome) -> Vec<(String, Level, Subject<'_>)> {
    let (measured, active) = (outcome.measured, outcome.active());
    let mut all = vec![("the run".to_owned(), Level::Run, Subject::Run(outcome))];
    for queue in &outcome.queues {
        let subject = Subject::Queues(vec![queue], measured);
        all.push((queue.link.clone(), Level::Queue, subject));
    }
    let queues = outcome.queues.iter().collect();
    let together = Subject::Queues(queues, measured);
    all.push(("all queues".to_owned(), Level::Queue, together));
    for flow in outcome.flows.iter().chain(&outcome.receivers) {
        let subject = Subject::Flows(vec![flow], measured, active);
        all.push((flow.name.clone(), Level::Flow, subject));
    }
    for level in [Level::Flow, Level::Group] {
        let flows = outcome.flows.iter().collect();
        let together = Subject::Flows(flows, measured, active);
        all.push(("all flows".to_owned(), level, together));
    }
    all
}

/// What is wrong with a value, if anything is: it lies outside what its metric declares.
fn wrong(metric: &Metric, subject: &Subject<'_>, value: f64) -> Option<String> {
    let (least, most) = metric.range.bounds(subject);
    // Means are rounded sums. Nothing is below zero, however little.
    let slack = 1e-12;
    (value < least * (1.0 - slack) || value > most + slack)
        .then(|| format!("is outside {least}..{most}"))
}

/// What is said of one quantity, out of order.
fn out_of_order(values: &BTreeMap<&str, f64>) -> Vec<String> {
    let mut wrong = Vec::new();
    for name in values.keys() {
        let Some((stem, _)) = name.rsplit_once('_') else {
            continue;
        };
        let of = |suffix: &str| values.get(format!("{stem}_{suffix}").as_str()).copied();
        let known: Vec<(&str, f64)> = ORDER.iter().filter_map(|s| Some((*s, of(s)?))).collect();
        for pair in known.windows(2) {
            if pair[0].1 > pair[1].1 {
                wrong.push(format!("{stem}: {pair:?}"));
            }
        }
        // A mean is a rounded sum.
        if let Some(mean) = of("mean") {
            let slack = mean.abs() * 1e-12;
            if of("min").is_some_and(|min| mean < min - slack)
                || of("max").is_some_and(|max| mean > max + slack)
            {
                wrong.push(format!("{stem}: mean {mean} beside {known:?}"));
            }
        }
    }
    wrong
}

fn check(text: &str) {
    let outcome = match run(&scenario(text), 0) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{error}\n{text}"),
    };
    let mut faults = Vec::new();
    for (of, level, subject) in subjects(&outcome) {
        let mut values = BTreeMap::new();
        for metric in metrics().iter().filter(|metric| metric.level == level) {
            if let Some(value) = metric.value(&subject) {
                values.insert(metric.name.as_str(), value);
                if let Some(what) = wrong(metric, &subject, value) {
                    faults.push(format!("{} of {of} {what}: {value:e}", metric.name));
                }
            }
        }
        if matches!(&subject, Subject::Queues(queues, _) if queues.len() > 1) {
            // The mean is of all that waits; the most that waited at once is of one queue.
            values.retain(|name, _| !name.starts_with("backlog_"));
        }
        faults.extend(out_of_order(&values).iter().map(|it| format!("{of}, {it}")));
        if let (Some(p99), Some(most), Some(least)) = (
            values.get("pdv_s_p99"),
            values.get("delay_s_max"),
            values.get("delay_s_min"),
        ) && *p99 > most - least + 1e-15
        {
            faults.push(format!("{of}: pdv_s_p99 {p99} beyond {least}..{most}"));
        }
    }
    assert!(faults.is_empty(), "{}\n{text}", faults.join("\n"));
}

/// A scenario through `queue`; the measured time begins at 2 s.
fn text(flows: &str, queue: &str, rate: &str, rtt: u64, buffer: u64, seed: u64) -> String {
    format!(
        "flows = [{flows}]\n[run]\nduration = \"8s\"\nwarmup = \"2s\"\nreplications = 1\nseed = {seed}\n\
         [topology]\nrate = \"{rate}\"\nrtt = \"{rtt}ms\"\nbuffer = \"{buffer}p\"\nqueue = \"{queue}\"\nreverse_queue = \"droptail\"\n"
    )
}

#[test]
fn what_was_sent_before_the_measured_time_and_is_lost_in_it_makes_no_share_above_one() {
    // Five seconds' worth wait when the measured time begins, and CoDel drops of them at the head.
    let burst = "\"cbr rate=25Mbps stop=2s\", \"cbr rate=10kbps\"";
    let waiting = text(burst, "codel", "5Mbps", 40, 10_000, 1);
    let outcome = run(&scenario(&waiting), 0).expect("a run");
    let queue = &outcome.queues[0].totals;
    assert!(queue.dropped() > queue.received, "{queue:?}");
    let flow = &outcome.flows[0];
    assert!(flow.dropped_packets > flow.sent_packets, "{flow:?}");
    check(&waiting);
}

#[test]
fn delays_that_are_all_the_same_vary_by_nothing() {
    for size in ["100B", "777B", "1472B"] {
        for rtt in [1, 10, 13, 100] {
            let flow = format!("\"cbr rate=1Mbps size={size}\"");
            check(&text(&flow, "droptail", "7Mbps", rtt, 50, 1));
        }
    }
}

const FLOWS: [&str; 20] = [
    "reno",
    "sack ecn=true",
    "cubic",
    "bbr",
    "hybla",
    "dctcp",
    "lp dialect=linux",
    "quic ecn=true cc=(ledbat_plus dialect=rfc)",
    "quic cc=ledbat",
    "cbr rate=1Mbps",
    "cbr rate=6Mbps stop=3s",
    "poisson rate=1Mbps",
    "exponential rate=2Mbps",
    "voice",
    "rtp source=(video rate=1Mbps)",
    "rtp source=(voice)",
    "udp_rr timeout=300ms",
    "request_response sizes=(fixed bytes=30kB)",
    "tfrc",
    "ledbat direction=reverse",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn every_metric_of_every_run_is_in_its_range(
        flows in prop::collection::vec(0..FLOWS.len(), 1..5),
        queue in any::<prop::sample::Index>(),
        rate in 1_u64..10,
        rtt in 1_u64..120,
        buffer in 2_u64..300,
        seed in 0_u64..1000,
    ) {
        let disciplines = sojourn_queue::registry::catalogue();
        let queue = queue.get(disciplines).name;
        let flows: Vec<String> = flows.iter().map(|flow| format!("{:?}", FLOWS[*flow])).collect();
        let text = text(&flows.join(", "), queue, &format!("{rate}Mbps"), rtt, buffer, seed);
        check(&text);
    }
}
