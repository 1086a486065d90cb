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

    /// The values in a line, with a unit that all have written once; `between` stands between two.
    pub(crate) fn line(&self, between: &str) -> String {
        let Some(first) = self.0.first() else {
            return String::new();
        };
        let unit = first.rsplit_once(' ').map(|(_, unit)| format!(" {unit}"));
        let unit = unit.filter(|unit| {
            let number = |value: &String| {
                let rest = value.strip_suffix(unit.as_str());
                rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            };
            self.0.iter().all(number)
        });
        let unit = unit.unwrap_or_default();
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
