//! Metrics: what tables and figures can show.

use super::item::{Family, Item};
use sojourn_results::metrics::{self, Level, Metric, POOLED, aliases, metrics};
use std::collections::BTreeSet;

pub(super) const FAMILY: Family = Family {
    name: "metrics",
    one: "metric",
    about: "What tables and figures can show",
    columns: &["of", "unit"],
    items,
    complete: None,
};

/// One item per name: queues and flows have some names both.
fn items() -> Vec<Item> {
    let mut seen = BTreeSet::new();
    let first = metrics()
        .iter()
        .filter(|metric| seen.insert(metric.name.as_str()));
    first
        .map(|metric| {
            let same = metrics().iter().filter(|other| other.name == metric.name);
            item(metric, &same.collect::<Vec<_>>())
        })
        .collect()
}

/// The metric of a name that no list has: a percentile, or as tables show it.
pub(super) fn computed(name: &str) -> Option<Item> {
    let (metric, _) = metrics::find(name, None)?;
    Some(item(metric, &[metric]))
}

fn item(metric: &Metric, same: &[&Metric]) -> Item {
    let each = |text: &dyn Fn(&Metric) -> String| match same {
        [one] => text(one),
        several => {
            let lines = several
                .iter()
                .map(|one| format!("Of a {}: {}", one.level.name(), text(one)));
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    let levels: Vec<&str> = same.iter().map(|one| one.level.name()).collect();
    let (shown, stored) = (metric.unit.shown(), metric.unit.stored());
    let unit = match shown {
        "" => "no unit",
        shown => shown,
    };
    let mut facts = vec![("of", levels.join(", ")), ("unit", unit.to_owned())];
    if !shown.is_empty() && shown != stored {
        facts.push(("stored in", stored.to_owned()));
    }
    facts.push(("formula", each(&|one| one.formula.clone())));
    if let Some(flows) = metric.flows {
        facts.push(("flows", flows.to_owned()));
    }
    if let Some((measured, _)) = metric
        .name
        .rsplit_once("_p")
        .filter(|(_, rest)| is_number(rest))
    {
        let any = format!("any from 10 to 99, such as {measured}_p90");
        facts.push(("percentiles", any));
    }
    if metric.pooled {
        let pooled = format!(
            "{}{POOLED}: over the packets of all replications together",
            metric.name
        );
        facts.push(("pooled", pooled));
    }
    Item {
        family: FAMILY.one,
        name: metric.name.clone(),
        aliases: aliases(&metric.name)
            .iter()
            .map(|&name| name.to_owned())
            .collect(),
        title: metric.title.clone(),
        about: each(&|one| one.doc.clone()),
        facts,
        usage: usage(metric, same),
        ..Item::default()
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|sign| sign.is_ascii_digit())
}

/// How to write it in the table of a study.
fn usage(metric: &Metric, same: &[&Metric]) -> Vec<String> {
    let name = &metric.name;
    let has = |levels: &[Level]| same.iter().any(|one| levels.contains(&one.level));
    let mut usage = vec![format!(
        "metrics = [\"{name}\"]    (in a [[table]] of a study)"
    )];
    if has(&[Level::Queue]) {
        usage.push(format!(
            "\"{name} of bottleneck\", or of a link direction, such as \"{name} of left-right\""
        ));
    }
    if has(&[Level::Flow, Level::Group]) {
        let label = match metric.flows {
            Some(flows) if !flows.contains(' ') => flows,
            Some(_) => "web",
            None => "cubic",
        };
        usage.push(format!(
            "\"{name} of forward\", or of reverse, all or the label of flows, such as \"{name} of {label}\""
        ));
    }
    usage
}
