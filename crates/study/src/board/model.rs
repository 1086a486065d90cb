//! What a board is of, and where its pages are.

use std::collections::BTreeSet;

use crate::suite::{Algorithm, Course, Kind, Report, Suite};

/// What some suites say of some algorithms.
#[derive(Debug)]
pub struct Board {
    /// The suites, in the order of the pages.
    pub suites: Vec<Member<Suite>>,
    /// The algorithms, queues first.
    pub algorithms: Vec<Member<Algorithm>>,
    /// Suite by suite, algorithm by algorithm.
    pub cells: Vec<Cell>,
    /// Whether this is the quick form.
    pub quick: bool,
    /// The command that makes the board again.
    pub command: String,
}

/// A suite or an algorithm.
#[derive(Clone, Debug)]
pub struct Member<T> {
    /// What it is.
    pub own: T,
    /// Its name in addresses, unique among its like.
    pub slug: String,
}

/// One algorithm in one suite.
#[derive(Debug)]
pub struct Cell {
    /// The suite, by its number.
    pub suite: usize,
    /// The algorithm, by its number.
    pub algorithm: usize,
    /// What came of it.
    pub came: Came,
}

/// What came of an algorithm in a suite.
#[derive(Debug)]
pub enum Came {
    /// The results, and what their time series are.
    Report(Box<Report>, Vec<Course>),
    /// The suite cannot test it; the reason.
    Refused(String),
    /// A run failed; how.
    Failed(String),
}

/// Letters of a name in an address.
const LONGEST: usize = 80;

impl<T> Member<T> {
    /// The members of a board, each with the slug that its name gives, or with a number behind it where that is taken.
    pub fn all(given: Vec<(T, String)>) -> Vec<Member<T>> {
        let mut taken = BTreeSet::new();
        let member = |(own, name): (T, String)| {
            let plain = |c: char| match c {
                c if c.is_ascii_alphanumeric() || "_.=-".contains(c) => c,
                _ => '-',
            };
            let base: String = name.chars().map(plain).take(LONGEST).collect();
            // A name that begins with a dot is hidden, or leads elsewhere.
            let base = match base.starts_with('.') || base.is_empty() {
                true => format!("_{base}"),
                false => base,
            };
            let numbered = (2_u32..).map(|number| format!("{base}-{number}"));
            let mut slugs = std::iter::once(base.clone()).chain(numbered);
            // Some file systems do not tell capital letters.
            let slug = slugs.find(|slug| taken.insert(slug.to_ascii_lowercase()));
            Member {
                own,
                slug: slug.unwrap_or(base),
            }
        };
        given.into_iter().map(member).collect()
    }
}

/// The folder of the pages of a kind.
pub(super) fn folder(kind: Kind) -> &'static str {
    match kind {
        Kind::Queue => "queues",
        Kind::Cc => "controls",
    }
}

/// What the algorithms of a kind are called.
pub(super) fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Queue => "Queues",
        Kind::Cc => "Congestion controls",
    }
}

/// The results of one kind of algorithm in a suite: the criteria, and a column per algorithm.
pub(super) struct Field<'a> {
    pub(super) suite: usize,
    pub(super) kind: Kind,
    /// In the order of the suite.
    pub(super) criteria: Vec<&'a str>,
    pub(super) columns: Vec<(usize, &'a Report)>,
}

impl Board {
    /// The cells that have results.
    pub(super) fn reports(&self) -> impl Iterator<Item = (&Cell, &Report)> {
        self.cells.iter().filter_map(|cell| match &cell.came {
            Came::Report(report, _) => Some((cell, &**report)),
            Came::Refused(_) | Came::Failed(_) => None,
        })
    }

    pub(super) fn cell(&self, suite: usize, algorithm: usize) -> Option<&Cell> {
        let mut cells = self.cells.iter();
        cells.find(|cell| cell.suite == suite && cell.algorithm == algorithm)
    }

    pub(super) fn report(&self, suite: usize, algorithm: usize) -> Option<&Report> {
        match &self.cell(suite, algorithm)?.came {
            Came::Report(report, _) => Some(report),
            Came::Refused(_) | Came::Failed(_) => None,
        }
    }

    /// The kinds of its algorithms.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let has = |kind: &Kind| self.of_kind(*kind).next().is_some();
        Kind::ALL.iter().copied().filter(has).collect()
    }

    /// The algorithms of a kind, by their numbers.
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = usize> {
        let all = self.algorithms.iter().enumerate();
        all.filter(move |(_, own)| own.own.kind == kind)
            .map(|(number, _)| number)
    }

    /// The suites that test a kind, by their numbers.
    pub(super) fn testing(&self, kind: Kind) -> Vec<usize> {
        let all = self.suites.iter().enumerate();
        all.filter(|(_, suite)| suite.own.kinds().contains(&kind))
            .map(|(number, _)| number)
            .collect()
    }

    /// The results of a suite, kind by kind; kinds without any are left out.
    pub(super) fn fields(&self, suite: usize) -> Vec<Field<'_>> {
        let field = |kind: Kind| {
            let columns: Vec<(usize, &Report)> = self
                .reports()
                .filter(|(cell, _)| {
                    cell.suite == suite && self.algorithms[cell.algorithm].own.kind == kind
                })
                .map(|(cell, report)| (cell.algorithm, report))
                .collect();
            let mut criteria: Vec<&str> = Vec::new();
            for outcome in columns.iter().flat_map(|(_, report)| &report.results) {
                if !criteria.contains(&outcome.criterion.as_str()) {
                    criteria.push(&outcome.criterion);
                }
            }
            Field {
                suite,
                kind,
                criteria,
                columns,
            }
        };
        let fields = Kind::ALL.iter().map(|kind| field(*kind));
        fields.filter(|field| !field.columns.is_empty()).collect()
    }

    pub(super) fn suite_page(&self, suite: usize) -> String {
        format!("suites/{}.html", self.suites[suite].slug)
    }

    pub(super) fn algorithm_page(&self, algorithm: usize) -> String {
        let own = &self.algorithms[algorithm];
        format!("{}/{}.html", folder(own.own.kind), own.slug)
    }

    pub(super) fn cell_page(&self, suite: usize, algorithm: usize) -> String {
        let own = &self.algorithms[algorithm];
        let (suite, kind) = (&self.suites[suite].slug, own.own.kind.name());
        format!("cells/{suite}/{kind}-{}.html", own.slug)
    }

    pub(super) fn pair_page(&self, one: usize, other: usize) -> String {
        let slug = |number: usize| self.algorithms[number].slug.as_str();
        let folder = folder(self.algorithms[one].own.kind);
        format!("pairs/{folder}/{}--{}.html", slug(one), slug(other))
    }

    /// The figure of a criterion for all algorithms of a kind.
    pub(super) fn figure(&self, suite: usize, kind: Kind, criterion: usize) -> String {
        let slug = &self.suites[suite].slug;
        format!("figures/{slug}/{}-{}.svg", kind.name(), criterion + 1)
    }

    /// The figure of what a criterion reads over time.
    pub(super) fn course_figure(&self, suite: usize, algorithm: usize, criterion: usize) -> String {
        let own = &self.algorithms[algorithm];
        let (suite, kind) = (&self.suites[suite].slug, own.own.kind.name());
        format!("figures/{suite}/{kind}-{}/{}.svg", own.slug, criterion + 1)
    }
}

/// The fragment that makes an algorithm stand out in a figure.
pub(super) fn fragment(algorithm: usize) -> String {
    format!("a{algorithm}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses_are_plain_and_unique() {
        let names = [
            "pie target=10ms",
            "pie-target=10ms",
            "PIE-target=10ms",
            "../x",
            "é",
        ];
        let given = names.map(|name| ((), name.to_owned())).to_vec();
        let slugs: Vec<String> = Member::all(given).into_iter().map(|own| own.slug).collect();
        assert_eq!(
            slugs,
            [
                "pie-target=10ms",
                "pie-target=10ms-2",
                "PIE-target=10ms-3",
                "_..-x",
                "-"
            ]
        );
    }

    #[test]
    fn a_long_name_has_a_short_address() {
        let given = vec![((), "x".repeat(3000)), ((), "x".repeat(3001))];
        let all = Member::all(given);
        assert!(all.iter().all(|own| own.slug.len() < 100));
        assert_ne!(all[0].slug, all[1].slug);
    }
}
