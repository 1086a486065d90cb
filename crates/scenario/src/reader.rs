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

mod declared;
mod effects;
mod flows;
mod groups;
mod kinds;
mod pending;
mod queues;
mod topology;
mod written;

use std::path::Path;

use sojourn_units::{ParamInfo, Params, nearest};

use self::pending::PendingQueue;
use crate::attributes;
use crate::document::{Document, Extra, TableRef, ValueRef, read_text};
use crate::error::{LabError, LabErrorKind, Place, Result};
use crate::model::{
    ChainParams, ChangeParams, DumbbellParams, GroupParams, ImpairmentParams, LimitParams,
    LinkParams, MemberParams, OpportunityParams, ParkingLotParams, PlaceParams, RunParams,
    Scenario, SeriesParams, WireParams,
};

pub use declared::{Declared, FlowDeclaration};
pub(crate) use kinds::resolve_flow;
pub use kinds::{FlowKindInfo, FlowPart, flow_kinds, flow_parts, known_flow_kind};
pub use queues::{dialect_notes, resolve_queue, with_buffer};

/// Revision of the form of scenario files that this version reads and writes.
pub const SCHEMA_VERSION: u64 = 1;

/// Top-level keys that are a value, with what they mean and where the default comes from.
pub const TOP_KEYS: &[(&str, &str)] = &[
    (
        "schema_version",
        "Version of the file format. The only version is 1.",
    ),
    (
        "name",
        "Name in messages and results. The default is the file's name.",
    ),
    ("title", "Heading of the report."),
    ("description", "What the scenario is for, in Markdown."),
    (
        "dialect",
        "Default dialect of every component, such as linux or ns2. A component's own dialect takes precedence.",
    ),
    (
        "attributes",
        "File of ns-3 attributes (XML), in the folder of this file. It sets defaults of components in dialect ns3_24.",
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
}

/// Reads one document.
struct Reader<'a> {
    document: &'a Document,
    root: TableRef<'a>,
    dialect: Option<&'a str>,
    notes: Vec<String>,
    /// Queues that cannot be checked before the flows are known.
    pending: Vec<PendingQueue<'a>>,
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
            pending: Vec::new(),
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
        self.pending_queues(&scenario)?;
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
        let run: RunParams = self.params_of("run")?;
        if let Some(table) = self.root.table("run")? {
            at_least_asked(&table, &run)?;
        }
        let table = self.root.table("run")?.filter(|table| table.has("warmup"));
        let Some(table) = table.filter(|_| run.warmup() >= run.duration) else {
            return Ok(run);
        };
        let problem = format!(
            "the warmup, {}, leaves nothing of the duration, {}, to measure",
            run.warmup(),
            run.duration
        );
        let error = table.error_on("warmup", LabErrorKind::Contradiction, problem);
        Err(error.remedy("make run.warmup shorter, such as \"0s\", or run.duration longer"))
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

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
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

/// Fails where what precision may lead to is less than what is asked for.
fn at_least_asked(table: &TableRef<'_>, run: &RunParams) -> Result<()> {
    let short = run.max_duration.filter(|most| *most < run.duration);
    let few = run.max_replications.filter(|most| *most < run.replications);
    let short = short.map(|most| ("duration", most.to_string(), run.duration.to_string()));
    let few = few.map(|most| {
        (
            "replications",
            most.to_string(),
            run.replications.to_string(),
        )
    });
    let Some((key, most, asked)) = short.or(few) else {
        return Ok(());
    };
    let problem = format!("{most} is less than run.{key}, {asked}");
    let error = table.error_on(&format!("max_{key}"), LabErrorKind::Contradiction, problem);
    Err(error.remedy(format!("give at least {asked}, or lower run.{key}")))
}
