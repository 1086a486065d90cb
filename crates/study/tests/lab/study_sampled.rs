//! Experiments whose factors are ranges, sampled by a design.

use std::collections::BTreeSet;

use sojourn_scenario::document::Document;
use sojourn_study::study::Study;

use crate::support;

fn text(experiment: &str) -> String {
    format!(
        "flows = [\"2*reno\"]\n[run]\nduration = \"5s\"\n[topology]\nrate = \"4Mbps\"\nrtt = \"20ms\"\n\
         [[experiment]]\nname = \"plane\"\n{experiment}\n\
         [[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\nvalues = [\"codel\", \"droptail\"]\ncompare = true\n"
    )
}

const RATE: &str = "[[experiment.factor]]\nname = \"rate\"\npath = \"topology.rate\"\nunit = \"Mbps\"\n\
                    range = [\"1Mbps\", \"1Gbps\"]\nscale = \"log\"\n";
const RTT: &str = "[[experiment.factor]]\nname = \"rtt\"\npath = \"topology.rtt\"\nrange = [\"5ms\", \"300ms\"]\n";

fn refused(experiment: &str) -> String {
    let document = Document::parse(&text(experiment), "study.toml").expect("TOML");
    Study::from_document(&document)
        .expect_err("refused")
        .to_string()
}

#[test]
fn each_sample_has_a_value_of_each_range_and_runs_with_every_level() {
    for kind in ["sobol", "lhs"] {
        let design = format!("design = {{ kind = \"{kind}\", samples = 8, seed = 3 }}");
        let study = support::study(&text(&format!("{design}\n{RATE}{RTT}")));
        assert_eq!(study.points().len(), 16);
        let pairs: BTreeSet<(&String, &String)> = study
            .points()
            .iter()
            .map(|point| (&point.levels["rate"], &point.levels["rtt"]))
            .collect();
        assert_eq!(pairs.len(), 8, "{kind}");
        let sampling = study.experiments[0].sampling.clone().expect("a design");
        assert_eq!(
            (&*sampling.kind, sampling.samples, sampling.seed),
            (kind, 8, 3)
        );
        assert_eq!(sampling.factors, ["rate", "rtt"]);
        // One value in each eighth of each range.
        let labels = &study.experiments[0].factors[0].labels;
        let numbers: Vec<f64> = labels
            .iter()
            .map(|label| label.parse().expect("a number"))
            .collect();
        for (eighth, number) in (0..8).zip(&numbers) {
            let share = libm::log10(*number) / 3.0 * 8.0;
            assert!(
                (f64::from(eighth) - 0.01..f64::from(eighth) + 1.01).contains(&share),
                "{labels:?}"
            );
        }
        let compared = study.manifest("").expect("a manifest");
        assert_eq!(compared.comparisons().len(), 8);
    }
}

#[test]
fn the_same_seed_gives_the_same_samples_and_another_seed_others() {
    let levels = |seed: u64| {
        let design = format!("design = {{ kind = \"lhs\", samples = 6, seed = {seed} }}");
        let study = support::study(&text(&format!("{design}\n{RATE}{RTT}")));
        study
            .points()
            .iter()
            .map(|point| point.levels.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(levels(1), levels(1));
    assert_ne!(levels(1), levels(2));
}

#[test]
fn a_value_that_is_drawn_runs_in_full_and_its_label_is_rounded() {
    let design = "design = { samples = 2 }";
    let study = support::study(&text(&format!("{design}\n{RATE}")));
    let point = &study.points()[0];
    let label: f64 = point.levels["rate"].parse().expect("a number");
    assert!(point.levels["rate"].len() <= 5, "{}", point.levels["rate"]);
    let scenario = point.scenario().expect("a scenario");
    let sojourn_scenario::model::Topology::Dumbbell(params) = &scenario.topology else {
        panic!("a dumbbell");
    };
    let ran = params.rate.as_bps_f64() / 1e6;
    assert!((ran / label - 1.0).abs() < 1e-3, "{ran} {label}");
}

#[test]
fn a_design_that_cannot_be_says_what_is_wrong() {
    let of = |design: &str, factor: &str| refused(&format!("{design}\n{factor}"));
    let error = of("design = { samples = 0 }", RATE);
    assert!(
        error.contains("samples") && error.contains("1 to 65536"),
        "{error}"
    );
    let error = of("", RATE);
    assert!(
        error.contains("nothing says how many values") && error.contains("samples = 64"),
        "{error}"
    );
    let error = of("design = { samples = 4 }", "");
    assert!(error.contains("no factor has a range"), "{error}");
    let error = of("design = [{ samples = 4 }, { samples = 8 }]", RATE);
    assert!(error.contains("one design"), "{error}");
    let error = of("design = { samples = 4, kind = \"sobel\" }", RATE);
    assert!(error.contains("sobol"), "{error}");
    let design = "design = { samples = 4 }";
    let reversed = RATE.replace("\"1Mbps\", \"1Gbps\"", "\"1Gbps\", \"1Mbps\"");
    let error = of(design, &reversed);
    assert!(
        error.contains("is not below") && error.contains("study.toml"),
        "{error}"
    );
    let error = of(
        design,
        &RTT.replace("\"5ms\"", "\"0s\"")
            .replace("name =", "scale = \"log\"\nname ="),
    );
    assert!(error.contains("no logarithm"), "{error}");
    let error = of(design, &format!("{RATE}compare = true\n"));
    assert!(error.contains("not compared with each other"), "{error}");
    let error = of(design, &format!("{RATE}values = [\"1Mbps\"]\n"));
    assert!(error.contains("and not both"), "{error}");
}

#[test]
fn two_factors_that_set_the_same_are_refused_where_one_is_a_range() {
    let design = "design = { samples = 4 }";
    let twice = RATE.replace("name = \"rate\"", "name = \"again\"");
    assert_ne!(twice, RATE);
    let error = refused(&format!("{design}\n{RATE}{twice}"));
    let both = "\"rate\" and \"again\" both set topology.rate";
    assert!(error.contains(both), "{error}");
    let levels =
        "[[experiment.factor]]\nname = \"level\"\npath = \"topology.rate\"\nvalues = [\"1Mbps\"]\n";
    let error = refused(&format!("{design}\n{RATE}{levels}"));
    assert!(error.contains("both set topology.rate"), "{error}");
}

#[test]
fn two_lists_of_values_for_one_path_are_refused_and_a_part_of_a_value_is_not() {
    let factor = |name: &str, path: &str, values: &str| {
        format!("[[experiment.factor]]\nname = \"{name}\"\npath = \"{path}\"\nvalues = {values}\n")
    };
    let one = factor("one", "topology.rate", "[\"1Mbps\", \"2Mbps\"]");
    let two = factor("two", "topology.rate", "[\"5Mbps\"]");
    let error = refused(&format!("{one}{two}"));
    assert!(
        error.contains("\"one\" and \"two\" both set topology.rate")
            && error.contains("study.toml"),
        "{error}"
    );
    let level =
        |kind: &str| format!("{{ label = \"{kind}\", set = {{ flows = [\"2*{kind}\"] }} }}");
    let flows = format!(
        "[[experiment.factor]]\nname = \"mix\"\nvalues = [{}, {}]\n",
        level("reno"),
        level("cubic")
    );
    let count = factor("count", "flows[0].count", "[1, 2]");
    let study = support::study(&text(&format!("{flows}{count}")));
    assert_eq!(study.points().len(), 8);
}

#[test]
fn a_range_of_seeds_or_in_a_unit_of_something_else_is_refused() {
    let design = "design = { samples = 4 }";
    for path in ["run.seed", "run.replications"] {
        let seeds = RTT
            .replace("topology.rtt", path)
            .replace("5ms", "1")
            .replace("300ms", "9");
        let error = refused(&format!("{design}\n{seeds}"));
        assert!(error.contains(&format!("{path} has no range")), "{error}");
    }
    let error = refused(&format!("{design}\n{}", RATE.replace("\"Mbps\"", "\"ms\"")));
    assert!(error.contains("\"ms\" is no unit of a rate"), "{error}");
}

#[test]
fn a_range_of_buffers_may_be_in_bandwidth_delay_products() {
    let buffer = "[[experiment.factor]]\nname = \"buffer\"\npath = \"topology.buffer\"\nrange = [\"0.5bdp\", \"2bdp\"]\n";
    let study = support::study(&text(&format!("design = {{ samples = 4 }}\n{buffer}")));
    let labels = &study.experiments[0].factors[0].labels;
    assert!(
        labels.iter().all(|label| label.ends_with("bdp")),
        "{labels:?}"
    );
    study.points()[0].scenario().expect("a scenario");
}
