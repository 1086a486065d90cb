//! Reference pages, generated from the declarations: what scenario files may say.

mod auditor;
#[cfg(test)]
mod compared;
mod flows;
mod markdown;
mod results;
mod traces;

use sojourn_queue::registry::{self, CatalogueEntry, DisciplineKind};
use sojourn_scenario::LabError;
use sojourn_scenario::quantities::QUANTITIES;
use sojourn_scenario::reader::{TOP_KEYS, TOPOLOGY_KINDS, flow_kinds, tables};
use sojourn_scenario::schema::Tables;
use sojourn_study::expect::expectation;
use sojourn_study::validate::trajectories;
use sojourn_units::Spec;

use auditor::auditor_markdown;
use markdown::{cell, params_markdown};
use results::{metrics_markdown, results_markdown};
use traces::traces_markdown;

/// Every generated page: its file in `docs`, and its text in Markdown.
pub(crate) fn pages() -> Vec<(String, String)> {
    let mut pages = vec![
        ("metrics.md".to_owned(), metrics_markdown()),
        ("auditor.md".to_owned(), auditor_markdown()),
        ("reference/results.md".to_owned(), results_markdown()),
        ("reference/traces.md".to_owned(), traces_markdown()),
        ("reference/scenario.md".to_owned(), scenario_markdown()),
        (
            "reference/study.md".to_owned(),
            study_markdown(&sojourn_study::study::tables()),
        ),
        ("reference/queues.md".to_owned(), queues_markdown()),
    ];
    for entry in registry::catalogue() {
        pages.push((
            format!("reference/queues/{}.md", entry.name),
            queue_markdown(entry),
        ));
    }
    pages.extend(flows::pages());
    pages
}

/// The list of queue disciplines, in Markdown.
fn queues_markdown() -> String {
    let mut page = String::from(
        "# Queue disciplines\n\n\
         `sojourn show NAME` prints the same information as these pages. A scheduler with a parameter `each` can have an AQM in each of its queues. This page and the pages it links to are generated from the declarations in `crates/queue/src/disciplines`.\n\n\
         | name | kind | dialects | what |\n|---|---|---|---|\n",
    );
    for entry in registry::catalogue() {
        let dialects: Vec<&str> = entry.dialects.iter().map(|info| info.release).collect();
        let first = entry
            .about
            .split_inclusive(". ")
            .next()
            .unwrap_or(entry.about);
        page.push_str(&format!(
            "| [`{}`](queues/{}.md) | {} | {} | {} |\n",
            entry.name,
            entry.name,
            kind_word(entry),
            dialects.join(", "),
            cell(&format!("{}: {}", entry.title, first.trim()))
        ));
    }
    page
}

fn kind_word(entry: &CatalogueEntry) -> &'static str {
    match entry.kind {
        DisciplineKind::Aqm => "AQM",
        DisciplineKind::Scheduler => "scheduler",
    }
}

/// What a discipline does, and a figure of what to expect.
fn with_figure(entry: &CatalogueEntry) -> String {
    let caption = expectation(entry).caption;
    format!(
        "{}\n\n![{}](../../images/queues/{}.svg)\n\n*{caption}*{}",
        entry.about,
        entry.title,
        entry.name,
        diagram_markdown(entry)
    )
}

/// The section with the diagram of the algorithm; nothing for a discipline without one.
fn diagram_markdown(entry: &CatalogueEntry) -> String {
    match sojourn_report::algorithm(entry.name) {
        Some(_) => format!(
            "\n\n## Algorithm\n\n![The algorithm of {}](../../{})",
            entry.title,
            diagram_file(entry.name)
        ),
        None => String::new(),
    }
}

/// The file of the diagram of an algorithm, in `docs`.
fn diagram_file(name: &str) -> String {
    format!("images/queues/{name}-algorithm.svg")
}

/// The figures of the pages: file in `docs`, and SVG.
///
/// # Errors
/// If a run fails.
pub(crate) fn figures() -> Result<Vec<(String, String)>, LabError> {
    let figure = |entry: &CatalogueEntry| {
        let picture = expectation(entry).picture(entry)?;
        let name = format!("images/queues/{}.svg", entry.name);
        Ok((name, sojourn_report::svg(&picture)))
    };
    let pages: Result<Vec<_>, LabError> = registry::catalogue().iter().map(figure).collect();
    let mut figures = pages?;
    let diagram = |name| Some((diagram_file(name), sojourn_report::algorithm(name)?));
    figures.extend(sojourn_report::algorithms().filter_map(diagram));
    figures.extend(flows::figures()?);
    figures.extend(trajectories::figures()?);
    Ok(figures)
}

/// The page of a queue discipline, in Markdown.
fn queue_markdown(entry: &CatalogueEntry) -> String {
    let mut page = format!(
        "# {}\n\n`{}`, {}{}\n\n{}\n\n## Dialects\n\n{}\nThe first is the default.\n\n## Parameters\n\n{}{}",
        entry.title,
        entry.name,
        kind_word(entry),
        flows::also(entry.aliases),
        with_figure(entry),
        flows::dialects_markdown(entry.dialects),
        params_markdown(entry.params),
        flows::overrides_markdown(entry.dialects)
    );
    if let Ok(Some(lines)) = registry::tc(&Spec::new(entry.name), "DEV") {
        page.push_str(&format!(
            "\n## On Linux\n\n`sojourn tc {}` prints the defaults of dialect linux as arguments of Linux's `tc`:\n\n```text\n{lines}\n```\n",
            entry.name
        ));
    }
    page.push_str(&format!(
        "\n## Sources and deviations\n\n{}\n",
        entry.sources()
    ));
    page
}

/// The page of scenario files, in Markdown.
fn scenario_markdown() -> String {
    let mut page = String::from(
        "# Scenario files\n\n\
         A scenario is a TOML file. Only `flows` is required; everything else has a default. Every quantity has a unit: `5ms`, `10Mbps`, `100p`, `64kB`. An unknown key is an error.\n\n\
         This page is generated from the declarations in `crates/scenario/src/model.rs`.\n\n\
         ## Top-level keys\n\n| key | meaning |\n|---|---|\n",
    );
    for (key, meaning) in TOP_KEYS {
        page.push_str(&format!("| `{key}` | {} |\n", cell(meaning)));
    }
    page.push_str("\nThe kinds of topology, chosen by `kind` in `[topology]`:\n\n| kind | meaning |\n|---|---|\n");
    for (kind, meaning) in TOPOLOGY_KINDS {
        page.push_str(&format!("| `{kind}` | {} |\n", cell(meaning)));
    }
    for (heading, doc, params) in tables() {
        page.push_str(&format!(
            "\n## `{heading}`\n\n{doc}\n\n{}",
            params_markdown(params)
        ));
        if heading == "[[flows]]" {
            page.push_str(FLOWS);
            for kind in flow_kinds() {
                page.push_str(&format!("| `{}` | {} |\n", kind.name, cell(kind.doc)));
            }
        }
        if heading == "[series]" {
            page.push_str("\n| series | meaning |\n|---|---|\n");
            for (name, meaning) in QUANTITIES {
                page.push_str(&format!("| `{name}` | {} |\n", cell(meaning)));
            }
        }
    }
    page.push_str(PATHS);
    page
}

/// The page of study files, in Markdown, from their parameter tables.
fn study_markdown(tables: &Tables) -> String {
    let mut page = String::from(
        "# Study files\n\n\
         A study is a scenario (see [scenario files](scenario.md)) with the additional tables on this page. Every combination of the levels of an experiment's factors is a point. Every point runs in every replication.\n",
    );
    for &(heading, doc, params) in tables {
        page.push_str(&format!(
            "\n## `{heading}`\n\n{doc}\n\n{}",
            params_markdown(params)
        ));
    }
    page
}

const FLOWS: &str = "\nEach entry has a `kind`, or a `spec` on one line (`spec = \"4*reno\"`). An entry can also be a string, which is a `spec` (`flows = [\"4*reno\", \"cbr 2Mbps size=1000B\"]`). All other keys are parameters of the kind; `sojourn show` lists them.\n\n| kind | meaning |\n|---|---|\n";

const PATHS: &str = "\n## Paths\n\n\
    `--set PATH=VALUE` and the factors of a study refer to a value by its path: `topology.rate`, `flows[0].count`, `flows.reno.count`. In a list of tables, a word selects the entry with that label, name, pair of nodes or kind. Put a key with a dot or a space in quotes. A path can lead into a specification on one line as if it were a table: `topology.queue.target` is the target of `queue = \"codel target=5ms\"`. The value is parsed as TOML (`3`, `true`, `[\"4*reno\"]`); if it is not TOML, it is a string.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_key_of_every_table() {
        let page = scenario_markdown();
        for (heading, _, params) in tables() {
            let section = page.split(&format!("\n## `{heading}`\n")).nth(1).unwrap();
            let section = section.split("\n## ").next().unwrap();
            for info in params {
                assert!(
                    section.contains(&format!("| `{}` |", info.name)),
                    "{heading} {}",
                    info.name
                );
            }
        }
        for (kind, _) in TOPOLOGY_KINDS {
            assert!(page.contains(&format!("| `{kind}` |")));
        }
    }

    #[test]
    fn the_page_of_studies_has_a_section_for_each_table() {
        let page = study_markdown(&tables());
        for (heading, doc, _) in tables() {
            assert!(
                page.contains(&format!("\n## `{heading}`\n\n{doc}\n")),
                "{heading}"
            );
        }
    }

    #[test]
    fn every_row_of_a_table_has_its_six_cells() {
        for (_, _, params) in tables() {
            for row in params_markdown(params).lines() {
                let bars = row.matches('|').count() - row.matches("\\|").count();
                assert_eq!(bars, 7, "{row}");
            }
        }
    }
}
