//! What bad input gets: one line that names the place, what was given, what is allowed and the remedy; exit status 2; and
//! nothing written.

use crate::support::Place;

const SCENARIO: &str = r#"name = "tiny"
flows = ["2*reno", "cbr 1Mbps"]

[run]
duration = "3s"
warmup = "1s"

[topology]
rate = "5Mbps"
rtt = "20ms"
queue = "codel"
"#;

const TOPOLOGY: &str = "(allowed: kind, rate, reverse_rate, rtt, bottleneck_delay, access_delay, access_rate, buffer, queue, \
    reverse_queue, access_queue, pairs)";
/// What `sojourn run` says of the scenario with one text replaced by another; it may write nothing.
fn said(old: &str, new: &str) -> String {
    assert!(SCENARIO.contains(old), "{old}");
    said_of(&SCENARIO.replacen(old, new, 1))
}

fn said_of(scenario: &str) -> String {
    let place = Place::new();
    place.write("case.toml", scenario);
    let said = place.refused(place.sojourn("run case.toml --out out"));
    assert!(!place.path("out").exists(), "{said}");
    said
}

/// What the command says of its arguments.
fn said_to(line: &str) -> String {
    let place = Place::new();
    place.write("case.toml", SCENARIO);
    let before = place.files("");
    let said = place.refused(place.sojourn(line));
    assert!(place.files("") == before, "{said}");
    said
}

#[test]
fn unknown_keys_name_the_nearest_and_few_others() {
    assert_eq!(
        said("rate = \"5Mbps\"", "rat = \"5Mbps\""),
        format!("case.toml:9: topology.rat: unknown key, did you mean \"rate\"? {TOPOLOGY}")
    );
    assert_eq!(
        said("[topology]", "[topologie]"),
        "case.toml:8: topologie: unknown key, did you mean \"topology\"?"
    );
    let codel = sojourn_queue::registry::find("codel").expect("in the catalogue");
    let parameters: Vec<&str> = codel.params.iter().map(|info| info.name).collect();
    assert_eq!(
        said("\"codel\"", "\"codel targte=5ms\""),
        format!(
            "case.toml:11: topology.queue: codel: unknown parameter \"targte\", did you mean \"target\"? (parameters: {})",
            parameters.join(", ")
        )
    );
    let flow = said("2*reno", "2*reno windw=10kB");
    assert_eq!(
        flow,
        "case.toml:2: flows[0].windw: unknown key, did you mean \"window\"?"
    );
}

#[test]
fn units_that_are_missing_or_wrong_are_named() {
    let cases = [
        (
            "\"5Mbps\"",
            "5",
            "9: topology.rate: missing unit in \"5\": expected a rate such as 5Mbps",
        ),
        (
            "\"20ms\"",
            "\"20\"",
            "10: topology.rtt: missing unit in \"20\": expected a duration such as 20ms",
        ),
        (
            "\"20ms\"",
            "\"20Mbps\"",
            "10: topology.rtt: \"20Mbps\" is not a duration: this is a rate; expected a duration such as 5ms",
        ),
        (
            "\"5Mbps\"",
            "\"5mbps\"",
            "9: topology.rate: \"5mbps\" is not a rate: write 5Mbps (upper and lower case matter)",
        ),
    ];
    for (old, new, expected) in cases {
        assert_eq!(said(old, new), format!("case.toml:{expected}"));
    }
}

#[test]
fn negative_absurd_and_zero_values_are_out_of_range() {
    let cases = [
        (
            "\"20ms\"",
            "\"-20ms\"",
            "10: topology.rtt: \"-20ms\" is not a duration: a duration cannot be negative",
        ),
        (
            "\"20ms\"",
            "\"90h\"",
            "10: topology.rtt: \"90h\" is out of range, allowed is 0s to 1h",
        ),
        (
            "\"codel\"",
            "\"codel target=100s\"",
            "11: topology.queue: codel: target: \"100s\" is out of range, allowed is 1us to 10s",
        ),
        (
            "\"5Mbps\"",
            "\"0Mbps\"",
            "9: topology.rate: \"0Mbps\" is out of range, allowed is at least 1bps",
        ),
        (
            "cbr 1Mbps",
            "cbr 0bps",
            "2: flows[1].rate: \"0bps\" is out of range, allowed is at least 1bps",
        ),
        (
            "\"1s\"",
            "\"3s\"",
            "6: run.warmup: the warmup, 3s, leaves nothing of the duration, 3s, to measure; make run.warmup shorter, such \
             as \"0s\", or run.duration longer",
        ),
    ];
    for (old, new, expected) in cases {
        assert_eq!(said(old, new), format!("case.toml:{expected}"));
    }
}

#[test]
fn unknown_algorithms_and_dialects_name_those_there_are() {
    assert_eq!(
        said("\"codel\"", "\"codle\""),
        "case.toml:11: topology.queue: unknown queue discipline \"codle\", did you mean \"codel\"? See sojourn list queues"
    );
    assert_eq!(
        said("2*reno", "2*renoo"),
        "case.toml:2: flows[0]: unknown kind of flow \"renoo\", did you mean \"reno\"? See sojourn list flows"
    );
    assert_eq!(
        said("\"codel\"", "\"codel dialect=ns4\""),
        "case.toml:11: topology.queue: codel: unknown dialect \"ns4\", did you mean \"ns2\"? (dialects: rfc8289, linux \
         (linux-6.1), ns2 (ns2-codel-2013), ns3 (ns3-3.44))"
    );
    assert_eq!(
        said("name = \"tiny\"", "dialect = \"ns4\""),
        "case.toml:1: dialect: codel, in topology.queue, has no dialect \"ns4\", did you mean \"ns2\"? (dialects: rfc8289, \
         linux, ns2, ns3); give this one a dialect of its own, such as \"codel dialect=rfc8289\""
    );
}

#[test]
fn what_is_missing_or_no_toml_is_said() {
    assert_eq!(
        said("flows = [\"2*reno\", \"cbr 1Mbps\"]", ""),
        "case.toml: flows: this key is required; write flows = [\"4*reno\"], or [[flows]] with kind = \"reno\""
    );
    assert_eq!(
        said("\"5Mbps\"", "\"5Mbps"),
        "case.toml:9: this is not TOML: invalid basic string, expected `\"`; a line is key = value, with texts in quotes, \
         or a [table]"
    );
}

/// A graph of two links, a-b and another, with one flow.
fn graph(flow: &str, other: &str) -> String {
    format!(
        "flows = [{flow}]\ntopology.kind = \"graph\"\n\n[[links]]\nfrom = \"a\"\nto = \"b\"\n\n[[links]]\n{other}\n"
    )
}

#[test]
fn graphs_in_pieces_and_destinations_out_of_reach_are_refused() {
    let flow =
        |to: &str| format!("{{ kind = \"cbr\", rate = \"1Mbps\", from = \"a\", to = \"{to}\" }}");
    let apart = "from = \"c\"\nto = \"d\"";
    assert_eq!(
        said_of(&graph(&flow("d"), apart)),
        "case.toml:1: flows[0].to: no path leads from node \"a\" to node \"d\"; add a link between them in [[links]]"
    );
    assert_eq!(
        said_of(&graph(&flow("b"), apart)),
        "case.toml:8: links[1]: the graph is not connected: no path connects \"c\" with \"a\"; add a link between the two \
         parts, or remove this one"
    );
    let joined = "from = \"b\"\nto = \"d\"";
    assert_eq!(
        said_of(&graph(&flow("z"), joined)),
        "case.toml:1: flows[0].to: no link has a node \"z\" (nodes: a, b, d)"
    );
    assert_eq!(
        said_of(&graph("\"cbr 1Mbps\"", joined)),
        "case.toml:1: flows[0].from: this key is required in a graph; name the node of the sender with from and that of \
         the receiver with to"
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    assert_eq!(
        said_to("run nowhere.toml"),
        "nowhere.toml: there is no such file; check the path, or write a study to start from: sojourn init"
    );
    assert_eq!(
        said_to("run ."),
        ".: cannot read the file: Is a directory (os error 21); name a file"
    );
    assert_eq!(
        said_to("replay nowhere.csv --queue codel --rate 1Mbps"),
        "nowhere.csv: there is no such file; check the path"
    );
}

#[test]
fn a_file_in_place_of_results_is_said_to_be_one() {
    assert_eq!(
        said_to("report case.toml"),
        "case.toml: this is a file, not a result directory; name a directory that sojourn run --out or sojourn study wrote"
    );
    let said = said_to("run case.toml --out case.toml");
    assert!(said.contains("a part of this one is a file"), "{said}");
}

#[test]
fn no_threads_are_refused_in_the_words_of_users() {
    let place = Place::new();
    place.write("case.toml", SCENARIO);
    let output = place.sojourn("run case.toml --threads 0").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("leave it out for one per core"), "{said}");
}

/// What the command says of a queue and a flow.
fn said_to_both(queue: &str, flow: &str) -> String {
    let place = Place::new();
    let mut command = place.sojourn("dumbbell --duration 5s --replications 1");
    command.args(["--queue", queue, "--flow", flow]);
    place.refused(command)
}

#[test]
fn a_parameter_of_what_is_nested_is_answered_with_parentheses() {
    let said = said_to_both("drr each=codel target=5ms", "reno");
    assert!(
        said.ends_with("what is codel's stands in parentheses with it: each=(codel target=5ms)"),
        "{said}"
    );
}

#[test]
fn an_option_of_selective_acknowledgement_is_answered_with_the_flow_that_has_it() {
    assert_eq!(
        said_to_both("codel", "reno accurate_ecn=true"),
        "--flow 'reno accurate_ecn=true': accurate_ecn: \"true\" has no effect with reno, which repairs losses without \
         selective acknowledgement; leave it out, or name the flow sack"
    );
}

#[test]
fn arguments_are_their_own_place() {
    let cases = [
        (
            "run case.toml --set topology.rate",
            "--set topology.rate: there is no \"=\" in it; write --set topology.rate=10Mbps, say".to_owned(),
        ),
        (
            "run case.toml --set topology.rat=3Mbps",
            format!("--set topology.rat=3Mbps: unknown key, did you mean \"rate\"? {TOPOLOGY}"),
        ),
        (
            "run case.toml --set topology.rate=3",
            "--set topology.rate=3: missing unit in \"3\": expected a rate such as 3Mbps".to_owned(),
        ),
        (
            "run case.toml --seed x",
            "--seed x: \"x\" is not a whole number: write digits only, without a unit, such as 3".to_owned(),
        ),
        (
            "run case.toml --replications 0",
            "--replications 0: \"0\" is out of range, allowed is 1 to 100000".to_owned(),
        ),
        (
            "run case.toml --trace pcap out",
            "--trace: there is no trace format \"pcap\", did you mean \"pcapng\"? (formats: ns2, ns2-exact, nam, pcapng, parquet); write --trace ns2 FILE".to_owned(),
        ),
        (
            "run case.toml --fresh",
            "--fresh: --fresh needs a result directory; add --out DIR, or remove --fresh".to_owned(),
        ),
        (
            "study codel-drr-bandwith-mtu",
            "there is no study \"codel-drr-bandwith-mtu\", did you mean \"codel-drr-bandwidth-mtu\"? See sojourn list studies, \
             or name a file, such as study.toml"
                .to_owned(),
        ),
        (
            "study small.toml --only rate",
            "--only: there is no experiment \"rate\", did you mean \"rates\"? (there are: rates, windows)".to_owned(),
        ),
        (
            "study small.toml --shard 5/4",
            "--shard: \"5/4\" is not a part of a study; write the part's number and the number of parts, such as 1/4"
                .to_owned(),
        ),
        (
            "dumbbell --rate 10 --flow reno",
            "--rate 10: missing unit in \"10\": expected a rate such as 10Mbps".to_owned(),
        ),
        (
            "dumbbell --rate 0bps --flow reno",
            "--rate 0bps: \"0bps\" is out of range, allowed is at least 1bps".to_owned(),
        ),
        (
            "dumbbell --rtt -5ms --flow reno",
            "--rtt -5ms: \"-5ms\" is not a duration: a duration cannot be negative".to_owned(),
        ),
        (
            "dumbbell --queue codell --flow reno",
            "--queue codell: unknown queue discipline \"codell\", did you mean \"codel\"? See sojourn list queues"
                .to_owned(),
        ),
        (
            "dumbbell --flow sine",
            "--flow sine: unknown kind of flow \"sine\"; see sojourn list flows".to_owned(),
        ),
        (
            "show codle",
            "nothing is called \"codle\", did you mean \"codel\"? See sojourn list queues".to_owned(),
        ),
        (
            "replay case.toml --queue codel --rate 0bps",
            "--rate '0bps': a link needs a rate above zero".to_owned(),
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(said_to(line), expected, "sojourn {line}");
    }
}

#[test]
fn a_mistake_in_a_study_names_the_line_and_the_names_there_are() {
    let cases = [
        (
            "path = \"topology.rate\"\nvalues",
            "path = \"topology.rat\"\nvalues",
            "topology.rat: unknown key, did you mean \"rate\"?",
        ),
        (
            "\"codel\"]",
            "\"codle\"]",
            "topology.queue: unknown queue discipline \"codle\"",
        ),
        (
            "compare = true",
            "compares = true",
            "experiment[0].factor[1].compares: unknown key",
        ),
        (
            "title = \"A small study\"",
            "tittle = \"A small study\"",
            "study.tittle: unknown key",
        ),
    ];
    for (old, new, start) in cases {
        let place = Place::new();
        let text = place.read("small.toml").replacen(old, new, 1);
        let start_of_new = text.find(new).unwrap();
        let line = text[..start_of_new].matches('\n').count() + 1;
        place.write("small.toml", &text);
        let said = place.refused(place.sojourn("study small.toml --out out"));
        assert!(
            said.starts_with(&format!("small.toml:{line}: {start}")),
            "{said}"
        );
        assert!(!place.path("out").exists());
    }
}

#[test]
fn an_option_that_does_not_exist_is_a_mistake_of_the_user() {
    let output = Place::new()
        .sojourn("run tiny.toml --colour red")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("--colour")
    );
}

#[test]
fn a_name_too_long_for_a_file_is_refused_by_the_study() {
    let place = Place::new();
    let id = "d".repeat(300);
    let study = crate::support::STUDY;
    let table = format!("{study}\n[[table]]\nid = \"{id}\"\nmetrics = [\"loss_ratio\"]\n");
    place.write("long.toml", &table);
    let said = place.refused(place.sojourn("study long.toml --out out"));
    assert!(
        said.contains("table[0].id: ") && said.contains("at most 100 characters"),
        "{said}"
    );
    let experiment = study.replacen("\"rates\"", &format!("\"{id}\""), 1);
    place.write("long.toml", &experiment);
    let said = place.refused(place.sojourn("study long.toml --out out"));
    assert!(
        said.contains("experiment[0].name: ") && said.contains("at most 64 letters"),
        "{said}"
    );
    // With what tables and figures add, the longest name is still one.
    place.write(
        "long.toml",
        &study.replacen("\"rates\"", &format!("\"-{}\"", &id[..63]), 1),
    );
    place.ok("study long.toml --out out");
    place.ok("report out");
    let twice = study.replacen("\"rates\"", "\"Win dows\"", 1);
    let twice = twice.replacen("\"windows\"", "\"win-dows\"", 1);
    place.write("long.toml", &twice);
    let said = place.refused(place.sojourn("study long.toml --out twice"));
    assert!(
        said.contains("would give files with the same names"),
        "{said}"
    );
}

#[test]
fn no_text_of_a_study_is_a_formula_in_its_csv_files() {
    let place = Place::new();
    let labels = "values = [\"2Mbps\", \"5Mbps\"]\nlabels = [\"=1+1\", \"@SUM(1)\"]";
    let study = crate::support::STUDY;
    let text = study.replacen("values = [\"2Mbps\", \"5Mbps\"]", labels, 1);
    assert_ne!(text, study);
    place.write("formula.toml", &text);
    let printed = place.ok("study formula.toml --out out --format csv");
    place.ok("report out");
    let mut cells = 0;
    let tables = place.files("out/tables").into_iter();
    let tables = tables.filter(|(name, _)| name.ends_with(".csv"));
    let tables = tables.map(|(_, bytes)| String::from_utf8(bytes).unwrap());
    for table in tables.chain([printed]) {
        for cell in table.lines().flat_map(|line| line.split(',')) {
            let formula = cell.starts_with(['=', '+', '-', '@']);
            assert!(!formula || cell.parse::<f64>().is_ok(), "{cell}");
            cells += usize::from(cell == "'=1+1");
        }
    }
    assert!(cells > 0);
}

#[test]
fn a_distribution_is_of_what_has_it_and_nothing_else() {
    let place = Place::new();
    let figure = |kind: &str, y: &str, of: &str| {
        let told = match kind {
            "cdf" => "series = \"queue\"\n",
            _ => "",
        };
        let figure = format!(
            "[[figure]]\nid = \"f\"\nkind = \"{kind}\"\n{told}y = \"{y}\"\nof = \"{of}\"\n"
        );
        let scenario = "flows = [\"reno\", \"cbr 1Mbps label=voice\"]\n[run]\nduration = \"3s\"\nwarmup = \"1s\"\n";
        let factor = "[[experiment]]\nname = \"e\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\nvalues = [\"droptail\", \"codel\"]\n";
        place.write("f.toml", &format!("{scenario}{factor}{figure}"));
        place.sojourn("study f.toml --dry-run")
    };
    for kind in ["cdf", "boxes"] {
        for (y, of) in [
            ("sojourn_s", "left-right"),
            ("sojourn_s", "bottleneck"),
            ("delay_s", "voice"),
            ("delay_s", "forward"),
        ] {
            let mut command = figure(kind, y, of);
            command.assert().success();
        }
        for (y, of) in [("sojourn_s", "voice"), ("delay_s", "left-right")] {
            let said = place.refused(figure(kind, y, of));
            assert!(
                said.contains(&format!("figure[0].of: {y} cannot be of \"{of}\"")),
                "{said}"
            );
        }
    }
}

#[test]
fn a_factor_of_one_level_needs_no_place_in_tables_and_figures() {
    let place = Place::new();
    let factor = |name: &str, path: &str, values: &str| {
        format!(
            "[[experiment.factor]]\nname = \"{name}\"\npath = \"{path}\"\nvalues = [{values}]\n"
        )
    };
    let study = |rates: &str| {
        let rate = factor("rate", "topology.rate", rates);
        let queue = factor("queue", "topology.queue", "\"droptail\", \"codel\"");
        let shown = "[[table]]\nid = \"t\"\nrows = [\"queue\"]\nmetrics = [\"sojourn_s_p95\"]\n[[figure]]\nid = \"f\"\nkind = \"bars\"\nx = \"queue\"\ny = \"sojourn_s_p95\"\n";
        let scenario = "flows = [\"reno\"]\n[run]\nduration = \"3s\"\nwarmup = \"1s\"\n";
        let head = "[[experiment]]\nname = \"e\"\n";
        place.write("f.toml", &format!("{scenario}{head}{rate}{queue}{shown}"));
        place.sojourn("study f.toml --dry-run")
    };
    study("\"2Mbps\"").assert().success();
    let said = place.refused(study("\"2Mbps\", \"5Mbps\""));
    assert!(said.contains("rate"), "{said}");
}
