//! What the study `rmcat-wired` shows of NADA, SCReAM and GCC in the wired test cases of RFC 8867: they follow the capacity, share, keep the
//! queue short, and neither starve beside TCP nor starve it. The bands are those of the README's findings, not of the RFC, which
//! gives none.

use sojourn_results::metrics::{Level, Subject, find};
use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::{jain_index, mean};
use sojourn_run::run::run;
use sojourn_study::study::Study;

struct Case(RunOutcome);

impl Case {
    fn run(experiment: &str, control: &str) -> Case {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../studies/rmcat-wired/study.toml"
        );
        let study = Study::read(path.as_ref()).expect("the study");
        let points = study.points.iter();
        let found: Vec<_> = points
            .filter(|point| point.experiment == experiment && point.levels["control"] == control)
            .collect();
        // The first delay and queue of several: 50 ms and 300 ms.
        assert!(!found.is_empty(), "{experiment} {control}");
        Case(run(&found[0].scenario().expect("a scenario"), 0).expect("a run"))
    }

    fn of_flow(&self, label: &str, metric: &str) -> f64 {
        let flows = self.0.flows.iter().filter(|flow| flow.label == label);
        let subject = Subject::Flows(flows.collect(), self.0.measured, self.0.active());
        let (metric, _) = find(metric, Some(Level::Flow)).expect(metric);
        metric.value(&subject).expect("a value")
    }

    fn mean_sojourn(&self) -> f64 {
        let queues = self
            .0
            .queues
            .iter()
            .filter(|queue| queue.link == "left-right");
        let subject = Subject::Queues(queues.collect(), self.0.measured);
        let (metric, _) = find("sojourn_s_mean", Some(Level::Queue)).expect("a metric");
        metric.value(&subject).expect("a value")
    }

    /// Mean throughput of a flow between two seconds of the run, Mbps.
    fn mbps(&self, label: &str, from: f64, to: f64) -> f64 {
        let mut all = self.0.series.iter();
        let series = all
            .find(|series| series.of.starts_with(label) && series.quantity == "throughput_bps")
            .expect("a series");
        let times =
            (0u32..).map(|i| series.first.as_secs_f64() + f64::from(i) * series.step.as_secs_f64());
        let within = times
            .zip(&series.values)
            .filter(|(time, _)| *time >= from && *time <= to);
        let values: Vec<f64> = within.map(|(_, value)| *value).collect();
        mean(&values).expect("samples") / 1e6
    }
}

const CONTROLS: [&str; 2] = ["NADA", "SCReAM"];
const ALL: [&str; 3] = ["NADA", "SCReAM", "GCC"];

#[test]
fn one_flow_follows_the_capacity_with_a_short_queue() {
    for control in ALL {
        let case = Case::run("5.1", control);
        // 2.5 Mbps is more than the encoder has; then 0.6, then 1 Mbps.
        let fast = case.mbps("m1", 50.0, 60.0);
        let slow = case.mbps("m1", 68.0, 80.0);
        let after = case.mbps("m1", 90.0, 98.0);
        assert!((1.3..1.7).contains(&fast), "{control}: {fast}");
        assert!((0.4..0.61).contains(&slow), "{control}: {slow}");
        assert!((0.65..1.01).contains(&after), "{control}: {after}");
        assert!(
            case.mean_sojourn() < 0.1,
            "{control}: {}",
            case.mean_sojourn()
        );
        assert!(case.of_flow("m1", "loss_ratio") < 0.02, "{control}");
        // A lost picture is asked for until it is there.
        let frozen = case.of_flow("m1", "frozen_ratio");
        assert!(frozen < 0.1, "{control}: {frozen}");
    }
}

#[test]
fn two_flows_that_start_together_share_a_capacity_that_varies() {
    for control in ALL {
        let case = Case::run("5.2", control);
        let shares = ["m1", "m2"].map(|label| case.of_flow(label, "goodput_bps_mean"));
        assert!(
            jain_index(&shares).expect("shares") > 0.98,
            "{control}: {shares:?}"
        );
        assert!(
            case.mean_sojourn() < 0.1,
            "{control}: {}",
            case.mean_sojourn()
        );
    }
}

#[test]
fn the_queue_of_nada_is_that_of_its_equation() {
    // Three flows share 3.5 Mbps most of the time, two of them less: 10 ms times 1.5 Mbps over the rate of a flow.
    for experiment in ["5.4", "5.8"] {
        let sojourn = Case::run(experiment, "NADA").mean_sojourn();
        assert!((0.010..0.020).contains(&sojourn), "{experiment}: {sojourn}");
    }
}

#[test]
fn a_flow_whose_feedback_is_congested_keeps_going() {
    for control in CONTROLS {
        let case = Case::run("5.3", control);
        for label in ["m1", "m2"] {
            let mbps = case.of_flow(label, "goodput_bps_mean") / 1e6;
            assert!((0.9..1.4).contains(&mbps), "{control} {label}: {mbps}");
        }
    }
}

#[test]
fn late_comers_get_a_share_whatever_their_round_trip() {
    for control in CONTROLS {
        let case = Case::run("5.4", control);
        let shares = ["m1", "m2", "m3"].map(|label| case.mbps(label, 100.0, 118.0));
        assert!(
            jain_index(&shares).expect("shares") > 0.85,
            "{control}: {shares:?}"
        );
        // NADA's shares are equal in the end whatever the round trip; SCReAM takes a queue that stands for an empty path.
        let case = Case::run("5.5", control);
        let shares = ["m1", "m2", "m3", "m4", "m5"].map(|label| case.mbps(label, 250.0, 298.0));
        let fair = jain_index(&shares).expect("shares");
        match control {
            "NADA" => assert!(fair > 0.99, "{shares:?}"),
            _ => assert!(shares.iter().all(|share| *share > 0.08), "{shares:?}"),
        }
    }
}

#[test]
fn media_and_tcp_leave_each_other_a_share() {
    for control in CONTROLS {
        // At worst the least rate beside a long TCP; ten short ones want 0.3 Mbps together.
        for (experiment, least, of_tcp) in [("5.6", 0.14, 0.5), ("5.7", 0.4, 0.2)] {
            let case = Case::run(experiment, control);
            let media = case.of_flow("m1", "goodput_bps_mean") / 1e6;
            assert!(media > least, "{control} {experiment}: {media}");
            let tcp: u64 = case
                .0
                .flows
                .iter()
                .filter(|flow| flow.label == "tcp")
                .map(|flow| flow.goodput_bytes)
                .sum();
            let share = 8e-6 * f64::from(u32::try_from(tcp).expect("bytes"))
                / case.0.measured.as_secs_f64();
            assert!(share > of_tcp, "{control} {experiment}: {share}");
        }
    }
}

#[test]
fn others_take_what_a_flow_that_pauses_leaves_and_give_it_back() {
    for control in CONTROLS {
        let case = Case::run("5.8", control);
        let during = case.mbps("m1", 50.0, 60.0);
        let after = case.mbps("m2", 90.0, 118.0);
        assert!(case.mbps("m2", 45.0, 59.0) < 0.05, "{control}");
        assert!(during > 1.1, "{control}: {during}");
        assert!(after > 0.6, "{control}: {after}");
        // Twenty seconds without frames of 120 are no freeze.
        let frozen = case.of_flow("m2", "frozen_ratio");
        assert!(frozen < 0.08, "{control}: {frozen}");
    }
}
