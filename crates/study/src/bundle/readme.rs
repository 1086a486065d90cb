//! The first file that whoever gets a bundle reads.

use super::info::BundleInfo;

/// Where Sojourn comes from.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// `README.md`.
pub(super) fn readme(info: &BundleInfo, folder: &str) -> String {
    let BundleInfo {
        sojourn,
        title,
        command,
        runs,
        tables,
        ..
    } = info;
    let title = title.replace(char::is_control, " ");
    let (reference, commit) = match &info.commit {
        Some(commit) => (commit.clone(), format!(" (commit {commit})")),
        None => (format!("v{sojourn}"), String::new()),
    };
    let seeds: Vec<String> = info.seeds.iter().map(u64::to_string).collect();
    let seeds = match seeds.len() {
        1 => format!("Seed: {}", seeds.join("")),
        0..=20 => format!("Seeds: {}", seeds.join(", ")),
        many => format!("{many} different seeds, in `manifest.json`"),
    };
    let results = match info.holds_results {
        true => "`runs/`, `queues/`, `flows/`... | the tables of every run, as Parquet files |\n| ",
        false => "",
    };
    format!(
        "\
# {title}

Results of Sojourn {sojourn}{commit}: {runs} runs, {tables} tables. {seeds}. They were made with

    {command}

To check them, install that version, which takes Python 3.10 or later and Rust:

    pip install 'git+{REPOSITORY}@{reference}'

Then make all runs again, in this folder:

    sojourn rerun .

It answers `same bits: {tables} of {tables} tables`, or names the first table that differs. In place of this folder, `{folder}`, you can
also name the archive that it came in.

| file | what |
|---|---|
| `report.html` | tables, figures, settings and remarks; open it in a browser |
| `tables/`, `figures/`, `latex/`, `tables.xlsx` | the tables and figures of the report in other forms, as far as they were written |
| `source.toml` | the study or scenario file that was run, if there was one |
| `scenarios/` | what ran, a file for each point, with every default; `sojourn run FILE` takes them |
| `manifest.json` | the same for programs, with seeds, dialects and parameters; `rerun` reads it |
| {results}`checksums/` | XXH64 checksums of the tables of each run; `xxhsum -H1` prints them, too |
"
    )
}
