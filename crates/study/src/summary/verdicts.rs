//! What the comparisons of an experiment say together: which differences are more than chance, and how the levels rank.
//!
//! A table of forty differences has two by chance whose own interval leaves out zero. So all pairs of levels in all metrics of an
//! experiment are tested as one family, by Holm's procedure: the probability of even one false claim in it is at most 5 %. Marks in
//! tables, rankings and records follow from this one family, and so agree.

use std::collections::BTreeMap;

use sojourn_report::Cell;
use sojourn_results::asked::Asked;
use sojourn_results::manifest::{Comparison, PointInfo};
use sojourn_results::stats::compare::{Equivalence, LEVEL, equivalent, holm, ranking};

use super::wanted::{Compared, Tested, Wanted, difference_of};

/// Metrics that are ranked where a study does not say which it shows, if they are among the usual ones.
const RANKED: [&str; 4] = [
    "utilization_ratio",
    "sojourn_s_p95",
    "loss_ratio",
    "jain_index",
];
/// Metrics that are ranked at most.
const MOST_RANKED: usize = 8;
/// Statements of one metric that a footnote has at most.
const MOST_STATEMENTS: usize = 4;
/// Places that a statement lists by name.
const MOST_PLACES: usize = 6;

/// All comparisons of an experiment, tested together.
pub(super) struct Verdicts<'a> {
    wanted: &'a Wanted<'a>,
    comparisons: &'a [Comparison<'a>],
    asked: Vec<Asked>,
    verdicts: BTreeMap<Key, Verdict>,
}

/// Two points and the text of a metric.
type Key = (u64, u64, String);

/// What came of comparing two points in a metric.
#[derive(Clone, Copy)]
pub(super) struct Verdict {
    pub(super) compared: Compared,
    /// p by Holm's procedure.
    adjusted: Option<f64>,
}

impl Verdict {
    /// Not yet tested.
    pub(super) fn of(compared: Compared) -> Verdict {
        Verdict {
            compared,
            adjusted: None,
        }
    }

    fn p(&self) -> Option<f64> {
        self.compared.difference?.p
    }

    /// How it was tested; `None` where nothing was.
    pub(super) fn tested(&self) -> Option<Tested> {
        let difference = self.compared.difference?;
        Some(Tested {
            correlation: difference.correlation,
            paired: difference.paired,
            p_holm: self.adjusted,
            differs: self.differs(),
        })
    }

    /// The cell of the difference, with the mark of one that is more than chance.
    pub(super) fn cell(&self, wanted: &Wanted<'_>, asked: &Asked) -> Cell {
        let cell = wanted.cell(Some(self.compared.estimate), asked);
        match (cell, self.compared.difference) {
            (Cell::Estimate(shown), Some(_)) => Cell::Estimate(sojourn_report::Estimate {
                differs: Some(self.differs()),
                ..shown
            }),
            (cell, _) => cell,
        }
    }

    /// Whether the difference is more than chance; without anything random, whether there is one.
    pub(super) fn differs(&self) -> bool {
        match (self.compared.difference, self.adjusted) {
            (None, _) => self.compared.estimate.mean != 0.0,
            (Some(_), adjusted) => adjusted.is_some_and(|p| p < LEVEL) && self.is_seen(),
        }
    }

    /// Whether the interval, which knows the step of a histogram, leaves out zero, too.
    fn is_seen(&self) -> bool {
        let estimate = &self.compared.estimate;
        estimate.excludes_zero() || estimate.equal
    }
}

/// How the levels of a comparison rank in a metric.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Ranked {
    /// The experiment.
    pub experiment: String,
    /// The levels that all have.
    pub levels: Vec<(String, String)>,
    /// The metric.
    pub metric: String,
    /// Levels from the least to the greatest mean, in groups: each level of a group is distinguishable from each of the others.
    pub groups: Vec<Vec<String>>,
    /// Pairs whose difference is within the share of their mean that the study calls equivalent.
    pub equivalent: Vec<(String, String)>,
    /// In words: `CoDel < PIE < DropTail; CoDel and PIE not distinguishable`.
    pub text: String,
}

/// What is said of two levels in a metric.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct PairVerdict {
    /// The experiment.
    pub experiment: String,
    /// The levels that both have.
    pub levels: Vec<(String, String)>,
    /// The metric: `sojourn_s_p95`.
    pub metric: String,
    /// Its heading: `Sojourn time, p95`.
    pub title: String,
    /// The first level.
    pub a: String,
    /// The other.
    pub b: String,
    /// The mean of the first less that of the other, in the unit of storage.
    pub difference: f64,
    /// Probability of such a difference by chance, by Holm's procedure; `None` where nothing was tested.
    pub p_holm: Option<f64>,
    /// Whether the first is less or greater; `None` if they are not distinguishable.
    pub order: Option<Order>,
}

/// How two levels stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The first has the lower mean.
    Less,
    /// It has the higher mean.
    Greater,
}

impl<'a> Verdicts<'a> {
    /// What is said of each pair of levels in the metrics that are ranked.
    pub(super) fn pairs(&self) -> Vec<PairVerdict> {
        let mut all = Vec::new();
        for asked in self.ranked() {
            for comparison in self.comparisons {
                self.pairs_in(comparison, asked, &mut all);
            }
        }
        all
    }

    fn pairs_in(&self, comparison: &Comparison<'_>, asked: &Asked, all: &mut Vec<PairVerdict>) {
        let known = |point: &&PointInfo| point.replications > 1 || self.wanted.is_exact(point);
        let label = |point: &PointInfo| point.levels.get(&comparison.factor.name).cloned();
        let points: Vec<&PointInfo> = comparison.points.iter().copied().filter(known).collect();
        for (index, a) in points.iter().enumerate() {
            for b in points.iter().skip(index + 1) {
                let (Some(verdict), Some(first), Some(second)) =
                    (self.get(a, b, asked), label(a), label(b))
                else {
                    continue;
                };
                let difference = verdict.compared.estimate.mean;
                let order = match difference < 0.0 {
                    true => Order::Less,
                    false => Order::Greater,
                };
                all.push(PairVerdict {
                    experiment: self.wanted.experiment.name.clone(),
                    levels: comparison.levels.clone().into_iter().collect(),
                    metric: asked.text(),
                    title: asked.title(),
                    a: first,
                    b: second,
                    difference,
                    p_holm: verdict.adjusted,
                    order: verdict.differs().then_some(order),
                });
            }
        }
    }

    /// Compares all pairs in all metrics.
    pub(super) fn of(wanted: &'a Wanted<'a>, comparisons: &'a [Comparison<'a>]) -> Verdicts<'a> {
        let mut asked = wanted.asked();
        asked.retain(|asked| !asked.pooled);
        let mut verdicts = BTreeMap::new();
        for comparison in comparisons {
            for asked in &asked {
                let points = comparison.points.iter();
                let levels = points.filter_map(|point| Some((point, wanted.level(point, asked)?)));
                let levels: Vec<_> = levels.collect();
                for (index, (a, first)) in levels.iter().enumerate() {
                    for (b, second) in levels.iter().skip(index + 1) {
                        if let Some(compared) = difference_of(asked, first, second, true) {
                            verdicts.insert(key(a, b, asked), Verdict::of(compared));
                        }
                    }
                }
            }
        }
        Family::test(verdicts.values_mut());
        Verdicts {
            wanted,
            comparisons,
            asked,
            verdicts,
        }
    }

    fn get(&self, a: &PointInfo, b: &PointInfo, asked: &Asked) -> Option<&Verdict> {
        self.verdicts.get(&key(a, b, asked))
    }

    /// The difference of two points, in the order of their comparison.
    pub(super) fn compared(&self, a: &PointInfo, b: &PointInfo, asked: &Asked) -> Option<Compared> {
        self.get(a, b, asked).map(|verdict| verdict.compared)
    }

    /// How it was tested; `None` where nothing was.
    pub(super) fn tested(&self, a: &PointInfo, b: &PointInfo, asked: &Asked) -> Option<Tested> {
        self.get(a, b, asked)?.tested()
    }

    /// The cell of a difference, with the mark of one that is more than chance.
    pub(super) fn cell(&self, a: &PointInfo, b: &PointInfo, asked: &Asked) -> Cell {
        let verdict = self.get(a, b, asked);
        verdict.map_or(Cell::Empty, |verdict| verdict.cell(self.wanted, asked))
    }

    /// What is said of the marks below a table.
    pub(super) fn footnotes(&self) -> Vec<String> {
        let marks = Family::footnote(self.verdicts.values());
        marks.into_iter().chain(self.ranking_notes()).collect()
    }

    /// The ranking of each metric at each comparison with three or more levels.
    pub(super) fn rankings(&self) -> Vec<Ranked> {
        let mut all = Vec::new();
        for asked in self.ranked() {
            for comparison in self.comparisons {
                all.extend(self.ranking(comparison, asked));
            }
        }
        all
    }

    /// The metrics that are ranked.
    fn ranked(&self) -> impl Iterator<Item = &Asked> {
        let manifest = &self.wanted.results.manifest;
        let mut tables = manifest.tables.iter();
        let chosen = tables.any(|table| table.experiment == self.wanted.experiment.name);
        let is_ranked = move |asked: &&Asked| chosen || RANKED.contains(&asked.name().as_str());
        self.asked.iter().filter(is_ranked).take(MOST_RANKED)
    }

    fn ranking(&self, comparison: &Comparison<'_>, asked: &Asked) -> Option<Ranked> {
        let points = comparison.points.iter().copied();
        let with = points.filter_map(|point| {
            let mean = self.wanted.estimate(point, asked)?.mean;
            Some((point, mean))
        });
        let (points, means): (Vec<&PointInfo>, Vec<f64>) = with.unzip();
        let known = |point: &&PointInfo| point.replications > 1 || self.wanted.is_exact(point);
        if points.len() < 2 || !points.iter().all(known) {
            return None;
        }
        let verdict = |a: usize, b: usize| {
            let (first, second) = (a.min(b), a.max(b));
            self.get(points[first], points[second], asked)
        };
        let differs = |a, b| verdict(a, b).is_some_and(Verdict::differs);
        let ranking = ranking(&means, differs);
        let label = |point: &&PointInfo| point.levels.get(&comparison.factor.name).cloned();
        let labels: Vec<String> = points.iter().filter_map(label).collect();
        let names: Vec<&str> = labels.iter().map(String::as_str).collect();
        let named = |group: &Vec<usize>| -> Vec<String> {
            let each = group.iter().filter_map(|level| labels.get(*level));
            each.cloned().collect()
        };
        let mut text = ranking.text(&names);
        let mut equivalents: Vec<(String, String)> = Vec::new();
        if let Some(within) = self.wanted.results.manifest.equivalent_within {
            // A difference may be beyond chance and yet too small to matter.
            let pairs = (0..means.len()).flat_map(|a| (a + 1..means.len()).map(move |b| (a, b)));
            let is_equivalent = |(a, b): &(usize, usize)| {
                let margin = within * (means[*a].abs() + means[*b].abs()) / 2.0;
                let compared = verdict(*a, *b).map(|verdict| verdict.compared);
                compared.is_some_and(|compared| match compared.difference {
                    Some(difference) if !compared.estimate.equal => {
                        equivalent(&difference, margin) == Equivalence::Equivalent
                    }
                    _ => compared.estimate.mean.abs() <= margin,
                })
            };
            let found = pairs.filter(is_equivalent);
            equivalents = found
                .map(|(a, b)| (names[a].to_owned(), names[b].to_owned()))
                .collect();
            let pairs: Vec<String> = equivalents
                .iter()
                .map(|(a, b)| format!("{a} and {b}"))
                .collect();
            if !pairs.is_empty() {
                text.push_str(&format!(
                    "; equivalent within {} %: {}",
                    within * 100.0,
                    pairs.join(", ")
                ));
            }
        }
        Some(Ranked {
            experiment: self.wanted.experiment.name.clone(),
            levels: comparison.levels.clone().into_iter().collect(),
            metric: asked.text(),
            groups: ranking.groups.iter().map(named).collect(),
            equivalent: equivalents,
            text,
        })
    }

    /// A line for each metric: what holds where.
    fn ranking_notes(&self) -> Vec<String> {
        if self.comparisons.iter().all(|c| c.points.len() < 3) && self.comparisons.len() < 2 {
            // The difference of two says it all.
            return Vec::new();
        }
        let mut notes = Vec::new();
        for asked in self.ranked() {
            let mut statements: Vec<(String, Vec<String>)> = Vec::new();
            for comparison in self.comparisons {
                let Some(ranked) = self.ranking(comparison, asked) else {
                    continue;
                };
                let labels: Vec<&str> = comparison.levels.values().map(String::as_str).collect();
                let place = labels.join(" / ");
                match statements.iter_mut().find(|(text, _)| *text == ranked.text) {
                    Some((_, places)) => places.push(place),
                    None => statements.push((ranked.text, vec![place])),
                }
            }
            if let Some(said) = said(statements) {
                notes.push(format!("{}: {said}.", asked.title()));
            }
        }
        if let Some(first) = notes.first_mut() {
            first.insert_str(0, "Ranking. ");
        }
        notes
    }
}

/// Statements with the places where they hold, the most frequent first.
fn said(mut statements: Vec<(String, Vec<String>)>) -> Option<String> {
    statements.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    let all: usize = statements.iter().map(|(_, places)| places.len()).sum();
    let at = |(text, places): &(String, Vec<String>)| match places.as_slice() {
        [only] if only.is_empty() => text.clone(),
        _ if statements.len() == 1 => format!("{text}, at all {all}"),
        places if places.len() <= MOST_PLACES => format!("{text} (at {})", places.join(", ")),
        places => format!("{text} (at {} of {all})", places.len()),
    };
    let mut texts: Vec<String> = statements.iter().take(MOST_STATEMENTS).map(at).collect();
    let more = statements.len().saturating_sub(MOST_STATEMENTS);
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    (!texts.is_empty()).then(|| texts.join(" | "))
}

fn key(a: &PointInfo, b: &PointInfo, asked: &Asked) -> Key {
    (a.point, b.point, asked.text())
}

/// Comparisons that are tested together.
pub(super) struct Family;

impl Family {
    /// Adjusts the p-values of some comparisons for each other.
    pub(super) fn test<'a>(verdicts: impl Iterator<Item = &'a mut Verdict>) {
        let tested = verdicts.filter_map(|verdict| {
            let p = verdict.p()?;
            Some((verdict, p))
        });
        let (tested, ps): (Vec<&mut Verdict>, Vec<f64>) = tested.unzip();
        for (verdict, adjusted) in tested.into_iter().zip(holm(&ps)) {
            verdict.adjusted = Some(adjusted);
        }
    }

    /// What the mark means; nothing where nothing was tested.
    pub(super) fn footnote<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Option<String> {
        let tests = verdicts.filter(|verdict| verdict.p().is_some()).count();
        let of = match tests {
            0 => return None,
            1 => "for the one comparison".to_owned(),
            tests => format!("for all {tests} comparisons together (Holm)"),
        };
        Some(format!(
            "\\*: more than chance, at 5 % {of}. Intervals of differences are for each alone."
        ))
    }
}
