//! What `sojourn suite` prints, writes and refuses, and how it ends.

use crate::support::Place;
use serde_json::Value;

/// A suite that runs in a second: a case of its own, with a must, a should, an informative criterion and one that needs an algorithm.
const SUITE: &str = r#"[suite]
title = "Small"
replications = 2
most_replications = 4
quick_replications = 2
quick_most = 2

[[case]]
name = "one"
title = "Two flows"
source = "a note, section 1"
substitute = { queue = "topology.queue" }

[case.scenario]
flows = ["2*reno"]

[case.scenario.run]
duration = "4s"
warmup = "1s"
start_spread = "100ms"

[case.scenario.topology]
rate = "5Mbps"
rtt = "20ms"
buffer = "50p"

[[case.reference]]
name = "droptail"
queue = "droptail"

[[case.criterion]]
name = "delay"
title = "delay over DropTail's"
metric = "sojourn_s_mean"
over = "droptail"
at_most = "80%"
severity = "must"
ours = "a note"

[[case.criterion]]
name = "utilization"
metric = "utilization_ratio"
at_least = "10%"

[[case.criterion]]
name = "late"
title = "delay in the last second"
metric = "sojourn_s_mean"
from = "2s"
to = "3s"
better = "lower"

[[case.criterion]]
name = "state"
metric = "sojourn_s_mean"
needs = { what = "a target", algorithms = ["codel", "pie"] }

[[case]]
name = "other"
title = "Slow"
source = "a note, section 2"
quick = false
substitute = { queue = "topology.queue" }
scenario = { flows = ["reno"], run = { duration = "2s", warmup = "1s" }, topology = { rate = "2Mbps", rtt = "20ms", buffer = "20p" } }
criterion = [{ name = "utilization", metric = "utilization_ratio" }]
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("small-suite.toml", SUITE);
    place
}

/// Exit status, standard output and standard error.
fn ended(place: &Place, line: &str) -> (Option<i32>, String, String) {
    let output = place.sojourn(line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn json(place: &Place, file: &str) -> Value {
    serde_json::from_str(&place.read(file)).unwrap()
}

fn verdicts(report: &Value) -> Vec<(&str, &str)> {
    let results = report["results"].as_array().unwrap();
    results
        .iter()
        .map(|own| {
            (
                own["criterion"].as_str().unwrap(),
                own["verdict"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn each_criterion_has_a_verdict_and_a_must_that_fails_makes_the_status_one() {
    let place = place();
    let (status, text, _) = ended(
        &place,
        "suite small-suite.toml --queue codel --json codel.json --junit codel.xml",
    );
    assert_eq!(status, Some(0), "{text}");
    let codel = json(&place, "codel.json");
    assert_eq!(
        verdicts(&codel),
        [
            ("one/delay", "pass"),
            ("one/utilization", "pass"),
            ("one/late", "informative"),
            ("one/state", "informative"),
            ("other/utilization", "informative"),
        ]
    );
    let (status, text, _) = ended(
        &place,
        "suite small-suite.toml --queue droptail --json droptail.json --junit droptail.xml --case one",
    );
    assert_eq!(status, Some(1));
    let droptail = json(&place, "droptail.json");
    assert_eq!(
        verdicts(&droptail),
        [
            ("one/delay", "fail"),
            ("one/utilization", "pass"),
            ("one/late", "informative"),
            ("one/state", "not-applicable"),
        ]
    );
    assert!(
        text.contains("the threshold is the suite's: a note"),
        "{text}"
    );
    // The command of a result makes the same numbers.
    let command = droptail["results"][0]["command"].as_str().unwrap();
    let again = command.strip_prefix("sojourn ").unwrap();
    let (status, text, _) = ended(&place, &format!("{again} --out again --json -"));
    assert_eq!(status, Some(1));
    let again: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(again["results"], droptail["results"]);
    for (file, failures) in [("codel.xml", 0), ("droptail.xml", 1)] {
        let xml = place.read(file);
        well_formed(&xml);
        assert!(xml.contains(&format!("failures=\"{failures}\"")), "{xml}");
        assert_eq!(xml.matches("<failure ").count(), failures);
        assert!(xml.contains("<skipped message="));
    }
}

/// Every element that opens closes, in order, and no attribute holds a bare sign.
fn well_formed(xml: &str) {
    let body = xml.split_once("?>").unwrap().1;
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    while let Some(from) = rest.find('<') {
        let to = from + rest[from..].find('>').expect("a tag closes");
        let tag = &rest[from + 1..to];
        assert!(!tag.contains('<'), "{tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (false, false) => open.push(name),
            (false, true) => {}
        }
        rest = &rest[to + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_json_is_as_its_schema_says() {
    let place = place();
    let line = "suite small-suite.toml --queue codel --queue droptail --quick --case one --json -";
    let (_, text, _) = ended(&place, line);
    let found: Value = serde_json::from_str(&text).unwrap();
    let (_, schema, _) = ended(&place, "schema suite");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let reports = found.as_array().unwrap();
    assert_eq!(reports.len(), 2);
    for report in reports {
        fits(report, &schema["$defs"]["report"], &schema);
    }
}

/// Checks what the schema of suites uses of JSON Schema.
fn fits(value: &Value, schema: &Value, root: &Value) {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap();
        return fits(value, &root["$defs"][name], root);
    }
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{value} is none of {words:?}");
        return;
    }
    let is = |kind: &str| match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema has the type {other}"),
    };
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        other => panic!("no type: {other} in {schema}"),
    };
    assert!(kinds.iter().any(|kind| is(kind)), "{value} is no {kinds:?}");
    for item in value.as_array().into_iter().flatten() {
        fits(item, &schema["items"], root);
    }
    if let Some(object) = value.as_object() {
        for key in schema["required"].as_array().into_iter().flatten() {
            assert!(object.contains_key(key.as_str().unwrap()), "{key}");
        }
        for (key, own) in object {
            assert!(schema["properties"].get(key).is_some(), "{key}");
            fits(own, &schema["properties"][key], root);
        }
    }
}

#[test]
fn the_table_fits_80_columns_and_is_as_the_golden_file_has_it() {
    let place = place();
    let line = "suite small-suite.toml --queue droptail --quick --seed 3";
    let (status, text, _) = ended(&place, line);
    assert_eq!(status, Some(1));
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/cli/goldens/suite-80.txt"
    );
    if std::env::var_os("SOJOURN_WRITE_GOLDENS").is_some() {
        std::fs::write(golden, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(golden).unwrap());
    // A command stays in one line, so that it can be copied.
    for line in text.lines().filter(|line| !line.contains("sojourn suite")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_planted_change_is_named_and_the_same_again_is_none() {
    let place = place();
    let base = "suite small-suite.toml --queue codel --case one";
    assert_eq!(
        ended(&place, &format!("{base} --json before.json")).0,
        Some(0)
    );
    let line = format!("{base} --baseline before.json");
    let (status, text, _) = ended(&place, &line);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.contains("Nothing changed since the baseline"),
        "{text}"
    );
    // Other seeds, nothing planted.
    let (status, text, _) = ended(&place, &format!("{line} --seed 7 --out seven"));
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.contains("Nothing changed since the baseline"),
        "{text}"
    );
    // The baseline had a delay of half as much.
    let mut before = json(&place, "before.json");
    let delay = &mut before["results"][0];
    assert_eq!(delay["criterion"], "one/delay");
    delay["value"] = (delay["value"].as_f64().unwrap() / 2.0).into();
    let samples = delay["samples"].as_array_mut().unwrap();
    for sample in samples {
        *sample = (sample.as_f64().unwrap() / 2.0).into();
    }
    place.write("before.json", &before.to_string());
    let (status, text, _) = ended(&place, &line);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("worse: one/delay of codel"), "{text}");
    assert!(!text.contains("one/utilization of codel"), "{text}");
}

#[test]
fn a_bad_suite_names_the_file_the_key_what_is_allowed_and_the_nearest_name() {
    let place = place();
    for (from, to, said) in [
        ("at_most = ", "at_mots = ", "did you mean \"at_most\"?"),
        (
            "\"80%\"",
            "\"80ms\"",
            "\"ms\" is no unit of this value; there are 1, %",
        ),
        (
            "severity = \"must\"",
            "severity = \"mut\"",
            "did you mean \"must\"?",
        ),
        (
            "over = \"droptail\"",
            "over = \"droptial\"",
            "did you mean \"droptail\"?",
        ),
        (
            "metric = \"utilization_ratio\"\nat",
            "metric = \"utilisation_ratio\"\nat",
            "did you mean \"utilization_ratio\"?",
        ),
        (
            "\"codel\", \"pie\"",
            "\"codl\", \"pie\"",
            "did you mean \"codel\"?",
        ),
        (
            "rate = \"5Mbps\"",
            "rat = \"5Mbps\"",
            "did you mean \"rate\"?",
        ),
        (
            "substitute = { queue",
            "substitute = { qeue",
            "did you mean \"queue\"?",
        ),
        (
            "to = \"3s\"",
            "to = \"1s\"",
            "the window ends at 1s, before it begins at 2s",
        ),
        ("to = \"3s\"", "to = \"9s\"", "beyond the end of the run"),
        (
            "warmup = \"1s\"\nstart_spread",
            "start_spread",
            "run.warmup",
        ),
        (
            "name = \"other\"",
            "name = \"one\"",
            "two cases are named \"one\"",
        ),
        ("title = \"Small\"", "", "this key is required"),
        (
            "over = \"droptail\"",
            "over = \"droptail\"\nharm = \"droptail\"",
            "a value is divided by a reference, or its harm is taken, not both",
        ),
        (
            "better = \"lower\"",
            "good = \"less\"",
            "it belongs to `harm`, which is not given",
        ),
        (
            "at_least = \"10%\"",
            "marks = { elsewhere = \"10ms\" }",
            "\"ms\" is no unit of this value",
        ),
        (
            "title = \"Two flows\"",
            "title = \"{flows} flows\"\neach = { flow = [2] }",
            "did you mean \"flow\"?",
        ),
    ] {
        let changed = SUITE.replacen(from, to, 1);
        assert_ne!(changed, SUITE, "{from}");
        place.write("bad.toml", &changed);
        let (status, _, error) = ended(&place, "suite bad.toml --queue codel --out bad");
        assert_eq!(status, Some(2), "{to}: {error}");
        assert!(error.contains(said), "{to}: {error}");
        assert!(error.contains("bad.toml"), "{to}: {error}");
        assert!(!place.path("bad").exists(), "nothing is left of {to}");
    }
}

#[test]
fn what_a_command_cannot_mean_has_status_two() {
    let place = place();
    for (line, said) in [
        ("suite rfc7982 --queue codel", "did you mean \"rfc7928\"?"),
        ("suite rfc7928", "add --queue codel"),
        ("suite rfc7928 --cc cubic", "has no such cases"),
        ("suite rfc9743 --cc cubik", "did you mean \"cubic\"?"),
        (
            "suite rfc7928 --queue codel --case 5.1.9",
            "did you mean \"5.1.1\"?",
        ),
        ("suite rfc7928 --queue codel --queue codel", "given twice"),
        (
            "suite rfc7928 --queue codel --baseline nope.json",
            "nope.json",
        ),
        (
            "suite rfc7928 --queue codel --baseline tiny.toml",
            "no result of a suite",
        ),
        ("suite nope.toml --queue codel", "no such file"),
    ] {
        let (status, _, error) = ended(&place, line);
        assert_eq!(status, Some(2), "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
    }
}

/// Two flows share a link, the other one of two kinds: its harm, and that against the harm of its own kind.
const HARM: &str = r#"[suite]
title = "Harm"
source = "a note"
replications = 3
most_replications = 6
quick_replications = 2
quick_most = 2

[[case]]
name = "{other}"
each = { other = ["cubic", "ledbat"] }
quick_each = { other = ["ledbat"] }
substitute = { cc = "flows.tested" }
reference = [
    { name = "alone", cc = "{other}", set = { flows = [{ kind = "{other}", label = "other" }] } },
    { name = "kin", cc = "{other}" },
]
criterion = [
    { name = "harm", metric = "goodput_bps_sum of other", harm = "alone", better = "lower", marks = { elsewhere = "61.5%" } },
    { name = "bar", metric = "goodput_bps_sum of other", harm = "alone", less = "kin", at_most = 0 },
    { name = "delay", metric = "rtt_s_mean of other", harm = "alone", good = "less" },
]

[case.scenario]
flows = [{ kind = "reno", label = "tested" }, { kind = "{other}", label = "other" }]

[case.scenario.run]
duration = "20s"
warmup = "5s"
start_spread = "1s"

[case.scenario.topology]
rate = "5Mbps"
rtt = "20ms"
buffer = "4bdp"
queue = "droptail"
"#;

#[test]
fn harm_is_judged_against_what_a_flow_does_to_its_own_kind() {
    let place = Place::new();
    place.write("harm.toml", HARM);
    let line = "suite harm.toml --cc cubic --json cubic.json";
    let (status, text, error) = ended(&place, line);
    assert_eq!(status, Some(0), "{error}");
    assert!(text.contains("elsewhere: 61.5 %"), "{text}");
    let cubic = json(&place, "cubic.json");
    assert_eq!(
        verdicts(&cubic),
        [
            ("cubic/harm", "informative"),
            // A second flow of CUBIC is the reference itself.
            ("cubic/bar", "pass"),
            ("cubic/delay", "informative"),
            ("ledbat/harm", "informative"),
            // LEDBAT gives way to CUBIC, and not to another LEDBAT.
            ("ledbat/bar", "fail"),
            ("ledbat/delay", "informative"),
        ]
    );
    let value = |index: usize| cubic["results"][index]["value"].as_f64().unwrap();
    assert_eq!(value(1), 0.0);
    assert!((20.0..80.0).contains(&value(0)), "{text}");
    assert!(value(3) > value(0) && value(3) < 100.0, "{text}");
    // Beside CUBIC, LEDBAT waits in a queue that it would not fill.
    assert!(value(5) > 0.0, "{text}");
    let mark = &cubic["results"][0]["marks"][0];
    assert_eq!(
        (&mark["from"], &mark["value"]),
        (&"elsewhere".into(), &61.5.into())
    );
    let (_, schema, _) = ended(&place, "schema suite");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    fits(&cubic, &schema["$defs"]["report"], &schema);
    let line = "suite harm.toml --cc cubic --quick --json quick.json";
    assert_eq!(ended(&place, line).0, Some(0));
    let quick = json(&place, "quick.json");
    assert_eq!(verdicts(&quick)[0].0, "ledbat/harm");
    assert_eq!(verdicts(&quick).len(), 3);
}

#[test]
fn the_list_has_every_suite_that_comes_along() {
    let place = Place::new();
    let (status, text, _) = ended(&place, "suite list");
    assert_eq!(status, Some(0));
    for name in [
        "rfc7928",
        "rfc9743",
        "tcpeval",
        "bbr",
        "rmcat",
        "l4s",
        "rrul",
        "slow-start",
        "fairness",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{text}");
    }
}

#[test]
fn a_spurious_recovery_is_taken_back_whatever_the_seed() {
    for seed in [1, 103, 117] {
        let place = Place::new();
        let line = format!("suite bbr --cc bbr3 --case A.18 --quick --seed {seed} --json out.json");
        let (status, text, error) = ended(&place, &line);
        assert_eq!(status, Some(0), "{text}{error}");
        let report = json(&place, "out.json");
        assert!(verdicts(&report).contains(&("A.18/back", "pass")), "{text}");
    }
}

#[test]
fn a_failure_without_a_value_says_that_there_is_none() {
    let place = Place::new();
    let suite = SUITE.replace(
        "metric = \"utilization_ratio\"\nat_least = \"10%\"",
        "series = \"backlog_packets\"\nstatistic = \"time_to_rise\"\nlevel = \"1000p\"\nat_most = \"1s\"\nmissing_fails = true",
    );
    let suite = suite.replace(
        "[case.scenario.topology]",
        "[case.scenario.series]\nrecord = \"backlog\"\nstep = \"100ms\"\n\n[case.scenario.topology]",
    );
    place.write("small-suite.toml", &suite);
    let (_, text, error) = ended(&place, "suite small-suite.toml --queue codel");
    let said = "no replication has a value";
    assert!(text.replace("\n  ", " ").contains(said), "{text}{error}");
}

#[test]
fn a_renamed_criterion_is_named_and_a_regression_fails_in_junit() {
    let place = place();
    let (_, _, error) = ended(
        &place,
        "suite small-suite.toml --queue codel --json before.json",
    );
    assert!(!error.contains("baseline"), "{error}");
    let renamed = SUITE.replace("name = \"late\"", "name = \"later\"");
    place.write("small-suite.toml", &renamed);
    let line = "suite small-suite.toml --queue codel --baseline before.json --fresh";
    let (status, _, error) = ended(&place, line);
    assert_eq!(status, Some(0), "{error}");
    for said in ["one/later", "one/late"] {
        assert!(error.contains(said), "{error}");
    }
    // A baseline in which utilization was three points higher in every replication.
    let mut baseline = json(&place, "before.json");
    let utilization = &mut baseline["results"][1];
    let higher = |value: &Value| Value::from(value.as_f64().unwrap() + 3.0);
    let mean = higher(&utilization["value"]);
    utilization["value"] = mean;
    let samples = utilization["samples"].as_array().unwrap();
    utilization["samples"] = samples.iter().map(higher).collect();
    place.write("before.json", &baseline.to_string());
    let line =
        "suite small-suite.toml --queue codel --baseline before.json --junit now.xml --fresh";
    let (status, text, error) = ended(&place, line);
    let regressed = text.contains("worse: one/utilization");
    assert!(regressed, "{text}{error}");
    assert_eq!(status, Some(1), "{text}{error}");
    assert!(
        error.contains("exit status 1: a value of a must"),
        "{error}"
    );
    let xml = place.read("now.xml");
    assert!(xml.contains("type=\"regression\""), "{xml}");
    assert!(!xml.contains("failures=\"0\""), "{xml}");
}

#[test]
fn the_cases_of_a_suite_are_listed_with_their_sections() {
    let place = place();
    let (status, text, error) = ended(&place, "suite list rfc7928");
    assert_eq!(status, Some(0), "{error}");
    assert!(
        text.contains("5.1.1") && text.contains("RFC 7928"),
        "{text}"
    );
    let (status, _, error) = ended(&place, "suite rfc7928 codel");
    assert_eq!(status, Some(2), "{error}");
    assert!(error.contains("--queue"), "{error}");
}

#[test]
fn a_threshold_without_a_unit_is_refused_where_the_value_has_one() {
    let place = Place::new();
    place.write(
        "bare.toml",
        &SUITE.replace("better = \"lower\"", "at_most = \"30\""),
    );
    let (status, _, error) = ended(&place, "suite bare.toml --queue codel");
    assert_eq!(status, Some(2), "{error}");
    assert!(
        error.contains("has no unit") && error.contains("ms"),
        "{error}"
    );
}
