//! What was probably meant by a specification in another spelling: with commas between parameters, spaces around "=", dashes before
//! names, as the command line of another program.
//!
//! Works on the text alone; whether what comes out is a specification, the caller looks at.

use crate::buffer::Buffer;
use crate::rate::Rate;

/// A text in the spelling of specifications, and what was wrong with the one given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Respelled {
    pub(super) text: String,
    pub(super) rule: &'static str,
}

const COMMAS: &str = "no commas between parameters";
const CALLS: &str = "parameters stand behind the name, without parentheses";
const RATES: &str = "the rate of a flow stands behind its name";
const LISTS: &str = "no space behind the comma of a list";
const SPACES: &str = "no spaces around \"=\"";
const DASHES: &str = "no dashes before parameters";
const COLONS: &str = "\"=\" stands between a parameter and its value";
const PAIRS: &str = "a parameter is key=value";
const UNITS: &str = "no space before the unit of a parameter";
const COUNTS: &str = "several flows are a number, \"*\" and a name";

/// Rewrites a text by one rule.
type Step = fn(&str) -> String;

/// Each step, and the rule that it applies.
const STEPS: &[(Step, &str)] = &[
    (counted, COUNTS),
    (counted_behind, COUNTS),
    (called, CALLS),
    (with_rate, RATES),
    (without_list_spaces, LISTS),
    (without_commas, COMMAS),
    (without_spaces, SPACES),
    (without_dashes, DASHES),
    (without_colons, COLONS),
    (with_units, UNITS),
    (in_pairs, PAIRS),
];

/// The text with every step applied, if one changes it. Texts with quotes are left alone: spaces in them mean something.
pub(super) fn respelled(given: &str) -> Option<Respelled> {
    if given.contains('"') {
        return None;
    }
    let mut text = given.trim().to_owned();
    let mut rule = None;
    for (step, says) in STEPS {
        let next = step(&text);
        if next != text {
            rule = rule.or(Some(*says));
            text = next;
        }
    }
    rule.map(|rule| Respelled { text, rule })
}

/// `4 reno` and `4xreno` with a `*`.
fn counted(text: &str) -> String {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let (number, rest) = text.split_at(end);
    let name = rest.trim_start();
    let name = name
        .strip_prefix(['x', 'X', '×', '*'])
        .unwrap_or(name)
        .trim_start();
    match !number.is_empty() && name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => format!("{number}*{name}"),
        false => text.to_owned(),
    }
}

/// `4*reno` for `reno*4` and `reno x4`.
fn counted_behind(text: &str) -> String {
    let end = text
        .find(|c: char| !is_key(c) && c != '-')
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let number = rest
        .trim()
        .strip_prefix(['x', 'X', '×', '*'])
        .map(str::trim);
    let digits = |number: &&str| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    match number.filter(digits) {
        Some(number) if !name.is_empty() => format!("{number}*{name}"),
        _ => text.to_owned(),
    }
}

/// `codel target=5ms` for `codel(target=5ms)`.
fn called(text: &str) -> String {
    let end = text
        .find(|c: char| !is_key(c) && c != '-')
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let inside = rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    match inside {
        Some(inside) if !name.is_empty() => format!("{name} {}", inside.trim()),
        _ => text.to_owned(),
    }
}

/// `cbr 2Mbps` for `cbr=2Mbps`.
fn with_rate(text: &str) -> String {
    match text.split_once('=') {
        Some((name, rate))
            if !name.is_empty()
                && name.chars().all(is_key)
                && rate.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            format!("{name} {rate}")
        }
        _ => text.to_owned(),
    }
}

/// `(codel),(tbf)` for `(codel), (tbf)`.
fn without_list_spaces(text: &str) -> String {
    let parts: Vec<&str> = text.split("),").collect();
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let listed = at > 0 && part.trim_start().starts_with('(');
        out.push_str(if listed { part.trim_start() } else { part });
        if at + 1 < parts.len() {
            out.push_str("),");
        }
    }
    out
}

/// Spaces in place of commas between parameters.
fn without_commas(text: &str) -> String {
    let text = text.trim_end_matches([',', ';', ' ']);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find([',', ';']) {
        let (before, behind) = rest.split_at(at);
        let behind = &behind[1..];
        out.push_str(before);
        let next = behind.trim_start();
        let spaced = next.len() < behind.len();
        if spaced || starts_pair(next) {
            out.push(' ');
            rest = next;
        } else {
            out.push_str(&rest[at..=at]);
            rest = behind;
        }
    }
    out + rest
}

/// Whether a text starts with the name of a parameter and "=".
fn starts_pair(text: &str) -> bool {
    let end = text.find(|c: char| !is_key(c)).unwrap_or(text.len());
    end > 0 && text[end..].starts_with('=') && !text.starts_with(|c: char| c.is_ascii_digit())
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn without_spaces(text: &str) -> String {
    let text = &text.replace("==", "=");
    let parts: Vec<&str> = text.split('=').map(str::trim).collect();
    match text.contains(" =") || text.contains("= ") {
        true => parts.join("="),
        false => text.to_owned(),
    }
}

fn words(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    let words = text.split_whitespace().enumerate();
    let words: Vec<String> = words.map(|(at, word)| change(at, word)).collect();
    words.join(" ")
}

/// Without the dashes before all but the first word.
fn without_dashes(text: &str) -> String {
    words(text, |at, word| {
        let bare = word.trim_start_matches('-');
        match at > 0
            && bare.len() < word.len()
            && bare.starts_with(|c: char| c.is_ascii_alphabetic())
        {
            true => bare.to_owned(),
            false => word.to_owned(),
        }
    })
}

/// `target=5ms` for `target:5ms`.
fn without_colons(text: &str) -> String {
    words(text, |at, word| match word.split_once(':') {
        Some((name, pair)) if at == 0 && starts_pair(pair) && name.chars().all(is_key) => {
            format!("{name} {pair}")
        }
        Some((key, value))
            if at > 0
                && !key.is_empty()
                && key.chars().all(is_key)
                && !key.starts_with(|c: char| c.is_ascii_digit())
                && !value.is_empty() =>
        {
            format!("{key}={value}")
        }
        _ => word.to_owned(),
    })
}

/// `target=5ms` for `target=5 ms`.
fn with_units(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let number = out
            .last()
            .and_then(|last| last.split_once('='))
            .is_some_and(|(_, value)| {
                !value.is_empty() && value.chars().all(|c| c.is_ascii_digit() || c == '.')
            });
        let unit = word.trim_end_matches(')');
        let one = format!("1{unit}");
        let is_unit = one.parse::<Buffer>().is_ok() || one.parse::<Rate>().is_ok();
        match out.last_mut() {
            Some(last) if number && is_unit => last.push_str(word),
            _ => out.push(word.to_owned()),
        }
    }
    out.join(" ")
}

/// `target=5ms` for `target 5ms`.
fn in_pairs(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let is_value = |value: &&&str| {
            let value = value.trim_end_matches(')');
            let number = value.starts_with(|c: char| c.is_ascii_digit());
            !value.contains('=') && (number || matches!(value, "true" | "false" | "none"))
        };
        let key = at > 0 && !word.is_empty() && word.chars().all(is_key);
        let key = key && !word.starts_with(|c: char| c.is_ascii_digit());
        match words.get(at + 1).filter(is_value) {
            Some(value) if key => {
                out.push(format!("{word}={value}"));
                at += 2;
            }
            _ => {
                out.push((*word).to_owned());
                at += 1;
            }
        }
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_is_written_as_specifications_are() {
        for (given, meant, rule) in [
            (
                "codel target=5ms, interval=50ms",
                "codel target=5ms interval=50ms",
                COMMAS,
            ),
            (
                "codel target=5ms,interval=50ms",
                "codel target=5ms interval=50ms",
                COMMAS,
            ),
            (
                "codel target=5ms; interval=50ms;",
                "codel target=5ms interval=50ms",
                COMMAS,
            ),
            ("codel target = 5ms", "codel target=5ms", SPACES),
            (
                "codel target= 5ms limit =9p",
                "codel target=5ms limit=9p",
                SPACES,
            ),
            ("codel target 5ms", "codel target=5ms", PAIRS),
            (
                "codel --target 5ms --ecn true",
                "codel target=5ms ecn=true",
                DASHES,
            ),
            ("codel -target=5ms", "codel target=5ms", DASHES),
            ("codel target:5ms", "codel target=5ms", COLONS),
            ("codel target=5 ms", "codel target=5ms", UNITS),
            ("prio each=(codel), (tbf)", "prio each=(codel),(tbf)", LISTS),
            ("4 reno", "4*reno", COUNTS),
            ("4xreno", "4*reno", COUNTS),
            ("reno*4", "4*reno", COUNTS),
            ("reno x4", "4*reno", COUNTS),
            ("codel(target=5ms)", "codel target=5ms", CALLS),
            ("codel,target=5ms", "codel target=5ms", COMMAS),
            ("codel:target=5ms", "codel target=5ms", COLONS),
            ("codel target==5ms", "codel target=5ms", SPACES),
            ("cbr=2Mbps", "cbr 2Mbps", RATES),
            ("4 × reno mss=500B", "4*reno mss=500B", COUNTS),
            ("cbr rate 2Mbps", "cbr rate=2Mbps", PAIRS),
        ] {
            let text = meant.to_owned();
            assert_eq!(respelled(given), Some(Respelled { text, rule }), "{given}");
        }
    }

    #[test]
    fn what_is_spelled_so_already_stays() {
        for given in [
            "codel target=5ms",
            "htb classes=1Mbps/2Mbps@0,2Mbps/3Mbps@1",
            "htb classes=46+34:2Mbps/5Mbps@0",
            "codel noecn",
            "codel note=\"a, b\" x = 5",
        ] {
            assert_eq!(respelled(given), None, "{given}");
        }
    }
}
