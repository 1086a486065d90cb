//! Flows in scenarios: what an entry gives, where and when it runs, and whether it can be built.

use std::collections::BTreeSet;
use std::path::Path;

use sojourn_traffic::media::RTP;
use sojourn_traffic::registry as sources;
use sojourn_traffic::srm::SRM;
use sojourn_traffic::workload;
use sojourn_units::{FlowSpec, Kind, PAPER, ParamError, Params, Span, build, nearest};

use super::Reader;
use super::kinds::{self, known_flow_kind};
use crate::dialect::fallback;
use crate::document::{Value, ValueRef};
use crate::error::{LabError, LabErrorKind, Result};
use crate::model::{FlowGroup, LinkParams, PlaceParams, RunParams, Topology};
use crate::words::{OVER, reserved};

impl<'a> Reader<'a> {
    pub(super) fn flows(&mut self, topology: &Topology, run: &RunParams) -> Result<Vec<FlowGroup>> {
        let remedy = "write flows = [\"4*reno\"], or [[flows]] with kind = \"reno\"";
        let Some(value) = self.root.get("flows") else {
            return Err(self.root.missing("flows", remedy));
        };
        let values = value.list("flows = [\"4*reno\"] or [[flows]] for each")?;
        if values.is_empty() {
            return Err(value
                .error(LabErrorKind::MissingKey, "at least one flow is needed")
                .remedy(remedy));
        }
        let mut flows = Vec::new();
        for value in &values {
            flows.push(self.flow(value, topology, run)?);
        }
        Ok(flows)
    }

    fn flow(
        &mut self,
        value: &ValueRef<'a>,
        topology: &Topology,
        run: &RunParams,
    ) -> Result<FlowGroup> {
        let given = Given::of(value)?;
        if let Err(unknown) = known_flow_kind(&given.kind) {
            return Err(unknown
                .in_file(self.document.file())
                .at(given.kind_value.place())
                .key(given.kind_value.path()));
        }
        let is_place = |key: &str| PlaceParams::TABLE.iter().any(|info| info.name == key);
        let (place, args): (Vec<_>, Vec<_>) = given
            .pairs
            .iter()
            .map(|(key, text, _)| (key.clone(), text.clone()))
            .partition(|(key, _)| is_place(key));
        let args = self.with_files(&given, args)?;
        let place: PlaceParams = build(None, &place)
            .map_err(|error| given.error_on(error.key(), &LabError::from_param(&error)))?;
        let group = FlowGroup {
            kind: given.kind.clone(),
            args,
            place,
        };
        label(&given, &group.place)?;
        self.placed(&given, &group, topology, run)?;
        self.endpoints(&given, &group)?;
        Ok(group)
    }

    /// The parameters of a workload, and the source of another flow, with the content of the files that they name.
    fn with_files(
        &self,
        given: &Given<'a>,
        args: Vec<(String, String)>,
    ) -> Result<Vec<(String, String)>> {
        let workload = workload::find(&given.kind).is_some();
        let read = |(key, text): (String, String)| {
            if !workload && key != "source" {
                return Ok((key, text));
            }
            let Some((spec, file)) = workload::file_of(&text) else {
                return Ok((key, text));
            };
            let path = Path::new(self.document.file()).with_file_name(&file);
            let content = (self.files)(&path).map_err(|error| {
                let error = LabError::io(&path, "read the file", &error);
                given.error_on(&key, &error)
            })?;
            let spec = workload::inline(&key, &spec, &content).map_err(|problem| {
                let problem = format!("{file}: {problem}");
                given.error_on(&key, &LabError::new(LabErrorKind::BadValue, problem))
            })?;
            Ok((key, format!("({spec})")))
        };
        args.into_iter().map(read).collect()
    }

    /// Checks the parameters of what runs.
    fn endpoints(&mut self, given: &Given<'a>, group: &FlowGroup) -> Result<()> {
        let own = group.args.iter().any(|(key, _)| key == "dialect");
        match kinds::try_flow(&group.kind, &group.args, self.dialect, false) {
            Ok(built) => {
                for (name, part) in &built.parts {
                    if self.dialect == Some(PAPER) && !own && part.release != PAPER {
                        self.note(fallback(name, part.release));
                    }
                }
                Ok(())
            }
            Err(ParamError::UnknownDialect { allowed, .. }) if !own && self.root.has("dialect") => {
                let names: Vec<&str> = allowed.iter().map(|names| names.0).collect();
                Err(self.lacks_dialect(&group.kind, given.whole.path(), &names))
            }
            Err(ParamError::UnknownKey { key, allowed, .. }) => {
                let mut names: Vec<&str> =
                    PlaceParams::TABLE.iter().map(|info| info.name).collect();
                names.extend(allowed);
                let error = LabError::new(LabErrorKind::UnknownKey, "unknown key");
                let error = match key == "rate" && names.contains(&"source") {
                    true => error.remedy(
                        "a transfer is as fast as its window allows; for what is written at a rate say source=(cbr rate=2Mbps)",
                    ),
                    false => error.nearest(nearest(&key, names.iter().copied())),
                };
                Err(given.error_on(&key, &error.allowed("allowed", names.join(", "))))
            }
            Err(error) => Err(given.error_on(error.key(), &LabError::from_param(&error))),
        }
    }

    /// Checks where and when a flow runs.
    fn placed(
        &self,
        given: &Given<'a>,
        group: &FlowGroup,
        topology: &Topology,
        run: &RunParams,
    ) -> Result<()> {
        let place = &group.place;
        self.starts_and_stops(given, place, run)?;
        own_round_trip(given, place, topology)?;
        if let Topology::Graph(links) = topology {
            self.ends_of_graph(given, place, links)?;
        }
        both_ends(given, place)?;
        self.to_group(given, place)?;
        if place.from.is_some() && place.from == place.to {
            let problem = "the sender and the receiver are the same node".to_owned();
            return given.refuse("to", problem, "name two nodes");
        }
        Ok(())
    }

    /// Checks that the flows of an entry start within the run, and stop after they start.
    fn starts_and_stops(
        &self,
        given: &Given<'a>,
        place: &PlaceParams,
        run: &RunParams,
    ) -> Result<()> {
        if let Some(start) = place.start
            && start >= run.duration
        {
            let problem = format!(
                "a start at {start} is not within the run of {}",
                run.duration
            );
            return given.refuse(
                "start",
                problem,
                "start earlier, or make run.duration longer",
            );
        }
        let last = place.stagger.checked_mul(place.count.saturating_sub(1));
        let last = last.and_then(|last| last.checked_add(place.start.unwrap_or(Span::ZERO)));
        if last.is_none_or(|last| last >= run.duration) {
            let problem = format!(
                "{} flows that start {} apart do not all start within the run of {}",
                place.count, place.stagger, run.duration
            );
            let remedy = "start them closer, or make run.duration longer";
            return given.refuse("stagger", problem, remedy);
        }
        if place.start.is_none() && !run.deterministic && run.start_spread >= run.duration {
            let problem = format!(
                "flows start at random within {}, but the run ends at {}",
                run.start_spread, run.duration
            );
            let table = self.root.table("run")?;
            let table = table.as_ref().unwrap_or(&self.root);
            let key = match table.has("start_spread") {
                true => "start_spread",
                false => "duration",
            };
            return Err(table
                .error_on(key, LabErrorKind::Contradiction, problem)
                .remedy("make run.start_spread shorter, or run.duration longer"));
        }
        if let Some(stop) = place.stop
            && stop <= place.start.unwrap_or(Span::ZERO)
        {
            let problem = format!("a stop at {stop} is not after the start");
            return given.refuse("stop", problem, "stop later, or start earlier");
        }
        if place.stagger > Span::ZERO && place.start.is_none() && !run.deterministic {
            let problem = "stagger counts from the start, which is not given".to_owned();
            return given.refuse("stagger", problem, "add start = \"0s\"");
        }
        Ok(())
    }

    /// Checks that a graph has the nodes of a flow.
    fn ends_of_graph(
        &self,
        given: &Given<'a>,
        place: &PlaceParams,
        links: &[LinkParams],
    ) -> Result<()> {
        let nodes: BTreeSet<&str> = links
            .iter()
            .flat_map(|link| [link.from.as_str(), link.to.as_str()])
            .collect();
        for (key, node) in [("from", &place.from), ("to", &place.to)] {
            let Some(node) = node else {
                let error = LabError::new(
                    LabErrorKind::MissingKey,
                    "this key is required in a graph",
                )
                .remedy("name the node of the sender with from and that of the receiver with to");
                return Err(given.error_on(key, &error));
            };
            if key == "to" && self.groups.contains(node) {
                continue;
            }
            if !nodes.contains(node.as_str()) {
                let groups = self.groups.iter().filter(|_| key == "to");
                let names: Vec<&str> = nodes
                    .iter()
                    .copied()
                    .chain(groups.map(String::as_str))
                    .collect();
                let error = LabError::new(
                    LabErrorKind::UnknownName,
                    format!("no link has a node {node:?}"),
                )
                .nearest(nearest(node, names.iter().copied()))
                .allowed("nodes", names.join(", "));
                return Err(given.error_on(key, &error));
            }
        }
        Ok(())
    }

    /// Checks that what is sent to a multicast group can be, and that what needs a group has one.
    fn to_group(&self, given: &Given<'a>, place: &PlaceParams) -> Result<()> {
        if let Some(group) = &place.to
            && self.groups.contains(group)
            && !kinds::may_be_to_group(&given.kind)
        {
            let problem = format!("{} has one receiver, and {group:?} is a group", given.kind);
            return given.refuse(
                "to",
                problem,
                "name a node, or send datagrams, such as kind = \"cbr\"",
            );
        }
        let to_group = |group: &String| self.groups.contains(group);
        if given.kind == SRM && !place.to.as_ref().is_some_and(to_group) {
            let problem = "srm is sent to a multicast group".to_owned();
            return given.refuse("to", problem, "name one of [[groups]]");
        }
        if given.kind == SRM && place.count > 1 {
            let problem = "a group has one srm session".to_owned();
            return given.refuse("count", problem, "leave it out, and add groups");
        }
        Ok(())
    }
}

/// Checks that a flow has a round trip of its own only where it can.
fn own_round_trip(given: &Given<'_>, place: &PlaceParams, topology: &Topology) -> Result<()> {
    match (place.rtt, topology) {
        (None, _) => {}
        (Some(rtt), Topology::Dumbbell(params)) => {
            let (bottleneck, _) = params.delays();
            if rtt / 2 < bottleneck {
                let problem = format!(
                    "a round trip of {rtt} is shorter than the bottleneck, {bottleneck} each way"
                );
                return given.refuse(
                    "rtt",
                    problem,
                    "make it longer, or topology.bottleneck_delay shorter",
                );
            }
        }
        (Some(_), _) => {
            let problem = "a flow has a round trip of its own only over a dumbbell".to_owned();
            return given.refuse("rtt", problem, "leave it out, and set delays of links");
        }
    }
    Ok(())
}

/// Checks that both ends of a flow are named, or neither.
fn both_ends(given: &Given<'_>, place: &PlaceParams) -> Result<()> {
    let lone = match (&place.from, &place.to) {
        (Some(_), None) => Some("from"),
        (None, Some(_)) => Some("to"),
        _ => None,
    };
    if let Some(key) = lone {
        let problem = "one end is given, the other is not".to_owned();
        return given.refuse(
            key,
            problem,
            "name the nodes of both from and to, or of neither",
        );
    }
    Ok(())
}

/// What a flow's entry gives, from a text, a table, or a table with a text in it.
struct Given<'a> {
    kind: String,
    kind_value: ValueRef<'a>,
    pairs: Vec<(String, String, ValueRef<'a>)>,
    whole: ValueRef<'a>,
}

impl<'a> Given<'a> {
    fn of(value: &ValueRef<'a>) -> Result<Given<'a>> {
        if let Value::Text(_) = value.node().value {
            let mut given = Given {
                kind: String::new(),
                kind_value: value.clone(),
                pairs: Vec::new(),
                whole: value.clone(),
            };
            given.spec(value)?;
            return Ok(given);
        }
        let shape = "write \"4*reno\", or { kind = \"reno\", count = 4 }";
        if !matches!(value.node().value, Value::Table(_)) {
            return Err(value.wrong_type("a flow", shape));
        }
        let table = value.table(shape)?;
        let remedy = "say what runs, such as kind = \"reno\", or spec = \"4*reno\"";
        let kind_value = match (table.get("kind"), table.get("spec")) {
            (Some(kind), None) => kind,
            (None, Some(spec)) => spec,
            (None, None) => return Err(table.missing("kind", remedy)),
            (Some(_), Some(spec)) => {
                return Err(spec
                    .error(
                        LabErrorKind::Contradiction,
                        "kind and spec both say what runs",
                    )
                    .remedy("keep one of them"));
            }
        };
        let mut given = Given {
            kind: String::new(),
            kind_value: kind_value.clone(),
            pairs: Vec::new(),
            whole: value.clone(),
        };
        if table.has("spec") {
            given.spec(&kind_value)?;
        } else {
            kind_value.text()?.clone_into(&mut given.kind);
        }
        for (key, value) in table.values() {
            if key == "kind" || key == "spec" {
                continue;
            }
            if given.pairs.iter().any(|(other, _, _)| other == key) {
                return Err(value
                    .error(
                        LabErrorKind::Contradiction,
                        format!("{key} is given here and in the specification"),
                    )
                    .remedy("keep one of them"));
            }
            let text = match &value.node().value {
                Value::Table(_) => format!("({})", value.spec()?),
                Value::List(_) => value.argument(&Kind::Text)?,
                _ => value.scalar()?,
            };
            given.pairs.push((key.to_owned(), text, value));
        }
        Ok(given)
    }

    /// Takes what a specification on one line says.
    fn spec(&mut self, value: &ValueRef<'a>) -> Result<()> {
        let flow: FlowSpec = value
            .text()?
            .parse()
            .map_err(|error: sojourn_units::SpecError| {
                let problem = named_twice(&error).unwrap_or_else(|| error.to_string());
                value.error(LabErrorKind::BadValue, problem)
            })?;
        self.kind.clone_from(&flow.name);
        let mut given: Vec<(String, String)> = Vec::new();
        if flow.count != 1 {
            given.push(("count".to_owned(), flow.count.to_string()));
        }
        if let Some(rate) = flow.rate {
            given.push(("rate".to_owned(), rate.to_string()));
        }
        for (key, text) in flow.pairs() {
            if given.iter().any(|(other, _)| *other == key) {
                let problem = format!("{key} is given twice in {:?}", value.text()?);
                return Err(value
                    .error(LabErrorKind::Contradiction, problem)
                    .remedy("keep one of them"));
            }
            given.push((key, text));
        }
        let pairs = given
            .into_iter()
            .map(|(key, text)| (key, text, value.clone()));
        self.pairs.extend(pairs);
        Ok(())
    }

    /// Refuses the value of a key because of another one.
    fn refuse(&self, key: &str, problem: String, remedy: &str) -> Result<()> {
        let error = LabError::new(LabErrorKind::Contradiction, problem).remedy(remedy);
        Err(self.error_on(key, &error))
    }

    /// An error about a key of the flow, or of a specification that is the value of one (`source.codec`), at the place where it is
    /// given.
    fn error_on(&self, key: &str, error: &LabError) -> LabError {
        let (first, inner) = match key.split_once('.') {
            Some((first, inner)) => (first, Some(inner)),
            None => (key, None),
        };
        let found = self.pairs.iter().find(|(other, _, _)| other == first);
        let (value, whole) = match found {
            Some((_, _, value)) => (value, value.path() == self.kind_value.path()),
            None => (&self.whole, true),
        };
        let path = match (whole, inner) {
            (true, _) => format!("{}.{key}", self.whole.path()),
            (false, Some(inner)) => format!("{}.{inner}", value.path()),
            (false, None) => value.path().to_owned(),
        };
        // A table within has a place for each of its keys.
        let table = inner.filter(|_| !whole).and_then(|inner| {
            let table = value.table("a table").ok()?;
            table.get(inner)
        });
        let value = table.as_ref().unwrap_or(value);
        value.error(error.kind(), "").with_text_of(error).key(path)
    }
}

/// Refuses a label by which tables and figures could not ask for the flows.
fn label(given: &Given<'_>, place: &PlaceParams) -> Result<()> {
    let Some(label) = &place.label else {
        return Ok(());
    };
    let (problem, remedy) = if label.trim() != label || label.is_empty() {
        let problem = format!("{label:?} is not a label");
        (problem, "write it without spaces around, and not empty")
    } else if reserved().any(|word| word == label) || label.contains(OVER) {
        let problem =
            format!("{label:?} means something else where a study says of what a metric is");
        (problem, "give the flows another label")
    } else {
        return Ok(());
    };
    let error = LabError::new(LabErrorKind::BadValue, problem).remedy(remedy);
    let mut taken: Vec<&str> = reserved().collect();
    taken.push("what has \" over \" in it");
    let error = error.allowed("any text but", taken.join(", "));
    Err(given.error_on("label", &error))
}

/// What to write for a flow with the name of its transport before its own: `cubic` for `tcp cubic`.
fn named_twice(error: &sojourn_units::SpecError) -> Option<String> {
    let (before, name) = error.lone_word()?;
    known_flow_kind(name).ok()?;
    let given = error.given().trim();
    if before == RTP && sources::find(name).is_some() {
        let (front, source) = given.split_once(&format!("{RTP} "))?;
        let text = format!("{front}{RTP} source=({})", source.trim());
        let flow: FlowSpec = text.parse().ok()?;
        return (flow.name == RTP)
            .then(|| format!("rtp sends the source that its parameter names: write '{text}'"));
    }
    let text: String = given
        .replacen(&format!("{before} "), "", 1)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let flow: FlowSpec = text.parse().ok()?;
    (flow.name == name).then(|| {
        format!("a flow has one name, that of its congestion control or source: write '{text}'")
    })
}
