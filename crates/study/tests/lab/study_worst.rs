//! Searches for the worst place: found, confirmed with other seeds, repeated from a file, the same under any number of threads.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sojourn_results::outcome::RunOutcome;
use sojourn_run::run;
use sojourn_scenario::LabError;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::LabErrorKind;
use sojourn_scenario::resolved::Resolved;
use sojourn_study::study::{Options, Study, execute};
use sojourn_study::worst::{Confirmed, Hands, Request, Search, Space};

/// More than the link carries, into a full buffer: packets wait longest where the buffer is largest and the rate lowest.
const OVERLOAD: &str = "flows = [\"cbr 9Mbps size=1000B\", \"poisson 1Mbps size=500B\"]\n[run]\nduration = \"1s\"\nwarmup = \"500ms\"\nstart_spread = \"100ms\"\n\
     [topology]\nrate = \"4Mbps\"\nrtt = \"20ms\"\nbuffer = \"20p\"\naccess_rate = \"1Gbps\"\n";

fn space(text: &str, ranges: &[&str]) -> Space {
    let document = Document::parse(text, "s.toml").expect("TOML");
    let mut space = Space::of_document("s", &document, None).expect("a space");
    for range in ranges {
        space.vary(range).unwrap_or_else(|error| panic!("{error}"));
    }
    space
}

fn request(metric: &str, lower: bool, runs: u64) -> Request {
    Request {
        metric: metric.to_owned(),
        lower,
        option: "--maximise",
        runs,
        confirm: 3,
        seed: 7,
    }
}

type Made = Result<RunOutcome, LabError>;

fn searched(
    space: Space,
    request: Request,
    threads: usize,
    runner: impl Fn(&Resolved, u64) -> Made + Sync,
) -> Search {
    let mut search = Search::of(space, request).unwrap_or_else(|error| panic!("{error}"));
    let never = AtomicBool::new(false);
    let result = search.run(&mut Hands {
        runner,
        threads: NonZero::new(threads),
        cancel: &never,
        progress: &mut |_| (),
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    search
}

fn json(search: &Search, confirmed: Option<&Confirmed>) -> serde_json::Value {
    serde_json::from_str(&search.json(confirmed)).expect("JSON")
}

fn confirmed(search: &Search) -> Confirmed {
    let study = search.confirmation().expect("a study");
    let executed = execute(&study, run::run_resolved, None, Options::default());
    let results = executed.expect("executed").results.expect("all runs");
    Search::confirmed(&results)
}

const RANGES: [&str; 3] = [
    "rate=1..8Mbps:log",
    "buffer=4..64p:log",
    "queue=droptail|codel|pie",
];

#[test]
fn a_search_finds_the_corner_of_the_space_that_is_worst() {
    let search = searched(
        space(OVERLOAD, &RANGES),
        request("sojourn_s_p99", false, 150),
        2,
        run::run_resolved,
    );
    let found = json(&search, None);
    let factor = |name: &str| found["worst"]["factors"][name].as_str().unwrap().to_owned();
    let number =
        |name: &str, unit: &str| -> f64 { factor(name).trim_end_matches(unit).parse().unwrap() };
    assert!(number("rate", "Mbps") < 1.1, "{found}");
    assert!(number("buffer", "p") > 58.0, "{found}");
    // What each factor does from there: the rate and the buffer matter.
    let along = found["along"][0]["values"].as_array().unwrap();
    let value = |one: &serde_json::Value| one["value"].as_f64().unwrap();
    let fast = along.iter().find(|one| one["at"] == "8Mbps").unwrap();
    assert!(value(fast) < 0.25 * value(&along[0]), "{found}");
}

#[test]
fn a_search_is_the_same_under_any_number_of_threads_and_another_with_another_seed() {
    let of = |threads, seed| {
        let request = Request {
            seed,
            ..request("sojourn_s_p99", false, 100)
        };
        let search = searched(
            space(OVERLOAD, &RANGES),
            request,
            threads,
            run::run_resolved,
        );
        (search.csv(), search.json(None))
    };
    assert_eq!(of(1, 7), of(4, 7));
    assert_ne!(of(2, 7).0, of(2, 8).0);
}

#[test]
fn the_confirmation_has_seeds_that_the_search_never_had() {
    let seeds = Mutex::new(std::collections::BTreeSet::new());
    let search = searched(
        space(OVERLOAD, &RANGES),
        request("sojourn_s_p99", false, 100),
        1,
        |scenario, replication| {
            seeds
                .lock()
                .unwrap()
                .insert((scenario.run.seed, replication));
            run::run_resolved(scenario, replication)
        },
    );
    let study = search.confirmation().unwrap();
    let fresh: Vec<u64> = (study.points.iter())
        .map(|point| point.scenario().unwrap().run.seed)
        .collect();
    assert!(
        fresh.len() >= 2 && fresh.iter().all(|seed| *seed == 8),
        "{fresh:?}"
    );
    // What the search chose by had seed 7; the factors around the winner are shown with the fresh seed.
    let seeds = seeds.into_inner().unwrap();
    let by_seed = |seed| seeds.iter().filter(|(own, _)| *own == seed).count();
    assert_eq!((by_seed(7), by_seed(8)), (9, 2), "{seeds:?}");
}

#[test]
fn the_confirmed_value_has_none_of_the_luck_by_which_the_search_chose() {
    // The buffer never fills, so all places are alike, and each run has its own luck: luck alone chooses.
    let random = "flows = [\"poisson 3Mbps size=500B\"]\n[run]\nduration = \"1s\"\nwarmup = \"200ms\"\nstart_spread = \"100ms\"\n\
         [topology]\nrate = \"4Mbps\"\nrtt = \"20ms\"\naccess_rate = \"1Gbps\"\n";
    let luck = AtomicU64::new(1000);
    let search = searched(
        space(random, &["buffer=3000..6000p"]),
        Request {
            confirm: 20,
            ..request("sojourn_s_mean", false, 200)
        },
        1,
        |scenario, replication| {
            let mut own = scenario.clone();
            own.run.seed = luck.fetch_add(1, Ordering::Relaxed);
            run::run_resolved(&own, replication)
        },
    );
    let mut document = Document::parse(random, "s.toml").expect("TOML");
    document.set("topology.buffer", "4000p").unwrap();
    document.set("run.seed", "99").unwrap();
    document.set("run.replications", "200").unwrap();
    let study = Study::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let executed = execute(&study, run::run_resolved, None, Options::default());
    let results = executed.expect("executed").results.expect("all runs");
    let all = sojourn_study::summary::comparison(&results).records;
    let truth = all.iter().find(|record| record.metric == "sojourn_s_mean");
    let truth = truth.expect("a value").value;
    let found = json(&search, None);
    let chosen = found["worst"]["value"].as_f64().unwrap();
    let fresh = confirmed(&search).worst.expect("a value");
    let (low, high) = (fresh.low.unwrap(), fresh.high.unwrap());
    assert!(low <= truth && truth <= high, "{truth}: {fresh:?}");
    assert!(chosen > truth, "{chosen} is the best of many: {truth}");
}

#[test]
fn the_winner_has_more_runs_than_the_places_it_was_chosen_from() {
    let request = request("sojourn_s_p99", false, 200);
    let search = searched(space(OVERLOAD, &RANGES), request, 2, run::run_resolved);
    assert_eq!(json(&search, None)["worst"]["runs"], 9);
    let runs = |line: &str| -> u64 {
        let cells: Vec<&str> = line.rsplit(',').collect();
        cells[1].parse().unwrap()
    };
    let csv = search.csv();
    let all: Vec<u64> = csv.lines().skip(1).map(runs).collect();
    let of = |number: u64| all.iter().filter(|runs| **runs == number).count();
    assert!((1..=2).contains(&of(9)), "{csv}");
    assert!(of(3) > of(9) && of(1) > of(3), "{csv}");
    assert_eq!(of(1) + of(3) + of(9) + of(0), all.len(), "{csv}");
}

#[test]
fn what_the_worst_case_does_not_need_goes_to_its_default() {
    let ranges = [
        "rate=1..8Mbps:log",
        "buffer=4..64p:log",
        "rtt=10..40ms",
        "access_rate=500..1000Mbps",
    ];
    let request = request("sojourn_s_p99", false, 200);
    let search = searched(space(OVERLOAD, &ranges), request, 2, run::run_resolved);
    let all = confirmed(&search);
    let found = json(&search, Some(&all));
    assert_eq!(
        found["simpler"]["needed"],
        serde_json::json!(["rate", "buffer"]),
        "{found}"
    );
    let value = |value: &serde_json::Value| value["value"].as_f64().unwrap();
    let (worst, default) = (value(&found["confirmed"]), value(&found["default"]));
    let simpler = value(&found["simpler"]["confirmed"]);
    assert!(simpler > default + 0.8 * (worst - default), "{found}");
    // The other factors have their defaults in its column.
    let text = search.text(Some(&all), Some(80));
    let rtt = text.lines().find(|line| line.starts_with("rtt ")).unwrap();
    let cells: Vec<&str> = rtt.split_whitespace().collect();
    assert_eq!(cells[2..], ["20ms", "20ms"], "{text}");
}

#[test]
fn a_default_outside_of_the_space_replaces_nothing() {
    let search = searched(
        space(OVERLOAD, &["rate=1..2Mbps:log", "rtt=30..40ms"]),
        request("sojourn_s_p99", false, 100),
        2,
        run::run_resolved,
    );
    assert!(json(&search, None)["simpler"].is_null());
}

#[test]
fn a_search_that_finds_nothing_worse_than_the_default_says_so() {
    let request = request("mark_ratio", false, 100);
    let search = searched(space(OVERLOAD, &RANGES), request, 2, run::run_resolved);
    let all = confirmed(&search);
    assert!(json(&search, Some(&all))["simpler"].is_null());
    let text = search.text(Some(&all), None);
    assert!(text.contains("The default is as bad"), "{text}");
}

#[test]
fn a_value_of_a_list_that_no_place_could_have_is_refused_before_the_search() {
    let space = space(OVERLOAD, &["queue=codell|pie", "rate=1..8Mbps:log"]);
    let error = Search::of(space, request("sojourn_s_p99", false, 100)).err();
    let said = error.expect("an error").to_string();
    assert!(said.contains("codell") && said.contains("codel"), "{said}");
    assert!(said.contains("--range"), "{said}");
}

#[test]
fn a_pair_keeps_the_starts_and_labels_that_are_given_and_refuses_a_number_of_flows() {
    let space = Space::of_pair("cubic start=3s label=early", "bbr").unwrap();
    let search = Search::of(space, request("share of early", true, 300));
    let search = search.unwrap_or_else(|error| panic!("{error}"));
    let head = search.csv();
    assert!(
        !head.contains("first_start") && head.contains("second_start"),
        "{head}"
    );
    let said = |first: &str| Space::of_pair(first, "bbr").err().unwrap().to_string();
    for given in ["3*cubic", "cubic count=3"] {
        let said = said(given);
        assert!(
            said.contains("--cc") && said.contains("--range flows=3"),
            "{said}"
        );
    }
    assert!(said(" ").contains("no congestion control is named"));
}

#[test]
fn the_written_file_repeats_the_confirmed_value() {
    let search = searched(
        space(OVERLOAD, &RANGES),
        request("share of poisson", true, 100),
        2,
        run::run_resolved,
    );
    let both = confirmed(&search);
    let worst = both.worst.expect("a value");
    let text = search.file("sojourn worst s.toml").unwrap();
    let document = Document::parse(&text, "worst.toml").expect("TOML");
    let study = Study::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let executed = execute(&study, run::run_resolved, None, Options::default());
    let results = executed.expect("executed").results.expect("all runs");
    let again = sojourn_study::summary::comparison(&results).records;
    let again = again.iter().find(|record| record.metric == worst.metric);
    let again = again.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        (again.value, again.low, again.high, again.n),
        (worst.value, worst.low, worst.high, 3)
    );
    assert!(both.default.is_some());
}

#[test]
fn places_that_are_not_allowed_are_counted_and_left_out() {
    // CoDel of ns-2 has no ECN.
    let ranges = [
        "rate=1..8Mbps:log",
        "queue=droptail|codel dialect=ns2 ecn=true",
    ];
    let search = searched(
        space(OVERLOAD, &ranges),
        request("sojourn_s_p99", false, 100),
        2,
        run::run_resolved,
    );
    let found = json(&search, None);
    assert!(found["places_refused"].as_u64().unwrap() > 3, "{found}");
    assert_eq!(found["worst"]["factors"]["queue"], "droptail");
    let text = search.text(None, Some(80));
    assert!(text.contains("are not allowed, such as: "), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn a_run_that_fails_is_reported_with_its_place_and_does_not_win() {
    let search = searched(
        space(OVERLOAD, &["buffer=4..64p:log"]),
        request("sojourn_s_p99", false, 80),
        2,
        |scenario, replication| {
            let outcome = run::run_resolved(scenario, replication)?;
            let full = outcome.queues.iter().any(|queue| queue.backlog_max.0 > 40);
            assert!(!full, "a planted fault");
            Ok(outcome)
        },
    );
    let failure = search.failures().first().expect("a failure");
    assert_eq!(failure.kind(), LabErrorKind::Bug);
    let said = failure.to_string();
    assert!(
        said.contains("a planted fault") && said.contains("buffer="),
        "{said}"
    );
    let found = json(&search, None);
    let buffer = found["worst"]["factors"]["buffer"].as_str().unwrap();
    let buffer: f64 = buffer.trim_end_matches('p').parse().unwrap();
    assert!((20.0..=41.0).contains(&buffer), "{found}");
}

#[test]
fn an_interrupted_search_shows_the_worst_so_far_and_says_that_it_is_not_confirmed() {
    let request = request("sojourn_s_p99", false, 100);
    let mut search = Search::of(space(OVERLOAD, &RANGES), request).unwrap();
    let stop = AtomicBool::new(false);
    let result = search.run(&mut Hands {
        runner: |scenario: &Resolved, replication| {
            let outcome = run::run_resolved(scenario, replication);
            stop.store(true, Ordering::Relaxed);
            outcome
        },
        threads: NonZero::new(1),
        cancel: &stop,
        progress: &mut |_| (),
    });
    assert_eq!(result.unwrap_err().kind(), LabErrorKind::Interrupted);
    let text = search.text(None, None);
    assert!(
        text.contains("interrupted") && text.contains("not confirmed"),
        "{text}"
    );
    assert!(text.contains("Searched 1 place in 1 run,"), "{text}");
}

#[test]
fn the_built_in_spaces_hold_what_they_name() {
    for space in [
        Space::of_pair("bbr3", "cubic ecn=true"),
        Space::of_pair("ledbat", "ledbat"),
        Space::of_queue("pie"),
    ] {
        let space = space.unwrap_or_else(|error| panic!("{error}"));
        let search = Search::of(space, request("jain_index", true, 300));
        search.unwrap_or_else(|error| panic!("{error}"));
    }
    let space = Space::of_pair("ledbat", "ledbat").unwrap();
    assert!(Search::of(space, request("share of first", true, 300)).is_ok());
}

#[test]
fn a_factor_that_is_fixed_varies_no_more_and_one_of_a_study_gets_other_values() {
    let study = format!(
        "{OVERLOAD}[[experiment]]\nname = \"e\"\n[experiment.design]\nsamples = 4\n\
         [[experiment.factor]]\nname = \"rate\"\npath = \"topology.rate\"\nrange = [\"1Mbps\", \"8Mbps\"]\n\
         [[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\nvalues = [\"droptail\", \"codel\"]\n"
    );
    let factors = |ranges: &[&str], sets: &[&str]| {
        let mut space = space(&study, ranges);
        for set in sets {
            space.fix(set).unwrap();
        }
        let search = searched(
            space,
            request("sojourn_s_p99", false, 100),
            2,
            run::run_resolved,
        );
        let found = json(&search, None);
        let all = found["worst"]["factors"].as_object().unwrap();
        all.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(factors(&[], &[]), ["queue", "rate"]);
    assert_eq!(factors(&["rate=2Mbps"], &[]), ["queue"]);
    assert_eq!(factors(&[], &["topology.queue=codel"]), ["rate"]);
    // A part of what a factor sets would be set again by each of its values.
    let mut queue = space(&study, &[]);
    let said = queue
        .fix("topology.queue.target=9ms")
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("the factor queue") && said.contains("--range queue="),
        "{said}"
    );
    let mut pair = Space::of_pair("bbr", "cubic").unwrap();
    let said = pair.fix("flows[0].count=3").unwrap_err().to_string();
    assert!(said.contains("--range flows=VALUE"), "{said}");
    assert_eq!(
        factors(&["queue=pie|red", "buffer=8..16p"], &[]),
        ["buffer", "queue", "rate"]
    );
}

#[test]
fn a_search_that_cannot_be_says_what_is_allowed() {
    let said =
        |space: Space, request: Request| Search::of(space, request).err().unwrap().to_string();
    let none = said(space(OVERLOAD, &[]), request("sojourn_s_p99", false, 100));
    assert!(
        none.contains("nothing varies") && none.contains("--range"),
        "{none}"
    );
    let few = said(
        space(OVERLOAD, &RANGES),
        request("sojourn_s_p99", false, 40),
    );
    assert!(few.contains("--runs") && few.contains("or more"), "{few}");
    let metric = said(space(OVERLOAD, &RANGES), request("sojourn_p99", false, 100));
    assert!(
        metric.contains("--maximise") && metric.contains("sojourn_s_p99"),
        "{metric}"
    );
    let label = said(
        space(OVERLOAD, &RANGES),
        request("share of cubic", true, 100),
    );
    assert!(
        label.contains("cubic") && label.contains("poisson"),
        "{label}"
    );
    let mut pair = Space::of_pair("bbr", "cubic").unwrap();
    let wrong = |space: &mut Space, range: &str| space.vary(range).unwrap_err().to_string();
    let name = wrong(&mut pair, "los=0..1%");
    assert!(name.contains("los") && name.contains("loss"), "{name}");
    assert!(wrong(&mut pair, "rate").contains("a range is missing"));
    assert!(wrong(&mut pair, "queue=pie|pie").contains("again"));
    assert!(wrong(&mut pair, "queue=pie|").contains("empty"));
    assert!(wrong(&mut pair, "run.seed=1|2").contains("run.seed"));
    let reversed = wrong(&mut pair, "rate=9..1Mbps");
    assert!(
        reversed.contains("--range rate=9..1Mbps: ") && reversed.contains("is not below"),
        "{reversed}"
    );
    assert!(wrong(&mut pair, "run.seed=1..5").contains("no factor of a search"));
}
