//! Texts of a picture: lists of values, widths without a font, lines.

use serde::{Deserialize, Serialize};

/// The values that a text has in different points of an experiment, each once, in the order of the points.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(Vec<String>);

/// Values that are listed; of more, the first two and the last stand for all.
const MOST_VALUES: usize = 4;

impl Values {
    /// One value.
    pub fn one(text: impl Into<String>) -> Values {
        Values(vec![text.into()])
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes up the values of another list that are new.
    pub fn join(&mut self, other: &Values) {
        for value in &other.0 {
            if !self.0.contains(value) {
                self.0.push(value.clone());
            }
        }
    }

    /// Queues in pieces that a line keeps whole, what all have in common once: `DropTail /`, `PIE,`, `200 packets`. All are listed, since
    /// these are what is compared.
    pub(crate) fn queues(&self) -> Vec<String> {
        let parts = self.0.iter().map(|value| value.split_once(", "));
        let parts: Option<Vec<(&str, &str)>> = parts.collect();
        let limits = |parts: &[(&str, &str)]| {
            let limits = parts.iter().map(|(_, limit)| (*limit).to_owned());
            listed(limits, "")
        };
        match parts.as_deref() {
            Some(parts @ [(_, limit), ..]) if parts.iter().all(|part| part.1 == *limit) => {
                let mut all = listed(parts.iter().map(|(name, _)| (*name).to_owned()), ",");
                all.push((*limit).to_owned());
                all
            }
            Some(parts @ [(name, _), ..]) if parts.iter().all(|part| part.0 == *name) => {
                let mut all = vec![format!("{name},")];
                all.extend(limits(parts));
                all
            }
            _ => listed(self.0.iter().cloned(), ""),
        }
    }

    /// The values in a line, with a unit that all have written once; `between` stands between two.
    pub(crate) fn line(&self, between: &str) -> String {
        let unit = common_unit(&self.0);
        let mut shown: Vec<&str> = self
            .0
            .iter()
            .map(|value| value.strip_suffix(unit.as_str()).unwrap_or(value))
            .collect();
        if shown.len() > MOST_VALUES {
            let last = shown.len() - 1;
            shown = vec![shown[0], shown[1], "…", shown[last]];
        }
        shown.join(between) + &unit
    }
}

/// The unit that all these numbers have, with the space before it; empty where they have none in common.
fn common_unit(values: &[String]) -> String {
    let unit = values.first().and_then(|first| first.rsplit_once(' '));
    let unit = unit.map(|(_, unit)| format!(" {unit}"));
    let unit = unit.filter(|unit| {
        let number = |value: &String| {
            let rest = value.strip_suffix(unit.as_str());
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        values.iter().all(number)
    });
    unit.unwrap_or_default()
}

/// Items with strokes between, a unit that all have written once, and something behind the last.
fn listed(items: impl Iterator<Item = String>, end: &str) -> Vec<String> {
    let mut all: Vec<String> = items.collect();
    let unit = common_unit(&all);
    let last = all.len().saturating_sub(1);
    for (item, at) in all.iter_mut().zip(0..) {
        if at == last {
            item.push_str(end);
        } else {
            item.truncate(item.len() - unit.len());
            item.push_str(" /");
        }
    }
    all
}

/// Pieces in lines of width `most`: a line ends between two of them, and one that is wider stands alone.
pub(crate) fn packed(pieces: &[String], size: f64, most: f64) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for piece in pieces {
        match all.last_mut() {
            Some(last) if width_of(&format!("{last} {piece}"), size) <= most => {
                last.push(' ');
                last.push_str(piece);
            }
            _ => all.push(piece.clone()),
        }
    }
    all
}

/// About how wide a text is, in pixels: rather too wide than too narrow for any of the usual fonts without serifs.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

fn advance(c: char) -> f64 {
    match c {
        'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.30,
        ' ' | 'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '→' | '←' | '↑' | '↓' | '×' => 0.97,
        'A'..='Z' | '_' | '=' | '+' => 0.74,
        '0'..='9' | 'a'..='z' => 0.62,
        c if c.is_ascii() => 0.7,
        // Latin, Greek and Cyrillic letters; others, such as those of Chinese, are squares.
        c if u32::from(c) < 0x1100 => 0.75,
        _ => 1.05,
    }
}

/// The text, cut with an ellipsis if it is wider.
pub(crate) fn cut(text: &str, size: f64, most: f64) -> String {
    if width_of(text, size) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if width_of(&kept, size) + (advance(c) + advance('…')) * size > most {
            break;
        }
        kept.push(c);
    }
    kept.trim_end().to_owned() + "…"
}

/// The text in at most `count` lines of width `most`; what does not fit is cut.
pub(crate) fn lines(text: &str, size: f64, most: f64, count: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words(text) {
        match all.last_mut() {
            Some(last) if width_of(&format!("{last} {word}"), size) <= most => {
                last.push(' ');
                last.push_str(&word);
            }
            _ => all.push(word),
        }
    }
    let rest = all.split_off(count.min(all.len()));
    if let Some(last) = all.last_mut().filter(|_| !rest.is_empty()) {
        last.push_str(" …");
    }
    all.iter().map(|line| cut(line, size, most)).collect()
}

/// The words of a text; a number and its unit are one.
fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match all.last_mut() {
            Some(number) if number.parse::<f64>().is_ok() => {
                number.push(' ');
                number.push_str(word);
            }
            _ => all.push(word.to_owned()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(all: &[&str]) -> Values {
        let mut values = Values::default();
        for value in all {
            values.join(&Values::one(*value));
        }
        values
    }

    #[test]
    fn a_list_writes_a_common_unit_once_and_leaves_out_its_middle() {
        assert_eq!(values(&[]).line(", "), "");
        assert_eq!(values(&["10 Mbps"]).line(", "), "10 Mbps");
        assert_eq!(
            values(&["2 Mbps", "10 Mbps", "2 Mbps"]).line(", "),
            "2, 10 Mbps"
        );
        assert_eq!(
            values(&["900 kbps", "1 Mbps"]).line(", "),
            "900 kbps, 1 Mbps"
        );
        assert_eq!(values(&["CoDel", "DRR"]).line(" / "), "CoDel / DRR");
        assert_eq!(
            values(&["1 ms", "2 ms", "3 ms", "4 ms", "5 ms"]).line(", "),
            "1, 2, …, 5 ms"
        );
    }

    #[test]
    fn queues_are_all_listed_with_what_they_have_in_common_once() {
        let label = |all: &[&str]| packed(&values(all).queues(), 12.0, 126.0);
        assert!(label(&[]).is_empty());
        assert_eq!(label(&["CoDel, 50 packets"]), ["CoDel, 50 packets"]);
        assert_eq!(
            label(&[
                "DropTail, 200 packets",
                "PIE, 200 packets",
                "FQ-CoDel, 200 packets"
            ]),
            ["DropTail / PIE /", "FQ-CoDel,", "200 packets"]
        );
        assert_eq!(
            label(&["DropTail, 20 packets", "DropTail, 50 packets"]),
            ["DropTail, 20 /", "50 packets"]
        );
        assert_eq!(
            label(&["CoDel", "RED", "PIE", "SFQ", "DRR"]),
            ["CoDel / RED / PIE /", "SFQ / DRR"]
        );
        assert_eq!(
            label(&["DropTail, 64 kB", "CoDel"]),
            ["DropTail, 64 kB /", "CoDel"]
        );
    }

    #[test]
    fn what_is_too_wide_is_cut_or_broken_within_the_width() {
        assert_eq!(cut("router", 12.0, 100.0), "router");
        let short = cut("a-router-with-a-long-name", 12.0, 80.0);
        assert!(
            short.ends_with('…') && width_of(&short, 12.0) <= 80.0,
            "{short}"
        );
        let broken = lines("one two three four five six", 12.0, 60.0, 2);
        assert_eq!(broken.len(), 2);
        assert!(
            broken.iter().all(|line| width_of(line, 12.0) <= 60.0),
            "{broken:?}"
        );
        assert!(broken[1].ends_with('…'), "{broken:?}");
        let queue = lines("DropTail, 50 packets", 12.0, 110.0, 3);
        assert_eq!(queue, ["DropTail,", "50 packets"]);
    }
}
