//! A comparison of queues on one line, without a file: from the options of `sojourn dumbbell` to a scenario and the queues
//! that take turns at its bottleneck.
//!
//! ```
//! use sojourn_scenario::oneline::{Dumbbell, dumbbell};
//!
//! let text = |text: &str| Some(text.to_owned());
//! let options = Dumbbell {
//!     rate: text("10Mbps"),
//!     rtt: text("40ms"),
//!     buffer: text("100p"),
//!     queues: vec!["codel".to_owned(), "drr".to_owned()],
//!     flows: vec!["4*reno".to_owned(), "cbr 2Mbps".to_owned()],
//!     ..Dumbbell::default()
//! };
//! let (base, queues, _) = dumbbell(&options, &|_, _| Ok(()))?;
//! assert_eq!(queues.len(), 2);
//! assert_eq!(base.flows.len(), 2);
//! # Ok::<(), sojourn_scenario::error::LabError>(())
//! ```

use sojourn_units::{ParamInfo, Params, Spec};

use crate::document::{Document, Node, Value};
use crate::error::{LabError, LabErrorKind, Place, Result};
use crate::model::{DumbbellParams, LimitParams, RunParams, Scenario, SeriesParams, Topology};
use crate::reader::Reading;

/// Declares the options that are one value: field, option, and path in a scenario.
macro_rules! options {
    ($($field:ident $option:literal = $path:literal;)*) => {
        /// What the options of the command say, as they were typed.
        #[derive(Clone, Debug, Default)]
        pub struct Dumbbell {
            $(
                #[doc = concat!("`", $option, "`: see `", $path, "`.")]
                pub $field: Option<String>,
            )*
            /// `--queue`, each time it is given.
            pub queues: Vec<String>,
            /// `--flow`, each time it is given.
            pub flows: Vec<String>,
            /// `--deterministic`.
            pub deterministic: bool,
            /// `--set`, each time it is given: a path, `=`, and a value.
            pub sets: Vec<String>,
        }

        /// The options that take one value: name, and path in a scenario.
        pub const OPTIONS: &[(&str, &str)] = &[$(($option, $path)),*];

        impl Dumbbell {
            /// Gives the value of one of [`OPTIONS`]; false if there is no such option.
            pub fn give(&mut self, option: &str, value: &str) -> bool {
                let field = match option {
                    $($option => &mut self.$field,)*
                    _ => return false,
                };
                *field = Some(value.to_owned());
                true
            }

            /// The values of [`OPTIONS`], in their order.
            pub fn values(&self) -> Vec<Option<&str>> {
                vec![$(self.$field.as_deref()),*]
            }
        }
    };
}

options! {
    rate "--rate" = "topology.rate";
    reverse_rate "--reverse-rate" = "topology.reverse_rate";
    rtt "--rtt" = "topology.rtt";
    buffer "--buffer" = "topology.buffer";
    reverse_queue "--reverse-queue" = "topology.reverse_queue";
    access_rate "--access-rate" = "topology.access_rate";
    access_delay "--access-delay" = "topology.access_delay";
    access_queue "--access-queue" = "topology.access_queue";
    bottleneck_delay "--bottleneck-delay" = "topology.bottleneck_delay";
    pairs "--pairs" = "topology.pairs";
    duration "--duration" = "run.duration";
    warmup "--warmup" = "run.warmup";
    seed "--seed" = "run.seed";
    replications "--replications" = "run.replications";
    precision "--precision" = "run.precision";
    max_duration "--max-duration" = "run.max_duration";
    max_replications "--max-replications" = "run.max_replications";
    start_spread "--start-spread" = "run.start_spread";
    ties "--ties" = "run.ties";
    dialect "--dialect" = "dialect";
    record "--record" = "series.record";
    step "--step" = "series.step";
}

/// The declaration of an option's parameter: its text, default, range and source.
pub fn parameter(option: &str) -> Option<&'static ParamInfo> {
    let (_, path) = OPTIONS.iter().find(|(name, _)| *name == option)?;
    let (table, key) = path.split_once('.')?;
    let table = match table {
        "topology" => DumbbellParams::TABLE,
        "run" => RunParams::TABLE,
        "series" => SeriesParams::TABLE,
        _ => return None,
    };
    table.iter().find(|info| info.name == key)
}

/// Refuses a scenario that asks for more than its limits allow.
pub type Allowed<'a> = &'a dyn Fn(&Scenario, &LimitParams) -> Result<()>;

/// The scenario that the options describe, with the first of the queues at its bottleneck, and all queues to compare.
///
/// # Errors
/// As [`Scenario::from_document`], and where it is not `allowed`; every message names the option.
pub fn dumbbell(
    options: &Dumbbell,
    allowed: Allowed<'_>,
) -> Result<(Scenario, Vec<Spec>, LimitParams)> {
    let document = document(options)?;
    if options.queues.is_empty() {
        let (base, limits) = read(&document, allowed)?;
        let queue = queue_of(&base)?.clone();
        return Ok((base, vec![queue], limits));
    }
    let mut base: Option<(Scenario, LimitParams)> = None;
    let mut queues: Vec<Spec> = Vec::new();
    for text in &options.queues {
        let mut document = document.clone();
        document.set_node(
            "topology.queue",
            argument("--queue", text, "topology.queue"),
        )?;
        let (scenario, limits) = read(&document, allowed)?;
        let queue = queue_of(&scenario)?;
        if queues.contains(queue) {
            return Err(LabError::new(
                LabErrorKind::Contradiction,
                format!("{}: this queue is given twice", typed("--queue", text)),
            )
            .remedy("leave one of the two out"));
        }
        queues.push(queue.clone());
        base.get_or_insert((scenario, limits));
    }
    let (base, limits) = base.expect("there is a queue");
    Ok((base, queues, limits))
}

/// The queue of the bottleneck.
fn queue_of(scenario: &Scenario) -> Result<&Spec> {
    match &scenario.topology {
        Topology::Dumbbell(params) => Ok(&params.queue),
        _ => Err(no_dumbbell()),
    }
}

/// What the options say, without the queues.
fn document(options: &Dumbbell) -> Result<Document> {
    let mut document = Document::new("sojourn dumbbell");
    document.set_node("name", unplaced("dumbbell"))?;
    for ((option, path), value) in OPTIONS.iter().zip(options.values()) {
        if let Some(text) = value {
            document.set_node(path, argument(option, text, path))?;
        }
    }
    if options.deterministic {
        let node = Node {
            value: Value::Flag(true),
            place: place("--deterministic", "run.deterministic"),
        };
        document.set_node("run.deterministic", node)?;
    }
    if options.flows.is_empty() {
        return Err(LabError::new(
            LabErrorKind::MissingKey,
            "--flow: at least one flow is needed",
        )
        .remedy("add --flow 4*reno, say"));
    }
    let flows = options.flows.iter().enumerate();
    let flows = flows.map(|(index, text)| argument("--flow", text, &format!("flows[{index}]")));
    let flows = Node {
        value: Value::List(flows.collect()),
        place: place("--flow", "flows"),
    };
    document.set_node("flows", flows)?;
    for set in &options.sets {
        let Some((path, text)) = set.split_once('=') else {
            return Err(LabError::new(
                LabErrorKind::BadValue,
                format!("{}: there is no \"=\" in it", typed("--set", set)),
            )
            .remedy("write --set topology.rate=10Mbps, say"));
        };
        document.set_argument(path, text, &typed("--set", set))?;
    }
    Ok(document)
}

fn read(document: &Document, allowed: Allowed<'_>) -> Result<(Scenario, LimitParams)> {
    let read = || {
        let Reading {
            scenario, limits, ..
        } = Scenario::read(document, &[])?;
        scenario.refuse_vain_replications(document)?;
        allowed(&scenario, &limits).map_err(|error| document.locate(error))?;
        Ok((scenario, limits))
    };
    read().map_err(|error: LabError| error.reworded(in_options))
}

fn no_dumbbell() -> LabError {
    LabError::new(
        LabErrorKind::Contradiction,
        "--set: the topology is a dumbbell here",
    )
    .remedy("write a scenario file for another topology")
}

/// A text with options in place of the paths that they set.
fn in_options(text: &str) -> String {
    let mut text = text.to_owned();
    let mut options: Vec<(&str, &str)> = vec![("--queue", "topology.queue")];
    options.extend(OPTIONS.iter().filter(|(_, path)| path.contains('.')));
    // Of two paths that begin alike the longer goes first.
    options.sort_by_key(|(_, path)| std::cmp::Reverse(path.len()));
    for (option, path) in options {
        text = text.replace(path, option);
    }
    text
}

fn argument(option: &str, text: &str, path: &str) -> Node {
    Node {
        value: Value::Text(text.to_owned()),
        place: place(&typed(option, text), path),
    }
}

fn place(argument: &str, path: &str) -> Place {
    Place::Argument {
        text: argument.into(),
        path: path.into(),
    }
}

fn unplaced(text: &str) -> Node {
    Node {
        value: Value::Text(text.to_owned()),
        place: Place::Unplaced,
    }
}

/// An option and its value as one types them in a shell.
fn typed(option: &str, text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.,:/%+=[]@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        format!("{option} {text}")
    } else {
        format!("{option} '{text}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &Dumbbell) -> Result<(Scenario, Vec<Spec>, LimitParams)> {
        dumbbell(options, &|_, _| Ok(()))
    }

    fn options() -> Dumbbell {
        Dumbbell {
            flows: vec!["4*reno".to_owned()],
            ..Dumbbell::default()
        }
    }

    fn with(change: impl FnOnce(&mut Dumbbell)) -> Dumbbell {
        let mut options = options();
        change(&mut options);
        options
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn options_set_what_they_name() {
        let (base, queues, _) = read(&with(|o| {
            o.rate = text("2Mbps");
            o.reverse_rate = text("1Mbps");
            o.buffer = text("50p");
            o.duration = text("30s");
            o.seed = text("7");
            o.dialect = text("linux");
            o.record = text("backlog");
            o.deterministic = true;
            o.queues = vec!["codel target=9ms".to_owned(), "droptail".to_owned()];
            o.sets = vec!["flows.reno.rtt=100ms".to_owned()];
        }))
        .unwrap();
        let Topology::Dumbbell(topology) = &base.topology else {
            panic!("no dumbbell");
        };
        assert_eq!(topology.rate.to_string(), "2Mbps");
        assert_eq!(topology.reverse_rate.unwrap().to_string(), "1Mbps");
        assert_eq!(topology.queue.to_string(), "codel target=9ms");
        assert_eq!(queues[1].to_string(), "droptail");
        assert_eq!((base.run.seed, base.run.deterministic), (7, true));
        assert_eq!(base.run.duration.to_string(), "30s");
        assert_eq!(base.dialect.as_deref(), Some("linux"));
        assert_eq!(base.series.record, "backlog");
        assert_eq!(base.flows[0].place.rtt.unwrap().to_string(), "100ms");
    }

    #[test]
    fn a_rate_of_two_directions_sets_both() {
        for rate in [
            "50/10Mbps",
            "50Mbps/10Mbps",
            "50Mbps / 10Mbps",
            "50/10000kbps",
        ] {
            let (base, ..) = read(&with(|o| o.rate = text(rate))).unwrap();
            let Topology::Dumbbell(topology) = &base.topology else {
                panic!("no dumbbell");
            };
            let back = topology.reverse_rate.map(|rate| rate.to_string());
            assert_eq!(back.as_deref(), Some("10Mbps"), "{rate}");
            let there = if rate.ends_with("kbps") {
                "50kbps"
            } else {
                "50Mbps"
            };
            assert_eq!(topology.rate.to_string(), there, "{rate}");
        }
        let set = with(|o| o.sets = vec!["topology.rate=5/1Mbps".to_owned()]);
        assert_eq!(
            read(&set).unwrap().0.topology,
            read(&with(|o| o.rate = text("5/1Mbps")))
                .unwrap()
                .0
                .topology
        );
    }

    #[test]
    fn without_a_queue_the_default_runs() {
        let (_, queues, _) = read(&options()).unwrap();
        assert_eq!(queues, [Spec::new("droptail")]);
    }

    #[test]
    fn every_option_is_a_declared_parameter_or_the_dialect() {
        for (option, path) in OPTIONS {
            assert!(
                *path == "dialect" || parameter(option).is_some(),
                "{option}"
            );
        }
        assert_eq!(parameter("--rate").unwrap().default, "10Mbps");
    }

    #[test]
    fn mistakes_name_the_option() {
        let cases: [(Dumbbell, &str); 17] = [
            (
                with(|o| (o.rate, o.reverse_rate) = (text("50/10Mbps"), text("5Mbps"))),
                "--rate 50/10Mbps: \"50/10Mbps\" gives both directions, and --reverse-rate is given, too; leave out --reverse-rate, or write \"50Mbps\"",
            ),
            (
                with(|o| o.rate = text("50/0Mbps")),
                "--rate 50/0Mbps: \"0Mbps\" is out of range, allowed is at least 1bps",
            ),
            (
                with(|o| o.buffer = text("100/50p")),
                "--buffer 100/50p: \"100/50p\" has two directions, and buffer has one value; write one value, such as \"100p\"",
            ),
            (
                with(|o| o.rate = text("10")),
                "--rate 10: missing unit in \"10\": expected a rate such as 10Mbps",
            ),
            (
                with(|o| o.rate = text("0bps")),
                "--rate 0bps: \"0bps\" is out of range, allowed is at least 1bps",
            ),
            (
                with(|o| o.queues = vec!["codell".to_owned()]),
                "--queue codell: unknown queue discipline \"codell\", did you mean \"codel\"? See sojourn list queues",
            ),
            (
                with(|o| o.queues = vec!["codel target=5".to_owned()]),
                "--queue 'codel target=5': codel: target: missing unit in \"5\": expected a duration such as 5ms",
            ),
            (
                with(|o| o.queues = vec!["codel".to_owned(), "codel".to_owned()]),
                "--queue codel: this queue is given twice; leave one of the two out",
            ),
            (
                with(|o| o.flows = vec!["4*rino".to_owned()]),
                "--flow '4*rino': unknown kind of flow \"rino\", did you mean \"reno\"? See sojourn list flows",
            ),
            (
                with(|o| o.flows = vec!["reno start=90s".to_owned()]),
                "--flow 'reno start=90s': start: a start at 90s is not within the run of 60s; start earlier, or make --duration longer",
            ),
            (
                with(|o| o.flows.clear()),
                "--flow: at least one flow is needed; add --flow 4*reno, say",
            ),
            (
                with(|o| (o.duration, o.warmup) = (text("3s"), text("5s"))),
                "--warmup 5s: the warmup, 5s, leaves nothing of the duration, 3s, to measure; make --warmup shorter, such as \"0s\", or --duration longer",
            ),
            (
                with(|o| o.buffer = text("0p")),
                "--buffer 0p: \"0p\" is out of range, allowed is at least 1p",
            ),
            (
                with(|o| o.dialect = text("linx")),
                "--dialect linx: droptail, in --queue, has no dialect \"linx\", did you mean \"linux\"? (dialects: fifo, linux, linux_head, ns2, ns3, ns3_24); give this one a dialect of its own, such as \"droptail dialect=fifo\"",
            ),
            (
                with(|o| o.sets = vec!["topology.rat=1Mbps".to_owned()]),
                "--set topology.rat=1Mbps: unknown key, did you mean \"rate\"? (allowed: kind, rate, reverse_rate, rtt, bottleneck_delay, access_delay, access_rate, buffer, queue, reverse_queue, access_queue, pairs)",
            ),
            (
                with(|o| o.sets = vec!["topology.rate".to_owned()]),
                "--set topology.rate: there is no \"=\" in it; write --set topology.rate=10Mbps, say",
            ),
            (
                with(|o| o.sets = vec!["topology.kind=chain".to_owned()]),
                "--set: the topology is a dumbbell here; write a scenario file for another topology",
            ),
        ];
        for (options, expected) in cases {
            assert_eq!(read(&options).unwrap_err().to_string(), expected);
        }
    }
}
