//! Topologies: the tables of a scenario that make one.

use super::item::{Family, Item};
use sojourn_scenario::catalogue::Part;
use sojourn_scenario::model::{ChainParams, DumbbellParams, LinkParams, ParkingLotParams};
use sojourn_scenario::reader::TOPOLOGY_KINDS;
use sojourn_units::{ParamInfo, Params};

pub(super) const FAMILY: Family = Family {
    name: "topologies",
    one: "topology",
    about: "Shapes of the network",
    columns: &[],
    items,
    complete: None,
};

fn items() -> Vec<Item> {
    TOPOLOGY_KINDS
        .iter()
        .map(|&(kind, doc)| item(kind, doc))
        .collect()
}

/// The heading of the table with the keys of a kind, and the keys.
fn table(kind: &str) -> (&'static str, &'static [ParamInfo]) {
    match kind {
        "dumbbell" => ("[topology]", DumbbellParams::TABLE),
        "parking_lot" => ("[topology]", ParkingLotParams::TABLE),
        "chain" => ("[topology]", ChainParams::TABLE),
        _ => ("[[links]]", LinkParams::TABLE),
    }
}

fn item(kind: &str, doc: &'static str) -> Item {
    let (heading, params) = table(kind);
    let mut usage = vec![format!("[topology]\nkind = \"{kind}\"")];
    match kind {
        "dumbbell" => usage.push("sojourn dumbbell --rate 10Mbps --rtt 40ms --flow 4*cubic".to_owned()),
        "graph" => usage.push(
            "[[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbps\"\ndelay = \"5ms\"\nqueue = \"codel\"".to_owned(),
        ),
        _ => {}
    }
    Item {
        family: FAMILY.one,
        name: kind.to_owned(),
        title: kind.replace('_', " "),
        about: doc.to_owned(),
        parts: vec![Part {
            title: heading,
            doc,
            params,
            dialects: &[],
            implied: &[],
        }],
        usage,
        ..Item::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::reader::tables;

    #[test]
    fn the_keys_of_a_topology_are_those_that_scenarios_read() {
        for (kind, _) in TOPOLOGY_KINDS {
            let (_, params) = table(kind);
            let of_kind = |heading: &str| match *kind {
                "graph" => heading == "[[links]]",
                _ => heading.contains(&format!("\"{kind}\"")),
            };
            let read = tables().into_iter().find(|(heading, ..)| of_kind(heading));
            let names = |params: &[ParamInfo]| -> Vec<&str> {
                params.iter().map(|info| info.name).collect()
            };
            assert_eq!(
                read.map(|(.., read)| names(read)),
                Some(names(params)),
                "{kind}"
            );
        }
    }
}
