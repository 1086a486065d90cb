//! A map as text, as a picture and as a table of its places.

use std::fmt::Write as _;

use sojourn_report::plane::{Area, PlanePicture, Scale};

use super::{Map, Spot};

/// Columns of a map in text at most, and rows.
const COLUMNS: u64 = 64;
const ROWS: u64 = 24;
/// Shown where nothing is decided.
const UNDECIDED: char = '.';

impl Map {
    /// The letter of a level.
    fn letter(level: usize) -> char {
        let letters: Vec<char> = ('A'..='Z').collect();
        letters[level % letters.len()]
    }

    /// What the picture is of, in a line.
    fn about(&self) -> String {
        let which = if self.lower { "lowest" } else { "highest" };
        let mut text = format!("{}: {which} {}", self.title, self.heading);
        if !self.others.is_empty() {
            let others = self
                .others
                .iter()
                .map(|(factor, level)| format!("{factor}={level}"));
            text.push_str(&format!(", at {}", others.collect::<Vec<_>>().join(", ")));
        }
        text
    }

    /// The map for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.about());
        match &self.request.y {
            Some(_) => self.grid_text(&mut text),
            None => self.line_text(&mut text),
        }
        text.push('\n');
        let places = self.places();
        let all = places.len();
        let count = |level| places.iter().filter(|spot| spot.winner == level).count();
        for (level, label) in self.factor.labels.iter().enumerate() {
            let (letter, wins) = (Map::letter(level), count(Some(level)));
            let _ = writeln!(text, "{letter} {label}: {wins} of {all} places");
        }
        let open = count(None);
        let _ = writeln!(text, "{UNDECIDED} undecided: {open} of {all} places");
        if self.once {
            text.push_str(
                "\nEach place ran once, so nothing tells a difference from chance: add\n  --replications 5.\n",
            );
        }
        text
    }

    fn sign(spot: Option<&Spot>) -> char {
        spot.and_then(|spot| spot.winner)
            .map_or(UNDECIDED, Map::letter)
    }

    fn grid_text(&self, text: &mut String) {
        let Some(y) = &self.request.y else {
            return;
        };
        let whole = self.plane.whole();
        let smallest = self
            .plane
            .cells()
            .iter()
            .map(|cell| cell.size)
            .min()
            .unwrap_or(whole);
        let across = whole / smallest.max(1);
        // A letter is about twice as high as wide.
        let (columns, rows) = ((2 * across).clamp(1, COLUMNS), across.clamp(2, ROWS));
        let left = y.text(1.0).len().max(y.text(0.0).len());
        for row in (0..rows).rev() {
            // The middle of what the letter stands for.
            let up = (2 * row + 1) * whole / (2 * rows);
            let label = match row {
                0 => y.text(0.0),
                row if row + 1 == rows => y.text(1.0),
                _ => String::new(),
            };
            let letters: String = (0..columns)
                .map(|column| {
                    let right = (2 * column + 1) * whole / (2 * columns);
                    let cell = self
                        .plane
                        .cells()
                        .iter()
                        .find(|cell| cell.holds((right, up)));
                    Map::sign(cell.and_then(|cell| self.spots.get(&cell.middle())))
                })
                .collect();
            let _ = writeln!(text, "{label:>left$} |{letters}");
        }
        let (first, last) = (self.request.x.text(0.0), self.request.x.text(1.0));
        let wide = usize::try_from(columns).unwrap_or(0);
        let gap = wide.saturating_sub(first.len() + last.len()).max(1);
        let _ = writeln!(text, "{:left$} +{}", "", "-".repeat(wide));
        let _ = writeln!(text, "{:left$}  {first}{:gap$}{last}", "", "");
        let _ = writeln!(
            text,
            "{:left$}  {} across, {} upwards",
            "",
            self.request.x.title(),
            y.title()
        );
    }

    /// The map as a picture, in SVG.
    pub fn svg(&self) -> String {
        let scale = |axis: &super::Axis| Scale {
            title: axis.title().to_owned(),
            ticks: axis.ticks(),
        };
        let share = |place| self.plane.share(place);
        let area = |spot: Option<&Spot>, from: (f64, f64), to: (f64, f64)| Area {
            from,
            to,
            level: spot.and_then(|spot| spot.winner),
        };
        let areas = match &self.request.y {
            Some(_) => {
                let cells = self.plane.cells().iter();
                let of = |cell: &super::Cell| {
                    let ((x, y), size) = (cell.corner, cell.size);
                    let spot = self.spots.get(&cell.middle());
                    area(
                        spot,
                        (share(x), share(y)),
                        (share(x + size), share(y + size)),
                    )
                };
                cells.map(of).collect()
            }
            None => {
                // Between two places, what both agree on.
                let spots: Vec<(&(u64, u64), &Spot)> = self.spots.iter().collect();
                let pairs = spots.windows(2).map(|pair| {
                    let agree = pair[0].1.winner == pair[1].1.winner;
                    let ends = (share(pair[0].0.0), share(pair[1].0.0));
                    area(
                        Some(pair[0].1).filter(|_| agree),
                        (ends.0, 0.0),
                        (ends.1, 1.0),
                    )
                });
                pairs.collect()
            }
        };
        sojourn_report::plane::svg(&PlanePicture {
            title: self.about(),
            x: scale(&self.request.x),
            y: self.request.y.as_ref().map(scale),
            areas,
            levels: self.factor.labels.clone(),
        })
    }

    fn line_text(&self, text: &mut String) {
        let mut last: Option<(&Spot, usize)> = None;
        let mut crossed = false;
        for spot in self.places() {
            let Some(winner) = spot.winner else {
                continue;
            };
            if let Some((before, other)) = last
                && other != winner
            {
                crossed = true;
                let (from, to) = (&self.factor.labels[other], &self.factor.labels[winner]);
                let _ = writeln!(
                    text,
                    "{from} wins up to {} = {}, {to} from {} on.",
                    self.request.x.name(),
                    before.at.0,
                    spot.at.0
                );
            }
            last = Some((spot, winner));
        }
        if !crossed {
            let said = match last {
                Some((_, winner)) => format!(
                    "No crossover: only {} wins anywhere.",
                    self.factor.labels[winner]
                ),
                None => "No crossover: nothing is decided anywhere.".to_owned(),
            };
            let _ = writeln!(text, "{said}");
        }
        text.push('\n');
        for spot in self.places() {
            let winner = spot
                .winner
                .map_or("undecided", |level| &self.factor.labels[level]);
            let _ = writeln!(text, "  {:>14}  {winner}", spot.at.0);
        }
    }

    /// Every place that ran, in comma-separated values: where, the level that wins, and the mean at each level.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut head = vec![self.request.x.path().to_owned()];
        head.extend(self.request.y.as_ref().map(|y| y.path().to_owned()));
        head.push("winner".to_owned());
        let mean = |label: &String| format!("{} ({}) at {label}", self.metric, self.unit);
        head.extend(self.factor.labels.iter().map(mean));
        // Memory takes everything, and all rows have as many cells.
        let mut write = |row: Vec<String>| {
            let _ =
                writer.write_record(row.iter().map(|c| sojourn_report::csv_cell(c).into_owned()));
        };
        write(head);
        for spot in self.places() {
            let mut row = vec![spot.at.0.clone()];
            row.extend(self.request.y.as_ref().map(|_| spot.at.1.clone()));
            row.push(spot.winner.map_or_else(
                || "undecided".to_owned(),
                |level| self.factor.labels[level].clone(),
            ));
            row.extend(
                spot.means
                    .iter()
                    .map(|mean| mean.map_or_else(String::new, |mean| mean.to_string())),
            );
            write(row);
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The same places for programs.
    pub fn json(&self) -> String {
        let labels = &self.factor.labels;
        let spots = self.places().into_iter().map(|spot| {
            let means = labels.iter().zip(&spot.means);
            let means = means.map(|(label, mean)| (label.clone(), serde_json::json!(mean)));
            let means: serde_json::Map<String, serde_json::Value> = means.collect();
            serde_json::json!({
                "x": spot.at.0,
                "y": self.request.y.as_ref().map(|_| &spot.at.1),
                "winner": spot.winner.map(|level| &labels[level]),
                "means": means,
            })
        });
        let all = serde_json::json!({
            "title": self.title,
            "experiment": self.experiment.name,
            "factor": self.factor.name,
            "levels": labels,
            "metric": self.metric,
            "unit": self.unit,
            "better": if self.lower { "lower" } else { "higher" },
            "x": self.request.x.path(),
            "y": self.request.y.as_ref().map(super::Axis::path),
            "places": spots.collect::<Vec<_>>(),
            "notes": self.notes,
        });
        format!("{all:#}\n")
    }
}
