//! What a search found, as text and as data.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sojourn_report::{
    Cell, Column, Estimate, Grid, GridColumn, Table, csv_cell, text_table, text_table_within,
    wrapped,
};
use sojourn_results::manifest::VERSION;
use sojourn_results::stats::mean;

use super::confirm::Confirmed;
use super::{ALONG, FULL, KEPT, Out, Search, Tried, spread};
use crate::summary::Record;

/// Other bad places that are shown.
const OTHERS: usize = 3;
/// Significant digits of values below the table.
const DIGITS: usize = 3;

impl Search {
    /// What is searched for, in words: `lowest Goodput, cubic over forward: bbr against cubic`.
    pub(super) fn about(&self) -> String {
        let which = if self.request.lower {
            "lowest"
        } else {
            "highest"
        };
        format!("{}: {which} {}", self.space.name, self.asked.title())
    }

    /// What was found: of an interrupted search the worst so far, without the confirmation that there is none of.
    pub fn text(&self, confirmed: Option<&Confirmed>, width: Option<usize>) -> String {
        let Some(tried) = self.shown_winner() else {
            return self.counts(width);
        };
        let table = self.table(tried, confirmed);
        let mut text = match width {
            None => text_table(&table),
            width => text_table_within(&table, width),
        };
        let mut paragraph = |words: &str| {
            text.push('\n');
            text.push_str(&lines(words, width));
        };
        let fresh = self.confirm_seed();
        let same = |both: &Confirmed| both.worst.as_ref().is_some_and(|own| own.deterministic);
        if confirmed.is_some_and(same) {
            paragraph(&format!(
                "Nothing is random at the worst case: runs with seed {fresh} are the runs of the search again, and confirm nothing. Leave out start of the flows for random starts, or add jitter. Nothing guarantees that no place is worse."
            ));
        } else if confirmed.is_some() {
            paragraph(&format!(
                "The confirmed values are of fresh runs with seed {fresh}, which the search never had. The value in the search is the best of many places, so it is optimistic. Nothing guarantees that no place is worse."
            ));
        } else {
            let which = match self.winner {
                None => "The search was interrupted: this is the worst place so far, and it",
                Some(_) => "The worst case",
            };
            paragraph(&format!(
                "{which} is not confirmed. Its value is the best of many places, so it is optimistic."
            ));
        }
        if confirmed.is_some_and(|both| self.is_default_as_bad(both)) {
            paragraph("The default is as bad: the search found no place that is worse.");
        }
        if self.simpler.is_some() {
            paragraph(&format!(
                "Simpler: the worst case with each factor at its default that it does not need. It keeps at least {:.0} % of the way from the default, in {FULL} runs with seed {}.",
                100.0 * KEPT,
                self.request.seed
            ));
        }
        if !self.along.is_empty() {
            text.push_str("\nEach factor alone, from the worst case (");
            let _ = writeln!(text, "mean of {ALONG} runs, seed {fresh}):\n");
            text.push_str(&self.along_grid().text(width).replace('\u{a0}', " "));
            if self.is_worse_along() {
                text.push('\n');
                text.push_str(&lines(
                    "A place of this table is clearly worse than the worst case: the search is not at its end. Give it more --runs.",
                    width,
                ));
            }
        }
        let others = self.others();
        if !others.is_empty() {
            text.push_str("\nOther bad places (values of the search, optimistic):\n");
            for other in others {
                let value = mean(&other.values).map_or_else(String::new, |value| self.value(value));
                let words = format!("{value} at {}", self.values_of(other));
                let narrow = width.map(|width| width.saturating_sub(4));
                let words = lines(&words, narrow).trim_end().replace('\n', "\n    ");
                let _ = writeln!(text, "  {words}");
            }
        }
        text.push('\n');
        text.push_str(&self.counts(width));
        text
    }

    /// The winner, or the worst place so far.
    fn shown_winner(&self) -> Option<&Tried> {
        let at = self.winner.or_else(|| self.worst_so_far(1))?;
        self.tried.get(at)
    }

    fn table(&self, tried: &Tried, confirmed: Option<&Confirmed>) -> Table {
        let default = self.space.default_document();
        let default = default.map(|document| self.space.found(&document));
        let default = default.ok().filter(|_| self.default_refused.is_none());
        let text = |text: &str| Cell::Text(text.to_owned());
        let of_default = |at: usize| match default.as_ref().map(|texts| texts[at].as_str()) {
            None => Cell::Empty,
            Some("") => text("as by default"),
            Some(found) => text(found),
        };
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for (at, side) in self.space.sides.iter().enumerate() {
            let mut row = vec![text(&side.name), text(&tried.texts[at])];
            row.extend(self.simpler.as_ref().map(|simpler| match simpler.kept[at] {
                true => text(&tried.texts[at]),
                false => of_default(at),
            }));
            row.push(of_default(at));
            rows.push(row);
        }
        let with_unit = |words: &str| match self.asked.unit().shown() {
            "" => words.to_owned(),
            unit => format!("{words} ({unit})"),
        };
        if let Some(confirmed) = confirmed {
            let shown = |record: &Option<Record>| {
                let record = record.as_ref();
                record.map_or(Cell::Empty, |record| self.estimate(record))
            };
            let mut row = vec![text(&with_unit("Confirmed")), shown(&confirmed.worst)];
            row.extend(self.simpler.as_ref().map(|_| shown(&confirmed.simpler)));
            row.push(shown(&confirmed.default));
            rows.push(row);
        }
        let searched = |value: Option<f64>, runs: u64| {
            value.map_or(Cell::Empty, |value| {
                Cell::Estimate(Estimate {
                    value: self.asked.unit().show(value),
                    n: Some(runs),
                    ..Estimate::default()
                })
            })
        };
        let mut row = vec![
            text(&with_unit("In the search")),
            searched(mean(&tried.values), tried.runs),
        ];
        row.extend((self.simpler.as_ref()).map(|simpler| searched(Some(simpler.value), FULL)));
        row.push(Cell::Empty);
        rows.push(row);
        let column = |(key, title): &(&str, &str)| Column {
            key: (*key).to_owned(),
            title: (*title).to_owned(),
            unit: None,
            align: None,
        };
        let mut columns = vec![("factor", "Factor"), ("worst", "Worst case")];
        columns.extend(self.simpler.as_ref().map(|_| ("simpler", "Simpler")));
        columns.push(("default", "Default"));
        Table {
            id: "worst".to_owned(),
            title: self.about(),
            caption: String::new(),
            columns: columns.iter().map(column).collect(),
            rows,
            footnotes: Vec::new(),
        }
    }

    fn estimate(&self, record: &Record) -> Cell {
        let show = |value: f64| self.asked.unit().show(value);
        Cell::Estimate(Estimate {
            value: show(record.value),
            half_width: record.half_width.map(show),
            low: record.low.map(show),
            high: record.high.map(show),
            n: Some(record.n),
            deterministic: record.deterministic.then_some(true),
            ..Estimate::default()
        })
    }

    /// A value in the unit in which it is shown.
    fn value(&self, value: f64) -> String {
        let shown = self.asked.unit().show(value);
        let digits = DIGITS - 1;
        let rounded: f64 = format!("{shown:.digits$e}").parse().unwrap_or(shown);
        match self.asked.unit().shown() {
            "" => rounded.to_string(),
            "%" => format!("{rounded}%"),
            unit => format!("{rounded} {unit}"),
        }
    }

    fn values_of(&self, tried: &Tried) -> String {
        let each = self.space.sides.iter().zip(&tried.texts);
        let each = each.map(|(side, text)| format!("{}={text}", side.name));
        each.collect::<Vec<_>>().join(", ")
    }

    /// The values along each factor from its low end, the factor that changes most first.
    fn along_grid(&self) -> Grid {
        let mut sides: Vec<usize> = (0..self.along.len()).collect();
        sides.sort_by(|one, other| {
            let change = |at: usize| spread(&self.along[at]);
            change(*other).total_cmp(&change(*one)).then(one.cmp(other))
        });
        let row = |at: usize| {
            // The winner is the first.
            let mut along: Vec<_> = self.along[at].iter().enumerate().collect();
            along.sort_by(|(_, one), (_, other)| one.share.total_cmp(&other.share));
            let said = along.into_iter().map(|(number, one)| {
                let value = one.value.map(|value| self.value(value));
                let value = value.unwrap_or_else(|| "none".to_owned());
                // Words stay together, and lines break between them.
                let words = format!("{value} at {}", one.text).replace(' ', "\u{a0}");
                match number {
                    0 => format!("[{words}]"),
                    _ => words,
                }
            });
            let said: Vec<String> = said.collect();
            vec![self.space.sides[at].name.clone(), said.join(", ")]
        };
        Grid {
            columns: vec![
                GridColumn::words("Factor"),
                GridColumn::words("Values along it; [ ] is the worst case"),
            ],
            rows: sides.into_iter().map(row).collect(),
            names: 1,
            ruled: true,
        }
    }

    /// Whether the confirmed value of the winner is no worse than that of the default.
    fn is_default_as_bad(&self, confirmed: &Confirmed) -> bool {
        let (Some(worst), Some(default)) = (&confirmed.worst, &confirmed.default) else {
            return false;
        };
        match self.request.lower {
            true => worst.value >= default.value,
            false => worst.value <= default.value,
        }
    }

    /// Whether a place along a factor is clearly worse than the winner in the same runs: by a part of what the factors change that few runs
    /// do not differ by.
    fn is_worse_along(&self) -> bool {
        let most = self.along.iter().map(|along| spread(along));
        let clear = (1.0 - KEPT) * most.fold(0.0, f64::max);
        let worse = |one: f64, own: f64| match self.request.lower {
            true => own - one > clear,
            false => one - own > clear,
        };
        self.along.iter().any(|along| {
            let own = along.first().and_then(|own| own.value);
            let others = along.iter().skip(1).filter_map(|one| one.value);
            own.is_some_and(|own| others.into_iter().any(|one| worse(one, own)))
        })
    }

    /// The worst places that are apart from the winner and from each other, in what the winner needs.
    fn others(&self) -> Vec<&Tried> {
        let Some(winner) = self.winner else {
            return Vec::new();
        };
        let all = vec![true; self.space.sides.len()];
        let counts = self.simpler.as_ref().map_or(&all, |simpler| &simpler.kept);
        let apart = self.apart_from(vec![winner], OTHERS + 1, counts);
        let others = apart.into_iter().skip(1);
        others.map(|at| &self.tried[at]).collect()
    }

    /// How much was tried, and what was left out.
    fn counts(&self, width: Option<usize>) -> String {
        let ran = self.tried.iter().filter(|tried| tried.runs > 0).count();
        let mut text = lines(
            &format!(
                "Searched {} in {}, with seed {}.",
                counted(u64::try_from(ran).unwrap_or(u64::MAX), "place"),
                counted(self.made, "run"),
                self.request.seed
            ),
            width,
        );
        let reasons = self.tried.iter().filter_map(|tried| match &tried.out {
            Some(Out::Refused(reason)) => Some(reason),
            _ => None,
        });
        let reasons: Vec<&String> = reasons.collect();
        if let Some(first) = reasons.first() {
            let all = self.tried.len();
            text.push_str(&lines(
                &format!(
                    "{} of {all} places are not allowed, such as: {first}",
                    reasons.len()
                ),
                width,
            ));
        }
        let of = |is: fn(&Out) -> bool| {
            let outs = self.tried.iter().filter_map(|tried| tried.out.as_ref());
            outs.filter(|out| is(out)).count()
        };
        for (count, what) in [
            (
                of(|out| matches!(out, Out::Valueless)),
                "have no value of the metric",
            ),
            (
                of(|out| matches!(out, Out::Failed)),
                "failed by a bug of Sojourn",
            ),
        ] {
            if count > 0 {
                text.push_str(&lines(&format!("{count} places {what}."), width));
            }
        }
        if let Some(reason) = &self.default_refused {
            text.push_str(&lines(
                &format!("The default does not run: {reason}"),
                width,
            ));
        }
        text
    }

    /// Every place that was tried, in comma-separated values: the factors, the mean, the runs, and why it does not count.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut head: Vec<String> = self.space.sides.iter().map(|s| s.name.clone()).collect();
        let metric = format!("{} ({})", self.request.metric, self.asked.unit().stored());
        head.extend([metric, "runs".to_owned(), "left_out".to_owned()]);
        // Memory takes everything, and all rows have as many cells.
        let mut write = |row: &[String]| {
            let _ = writer.write_record(row.iter().map(|c| csv_cell(c).into_owned()));
        };
        write(&head);
        for tried in &self.tried {
            let mut row = tried.texts.clone();
            let value = mean(&tried.values).filter(|_| tried.out.is_none());
            row.push(value.map_or_else(String::new, |value| value.to_string()));
            row.push(tried.runs.to_string());
            row.push(tried.out.as_ref().map_or_else(String::new, Out::text));
            write(&row);
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What was found, for programs.
    pub fn json(&self, confirmed: Option<&Confirmed>) -> String {
        let factors = |texts: &[String]| -> Value {
            let each = self.space.sides.iter().zip(texts);
            let each = each.map(|(side, text)| (side.name.clone(), json!(text)));
            Value::Object(each.collect())
        };
        let place = |tried: &Tried| json!({"factors": factors(&tried.texts), "value": mean(&tried.values), "runs": tried.runs});
        let record = |record: Option<&Record>| {
            record.map(|record| {
                json!({"value": record.value, "half_width": record.half_width, "low": record.low,
                    "high": record.high, "n": record.n, "deterministic": record.deterministic})
            })
        };
        let simpler = self.simpler.as_ref().map(|simpler| {
            let own = confirmed.and_then(|all| all.simpler.as_ref());
            let names = self.space.sides.iter().zip(&simpler.kept);
            let needed = names.filter(|(_, kept)| **kept).map(|(side, _)| side.name.as_str());
            json!({"needed": needed.collect::<Vec<_>>(), "value": simpler.value, "runs": FULL, "confirmed": record(own)})
        });
        let along = self.space.sides.iter().zip(&self.along);
        let along = along.map(|(side, values)| {
            let values = values.iter();
            let values = values.map(|one| json!({"at": one.text, "value": one.value}));
            json!({"factor": side.name, "values": values.collect::<Vec<_>>()})
        });
        let refused = (self.tried.iter())
            .filter(|tried| matches!(tried.out, Some(Out::Refused(_))))
            .count();
        let all = json!({
            "title": self.about(),
            "sojourn": VERSION,
            "metric": self.request.metric,
            "unit": self.asked.unit().stored(),
            "worse": if self.request.lower { "lower" } else { "higher" },
            "seed": self.request.seed,
            "confirmed_with_seed": self.confirm_seed(),
            "runs": self.made,
            "places": self.tried.iter().filter(|tried| tried.runs > 0).count(),
            "places_refused": refused,
            "worst": self.shown_winner().map(place),
            "confirmed": record(confirmed.and_then(|both| both.worst.as_ref())),
            "default": record(confirmed.and_then(|both| both.default.as_ref())),
            "simpler": simpler,
            "along": along.collect::<Vec<_>>(),
            "others": self.others().into_iter().map(place).collect::<Vec<_>>(),
            "failures": self.failures().iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        format!("{all:#}\n")
    }
}

impl Out {
    fn text(&self) -> String {
        match self {
            Out::Refused(reason) => reason.clone(),
            Out::Failed => "a bug of Sojourn".to_owned(),
            Out::Valueless => "no value".to_owned(),
        }
    }
}

/// A number of things.
fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Words in lines that fit.
fn lines(words: &str, width: Option<usize>) -> String {
    match width {
        None => format!("{words}\n"),
        Some(width) => wrapped(words, width).join("\n") + "\n",
    }
}
