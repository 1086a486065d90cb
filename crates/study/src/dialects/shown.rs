//! The rankings of a study in dialects as text, as Markdown and as JSON.

use sojourn_report::{Grid, GridColumn, wrapped};
pub use sojourn_results::directory::AS_WRITTEN;
use sojourn_results::manifest::VERSION;

use super::components::{Remarks, TEXTS};
use super::verdicts::{Column, Ranking, Sensitivity, Standing};
use crate::summary::{Order, PairVerdict};

/// Name of the file with every ranking, for programs.
pub const DIALECTS_FILE: &str = "dialects.json";
/// Name of the file with every ranking, for readers.
pub const DIALECTS_PAGE: &str = "dialects.md";
/// Places where a ranking turns that a text lists at most.
const MOST_TURNS: usize = 8;
/// Values of a key that were left out that a text lists at most.
const MOST_VALUES: usize = 3;
/// Components or keys that a text lists at most in one sentence.
const MOST_LISTED: usize = 8;
/// Parameters that a text lists at most where a ranking turns.
const MOST_PARAMETERS: usize = 5;

/// What the words of a table mean.
const LEGEND: &str = "holds: the same order, more than chance. turns: the opposite order, more than chance. \
    unclear: not distinguishable. ?: not distinguishable as written; < and >: the order of such a pair there. A number counts places.";

impl Standing {
    /// The word in a table.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Holds => "holds",
            Standing::Turns => "turns",
            Standing::Unclear => "unclear",
            Standing::Less => "<",
            Standing::Greater => ">",
            Standing::Missing => "no value",
        }
    }
}

/// Rankings of one experiment and metric that read the same: `CoDel < DRR`.
struct Row<'a> {
    text: String,
    rankings: Vec<&'a Ranking>,
}

/// The rows of one experiment and metric.
struct Block<'a> {
    title: String,
    rows: Vec<Row<'a>>,
}

/// `CoDel < DRR`, or `CoDel ? DRR` where they are not distinguishable.
fn statement(pair: &PairVerdict) -> String {
    match pair.order {
        Some(Order::Less) => format!("{} < {}", pair.a, pair.b),
        Some(Order::Greater) => format!("{} < {}", pair.b, pair.a),
        None => format!("{} ? {}", pair.a, pair.b),
    }
}

/// The levels that both have: `rate=2Mbps, rtt=10ms`.
fn place(pair: &PairVerdict) -> String {
    let levels = pair
        .levels
        .iter()
        .map(|(factor, label)| format!("{factor}={label}"));
    levels.collect::<Vec<_>>().join(", ")
}

impl Sensitivity {
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        for ranking in &self.rankings {
            let pair = &ranking.written;
            let title = match pair.experiment.as_str() {
                "" => pair.title.clone(),
                experiment => format!("{experiment}: {}", pair.title),
            };
            // What nothing distinguishes anywhere says nothing.
            let said = pair.order.is_some() || ranking.standings().any(|s| s != Standing::Unclear);
            if !said {
                continue;
            }
            let at = blocks.iter().position(|block| block.title == title);
            let block = match at {
                Some(at) => &mut blocks[at],
                None => {
                    let rows = Vec::new();
                    blocks.push(Block { title, rows });
                    let last = blocks.len() - 1;
                    &mut blocks[last]
                }
            };
            let text = statement(pair);
            match block.rows.iter_mut().find(|row| row.text == text) {
                Some(row) => row.rankings.push(ranking),
                None => block.rows.push(Row {
                    text,
                    rankings: vec![ranking],
                }),
            }
        }
        blocks
    }

    /// The columns that ran, with their places.
    fn ran(&self) -> impl Iterator<Item = (usize, &Column)> {
        let all = self.columns.iter().enumerate();
        all.filter(|(_, column)| column.failed.is_none() && !column.same)
    }

    /// The report for a terminal of `width` columns, or in lines of any length.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut text = format!("{}: rankings in other dialects\n", self.title);
        if self.ran().next().is_some() {
            for block in self.blocks() {
                text.push_str(&format!("\n{}\n\n", block.title));
                text.push_str(&self.grid(&block).text(width));
            }
        }
        let paragraph = |text: &mut String, line: &str| {
            let lines = width.map_or_else(
                || vec![line.to_owned()],
                |width| wrapped(line, width.saturating_sub(2)),
            );
            text.push_str(&lines.join("\n  "));
            text.push('\n');
        };
        text.push('\n');
        if self.ran().next().is_some() && !self.rankings.is_empty() {
            paragraph(&mut text, LEGEND);
            text.push('\n');
        }
        let turns = self.turns();
        for line in turns.iter().take(MOST_TURNS) {
            paragraph(&mut text, line);
        }
        if turns.len() > MOST_TURNS {
            let more = turns.len() - MOST_TURNS;
            paragraph(
                &mut text,
                &format!("{more} more turn: see {}", DIALECTS_PAGE),
            );
        }
        if !turns.is_empty() {
            text.push('\n');
        }
        for line in self.columns.iter().flat_map(remarks) {
            paragraph(&mut text, &line);
        }
        text.push('\n');
        if let Some(line) = self.looked_at() {
            paragraph(&mut text, &line);
        }
        paragraph(&mut text, &self.conclusion());
        text
    }

    fn grid(&self, block: &Block<'_>) -> Grid {
        let mut columns = vec![GridColumn::words("as written")];
        columns.extend(
            self.ran()
                .map(|(_, column)| GridColumn::words(&column.dialect)),
        );
        let rows = block.rows.iter().map(|row| {
            let count = row.rankings.len();
            let name = match count {
                1 => row.text.clone(),
                count => format!("{} ({count})", row.text),
            };
            let cells = self.ran().map(|(at, _)| cell(row, at));
            std::iter::once(name).chain(cells).collect()
        });
        Grid {
            rows: rows.collect(),
            columns,
            names: 1,
            ruled: true,
        }
    }

    /// Where rankings turn, in words.
    fn turns(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, ranking) in self.rankings.iter().enumerate() {
            for (at, column) in self.ran() {
                let Some((Standing::Turns, _)) = &ranking.there[at] else {
                    continue;
                };
                let pair = &ranking.written;
                let places = [pair.experiment.clone(), place(pair)];
                let places: Vec<String> = places.into_iter().filter(|p| !p.is_empty()).collect();
                let differs = self.differs.get(&(number, at));
                lines.push(format!(
                    "Turns in {}: {}, {}, as written {}. {}",
                    column.dialect,
                    pair.title,
                    places.join(", "),
                    statement(pair),
                    parameters(differs.map(Vec::as_slice).unwrap_or_default())
                ));
            }
        }
        lines
    }

    /// Which metrics are ranked; `None` if none is.
    fn looked_at(&self) -> Option<String> {
        let metrics = self.metrics();
        let named = metrics.iter().map(|title| (*title).to_owned());
        (!metrics.is_empty()).then(|| {
            let all = named.collect::<Vec<_>>().join("; ");
            format!("Metrics that are ranked: {all}.")
        })
    }

    /// How many survive, in a sentence or two.
    pub fn conclusion(&self) -> String {
        let totals = self.totals();
        if self.ran().next().is_none() {
            return "No other dialect ran: nothing is known of the rankings.".to_owned();
        }
        if self.rankings.is_empty() {
            return "The study ranks nothing: no factor has compare = true, or each point ran once."
                .to_owned();
        }
        let mut text = match totals.rankings {
            0 => "The study as written distinguishes no pair.".to_owned(),
            rankings => format!(
                "{} of {rankings} rankings hold in every dialect; {} turn somewhere; {} are unclear somewhere.",
                totals.hold, totals.turn, totals.unclear
            ),
        };
        if totals.open > 0 {
            text.push_str(&format!(
                " Not distinguishable as written: {}; of these, distinguishable in some dialect: {}.",
                totals.open, totals.found
            ));
        }
        text
    }

    /// The same as a page in Markdown, with every place of every ranking.
    pub fn markdown(&self) -> String {
        let escaped = |text: &str| text.replace('|', "\\|").replace('<', "\\<");
        let mut text = format!("# {}: rankings in other dialects\n\n", self.title);
        text.push_str(&format!(
            "{}\n\n{}\n",
            self.conclusion(),
            LEGEND.replace('<', "\\<")
        ));
        if let Some(line) = self.looked_at() {
            text.push_str(&format!("\n{line}\n"));
        }
        for line in self.columns.iter().flat_map(remarks) {
            text.push_str(&format!("\n- {line}"));
        }
        text.push('\n');
        let turns = self.turns();
        if !turns.is_empty() {
            text.push_str("\n## What turns\n");
        }
        for line in turns {
            text.push_str(&format!("\n- {}", escaped(&line)));
        }
        text.push('\n');
        for block in self.blocks() {
            text.push_str(&format!("\n## {}\n\n| at | as written |", block.title));
            for (_, column) in self.ran() {
                text.push_str(&format!(" {} |", column.dialect));
            }
            let columns = self.ran().count() + 2;
            text.push_str(&format!("\n|{}\n", "---|".repeat(columns)));
            for ranking in block.rows.iter().flat_map(|row| &row.rankings) {
                let pair = &ranking.written;
                let (at, said) = (escaped(&place(pair)), escaped(&statement(pair)));
                text.push_str(&format!("| {at} | {said}"));
                for (at, _) in self.ran() {
                    let standing = ranking.there[at]
                        .as_ref()
                        .map(|(standing, _)| standing.word());
                    text.push_str(&format!(" | {}", escaped(standing.unwrap_or_default())));
                }
                text.push_str(" |\n");
            }
        }
        text
    }

    /// The same for programs.
    pub fn json(&self) -> String {
        let dialects: Vec<serde_json::Value> = self.columns.iter().map(column_json).collect();
        let rankings = self.rankings.iter().enumerate().map(|(number, ranking)| {
            let there: serde_json::Map<String, serde_json::Value> = (self.ran())
                .filter_map(|(at, column)| {
                    let (standing, pair) = ranking.there[at].as_ref()?;
                    let mut value = serde_json::json!({
                        "standing": standing,
                        "order": pair.as_ref().and_then(|pair| pair.order),
                        "difference": pair.as_ref().map(|pair| pair.difference),
                        "p_holm": pair.as_ref().and_then(|pair| pair.p_holm),
                    });
                    if let Some(differs) = self.differs.get(&(number, at)) {
                        value["parameters"] = serde_json::json!(differs);
                    }
                    Some((column.dialect.clone(), value))
                })
                .collect();
            let pair = &ranking.written;
            let levels = pair.levels.iter();
            let levels = levels.map(|(factor, label)| (factor.clone(), label.as_str().into()));
            let levels: serde_json::Map<String, serde_json::Value> = levels.collect();
            serde_json::json!({
                "experiment": pair.experiment,
                "levels": levels,
                "metric": pair.metric,
                "title": pair.title,
                "a": pair.a,
                "b": pair.b,
                "order": pair.order,
                "difference": pair.difference,
                "p_holm": pair.p_holm,
                "dialects": there,
            })
        });
        let all = serde_json::json!({
            "title": self.title,
            "sojourn": VERSION,
            "totals": self.totals(),
            "metrics": self.metrics(),
            "notes": self.notes,
            "dialects": dialects,
            "rankings": rankings.collect::<Vec<_>>(),
        });
        format!("{all:#}\n")
    }

    /// The same as comma-separated values, one ranking in one dialect per line.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let head = [
            "experiment",
            "levels",
            "metric",
            "a",
            "b",
            "dialect",
            "order",
            "standing",
        ];
        let order = |order: Option<Order>| match order {
            Some(Order::Less) => "less",
            Some(Order::Greater) => "greater",
            None => "unclear",
        };
        // Memory takes everything, and all rows have as many cells.
        let _ = writer.write_record(head);
        for ranking in &self.rankings {
            let pair = &ranking.written;
            let levels = place(pair);
            let mut row = |dialect: &str, found: Option<Order>, standing: &str| {
                let names = [&pair.experiment, &levels, &pair.metric, &pair.a, &pair.b];
                let names = names.map(String::as_str).into_iter();
                let cells = names.chain([dialect, order(found), standing]);
                let _ =
                    writer.write_record(cells.map(|c| sojourn_report::csv_cell(c).into_owned()));
            };
            row(AS_WRITTEN, pair.order, "");
            for (at, column) in self.ran() {
                if let Some((standing, there)) = &ranking.there[at] {
                    let found = there.as_ref().and_then(|pair| pair.order);
                    row(&column.dialect, found, standing.word());
                }
            }
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// What differs where a ranking turns, in a sentence.
fn parameters(differs: &[String]) -> String {
    if differs.is_empty() {
        return "No parameter that both have differs: the rules do.".to_owned();
    }
    let shown = differs.iter().take(MOST_PARAMETERS).cloned();
    let mut text = format!("Differs: {}", shown.collect::<Vec<_>>().join("; "));
    if differs.len() > MOST_PARAMETERS {
        text.push_str(&format!("; {} more", differs.len() - MOST_PARAMETERS));
    }
    text + "."
}

/// What becomes of the rankings of a row in a dialect: `holds`, or `holds 3, turns 1`.
fn cell(row: &Row<'_>, at: usize) -> String {
    let mut counts: Vec<(Standing, usize)> = Vec::new();
    for (standing, _) in row
        .rankings
        .iter()
        .filter_map(|ranking| ranking.there[at].as_ref())
    {
        match counts.iter_mut().find(|(known, _)| known == standing) {
            Some((_, count)) => *count += 1,
            None => counts.push((*standing, 1)),
        }
    }
    counts.sort_unstable();
    if let [(only, _)] = counts.as_slice() {
        return only.word().to_owned();
    }
    let each = counts
        .iter()
        .map(|(standing, count)| format!("{} {count}", standing.word()));
    each.collect::<Vec<_>>().join(", ")
}

/// What is to be said of a dialect, in sentences.
fn remarks(column: &Column) -> Vec<String> {
    let name = &column.dialect;
    if let Some(reason) = &column.failed {
        return vec![format!("{name}: it cannot run. {reason}")];
    }
    let mut texts = Vec::new();
    if name == TEXTS {
        texts.push(format!("{name}: each component in its default dialect."));
    }
    if column.same {
        texts.push(format!(
            "{name}: the same as written, so it did not run again."
        ));
        return texts;
    }
    let Remarks {
        lacks,
        kept,
        compared,
        left_out,
        carried,
    } = &column.remarks;
    let pairs = |all: &std::collections::BTreeMap<String, String>| {
        listed(
            all.iter()
                .map(|(name, dialect)| format!("{name} ({dialect})")),
        )
    };
    if !lacks.is_empty() {
        texts.push(format!(
            "{name}: no such dialect, so as written: {}.",
            pairs(lacks)
        ));
    }
    if !kept.is_empty() {
        texts.push(format!("{name}: variants stay: {}.", pairs(kept)));
    }
    if !compared.is_empty() {
        let all = listed(compared.iter().cloned());
        texts.push(format!(
            "{name}: a factor compares dialects of {all}, which stay as written."
        ));
    }
    if !left_out.is_empty() {
        let each = left_out.iter().map(|((component, key), values)| {
            let shown = values.iter().take(MOST_VALUES).cloned();
            let mut shown = shown.collect::<Vec<_>>().join(" or ");
            if values.len() > MOST_VALUES {
                shown.push_str(" ...");
            }
            format!("{component} {key}={shown}")
        });
        // Every key is named: a key that is left out may be what a result rests on.
        let each: Vec<String> = each.collect();
        texts.push(format!("{name}: keys left out: {}.", each.join(", ")));
    }
    if !carried.is_empty() {
        let each = carried
            .iter()
            .map(|(component, text)| format!("{component} {text}"));
        texts.push(format!("{name}: keys written anew: {}.", listed(each)));
    }
    texts
}

fn listed(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    let mut text = all
        .iter()
        .take(MOST_LISTED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if all.len() > MOST_LISTED {
        text.push_str(&format!(" and {} more", all.len() - MOST_LISTED));
    }
    text
}

fn column_json(column: &Column) -> serde_json::Value {
    let Remarks {
        lacks,
        kept,
        compared,
        left_out,
        carried,
    } = &column.remarks;
    let left_out = left_out.iter().map(|((component, key), values)| {
        serde_json::json!({"component": component, "key": key, "values": values})
    });
    let carried = carried
        .iter()
        .map(|(component, text)| serde_json::json!({"component": component, "text": text}));
    serde_json::json!({
        "dialect": column.dialect,
        "state": match (&column.failed, column.same) {
            (Some(_), _) => "failed",
            (None, true) => "same",
            (None, false) => "ran",
        },
        "reason": column.failed,
        "lacks": lacks,
        "kept": kept,
        "compared": compared,
        "left_out": left_out.collect::<Vec<_>>(),
        "written_anew": carried.collect::<Vec<_>>(),
    })
}
