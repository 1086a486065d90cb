//! `sojourn validate`: our disciplines and congestion controls beside those of ns-2, ns-3 and Linux.

use crate::args::Format;
use crate::args::threads;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{self, emit, emit_data, table};
use clap::Args;
use serde_json::json;
use sojourn_scenario::LabError;
use sojourn_study::validate::{self, Checked, Verdict, trajectories};
use std::fmt::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Compare queue disciplines with measurements of ns-2, ns-3 and Linux.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn validate
  sojourn validate --all")]
pub(crate) struct ValidateArgs {
    /// Peer to compare with: linux, ns2, ns3, or the model ware [default: all]. Repeat it for more peers.
    #[arg(long = "peer", value_name = "NAME")]
    pub(crate) peers: Vec<String>,
    /// Discipline to compare [default: all]. Repeat it for more disciplines.
    #[arg(long = "queue", value_name = "NAME")]
    pub(crate) queues: Vec<String>,
    /// Number of runs per row that depends on random draws.
    #[arg(long, default_value_t = sojourn_study::validate::SEEDS, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub(crate) seeds: u64,
    /// Number of rows in parallel [default: one per core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Show every value, not only those outside the allowed deviation.
    #[arg(long)]
    pub(crate) all: bool,
    /// Instead, follow single flows of Linux through window, threshold and round trip. Report where each first differs
    /// from Sojourn's flow, and write a figure of both to this directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["peers", "queues", "all"])]
    pub(crate) trajectories: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

impl Execute for ValidateArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        validate(self)
    }
}

fn validate(args: &ValidateArgs) -> Result<(), Failure> {
    if let Some(folder) = &args.trajectories {
        return follow(folder, args.format);
    }
    let cells = validate::cells(&args.peers, &args.queues)?;
    let threads = args.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        std::num::NonZero::get,
    );
    let checked = validate::check(&cells, args.seeds, threads)?;
    match args.format {
        Format::Table => emit(&text(&checked, args.all))?,
        Format::Csv => emit_data(&csv(&checked)?)?,
        Format::Json => {
            let all: Vec<serde_json::Value> = checked.iter().map(object).collect();
            emit_data(&format!("{:#}\n", serde_json::Value::from(all)))?;
        }
    }
    if checked.iter().any(|cell| cell.verdict == Verdict::Outside) {
        return Err(Failure::Differs);
    }
    Ok(())
}

/// Follows every trajectory, writes its figure to `folder` and tells where the two part.
fn follow(folder: &Path, format: Format) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| LabError::io(folder, "make the directory", &error))?;
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    for trajectory in trajectories::trajectories()? {
        let followed = trajectories::follow(&trajectory)?;
        let file = folder.join(trajectory.file());
        let picture = sojourn_report::svg(&followed.picture());
        std::fs::write(&file, picture)
            .map_err(|error| LabError::io(&file, "write the figure", &error))?;
        let (first, share) = (followed.divergence(), followed.share_together());
        rows.push(vec![
            trajectory.row.clone(),
            first.map_or("none".to_owned(), |at| at.to_string()),
            format!("{:.0} %", share * 100.0),
        ]);
        objects.push(json!({
            "row": trajectory.row,
            "queue": trajectory.queue.to_string(),
            "first_divergence_s": first.map(|at| at.at_s),
            "in": first.map(|at| at.what),
            "theirs": first.and_then(|at| at.theirs),
            "ours": first.and_then(|at| at.ours),
            "share_together": share,
        }));
    }
    let header = ["flow", "first divergence", "together"];
    match format {
        Format::Table => emit(&table(&header, &rows))?,
        Format::Csv => emit_data(&output::csv(&header, &rows)?)?,
        Format::Json => emit_data(&format!("{:#}\n", serde_json::Value::from(objects)))?,
    }
    Ok(())
}

const COLUMNS: [&str; 10] = [
    "peer",
    "row",
    "queue",
    "figure",
    "theirs",
    "ours",
    "99 % of ours",
    "least to most",
    "difference",
    "verdict",
];

fn text(checked: &[Checked], all: bool) -> String {
    let rows: Vec<Vec<String>> = validate::summary(checked)
        .into_iter()
        .map(|line| {
            let mut row = vec![line.queue, line.peer];
            row.extend(line.counts.iter().map(usize::to_string));
            row
        })
        .collect();
    let header = [
        "queue",
        "peer",
        "exact",
        "in band",
        "in spread",
        "explained",
        "outside",
    ];
    let mut text = table(&header, &rows);
    let shown: Vec<&Checked> = checked
        .iter()
        .filter(|cell| all || cell.verdict >= Verdict::Explained)
        .collect();
    if !shown.is_empty() {
        let rows: Vec<Vec<String>> = shown.iter().map(|cell| row(cell)).collect();
        let _ = write!(text, "\n{}", table(&COLUMNS, &rows));
    }
    let explained: Vec<&&Checked> = shown.iter().filter(|cell| cell.reason.is_some()).collect();
    if !explained.is_empty() {
        text.push('\n');
        for cell in explained {
            let _ = writeln!(
                text,
                "{} {}: {}",
                cell.cell.row,
                cell.cell.metric,
                cell.reason.unwrap_or_default()
            );
        }
    }
    let counts = |verdict: Verdict| checked.iter().filter(|c| c.verdict == verdict).count();
    let _ = writeln!(
        text,
        "\n{} figures: {} exact, {} within their band (counts 1 % or 3 packets; delays 2 % or 0.6 ms; shares 0.02), {} within 99 % of our runs, {} explained, {} outside",
        checked.len(),
        counts(Verdict::Exact),
        counts(Verdict::Band),
        counts(Verdict::Spread),
        counts(Verdict::Explained),
        counts(Verdict::Outside),
    );
    text
}

fn row(checked: &Checked) -> Vec<String> {
    let number = |value: f64| match value {
        v if v.fract() == 0.0 => format!("{v}"),
        v if v.abs() < 100.0 => format!("{v:.3}"),
        v => format!("{v:.1}"),
    };
    let between = |ends: Option<(f64, f64)>| {
        ends.map_or(String::new(), |(low, high)| {
            format!("{} to {}", number(low), number(high))
        })
    };
    vec![
        checked.cell.peer.clone(),
        checked.cell.row.clone(),
        checked.cell.queue.to_string(),
        checked.cell.metric.clone(),
        number(checked.cell.theirs),
        number(checked.ours),
        between(checked.spread),
        between(checked.range),
        checked
            .difference()
            .map_or(String::new(), |part| format!("{:+.2} %", part * 100.0)),
        checked.verdict.name().to_owned(),
    ]
}

fn csv(checked: &[Checked]) -> Result<String, std::io::Error> {
    let rows: Vec<Vec<String>> = checked.iter().map(row).collect();
    output::csv(&COLUMNS, &rows)
}

fn object(checked: &Checked) -> serde_json::Value {
    json!({
        "peer": checked.cell.peer,
        "row": checked.cell.row,
        "queue": checked.cell.queue.to_string(),
        "figure": checked.cell.metric,
        "theirs": checked.cell.theirs,
        "their_runs": checked.cell.runs,
        "ours": checked.ours,
        "runs": checked.runs,
        "spread": checked.spread.map(|(low, high)| [low, high]),
        "range": checked.range.map(|(least, most)| [least, most]),
        "verdict": checked.verdict.name(),
        "reason": checked.reason,
    })
}
