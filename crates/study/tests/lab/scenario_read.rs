//! Whole scenario files: what they mean, that they survive being written and read again.

use std::path::{Path, PathBuf};

use sojourn_run::compile::compile;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::{Direction, Scenario, TieRule, Topology};
use sojourn_units::{Rate, Span};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenarios")
}

fn read(name: &str) -> Scenario {
    let document = Document::read(&folder().join(name)).unwrap();
    Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}

fn every_file() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 5, "{names:?}");
    names
}

#[test]
fn a_dumbbell_is_read_with_every_table() {
    let document = Document::read(&folder().join("dumbbell.toml")).unwrap();
    let reading = Scenario::read(&document, &[]).unwrap();
    assert_eq!(
        reading.title.as_deref(),
        Some("Four TCP flows against one constant rate")
    );
    let scenario = reading.scenario;
    assert_eq!(scenario.name, "two kinds of flows");
    assert_eq!(scenario.dialect.as_deref(), Some("ns2"));
    assert_eq!((scenario.run.seed, scenario.run.replications), (7, 3));
    let Topology::Dumbbell(topology) = &scenario.topology else {
        panic!("{:?}", scenario.topology);
    };
    assert_eq!(topology.rate, Rate::mbps(10));
    assert_eq!(topology.buffer.unwrap().to_string(), "34p");
    let [reno, voice] = scenario.flows.as_slice() else {
        panic!("{:?}", scenario.flows);
    };
    assert_eq!((reno.kind.as_str(), reno.place.count), ("reno", 4));
    assert_eq!(reno.place.stagger, Span::from_ms(100));
    assert_eq!(
        voice.args,
        [("rate", "2Mbps"), ("size", "1000B")].map(|(key, text)| (key.to_owned(), text.to_owned()))
    );
    assert_eq!(voice.place.direction, Direction::Reverse);
    let times: Vec<Span> = scenario.changes.iter().map(|change| change.at).collect();
    assert_eq!(times, [Span::from_secs(20), Span::from_secs(30)]);
    assert_eq!(scenario.series.record, "backlog, cwnd");
}

#[test]
fn a_scenario_needs_no_more_than_flows() {
    let scenario = read("short.toml");
    assert_eq!(scenario.name, "short");
    assert_eq!(scenario.flows.len(), 2);
    assert!(matches!(scenario.topology, Topology::Dumbbell(_)));
}

#[test]
fn links_make_a_graph() {
    let Topology::Graph(links) = read("graph.toml").topology else {
        panic!("no graph");
    };
    assert_eq!(
        links[0].queue.to_string(),
        "droptail limit=20p dialect=linux"
    );
    assert_eq!(links[1].reverse_rate, Some(Rate::mbps(1)));
    assert!(!links[1].observed);
}

#[test]
fn delays_of_a_dumbbell_make_its_round_trip() {
    let with = |text: &str| {
        let text = format!("flows = [\"reno\"]\n[topology]\n{text}\n");
        let scenario = Scenario::from_document(&Document::parse(&text, "t.toml").unwrap()).unwrap();
        let Topology::Dumbbell(params) = scenario.topology else {
            panic!("no dumbbell");
        };
        let (bottleneck, access) = params.delays();
        assert_eq!((bottleneck + access * 2) * 2, params.rtt);
        (bottleneck, access, params.rtt)
    };
    let ms = Span::from_ms;
    assert_eq!(with("rtt = \"40ms\""), (ms(10), ms(5), ms(40)));
    assert_eq!(
        with("rtt = \"40ms\"\nbottleneck_delay = \"18ms\""),
        (ms(18), ms(1), ms(40))
    );
    assert_eq!(
        with("rtt = \"40ms\"\naccess_delay = \"1ms\""),
        (ms(18), ms(1), ms(40))
    );
    assert_eq!(
        with("bottleneck_delay = \"10ms\"\naccess_delay = \"1ms\""),
        (ms(10), ms(1), ms(24))
    );
}

#[test]
fn a_bottleneck_has_to_leave_room_only_in_round_trips_that_flows_have() {
    let with = |flows: &str| {
        let text = format!("[topology]\nbottleneck_delay = \"50ms\"\n{flows}");
        let document = Document::parse(&text, "lab.toml").unwrap();
        Scenario::from_document(&document).map_err(|error| error.to_string())
    };
    let own = "[[flows]]\nkind = \"reno\"\nrtt = \"200ms\"\n";
    let scenario = with(own).unwrap();
    let compiled = compile(&scenario.resolve().unwrap(), 0).unwrap();
    assert_eq!(compiled.flows[0].base_rtt, Span::from_ms(200));
    for written in [
        scenario.to_document_as_given(),
        scenario.resolve().unwrap().to_document(),
    ] {
        let again = Scenario::from_document(&written).unwrap();
        assert_eq!(
            again.resolve().unwrap().as_given(),
            scenario.resolve().unwrap().as_given()
        );
    }
    assert_eq!(
        with(&format!("{own}[[flows]]\nkind = \"reno\"\n")).unwrap_err(),
        "lab.toml:2: topology.bottleneck_delay: this is more than an rtt of 40ms leaves; make it shorter, or rtt longer"
    );
}

#[test]
fn a_scenario_survives_being_written_as_given() {
    for name in every_file() {
        let scenario = read(&name);
        let text = scenario.to_document_as_given().to_toml();
        let again = Document::parse(&text, &name).unwrap();
        assert_eq!(
            Scenario::from_document(&again),
            Ok(scenario),
            "{name}:\n{text}"
        );
    }
}

#[test]
fn a_resolved_scenario_reads_back_and_resolves_to_itself() {
    for name in every_file() {
        let resolved = read(&name).resolve().unwrap().as_given();
        let text = resolved.resolve().unwrap().to_document().to_toml();
        let again = Scenario::from_document(&Document::parse(&text, &name).unwrap())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again, resolved, "{name}:\n{text}");
        assert_eq!(again.resolve().unwrap().as_given(), resolved, "{name}");
        let json = resolved.resolve().unwrap().to_document().to_json();
        let again = Document::from_json(&json, &name).unwrap();
        let again = Scenario::from_document(&again).unwrap();
        assert_eq!(again.resolve().unwrap().as_given(), resolved, "{name}");
    }
}

#[test]
fn every_file_makes_a_network() {
    for name in every_file() {
        let scenario = read(&name);
        let given = sojourn_run::compile::compile(&scenario.resolve().unwrap(), 0)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let resolved = sojourn_run::compile::compile(
            &scenario.resolve().unwrap().as_given().resolve().unwrap(),
            0,
        )
        .unwrap();
        for (given, resolved) in given.links.iter().zip(&resolved.links) {
            assert_eq!((given.rate, given.delay), (resolved.rate, resolved.delay));
            // What is inside a queue is written in full in the resolved one alone.
            let own = |link: &sojourn_run::compile::LinkInfo| {
                let mut own = sojourn_queue::registry::Resolved::clone(&link.resolved);
                own.pairs.retain(|(key, _)| *key != "each");
                own
            };
            assert_eq!(own(given), own(resolved), "{name}: {}", given.name);
        }
        for (given, resolved) in given.flows.iter().zip(&resolved.flows) {
            assert_eq!(given.parts, resolved.parts, "{name}: {}", given.name);
            assert_eq!(
                (given.base_rtt, given.start),
                (resolved.base_rtt, resolved.start)
            );
        }
    }
}

#[test]
fn every_kind_of_flow_resolves_to_all_its_parameters() {
    for text in [
        "reno",
        "newreno bytes=10MB",
        "reno dialect=ns2",
        "tahoe",
        "newreno packets=30p dialect=linux",
        "tcp cc=reno",
        "tcp recovery=reno source=(cbr rate=1Mbps) mss=500B",
        "cbr 2Mbps",
        "cbr 2Mbps dialect=ns2",
        "poisson 1Mbps headers=40B",
        "exponential 1Mbps",
        "pareto 1Mbps",
        "workload sizes=web_search load=60%",
        "workload tcp=(bbr dialect=linux) sizes=(fixed bytes=10kB) interval=1s",
        "request_response tcp=(tcp cc=vegas) life=request",
        "web tcp=newreno",
        "tfrc oscillation=false",
        "quic cc=bbr ecn=true",
        "quic bytes=1MB",
        "cubic rledbat=true",
    ] {
        let file = format!("flows = [\"{text}\"]\n");
        let read = |text: &str| {
            let document = Document::parse(text, "t.toml").unwrap();
            Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
        };
        let scenario = read(&file);
        let given = sojourn_run::compile::compile(&scenario.resolve().unwrap(), 0).unwrap();
        let resolved = scenario.resolve().unwrap().as_given();
        let full = read(&resolved.resolve().unwrap().to_document().to_toml());
        let again = sojourn_run::compile::compile(&full.resolve().unwrap(), 0).unwrap();
        assert_eq!(given.flows[0].parts, again.flows[0].parts, "{text}");
        let (_, first) = &given.flows[0].parts[0];
        for (key, _) in &first.pairs {
            let fixed = *key == "recovery" && full.flows[0].kind != "tcp";
            let args = &full.flows[0].args;
            assert!(
                fixed || args.iter().any(|(k, _)| k == key),
                "{text}: {key} in {args:?}"
            );
        }
    }
}

#[test]
fn resolving_fills_in_what_the_dialect_says() {
    let resolved = read("dumbbell.toml").resolve().unwrap().as_given();
    assert_eq!(resolved.run.ties, Some(TieRule::Ns2Clock));
    let Topology::Dumbbell(topology) = &resolved.topology else {
        panic!("no dumbbell");
    };
    assert_eq!(
        topology.queue.to_string(),
        "droptail dialect=ns2-2.35 limit=34p drop=tail"
    );
    assert_eq!(topology.reverse_queue.as_ref(), Some(&topology.queue));
    assert_eq!(topology.access_rate, Some(Rate::mbps(100)));
    assert_eq!(resolved.flows[1].place.label.as_deref(), Some("voice"));
}

#[test]
fn the_warm_up_of_the_default_is_at_most_half_of_the_duration() {
    let warmup = |run: &str| {
        let text = format!("flows = [\"reno\"]\n[run]\n{run}");
        let document = Document::parse(&text, "lab.toml").unwrap();
        Scenario::from_document(&document).unwrap().run.warmup()
    };
    assert_eq!(warmup("duration = \"10s\""), Span::from_secs(5));
    assert_eq!(warmup("duration = \"3s\""), Span::from_ms(1500));
    assert_eq!(
        warmup("duration = \"8s\"\nwarmup = \"5s\""),
        Span::from_secs(5)
    );
}

#[test]
fn a_session_under_avpf_runs_as_its_manifest_says() {
    let text = "[run]\nduration = \"8s\"\nwarmup = \"1s\"\nreplications = 1\n\
        links = [\n  { from = \"studio\", to = \"town\" },\n  { from = \"studio\", to = \"farm\", delay = \"60ms\" },\n]\n\
        groups = [{ name = \"lecture\" }]\n\
        members = [{ group = \"lecture\", node = \"town\" }, { group = \"lecture\", node = \"farm\" }]\n\
        flows = [{ spec = \"rtp dialect=avpf\", from = \"studio\", to = \"lecture\" }]\n";
    let (run, rest) = text.split_once("links").unwrap();
    let document = Document::parse(&format!("links{rest}{run}"), "lecture.toml").unwrap();
    let scenario = Scenario::from_document(&document).unwrap();
    let resolved = scenario.resolve().unwrap();
    // Members wait for a second before they report first, since nothing else is said.
    let first = |(key, text): &(String, String)| key == "rtcp_first" && text == "1s";
    assert!(resolved.flows[0].args.iter().any(first));
    let written = resolved.as_given();
    assert_eq!(
        sojourn_run::run::run(&scenario, 0),
        sojourn_run::run::run(&written, 0)
    );
    assert_eq!(written.resolve().unwrap().as_given(), written);
}
