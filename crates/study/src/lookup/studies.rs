//! Studies that Sojourn brings along.

use super::item::{Family, Item};
use crate::named::{BuiltIn, built_in, find};
use crate::study::Study;
use sojourn_scenario::LabError;
use sojourn_scenario::document::TableRef;
use sojourn_scenario::error::Result;
use sojourn_scenario::model::{Scenario, Topology};
use std::ffi::OsStr;

pub(super) const FAMILY: Family = Family {
    name: "studies",
    one: "study",
    about: "Studies that come along: published experiments and comparisons",
    columns: &["experiments"],
    items,
    complete: Some(in_full),
};

fn items() -> Vec<Item> {
    // What cannot be read would fail the tests.
    built_in()
        .iter()
        .filter_map(|study| item(study).ok())
        .collect()
}

fn item(study: &BuiltIn) -> Result<Item> {
    let document = study.document()?;
    let root = document.root();
    let head = root.table("study")?;
    let text = |key: &str| -> Result<String> {
        let text = head.as_ref().map(|head| head.text(key)).transpose()?;
        Ok(text.flatten().unwrap_or_default().trim().to_owned())
    };
    let experiments = root.tables("experiment")?;
    let mut facts = vec![("experiments", experiments.len().to_string())];
    let paper = text("paper")?;
    if !paper.is_empty() {
        facts.push(("paper", paper));
    }
    let title = text("title")?;
    Ok(Item {
        family: FAMILY.one,
        name: study.name.to_owned(),
        about: format!(
            "{}.\n\n{}",
            title.trim_end_matches('.'),
            text("description")?
        ),
        title,
        facts,
        more: experiments.iter().map(factors).collect::<Result<_>>()?,
        usage: vec![
            format!("sojourn study {}", study.name),
            format!(
                "sojourn study {} --replications 2    (sooner, with wider intervals)",
                study.name
            ),
            format!(
                "sojourn study {} --dry-run    (counts the runs and the memory)",
                study.name
            ),
        ],
        ..Item::default()
    })
}

/// An experiment by its name, and its factors with their number of levels.
fn factors(experiment: &TableRef<'_>) -> Result<(String, String)> {
    let mut all = Vec::new();
    if let Some(other) = experiment.text("extends")? {
        all.push(format!("as {other}"));
    }
    for factor in experiment.tables("factor")? {
        let levels = match factor.get("values") {
            Some(values) => values.list("[...]")?.len(),
            None => 0,
        };
        all.push(format!(
            "{} ({levels})",
            factor.text("name")?.unwrap_or_default()
        ));
    }
    let name = experiment.text("name")?.unwrap_or_default().to_owned();
    Ok((name, all.join(" x ")))
}

/// With the number of points and runs, and about how long they take: for this the points have to be made.
fn in_full(mut item: Item) -> Result<Item> {
    let study = find(OsStr::new(&item.name))?.study()?;
    let needs = study.needs()?;
    item.facts.push(("points", needs.points.to_string()));
    item.facts.push(("runs", needs.runs.to_string()));
    item.facts.push(("time", about_how_long(&study)?));
    Ok(item)
}

/// Points whose length is looked at; of more, some that are spread evenly stand for all.
const MOST: usize = 64;

/// Packets per second of one core, in a release build: the order of magnitude of the benchmark's cases.
const PACKETS_PER_SECOND: f64 = 700_000.0;

/// An estimate from what the bottlenecks can carry.
fn about_how_long(study: &Study) -> Result<String, LabError> {
    let step = study.points.len().div_ceil(MOST).max(1);
    let (mut packets, mut looked_at) = (0.0, 0.0);
    for point in study.points.iter().step_by(step) {
        packets += packets_of(&*point.scenario()?);
        looked_at += 1.0;
    }
    let points = u32::try_from(study.points.len()).map_or(f64::from(u32::MAX), f64::from);
    let seconds = match looked_at > 0.0 {
        true => packets / looked_at * points / PACKETS_PER_SECOND,
        false => 0.0,
    };
    Ok(match seconds {
        ..2.0 => "about a second on one core".to_owned(),
        ..90.0 => format!("about {seconds:.0} s on one core"),
        ..5400.0 => format!("about {:.0} min on one core", seconds / 60.0),
        _ => format!("about {:.0} h on one core", seconds / 3600.0),
    })
}

/// Packets of 1500 bytes that fill the bottlenecks of all runs of a point.
fn packets_of(scenario: &Scenario) -> f64 {
    let bits_per_second = match &scenario.topology {
        Topology::Dumbbell(params) => params.rate.as_bps_f64(),
        Topology::ParkingLot(params) => params.rate.as_bps_f64() * small(params.hops),
        Topology::Chain(params) => params.rate.as_bps_f64() * small(params.hops),
        Topology::Graph(links) => {
            let rates = links.iter().map(|link| link.rate.as_bps_f64());
            rates.fold(f64::INFINITY, f64::min) * 2.0
        }
    };
    let seconds = scenario.run.duration.as_secs_f64() * small(scenario.run.runs());
    bits_per_second * seconds / 12_000.0
}

fn small(number: u64) -> f64 {
    u32::try_from(number).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_that_comes_along_is_listed_with_its_experiments() {
        let items = items();
        assert_eq!(items.len(), built_in().len());
        for item in &items {
            assert!(!item.title.is_empty(), "{}", item.name);
            assert_eq!(
                item.more.len().to_string(),
                item.fact("experiments"),
                "{}",
                item.name
            );
        }
        assert!(
            FAMILY
                .columns
                .iter()
                .all(|column| !items[0].fact(column).is_empty())
        );
    }

    #[test]
    fn a_study_says_how_many_runs_it_is_and_how_long_they_take() {
        let rrul = items()
            .into_iter()
            .find(|item| item.name == "rrul")
            .unwrap();
        let rrul = in_full(rrul).unwrap();
        assert_eq!(
            (rrul.fact("points"), rrul.fact("runs")),
            ("56".to_owned(), "560".to_owned())
        );
        assert!(
            rrul.fact("time").ends_with(" on one core"),
            "{}",
            rrul.fact("time")
        );
    }
}
