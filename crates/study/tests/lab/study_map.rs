//! Maps: which level wins over one or two quantities.

use sojourn_run::run;
use sojourn_study::map::{Axis, Map, Request};
use sojourn_study::study::{Options, Study, execute};

use crate::support;

/// A fixed number of packets waits less than a fixed time above the rate at which both are the same: 20 packets of 1,000 bytes are 80 ms at
/// 2 Mbps.
fn study() -> Study {
    support::study(
        "flows = [\"cbr 50Mbps size=1000B\"]\n[run]\nduration = \"2s\"\nwarmup = \"1s\"\ndeterministic = true\n\
         [topology]\nrate = \"4Mbps\"\nrtt = \"20ms\"\naccess_rate = \"1Gbps\"\n\
         [[experiment]]\nname = \"queues\"\n[[experiment.factor]]\nname = \"queue\"\n\
         values = [\n{ label = \"packets\", set = { \"topology.queue\" = \"droptail\", \"topology.buffer\" = \"20p\" } },\n\
         { label = \"time\", set = { \"topology.queue\" = \"droptail\", \"topology.buffer\" = \"80ms\" } },\n]\ncompare = true\n",
    )
}

fn request(x: &str, y: Option<&str>, depth: u32) -> Request {
    Request {
        x: Axis::read("--x", x).expect("an axis"),
        y: y.map(|y| Axis::read("--y", y).expect("an axis")),
        metric: None,
        lower: None,
        experiment: None,
        cells: 4,
        depth,
    }
}

fn drawn(request: Request) -> (Map, usize) {
    drawn_of(&study(), request)
}

fn drawn_of(study: &Study, request: Request) -> (Map, usize) {
    let mut map = Map::of(study, request).expect("a map");
    let mut points = 0;
    while let Some(round) = map.next(study).expect("a round") {
        points += round.points().len();
        let executed = execute(&round, run::run_resolved, None, Options::default());
        map.take(&executed.expect("executed").results.expect("all runs"));
    }
    (map, points)
}

#[test]
fn a_crossover_is_bracketed_by_the_last_place_of_one_and_the_first_of_the_other() {
    let (map, points) = drawn(request("rate=0.5..8Mbps:log", None, 6));
    // Five places, and the middle of the interval with the crossover six times.
    assert!(points >= 2 * 11, "{points}");
    let text = map.text();
    let line = text
        .lines()
        .find(|line| line.starts_with("time wins up to"))
        .expect("a crossover");
    let mut rates = line.split_whitespace().filter_map(|word| {
        let word = word.trim_end_matches(',');
        let (number, unit) = word.split_at(word.find(|c: char| c.is_ascii_alphabetic())?);
        let factor = match unit {
            "bps" => 1e-6,
            "kbps" => 1e-3,
            "Mbps" => 1.0,
            _ => return None,
        };
        Some(number.parse::<f64>().ok()? * factor)
    });
    let (low, high) = (rates.next().expect("a rate"), rates.next().expect("a rate"));
    assert!(low < high && high / low < 1.2, "{line}");
    assert!((1.5..2.7).contains(&low), "{line}");
}

#[test]
fn a_map_is_refined_at_its_border_and_shown_in_all_forms() {
    let (map, points) = drawn(request("rate=0.5..8Mbps:log", Some("rtt=10..50ms"), 1));
    assert!(points > 2 * 16 && points < 2 * 80, "{points}");
    let text = map.text();
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains("|B") && text.contains("A packets:"), "{text}");
    let csv = map.csv();
    assert!(
        csv.starts_with("topology.rate,topology.rtt,winner,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count() - 1, points / 2);
    let svg = map.svg();
    assert!(svg.contains(">10Mbps<") || svg.contains(">5Mbps<"), "{svg}");
    assert!(svg.contains(">Round-trip time<") && svg.contains(">undecided<"));
    assert!(svg.contains("lowest Sojourn, p95<"), "{svg}");
    let json: serde_json::Value = serde_json::from_str(&map.json()).expect("JSON");
    assert_eq!(json["levels"][1], "time");
}

#[test]
fn a_map_of_what_cannot_be_is_refused() {
    let study = study();
    let of = |request| Map::of(&study, request).expect_err("refused").to_string();
    let error = of(Request {
        cells: 0,
        ..request("rate=1..2Mbps", None, 1)
    });
    assert!(error.contains("--cells"), "{error}");
    let error = of(request("rate=1..2Mbps", Some("topology.rate=1..2Mbps"), 1));
    assert!(error.contains("both axes"), "{error}");
    let error = of(Request {
        experiment: Some("queue".to_owned()),
        ..request("rate=1..2Mbps", None, 1)
    });
    assert!(error.contains("\"queues\""), "{error}");
    let error = of(Request {
        metric: Some("sojourn_s_p9".to_owned()),
        ..request("rate=1..2Mbps", None, 1)
    });
    assert!(error.contains("--metric"), "{error}");
}

#[test]
fn a_whole_number_is_one_place_however_often_the_axis_is_split() {
    let (map, points) = drawn(Request {
        cells: 2,
        ..request("flows=1..2", None, 3)
    });
    assert_eq!(points, 2 * 2);
    let csv = map.csv();
    assert_eq!(csv.lines().count() - 1, 2, "{csv}");
    assert!(map.text().contains("of 2 places"), "{}", map.text());
    let (map, points) = drawn(Request {
        cells: 2,
        ..request("flows=1..2", Some("rtt=10..50ms"), 0)
    });
    assert_eq!((points, map.csv().lines().count() - 1), (2 * 4, 4));
}

#[test]
fn a_map_of_one_cell_names_both_ends_of_its_axes() {
    let (map, _) = drawn(Request {
        cells: 1,
        ..request("rate=1..2Mbps", Some("rtt=10..50ms"), 0)
    });
    let text = map.text();
    for end in ["1Mbps", "2Mbps", "10ms |", "50ms |"] {
        assert!(text.contains(end), "{text}");
    }
}

/// A study whose factor `rate` sets what a map may vary, with further keys for it, and a run that is `again`.
fn with_rate(design: &str, rate: &str, run: &str) -> Study {
    support::study(&format!(
        "flows = [\"2*reno\"]\n[run]\nduration = \"2s\"\nwarmup = \"1s\"\n{run}\n[topology]\nrtt = \"20ms\"\n\
         [[experiment]]\nname = \"queues\"\n{design}\n[[experiment.factor]]\nname = \"rate\"\ntitle = \"Bandwidth\"\n\
         path = \"topology.rate\"\n{rate}\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
         values = [\"droptail limit=10p\", \"droptail limit=90p\"]\ncompare = true\n"
    ))
}

#[test]
fn an_axis_has_the_heading_of_the_factor_that_it_replaces_and_the_title_no_level_of_it() {
    let study = with_rate(
        "",
        "values = [\"1Mbps\", \"2Mbps\"]",
        "deterministic = true",
    );
    let (map, _) = drawn_of(&study, request("rate=1..2Mbps", None, 0));
    assert!(map.svg().contains(">Bandwidth<"));
    assert!(!map.text().contains("at rate"), "{}", map.text());
    let (map, _) = drawn_of(&study, request("rtt=10..20ms", None, 0));
    assert!(map.text().contains("at rate=1Mbps"), "{}", map.text());
}

#[test]
fn a_map_of_an_experiment_with_ranges_needs_them_as_its_axes() {
    let range = "range = [\"1Mbps\", \"9Mbps\"]";
    let study = with_rate("design = { samples = 4 }", range, "");
    let error = Map::of(&study, request("rtt=10..20ms", None, 0)).expect_err("refused");
    let error = error.to_string();
    assert!(error.contains("draws \"rate\" from a range"), "{error}");
    Map::of(&study, request("rate=1..9Mbps", None, 0)).expect("a map over the range");
}

#[test]
fn an_axis_that_the_compared_levels_set_themselves_is_refused() {
    let error = Map::of(&study(), request("buffer=1..2bdp", None, 0)).expect_err("refused");
    let error = error.to_string();
    assert!(
        error.contains("--x buffer=1..2bdp") && error.contains("\"queue\""),
        "{error}"
    );
}

#[test]
fn a_map_whose_places_run_once_says_why_nothing_is_decided() {
    let values = "values = [\"1Mbps\", \"2Mbps\"]";
    let of = |run: &str| {
        let study = with_rate("", values, run);
        drawn_of(&study, request("rtt=10..20ms", None, 0)).0.text()
    };
    let said = "nothing tells a difference from chance";
    assert!(of("replications = 1").contains(said));
    assert!(!of("deterministic = true").contains(said));
}

#[test]
fn a_map_keeps_what_the_auditor_says_of_its_places() {
    let values = "values = [\"1Mbps\", \"2Mbps\"]";
    let study = with_rate("", values, "replications = 2");
    let (map, _) = drawn_of(&study, request("rtt=10..20ms", None, 1));
    let rules: Vec<&str> = map.notes().iter().map(|note| note.rule.as_str()).collect();
    assert!(rules.contains(&"few-replications"), "{rules:?}");
    let mut once = rules.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), rules.len(), "{rules:?}");
}

#[test]
fn more_is_better_of_what_one_wants_more_of() {
    let lower = |metric: &str| {
        let mut request = request("rate=0.5..8Mbps:log", None, 0);
        request.metric = Some(metric.to_owned());
        Map::of(&study(), request).expect("a map").lower()
    };
    for metric in [
        "min_share_ratio",
        "jain_index",
        "goodput_bps_sum",
        "delivered_packets",
    ] {
        assert!(!lower(metric), "{metric}");
    }
    for metric in ["sojourn_s_p95", "loss_ratio", "delay_s_mean"] {
        assert!(lower(metric), "{metric}");
    }
}
