//! What a picture says of links and their changes.

use crate::compile::LinkInfo;
use sojourn_report::topology::{Values, Way};
use sojourn_scenario::Resolved;
use sojourn_scenario::model::{ChangeParams, ImpairmentParams, LinkState, WhileDown};
use sojourn_sim::topology::Role;

/// Changes of a link that are listed; further ones are counted.
const MOST_CHANGES: usize = 6;

/// Rates of a link over time that stand in its text.
const MOST_RATES: usize = 3;

/// A count with thousands apart; nothing for one.
pub(super) fn count(count: u64) -> Values {
    match count {
        0 | 1 => Values::default(),
        count => Values::one(thousands(count)),
    }
}

fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let first = digits.len() % 3;
    let mut text = String::new();
    for (digit, at) in digits.chars().zip(0..) {
        if at > 0 && at % 3 == first && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A quantity with a space between number and unit: `10 Mbps`, `50 packets`, `20 µs`.
pub(super) fn spaced(quantity: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let at = quantity.find(|c| !is_number(c)).unwrap_or(quantity.len());
    match quantity.split_at(at) {
        ("", _) | (_, "") => quantity.to_owned(),
        ("1", "p") => "1 packet".to_owned(),
        (number, "p") => match number.parse() {
            Ok(count) => format!("{} packets", thousands(count)),
            Err(_) => format!("{number} packets"),
        },
        (number, "us") => format!("{number} µs"),
        (number, unit) => format!("{number} {unit}"),
    }
}

/// The queue of a link direction, with its limit unless that is the discipline's own.
pub(super) fn queue(link: &LinkInfo) -> String {
    let entry = link.discipline;
    let limit = link.resolved.pairs.iter().find(|(key, _)| *key == "limit");
    let info = entry.params.iter().find(|info| info.name == "limit");
    let mut dialects = entry.dialects.iter();
    let dialect = dialects.find(|dialect| dialect.release == link.resolved.release);
    let usual = info.map(|info| dialect.map_or(info.default, |d| d.default_of(info).0));
    match limit {
        Some((_, limit)) if usual != Some(limit) && limit != "none" => {
            format!("{}, {}", entry.title, spaced(limit))
        }
        _ => entry.title.to_owned(),
    }
}

/// One direction of a link, with its queue where the picture names it.
pub(super) fn way(resolved: &Resolved, link: &LinkInfo, queue: Option<String>) -> Way {
    let changes = || {
        let changes = resolved.changes.iter();
        changes.filter(|change| change.link == link.name && !change.at.is_zero())
    };
    let rate = spaced(&link.rate.to_string());
    let rate = match &link.opportunities {
        Some(_) => format!("schedule, mean {rate}"),
        None => over_time(
            rate,
            changes().filter_map(|c| Some(spaced(&c.rate?.to_string()))),
        ),
    };
    let delay = over_time(
        spaced(&link.delay.to_string()),
        changes().filter_map(|c| Some(spaced(&c.delay?.to_string()))),
    );
    Way {
        rate: Values::one(rate),
        delay: Values::one(delay),
        queue: queue.map(Values::one).unwrap_or_default(),
        measured: link.role == Role::Bottleneck,
    }
}

/// A value and what it becomes.
fn over_time(first: String, later: impl Iterator<Item = String>) -> String {
    let mut all = vec![first];
    all.extend(later);
    all.dedup();
    match all.len() {
        0..=MOST_RATES => all.join(" → "),
        _ => format!("{}, varies", all[0]),
    }
}

/// What a picture does not show of links: changes and impairments.
pub(super) fn notes(resolved: &Resolved) -> Vec<String> {
    let mut notes = Vec::new();
    let mut links: Vec<&str> = Vec::new();
    for change in &resolved.changes {
        if !links.contains(&change.link.as_str()) {
            links.push(&change.link);
        }
    }
    for link in links {
        let changes = resolved.changes.iter().filter(|change| change.link == link);
        let mut texts: Vec<String> = changes.map(change_text).collect();
        let more = texts.len().saturating_sub(MOST_CHANGES);
        texts.truncate(MOST_CHANGES);
        if more > 0 {
            texts.push(format!("and {more} more"));
        }
        notes.push(format!("{link} changes {}.", texts.join("; ")));
    }
    let impaired = resolved.impairments.iter().filter_map(impairment_text);
    notes.extend(impaired);
    notes
}

fn change_text(change: &ChangeParams) -> String {
    let mut parts = Vec::new();
    parts.extend(change.rate.map(|rate| spaced(&rate.to_string())));
    parts.extend(change.queue.as_ref().map(|queue| queue.name.clone()));
    parts.extend(
        change
            .delay
            .map(|delay| format!("delay {}", spaced(&delay.to_string()))),
    );
    parts.extend(change.state.map(|state| {
        let text = match (state, change.while_down) {
            (LinkState::Up, _) => "up",
            (LinkState::Down, WhileDown::Wait) => "down, packets wait",
            (LinkState::Down, WhileDown::Lose) => "down, packets are lost",
        };
        text.to_owned()
    }));
    let at = spaced(&change.at.to_string());
    let every = change
        .every
        .map(|every| format!(" and every {}", spaced(&every.to_string())));
    format!("at {at}{}: {}", every.unwrap_or_default(), parts.join(", "))
}

fn impairment_text(given: &ImpairmentParams) -> Option<String> {
    let ratios = [
        ("loses", given.loss),
        ("duplicates", given.duplicate),
        ("bleaches", given.bleach),
        ("marks", given.mark),
    ];
    let ratios = ratios.into_iter().filter(|(_, ratio)| ratio.get() > 0.0);
    let mut parts: Vec<String> = ratios
        .map(|(verb, ratio)| format!("{verb} packets with probability {ratio}"))
        .collect();
    if given.loss_list.is_some() {
        parts.push("loses the packets of a list".to_owned());
    }
    if given.to_bad.get() > 0.0 {
        parts.push("loses packets in bursts".to_owned());
    }
    if !given.jitter.is_zero() {
        let order = match given.reorder {
            true => "out of order",
            false => "in order",
        };
        let most = spaced(&given.jitter.to_string());
        parts.push(format!("delays packets by up to {most}, {order}"));
    }
    (!parts.is_empty()).then(|| format!("{} {}.", given.link, parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_and_counts_are_written_as_in_print() {
        assert_eq!(spaced("10Mbps"), "10 Mbps");
        assert_eq!(spaced("1.5ms"), "1.5 ms");
        assert_eq!(spaced("50p"), "50 packets");
        assert_eq!(spaced("1000000p"), "1\u{202f}000\u{202f}000 packets");
        assert_eq!(spaced("20us"), "20 µs");
        assert_eq!(spaced("3.75ms"), "3.75 ms");
        assert_eq!(spaced("none"), "none");
        assert_eq!(thousands(9999), "9999");
        assert_eq!(thousands(100_000), "100\u{202f}000");
        assert_eq!(thousands(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
