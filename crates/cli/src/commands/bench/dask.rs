//! `sojourn bench dask`: what it costs to have a Dask cluster on this machine make the runs, and to plan a large study.

use super::measured::{float, peak_memory, peak_memory_of_children};
use crate::cluster;
use crate::failure::Failure;
use crate::output::{emit, paragraph, table};
use sojourn_run::run::run_resolved;
use sojourn_scenario::document::Document;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::{Dispatch, Options, Study, execute};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Workers, and threads to compare them with.
const WORKERS: [usize; 3] = [1, 2, 4];

/// Levels of each of two factors of the study that is planned.
const LEVELS: u64 = 100;

/// Runs of the studies that are made, and the simulated time of one: short runs, and runs as most studies have them.
const STUDIES: [(&str, u64, &str); 2] = [("short", 400, "2s"), ("usual", 60, "120s")];

/// The wall time: here it is what is measured.
#[allow(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

/// Measures, and prints a table.
pub(super) fn bench() -> Result<(), Failure> {
    cluster::check()?;
    let temp = tempfile::tempdir()
        .map_err(|error| LabError::io(Path::new("."), "make a directory", &error))?;
    // First of all, so that the peak of memory is that of planning.
    emit(&planning(&temp.path().join("plan"))?)?;
    let mut rows = Vec::new();
    for (name, runs, duration) in STUDIES {
        let study = study(runs, duration)?;
        for workers in WORKERS {
            let out = |how: &str| temp.path().join(format!("{name}-{how}-{workers}"));
            let here = here(&study, workers, &out("here"))?;
            let cluster = there(&study, workers, &out("there"))?;
            let there = cluster.working;
            let overhead =
                (there - here) * float(u64::try_from(workers).unwrap_or(1)) / float(runs);
            rows.push(vec![
                name.to_owned(),
                workers.to_string(),
                format!("{:.1}", 1e3 * here / float(runs)),
                format!("{:.1}", 1e3 * there / float(runs)),
                format!("{:.1}", 1e3 * overhead),
                format!("{:.1}", cluster.whole - there),
                megabytes(cluster.memory),
            ]);
        }
    }
    let header = [
        "runs",
        "workers",
        "here (ms/run)",
        "Dask (ms/run)",
        "overhead (ms/run)",
        "start (s)",
        "worker (MB)",
    ];
    let how = "Wall time of a study by this process with as many threads, and by as many workers of a Dask cluster on this machine. The overhead is of one worker. The start is that of the cluster, and its end. The memory of a worker is the largest of all.";
    emit(&format!(
        "{}\n{}",
        paragraph(how, ""),
        table(&header, &rows)
    ))?;
    Ok(())
}

fn read(text: &str) -> Result<Study, LabError> {
    Study::from_document(&Document::parse(text, "bench.toml")?)
}

/// A study of one point in a number of runs.
fn study(runs: u64, duration: &str) -> Result<Study, LabError> {
    read(&format!(
        "flows = [\"2*reno\"]\n[run]\nduration = \"{duration}\"\nwarmup = \"1s\"\nreplications = {runs}\n[topology]\nrate = \"2Mbps\"\n"
    ))
}

/// Plans a study of 10,000 points, and says how long that takes and how much memory.
fn planning(out: &Path) -> Result<String, LabError> {
    let levels = |unit: &str| {
        let levels = (1..=LEVELS).map(|level| format!("\"{level}{unit}\""));
        levels.collect::<Vec<String>>().join(", ")
    };
    let text = format!(
        "flows = [\"2*reno\"]\n[run]\nduration = \"60s\"\nwarmup = \"5s\"\nreplications = 1\n\
         [[experiment]]\nname = \"plane\"\n\
         [[experiment.factor]]\nname = \"rate\"\npath = \"topology.rate\"\nunit = \"Mbps\"\nvalues = [{}]\n\
         [[experiment.factor]]\nname = \"rtt\"\npath = \"topology.rtt\"\nunit = \"ms\"\nvalues = [{}]\n",
        levels("Mbps"),
        levels("ms")
    );
    let begun = now();
    let study = read(&text)?;
    let read = begun.elapsed();
    let dispatch = begin(study, out)?;
    let jobs = dispatch.jobs().len();
    let planned = begun.elapsed();
    let memory = megabytes(peak_memory());
    Ok(format!(
        "Planning {jobs} points: {:.2} s (reading {:.2} s), peak memory of the process {memory} MB\n\n",
        planned.as_secs_f64(),
        read.as_secs_f64()
    ))
}

fn megabytes(memory: Option<f64>) -> String {
    memory.map_or_else(
        || "unknown".to_owned(),
        |megabytes| format!("{megabytes:.0}"),
    )
}

fn begin(study: Study, out: &Path) -> Result<Dispatch, LabError> {
    Dispatch::begin(study, Some(out), &Options::default(), Box::new(|_| ()))
}

/// Seconds that this process takes.
fn here(study: &Study, threads: usize, out: &Path) -> Result<f64, LabError> {
    let options = Options {
        threads: NonZero::new(threads),
        ..Options::default()
    };
    let begun = now();
    execute(study, run_resolved, Some(out), options)?;
    Ok(begun.elapsed().as_secs_f64())
}

/// What a cluster takes.
struct Cluster {
    /// Seconds from the first run that is given out.
    working: f64,
    /// Seconds with its start and end.
    whole: f64,
    /// Largest memory of a worker, in units of 10^6 bytes.
    memory: Option<f64>,
}

/// How often the memory of the workers is looked at.
const LOOK: Duration = Duration::from_millis(20);

fn there(study: &Study, workers: usize, out: &Path) -> Result<Cluster, LabError> {
    let begun = now();
    let dispatch = begin(study.clone(), out)?;
    let ended = AtomicBool::new(false);
    let (driven, memory) = thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut most: Option<f64> = None;
            while !ended.load(Ordering::Relaxed) {
                most = most
                    .into_iter()
                    .chain(peak_memory_of_children())
                    .reduce(f64::max);
                thread::sleep(LOOK);
            }
            most
        });
        let driven = cluster::drive("local", Some(workers), dispatch);
        ended.store(true, Ordering::Relaxed);
        (driven, looking.join().unwrap_or_default())
    });
    let (dispatch, driven) = driven?;
    driven?;
    let whole = begun.elapsed();
    let working = dispatch.working();
    let executed = dispatch.end()?;
    match executed.results {
        Some(_) => Ok(Cluster {
            working: working.as_secs_f64(),
            whole: whole.as_secs_f64(),
            memory,
        }),
        None => Err(LabError::new(LabErrorKind::Bug, "runs are missing")),
    }
}
