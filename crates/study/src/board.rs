//! A board: what suites say of algorithms, as a site of static pages.
//!
//! There is a page for the whole, for each suite, for each algorithm, for each pair that a suite is about, and for each cell, which is one
//! algorithm in one suite. A figure is a file of its own, so that no page grows with the number of figures. The same board gives the same
//! bytes.

mod cell;
mod figures;
mod front;
mod html;
mod model;
mod of_algorithm;
mod of_suite;
mod pair;
mod site;

use crate::suite::json_list;

pub use model::{Board, Came, Cell, Member};
pub use site::{File, Site};

/// The style of the pages beyond that of a report.
const STYLE: &str = include_str!("board/board.css");

/// The files of a board: pages, figures, the style, and all reports as JSON.
pub fn files(board: &Board) -> Vec<File> {
    let reports: Vec<_> = board.reports().map(|(_, report)| report).collect();
    let mut files = vec![
        File::new("board.json", json_list(&reports)),
        File::new("style.css", format!("{}\n{STYLE}", sojourn_report::STYLE)),
    ];
    files.extend(figures::files(board));
    for suite in 0..board.suites.len() {
        files.push(of_suite::file(board, suite));
    }
    for algorithm in 0..board.algorithms.len() {
        files.push(of_algorithm::file(board, algorithm));
    }
    files.extend(pair::files(board));
    files.extend(
        board
            .reports()
            .map(|(cell, report)| cell::file(board, cell, report)),
    );
    // Last, so that it names no page that is not there.
    files.push(front::file(board));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Algorithm, Kind, Outcome, Report, Suite, Verdict, built_in};
    use sojourn_scenario::document::Document;
    use sojourn_scenario::error::Result;

    /// Every control against every other, over several buffers.
    fn against_each_other() -> Result<Suite> {
        use std::fmt::Write as _;
        let mut text = String::from("[suite]\ntitle = \"Fairness\"\nsource = \"a note\"\n");
        for other in Algorithm::catalogue(Kind::Cc) {
            for buffer in 0..4 {
                let _ = write!(
                    text,
                    "[[case]]\nname = \"{}-{buffer}\"\nsubstitute = {{ cc = \"flows.tested\" }}\nscenario = {{}}\n\
                     criterion = [{{ name = \"share\", metric = \"m\" }}, {{ name = \"harm\", metric = \"m\" }}]\n",
                    other.text
                );
            }
        }
        Suite::from_document("fairness", Document::parse(&text, "fairness.toml")?, true)
    }

    /// A report with a value for every criterion, as long as they come.
    fn report(suite: &Suite, algorithm: &Algorithm) -> Report {
        let cases = suite.cases.iter();
        let cases = cases.filter(|case| case.substitute.contains_key(&algorithm.kind));
        let outcomes = cases.flat_map(|case| {
            let criteria = case.criteria.iter();
            criteria.map(move |criterion| Outcome {
                criterion: format!("{}/{}", case.about.name, criterion.about.name),
                case: case.title().to_owned(),
                title: criterion.title().to_owned(),
                severity: "should".to_owned(),
                verdict: Verdict::Pass,
                metric: criterion.about.metric.clone().unwrap_or_default(),
                unit: "Mbps".to_owned(),
                value: Some(123.456),
                low: Some(100.123),
                high: Some(150.123),
                n: 24,
                threshold: Some("≥ 100.5 Mbps".to_owned()),
                at_least: Some(100.5),
                at_most: None,
                better: Some("higher".to_owned()),
                source: criterion.about.source.clone().unwrap_or_default(),
                ours: criterion.about.ours.clone(),
                note: Some("the interval straddles the threshold".to_owned()),
                samples: (0..24).map(|own| Some(f64::from(own) * 1.01)).collect(),
                command: format!("sojourn suite {} --cc {}", suite.name, algorithm.text),
            })
        });
        Report {
            suite: suite.name.clone(),
            title: suite.about.title.clone(),
            kind: algorithm.kind.name().to_owned(),
            algorithm: algorithm.text.clone(),
            quick: true,
            seed: 1,
            sojourn: "1.0.0".to_owned(),
            results: outcomes.collect(),
        }
    }

    #[test]
    fn no_file_becomes_large_when_everything_tests_everything() -> Result<()> {
        let mut suites = vec![against_each_other()?];
        for own in built_in() {
            suites.push(own.suite()?);
        }
        let mut algorithms = Algorithm::catalogue(Kind::Queue);
        algorithms.extend(Algorithm::catalogue(Kind::Cc));
        let mut cells = Vec::new();
        for (number, suite) in suites.iter().enumerate() {
            for (place, algorithm) in algorithms.iter().enumerate() {
                if suite.kinds().contains(&algorithm.kind) {
                    let came = Came::Report(Box::new(report(suite, algorithm)), Vec::new());
                    cells.push(Cell {
                        suite: number,
                        algorithm: place,
                        came,
                    });
                }
            }
        }
        let all = cells.len();
        let suites = suites.into_iter().map(|own| (own.clone(), own.name));
        let algorithms = algorithms.into_iter().map(|own| (own.clone(), own.text));
        let board = Board {
            suites: Member::all(suites.collect()),
            algorithms: Member::all(algorithms.collect()),
            cells,
            quick: true,
            command: "sojourn board".to_owned(),
        };
        let files = files(&board);
        let of = |folder: &str| {
            let all = files.iter();
            all.filter(|file| file.path.starts_with(folder)).count()
        };
        assert_eq!(of("cells/"), all);
        let controls = board.of_kind(Kind::Cc).count();
        assert_eq!(of("pairs/"), controls * (controls - 1) / 2);
        for file in files.iter().filter(|file| file.path != "board.json") {
            assert!(
                file.text.len() < 1_000_000,
                "{}: {}",
                file.path,
                file.text.len()
            );
        }
        let total: usize = files.iter().map(|file| file.text.len()).sum();
        assert!(total < 100_000_000, "{total}");
        Ok(())
    }
}
