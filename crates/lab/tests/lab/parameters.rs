//! No parameter is accepted and does nothing: a value far from the default changes a run, or is refused, or the parameter says in which
//! situation it acts. That situation occurs in one of the scenarios here at least.

use std::cell::OnceCell;

use sojourn_cc::ALGORITHMS;
use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::outcome::RunOutcome;
use sojourn_lab::run;
use sojourn_units::{DialectInfo, Kind, ParamInfo};

/// What a scenario makes of the part in question.
type Text = fn(&str) -> String;

/// What is tried: a part of scenarios by name, with its parameters and dialects, and scenarios in which it stands.
struct Trial<'a> {
    name: &'a str,
    params: &'a [ParamInfo],
    dialects: &'a [DialectInfo],
    scenarios: &'a [Text],
}

/// What comes of a value.
#[derive(PartialEq, Debug)]
enum Fate {
    Refused,
    Acts,
    Nothing,
}

impl Trial<'_> {
    /// What is wrong, a line each.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut acted = vec![false; self.params.len()];
        for dialect in self.dialects_or_none() {
            let plain = self.spec(dialect, None);
            let bases: Vec<OnceCell<RunOutcome>> = self.scenarios.iter().map(|_| OnceCell::new()).collect();
            for (info, acted) in self.params.iter().zip(&mut acted) {
                for value in far(info, dialect) {
                    let spec = self.spec(dialect, Some((info.name, &value)));
                    match self.fate(&plain, &spec, &bases) {
                        Fate::Acts => *acted = true,
                        Fate::Nothing if info.acts.is_empty() => problems.push(format!("{spec}: changes nothing")),
                        Fate::Refused | Fate::Nothing => {}
                    }
                }
            }
        }
        for (info, acted) in self.params.iter().zip(acted) {
            if !acted && !info.acts.is_empty() {
                problems.push(format!("{} {}: not met: acts when {}", self.name, info.name, info.acts));
            }
        }
        problems
    }

    fn dialects_or_none(&self) -> Vec<Option<&DialectInfo>> {
        match self.dialects {
            [] => vec![None],
            dialects => dialects.iter().map(Some).collect(),
        }
    }

    fn spec(&self, dialect: Option<&DialectInfo>, given: Option<(&str, &str)>) -> String {
        let mut spec = self.name.to_owned();
        if let Some(dialect) = dialect {
            spec.push_str(&format!(" dialect={}", dialect.name));
        }
        if let Some((key, value)) = given {
            spec.push_str(&format!(" {key}={value}"));
        }
        spec
    }

    fn fate(&self, plain: &str, spec: &str, bases: &[OnceCell<RunOutcome>]) -> Fate {
        for (text, base) in self.scenarios.iter().zip(bases) {
            let Some(scenario) = read(&text(spec)) else {
                return Fate::Refused;
            };
            let base = base.get_or_init(|| {
                let text = text(plain);
                outcome(&read(&text).unwrap_or_else(|| panic!("refused: {text}")), plain)
            });
            if !outcome(&scenario, spec).is_as(base) {
                return Fate::Acts;
            }
        }
        Fate::Nothing
    }
}

fn read(text: &str) -> Option<Scenario> {
    let document = Document::parse(text, "t.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    Scenario::from_document(&document).ok()
}

fn outcome(scenario: &Scenario, spec: &str) -> RunOutcome {
    run::run(scenario, 0).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// Values far from the default of a dialect: the ends of the range, the other words, or what its kind makes likely.
fn far(info: &ParamInfo, dialect: Option<&DialectInfo>) -> Vec<String> {
    let default = dialect.map_or(info.default, |dialect| dialect.default_of(info).0);
    let kind = (info.kind)();
    let (inner, optional) = match &kind {
        Kind::Optional(inner) => (&**inner, true),
        kind => (kind, false),
    };
    let mut values: Vec<&str> = match inner {
        Kind::Flag => vec!["true", "false"],
        Kind::Choice(words) => words.iter().map(|word| word.0).collect(),
        Kind::Fraction => vec!["0.3", "0.95"],
        _ => [info.range_low, info.range_high].into_iter().filter(|end| !end.is_empty()).collect(),
    };
    let likely: &[&str] = match inner {
        Kind::Duration => &["3ms", "150ms"],
        Kind::Rate => &["3Mbps"],
        Kind::Size => &["3000B"],
        Kind::Packets => &["7p"],
        Kind::Limit => &["7p", "9000B"],
        Kind::Integer => &["3", "100"],
        Kind::Number => &["0.3"],
        _ => &[],
    };
    // Where a range is open at one side its end may mean nothing; where it is closed its ends are far enough.
    if values.len() < 2 {
        values.extend(likely);
    }
    if optional {
        values.push("none");
    }
    values.retain(|value| *value != default);
    values.into_iter().map(str::to_owned).collect()
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

const RUN: &str = "[run]\nwarmup = \"0s\"\nreplications = 1\n";

/// A deep buffer, two round trips, a source that comes and goes: slow start ends by delay, queues stand and vanish.
fn deep(flow: &str) -> String {
    format!(
        "flows = [{{ spec = \"{flow} ecn=true\", rtt = \"160ms\" }}, {{ spec = \"{flow} ecn=true start=2s\", rtt = \"30ms\" }}, \
         \"periodic 9Mbps on=1s off=2s\"]\n{RUN}duration = \"12s\"\n[topology]\nrate = \"16Mbps\"\nbuffer = \"250p\"\n"
    )
}

/// A queue that marks, and losses on the wire.
fn marked(flow: &str) -> String {
    format!(
        "flows = [\"2*{flow} ecn=true\", \"periodic 3Mbps on=1s off=1s\"]\n{RUN}duration = \"8s\"\n[topology]\nrate = \"6Mbps\"\n\
         rtt = \"40ms\"\nbuffer = \"60p\"\nqueue = \"codel ecn=true\"\n[[impairments]]\nlink = \"left-right\"\nloss = 0.003\n"
    )
}

/// A large window on a long path with few losses.
fn large(flow: &str) -> String {
    format!(
        "flows = [\"{flow} ecn=true\"]\n{RUN}duration = \"12s\"\n[topology]\nrate = \"40Mbps\"\nrtt = \"120ms\"\nbuffer = \"500p\"\n\
         [[impairments]]\nlink = \"left-right\"\nloss = 0.00005\n"
    )
}

/// Minutes on a thin path that becomes longer.
fn long(flow: &str) -> String {
    format!(
        "flows = [\"{flow} ecn=true\"]\n{RUN}duration = \"200s\"\n[topology]\nrate = \"300kbps\"\nrtt = \"40ms\"\nbuffer = \"20p\"\n\
         [[changes]]\nat = \"90s\"\nlink = \"left-right\"\ndelay = \"60ms\"\n"
    )
}

#[test]
fn no_parameter_of_a_congestion_control_is_accepted_and_does_nothing() {
    let mut problems = Vec::new();
    for algorithm in ALGORITHMS {
        let trial = Trial {
            // The flow called reno repairs losses without selective acknowledgement.
            name: if algorithm.name == "reno" { "sack" } else { algorithm.name },
            params: algorithm.params,
            dialects: algorithm.dialects,
            scenarios: &[marked, deep, large, long],
        };
        problems.extend(trial.problems());
    }
    assert_none(&problems);
}

/// Flows of every kind of ECN, codepoints, some that do not respond.
fn bottleneck(queue: &str) -> String {
    format!(
        "flows = [\"2*cubic\", \"prague\", {{ spec = \"sack ecn=true\", dscp = 10 }}, {{ spec = \"cbr 1500kbps\", dscp = 46 }}, \
         {{ spec = \"periodic 4Mbps on=300ms off=400ms\", dscp = 12 }}, \"voice\"]\n{RUN}duration = \"3s\"\n\
         [topology]\nrate = \"6Mbps\"\nrtt = \"30ms\"\nqueue = \"{queue}\"\n"
    )
}

/// A link that is often idle.
fn idle(queue: &str) -> String {
    format!(
        "flows = [\"cubic\", \"prague\", \"periodic 12Mbps on=60ms off=200ms\"]\n{RUN}duration = \"3s\"\n\
         [topology]\nrate = \"9Mbps\"\nrtt = \"60ms\"\nqueue = \"{queue}\"\n"
    )
}

#[test]
fn no_parameter_of_a_queue_is_accepted_and_does_nothing() {
    let mut problems = Vec::new();
    for entry in sojourn_queue::registry::catalogue() {
        let trial = Trial {
            name: entry.name,
            params: entry.params,
            dialects: entry.dialects,
            scenarios: &[bottleneck, idle],
        };
        problems.extend(trial.problems());
    }
    assert_none(&problems);
}

fn datagrams(source: &str) -> String {
    format!("flows = [\"rtp source=({source})\"]\n{RUN}duration = \"8s\"\n[topology]\nrate = \"2Mbps\"\nrtt = \"20ms\"\n")
}

fn stream(source: &str) -> String {
    format!("flows = [\"sack source=({source})\"]\n{RUN}duration = \"3s\"\n[topology]\nrate = \"2Mbps\"\nrtt = \"20ms\"\n")
}

#[test]
fn no_parameter_of_a_source_is_accepted_and_does_nothing() {
    let mut problems = Vec::new();
    for entry in sojourn_traffic::registry::catalogue() {
        let trial = Trial {
            name: entry.name,
            params: entry.params,
            dialects: entry.dialects,
            scenarios: match entry.name {
                "bulk" | "on_off_app" => &[stream],
                _ => &[datagrams],
            },
        };
        problems.extend(trial.problems());
    }
    assert_none(&problems);
}

#[test]
fn a_refusal_names_key_dialect_and_reason() {
    let refused = |flow: &str| {
        let document = Document::parse(&format!("flows = [\"{flow}\"]\n"), "t.toml").expect("TOML");
        Scenario::from_document(&document).expect_err("refused").to_string()
    };
    for (flow, expected) in [
        (
            "highspeed dialect=linux high_window=2",
            "high_window: \"2\" has no effect with dialect=linux (ns-3 and Linux have the table of RFC 3649 built in): leave it \
             out, or write dialect=rfc",
        ),
        (
            "cubic exit=loss css_rounds=1000",
            "css_rounds: \"1000\" has no effect with exit=loss: leave it out, or write exit=hystart_plus",
        ),
        (
            "cubic partial_timer=every",
            "partial_timer: \"every\" has no effect with recovery=sack (it is a rule of NewReno): leave it out, or write \
             recovery=newreno",
        ),
    ] {
        let error = refused(flow);
        assert!(error.contains(expected), "{flow}: {error}");
    }
}
