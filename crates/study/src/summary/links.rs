//! What is said below a table of the links that its metrics of queues are of.

use sojourn_results::asked::{Asked, Of};
use sojourn_results::manifest::PointInfo;
use sojourn_results::outcome::QueueOutcome;
use sojourn_results::stats::wide_to_f64;
use sojourn_units::Rate;

use super::wanted::Wanted;
use crate::measured::{Measured, Reason};

/// Links that are listed.
const LISTED: usize = 4;
/// Rates that are listed.
const LISTED_RATES: usize = 4;
/// A link whose capacity is that of its rate to this share had that rate all the time.
const SAME: f64 = 1e-6;

/// What the metrics of queues among some metrics are of at some points, in a sentence; none where none is of a queue.
pub(super) fn line(wanted: &Wanted<'_>, points: &[&PointInfo], asked: &[Asked]) -> Option<String> {
    let subjects = || {
        asked
            .iter()
            .flat_map(|asked| [Some(&asked.of), asked.over.as_ref()])
    };
    let subjects = || subjects().flatten();
    let mut parts: Vec<String> = Vec::new();
    if subjects().any(|of| matches!(of, Of::Bottleneck | Of::Measured(_))) {
        parts.extend(bottleneck(wanted, points));
    }
    let mut named: Vec<String> = Vec::new();
    for of in subjects() {
        let Of::Link(name) = of else { continue };
        let text = with_rate(wanted, points, name);
        if !named.contains(&text) {
            named.push(text);
        }
    }
    if !named.is_empty() {
        parts.push(listed(&named, "and"));
    }
    if subjects().any(|of| *of == Of::Queues) {
        let links = &wanted.names.links;
        parts.push(format!("all {} link directions together", links.len()));
    }
    let (first, others) = parts.split_first()?;
    let mut text = format!("Queue metrics are of {first}");
    for other in others {
        text.push_str(&format!("; where they say so, of {other}"));
    }
    Some(format!("{text}."))
}

/// The link directions that a metric is of at a point; none for a metric that is not of a queue.
pub(super) fn of(wanted: &Wanted<'_>, point: &PointInfo, asked: &Asked) -> Vec<String> {
    let measured = || {
        let queues = first_queues(wanted, point).unwrap_or_default().iter();
        let queues = queues.filter(|queue| wanted.measured.is(queue));
        queues.map(|queue| queue.link.clone()).collect()
    };
    let of = |of: &Of| -> Vec<String> {
        match of {
            Of::Bottleneck | Of::Measured(_) => measured(),
            Of::Link(name) => vec![name.clone()],
            Of::Queues => wanted.names.links.clone(),
            _ => Vec::new(),
        }
    };
    let mut links = of(&asked.of);
    for other in asked.over.iter().flat_map(of) {
        if !links.contains(&other) {
            links.push(other);
        }
    }
    links
}

/// The links that metrics of the bottleneck are of.
fn bottleneck(wanted: &Wanted<'_>, points: &[&PointInfo]) -> Option<String> {
    if let Measured::Found { link, reason } = &wanted.measured {
        let link = with_rate(wanted, points, link);
        return Some(match reason {
            Reason::SetBy(factor) => format!("{link}, whose queue the factor {factor:?} sets"),
            Reason::Slowest => format!("{link}, the slowest link"),
            Reason::Busier => format!("{link}, the busier direction of the slowest link"),
            Reason::Busiest { of, rate, set_by } => {
                let set = set_by.as_ref();
                let set = match (set, rate) {
                    (Some(by), _) => format!(" whose queue the factor {by:?} sets"),
                    (None, None) => ", each the slowest on the path of a flow".to_owned(),
                    (None, Some(_)) => String::new(),
                };
                let rate = rate.map_or_else(String::new, |rate| format!(" of {}", shown(rate)));
                format!("{link}, the busiest of {of} links{rate}{set}")
            }
        });
    }
    // The links of each point.
    let mut sets: Vec<Vec<&str>> = Vec::new();
    for queues in points
        .iter()
        .filter_map(|point| first_queues(wanted, point))
    {
        let own = queues.iter().filter(|queue| queue.bottleneck);
        let own: Vec<&str> = own.map(|queue| queue.link.as_str()).collect();
        if !own.is_empty() && !sets.contains(&own) {
            sets.push(own);
        }
    }
    let texts = sets.iter().map(|links| match links.as_slice() {
        [one] => with_rate(wanted, points, one),
        several => {
            let names = several.iter().map(|name| with_rate(wanted, points, name));
            let names: Vec<String> = names.collect();
            format!("{} links together: {}", names.len(), listed(&names, "and"))
        }
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty())
        .then(|| match texts.as_slice() {
            [one] => one.clone(),
            several => format!("{}, depending on the point", listed(several, "or")),
        })
        .map(|text| match points.iter().any(|point| is_marked(point)) {
            true => format!("{text}, as the file says"),
            false => text,
        })
}

/// Whether a link of a point's graph says that it is the bottleneck.
pub(crate) fn is_marked(point: &PointInfo) -> bool {
    let scenario = point.scenario.value();
    let links = scenario["links"].as_array().into_iter().flatten();
    links
        .into_iter()
        .any(|link| link["bottleneck"].as_bool() == Some(true))
}

/// The queues of the first run of a point.
fn first_queues<'a>(wanted: &Wanted<'a>, point: &PointInfo) -> Option<&'a [QueueOutcome]> {
    let run = wanted.results.of_point(point.point).next()?;
    Some(&run.queues)
}

/// A link direction with the rates that it has at some points.
fn with_rate(wanted: &Wanted<'_>, points: &[&PointInfo], link: &str) -> String {
    let mut rates: Vec<Rate> = Vec::new();
    for point in points {
        let Some(run) = wanted.results.of_point(point.point).next() else {
            continue;
        };
        let Some(queue) = run.queues.iter().find(|queue| queue.link == link) else {
            continue;
        };
        let capacity = queue.rate.as_bps_f64() * run.measured.as_secs_f64();
        if (wide_to_f64(queue.capacity_bits) - capacity).abs() > capacity * SAME {
            return format!("{link} (its rate varies)");
        }
        if !rates.contains(&queue.rate) {
            rates.push(queue.rate);
        }
    }
    let texts: Vec<String> = rates.iter().copied().map(shown).collect();
    match (texts.as_slice(), rates.iter().min(), rates.iter().max()) {
        ([], ..) => link.to_owned(),
        (texts, Some(least), Some(most)) if texts.len() > LISTED_RATES => {
            format!("{link} ({} to {})", shown(*least), shown(*most))
        }
        (texts, ..) => format!("{link} ({})", listed(texts, "or")),
    }
}

/// A rate with a space before its unit.
fn shown(rate: Rate) -> String {
    let text = rate.to_string();
    let unit = text.find(|c: char| c.is_ascii_alphabetic());
    match unit {
        Some(at) => format!("{} {}", &text[..at], &text[at..]),
        None => text,
    }
}

/// Some texts in a row; of many, the first.
fn listed(texts: &[String], word: &str) -> String {
    match texts {
        [one] => one.clone(),
        [rest @ .., last] if rest.len() < LISTED => format!("{} {word} {last}", rest.join(", ")),
        many => format!(
            "{} and {} more",
            many[..LISTED].join(", "),
            many.len() - LISTED
        ),
    }
}
