//! What becomes of each ranking in a dialect.

use std::collections::BTreeMap;

use serde::Serialize;
use sojourn_report::Note;
use sojourn_results::directory::ResultSet;

use super::components::Remarks;
use super::differences::differences;
use crate::summary::{Order, PairVerdict, pair_verdicts};

/// What becomes of the ranking of two levels in a dialect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The same order, more than chance.
    Holds,
    /// The opposite order, more than chance.
    Turns,
    /// Not distinguishable there.
    Unclear,
    /// Not distinguishable as written; there the first is less.
    Less,
    /// Not distinguishable as written; there the first is greater.
    Greater,
    /// The metric has no value there.
    Missing,
}

/// Two levels in a metric, as written and in each dialect.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Ranking {
    /// As written.
    pub written: PairVerdict,
    /// In each dialect, in the order of the columns; `None` where it did not run or runs the same.
    pub there: Vec<Option<(Standing, Option<PairVerdict>)>>,
}

/// What came of a study in a dialect.
#[derive(Clone, Debug)]
pub struct Column {
    /// The dialect.
    pub dialect: String,
    /// Why it did not run, if it did not.
    pub failed: Option<String>,
    /// It runs what the study as written runs.
    pub same: bool,
    /// What stayed as written, and what was left out.
    pub remarks: Remarks,
}

/// Which rankings of a study survive in other dialects.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    /// Heading of the study.
    pub title: String,
    /// The dialects that were asked for, in their order.
    pub columns: Vec<Column>,
    /// Every pair of compared levels in every metric that is ranked. Each has a standing per dialect that ran.
    pub rankings: Vec<Ranking>,
    /// By the places of a ranking that turns and of the column in which it does: the parameters that differ between the two.
    pub differs: BTreeMap<(usize, usize), Vec<String>>,
    /// What the auditor says: of the study as written everything, of each dialect what a rule says that said nothing before.
    pub notes: Vec<Note>,
}

/// How many rankings survive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Totals {
    /// Pairs that the study as written distinguishes.
    pub rankings: usize,
    /// Those that hold in every dialect.
    pub hold: usize,
    /// Those that turn in some dialect.
    pub turn: usize,
    /// Those that turn nowhere and are not distinguishable, or have no value, in some dialect.
    pub unclear: usize,
    /// Pairs that the study as written does not distinguish.
    pub open: usize,
    /// Those that some dialect distinguishes.
    pub found: usize,
}

impl Ranking {
    /// The standings where it ran.
    pub fn standings(&self) -> impl Iterator<Item = Standing> + '_ {
        self.there.iter().flatten().map(|(standing, _)| *standing)
    }
}

impl Sensitivity {
    /// Compares what came of a study as written with what came of it in dialects: a column, and its results if it ran.
    pub fn of(written: &ResultSet, ran: Vec<(Column, Option<ResultSet>)>) -> Sensitivity {
        let results: Vec<Option<&ResultSet>> = ran.iter().map(|(_, set)| set.as_ref()).collect();
        let rankings = rankings(written, &results);
        let mut differs = BTreeMap::new();
        for (number, ranking) in rankings.iter().enumerate() {
            for (column, results) in results.iter().enumerate() {
                let standing = ranking.there[column]
                    .as_ref()
                    .map(|(standing, _)| *standing);
                if let (Some(Standing::Turns), Some(there)) = (standing, results) {
                    let found = differences(&written.manifest, &there.manifest, &ranking.written);
                    differs.insert((number, column), found);
                }
            }
        }
        let mut notes = written.manifest.notes.clone();
        for (column, results) in &ran {
            for note in results.iter().flat_map(|results| &results.manifest.notes) {
                let said =
                    |known: &Note| known.rule == note.rule && known.severity >= note.severity;
                if !notes.iter().any(said) {
                    let text = format!("In {}: {}", column.dialect, note.text);
                    notes.push(Note {
                        text,
                        ..note.clone()
                    });
                }
            }
        }
        Sensitivity {
            differs,
            notes,
            title: written.manifest.title.clone(),
            columns: ran.into_iter().map(|(column, _)| column).collect(),
            rankings,
        }
    }

    /// The headings of the metrics that are ranked, each once.
    pub fn metrics(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for ranking in &self.rankings {
            let title = ranking.written.title.as_str();
            if !all.contains(&title) {
                all.push(title);
            }
        }
        all
    }

    /// How many rankings survive.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for ranking in &self.rankings {
            let any = |wanted: &[Standing]| ranking.standings().any(|s| wanted.contains(&s));
            if ranking.written.order.is_none() {
                totals.open += 1;
                totals.found += usize::from(any(&[Standing::Less, Standing::Greater]));
                continue;
            }
            totals.rankings += 1;
            let turns = any(&[Standing::Turns]);
            totals.turn += usize::from(turns);
            let unclear = !turns && any(&[Standing::Unclear, Standing::Missing]);
            totals.unclear += usize::from(unclear);
            totals.hold += usize::from(!turns && !unclear);
        }
        totals
    }
}

/// Every pair as written, with what becomes of it in each of the other results.
fn rankings(written: &ResultSet, others: &[Option<&ResultSet>]) -> Vec<Ranking> {
    type Key = (String, Vec<(String, String)>, String, String, String);
    let key = |pair: &PairVerdict| -> Key {
        let (experiment, levels) = (pair.experiment.clone(), pair.levels.clone());
        (
            experiment,
            levels,
            pair.metric.clone(),
            pair.a.clone(),
            pair.b.clone(),
        )
    };
    let others: Vec<Option<BTreeMap<Key, PairVerdict>>> = others
        .iter()
        .map(|results| {
            let pairs = pair_verdicts((*results)?).into_iter();
            Some(pairs.map(|pair| (key(&pair), pair)).collect())
        })
        .collect();
    let of = |written: PairVerdict| {
        let key = key(&written);
        let there = others.iter().map(|pairs| {
            let found = pairs.as_ref()?.get(&key).cloned();
            let standing = found.as_ref().map_or(Standing::Missing, |there| {
                standing(written.order, there.order)
            });
            Some((standing, found))
        });
        let there = there.collect();
        Ranking { written, there }
    };
    pair_verdicts(written).into_iter().map(of).collect()
}

fn standing(written: Option<Order>, there: Option<Order>) -> Standing {
    match (written, there) {
        (_, None) => Standing::Unclear,
        (None, Some(Order::Less)) => Standing::Less,
        (None, Some(Order::Greater)) => Standing::Greater,
        (Some(written), Some(there)) if written == there => Standing::Holds,
        (Some(_), Some(_)) => Standing::Turns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(written: Option<Order>, there: &[Option<Order>]) -> Ranking {
        let pair = |order| PairVerdict {
            experiment: "queues".to_owned(),
            levels: Vec::new(),
            metric: "sojourn_s_p95".to_owned(),
            title: "Sojourn time, p95".to_owned(),
            a: "CoDel".to_owned(),
            b: "PIE".to_owned(),
            difference: 1.0,
            p_holm: Some(0.01),
            order,
        };
        let each = there
            .iter()
            .map(|order| Some((standing(written, *order), Some(pair(*order)))));
        Ranking {
            written: pair(written),
            there: each.collect(),
        }
    }

    #[test]
    fn a_ranking_counts_once_and_turning_goes_before_unclear() {
        let (less, greater) = (Some(Order::Less), Some(Order::Greater));
        let found = Sensitivity {
            title: String::new(),
            columns: Vec::new(),
            differs: BTreeMap::new(),
            notes: Vec::new(),
            rankings: vec![
                ranking(less, &[less, less]),
                ranking(less, &[None, greater]),
                ranking(greater, &[greater, None]),
                ranking(None, &[None, None]),
                ranking(None, &[less, None]),
            ],
        };
        let expected = Totals {
            rankings: 3,
            hold: 1,
            turn: 1,
            unclear: 1,
            open: 2,
            found: 1,
        };
        assert_eq!(found.totals(), expected);
        assert!(
            found.rankings[4]
                .standings()
                .eq([Standing::Less, Standing::Unclear])
        );
    }
}
