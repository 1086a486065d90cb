//! Which key was meant by one that a table does not have: a key of another table, or another word for one of this table.

use sojourn_units::{ParamInfo, Params};

use crate::model::{
    ChainParams, DumbbellParams, LinkParams, ParkingLotParams, PlaceParams, RunParams,
    SeriesParams, WireParams,
};

/// The tables that stand once in a file, and their keys. What a dumbbell has comes before what other topologies have.
const TABLES: &[(&str, &[ParamInfo])] = &[
    ("run", RunParams::TABLE),
    ("topology", DumbbellParams::TABLE),
    ("topology", ParkingLotParams::TABLE),
    ("topology", ChainParams::TABLE),
    ("series", SeriesParams::TABLE),
    ("wire", WireParams::TABLE),
];

/// The tables that stand several times, and their keys.
const LISTS: &[(&str, &[ParamInfo])] =
    &[("flows", PlaceParams::TABLE), ("links", LinkParams::TABLE)];

/// Other words, in lower case without signs between, and the keys that they may stand for: the first that there is.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (
        &[
            "bandwidth",
            "bw",
            "capacity",
            "speed",
            "linkrate",
            "linkspeed",
            "bottleneck",
            "bottleneckrate",
            "downlink",
            "download",
        ],
        &["rate"],
    ),
    (
        &["uplink", "upload", "uprate", "reversebandwidth", "upstream"],
        &["reverse_rate"],
    ),
    (
        &[
            "delay",
            "latency",
            "owd",
            "propagation",
            "propagationdelay",
            "roundtrip",
            "roundtriptime",
            "basertt",
            "ping",
        ],
        &["delay", "rtt"],
    ),
    (
        &[
            "queuesize",
            "queuelimit",
            "queuelength",
            "qlen",
            "buffersize",
            "bufsize",
            "limit",
            "buf",
        ],
        &["buffer"],
    ),
    (
        &[
            "qdisc",
            "aqm",
            "discipline",
            "scheduler",
            "queuediscipline",
            "queues",
        ],
        &["queue"],
    ),
    (
        &["runs", "repetitions", "reps", "repeat", "iterations"],
        &["replications"],
    ),
    (
        &[
            "time",
            "length",
            "simtime",
            "simulationtime",
            "runtime",
            "until",
            "stoptime",
            "end",
        ],
        &["stop", "duration"],
    ),
    (&["warmuptime", "transient", "skip"], &["warmup"]),
    (&["randomseed", "rngseed", "rng"], &["seed"]),
    (&["begin", "starttime", "at"], &["start"]),
    (&["number", "num", "n", "connections"], &["count"]),
    (&["type", "algorithm", "protocol"], &["kind"]),
    (&["src", "sender"], &["from"]),
    (&["dst", "dest", "destination", "receiver"], &["to"]),
    (&["name", "tag"], &["label"]),
    (&["interval", "period", "sampling"], &["step"]),
    (&["trace", "timeseries", "quantities"], &["record"]),
    (&["hosts", "nodes"], &["pairs"]),
];

/// The key that was probably meant by `given` in the table at `path`, which may have the keys `allowed`: one of them, or the path of one
/// of another table.
pub(crate) fn meant(path: &str, given: &str, allowed: &[&str]) -> Option<String> {
    if path.starts_with("links[") && given == "buffer" {
        // A graph has no buffer for all links: each queue has its own limit.
        return Some("queue = \"droptail limit=1bdp\"".to_owned());
    }
    let own = |key: &str| allowed.contains(&key).then(|| key.to_owned());
    let words = synonyms(given);
    let same = words.iter().find_map(|word| own(word));
    let elsewhere = |key: &str| {
        let tables = TABLES.iter().filter(|(table, _)| *table != path);
        let mut found = tables.filter(|(_, keys)| has(keys, key));
        found.next().map(|(table, _)| format!("{table}.{key}"))
    };
    // A key of exactly this name comes before a word that may stand for another.
    elsewhere(given)
        .filter(|_| same.is_none())
        .or(same)
        .or_else(|| words.iter().find_map(|word| elsewhere(word)))
        .or_else(|| in_lists(path, given))
}

/// The list of tables whose entries have the key.
fn in_lists(path: &str, given: &str) -> Option<String> {
    let outer = path.split('[').next().unwrap_or(path);
    let mut lists = LISTS.iter().filter(|(list, _)| *list != outer);
    let (list, _) = lists.find(|(_, keys)| has(keys, given))?;
    Some(format!("{given} in [[{list}]]"))
}

fn has(keys: &[ParamInfo], key: &str) -> bool {
    keys.iter().any(|info| info.name == key)
}

fn synonyms(given: &str) -> &'static [&'static str] {
    let given: String = given
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect();
    let found = SYNONYMS
        .iter()
        .find(|(words, _)| words.contains(&given.as_str()));
    found.map_or(&[], |(_, keys)| keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: &[&str] = &["name", "run", "topology", "flows", "links"];

    fn of(path: &str) -> Vec<&'static str> {
        let (_, keys) = TABLES
            .iter()
            .find(|(table, _)| *table == path)
            .expect("a table");
        keys.iter().map(|info| info.name).collect()
    }

    #[test]
    fn a_buffer_of_a_link_of_a_graph_is_the_limit_of_its_queue() {
        assert_eq!(
            meant("links[0]", "buffer", &["from", "to", "queue"]).as_deref(),
            Some("queue = \"droptail limit=1bdp\"")
        );
    }

    #[test]
    fn a_key_at_the_wrong_level_is_found_where_it_belongs() {
        for (given, meaning) in [
            ("duration", "run.duration"),
            ("rate", "topology.rate"),
            ("replications", "run.replications"),
            ("buffer", "topology.buffer"),
            ("bandwidth", "topology.rate"),
            ("runs", "run.replications"),
            ("hops", "topology.hops"),
            ("record", "series.record"),
            ("count", "count in [[flows]]"),
        ] {
            assert_eq!(meant("", given, TOP).as_deref(), Some(meaning), "{given}");
        }
        let topology = of("topology");
        assert_eq!(
            meant("topology", "duration", &topology).as_deref(),
            Some("run.duration")
        );
        assert_eq!(
            meant("run", "rate", &of("run")).as_deref(),
            Some("topology.rate")
        );
    }

    #[test]
    fn another_word_for_a_key_is_understood() {
        let (topology, run) = (of("topology"), of("run"));
        for (path, keys, given, meaning) in [
            ("topology", &topology, "bandwidth", "rate"),
            ("topology", &topology, "latency", "rtt"),
            ("topology", &topology, "delay", "rtt"),
            ("topology", &topology, "Queue-Size", "buffer"),
            ("topology", &topology, "qdisc", "queue"),
            ("run", &run, "time", "duration"),
            ("run", &run, "runs", "replications"),
        ] {
            assert_eq!(
                meant(path, given, keys).as_deref(),
                Some(meaning),
                "{given}"
            );
        }
        assert_eq!(meant("topology", "colour", &topology), None);
    }

    #[test]
    fn every_key_that_a_synonym_stands_for_exists() {
        let exists = |key: &str| {
            let all = TABLES.iter().chain(LISTS);
            key == "kind" || all.map(|(_, keys)| keys).any(|keys| has(keys, key))
        };
        for (_, keys) in SYNONYMS {
            assert!(keys.iter().all(|key| exists(key)), "{keys:?}");
        }
    }
}
