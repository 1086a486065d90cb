//! `sojourn trace analyse`.

use crate::args::{ForceArgs, Format};
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{Text, emit_data, say};
use crate::show::fitted;
use clap::{Args, Subcommand};
use sojourn_results::overwrite::refuse_foreign_report;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_traces::read::input::STANDARD_INPUT;
use sojourn_traces::read::output::brief::brief;
use sojourn_traces::read::output::{files, report};
use sojourn_traces::read::table::TraceTable;
use sojourn_traces::read::{Analysis, Options, analyse as read};
use std::path::PathBuf;

/// Read packet traces.
#[derive(Subcommand, Debug)]
pub(crate) enum TraceCommand {
    /// Analyse an ns-2 trace, an ASCII trace of ns-3, or a capture (pcap, pcapng): throughput, delay, jitter, losses,
    /// queueing, round trips and utilization. Any of these may be compressed with gzip.
    Analyse(AnalyseArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn trace analyse out.tr
  sojourn trace analyse sender.pcap --receiver receiver.pcap --table flows
  sojourn trace analyse out.tr --from 5s --out analysis")]
pub(crate) struct AnalyseArgs {
    /// Trace file, or - for standard input.
    pub(crate) file: PathBuf,
    #[arg(long, value_name = "FORMAT", help = format_help())]
    pub(crate) trace_format: Option<String>,
    /// Second capture of the same traffic, taken at the receiver. It adds one-way delay and loss. - for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) receiver: Option<PathBuf>,
    /// For tunnels in a capture (GRE, VXLAN, Geneve, IP in IP): analyse the inner packets or the outer ones.
    #[arg(long, value_name = "inner|outer", default_value = "inner")]
    pub(crate) tunnels: String,
    /// Skip unreadable parts of the trace and report how much was skipped, instead of stopping.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Time between points of the time series.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) step: String,
    /// Ignore events before this time of the trace, such as a warm-up.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Ignore events after this time of the trace.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Rate of a link, such as 0-1=10Mbps, to compute its utilization. Repeat it for more links.
    #[arg(long = "rate", value_name = "LINK=RATE")]
    pub(crate) rates: Vec<String>,
    /// Count a packet as lost after this time without an event.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) horizon: String,
    /// Print this table, such as flows, series or distributions [default: all except the long ones]. Repeat it for more
    /// tables.
    #[arg(long = "table", value_name = "NAME")]
    pub(crate) tables: Vec<String>,
    /// Write all tables as CSV and Parquet, and a report with figures, to this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Output format of the tables.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

fn format_help() -> String {
    let names = sojourn_traces::read::format::Format::names();
    format!("Format of the trace: {names} [default: detected from the content]")
}

impl Execute for TraceCommand {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        trace(self)
    }
}

/// Rows of a table that a terminal shows.
const ROWS: usize = 40;

fn trace(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Analyse(args) => analyse(args),
    }
}

fn analyse(args: &AnalyseArgs) -> Result<(), Failure> {
    let texts = sojourn_traces::read::given::Given {
        format: args.trace_format.as_deref(),
        lenient: args.lenient,
        step: Some(&args.step),
        from: args.from.as_deref(),
        to: args.to.as_deref(),
        rates: &args.rates,
        horizon: Some(&args.horizon),
        receiver: args.receiver.as_deref(),
        tunnels: Some(&args.tunnels),
    };
    let options: Options = texts.options(|name| format!("--{name}"))?;
    if let Some(dir) = &args.out {
        files::check_place(dir)?;
        refuse_foreign_report(dir, args.force.force)?;
    }
    let analysis = read(&args.file, &options)?;
    for skipped in &analysis.skipped {
        say(&format!(
            "note: {}: {} could not be read and {} skipped; the first: {}",
            skipped.file,
            skipped.count,
            if skipped.count == 1 { "was" } else { "were" },
            skipped.first.first().map_or("", String::as_str)
        ));
    }
    for remark in &analysis.remarks {
        say(&format!("note: {remark}"));
    }
    let chosen = choose(&analysis, &args.tables)?;
    match args.format {
        Format::Json => json(&analysis, &chosen)?,
        Format::Csv => csv(&analysis, &chosen)?,
        Format::Table if chosen.is_empty() => {
            let mut text = Text::default().plain(&overview(&analysis));
            for table in brief(&analysis) {
                text = text.plain("\n").titled(&fitted(&table.shown(ROWS)));
            }
            text.emit()?;
        }
        Format::Table => {
            let mut text = Text::default();
            for (index, table) in chosen.iter().enumerate() {
                let gap = if index > 0 { "\n" } else { "" };
                let shown = table.without_empty_columns().shown(usize::MAX);
                text = text.plain(gap).titled(&fitted(&shown));
            }
            text.emit()?;
        }
    }
    if let Some(dir) = &args.out {
        let name = match args.file.file_name() {
            Some(name) if name == STANDARD_INPUT => "standard input".into(),
            Some(name) => name.to_string_lossy(),
            None => args.file.to_string_lossy(),
        };
        let report = files::write(dir, &analysis, &command(args), &name)?;
        say(&format!("wrote {}", report.display()));
    }
    Ok(())
}

/// The tables that were asked for by name.
fn choose<'a>(analysis: &'a Analysis, names: &[String]) -> Result<Vec<&'a TraceTable>, LabError> {
    let known: Vec<&str> = analysis.tables.iter().map(|table| table.name).collect();
    let find = |name: &String| {
        analysis.table(name).ok_or_else(|| {
            LabError::new(
                LabErrorKind::UnknownName,
                format!("{} has no table {name:?}", analysis.format.title()),
            )
            .in_file("--table")
            .nearest(sojourn_units::nearest(name, known.iter().copied()))
            .allowed("tables", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

/// The trace as a whole, a line per quantity.
fn overview(analysis: &Analysis) -> String {
    let pairs = analysis
        .table("trace")
        .map(report::pairs)
        .unwrap_or_default();
    // Of what can be counted, only what there was; that there was nothing at all is said.
    let whole = ["Packets", "Events"];
    let none = |value: &str| {
        let unit = value.strip_prefix('0').map(str::trim_start);
        unit.is_some_and(|unit| ["", "packets", "bytes", "lines", "events"].contains(&unit))
    };
    let pairs = pairs
        .into_iter()
        .filter(|[key, value]| whole.contains(&key.as_str()) || !none(value));
    let pairs: Vec<[String; 2]> = pairs.collect();
    let width = pairs.iter().map(|[key, _]| key.len()).max().unwrap_or(0);
    let lines = pairs
        .iter()
        .map(|[key, value]| format!("{key:width$}  {value}\n"));
    format!("{}\n", analysis.format.title()) + &lines.collect::<String>()
}

fn json(analysis: &Analysis, chosen: &[&TraceTable]) -> Result<(), Failure> {
    let all: Vec<&TraceTable> = match chosen {
        [] => analysis.tables.iter().collect(),
        chosen => chosen.to_vec(),
    };
    let tables = all
        .iter()
        .map(|table| (table.name.to_owned(), table.json()));
    let tables: serde_json::Map<String, serde_json::Value> = tables.collect();
    let skipped = analysis.skipped.iter().map(|skipped| {
        serde_json::json!({"file": skipped.file, "count": skipped.count, "first": skipped.first})
    });
    let whole = serde_json::json!({
        "format": analysis.format.name(),
        "skipped": skipped.collect::<Vec<_>>(),
        "remarks": analysis.remarks,
        "tables": tables,
    });
    emit_data(&format!("{whole:#}\n"))
}

fn csv(analysis: &Analysis, chosen: &[&TraceTable]) -> Result<(), Failure> {
    let main = || {
        analysis
            .table("flows")
            .or_else(|| analysis.table("conversations"))
    };
    let table = match chosen {
        [] => main(),
        [table] => Some(*table),
        _ => {
            return Err(LabError::new(
                LabErrorKind::Contradiction,
                "CSV output can hold only one table",
            )
            .in_file("--table")
            .remedy("name one table, or write all to a directory with --out")
            .into());
        }
    };
    match table {
        Some(table) => emit_data(&table.csv()?),
        None => Ok(()),
    }
}

/// The command that repeats the analysis.
fn command(args: &AnalyseArgs) -> String {
    let mut words = Words::new("trace").word("analyse").path(&args.file);
    words = words
        .option("--trace-format", args.trace_format.as_deref())
        .option_path("--receiver", args.receiver.as_deref());
    if args.lenient {
        words = words.word("--lenient");
    }
    words
        .option("--step", Some(&args.step))
        .option("--from", args.from.as_deref())
        .option("--to", args.to.as_deref())
        .options("--rate", &args.rates)
        .option("--horizon", Some(&args.horizon))
        .option(
            "--tunnels",
            Some(&args.tunnels)
                .filter(|tunnels| *tunnels != "inner")
                .map(String::as_str),
        )
        .option_path("--out", args.out.as_deref())
        .text()
}
