//! The simulator itself: a queue of theory whose warm-up MSER-5 finds, and long TCP runs as a population to draw from.

use super::series::{Replication, cut};
use super::table::{SIZES, Table};
use sojourn_results::metrics;
use sojourn_results::metrics::Subject;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::interval::{of, student};
use sojourn_results::stats::mean;
use sojourn_run::run::{run_resolved, run_traced};
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_sim::Stream;
use sojourn_sim::trace::{Event, Record, Tracer};
use sojourn_units::Time;
use std::collections::VecDeque;

fn scenario(text: &str) -> Scenario {
    let document = Document::parse(text, "coverage.toml").expect(text);
    Scenario::from_document(&document).expect(text)
}

/// Waiting times at one link, in order.
struct Waits {
    link: u32,
    waiting: VecDeque<Time>,
    values: Vec<f64>,
}

impl Tracer for Waits {
    const ON: bool = true;

    fn record(&mut self, record: Record) {
        if record.link != self.link {
            return;
        }
        match record.event {
            Event::Enqueue => self.waiting.push_back(record.key.time),
            Event::Dequeue => {
                let came = self.waiting.pop_front().expect("first in, first out");
                self.values.push(record.key.time.since(came).as_secs_f64());
            }
            _ => {}
        }
    }

    fn advance(&mut self, _: Time) {}

    fn finish(&mut self) {}
}

/// Length of a run of [`m_m_1`], seconds.
const RUN: f64 = 10.0;

/// M/M/1 in the simulator at load 0.8, 0.8 ms of service: the mean wait is ρ S / (1 - ρ). The first three replications are the
/// pilot.
pub(crate) fn m_m_1(seed: u64, table: &mut Table) {
    let with = |warmup: f64| {
        scenario(&format!(
            "flows = [\"poisson 80Mbps size=10000B sizes=exponential headers=0B\"]\n\
             [run]\nseed = {seed}\nduration = \"{RUN}s\"\nwarmup = \"{warmup}s\"\n\
             [topology]\nkind = \"chain\"\nhops = 1\nrate = \"100Mbps\"\nqueue = \"droptail limit=1000000p\"\n"
        ))
    };
    let whole = with(0.0);
    let pilot: Vec<Replication> = (0..3)
        .map(|replication| waits(&whole, replication))
        .collect();
    let truth = 0.8 * 0.8e-3 / 0.2;
    for (rule, warmup) in [("none", 0.0), ("warm-up", cut(&pilot) * RUN)] {
        let scenario = with((warmup * 1000.0).round() / 1000.0)
            .resolve()
            .expect("a scenario");
        let means: Vec<f64> = (0..5)
            .map(|replication| {
                let outcome = run_resolved(&scenario, replication).expect("a run");
                queue_metric(&outcome, "sojourn_s_mean")
            })
            .collect();
        for n in [3, 5] {
            let row = table.row(
                "Means",
                "mean wait of M/M/1 in the simulator, load 0.8, 10 s",
                rule,
                &n.to_string(),
            );
            row.before.add(student(&means[..n]), truth);
            row.after.add(of(&means[..n], (0.0, f64::INFINITY)), truth);
        }
    }
}

fn waits(scenario: &Scenario, replication: u64) -> Replication {
    let (_, tracer) = run_traced(scenario, replication, |compiled| {
        let observed = compiled.links.iter().position(|link| link.observed);
        Waits {
            link: u32::try_from(observed.expect("a queue under study")).expect("few links"),
            waiting: VecDeque::new(),
            values: Vec::new(),
        }
    })
    .expect("a run");
    Replication {
        values: tracer.values,
    }
}

fn queue_metric(outcome: &RunOutcome, name: &str) -> f64 {
    let (metric, _) = metrics::find(name, None).expect("a metric");
    let queue = outcome.queues.iter().find(|queue| queue.bottleneck);
    let subject = Subject::Queues(vec![queue.expect("a bottleneck")], outcome.measured);
    metric.value(&subject).expect("a value")
}

/// Jain's index and the utilization of each of 400 runs of 30 s: four Reno flows through 10 Mbps with a small buffer.
pub(crate) struct Population {
    jain: Vec<f64>,
    utilization: Vec<f64>,
}

impl Population {
    pub(crate) fn new(size: u64) -> Population {
        let scenario = scenario(
            "flows = [\"4*reno\"]\n[run]\nseed = 47\nduration = \"30s\"\nwarmup = \"5s\"\n\
             [topology]\nrate = \"10Mbps\"\nrtt = \"80ms\"\nbuffer = \"10p\"\nqueue = \"droptail\"\n",
        );
        let scenario = scenario.resolve().expect("a scenario");
        let runs =
            (0..size).map(|replication| run_resolved(&scenario, replication).expect("a run"));
        let (jain, utilization) = runs
            .map(|outcome| {
                (
                    fairness(&outcome),
                    queue_metric(&outcome, "utilization_ratio"),
                )
            })
            .unzip();
        Population { jain, utilization }
    }

    /// Draws replications with replacement. The population's mean is the truth.
    pub(crate) fn draw(&self, seed: u64, table: &mut Table) {
        for (name, values, least) in [
            ("Jain's index of four Reno flows", &self.jain, 0.25),
            ("utilization by four Reno flows", &self.utilization, 0.0),
        ] {
            let truth = mean(values).expect("runs");
            let mut draws = Stream::derive(seed, 0, name);
            let size = u64::try_from(values.len()).expect("few");
            let drawn: Vec<f64> = (0..10)
                .map(|_| values[usize::try_from(draws.below(size)).expect("few")])
                .collect();
            for n in SIZES {
                let row = table.row("Bounded quantities", name, "none", &n.to_string());
                row.before.add(student(&drawn[..n]), truth);
                row.after.add(of(&drawn[..n], (least, 1.0)), truth);
            }
        }
    }
}

fn fairness(outcome: &RunOutcome) -> f64 {
    let (metric, _) = metrics::find("jain_index", None).expect("a metric");
    let flows = outcome.flows.iter().filter(|flow| flow.forward).collect();
    let subject = Subject::Flows(flows, outcome.measured, outcome.measured);
    metric.value(&subject).expect("a value")
}
