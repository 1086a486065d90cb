//! No parameter is accepted and does nothing: a value far from the default changes a run, or is refused, or the parameter says in which
//! situation it acts. That situation occurs in one of the scenarios here at least.

use std::collections::BTreeMap;

use sojourn_cc::ALGORITHMS;
use sojourn_cc::media::MEDIA_ALGORITHMS;
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_units::{Condition, DialectInfo, Kind, ParamInfo};

/// A scenario in which the part in question stands, and what is given for it where it has such parameters.
struct Scene {
    text: fn(&str) -> String,
    with: &'static [(&'static str, &'static str)],
}

/// A part of scenarios by name, with its parameters and dialects, and where it is tried.
struct Trial<'a> {
    name: &'a str,
    params: &'a [ParamInfo],
    dialects: &'a [DialectInfo],
    scenes: &'a [Scene],
}

/// What comes of a value.
enum Fate {
    Refused,
    Acts,
    Nothing,
    Fails(String),
}

type Pairs<'a> = Vec<(&'a str, String)>;

/// The runs without the value in question, by scene and specification.
type Bases = BTreeMap<(usize, String), Result<Option<RunOutcome>, String>>;

impl Trial<'_> {
    /// What is wrong, a line each.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut acted = vec![false; self.params.len()];
        let dialects: Vec<Option<&DialectInfo>> = match self.dialects {
            [] => vec![None],
            dialects => dialects.iter().map(Some).collect(),
        };
        for dialect in dialects {
            let mut bases = Bases::new();
            for (info, acted) in self.params.iter().zip(&mut acted) {
                for value in far(info, dialect) {
                    let what = spec(self.name, dialect, &[(info.name, value.clone())]);
                    match self.fate(info, &value, dialect, &mut bases) {
                        Fate::Acts => *acted = true,
                        Fate::Nothing if info.acts.is_empty() => {
                            problems.push(format!("{what}: changes nothing"));
                        }
                        Fate::Fails(why) => problems.push(format!("{what}: {why}")),
                        Fate::Refused | Fate::Nothing => {}
                    }
                }
            }
        }
        for (info, acted) in self.params.iter().zip(acted) {
            if !acted && !info.acts.is_empty() {
                problems.push(format!(
                    "{} {}: never met: acts when {}",
                    self.name, info.name, info.acts
                ));
            }
        }
        problems
    }

    fn fate(
        &self,
        info: &ParamInfo,
        value: &str,
        dialect: Option<&DialectInfo>,
        bases: &mut Bases,
    ) -> Fate {
        let needed = self.needed(info, dialect);
        let mut refused = false;
        for (index, scene) in self.scenes.iter().enumerate() {
            let mut pairs = Pairs::new();
            for &(key, value) in scene.with {
                let fits = self.params.iter().any(|other| other.name == key);
                if fits && key != info.name {
                    pairs.push((key, value.to_owned()));
                }
            }
            for (key, value) in &needed {
                if pairs.iter().all(|(other, _)| other != key) {
                    pairs.push((key, value.clone()));
                }
            }
            // What a scene gives for the parameter itself is what the value is compared with.
            let own = scene.with.iter().find(|(key, _)| *key == info.name);
            let own = own.map(|&(key, value)| (key, value.to_owned()));
            let beside: Pairs<'_> = pairs.iter().cloned().chain(own).collect();
            let plain = spec(self.name, dialect, &beside);
            pairs.push((info.name, value.to_owned()));
            let Some(scenario) = read(&(scene.text)(&spec(self.name, dialect, &pairs))) else {
                // What another scene gives beside it may make room for the value.
                refused |= index == 0;
                continue;
            };
            let base = bases
                .entry((index, plain))
                .or_insert_with_key(|(_, plain)| {
                    read(&(scene.text)(plain))
                        .map(|base| outcome(&base))
                        .transpose()
                });
            match (base, outcome(&scenario)) {
                (Ok(Some(base)), Ok(with)) if with.is_as(base) => {}
                (Ok(Some(_)), Ok(_)) => return Fate::Acts,
                // What a scene asks for may be nothing for a dialect.
                (Ok(None), _) => {}
                (Err(why), _) => return Fate::Fails(why.clone()),
                (_, Err(why)) => return Fate::Fails(why),
            }
        }
        match refused {
            true => Fate::Refused,
            false => Fate::Nothing,
        }
    }

    /// What a parameter needs beside it to have an effect, as far as users decide it.
    fn needed(&self, info: &ParamInfo, dialect: Option<&DialectInfo>) -> Pairs<'static> {
        let of = |condition: &Condition| self.params.iter().find(|info| info.name == condition.key);
        let met = |condition: &Condition| {
            of(condition)
                .is_some_and(|info| (default_of(info, dialect) == condition.value) == condition.is)
        };
        let mut pairs = Vec::new();
        for need in info.needs.iter().filter(|need| need.of.is_none()) {
            if need.any.iter().any(met) {
                continue;
            }
            let given = need.any.iter().find_map(|condition| {
                let other = of(condition).filter(|other| !other.set_by_dialect)?;
                let value = match condition.is {
                    true => condition.value.to_owned(),
                    false => far(other, dialect).first()?.clone(),
                };
                Some((condition.key, value))
            });
            pairs.extend(given);
        }
        pairs
    }
}

fn spec(name: &str, dialect: Option<&DialectInfo>, pairs: &[(&str, String)]) -> String {
    let dialect = dialect.map(|info| ("dialect", info.name.to_owned()));
    let pairs = dialect
        .iter()
        .chain(pairs)
        .map(|(key, value)| format!(" {key}={value}"));
    std::iter::once(name.to_owned()).chain(pairs).collect()
}

fn read(text: &str) -> Option<Scenario> {
    let document =
        Document::parse(text, "t.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    Scenario::from_document(&document).ok()
}

fn outcome(scenario: &Scenario) -> Result<RunOutcome, String> {
    run::run(scenario, 0).map_err(|error| error.to_string())
}

fn default_of(info: &ParamInfo, dialect: Option<&DialectInfo>) -> &'static str {
    dialect.map_or(info.default, |dialect| dialect.default_of(info).0)
}

/// Values far from the default of a dialect: the ends of the range, the other words, or what its kind makes likely.
fn far(info: &ParamInfo, dialect: Option<&DialectInfo>) -> Vec<String> {
    let kind = info.kind();
    let (inner, optional) = match &kind {
        Kind::Optional(inner) => (&**inner, true),
        kind => (kind, false),
    };
    let mut values: Vec<&str> = match inner {
        Kind::Flag => vec!["true", "false"],
        Kind::Choice(words) => words.iter().map(|word| word.0).collect(),
        Kind::Fraction => vec!["0.3", "0.95"],
        _ => {
            let ends = [info.range_low, info.range_high];
            ends.into_iter().filter(|end| !end.is_empty()).collect()
        }
    };
    let likely: &[&str] = match inner {
        Kind::Duration | Kind::DurationOrAuto => &["3ms", "150ms"],
        Kind::Rate => &["3Mbps"],
        Kind::Size => &["3000B"],
        Kind::Packets => &["7p"],
        Kind::Limit => &["7p", "9000B"],
        Kind::Integer => &["3", "100"],
        Kind::Number => &["0.3"],
        _ => &[],
    };
    // The end of a range that is open at the other side may be no extreme, or a million events a second.
    if values.len() < 2 {
        values.retain(|_| *inner != Kind::Duration);
        values.extend(likely);
    }
    if optional && *inner == Kind::Integer {
        values.push("8");
    }
    if optional {
        values.push("none");
    }
    values.retain(|value| *value != default_of(info, dialect));
    values.into_iter().map(str::to_owned).collect()
}

fn assert_none(trials: &[Trial<'_>]) {
    let problems: Vec<String> = trials.iter().flat_map(Trial::problems).collect();
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems.join("\n")
    );
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

/// The first slow start alone, in a buffer that takes it, on a path where a segment takes no time.
fn beginning(flow: &str) -> String {
    format!(
        "flows = [\"{flow} ecn=true\", \"{flow} ecn=true start=1500ms\"]\n{RUN}duration = \"4s\"\n[topology]\nrate = \"60Mbps\"\n\
         rtt = \"60ms\"\nbuffer = \"4000p\"\n"
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
    let scene = |text: fn(&str) -> String, with| Scene { text, with };
    let scenes = [
        scene(marked, &[] as &[_]),
        scene(deep, &[]),
        scene(beginning, &[]),
        scene(large, &[]),
        scene(long, &[]),
        // Bounds that a value would pass otherwise.
        scene(deep, &[("gamma_low", "1")]),
        scene(deep, &[("gamma_high", "10000")]),
    ];
    let trial = |algorithm: &'static sojourn_cc::registry::Algorithm| Trial {
        // The flow called reno repairs losses without selective acknowledgement.
        name: if algorithm.name == "reno" {
            "sack"
        } else {
            algorithm.name
        },
        params: algorithm.params,
        dialects: algorithm.dialects,
        scenes: &scenes,
    };
    assert_none(&ALGORITHMS.iter().map(trial).collect::<Vec<_>>());
}

/// Video over a path that becomes narrower, beside TCP, with losses and marks.
fn video(control: &str) -> String {
    format!(
        "flows = [\"rtp source=(video rate=400kbps) ecn=true control=({control})\", {{ spec = \"cubic\", start = \"6s\", stop = \"10s\" }}]\n\
         {RUN}duration = \"25s\"\n[topology]\nrate = \"1200kbps\"\nrtt = \"50ms\"\nqueue = \"codel ecn=true target=40ms limit=60p\"\n\
         [[changes]]\nat = \"12s\"\nlink = \"left-right\"\nrate = \"300kbps\"\n[[changes]]\nat = \"14s\"\nlink = \"left-right\"\n\
         rate = \"1200kbps\"\n[[impairments]]\nlink = \"left-right\"\nloss = 0.003\n"
    )
}

/// The same in a deep buffer without marks.
fn waiting(control: &str) -> String {
    format!(
        "flows = [\"rtp source=(video rate=400kbps) control=({control})\", {{ spec = \"cubic\", start = \"6s\", stop = \"12s\" }}]\n\
         {RUN}duration = \"25s\"\n[topology]\nrate = \"1200kbps\"\nrtt = \"50ms\"\nbuffer = \"80p\"\n[[changes]]\nat = \"15s\"\n\
         link = \"left-right\"\nrate = \"200kbps\"\n[[changes]]\nat = \"18s\"\nlink = \"left-right\"\nrate = \"1200kbps\"\n"
    )
}

#[test]
fn no_parameter_of_a_control_of_media_is_accepted_and_does_nothing() {
    let scene = |text: fn(&str) -> String, with| Scene { text, with };
    let scenes = [
        scene(video, &[] as &[_]),
        scene(waiting, &[]),
        // A target that the greatest one does not pass.
        scene(waiting, &[("target", "5ms")]),
    ];
    let trials = MEDIA_ALGORITHMS.iter().map(|algorithm| Trial {
        name: algorithm.name,
        params: algorithm.params,
        dialects: algorithm.dialects,
        scenes: &scenes,
    });
    assert_none(&trials.collect::<Vec<_>>());
}

/// Two bottlenecks in a row between two hosts on each side.
fn graph(flows: &str, rate: &str, run: &str, queue: &str) -> String {
    let link = |from: &str, to: &str, rate: &str, queue: &str| {
        format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"4ms\"\n{queue}"
        )
    };
    let queue = format!("queue = \"{queue}\"\n");
    [
        format!("flows = [{flows}]\n{RUN}{run}\n[topology]\nkind = \"graph\"\n"),
        link("s1", "a", "1Gbps", ""),
        link("s2", "a", "1Gbps", ""),
        link("a", "b", rate, &queue),
        link("b", "c", rate, &queue),
        link("c", "r1", "1Gbps", ""),
        link("c", "r2", "1Gbps", ""),
    ]
    .concat()
}

/// A flow between hosts of [`graph`].
fn flow(spec: &str, from: &str, to: &str, dscp: u32) -> String {
    format!("{{ spec = \"{spec}\", from = \"{from}\", to = \"{to}\", dscp = {dscp} }}")
}

/// Flows of every kind of ECN, codepoints, some that do not respond; acknowledgements and data in both directions.
fn mixed(queue: &str) -> String {
    let flows = [
        flow("2*cubic", "s1", "r1", 0),
        flow("prague", "s1", "r2", 0),
        flow("sack ecn=true", "s2", "r1", 10),
        flow("cbr 1500kbps", "s2", "r2", 46),
        flow("periodic 4Mbps on=300ms off=400ms", "s1", "r1", 12),
        flow("poisson 300kbps", "s1", "r2", 48),
        flow("voice", "s1", "r1", 8),
        flow("reno", "r1", "s2", 0),
    ];
    graph(&flows.join(", "), "6Mbps", "duration = \"3s\"", queue)
}

/// A link that is often idle.
fn idle(queue: &str) -> String {
    let flows = [
        flow("cubic", "s1", "r1", 0),
        flow("prague", "s2", "r2", 0),
        flow("periodic 12Mbps on=60ms off=200ms", "s1", "r2", 10),
    ];
    graph(&flows.join(", "), "9Mbps", "duration = \"3s\"", queue)
}

/// More flows than queues by hash keep apart, more than the link takes.
fn crowd(queue: &str) -> String {
    let flows = [
        flow("150*cbr 60kbps", "s1", "r1", 0),
        flow("sack ecn=true", "s2", "r2", 0),
    ];
    graph(&flows.join(", "), "4Mbps", "duration = \"3s\"", queue)
}

/// Marks, and little but them.
fn capable(queue: &str) -> String {
    let flows = [
        flow("6*sack ecn=true", "s1", "r1", 0),
        flow("2*prague", "s2", "r2", 0),
        flow("periodic 5Mbps on=500ms off=500ms", "s2", "r1", 0),
    ];
    graph(&flows.join(", "), "5Mbps", "duration = \"5s\"", queue)
}

/// A flow that does not respond takes all.
fn flood(queue: &str) -> String {
    let flows = [
        flow("cbr 7Mbps", "s1", "r1", 0),
        flow("2*reno", "s2", "r2", 0),
        flow("sack ecn=true", "s2", "r1", 0),
    ];
    graph(&flows.join(", "), "4Mbps", "duration = \"5s\"", queue)
}

/// Flows that send much in little time.
fn fast(queue: &str) -> String {
    let flows = [
        flow("periodic 60Mbps on=200ms off=50ms", "s1", "r1", 0),
        flow("4*cbr 11Mbps", "s2", "r2", 0),
        flow("cubic", "s2", "r1", 0),
    ];
    graph(
        &flows.join(", "),
        "80Mbps",
        "duration = \"700ms\"\nstart_spread = \"0s\"",
        queue,
    )
}

#[test]
fn no_parameter_of_a_queue_is_accepted_and_does_nothing() {
    let scene = |text, with| Scene { text, with };
    let scenes = [
        scene(mixed as fn(&str) -> String, &[] as &[_]),
        scene(idle, &[]),
        scene(crowd, &[]),
        scene(crowd, &[("limit", "60p"), ("buckets", "32")]),
        scene(
            capable,
            &[
                ("ecn", "true"),
                ("a", "0.002"),
                ("rate", "4Mbps"),
                ("classes", "100kbps/4Mbps,100kbps/4Mbps"),
            ],
        ),
        scene(
            flood,
            &[
                ("increment", "0.1"),
                ("rehash", "1500ms"),
                ("warmup", "500ms"),
            ],
        ),
        scene(idle, &[("limit", "60p"), ("ecn", "true")]),
        scene(fast, &[]),
        scene(capable, &[]),
        scene(
            flood,
            &[
                ("increment", "0.1"),
                ("bin_size", "2p"),
                ("max", "1000p"),
                ("penalty_rate", "1000"),
                ("rehash", "1s"),
                ("warmup", "500ms"),
            ],
        ),
        // More heavy flows than hhf knows, which take turns.
        scene(
            crowd,
            &[
                ("admit_bytes", "4000B"),
                ("reset_timeout", "1s"),
                ("hh_limit", "20"),
                ("evict_timeout", "50ms"),
            ],
        ),
    ];
    let trials = sojourn_queue::registry::catalogue()
        .iter()
        .map(|entry| Trial {
            name: entry.name,
            params: entry.params,
            dialects: entry.dialects,
            scenes: &scenes,
        });
    assert_none(&trials.collect::<Vec<_>>());
}

fn datagrams(source: &str) -> String {
    format!(
        "flows = [\"{source}\"]\n{RUN}duration = \"8s\"\n[topology]\nrate = \"20Mbps\"\nrtt = \"20ms\"\n"
    )
}

fn stream(source: &str) -> String {
    format!(
        "flows = [\"sack source=({source})\"]\n{RUN}duration = \"4s\"\n[topology]\nrate = \"20Mbps\"\nrtt = \"20ms\"\n"
    )
}

fn frames(source: &str) -> String {
    format!(
        "flows = [\"rtp source=({source}) control=nada\"]\n{RUN}duration = \"20s\"\n[topology]\nrate = \"1200kbps\"\nrtt = \"20ms\"\n\
         [[changes]]\nat = \"6s\"\nlink = \"left-right\"\nrate = \"100kbps\"\n[[changes]]\nat = \"13s\"\nlink = \"left-right\"\n\
         rate = \"5Mbps\"\n"
    )
}

#[test]
fn no_parameter_of_a_source_is_accepted_and_does_nothing() {
    let trials = sojourn_traffic::registry::catalogue()
        .iter()
        .map(|entry| Trial {
            name: entry.name,
            params: entry.params,
            dialects: entry.dialects,
            scenes: match entry.name {
                "bulk" => &[Scene {
                    text: stream,
                    with: &[],
                }],
                "on_off_app" => &[Scene {
                    text: stream,
                    with: &[("rate", "1Mbps")],
                }],
                "video" => &[Scene {
                    text: frames,
                    with: &[],
                }],
                "voice" => &[Scene {
                    text: datagrams,
                    with: &[],
                }],
                _ => &[Scene {
                    text: datagrams,
                    with: &[("rate", "1Mbps")],
                }],
            },
        });
    assert_none(&trials.collect::<Vec<_>>());
}

#[test]
fn a_refusal_names_key_dialect_and_reason() {
    let refused = |flow: &str| {
        let document = Document::parse(&format!("flows = [\"{flow}\"]\n"), "t.toml").expect("TOML");
        let error = Scenario::from_document(&document).expect_err("refused");
        error.to_string()
    };
    for (flow, expected) in [
        (
            "highspeed dialect=linux high_window=2",
            "high_window: \"2\" has no effect with dialect=linux (ns-3 and Linux have the table of RFC 3649 built in); leave it \
             out, or write dialect=rfc",
        ),
        (
            "cubic exit=loss css_rounds=1000",
            "css_rounds: \"1000\" has no effect with exit=loss; leave it out, or write exit=hystart_plus",
        ),
        (
            "cubic partial_timer=every",
            "partial_timer: \"every\" has no effect with recovery=sack (it is a rule of NewReno); leave it out, or write \
             recovery=newreno",
        ),
    ] {
        let error = refused(flow);
        assert!(error.contains(expected), "{flow}: {error}");
    }
}
