//! Reads a scenario from a document, checks what can be checked without a network, and writes it back.
//!
//! ```toml
//! name = "two queues"
//! dialect = "linux"
//!
//! [run]
//! duration = "60s"
//!
//! [topology]
//! rate = "10Mbps"
//! queue = "codel target=5ms"
//!
//! [[flows]]
//! kind = "reno"
//! count = 4
//! ```

mod groups;
mod kinds;
mod queues;
mod resolve;

use std::collections::BTreeSet;
use std::path::Path;

use sojourn_queue::registry::SpecError;
use sojourn_traffic::srm::SRM;
use sojourn_traffic::workload;
use sojourn_units::{
    FlowSpec, Kind, Limit, ParamError, ParamInfo, ParamValue, Params, Rate, Span, Spec, build,
    nearest,
};

use crate::attributes;
use crate::dialect::fallback;
use crate::document::{Document, Extra, Table, TableRef, Value, ValueRef, read_text};
use crate::error::{LabError, LabErrorKind, Place, Result};
use crate::model::{
    ChainParams, ChangeParams, DumbbellParams, FlowGroup, GroupParams, ImpairmentParams,
    LimitParams, LinkParams, MemberParams, OpportunityParams, ParkingLotParams, PlaceParams,
    RunParams, Scenario, SeriesParams, Topology, WireParams,
};
use crate::opportunities;
use crate::quantities::wanted;
use crate::words::{OVER, reserved};

pub use kinds::{FlowKindInfo, FlowPart, flow_kinds, known_flow_kind};
pub use queues::{dialect_notes, resolve_queue, with_buffer};

/// Revision of the form of scenario files that this version reads and writes.
pub const SCHEMA_VERSION: u64 = 1;

/// Top-level keys that are a value, with what they mean and where the default comes from.
pub const TOP_KEYS: &[(&str, &str)] = &[
    ("schema_version", "Revision of the form of this file; 1."),
    (
        "name",
        "Name for messages and results; that of the file unless given.",
    ),
    ("title", "Heading of the report."),
    ("description", "What the scenario is for, in Markdown."),
    (
        "dialect",
        "Default dialect of every component, such as linux or ns2; a component's own wins.",
    ),
    (
        "attributes",
        "File of ns-3 attributes (XML), in the folder of this one: defaults of what runs in dialect ns3_24.",
    ),
];

/// Top-level keys that are a table or a list of tables.
pub const TABLE_KEYS: &[&str] = &[
    "run",
    "topology",
    "links",
    "wire",
    "flows",
    "groups",
    "members",
    "impairments",
    "opportunities",
    "changes",
    "series",
    "limits",
];

/// The kinds of topology, with what they are.
pub const TOPOLOGY_KINDS: &[(&str, &str)] = &[
    ("dumbbell", DumbbellParams::DOC),
    ("parking_lot", ParkingLotParams::DOC),
    ("chain", ChainParams::DOC),
    ("graph", "Links one by one, in [[links]]."),
];

/// Samples of one time series that a run keeps at most.
const MOST_SAMPLES: u64 = 10_000_000;

/// Times that one entry of `[[changes]]` may happen.
const MOST_REPEATS: u64 = 1_000_000;

/// What a document says.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    /// The scenario.
    pub scenario: Scenario,
    /// Heading of the report.
    pub title: Option<String>,
    /// What the scenario is for.
    pub description: Option<String>,
    /// What the user should know, such as a dialect that fell back.
    pub notes: Vec<String>,
    /// How much it may ask for.
    pub limits: LimitParams,
}

impl Scenario {
    /// The scenario of a document.
    ///
    /// # Errors
    /// When a key is unknown or missing, a value cannot be read or is out of range, names do not exist, or values
    /// contradict each other.
    pub fn from_document(document: &Document) -> Result<Scenario> {
        Scenario::read(document, &[]).map(|reading| reading.scenario)
    }

    /// Refuses a number of replications that an argument asks for where nothing is random, so that one run is made. In one file the
    /// two may stand together: then nobody asks for either just now, and the results say that there was one run.
    ///
    /// # Errors
    /// When it does.
    pub fn refuse_vain_replications(&self, document: &Document) -> Result<()> {
        let asked = document.get("run.replications")?;
        let argument = |value: &ValueRef<'_>| matches!(value.place(), Place::Argument { .. });
        match asked.filter(argument) {
            Some(asked) if self.run.deterministic && self.run.replications > 1 => {
                let problem = format!(
                    "nothing is random with run.deterministic = true, so that one run is made and not {}",
                    self.run.replications
                );
                Err(asked
                    .error(LabErrorKind::Contradiction, problem)
                    .remedy("leave out one of the two"))
            }
            _ => Ok(()),
        }
    }

    /// The scenario of a document in which others read the top-level keys `other`, with what goes beside it.
    ///
    /// # Errors
    /// As [`Scenario::from_document`].
    pub fn read(document: &Document, other: &[&str]) -> Result<Reading> {
        Scenario::read_with_files(document, other, &read_text)
    }

    /// As [`Scenario::read`], with a way to read the other files that the document names.
    ///
    /// # Errors
    /// As [`Scenario::from_document`].
    pub fn read_with_files(
        document: &Document,
        other: &[&str],
        read: &dyn Fn(&Path) -> std::io::Result<String>,
    ) -> Result<Reading> {
        let mut reading = Reader::new(document, other, read)?.read()?;
        let root = document.root();
        if let Some(file) = root.text("attributes")? {
            let path = Path::new(document.file()).with_file_name(file);
            let text = read(&path).map_err(|error| {
                let error = LabError::io(&path, "read the file", &error);
                root.error_on("attributes", LabErrorKind::Io, error.to_string())
            })?;
            let defaults = attributes::read(&text, file)?;
            defaults
                .apply(&mut reading.scenario)
                .map_err(|error| document.locate(error))?;
            for note in defaults.notes {
                if !reading.notes.contains(&note) {
                    reading.notes.push(note);
                }
            }
        }
        Ok(reading)
    }

    /// The scenario as a document, resolved: every parameter of every table and queue stands there with its value, so that
    /// a later version with other defaults runs the same.
    pub fn to_document(&self) -> Document {
        self.resolved().to_document_as_given()
    }

    /// The scenario as a document, with queues and optional values as they were given.
    pub fn to_document_as_given(&self) -> Document {
        let mut root = Table::default();
        root.put("schema_version", SCHEMA_VERSION);
        root.put("name", self.name.as_str());
        if let Some(dialect) = &self.dialect {
            root.put("dialect", dialect.as_str());
        }
        root.put("run", written(&self.run, None));
        match &self.topology {
            Topology::Dumbbell(params) => root.put("topology", written(params, Some("dumbbell"))),
            Topology::ParkingLot(params) => {
                root.put("topology", written(params, Some("parking_lot")));
            }
            Topology::Chain(params) => root.put("topology", written(params, Some("chain"))),
            Topology::Graph(links) => {
                let mut kind = Table::default();
                kind.put("kind", "graph");
                root.put("topology", kind);
                root.put("links", list(links, |link| written(link, None)));
            }
        }
        root.put("wire", written(&self.wire, None));
        let kinds = flow_kinds();
        root.put(
            "flows",
            list(&self.flows, |flow| {
                let mut table = written(&flow.place, Some(&flow.kind));
                let kind = kinds.iter().find(|kind| kind.name == flow.kind);
                for (key, text) in &flow.args {
                    let part = kind.into_iter().flat_map(|kind| &kind.parts);
                    let info = part
                        .flat_map(|part| part.params)
                        .find(|info| info.name == key);
                    table.put(key, argument(info, text));
                }
                table
            }),
        );
        if !self.groups.is_empty() {
            root.put("groups", list(&self.groups, |group| written(group, None)));
            root.put(
                "members",
                list(&self.members, |member| written(member, None)),
            );
        }
        if !self.impairments.is_empty() {
            root.put(
                "impairments",
                list(&self.impairments, |impairment| written(impairment, None)),
            );
        }
        if !self.opportunities.is_empty() {
            root.put(
                "opportunities",
                list(&self.opportunities, |schedule| written(schedule, None)),
            );
        }
        if !self.changes.is_empty() {
            root.put(
                "changes",
                list(&self.changes, |change| written(change, None)),
            );
        }
        root.put("series", written(&self.series, None));
        Document::from(root)
    }
}

fn list<T>(items: &[T], table: impl Fn(&T) -> Table) -> Value {
    Value::from(
        items
            .iter()
            .map(|item| Value::from(table(item)))
            .collect::<Vec<_>>(),
    )
}

/// A table of parameters with their values; those that are `none` are left out.
fn written<P: Params>(params: &P, kind: Option<&str>) -> Table {
    let mut table = Table::default();
    if let Some(kind) = kind {
        table.put("kind", kind);
    }
    for (info, (key, text)) in P::TABLE.iter().zip(params.pairs()) {
        if let Some(value) = native(&(info.kind)(), text) {
            table.put(key, value);
        }
    }
    table
}

/// An argument as TOML has it, where that reads back to the same text.
fn argument(info: Option<&ParamInfo>, text: &str) -> Value {
    let value = info.and_then(|info| native(&(info.kind)(), text.to_owned()));
    match value {
        Some(Value::Integer(number)) if number.to_string() == text => Value::Integer(number),
        Some(Value::Float(number)) if number.to_string() == text => Value::Float(number),
        Some(Value::Flag(flag)) if flag.to_string() == text => Value::Flag(flag),
        _ => Value::Text(text.to_owned()),
    }
}

/// A value as TOML has it: whole numbers, numbers and flags as such, the rest as text; `None` for an optional value that
/// is not given.
fn native(kind: &Kind, text: String) -> Option<Value> {
    match kind {
        Kind::Optional(_) if text == "none" => None,
        Kind::Optional(inner) => native(inner, text),
        Kind::Integer => Some(match text.parse() {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Text(text),
        }),
        Kind::Number => Some(match text.parse() {
            Ok(number) => Value::Float(number),
            Err(_) => Value::Text(text),
        }),
        Kind::Flag => Some(Value::Flag(text == "true")),
        _ => Some(Value::Text(text)),
    }
}

/// Reads one document.
struct Reader<'a> {
    document: &'a Document,
    root: TableRef<'a>,
    dialect: Option<&'a str>,
    notes: Vec<String>,
    /// Names of multicast groups.
    groups: Vec<String>,
    files: &'a dyn Fn(&Path) -> std::io::Result<String>,
}

impl<'a> Reader<'a> {
    fn new(
        document: &'a Document,
        other: &[&str],
        files: &'a dyn Fn(&Path) -> std::io::Result<String>,
    ) -> Result<Reader<'a>> {
        let root = document.root();
        let mut allowed: Vec<&str> = TOP_KEYS.iter().map(|key| key.0).collect();
        allowed.extend(TABLE_KEYS);
        allowed.extend(other);
        root.only(&allowed)?;
        let dialect = root.text("dialect")?;
        Ok(Reader {
            document,
            root,
            dialect,
            notes: Vec::new(),
            groups: Vec::new(),
            files,
        })
    }

    fn read(mut self) -> Result<Reading> {
        self.schema_version()?;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let name = match self.root.text("name")? {
            Some(name) if name.trim().is_empty() => {
                let problem = "a name cannot be empty";
                return Err(self.root.error_on("name", LabErrorKind::BadValue, problem));
            }
            Some(name) => name.to_owned(),
            None => stem(self.document.file()),
        };
        let title = owned(self.root.text("title")?);
        let description = owned(self.root.text("description")?);
        let run = self.run()?;
        let topology = self.topology()?;
        let wire = self.params_of("wire")?;
        let (groups, members) = self.groups(&topology, &run)?;
        self.groups = groups.iter().map(|group| group.name.clone()).collect();
        let flows = self.flows(&topology, &run)?;
        self.shared_round_trip(&topology, &flows)?;
        let impairments = self.impairments(&topology)?;
        let opportunities = self.opportunities(&topology)?;
        let changes = self.changes(&topology, &run)?;
        let series = self.series(&run)?;
        let limits = self.params_of("limits")?;
        let scenario = Scenario {
            name,
            dialect: owned(self.dialect),
            run,
            topology,
            wire,
            flows,
            groups,
            members,
            impairments,
            opportunities,
            changes,
            series,
        };
        Ok(Reading {
            scenario,
            title,
            description,
            notes: self.notes,
            limits,
        })
    }

    fn schema_version(&self) -> Result<()> {
        match self.root.get("schema_version") {
            None => Ok(()),
            Some(value) if value.scalar()? == SCHEMA_VERSION.to_string() => Ok(()),
            Some(value) => Err(value
                .error(
                    LabErrorKind::BadValue,
                    format!("form {} of scenario files is not known", value.scalar()?),
                )
                .allowed("known", SCHEMA_VERSION.to_string())
                .remedy("a later version of Sojourn may read it")),
        }
    }

    /// The parameters of a table that need not be there.
    fn params_of<P: Params>(&self, key: &str) -> Result<P> {
        match self.root.table(key)? {
            Some(table) => table.params(Extra::default()),
            None => Ok(P::default()),
        }
    }

    fn run(&self) -> Result<RunParams> {
        let mut run: RunParams = self.params_of("run")?;
        match self.root.table("run")? {
            Some(table) if table.has("warmup") => {
                if run.warmup >= run.duration {
                    let problem = format!(
                        "the warmup, {}, leaves nothing of the duration, {}, to measure",
                        run.warmup, run.duration
                    );
                    let error = table.error_on("warmup", LabErrorKind::Contradiction, problem);
                    return Err(error.remedy(
                        "make run.warmup shorter, such as \"0s\", or run.duration longer",
                    ));
                }
            }
            _ => run.warmup = run.warmup.min(run.duration / 2),
        }
        Ok(run)
    }

    fn topology(&mut self) -> Result<Topology> {
        let table = self.root.table("topology")?;
        let links = self.root.tables("links")?;
        let kind = match &table {
            Some(table) => table.text("kind")?,
            None => None,
        };
        let name = match kind {
            Some(kind) => kind,
            None if table.is_none() && !links.is_empty() => "graph",
            None => "dumbbell",
        };
        if name != "graph"
            && let Some(links) = self.root.get("links")
        {
            return Err(links
                .error(
                    LabErrorKind::Contradiction,
                    format!("links are listed, but the topology is a {name}"),
                )
                .remedy("write kind = \"graph\" in [topology], or leave out [[links]]"));
        }
        if let Some(table) = &table {
            self.keys_of_kind(table, name)?;
        }
        let extra = Extra {
            keys: &["kind"],
            dialect: None,
        };
        let topology = match name {
            "dumbbell" => {
                let mut params: DumbbellParams = table_params(table.as_ref(), extra)?;
                self.dumbbell_delays(table.as_ref(), &mut params)?;
                self.access_rate(table.as_ref(), params.rate, params.access_rate)?;
                let queues = (&params.queue, params.reverse_queue.as_ref());
                self.queues(table.as_ref(), queues, params.buffer)?;
                self.queue(table.as_ref(), "access_queue", &params.access_queue, None)?;
                Topology::Dumbbell(params)
            }
            "parking_lot" => {
                let params: ParkingLotParams = table_params(table.as_ref(), extra)?;
                self.access_rate(table.as_ref(), params.rate, params.access_rate)?;
                let queues = (&params.queue, params.reverse_queue.as_ref());
                self.queues(table.as_ref(), queues, params.buffer)?;
                self.queue(table.as_ref(), "access_queue", &params.access_queue, None)?;
                Topology::ParkingLot(params)
            }
            "chain" => {
                let params: ChainParams = table_params(table.as_ref(), extra)?;
                let queues = (&params.queue, params.reverse_queue.as_ref());
                self.queues(table.as_ref(), queues, params.buffer)?;
                Topology::Chain(params)
            }
            "graph" => {
                if let Some(table) = &table {
                    table.only(&["kind"])?;
                }
                Topology::Graph(self.links(&links)?)
            }
            other => {
                let names = TOPOLOGY_KINDS.iter().map(|kind| kind.0);
                return Err(table
                    .as_ref()
                    .unwrap_or(&self.root)
                    .error_on(
                        "kind",
                        LabErrorKind::UnknownName,
                        format!("unknown topology {other:?}"),
                    )
                    .nearest(nearest(other, names.clone()))
                    .allowed("kinds", names.collect::<Vec<_>>().join(", ")));
            }
        };
        Ok(topology)
    }

    /// Refuses what topologies of other kinds have. In a study the kind may be set far from the key, by an experiment.
    fn keys_of_kind(&self, table: &TableRef<'a>, kind: &str) -> Result<()> {
        let keys = |kind: &str| -> &[ParamInfo] {
            match kind {
                "dumbbell" => DumbbellParams::TABLE,
                "parking_lot" => ParkingLotParams::TABLE,
                "chain" => ChainParams::TABLE,
                _ => &[],
            }
        };
        let has = |kind: &str, key: &str| keys(kind).iter().any(|info| info.name == key);
        if TOPOLOGY_KINDS.iter().all(|known| known.0 != kind) {
            return Ok(());
        }
        for (key, value) in table.values() {
            let kinds = TOPOLOGY_KINDS.iter().map(|known| known.0);
            let others: Vec<&str> = kinds.filter(|kind| has(kind, key)).collect();
            if others.is_empty() || has(kind, key) {
                continue;
            }
            let set = table.get("kind");
            let place = match set.as_ref().map(ValueRef::place) {
                Some(Place::Line(line)) => format!(" (line {line})"),
                Some(Place::Argument { text, .. }) => format!(" ({text})"),
                _ => String::new(),
            };
            let problem = format!(
                "{key} is of kind {}, and the kind is {kind}{place}",
                others.join(", ")
            );
            let mut allowed = vec!["kind"];
            allowed.extend(keys(kind).iter().map(|info| info.name));
            let remedy = match self.root.has("experiment") {
                true => {
                    "leave it out; where experiments have topologies of several kinds, each sets the keys of its own"
                }
                false => "leave it out, or write another kind",
            };
            return Err(value
                .error(LabErrorKind::Contradiction, problem)
                .allowed("allowed", allowed.join(", "))
                .remedy(remedy));
        }
        Ok(())
    }

    /// Makes delays and round trip of a dumbbell agree, or says that they cannot.
    fn dumbbell_delays(
        &self,
        table: Option<&TableRef<'a>>,
        params: &mut DumbbellParams,
    ) -> Result<()> {
        let Some(table) = table else {
            return Ok(());
        };
        let error = |key: &str, problem: String, remedy: &str| {
            Err(table
                .error_on(key, LabErrorKind::Contradiction, problem)
                .remedy(remedy))
        };
        let given = (params.bottleneck_delay, params.access_delay);
        if let (Some(bottleneck), Some(access)) = given {
            let sum = resolve::round_trip(bottleneck, access);
            let Some(sum) = sum.filter(|sum| params.set("rtt", &sum.to_string()).is_ok()) else {
                let problem = format!(
                    "a bottleneck of {bottleneck} and access links of {access} make too long a round trip"
                );
                return error("bottleneck_delay", problem, "make it at most 1h");
            };
            if let Some(rtt) = table.get("rtt")
                && Span::parse_text(&rtt.scalar()?) != Ok(sum)
            {
                let problem = format!(
                    "a bottleneck of {bottleneck} and access links of {access} make a round trip of {sum}"
                );
                return error("rtt", problem, "leave out one of the three");
            }
            return Ok(());
        }
        // Whether a bottleneck leaves room is seen when the round trips of the flows are known.
        match params.bottleneck_delay {
            None => Self::delays_within_rtt(table, params),
            Some(_) => Ok(()),
        }
    }

    fn delays_within_rtt(table: &TableRef<'a>, params: &DumbbellParams) -> Result<()> {
        if resolve::delays_fit(params) {
            return Ok(());
        }
        let key = match params.bottleneck_delay {
            Some(_) => "bottleneck_delay",
            None => "access_delay",
        };
        let problem = format!("this is more than an rtt of {} leaves", params.rtt);
        Err(table
            .error_on(key, LabErrorKind::Contradiction, problem)
            .remedy("make it shorter, or rtt longer"))
    }

    /// Refuses a bottleneck that leaves a flow no room in the round trip of the topology. Those with one of their own were compared
    /// with that.
    fn shared_round_trip(&self, topology: &Topology, flows: &[FlowGroup]) -> Result<()> {
        match (topology, self.root.table("topology")?) {
            (Topology::Dumbbell(params), Some(table))
                if flows.iter().any(|flow| flow.place.rtt.is_none()) =>
            {
                Self::delays_within_rtt(&table, params)
            }
            _ => Ok(()),
        }
    }

    /// Access links are faster than the bottleneck unless they are given, and have to be possible.
    fn access_rate(
        &self,
        table: Option<&TableRef<'a>>,
        rate: Rate,
        access_rate: Option<Rate>,
    ) -> Result<()> {
        match table {
            Some(table) if access_rate.is_none() && rate > Rate::bps(u64::MAX / 10) => {
                let problem = format!("access links of 10 times {rate} are too fast");
                Err(table
                    .error_on("rate", LabErrorKind::BadValue, problem)
                    .remedy("make it slower, or give access_rate"))
            }
            _ => Ok(()),
        }
    }

    fn links(&mut self, tables: &[TableRef<'a>]) -> Result<Vec<LinkParams>> {
        if tables.is_empty() {
            return Err(self.root.missing(
                "links",
                "a graph has at least one [[links]] with from and to",
            ));
        }
        let mut links: Vec<LinkParams> = Vec::new();
        let mut known = BTreeSet::new();
        for table in tables {
            let link: LinkParams = table.params(Extra::default())?;
            table.required_text("from", "name the node at one end, such as from = \"left\"")?;
            table.required_text(
                "to",
                "name the node at the other end, such as to = \"right\"",
            )?;
            if link.from == link.to {
                let problem = format!("a link from {:?} to itself", link.from);
                return Err(table
                    .error_on("to", LabErrorKind::BadValue, problem)
                    .remedy("name two nodes"));
            }
            let mut ends = [link.from.clone(), link.to.clone()];
            ends.sort();
            if !known.insert(ends) {
                let problem = format!(
                    "there is already a link between {} and {}",
                    link.from, link.to
                );
                return Err(table.error(LabErrorKind::Contradiction, problem).remedy(
                    "a link has both directions; reverse_rate and reverse_queue set the way back",
                ));
            }
            self.queue(Some(table), "queue", &link.queue, None)?;
            if let Some(queue) = &link.reverse_queue {
                self.queue(Some(table), "reverse_queue", queue, None)?;
            }
            links.push(link);
        }
        Ok(links)
    }

    /// Checks the queue of a topology and that of the way back, if it has its own.
    fn queues(
        &mut self,
        table: Option<&TableRef<'a>>,
        (there, back): (&Spec, Option<&Spec>),
        buffer: Option<Limit>,
    ) -> Result<()> {
        self.queue(table, "queue", there, buffer)?;
        match back {
            Some(back) => self.queue(table, "reverse_queue", back, buffer),
            None => Ok(()),
        }
    }

    /// Checks a queue down to the last parameter, and notes dialects that fell back.
    fn queue(
        &mut self,
        table: Option<&TableRef<'a>>,
        key: &str,
        spec: &Spec,
        buffer: Option<Limit>,
    ) -> Result<()> {
        let table = table.unwrap_or(&self.root);
        let own_limit = spec.get("limit");
        let spec = with_buffer(spec, buffer);
        match queues::check(&spec, self.dialect) {
            Ok(()) => {
                for note in dialect_notes(&spec, self.dialect) {
                    self.note(note);
                }
                Ok(())
            }
            Err(error) if queues::lacks_dialect(&error, self.dialect) => {
                let (name, allowed) = queues::dialects_of(&error);
                let what = match table.path() {
                    "" => format!("topology.{key}"),
                    path => format!("{path}.{key}"),
                };
                Err(self.lacks_dialect(name, &what, &allowed))
            }
            Err(SpecError::Param { error, .. })
                if error.key() == "limit" && buffer.is_some() && own_limit.is_none() =>
            {
                let reason = LabError::from_param(&error);
                Err(table
                    .error_on("buffer", reason.kind(), "")
                    .with_text_of(&reason))
            }
            Err(error) => {
                let mut reason = LabError::from_queue(&error);
                if let Some(remedy) = queues::misplaced(&spec, &error) {
                    reason = reason.remedy(remedy);
                }
                if let SpecError::Param { discipline, error } = &error
                    && let Some(value) = table.get(key)
                    && let Some(wrong) = queues::value_of(&value, discipline, error.key())
                {
                    return Err(wrong.error(reason.kind(), "").with_text_of(&reason));
                }
                Err(table.error_on(key, reason.kind(), "").with_text_of(&reason))
            }
        }
    }

    /// The error of a component that lacks the dialect of the scenario, which is where the mistake stands.
    fn lacks_dialect(&self, name: &str, path: &str, allowed: &[&str]) -> LabError {
        let dialect = self.dialect.unwrap_or_default();
        let own = allowed.first().copied().unwrap_or("default");
        self.root
            .error_on(
                "dialect",
                LabErrorKind::UnknownName,
                format!("{name}, in {path}, has no dialect {dialect:?}"),
            )
            .nearest(nearest(dialect, allowed.iter().copied()))
            .allowed("dialects", allowed.join(", "))
            .remedy(format!(
                "give this one a dialect of its own, such as \"{name} dialect={own}\""
            ))
    }

    fn flows(&mut self, topology: &Topology, run: &RunParams) -> Result<Vec<FlowGroup>> {
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
        match kinds::try_flow(&group.kind, &group.args, self.dialect) {
            Ok(built) => {
                for (name, part) in &built.parts {
                    if self.dialect == Some("paper") && !own && part.release != "paper" {
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

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
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
        let wrong = |key: &str, problem: String, remedy: &str| {
            let error = LabError::new(LabErrorKind::Contradiction, problem).remedy(remedy);
            Err(given.error_on(key, &error))
        };
        if let Some(start) = place.start
            && start >= run.duration
        {
            let problem = format!(
                "a start at {start} is not within the run of {}",
                run.duration
            );
            return wrong(
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
            return wrong("stagger", problem, remedy);
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
            return wrong("stop", problem, "stop later, or start earlier");
        }
        if place.stagger > Span::ZERO && place.start.is_none() && !run.deterministic {
            let problem = "stagger counts from the start, which is not given".to_owned();
            return wrong("stagger", problem, "add start = \"0s\"");
        }
        match (place.rtt, topology) {
            (None, _) => {}
            (Some(rtt), Topology::Dumbbell(params)) => {
                let (bottleneck, _) = params.delays();
                if rtt / 2 < bottleneck {
                    let problem = format!(
                        "a round trip of {rtt} is shorter than the bottleneck, {bottleneck} each way"
                    );
                    return wrong(
                        "rtt",
                        problem,
                        "make it longer, or topology.bottleneck_delay shorter",
                    );
                }
            }
            (Some(_), _) => {
                let problem = "a flow has a round trip of its own only over a dumbbell".to_owned();
                return wrong("rtt", problem, "leave it out, and set delays of links");
            }
        }
        if let Topology::Graph(links) = topology {
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
                    .remedy(
                        "name the node of the sender with from and that of the receiver with to",
                    );
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
        }
        let lone = match (&place.from, &place.to) {
            (Some(_), None) => Some("from"),
            (None, Some(_)) => Some("to"),
            _ => None,
        };
        if let Some(key) = lone {
            let problem = "one end is given, the other is not".to_owned();
            return wrong(
                key,
                problem,
                "name the nodes of both from and to, or of neither",
            );
        }
        if let Some(group) = &place.to
            && self.groups.contains(group)
            && !kinds::may_be_to_group(&given.kind)
        {
            let problem = format!("{} has one receiver, and {group:?} is a group", given.kind);
            return wrong(
                "to",
                problem,
                "name a node, or send datagrams, such as kind = \"cbr\"",
            );
        }
        let to_group = |group: &String| self.groups.contains(group);
        if given.kind == SRM && !place.to.as_ref().is_some_and(to_group) {
            let problem = "srm is sent to a multicast group".to_owned();
            return wrong("to", problem, "name one of [[groups]]");
        }
        if given.kind == SRM && place.count > 1 {
            let problem = "a group has one srm session".to_owned();
            return wrong("count", problem, "leave it out, and add groups");
        }
        if place.from.is_some() && place.from == place.to {
            let problem = "the sender and the receiver are the same node".to_owned();
            return wrong("to", problem, "name two nodes");
        }
        Ok(())
    }

    fn impairments(&self, topology: &Topology) -> Result<Vec<ImpairmentParams>> {
        let mut impairments: Vec<ImpairmentParams> = Vec::new();
        for table in self.root.tables("impairments")? {
            let impairment: ImpairmentParams = table.params(Extra::default())?;
            link_name(&table, topology)?;
            if impairments
                .iter()
                .any(|other| other.link == impairment.link)
            {
                let problem = format!("the link {} has impairments already", impairment.link);
                return Err(table
                    .error_on("link", LabErrorKind::Contradiction, problem)
                    .remedy("write all of them in one [[impairments]]"));
            }
            if let Some(numbers) = &impairment.loss_list
                && let Some(wrong) = numbers
                    .split(',')
                    .map(str::trim)
                    .find(|number| number.parse::<u64>().is_err())
            {
                let problem = format!("{wrong:?} is not the number of a packet");
                return Err(table
                    .error_on("loss_list", LabErrorKind::BadValue, problem)
                    .remedy(
                        "write numbers with commas between, counted from 0, such as \"12, 47\"",
                    ));
            }
            let random = [
                ("loss", impairment.loss.get() > 0.0),
                ("to_bad", impairment.to_bad.get() > 0.0),
            ];
            if impairment.loss_list.is_some()
                && let Some((key, _)) = random.iter().find(|model| model.1)
            {
                let problem = format!("loss_list and {key} are two models of loss");
                return Err(table
                    .error_on("loss_list", LabErrorKind::Contradiction, problem)
                    .remedy("keep one of them"));
            }
            let idle = [
                ("to_good", "to_bad", "the bad state is never entered"),
                ("loss_bad", "to_bad", "the bad state is never entered"),
            ]
            .into_iter()
            .find(|(given, needed, _)| table.has(given) && !table.has(needed))
            .or((impairment.reorder && !table.has("jitter")).then_some((
                "reorder",
                "jitter",
                "packets of the same delay do not overtake each other",
            )));
            if let Some((given, needed, why)) = idle {
                let problem = format!("{given} does nothing without {needed}: {why}");
                return Err(table
                    .error_on(given, LabErrorKind::Contradiction, problem)
                    .remedy(format!("give {needed} too, or leave {given} out")));
            }
            impairments.push(impairment);
        }
        Ok(impairments)
    }

    fn opportunities(&self, topology: &Topology) -> Result<Vec<OpportunityParams>> {
        let mut all: Vec<OpportunityParams> = Vec::new();
        for table in self.root.tables("opportunities")? {
            let mut schedule: OpportunityParams = table.params(Extra::default())?;
            link_name(&table, topology)?;
            if all.iter().any(|other| other.link == schedule.link) {
                let problem = format!("the link {} has a schedule already", schedule.link);
                return Err(table
                    .error_on("link", LabErrorKind::Contradiction, problem)
                    .remedy("keep one of the two"));
            }
            let ways = ["file", "gaps", "every"];
            let given: Vec<&str> = ways.into_iter().filter(|key| table.has(key)).collect();
            match given[..] {
                [_] => {}
                [] => {
                    return Err(table.missing(
                        "file",
                        "say when the link may send with file, gaps or every, such as every = \"8ms\"",
                    ));
                }
                [first, second, ..] => {
                    let problem = format!("{first} and {second} are two schedules");
                    return Err(table
                        .error_on(second, LabErrorKind::Contradiction, problem)
                        .remedy("keep one of them"));
                }
            }
            if let Some(file) = schedule.file.take() {
                let path = Path::new(self.document.file()).with_file_name(&file);
                let content = (self.files)(&path).map_err(|error| {
                    let error = LabError::io(&path, "read the file", &error);
                    table.error_on("file", LabErrorKind::Io, error.to_string())
                })?;
                let gaps = opportunities::gaps_of_file(&content).map_err(|problem| {
                    let problem = format!("{file}: {problem}");
                    table.error_on("file", LabErrorKind::BadValue, problem)
                })?;
                schedule.gaps = Some(gaps);
            }
            opportunities::schedule(&schedule, None)
                .map_err(|(key, problem)| table.error_on(key, LabErrorKind::BadValue, problem))?;
            all.push(schedule);
        }
        Ok(all)
    }

    fn changes(&self, topology: &Topology, run: &RunParams) -> Result<Vec<ChangeParams>> {
        let mut changes: Vec<ChangeParams> = Vec::new();
        for table in self.root.tables("changes")? {
            let change: ChangeParams = table.params(Extra::default())?;
            if !table.has("at") {
                return Err(table.missing("at", "say when, such as at = \"10s\""));
            }
            link_name(&table, topology)?;
            if change.rate.is_none() && change.delay.is_none() && change.state.is_none() {
                return Err(table
                    .error(LabErrorKind::MissingKey, "this change changes nothing")
                    .remedy("give it a rate, a delay or a state"));
            }
            if change.at >= run.duration {
                let problem = format!(
                    "a change at {} is not within the run of {}",
                    change.at, run.duration
                );
                return Err(table
                    .error_on("at", LabErrorKind::Contradiction, problem)
                    .remedy("change earlier, or make run.duration longer"));
            }
            if let Some(every) = change.every
                && run.duration.as_ps() / every.as_ps() > MOST_REPEATS
            {
                let problem = format!(
                    "a change every {every} happens more than {MOST_REPEATS} times within {}",
                    run.duration
                );
                return Err(table
                    .error_on("every", LabErrorKind::BadValue, problem)
                    .remedy("change less often, or run for a shorter time"));
            }
            let twice =
                |other: &ChangeParams| other.at == change.at && same_quantity(other, &change);
            if changes.iter().any(twice) {
                let problem = format!("{} changes twice at {}", change.link, change.at);
                return Err(table
                    .error_on("at", LabErrorKind::Contradiction, problem)
                    .remedy("keep one of the two"));
            }
            changes.push(change);
        }
        for (table, change) in self.root.tables("changes")?.iter().zip(&changes) {
            let back = |other: &ChangeParams| other.at != change.at && same_quantity(other, change);
            if change.every.is_some() && !changes.iter().any(back) {
                let problem = format!(
                    "nothing changes {} back in between, so it changes once",
                    change.link
                );
                return Err(table
                    .error_on("every", LabErrorKind::Contradiction, problem)
                    .remedy("add the change that it alternates with, with the same every and another at, or leave every out"));
            }
        }
        changes.sort_by_key(|change| change.at);
        Ok(changes)
    }

    fn series(&self, run: &RunParams) -> Result<SeriesParams> {
        let series: SeriesParams = self.params_of("series")?;
        let Some(table) = self.root.table("series")? else {
            return Ok(series);
        };
        let wanted = wanted(&series.record).map_err(|error| {
            table
                .error_on("record", error.kind(), "")
                .with_text_of(&error)
        })?;
        let samples = run.duration.as_ps() / series.step.as_ps().max(1);
        if !wanted.is_empty() && samples > MOST_SAMPLES {
            return Err(table
                .error_on(
                    "step",
                    LabErrorKind::BadValue,
                    format!(
                        "a sample every {} over {} makes {samples} samples of each series, allowed is {MOST_SAMPLES}",
                        series.step, run.duration
                    ),
                )
                .remedy("make series.step longer, or run.duration shorter"));
        }
        Ok(series)
    }
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
                value.error(LabErrorKind::BadValue, error.to_string())
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

fn table_params<P: Params>(table: Option<&TableRef<'_>>, extra: Extra<'_>) -> Result<P> {
    table.map_or_else(|| Ok(P::default()), |table| table.params(extra))
}

/// Checks the name of a link direction as far as the topology gives names.
/// Whether two changes are of the same quantity of the same link.
fn same_quantity(one: &ChangeParams, other: &ChangeParams) -> bool {
    one.link == other.link
        && (one.rate.is_some() && other.rate.is_some()
            || one.delay.is_some() && other.delay.is_some()
            || one.state.is_some() && other.state.is_some())
}

fn link_name(table: &TableRef<'_>, topology: &Topology) -> Result<()> {
    let name = table.required_text(
        "link",
        "name the link direction, such as link = \"left-right\"",
    )?;
    if let Topology::Graph(links) = topology {
        let names: Vec<String> = links
            .iter()
            .flat_map(|link| {
                [
                    format!("{}-{}", link.from, link.to),
                    format!("{}-{}", link.to, link.from),
                ]
            })
            .collect();
        if !names.iter().any(|other| other == name) {
            return Err(table
                .error_on(
                    "link",
                    LabErrorKind::UnknownName,
                    format!("there is no link {name:?}"),
                )
                .nearest(nearest(name, names.iter().map(String::as_str)))
                .allowed("links", names.join(", ")));
        }
    }
    Ok(())
}

/// The name of a file without folder and extension.
fn stem(file: &str) -> String {
    let stem = std::path::Path::new(file).file_stem();
    match stem.and_then(|stem| stem.to_str()) {
        Some(stem) if !stem.trim().is_empty() => stem.to_owned(),
        _ => "scenario".to_owned(),
    }
}

/// The parameter tables of a scenario, with the heading under which each stands in a file.
pub fn tables() -> Vec<(&'static str, &'static str, &'static [ParamInfo])> {
    vec![
        ("[run]", RunParams::DOC, RunParams::TABLE),
        (
            "[topology] kind = \"dumbbell\"",
            DumbbellParams::DOC,
            DumbbellParams::TABLE,
        ),
        (
            "[topology] kind = \"parking_lot\"",
            ParkingLotParams::DOC,
            ParkingLotParams::TABLE,
        ),
        (
            "[topology] kind = \"chain\"",
            ChainParams::DOC,
            ChainParams::TABLE,
        ),
        ("[[links]]", LinkParams::DOC, LinkParams::TABLE),
        ("[wire]", WireParams::DOC, WireParams::TABLE),
        ("[[flows]]", PlaceParams::DOC, PlaceParams::TABLE),
        ("[[groups]]", GroupParams::DOC, GroupParams::TABLE),
        ("[[members]]", MemberParams::DOC, MemberParams::TABLE),
        (
            "[[impairments]]",
            ImpairmentParams::DOC,
            ImpairmentParams::TABLE,
        ),
        (
            "[[opportunities]]",
            OpportunityParams::DOC,
            OpportunityParams::TABLE,
        ),
        ("[[changes]]", ChangeParams::DOC, ChangeParams::TABLE),
        ("[series]", SeriesParams::DOC, SeriesParams::TABLE),
        ("[limits]", LimitParams::DOC, LimitParams::TABLE),
    ]
}
