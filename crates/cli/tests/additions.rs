//! The how-tos that add to the laboratory, followed to the letter in one copy of the crates: most of the time goes into building it.

#[path = "../../../tests/support/recipe.rs"]
mod recipe;

use recipe::Recipe;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

const CRATES: [&str; 15] = [
    "units",
    "sim",
    "queue",
    "cc",
    "transport",
    "traffic",
    "scenario",
    "results",
    "run",
    "gym",
    "traces",
    "conform",
    "study",
    "report",
    "cli",
];

const STUDY: &str = r#"
flows = ["cubic"]
[run]
duration = "3s"
warmup = "1s"
replications = 1
[topology]
rtt = "20ms"
buffer = "20p"
[series]
record = "sent"
step = "500ms"
[[experiment]]
name = "rates"
[[experiment.factor]]
name = "rate"
path = "topology.rate"
unit = "Mbps"
values = ["1Mbps", "2Mbps"]
[[table]]
id = "jitter"
rows = ["rate"]
metrics = ["smoothed_jitter_s"]
[[figure]]
id = "sent"
kind = "time"
y = "sent_packets"
series = "rate"
[[figure]]
id = "goodput"
kind = "area"
x = "rate"
y = "goodput_bps_sum"
x_scale = "linear"
"#;

/// The copy with everything that the pages add.
struct Laboratory {
    sojourn: PathBuf,
    folder: tempfile::TempDir,
}

static LABORATORY: LazyLock<Laboratory> = LazyLock::new(|| {
    let recipe = follow().expect("the pages can be followed");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("study.toml"), STUDY).expect("written");
    Laboratory {
        sojourn: recipe.cargo_build("sojourn-cli", "sojourn"),
        folder,
    }
});

impl Laboratory {
    /// What the command prints.
    fn sojourn(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.sojourn)
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .expect("the command runs");
        let text = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success(), "{}{}", text[0], text[1]);
        text.concat()
    }
}

fn follow() -> io::Result<Recipe> {
    let crates = CRATES.map(|name| format!("crates/{name}"));
    let mut directories: Vec<&str> = crates.iter().map(String::as_str).collect();
    directories.extend(["studies", "suites", "docs", "examples"]);
    let mut recipe = Recipe::begin("add-an-auditor-rule", &directories)?;
    recipe.write_file("crates/study/src/auditor/lone_flow.rs")?;
    recipe.add_line(
        "crates/study/src/auditor.rs",
        "    few_replications,\n",
        "    lone_flow,\n",
    )?;

    recipe.turn_to("add-a-figure")?;
    recipe.write_file("crates/study/src/figure/area.rs")?;
    let specs = "crates/results/src/specs.rs";
    recipe.add_block(specs, "A line with a band.\";\n")?;
    recipe.write_file("crates/report/src/figure/area.rs")?;
    recipe.add_block("crates/report/src/kind.rs", "            lines::Lines,\n")?;

    recipe.turn_to("add-a-metric")?;
    let outcome = "crates/results/src/outcome.rs";
    recipe.add_block(outcome, "    pub jitter_sum: u128,\n")?;
    let run = "crates/run/src/run.rs";
    // Those of flows, and those of members of groups.
    for indent in [8, 16] {
        let jitter = "jitter_sum: counts.jitter_sum,\n";
        recipe.add_block(run, &format!("\n{:indent$}{jitter}", ""))?;
    }
    let columns = "crates/results/src/columns/flows.rs";
    let last = "\"Sum of the differences of the delays of consecutive packets.\";\n";
    recipe.add_block(columns, last)?;
    let metrics = "crates/results/src/metrics/flow.rs";
    recipe.add_block(metrics, "const COUNTS: &[Entry] = &[\n")?;

    recipe.turn_to("add-a-series")?;
    let quantities = "crates/scenario/src/quantities.rs";
    recipe.replace(quantities, "(&str, &str); 15]", "(&str, &str); 16]")?;
    recipe.add_block(quantities, "QUANTITIES: [(&str, &str); 16] = [\n")?;
    let queues = "crates/run/src/series/of_queues.rs";
    recipe.add_block(queues, "OF_QUEUES: &[OfQueue] = &[\n")?;
    let drawn = "crates/study/src/figure/quantity.rs";
    recipe.add_block(drawn, "OVER_TIME: &[(&str, &str)] = &[\n")?;

    recipe.turn_to("add-a-trace-format")?;
    recipe.write_file("crates/traces/src/write/format/csv.rs")?;
    let formats = "crates/traces/src/write/format.rs";
    recipe.add_block(formats, "    ns2_exact::Ns2Exact,\n")?;

    recipe.turn_to("add-a-command")?;
    recipe.write_file("crates/cli/src/commands/points.rs")?;
    recipe.add_line(
        "crates/cli/src/commands.rs",
        "    study::StudyArgs as Study,\n",
        "    points::PointsArgs as Points,\n",
    )?;
    Ok(recipe)
}

#[test]
fn a_new_command_is_one_file_and_one_line() {
    let printed = LABORATORY.sojourn(&["points", "study.toml"]);
    assert_eq!(printed, "rate=1\nrate=2\n");
    let help = LABORATORY.sojourn(&["--help"]);
    let line = help.lines().find(|line| line.starts_with("  points "));
    assert!(
        line.is_some_and(|line| line.ends_with("  List the points of a study")),
        "{help}"
    );
}

#[test]
fn a_new_trace_format_is_one_file_and_one_line() {
    let set = ["--set", "topology.rate=1Mbps"];
    let scenario = "flows = [\"cubic\"]\n[run]\nduration = \"3s\"\nwarmup = \"0s\"\n";
    let folder = LABORATORY.folder.path();
    fs::write(folder.join("scenario.toml"), scenario).expect("written");
    let run = ["run", "scenario.toml", "--trace", "csv", "run.csv"];
    LABORATORY.sojourn(&[run.as_slice(), set.as_slice()].concat());
    let text = fs::read_to_string(folder.join("run.csv")).expect("a trace");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time_ps,link,flow,event,bytes"));
    assert!(lines.any(|line| line.contains(",left-right,cubic-1,receive,")));
    let help = LABORATORY.sojourn(&["run", "--help"]);
    assert!(help.contains("csv (a line per event)"), "{help}");
}

/// One study has all four, and reads the metric and the series back from its results.
#[test]
fn new_metrics_series_figures_and_rules_are_in_the_results_of_a_study() {
    let study = ["study", "study.toml", "--out", "results"];
    let made = LABORATORY.sojourn(&[study.as_slice(), &["--all"]].concat());
    assert!(made.contains("Jitter, smoothed"), "{made}");
    assert!(made.contains("has the bottleneck to itself"), "{made}");
    let read_back = LABORATORY.sojourn(&[study.as_slice(), &["--format", "csv"]].concat());
    assert!(read_back.contains("smoothed_jitter"), "{read_back}");
    LABORATORY.sojourn(&["report", "results"]);
    let figure = LABORATORY
        .folder
        .path()
        .join("results/figures/goodput.vl.json");
    let figure = fs::read_to_string(figure).expect("a figure");
    let figure: serde_json::Value = serde_json::from_str(&figure).expect("JSON");
    assert_eq!(figure["layer"][0]["mark"]["type"], "area");
    assert_eq!(figure["data"]["values"].as_array().map(Vec::len), Some(2));
}
