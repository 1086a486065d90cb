//! The space of a search: a scenario, and what of it varies between which values.

use sojourn_scenario::document::{Document, Node, Value};
use sojourn_scenario::error::{LabError, LabErrorKind, Place, Result};

use crate::map::Axis;
use crate::range::{Range, is_no_quantity};
use crate::study::{Choice, varied};

/// Factors that a space has at most.
const MOST_SIDES: usize = 32;

/// A scenario, and what of it varies.
#[derive(Clone, Debug)]
pub struct Space {
    /// What it is called.
    pub(super) name: String,
    pub(super) base: Document,
    pub(super) sides: Vec<Side>,
}

/// A factor of a search.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) name: String,
    paths: Vec<String>,
    values: Values,
    /// As it was given, for messages.
    argument: String,
}

#[derive(Clone, Debug)]
enum Values {
    Range(Range),
    /// Texts, each of which goes to every path.
    Texts(Vec<String>),
    /// Levels of a factor of a study.
    Levels(Choice, Vec<String>),
}

impl Side {
    /// How many values it chooses from; `None` for a range.
    pub(super) fn levels(&self) -> Option<usize> {
        match &self.values {
            Values::Range(_) => None,
            Values::Texts(all) | Values::Levels(_, all) => Some(all.len()),
        }
    }

    /// Whether a text, as a scenario has it, is one of the values.
    pub(super) fn holds(&self, text: &str) -> bool {
        match &self.values {
            Values::Range(range) => range.holds(text),
            Values::Texts(all) | Values::Levels(_, all) => all.iter().any(|own| own == text),
        }
    }

    fn level(&self, share: f64, count: usize) -> usize {
        let mut level = 0;
        // The part of the unit interval that the share is in.
        while level + 1 < count && share >= Side::share_of(level + 1, count) {
            level += 1;
        }
        level
    }

    /// Where the part of a level begins.
    fn share_of(level: usize, count: usize) -> f64 {
        let number =
            |count: usize| sojourn_results::stats::to_f64(u64::try_from(count).unwrap_or(u64::MAX));
        number(level) / number(count.max(1))
    }

    /// The middle of the part of a level.
    pub(super) fn middle_of(level: usize, count: usize) -> f64 {
        f64::midpoint(
            Side::share_of(level, count),
            Side::share_of(level + 1, count),
        )
    }

    /// The value at a share of the way, as a scenario has it: what is shown is what runs.
    pub(super) fn text(&self, share: f64) -> String {
        match &self.values {
            Values::Range(range) => range.label_of(range.at(share)),
            Values::Texts(all) | Values::Levels(_, all) => {
                all[self.level(share, all.len())].clone()
            }
        }
    }

    /// Sets the value at a share of the way.
    fn set(&self, document: &mut Document, share: f64) -> Result<()> {
        if let Values::Levels(choice, all) = &self.values {
            return choice.set_level(document, self.level(share, all.len()));
        }
        let text = self.text(share);
        self.paths
            .iter()
            .try_for_each(|path| document.set_argument(path, &text, &self.argument))
    }

    fn ranged(name: &str, paths: &[&str], (low, high, log): (&str, &str, bool)) -> Side {
        let values = match Range::of(low, high, log) {
            Ok(range) => Values::Range(range),
            // The spaces here are correct; a test reads them all.
            Err(_) => Values::Texts(vec![low.to_owned(), high.to_owned()]),
        };
        Side::of(name, paths, values)
    }

    fn listed(name: &str, paths: &[&str], texts: &[&str]) -> Side {
        let texts = texts.iter().map(|text| (*text).to_owned());
        Side::of(name, paths, Values::Texts(texts.collect()))
    }

    fn of(name: &str, paths: &[&str], values: Values) -> Side {
        Side {
            name: name.to_owned(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            values,
            argument: format!("the factor {name}"),
        }
    }
}

/// Single queues that AQM and congestion controls meet most; they mark packets that can be marked.
const QUEUES: [&str; 4] = ["droptail", "red ecn=true", "codel ecn=true", "pie ecn=true"];
/// Congestion controls that a queue is tried with.
const CONTROLS: [&str; 4] = ["reno", "cubic", "bbr", "bbr3"];

impl Space {
    /// Two congestion controls at one bottleneck: `first` and `second` as entries of `flows` have them. The flows are called by their
    /// kinds, or `first` and `second` where these are the same. A `label` or a `start` that one has is kept, and such a start does not
    /// vary.
    ///
    /// # Errors
    /// When one of them names no kind, or gives the number of flows, which is a factor.
    pub fn of_pair(first: &str, second: &str) -> Result<Space> {
        let texts = [("--cc", first), ("--against", second)];
        let kinds = [one_flow(texts[0])?, one_flow(texts[1])?];
        let own = match kinds[0] == kinds[1] {
            true => ["first", "second"],
            false => kinds,
        };
        let mut base = document(&texts, ["60s", "25s"])?;
        for (at, (_, text)) in texts.into_iter().enumerate() {
            if given(text, "label").is_none() {
                base.set(&format!("flows[{at}].label"), own[at])?;
            }
            if given(text, "start").is_none() {
                base.set(&format!("flows[{at}].start"), "0s")?;
            }
            base.set(&format!("flows[{at}].count"), "1")?;
        }
        let mut sides = network(("2Mbps", "100Mbps"));
        sides.push(Side::listed("queue", &["topology.queue"], &QUEUES));
        sides.push(loss());
        sides.push(Side::ranged(
            "flows",
            &["flows[0].count", "flows[1].count"],
            ("1", "4", false),
        ));
        for (at, name) in ["first_start", "second_start"].into_iter().enumerate() {
            if given(texts[at].1, "start").is_none() {
                let path = format!("flows[{at}].start");
                sides.push(Side::ranged(name, &[&path], ("0s", "10s", false)));
            }
        }
        Ok(Space {
            name: format!("{} against {}", kinds[0], kinds[1]),
            base,
            sides,
        })
    }

    /// One queue at a bottleneck, under flows of several congestion controls.
    ///
    /// # Errors
    /// When the queue cannot be read.
    pub fn of_queue(queue: &str) -> Result<Space> {
        let mut base = document(&[("the flows of the search", "cubic")], ["30s", "10s"])?;
        base.set_node(
            "topology.queue",
            argument("--queue", queue, "topology.queue"),
        )?;
        base.set("flows[0].count", "1")?;
        let mut sides = network(("2Mbps", "100Mbps"));
        sides.push(loss());
        sides.push(Side::listed("control", &["flows[0].kind"], &CONTROLS));
        sides.push(Side::ranged(
            "flows",
            &["flows[0].count"],
            ("1", "32", true),
        ));
        Ok(Space {
            name: queue.to_owned(),
            base,
            sides,
        })
    }

    /// What the factors of an experiment vary, the first unless it is named. A file without experiments varies nothing yet:
    /// [`Space::vary`].
    ///
    /// # Errors
    /// When an experiment cannot be read, or there is none of that name.
    pub fn of_document(name: &str, document: &Document, experiment: Option<&str>) -> Result<Space> {
        let (base, factors) = varied(document, experiment)?;
        let side = |(name, choice): (String, Choice)| {
            let paths = choice.paths();
            let values = match choice {
                Choice::Range { range, .. } => Values::Range(range),
                Choice::Levels { ref labels, .. } => {
                    let labels = labels.clone();
                    Values::Levels(choice, labels)
                }
            };
            Side {
                argument: format!("the factor {name}"),
                name,
                paths,
                values,
            }
        };
        Ok(Space {
            name: name.to_owned(),
            base,
            sides: factors.into_iter().map(side).collect(),
        })
    }

    /// Sets a value in every place; a factor that sets the same is left out.
    ///
    /// # Errors
    /// When there is no `=` in it, the path leads nowhere, or each value of a factor would replace what it sets.
    pub fn fix(&mut self, text: &str) -> Result<()> {
        let argument = format!("--set {}", sojourn_report::shell_word(text));
        let Some((path, value)) = text.split_once('=') else {
            let error = LabError::new(LabErrorKind::BadValue, "there is no \"=\" in it");
            let error = error.in_file(&argument);
            return Err(error.remedy("write --set run.duration=60s, say"));
        };
        let (path, value) = (path.trim(), value.trim());
        let set_here = |own: &String| own == path || begins(own, path);
        // A factor that sets more than this would set it again.
        let meets = |side: &&Side| {
            let any = (side.paths.iter()).any(|own| set_here(own) || begins(path, own));
            any && !side.paths.iter().all(set_here)
        };
        if let Some(side) = self.sides.iter().find(meets) {
            let name = &side.name;
            let problem = format!("each value of the factor {name} replaces what it sets");
            let error = LabError::new(LabErrorKind::Contradiction, problem).in_file(&argument);
            return Err(error.remedy(format!(
                "fix the factor with --range {name}=VALUE, or write it in the values of --range"
            )));
        }
        self.base.set_argument(path, value, &argument)?;
        self.sides.retain(|side| !side.paths.iter().all(set_here));
        Ok(())
    }

    /// Takes up a factor, or gives a known one other values: `rate=1..100Mbps:log`, `queue=codel|pie` or, for one value,
    /// `loss=0`. The name is that of a factor, a short name as `sojourn map` has it, or a path.
    ///
    /// # Errors
    /// When it is not of that form, or there is no such quantity.
    pub fn vary(&mut self, text: &str) -> Result<()> {
        let argument = format!("--range {}", sojourn_report::shell_word(text));
        let wrong = |problem: &str| {
            LabError::new(LabErrorKind::BadValue, problem)
                .in_file(&argument)
                .remedy("write a range, --range rate=1..100Mbps:log, or values, --range 'queue=codel|pie'")
        };
        let (name, values) = text
            .split_once('=')
            .ok_or_else(|| wrong("a range is missing"))?;
        let (name, values) = (name.trim(), values.trim());
        let known = self.sides.iter().position(|side| side.name == name);
        let own = known.map(|at| self.sides[at].paths.clone());
        let is_range = values.contains("..") && !values.contains('|');
        let side = if is_range {
            let first = own.as_ref().and_then(|paths| paths.first());
            let asked = first.map_or_else(|| text.to_owned(), |path| format!("{path}={values}"));
            if own.is_none() && name.contains(['.', '[']) {
                self.path_of(name, &argument)?;
            }
            let axis = Axis::read("--range", &asked)
                .map_err(|error| self.with_factors(error.in_file(&argument)))?;
            let paths = own.unwrap_or_else(|| vec![axis.path().to_owned()]);
            Side {
                name: name.to_owned(),
                paths,
                values: Values::Range(axis.range().clone()),
                argument,
            }
        } else {
            let all: Vec<String> = values.split('|').map(|v| v.trim().to_owned()).collect();
            if all.iter().any(String::is_empty) {
                return Err(wrong("one of the values is empty"));
            }
            if let Some((at, twice)) =
                (all.iter().enumerate()).find(|(at, value)| all[..*at].contains(value))
            {
                return Err(wrong(&format!("value {} is {twice:?} again", at + 1)));
            }
            let paths = match own {
                Some(paths) => paths,
                None => vec![self.path_of(name, &argument)?],
            };
            Side {
                name: name.to_owned(),
                paths,
                values: Values::Texts(all),
                argument,
            }
        };
        // One that sets the same, under another name, gives way.
        let paths = side.paths.clone();
        let meets = |other: &Side| {
            let same = |one: &String| {
                (paths.iter()).any(|own| own == one || begins(own, one) || begins(one, own))
            };
            other.name == side.name || other.paths.iter().any(same)
        };
        let at = self.sides.iter().position(meets);
        self.sides.retain(|other| !meets(other));
        match side.levels() {
            Some(1) => side.set(&mut self.base, 0.0)?,
            _ => self
                .sides
                .insert(at.unwrap_or(self.sides.len()).min(self.sides.len()), side),
        }
        Ok(())
    }

    /// The path of a name whose values are listed.
    fn path_of(&self, name: &str, argument: &str) -> Result<String> {
        let path = match name {
            "queue" => "topology.queue".to_owned(),
            name if name.contains(['.', '[']) => name.to_owned(),
            // The range says nothing; only the path is read.
            name => match Axis::read("--range", &format!("{name}=1..2")) {
                Ok(axis) => axis.path().to_owned(),
                Err(error) => return Err(self.with_factors(error.in_file(argument))),
            },
        };
        match is_no_quantity(&path) {
            None => Ok(path),
            Some(reason) => {
                let problem = format!("{path} is no factor of a search: {reason}");
                let error = LabError::new(LabErrorKind::BadValue, problem).in_file(argument);
                Err(error.remedy("name a quantity of the scenario, such as rate, rtt or queue"))
            }
        }
    }

    /// The error with the names of the factors, which `--range` takes, too.
    fn with_factors(&self, error: LabError) -> LabError {
        if error.kind() != LabErrorKind::UnknownName || self.sides.is_empty() {
            return error;
        }
        let names: Vec<&str> = self.sides.iter().map(|side| side.name.as_str()).collect();
        error.allowed("factors of this search", names.join(", "))
    }

    /// Refuses a space in which nothing varies, or too much does.
    pub(super) fn check(&self) -> Result<()> {
        if self.sides.is_empty() {
            let problem = "nothing varies: no factor is left to search over";
            return Err(LabError::new(LabErrorKind::MissingKey, problem)
                .in_file("--range")
                .remedy("add --range rate=1..100Mbps:log --range buffer=0.25..4bdp:log, say"));
        }
        if self.sides.len() > MOST_SIDES {
            let problem = format!("{} factors vary", self.sides.len());
            return Err(LabError::new(LabErrorKind::BadValue, problem)
                .in_file("--range")
                .remedy(format!("search over at most {MOST_SIDES} factors at once")));
        }
        Ok(())
    }

    /// Refuses a listed value that no place could have, such as the misspelt name of a queue, by what `read` says of places that have it.
    /// A value that only some other value excludes is left to the search.
    pub(super) fn check_lists(&self, read: impl Fn(&Document) -> Result<()>) -> Result<()> {
        for (at, side) in self.sides.iter().enumerate() {
            let Values::Texts(all) = &side.values else {
                continue;
            };
            for level in 0..all.len() {
                let mut place = vec![0.5; self.sides.len()];
                place[at] = Side::middle_of(level, all.len());
                let own = self.document(&place).and_then(|document| read(&document));
                if let Err(error) = own
                    && is_misspelt(error.kind())
                {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The values at a place, as texts.
    pub(super) fn texts(&self, place: &[f64]) -> Vec<String> {
        let each = self.sides.iter().zip(place);
        each.map(|(side, share)| side.text(*share)).collect()
    }

    /// What runs at a place.
    pub(super) fn document(&self, place: &[f64]) -> Result<Document> {
        self.document_of(place, &vec![true; self.sides.len()])
    }

    /// What runs at a place where only some factors have its values, and the others those of the scenario without a search: its own, or
    /// the first level of a factor of a study that lists some.
    pub(super) fn document_of(&self, place: &[f64], kept: &[bool]) -> Result<Document> {
        let mut document = self.base.clone();
        for ((side, share), kept) in self.sides.iter().zip(place).zip(kept) {
            match (&side.values, kept) {
                (_, true) => side.set(&mut document, *share)?,
                (Values::Levels(choice, _), false) => choice.set_level(&mut document, 0)?,
                (_, false) => {}
            }
        }
        Ok(document)
    }

    /// What runs without a search.
    pub(super) fn default_document(&self) -> Result<Document> {
        let none = vec![false; self.sides.len()];
        self.document_of(&vec![0.0; none.len()], &none)
    }

    /// The values of the factors in a document; empty where it leaves one to a default.
    pub(super) fn found(&self, document: &Document) -> Vec<String> {
        let found = |side: &Side| {
            if let Values::Levels(_, all) = &side.values {
                return all.first().cloned().unwrap_or_default();
            }
            let path = side.paths.first().map(String::as_str).unwrap_or_default();
            let value = document.get(path).ok().flatten();
            match value {
                None => String::new(),
                Some(value) => value
                    .scalar()
                    .or_else(|_| value.spec().map(|spec| spec.to_string()))
                    .unwrap_or_default(),
            }
        };
        self.sides.iter().map(found).collect()
    }
}

/// Whether an error is about a text that means nothing, wherever it stands.
fn is_misspelt(kind: LabErrorKind) -> bool {
    use LabErrorKind::{Syntax, UnknownKey, UnknownName, WrongType};
    matches!(kind, Syntax | UnknownKey | UnknownName | WrongType)
}

/// The kind that an entry of `flows` names, without the number of flows.
fn one_flow<'a>((option, text): (&str, &'a str)) -> Result<&'a str> {
    let typed = format!("{option} {}", sojourn_report::shell_word(text));
    let wrong = |kind, problem: &str| LabError::new(kind, problem).in_file(&typed);
    let Some(kind) = text.split_whitespace().next() else {
        let error = wrong(LabErrorKind::BadValue, "no congestion control is named");
        return Err(error.remedy(format!("write {option} cubic, say")));
    };
    let count = match kind.split_once('*') {
        Some((count, _)) => Some(count),
        None => given(text, "count"),
    };
    match count {
        None => Ok(kind),
        Some(count) => {
            let problem = "the number of flows is a factor of the search, flows: as many of each";
            let error = wrong(LabErrorKind::Contradiction, problem);
            Err(error.remedy(format!(
                "leave it out, and add --range flows={count} to fix it"
            )))
        }
    }
}

/// What an entry of `flows` gives for a key.
fn given<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let pairs = text
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    pairs
        .into_iter()
        .find(|(own, _)| *own == key)
        .map(|(_, value)| value)
}

/// Whether one path lies in what another one leads to.
fn begins(inner: &str, outer: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// The rate, the round-trip time and the buffer of a dumbbell.
fn network((low, high): (&str, &str)) -> Vec<Side> {
    vec![
        Side::ranged("rate", &["topology.rate"], (low, high, true)),
        Side::ranged("rtt", &["topology.rtt"], ("5ms", "200ms", true)),
        Side::ranged("buffer", &["topology.buffer"], ("0.1bdp", "8bdp", true)),
    ]
}

fn loss() -> Side {
    Side::ranged("loss", &["impairments[0].loss"], ("0%", "1%", false))
}

fn argument(option: &str, text: &str, path: &str) -> Node {
    let typed = format!("{option} {}", sojourn_report::shell_word(text));
    Node {
        value: Value::Text(text.to_owned()),
        place: Place::Argument {
            text: typed.into(),
            path: path.into(),
        },
    }
}

/// A dumbbell without flows yet, and a place for losses: the point from which a search departs. Flows that start at given times have
/// nothing random in them, so that fresh runs would be the same run; a little jitter is.
const BASE: &str = r#"name = "worst"
flows = []
impairments = [{ link = "left-right", loss = "0%", jitter = "100us" }]
[topology]
rate = "10Mbps"
rtt = "40ms"
buffer = "1bdp"
queue = "droptail"
[run]
"#;

/// The dumbbell with some flows, each with the option that gave it.
fn document(flows: &[(&str, &str)], [duration, warmup]: [&str; 2]) -> Result<Document> {
    let mut document = Document::parse(BASE, "sojourn worst")?;
    document.set("run.duration", duration)?;
    document.set("run.warmup", warmup)?;
    let each = flows.iter().enumerate();
    let each = each.map(|(at, (option, text))| argument(option, text, &format!("flows[{at}]")));
    let flows = Node {
        value: Value::List(each.collect()),
        place: Place::Unplaced,
    };
    document.set_node("flows", flows)?;
    Ok(document)
}
