//! Which table and which figures answer the question of a study, and what the question is where the study does not say.

use sojourn_report::{Answer, Cell, Figure, Kind, Table};
use sojourn_results::manifest::{ExperimentInfo, FactorInfo, Manifest};

use super::wanted::Wanted;

/// Levels that a question lists.
const MOST_LEVELS: usize = 5;
/// A link that is used less than this has nothing but probes on it.
const IDLE: f64 = 0.1;
/// A link that is used more than this is under load.
const LOADED: f64 = 0.4;

/// Takes up the tables and figures of each experiment, and chooses among them.
pub(super) struct Choice<'a> {
    manifest: &'a Manifest,
    offers: Vec<Offer<'a>>,
}

/// What an experiment offers.
struct Offer<'a> {
    experiment: &'a ExperimentInfo,
    /// The greatest utilization of the bottleneck at any point.
    utilization: Option<f64>,
    /// The ids of the tables with numbers.
    tables: Vec<String>,
    /// The ids of the figures, and how well each answers.
    figures: Vec<(String, Worth)>,
}

/// How well a figure answers, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Main,
    /// It is over time, or folded.
    Minor,
    /// All its values are the same.
    Nothing,
}

impl<'a> Choice<'a> {
    pub(super) fn of(manifest: &'a Manifest) -> Choice<'a> {
        Choice {
            manifest,
            offers: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, wanted: &Wanted<'a>, tables: &[Table], figures: &[Figure]) {
        let asked = wanted.parse("utilization_ratio", None);
        let points = wanted.points();
        let used = points.iter().filter_map(|point| {
            let estimate = wanted.estimate(point, asked.as_ref()?)?;
            Some(estimate.mean)
        });
        let utilization = used.fold(None, |most: Option<f64>, value| {
            Some(most.map_or(value, |most| most.max(value)))
        });
        let tables = tables.iter().filter(|table| has_numbers(table));
        let figures = figures.iter().filter(|figure| !figure.rows.is_empty());
        self.offers.push(Offer {
            experiment: wanted.experiment,
            utilization,
            tables: tables.map(|table| table.id.clone()).collect(),
            figures: figures
                .map(|figure| {
                    let worth = match figure.folded || figure.kind == Kind::Time {
                        _ if figure.is_idle() => Worth::Nothing,
                        true => Worth::Minor,
                        false => Worth::Main,
                    };
                    (figure.id.clone(), worth)
                })
                .collect(),
        });
    }

    /// The table and the figures.
    pub(super) fn answer(&self) -> Answer {
        let given = &self.manifest.answer;
        let named = given.table.as_ref().and_then(|id| {
            let mut offers = self.offers.iter();
            offers.find(|offer| offer.tables.contains(id))
        });
        let table = match named {
            Some(_) => given.table.clone(),
            None => self.best().and_then(|offer| offer.tables.first().cloned()),
        };
        let is_drawn = |id: &&String| {
            let mut figures = self.offers.iter().flat_map(|offer| &offer.figures);
            figures.any(|(own, _)| own == *id)
        };
        let mut figures: Vec<String> = given.figures.iter().filter(is_drawn).cloned().collect();
        if figures.is_empty() {
            let own = named.or_else(|| self.best());
            let main = own.and_then(Offer::main_figure);
            figures.extend(main.or_else(|| self.offers.iter().find_map(Offer::main_figure)));
        }
        Answer { table, figures }
    }

    /// The experiment that answers, where no table is named: the one that is, or the first that compares under load.
    fn best(&self) -> Option<&Offer<'a>> {
        let named = self.manifest.answer.experiment.as_ref();
        let any_load = self.offers.iter().any(Offer::is_loaded);
        let rank = |offer: &&Offer<'a>| {
            (
                named.is_some_and(|name| *name != offer.experiment.name),
                offer.tables.is_empty(),
                any_load && offer.is_idle(),
                compared(offer.experiment).is_none(),
            )
        };
        self.offers.iter().min_by_key(rank)
    }

    /// The question: the study's own, or what difference the factors make.
    pub(super) fn question(&self) -> Option<String> {
        if self.manifest.question.is_some() {
            return self.manifest.question.clone();
        }
        let table = self.answer().table;
        let of = |offer: &&Offer<'_>| table.as_ref().is_some_and(|id| offer.tables.contains(id));
        asked_of(self.offers.iter().find(of)?.experiment)
    }
}

impl Offer<'_> {
    fn is_loaded(&self) -> bool {
        self.utilization.is_some_and(|most| most > LOADED)
    }

    fn is_idle(&self) -> bool {
        self.utilization.is_some_and(|most| most < IDLE)
    }

    /// The first figure that is not over time, or else the first. None that says nothing.
    fn main_figure(&self) -> Option<String> {
        let figures = self.figures.iter();
        let figures = figures.filter(|(_, worth)| *worth != Worth::Nothing);
        let found = figures.min_by_key(|(_, worth)| *worth);
        found.map(|(id, _)| id.clone())
    }
}

/// Whether a table has a measured value: one of settings has none.
fn has_numbers(table: &Table) -> bool {
    let mut cells = table.rows.iter().flatten();
    cells.any(|cell| matches!(cell, Cell::Estimate(_) | Cell::Number(_)))
}

fn compared(experiment: &ExperimentInfo) -> Option<&FactorInfo> {
    experiment.factors.iter().find(|factor| factor.compare)
}

/// What difference the factors of an experiment make.
fn asked_of(experiment: &ExperimentInfo) -> Option<String> {
    if let Some(factor) = compared(experiment) {
        let name = in_sentence(&factor.title);
        let (last, others) = factor.labels.split_last()?;
        let levels = match others {
            [] => return None,
            others if factor.labels.len() <= MOST_LEVELS => {
                format!(": {} or {last}", others.join(", "))
            }
            _ => String::new(),
        };
        return Some(format!("What difference does the {name} make{levels}?"));
    }
    let varied = experiment
        .factors
        .iter()
        .filter(|factor| factor.labels.len() > 1);
    let names: Vec<String> = varied
        .map(|factor| format!("the {}", in_sentence(&factor.title)))
        .collect();
    let (last, others) = names.split_last()?;
    Some(match others {
        [] => format!("What difference does {last} make?"),
        others => format!("What difference do {} and {last} make?", others.join(", ")),
    })
}

/// A title within a sentence: `Queue` becomes `queue`, `MTU` and `RTT` stay.
fn in_sentence(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            format!("{}{}", first.to_lowercase(), &title[first.len_utf8()..])
        }
        _ => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(title: &str, labels: &[&str], compare: bool) -> FactorInfo {
        FactorInfo {
            name: title.to_lowercase(),
            title: title.to_owned(),
            unit: None,
            compare,
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        }
    }

    fn experiment(name: &str, factors: Vec<FactorInfo>) -> ExperimentInfo {
        ExperimentInfo {
            name: name.to_owned(),
            title: name.to_owned(),
            factors,
            sampling: None,
        }
    }

    #[test]
    fn a_figure_whose_values_are_all_the_same_answers_nothing() {
        let experiment = experiment("e", Vec::new());
        let figure = |figures: &[(&str, Worth)]| {
            let figures = figures.iter();
            let offer = Offer {
                experiment: &experiment,
                utilization: None,
                tables: Vec::new(),
                figures: figures
                    .map(|(id, worth)| ((*id).to_owned(), *worth))
                    .collect(),
            };
            offer.main_figure()
        };
        let all = [
            ("flat", Worth::Nothing),
            ("time", Worth::Minor),
            ("bars", Worth::Main),
        ];
        assert_eq!(figure(&all).as_deref(), Some("bars"));
        assert_eq!(figure(&all[..2]).as_deref(), Some("time"));
        assert_eq!(figure(&all[..1]), None);
    }

    #[test]
    fn a_question_names_what_is_compared() {
        let queues = factor("Queue", &["CoDel", "DRR", "PIE"], true);
        let rates = factor("Rate", &["1", "2"], false);
        let mtu = factor("MTU", &["576", "1500"], false);
        assert_eq!(
            asked_of(&experiment("a", vec![rates.clone(), queues])).as_deref(),
            Some("What difference does the queue make: CoDel, DRR or PIE?")
        );
        assert_eq!(
            asked_of(&experiment("a", vec![rates, mtu])).as_deref(),
            Some("What difference do the rate and the MTU make?")
        );
        assert_eq!(asked_of(&experiment("a", Vec::new())), None);
    }

    #[test]
    fn probes_alone_answer_nothing_where_something_is_under_load() {
        let idle = experiment("idle", vec![factor("Queue", &["a", "b"], true)]);
        let load = experiment("load", vec![factor("Queue", &["a", "b"], true)]);
        let manifest: Manifest = serde_json::from_value(serde_json::json!({
            "schema_version": 2, "sojourn": "", "name": "", "title": "", "command": "",
            "experiments": [], "points": [], "algorithms": [],
        }))
        .unwrap();
        let offer = |experiment, utilization| Offer {
            experiment,
            utilization: Some(utilization),
            tables: vec![format!("{}-table", experiment.name)],
            figures: vec![
                (format!("{}-time", experiment.name), Worth::Minor),
                (format!("{}-bars", experiment.name), Worth::Main),
            ],
        };
        let choice = Choice {
            manifest: &manifest,
            offers: vec![offer(&idle, 0.02), offer(&load, 0.98)],
        };
        assert_eq!(choice.answer().table.as_deref(), Some("load-table"));
        assert_eq!(choice.answer().figures, ["load-bars"]);
    }

    #[test]
    fn the_figures_of_an_answer_keep_their_order_without_those_that_are_not_drawn() {
        let load = experiment("load", vec![factor("Queue", &["a", "b"], true)]);
        let with = |figure: serde_json::Value| -> Manifest {
            serde_json::from_value(serde_json::json!({
                "schema_version": 2, "sojourn": "", "name": "", "title": "", "command": "",
                "experiments": [], "points": [], "algorithms": [], "answer": { "figure": figure },
            }))
            .unwrap()
        };
        for (figure, shown) in [
            (
                serde_json::json!(["up", "gone", "down"]),
                vec!["up", "down"],
            ),
            (serde_json::json!("down"), vec!["down"]),
            (serde_json::json!(["gone"]), vec!["bars"]),
        ] {
            let manifest = with(figure);
            let figures = [
                ("down", Worth::Minor),
                ("up", Worth::Minor),
                ("bars", Worth::Main),
            ];
            let offer = Offer {
                experiment: &load,
                utilization: None,
                tables: vec!["table".to_owned()],
                figures: figures.map(|(id, worth)| (id.to_owned(), worth)).to_vec(),
            };
            let choice = Choice {
                manifest: &manifest,
                offers: vec![offer],
            };
            assert_eq!(choice.answer().figures, shown);
        }
    }
}
