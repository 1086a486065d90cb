//! Processes that make runs of classes of Python for this one.
//!
//! A worker is this interpreter once more. It reads orders from its standard input, a line of JSON each, and writes what came
//! of them to its standard output: a line of JSON, and the bytes of the run. It ends when its input does, so that it never outlives
//! the process that started it.

use super::class::{Class, codes};
use super::loader::named_in;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use sojourn_results::manifest::PointInfo;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::parcel::{pack, unpack};
use sojourn_run::run::{guarded, run_unless};
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::{LabError, LabErrorKind, Resolved, folders, look_in};
use sojourn_study::study::Study;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a thread that waits for a worker looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(20);

/// What a worker runs. What a class prints must not mix with the answers, and an interrupt is for the process that asks.
const SOURCE: &str = "import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdout = sys.stderr
from sojourn import _core
_core.work()";

/// A run to make.
#[derive(Serialize, Deserialize)]
struct Order {
    /// Where modules are looked for beside `path`.
    folders: Vec<PathBuf>,
    /// `sys.path`.
    path: Vec<String>,
    scenario: serde_json::Value,
    replication: u64,
    /// The classes in it, and the checksums of their code here.
    code: Vec<(String, String)>,
}

/// What came of it: the number of bytes that follow, or what went wrong.
#[derive(Serialize, Deserialize)]
enum Answer {
    Made(usize),
    Refused(String),
    Failed(String),
}

/// What arrives from a worker.
type Arrival = Result<Result<Vec<u8>, LabError>, String>;

struct Worker {
    child: Child,
    orders: ChildStdin,
    answers: Receiver<Arrival>,
}

/// Workers without an order.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

impl Drop for Worker {
    fn drop(&mut self) {
        // It may be in an endless loop, or gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a run in another process.
///
/// # Errors
/// Those of the run; when it was stopped; when the process cannot be started or ends.
pub(super) fn make(
    (scenario, replication): (&Resolved, u64),
    classes: &[Arc<Class>],
    stop: &AtomicBool,
) -> Result<RunOutcome, LabError> {
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut worker = match idle {
        Some(worker) => worker,
        None => start()?,
    };
    let order = Order {
        folders: folders(),
        path: Python::attach(|py| search_path(py).unwrap_or_default()),
        scenario: scenario.to_document().to_json(),
        replication,
        code: codes(classes),
    };
    let mut line = serde_json::to_vec(&order).map_err(|error| lost(&error.to_string()))?;
    line.push(b'\n');
    let sent = worker.orders.write_all(&line);
    sent.and_then(|()| worker.orders.flush())
        .map_err(|error| lost(&error.to_string()))?;
    let arrival = loop {
        match worker.answers.recv_timeout(PATIENCE) {
            Ok(arrival) => break arrival,
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                // Its class may never come back.
                return Err(LabError::new(LabErrorKind::Interrupted, "interrupted"));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(lost("it closed its output")),
        }
    };
    let made = arrival.map_err(|problem| lost(&problem))?;
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(worker);
    drop(idle);
    unpack(&made?)?.into_outcome()
}

/// The error about a worker that ended.
fn lost(problem: &str) -> LabError {
    LabError::new(
        LabErrorKind::Plugin,
        format!("a process that runs classes of Python ended: {problem}"),
    )
    .remedy("what it printed is above; use --threads 1 to run in this process")
}

fn search_path(py: Python<'_>) -> PyResult<Vec<String>> {
    py.import("sys")?.getattr("path")?.extract()
}

/// The program of this interpreter, and where another one finds this package.
fn interpreter(py: Python<'_>) -> PyResult<(PathBuf, OsString)> {
    let executable = py.import("sys")?.getattr("executable")?;
    let own: PathBuf = py.import("sojourn")?.getattr("__file__")?.extract()?;
    let given = std::env::var_os("PYTHONPATH").unwrap_or_default();
    let package = own.parent().and_then(Path::parent).map(Path::to_owned);
    let places = package.into_iter().chain(std::env::split_paths(&given));
    let path = std::env::join_paths(places).unwrap_or(given.clone());
    Ok((executable.extract()?, path))
}

fn start() -> Result<Worker, LabError> {
    let (python, path) = Python::attach(interpreter).map_err(|error| lost(&error.to_string()))?;
    let started = Command::new(&python)
        .args(["-c", SOURCE])
        .env("PYTHONPATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|error| LabError::io(&python, "start it", &error))?;
    let (Some(orders), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(lost("it has no pipes"));
    };
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let arrival = receive(&mut output);
            let ended = arrival.is_err();
            if sender.send(arrival).is_err() || ended {
                return;
            }
        }
    });
    Ok(Worker {
        child,
        orders,
        answers,
    })
}

/// Reads the next answer.
fn receive(output: &mut impl BufRead) -> Arrival {
    let mut line = String::new();
    output
        .read_line(&mut line)
        .map_err(|error| error.to_string())?;
    if line.is_empty() {
        return Err("it said nothing more".to_owned());
    }
    let answer: Answer = serde_json::from_str(&line).map_err(|error| error.to_string())?;
    let error = |kind, text: &str| Ok(Err(LabError::new(kind, text)));
    match answer {
        Answer::Made(length) => {
            let mut bytes = vec![0; length];
            output
                .read_exact(&mut bytes)
                .map_err(|error| error.to_string())?;
            Ok(Ok(bytes))
        }
        Answer::Refused(text) => error(LabErrorKind::Plugin, &text),
        Answer::Failed(text) => error(LabErrorKind::Bug, &text),
    }
}

/// Makes the runs that another process orders, until it closes the input of this one.
#[pyfunction]
pub(crate) fn work(py: Python<'_>) {
    py.detach(|| {
        let (sender, orders) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
            // Whoever asked is gone: no one wants the run under way.
            std::process::exit(0);
        });
        for line in orders {
            let (answer, bytes) = match serve(&line) {
                Ok(bytes) => (Answer::Made(bytes.len()), bytes),
                Err(error) if error.kind() == LabErrorKind::Bug => {
                    (Answer::Failed(error.to_string()), Vec::new())
                }
                Err(error) => (Answer::Refused(error.to_string()), Vec::new()),
            };
            if say(&answer, &bytes).is_err() {
                return;
            }
        }
    });
}

fn say(answer: &Answer, bytes: &[u8]) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    output.write_all(&line)?;
    output.write_all(bytes)?;
    output.flush()
}

/// Makes a run: its bytes.
fn serve(line: &str) -> Result<Vec<u8>, LabError> {
    let order: Order = serde_json::from_str(line).map_err(|error| {
        LabError::new(
            LabErrorKind::Bug,
            format!("an order cannot be read: {error}"),
        )
    })?;
    look_in(&order.folders);
    Python::attach(|py| py.import("sys")?.setattr("path", &order.path))
        .map_err(|error: PyErr| LabError::new(LabErrorKind::Bug, error.to_string()))?;
    let document = Document::from_json(&order.scenario, "order")?;
    let scenario = Scenario::from_document(&document)?;
    let resolved = scenario.resolve()?;
    let here = codes(&named_in(&resolved));
    if let Some((name, _)) = order.code.iter().find(|own| !here.contains(own)) {
        let problem = format!("the code of {name} changed while its runs were made");
        return Err(LabError::new(LabErrorKind::Plugin, problem)
            .remedy("start again: runs with the code before are made again"));
    }
    let never = AtomicBool::new(false);
    let run = || run_unless(&resolved, order.replication, &never);
    let outcome = guarded(&resolved, order.replication, run)?;
    pack(&point(&scenario)?, &outcome)
}

/// The only point of the study of one scenario.
fn point(scenario: &Scenario) -> Result<PointInfo, LabError> {
    let manifest = Study::single(scenario).manifest("sojourn")?;
    let point = manifest.points.into_iter().next();
    point.ok_or_else(|| LabError::new(LabErrorKind::Bug, "a scenario without a point"))
}
