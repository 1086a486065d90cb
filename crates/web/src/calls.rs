//! The operations of the module.

mod catalogue;
mod live;
mod numbers;

use serde_json::{Value, json};
use sojourn_report::topology::topology_stage;
use sojourn_run::live::Live;
use sojourn_run::needs::Needs;
use sojourn_run::picture;
use sojourn_run::run::run_resolved;
use sojourn_scenario::document::{Document, Excerpt};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::{LimitParams, Scenario};
use sojourn_units::Bytes;

use crate::digest::digest;

/// Top-level keys of a file that studies read, and a single run does not.
const STUDY_KEYS: [&str; 4] = ["study", "experiment", "table", "figure"];

/// Memory that a run in a page may need, by the estimate that the command uses: a module has 4 GB at most.
const MOST_MEMORY: u64 = 2_000_000_000;

/// What messages call a scenario without a file.
const PAGE: &str = "page.toml";

/// What the module keeps from call to call.
#[derive(Default)]
pub struct Module {
    /// The request.
    pub input: Vec<u8>,
    /// The answer.
    pub output: Vec<u8>,
    /// Numbers beside the answer.
    pub numbers: Vec<f64>,
    /// The run that is watched.
    live: Option<Live>,
}

impl Module {
    /// Carries out the request in `input`. The answer in `output` has a key `error` where it was refused.
    ///
    /// | operation | what it does |
    /// |---|---|
    /// | `catalogue` | every queue, flow and table with its parameters |
    /// | `read` | TOML to a document |
    /// | `write` | a document to TOML |
    /// | `check` | whether a document runs, and what it comes to |
    /// | `picture` | the topology of a document as SVG, and where its links are |
    /// | `open` | begins a run that is watched |
    /// | `rows` | goes on by some rows, which are beside the answer |
    /// | `creep` | goes on to a time, rows on the way are beside the answer |
    /// | `change` | takes over the changes of links that are yet to come |
    /// | `waiting` | packets in a queue |
    /// | `wires` | packets on links |
    /// | `finish` | ends the run, with its metrics |
    /// | `outcome` | makes a whole run, with its metrics |
    /// | `trap` | panics, for tests of what a page does then |
    ///
    /// # Panics
    /// If it is asked to, and where a bug of Sojourn stops a run.
    pub fn call(&mut self) {
        self.numbers.clear();
        let request: Value = serde_json::from_slice(&self.input).unwrap_or_default();
        let answer = self.answer(&request);
        let answer = answer.unwrap_or_else(|error| refusal(&error, &request));
        self.output = answer.to_string().into_bytes();
    }

    fn answer(&mut self, request: &Value) -> Result<Value> {
        match request["op"].as_str().unwrap_or_default() {
            "catalogue" => Ok(catalogue::catalogue()),
            "read" => read(request),
            "write" => Ok(json!({ "toml": document(request)?.to_toml() })),
            "check" => check(request),
            "picture" => picture(request),
            "open" => self.open(request),
            "rows" => self.rows(request),
            "creep" => self.creep(request),
            "change" => self.change(request),
            "waiting" => self.waiting(request),
            "wires" => self.wires(request),
            "finish" => self.finish(),
            "outcome" => outcome(request),
            "trap" => panic!("a trap was asked for"),
            other => {
                let problem = format!("unknown operation {other:?}");
                Err(LabError::new(LabErrorKind::UnknownName, problem))
            }
        }
    }
}

/// A refusal as an object: the message, and where in the text the mistake stands.
fn refusal(error: &LabError, request: &Value) -> Value {
    let text = request["toml"].as_str().unwrap_or_default();
    let excerpt = Excerpt::of(error, text).map(|excerpt| excerpt.lines(PAGE, ""));
    json!({
        "error": {
            "text": error.to_string(),
            "key": error.path(),
            "line": error.line(),
            "excerpt": excerpt,
        }
    })
}

/// The document of a request: as TOML, or as the object that stands for it.
fn document(request: &Value) -> Result<Document> {
    match request["toml"].as_str() {
        Some(text) => Document::parse(text, PAGE),
        None => Document::from_json(&request["doc"], PAGE),
    }
}

fn read(request: &Value) -> Result<Value> {
    let document = document(request)?;
    let reading = Scenario::read(&document, &STUDY_KEYS)?;
    let others = STUDY_KEYS.into_iter();
    let others: Vec<&str> = others.filter(|key| document.root().has(key)).collect();
    Ok(json!({
        "doc": document.to_json(),
        "notes": reading.notes,
        "study": others,
        "comments": !document.comments().is_empty(),
    }))
}

/// The scenario of a request, if a run of it fits into the memory of a page.
fn scenario(request: &Value) -> Result<(Document, Scenario, Needs)> {
    let document = document(request)?;
    let scenario = Scenario::read(&document, &STUDY_KEYS)?.scenario;
    let limits = LimitParams {
        memory: Bytes::new(MOST_MEMORY),
        ..LimitParams::default()
    };
    let needs = Needs::of_allowed(&scenario, &limits).map_err(|error| {
        document
            .locate(error)
            .remedy("run it with the command instead: a page has 2 GB")
    })?;
    Ok((document, scenario, needs))
}

fn check(request: &Value) -> Result<Value> {
    let (document, scenario, needs) = scenario(request)?;
    let resolved = scenario.resolve().map_err(|error| document.locate(error))?;
    Ok(json!({
        "duration_s": scenario.run.duration.as_secs_f64(),
        "warmup_s": scenario.run.warmup().as_secs_f64(),
        "replications": scenario.run.runs(),
        "flows": needs.flows,
        "bytes": needs.run_bytes,
        "resolved": resolved.to_document().to_json(),
    }))
}

/// The topology as SVG, the path of each of its links, and for packets on them: which link direction is on which link, and against it or not.
fn picture(request: &Value) -> Result<Value> {
    let (document, scenario, _) = scenario(request)?;
    let (topology, directions) =
        picture::with_links(&scenario).map_err(|error| document.locate(error))?;
    let (svg, paths) = topology_stage(&topology);
    let ways = directions.iter().zip(0..).flat_map(|(own, link)| {
        let way = move |(direction, back): &(usize, bool)| json!([direction, link, back]);
        own.iter().map(way)
    });
    Ok(json!({ "svg": svg, "paths": paths, "ways": ways.collect::<Vec<Value>>() }))
}

fn outcome(request: &Value) -> Result<Value> {
    let (document, scenario, _) = scenario(request)?;
    let replication = request["replication"].as_u64().unwrap_or_default();
    let outcome = scenario
        .resolve()
        .and_then(|resolved| run_resolved(&resolved, replication))
        .map_err(|error| document.locate(error))?;
    Ok(json!({ "digest": digest(&outcome), "numbers": numbers::numbers(&outcome) }))
}
