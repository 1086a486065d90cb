//! What the study `codel-ledbat` says of a published comparison: its LEDBAT column is that of an empty queue, and LEDBAT that
//! loads the link is another matter.

use sojourn_results::metrics::{Subject, find};
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;
use sojourn_study::study::{Point, Study};

fn points(experiment: &str) -> Vec<Point> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../studies/codel-ledbat/study.toml"
    );
    let study = Study::read(path.as_ref()).expect("the study");
    let all = study.points.into_iter();
    all.filter(|point| point.experiment == experiment).collect()
}

fn one(experiment: &str, levels: &[(&str, &str)]) -> RunOutcome {
    let mut found = points(experiment);
    found.retain(|point| levels.iter().all(|(f, level)| point.levels[*f] == *level));
    assert_eq!(found.len(), 1, "{levels:?}");
    run(&found[0].scenario().expect("a scenario"), 0).expect("a run")
}

fn of_flows(run: &RunOutcome, metric: &str, label: &str) -> f64 {
    let flows = run.flows.iter().filter(|flow| flow.label == label);
    let subject = Subject::Flows(flows.collect(), run.measured, run.active());
    find(metric, None).unwrap().0.value(&subject).expect(metric)
}

fn of_queue(run: &RunOutcome, metric: &str) -> f64 {
    let queues = run.queues.iter().filter(|queue| queue.bottleneck);
    let subject = Subject::Queues(queues.collect(), run.measured);
    find(metric, None).unwrap().0.value(&subject).expect(metric)
}

#[test]
fn one_segment_at_a_time_gives_the_delays_published_for_ledbat() {
    // Bandwidth; Table 2, 0 to 4 and 1 to 5; Table 1.
    let published = [
        ("1.25", 0.020_918_8, 0.020_958_4, 0.059_129),
        ("1.5", 0.020_548_7, 0.020_581_3, 0.058_535),
        ("2", 0.020_086_5, 0.020_110_7, 0.057_793),
    ];
    for (bandwidth, to_4, to_5, both) in published {
        let levels = [("bandwidth", bandwidth), ("setup", "one segment, DropTail")];
        let run = one("published", &levels);
        assert!(of_queue(&run, "sojourn_s_mean") < 10e-6);
        assert!(of_queue(&run, "utilization_ratio") < 0.25);
        assert!(of_queue(&run, "dropped_packets").abs() < f64::EPSILON);
        let off = |label: &str, printed: f64| {
            (of_flows(&run, "delay_s_mean", label) / (3.0 * printed) - 1.0).abs()
        };
        assert!(
            off("0-4", to_4) < 0.000_2,
            "{bandwidth}: {}",
            off("0-4", to_4)
        );
        // The publication's second pair waits 0.1 ms more.
        assert!(
            off("1-5", to_5) < 0.002,
            "{bandwidth}: {}",
            off("1-5", to_5)
        );
        let all = Subject::Flows(run.flows.iter().collect(), run.measured, run.active());
        let metric = find("both_delay_s_mean", None).unwrap().0;
        let mean = metric.value(&all).expect("a mean");
        assert!((mean / both - 1.0).abs() < 0.002, "{bandwidth}: {mean}");
    }
}

#[test]
fn ledbat_that_loads_the_link_keeps_its_target_and_yields_over_droptail_but_not_over_codel() {
    let loaded = |flows, queue| {
        let levels = [("bandwidth", "1.25"), ("flows", flows), ("queue", queue)];
        one("loaded", &levels)
    };
    let alone = loaded("4 LEDBAT", "DropTail");
    let sojourn = of_queue(&alone, "sojourn_s_mean");
    assert!((0.090..0.110).contains(&sojourn), "{sojourn}");
    assert!(of_queue(&alone, "utilization_ratio") > 0.999);
    let share = |run: &RunOutcome| {
        let goodput = |label| of_flows(run, "goodput_bps_sum", label);
        goodput("LEDBAT") / (goodput("LEDBAT") + goodput("Reno"))
    };
    let over_droptail = share(&loaded("2 Reno, 2 LEDBAT", "DropTail"));
    assert!(over_droptail < 0.05, "{over_droptail}");
    let over_codel = share(&loaded("2 Reno, 2 LEDBAT", "CoDel"));
    assert!((0.4..0.6).contains(&over_codel), "{over_codel}");
}
