//! The table of coverage: rows, how they add up over threads, and how they read as Markdown.

use sojourn_results::stats::interval::Interval;

/// Replications of one interval.
pub(crate) const SIZES: [usize; 3] = [3, 5, 10];

/// Intervals that were made of one kind.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) made: u32,
    covered: u32,
    width: f64,
}

impl Tally {
    pub(crate) fn add(&mut self, interval: Option<Interval>, truth: f64) {
        let Some(interval) = interval else {
            return;
        };
        self.add_verdict(interval.contains(truth));
        self.width += interval.width();
    }

    pub(crate) fn add_verdict(&mut self, is_right: bool) {
        self.made += 1;
        self.covered += u32::from(is_right);
    }

    /// Share in percent; of none, nothing.
    pub(crate) fn coverage(&self) -> Option<f64> {
        (self.made > 0).then(|| 100.0 * f64::from(self.covered) / f64::from(self.made))
    }

    fn mean_width(&self) -> f64 {
        self.width / f64::from(self.made.max(1))
    }

    fn merge(&mut self, other: &Tally) {
        self.made += other.made;
        self.covered += other.covered;
        self.width += other.width;
    }
}

/// One kind of interval, made in many experiments.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) section: &'static str,
    pub(crate) what: String,
    /// Which rules were on.
    pub(crate) rule: &'static str,
    pub(crate) n: String,
    pub(crate) before: Tally,
    pub(crate) after: Tally,
    /// Those of `after` that are marked "too few".
    pub(crate) few: Tally,
}

/// All rows, in the order in which they first came.
#[derive(Clone, Default)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// The row of this kind, which may be new.
    pub(crate) fn row(
        &mut self,
        section: &'static str,
        what: &str,
        rule: &'static str,
        n: &str,
    ) -> &mut Row {
        let is_it = |row: &Row| row.what == what && row.rule == rule && row.n == n;
        let place = self.rows.iter().position(is_it).unwrap_or_else(|| {
            self.rows.push(Row {
                section,
                what: what.to_owned(),
                rule,
                n: n.to_owned(),
                before: Tally::default(),
                after: Tally::default(),
                few: Tally::default(),
            });
            self.rows.len() - 1
        });
        &mut self.rows[place]
    }

    pub(crate) fn merge(&mut self, other: &Table) {
        for from in &other.rows {
            let row = self.row(from.section, &from.what, from.rule, &from.n);
            row.before.merge(&from.before);
            row.after.merge(&from.after);
            row.few.merge(&from.few);
        }
    }

    /// The tables of all sections.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        let mut section = "";
        let mut sections: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !sections.contains(&row.section) {
                sections.push(row.section);
            }
        }
        let in_order = sections
            .iter()
            .flat_map(|section| self.rows.iter().filter(move |row| row.section == *section));
        for row in in_order {
            if row.section != section {
                section = row.section;
                text += &format!(
                    "\n## {section}\n\n| what | rules | n | before, % | now, % | width | too few, % |\n|---|---|---|---|---|---|---|\n"
                );
            }
            text += &row.markdown();
        }
        text
    }
}

impl Row {
    /// Adds an interval that may be marked.
    pub(crate) fn add_marked(&mut self, interval: Option<Interval>, truth: f64, is_few: bool) {
        self.after.add(interval, truth);
        if is_few {
            self.few.add(interval, truth);
        }
    }

    fn markdown(&self) -> String {
        let percent = |tally: &Tally| {
            tally
                .coverage()
                .map_or(String::new(), |c| format!("{c:.1}"))
        };
        let width = match self.before.width > 0.0 && self.after.made > 0 {
            true => format!("{:.2}", self.after.mean_width() / self.before.mean_width()),
            false => String::new(),
        };
        let few = match self.few.made {
            0 => String::new(),
            made => format!(
                "{:.0}",
                100.0 * f64::from(made) / f64::from(self.after.made)
            ),
        };
        format!(
            "| {} | {} | {} | {} | {} | {width} | {few} |\n",
            self.what,
            self.rule,
            self.n,
            percent(&self.before),
            percent(&self.after)
        )
    }
}
