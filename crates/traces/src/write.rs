//! One run with every packet's events written as a trace.

mod format;
mod layout;
mod scene;
mod sink;

use std::cell::RefCell;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use sojourn_sim::trace::Merged;

pub use self::format::TraceFormat;
pub use self::format::parquet::columns as parquet_columns;
pub use self::sink::Form;

use scene::Scene;
use sink::Sink;
use sojourn_results::outcome::RunOutcome;
use sojourn_run::compile::compile;
use sojourn_run::run::run_traced_unless;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::model::Scenario;
use sojourn_scenario::resolved::Resolved;

/// Why a traced run has no outcome.
#[derive(Debug)]
pub enum TraceError {
    /// The run failed.
    Run(LabError),
    /// The trace could not be written.
    Write(std::io::Error),
}

/// Runs one replication and writes its trace: every packet of the links of these names, or of all if there is none, in the order
/// of time.
///
/// # Errors
/// As [`sojourn_run::run::run`], if a name is no link's, and if the trace cannot be written.
pub fn run_written(
    scenario: &Scenario,
    replication: u64,
    format: TraceFormat,
    links: &[String],
    out: &mut (dyn Write + Send),
) -> Result<RunOutcome, TraceError> {
    let never = AtomicBool::new(false);
    run_written_unless(scenario, replication, format, links, out, &never)
}

/// As [`run_written`], but ends within a fraction of a second once `stop` is true.
///
/// # Errors
/// As [`run_written`], and when it was stopped.
pub fn run_written_unless(
    scenario: &Scenario,
    replication: u64,
    format: TraceFormat,
    links: &[String],
    out: &mut (dyn Write + Send),
    stop: &AtomicBool,
) -> Result<RunOutcome, TraceError> {
    let scenario = &scenario.resolve().map_err(TraceError::Run)?;
    check_links(scenario, replication, links).map_err(TraceError::Run)?;
    // What can fail before the run, fails when the network is compiled.
    let state: RefCell<std::io::Result<Option<Box<dyn Sink + '_>>>> = RefCell::new(Ok(None));
    let result = run_traced_unless(
        scenario,
        replication,
        |compiled| {
            let scene = Scene::of(compiled, links);
            let written: Vec<bool> = scene.links.iter().map(|link| link.chosen).collect();
            let sink = (format.form().open)(scene, out);
            *state.borrow_mut() = sink.map(Some);
            let state = &state;
            Merged::new(compiled.lag(), move |record| {
                if !scene::item(&written, record.link).is_some_and(|chosen| *chosen) {
                    return;
                }
                let mut state = state.borrow_mut();
                if let Ok(Some(sink)) = &mut *state
                    && let Err(error) = sink.record(record)
                {
                    *state = Err(error);
                }
            })
        },
        stop,
    );
    let (outcome, tracer) = result.map_err(TraceError::Run)?;
    drop(tracer);
    let sink = state.into_inner().map_err(TraceError::Write)?;
    if let Some(mut sink) = sink {
        sink.finish().map_err(TraceError::Write)?;
    }
    Ok(outcome)
}

/// Whether all names are links'.
fn check_links(scenario: &Resolved, replication: u64, links: &[String]) -> Result<(), LabError> {
    if links.is_empty() {
        return Ok(());
    }
    let compiled = compile(scenario, replication)?;
    let names = || compiled.links.iter().map(|link| link.name.as_str());
    for given in links {
        if !names().any(|name| name == given) {
            return Err(LabError::new(
                LabErrorKind::UnknownName,
                format!("there is no link {given:?}"),
            )
            .in_file("--trace-link")
            .nearest(sojourn_units::nearest(given, names()))
            .allowed("links", names().collect::<Vec<_>>().join(", ")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::document::Document;

    fn scenario(text: &str) -> Scenario {
        Scenario::from_document(&Document::parse(text, "t.toml").unwrap()).unwrap()
    }

    const TINY: &str = "dialect = \"ns2\"\n[run]\nduration = \"50ms\"\nwarmup = \"0s\"\ndeterministic = true\n\
        [topology]\nrate = \"1Mbps\"\nrtt = \"24ms\"\nbottleneck_delay = \"10ms\"\naccess_rate = \"10Mbps\"\n\
        queue = \"droptail limit=2p\"\n[[flows]]\nspec = \"2*cbr 1Mbps size=1000B\"\n";

    #[test]
    fn a_trace_is_in_the_order_of_time_and_names_nodes_ports_and_drops() {
        let mut bytes = Vec::new();
        let outcome = run_written(&scenario(TINY), 0, TraceFormat::Ns2, &[], &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let times: Vec<f64> = text
            .lines()
            .map(|line| line.split(' ').nth(1).unwrap().parse().unwrap())
            .collect();
        assert!(times.is_sorted());
        assert!(
            text.starts_with("+ 0 2 0 cbr 1000 ------- 1 2.0 3.0 0 0\n"),
            "{text}"
        );
        let drops = text.lines().filter(|line| line.starts_with("d ")).count();
        let counted: u64 = outcome.queues.iter().map(|q| q.totals.dropped()).sum();
        assert!(drops > 0);
        assert_eq!(u64::try_from(drops).unwrap(), counted);
    }

    #[test]
    fn a_nam_trace_has_every_packet_in_order_and_counts_what_the_run_counts() {
        let mut bytes = Vec::new();
        let outcome = run_written(&scenario(TINY), 0, TraceFormat::Nam, &[], &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("V -t * -v 1.0a5 -a 0\nA -t *"), "{text}");
        let flag = |line: &str, flag: &str| -> String {
            let mut words = line.split(' ');
            words.find(|word| *word == flag).unwrap();
            words.next().unwrap().to_owned()
        };
        let (mut last, mut drops) = (0.0, 0);
        // What has happened so far to each packet at each link.
        let mut stories: std::collections::BTreeMap<[String; 3], String> = Default::default();
        for line in text.lines() {
            let event = line.get(..1).unwrap();
            if !"+-hrd".contains(event) {
                continue;
            }
            let time: f64 = flag(line, "-t").parse().unwrap();
            assert!(time >= last, "{line}");
            last = time;
            let key = ["-s", "-d", "-i"].map(|name| flag(line, name));
            let story = stories.entry(key).or_default();
            story.push_str(event);
            let allowed = ["+", "+-", "+-h", "+-hr", "+d"];
            assert!(allowed.contains(&story.as_str()), "{story}: {line}");
            drops += u64::from(event == "d");
        }
        let counted: u64 = outcome.queues.iter().map(|q| q.totals.dropped()).sum();
        assert!(drops > 0);
        assert_eq!(drops, counted);
        // Each link has a place, and each flow a colour.
        assert_eq!(
            text.matches("\nl -t * ").count(),
            text.matches("deg\n").count()
        );
        assert_eq!(text.matches("\nc -t * ").count(), 2);
    }

    #[test]
    fn a_trace_does_not_change_the_run() {
        let plain = sojourn_run::run::run(&scenario(TINY), 0).unwrap();
        for format in TraceFormat::ALL {
            let mut bytes = Vec::new();
            let traced = run_written(&scenario(TINY), 0, format, &[], &mut bytes).unwrap();
            assert_eq!(traced, plain, "{format:?}");
            assert!(!bytes.is_empty());
        }
    }

    #[test]
    fn a_parquet_trace_has_the_flag_ae_where_accurate_ecn_is_asked_for() {
        use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
        let flags = |flow: &str| {
            let text = TINY.replace("dialect = \"ns2\"\n", "");
            let text = text.replace("2*cbr 1Mbps size=1000B", flow);
            let mut bytes = Vec::new();
            run_written(&scenario(&text), 0, TraceFormat::Parquet, &[], &mut bytes).unwrap();
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("t.parquet");
            std::fs::write(&path, bytes).unwrap();
            let file = std::fs::File::open(&path).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file);
            let batch = reader.unwrap().build().unwrap().next().unwrap().unwrap();
            let column = batch.column_by_name("flags").unwrap();
            let column = column.as_any().downcast_ref::<arrow_array::StringArray>();
            let all = column.unwrap().iter().flatten().map(str::to_owned);
            all.collect::<Vec<String>>()
        };
        // RFC 9768 section 3.1.1: the SYN has all three bits set.
        let accurate = flags("sack accurate_ecn=true");
        assert_eq!(accurate[0], "SYN,ECE,CWR,AE");
        let classic = flags("sack ecn=true");
        assert_eq!(classic[0], "SYN,ECE,CWR");
        assert!(classic.iter().all(|flags| !flags.contains("AE")));
    }

    #[test]
    fn a_trace_that_cannot_be_written_is_an_error() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        for format in TraceFormat::ALL {
            let result = run_written(&scenario(TINY), 0, format, &[], &mut Full);
            assert!(matches!(result, Err(TraceError::Write(_))), "{format:?}");
        }
    }
}
