//! Rule `confounded`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::about::{About, Stage};
use super::evidence::{Compared, Evidence, Seen};
use super::finding::Finding;
use super::traffic::listed;

pub(super) const ABOUT: About = About {
    title: "Points under comparison differ in more than one kind of thing",
    reason: "A difference between them may then come from any of these things, and no statistics can tell \
        which. A level may set one kind: the queues with their limits, the flows, the network, or the rest \
        of a scenario. These kinds are Sojourn's choice. A level may never set the seed, since the same \
        replication then has another traffic. The rule compares the scenarios of the points key by key, with \
        every default filled in. A factor that sets other queues and another thing is looked at without \
        `compare = true`, too: it is a warning where levels bear the names of their queues, and else a note. \
        Of levels under comparison, it is an error where the traffic differs together with something else: \
        flows, their number, sizes, rates or congestion controls. Otherwise it is a warning. All keys of flows \
        are one kind: a level that gives a congestion control and also ECN, packet sizes or windows is not \
        reported.",
    source: "Law and Kelton, *Simulation Modeling and Analysis*, third edition, 2000, chapter 11 (common \
        random numbers) and chapter 12 (experimental design).",
    remedy: "Give each kind of thing a factor of its own. Every combination then runs.\n\n```toml\n\
        [[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\nvalues = [\"droptail\", \"codel\"]\n\
        compare = true\n\n[[experiment.factor]]\nname = \"flows\"\npath = \"flows.reno.count\"\nvalues = [2, 4]\n```",
    stage: Stage::Scenario,
    former: &[],
    positive: r#"
[run]
duration = "3s"
warmup = "1s"
replications = 2
[topology]
rate = "2Mbps"
rtt = "20ms"
buffer = "20p"
[[flows]]
kind = "reno"
label = "a"
count = 4
[[experiment]]
name = "e"
[[experiment.factor]]
name = "queue"
compare = true
values = [
  { label = "DropTail", set = { "topology.queue" = "droptail" } },
  { label = "CoDel", set = { "topology.queue" = "codel", "flows.a.count" = 2 } },
]
"#,
    negative: r#"
[run]
duration = "3s"
warmup = "1s"
replications = 2
[topology]
rate = "2Mbps"
rtt = "20ms"
[[flows]]
kind = "reno"
label = "a"
count = 4
[[experiment]]
name = "e"
[[experiment.factor]]
name = "queue"
compare = true
values = [
  { label = "DropTail", set = { "topology.queue" = "droptail", "topology.buffer" = "20p" } },
  { label = "CoDel", set = { "topology.queue" = "codel", "topology.buffer" = "30p" } },
]
"#,
};

/// Keys, and levels of each, that a message lists.
const LISTED: usize = 6;

/// A kind of thing that levels may set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Queue,
    /// Flows, their number, sizes, rates and algorithms.
    Traffic,
    /// Whether flows use ECN.
    Ecn,
    Network,
    Seed,
    Rest,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = declared(evidence);
    found.extend(undeclared(evidence));
    found
}

/// Levels that set the queues and something else, which tables put side by side without `compare = true`.
fn undeclared(evidence: &Evidence<'_>) -> Option<Finding> {
    let names = |compared: &Compared<'_>| -> Vec<(String, &'static str)> {
        let own = compared.points.iter();
        let own = own.filter_map(|(label, point)| {
            Some((label.clone(), evidence.bottleneck(point)?.discipline.name))
        });
        own.collect()
    };
    let other_queues = |compared: &&Compared<'_>| {
        let names: BTreeSet<&str> = names(compared).iter().map(|(_, name)| *name).collect();
        names.len() > 1
    };
    let all = evidence.beside.iter().filter(other_queues);
    let found: Vec<(&Compared<'_>, Differing)> = all
        .filter_map(|compared| Some((compared, Differing::of(evidence, compared)?)))
        .filter(|(_, differing)| differing.kinds.contains(&Kind::Queue))
        .collect();
    let (compared, differing) = found.first()?;
    let text = format!(
        "The levels that tables put side by side differ in {}{}: {}. A difference in results may come from any of them.",
        differing.kinds(),
        at_places(compared, found.len()),
        listed(&differing.keys, LISTED)
    );
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|own| own.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    // Levels that bear the names of their queues claim to compare these.
    let claims = |(compared, _): &(&Compared<'_>, Differing)| {
        let mut names = names(compared).into_iter();
        names.all(|(label, name)| plain(&label).contains(&plain(name)))
    };
    let finding = match found.iter().any(claims) {
        true => Finding::warning(text),
        false => Finding::note(text),
    };
    let points = found.iter().flat_map(|(compared, _)| &compared.points);
    Some(finding.at(points.map(|(_, point)| point.info.name())))
}

/// Where something was found: the first place, and how many there are.
fn at_places(compared: &Compared<'_>, count: usize) -> String {
    match (compared.place.as_str(), count) {
        ("", _) => String::new(),
        (place, 1) => format!(" ({place})"),
        (place, many) => format!(" (at {many} places, such as {place})"),
    }
}

fn declared(evidence: &Evidence<'_>) -> Vec<Finding> {
    let told = evidence.comparisons.iter();
    let mut found: Vec<(&Compared<'_>, Differing)> = told
        .filter_map(|compared| Some((compared, Differing::of(evidence, compared)?)))
        .collect();
    // The worst first.
    found.sort_by_key(|(_, differing)| !differing.is_void());
    let Some((compared, differing)) = found.first() else {
        return Vec::new();
    };
    let place = at_places(compared, found.len());
    let text = format!(
        "The levels under comparison differ in {}{place}: {}. A difference in results may come from any of them.",
        differing.kinds(),
        listed(&differing.keys, LISTED)
    );
    let finding = match differing.is_void() {
        true => Finding::error(text),
        false => Finding::warning(text),
    };
    let points = found.iter().flat_map(|(compared, _)| &compared.points);
    vec![finding.at(points.map(|(_, point)| point.info.name()))]
}

/// What differs between the points of a comparison.
struct Differing {
    kinds: BTreeSet<Kind>,
    /// The keys, each with its value at each level.
    keys: Vec<String>,
}

impl Differing {
    fn of(evidence: &Evidence<'_>, compared: &Compared<'_>) -> Option<Differing> {
        let all: Vec<(&String, BTreeMap<String, String>)> = compared
            .points
            .iter()
            .map(|(label, point)| (label, asked(evidence, point)))
            .collect();
        let names: BTreeSet<&String> = all.iter().flat_map(|(_, keys)| keys.keys()).collect();
        let differs = |name: &&&String| {
            let mut values = all.iter().map(|(_, keys)| keys.get(**name));
            let first = values.next();
            values.any(|other| Some(other) != first)
        };
        let names: Vec<&String> = names.iter().filter(differs).copied().collect();
        let mut kinds: BTreeSet<Kind> = names.iter().map(|name| kind(name)).collect();
        // The rate of the access links follows from that of the bottleneck.
        let many = kinds.len() > 1 || kinds.contains(&Kind::Seed);
        // A dialect that all components share changes what each of them is.
        let dialect = names.iter().any(|name| *name == "dialect");
        if !many || dialect {
            return None;
        }
        if kinds.contains(&Kind::Traffic) {
            kinds.remove(&Kind::Ecn);
        }
        if kinds.len() < 2 && !kinds.contains(&Kind::Seed) {
            return None;
        }
        let said = |name: &&String| {
            let values = all.iter().take(LISTED).map(|(label, keys)| {
                let value = keys.get(*name).map_or("not there", String::as_str);
                format!("{} ({label})", brief(value))
            });
            format!("`{name}` {}", values.collect::<Vec<_>>().join(", "))
        };
        let mut names = names;
        // What is most telling first: counts and kinds before what follows from them.
        names.sort_by_key(|name| (!is_main(name), kind(name)));
        Some(Differing {
            kinds,
            keys: names.iter().map(said).collect(),
        })
    }

    /// Whether nothing can be concluded.
    fn is_void(&self) -> bool {
        self.kinds.contains(&Kind::Traffic)
    }

    fn kinds(&self) -> String {
        let names = self.kinds.iter().map(|kind| match kind {
            Kind::Queue => "queues",
            Kind::Traffic => "traffic",
            Kind::Ecn => "the use of ECN",
            Kind::Network => "the network",
            Kind::Seed => "the seed",
            Kind::Rest => "other settings",
        });
        let names: Vec<&str> = names.collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => names.join(""),
        }
    }
}

/// Whether a key is one that authors write themselves, in the first place.
fn is_main(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    [
        "queue", "count", "kind", "rate", "rtt", "seed", "load", "size",
    ]
    .contains(&last)
}

fn kind(name: &str) -> Kind {
    let last = name.rsplit('.').next().unwrap_or(name);
    let queue = [
        "queue",
        "reverse_queue",
        "access_queue",
        "buffer",
        "reverse_buffer",
    ];
    match name {
        "run.seed" => Kind::Seed,
        // A congestion control may have a parameter of such a name.
        _ if queue.contains(&last) && !name.starts_with("flows") => Kind::Queue,
        _ if name.starts_with("flows[") && last == "ecn" => Kind::Ecn,
        _ if name.starts_with("flows[")
            && ["rtt", "from", "to", "access_delay"].contains(&last) =>
        {
            Kind::Network
        }
        _ if name.starts_with("flows") || name.starts_with("members") => Kind::Traffic,
        _ if [
            "topology",
            "links",
            "impairments",
            "opportunities",
            "changes",
        ]
        .iter()
        .any(|root| name.starts_with(root)) =>
        {
            Kind::Network
        }
        _ => Kind::Rest,
    }
}

/// Keys that say nothing of what happens, or that a design sets.
const APART: [&str; 6] = [
    "name",
    "series",
    "limits",
    "study",
    "run.replications",
    "label",
];

/// The keys of a point's scenario with their values; limits as they were given.
fn asked(evidence: &Evidence<'_>, point: &Seen<'_>) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    flatten("", &point.info.scenario.value(), &mut keys);
    let designed = evidence.results.manifest.design.is_some();
    keys.retain(|name, _| {
        let last = name.rsplit('.').next().unwrap_or(name);
        let apart =
            |apart: &&str| name.as_str() == *apart || name.starts_with(&format!("{apart}."));
        let apart = APART.iter().any(apart) || last == "label";
        let times = designed && ["run.duration", "run.warmup"].contains(&name.as_str());
        // It follows from the rate of the bottleneck.
        !apart && !times && !last.starts_with("access_rate")
    });
    for limit in &point.info.limits {
        if let Some(text) = keys.get_mut(&limit.queue) {
            let became = format!("={}", limit.became);
            *text = text.replace(&became, &format!("={}", limit.asked));
        }
    }
    keys
}

fn flatten(path: &str, value: &Value, keys: &mut BTreeMap<String, String>) {
    let under = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                flatten(&under(name), value, keys);
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                flatten(&format!("{path}[{at}]"), value, keys);
            }
        }
        Value::String(text) => {
            keys.insert(path.to_owned(), text.clone());
        }
        other => {
            keys.insert(path.to_owned(), other.to_string());
        }
    }
}

/// A value, without the parameters of a long specification.
fn brief(value: &str) -> &str {
    const LONG: usize = 40;
    match value.split_once(' ') {
        Some((name, _)) if value.len() > LONG => name,
        _ => value,
    }
}
