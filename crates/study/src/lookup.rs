//! What you can list and show, by family: queues, flows, metrics, studies and the rest. `sojourn list`, `sojourn show` and the lists of
//! the Python package come from here.
//!
//! A family is a file in `lookup/` and a line in [`FAMILIES`]. Its items come from the declarations of what they describe.

mod algorithms;
mod figures;
mod item;
mod metrics;
mod studies;
mod topologies;

pub use item::{Family, Item};

use sojourn_queue::foreign::NO_LOADER;
use sojourn_queue::registry;
use sojourn_results::metrics::nearest_of;
use sojourn_scenario::catalogue::elsewhere;
use sojourn_scenario::{LabError, LabErrorKind};

/// Every family, in the order of `sojourn list`.
pub const FAMILIES: &[Family] = &[
    algorithms::QUEUES,
    algorithms::FLOWS,
    algorithms::SOURCES,
    algorithms::CONGESTION,
    topologies::FAMILY,
    metrics::FAMILY,
    figures::FAMILY,
    studies::FAMILY,
];

/// The family called so: `metrics`, or `metric` for one of it.
///
/// # Errors
/// If there is none; the error names the nearest.
pub fn family(name: &str) -> Result<&'static Family, LabError> {
    let found = FAMILIES.iter().find(|family| family.is_called(name));
    found.ok_or_else(|| {
        let names = || FAMILIES.iter().map(|family| family.name);
        LabError::new(
            LabErrorKind::UnknownName,
            format!("there is no list {name:?}"),
        )
        .nearest(sojourn_units::nearest(name, names()))
        .allowed("lists", names().collect::<Vec<_>>().join(", "))
    })
}

/// Loads `name` if it is a class of a module: whether it is a queue discipline or a congestion control.
///
/// # Errors
/// Why it cannot be loaded.
pub(crate) fn load(name: &str) -> Result<bool, LabError> {
    if !name.contains(':') {
        return Ok(false);
    }
    match registry::required(name) {
        Ok(_) => Ok(true),
        Err(_) if sojourn_cc::registry::find(name).is_some() => Ok(true),
        Err(error @ registry::SpecError::Foreign { .. }) => Err(LabError::from_queue(&error)),
        Err(_) => Ok(false),
    }
}

/// The item called `name`. Write `flow:cbr` or `source:cbr` where two families have one of that name; otherwise the first family in
/// [`FAMILIES`] wins. A class of a module is loaded: `my_module:Mine`.
///
/// # Errors
/// If there is none; the error names the nearest, or where to look.
pub fn find(name: &str) -> Result<Item, LabError> {
    let (of, plain) = match name.split_once(':') {
        None => (None, name),
        Some((of, plain)) => match family(of) {
            Ok(family) => {
                load(plain)?;
                (Some(family), plain)
            }
            Err(no_family) => match load(name) {
                Ok(true) => (None, name),
                Err(error) if error.advice() != NO_LOADER => return Err(error),
                _ => return Err(no_family),
            },
        },
    };
    let among = FAMILIES
        .iter()
        .filter(|known| of.is_none_or(|of| of.name == known.name));
    let mut all: Vec<Item> = among.flat_map(Family::items).collect();
    if let Some(at) = all.iter().position(|item| item.is_called(plain)) {
        let item = all.swap_remove(at);
        return match FAMILIES.iter().find(|known| known.one == item.family) {
            Some(family) => family.in_full(item),
            None => Ok(item),
        };
    }
    let metric = of.is_none_or(|of| of.name == metrics::FAMILY.name);
    match metrics::computed(plain).filter(|_| metric) {
        Some(item) => Ok(item),
        None => Err(unknown(of, plain, &all)),
    }
}

/// The error for a name that no item of a family has, or of none.
fn unknown(of: Option<&Family>, plain: &str, all: &[Item]) -> LabError {
    if let Some(of) = of
        && let Some(item) = FAMILIES
            .iter()
            .flat_map(Family::items)
            .find(|item| item.is_called(plain))
    {
        let problem = format!("no {} is called {plain:?}", of.one);
        return LabError::new(LabErrorKind::UnknownName, problem)
            .remedy(format!("{plain:?} is a {}", item.family));
    }
    if let Some(place) = elsewhere(plain) {
        let problem = format!("nothing is called {plain:?}");
        return LabError::new(LabErrorKind::UnknownName, problem).remedy(place);
    }
    if let Some(list) = FAMILIES.iter().find(|known| known.is_called(plain)) {
        let problem = format!("nothing is called {plain:?}: it is a list");
        return LabError::new(LabErrorKind::UnknownName, problem)
            .remedy(format!("print it with: sojourn list {}", list.name));
    }
    let names = || all.iter().flat_map(Item::names);
    let nearest = sojourn_units::nearest(plain, names())
        .or_else(|| nearest_metric(plain, all))
        .or_else(|| same_ends(plain, names()))
        .map(str::to_owned);
    let near = nearest.as_deref();
    let owner = near.and_then(|near| all.iter().find(|item| item.is_called(near)));
    let owner = owner.and_then(|item| FAMILIES.iter().find(|known| known.one == item.family));
    let list = match of.or(owner) {
        Some(family) => format!("sojourn list {}", family.name),
        None => "sojourn list".to_owned(),
    };
    LabError::new(
        LabErrorKind::UnknownName,
        format!("nothing is called {plain:?}"),
    )
    .nearest(nearest)
    .remedy(format!("see {list}"))
}

/// The one name of about the same length with the same first and last letter, such as `rrul` for `rll`.
fn same_ends<'a>(plain: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let ends = |name: &str| (name.chars().next(), name.chars().next_back());
    let alike = |name: &&str| name.len().abs_diff(plain.len()) <= 1 && ends(name) == ends(plain);
    let mut found = names.filter(alike);
    let only = found.next().filter(|_| plain.len() > 2)?;
    found.all(|other| other == only).then_some(only)
}

/// The metric that is meant by a name with another unit or statistic at its end, such as `mos_mean`.
fn nearest_metric<'a>(plain: &str, all: &'a [Item]) -> Option<&'a str> {
    let metrics = all.iter().filter(|item| item.family == metrics::FAMILY.one);
    let names: Vec<&str> = metrics.map(|item| item.name.as_str()).collect();
    nearest_of(plain, &names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_family_has_items_with_names_of_their_own_and_a_sentence() {
        for family in FAMILIES {
            let items = family.items();
            assert!(items.len() > 1, "{}", family.name);
            let mut seen = BTreeSet::new();
            for item in &items {
                assert!(seen.insert(item.name.clone()), "{}", item.name);
                assert_eq!(item.family, family.one);
                let sentence = item.first_sentence();
                assert!(
                    !sentence.is_empty() && !sentence.contains('\n'),
                    "{}",
                    item.name
                );
                assert_eq!(family.row(item).len(), family.header().len());
            }
        }
    }

    #[test]
    fn every_item_is_found_in_its_family() {
        for family in FAMILIES.iter().filter(|family| family.name != "studies") {
            for item in family.items() {
                let name = format!("{}:{}", family.name, item.name);
                let found = find(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!((found.family, &found.name), (family.one, &item.name));
            }
        }
    }

    #[test]
    fn a_metric_is_found_by_every_name_that_a_table_takes() {
        for (given, name) in [
            ("throughput", "throughput_bps_sum"),
            ("sojourn_ms_p99", "sojourn_s_p99"),
            ("sojourn_s_p90", "sojourn_s_p90"),
            ("sojourn_s_p99_pooled", "sojourn_s_p99"),
        ] {
            let found = find(given).map(|item| item.name);
            assert_eq!(found.as_deref().ok(), Some(name), "{given}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_and_one_list() {
        let said = |name: &str| find(name).map(|item| item.name).unwrap_err().to_string();
        assert_eq!(
            said("codl"),
            "nothing is called \"codl\", did you mean \"codel\"? See sojourn list queues"
        );
        assert_eq!(
            said("sojourn_s_p98.5"),
            "nothing is called \"sojourn_s_p98.5\", did you mean \"sojourn_s_p95\"? See sojourn list metrics"
        );
        assert_eq!(
            said("mos_mean"),
            "nothing is called \"mos_mean\", did you mean \"mos\"? See sojourn list metrics"
        );
        assert_eq!(
            said("rll"),
            "nothing is called \"rll\", did you mean \"rrul\"? See sojourn list studies"
        );
        assert_eq!(
            said("queues"),
            "nothing is called \"queues\": it is a list; print it with: sojourn list queues"
        );
        assert_eq!(
            said("xyzzyx"),
            "nothing is called \"xyzzyx\"; see sojourn list"
        );
        assert_eq!(
            said("queue:reno"),
            "no queue is called \"reno\"; \"reno\" is a flow"
        );
        assert!(said("nonsense:reno").starts_with("there is no list \"nonsense\""));
        assert!(said("rack").contains("sojourn show sack"));
    }

    #[test]
    fn the_elsewhere_of_a_family_is_not_an_item() {
        for family in ["queues", "metrics", "metric", "congestion"] {
            assert!(super::family(family).is_ok(), "{family}");
        }
        let error = super::family("metrcs")
            .map(|family| family.name)
            .unwrap_err();
        assert_eq!(error.meant(), Some("metrics"));
    }
}
