//! Queues, congestion controls, flows and sources: the catalogue of scenarios.

use super::item::{Family, Item};
use sojourn_report::shell_word;
use sojourn_scenario::catalogue::{self, Entry, entries};
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;

pub(super) const QUEUES: Family = Family {
    name: "queues",
    one: catalogue::Family::Queue.name(),
    about: "Queue disciplines: AQMs and schedulers",
    columns: &["dialects"],
    items: || of(catalogue::Family::Queue),
    complete: None,
};

pub(super) const CONGESTION: Family = Family {
    name: "congestion",
    one: catalogue::Family::Congestion.name(),
    about: "Congestion controls of TCP, QUIC and media",
    columns: &["dialects"],
    items: || of(catalogue::Family::Congestion),
    complete: None,
};

pub(super) const FLOWS: Family = Family {
    name: "flows",
    one: catalogue::Family::Flow.name(),
    about: "Kinds of flow: TCP by its congestion control, media, web, constant rate",
    columns: &["dialects"],
    items: || of(catalogue::Family::Flow),
    complete: None,
};

pub(super) const SOURCES: Family = Family {
    name: "sources",
    one: catalogue::Family::Source.name(),
    about: "Traffic sources: what a flow over UDP, TCP or RTP sends",
    columns: &["dialects"],
    items: || of(catalogue::Family::Source),
    complete: None,
};

fn of(family: catalogue::Family) -> Vec<Item> {
    let own = entries().into_iter().filter(|entry| entry.family == family);
    own.map(item).collect()
}

fn item(entry: Entry) -> Item {
    Item {
        family: entry.family.name(),
        name: entry.name.to_owned(),
        aliases: entry.aliases.iter().map(|&name| name.to_owned()).collect(),
        title: entry.title.to_owned(),
        about: entry.about.to_owned(),
        facts: Vec::new(),
        usage: usage(&entry),
        more: entry
            .more
            .iter()
            .map(|&(name, meaning)| (name.to_owned(), meaning.to_owned()))
            .collect(),
        sources: entry.sources,
        parts: entry.parts,
    }
}

/// How to write it with nothing but its defaults.
fn usage(entry: &Entry) -> Vec<String> {
    let name = entry.name;
    match entry.family {
        catalogue::Family::Queue => vec![
            format!("sojourn dumbbell --queue {name} --flow '4*cubic'"),
            format!("queue = \"{name}\"    (in [topology] or [[links]])"),
        ],
        catalogue::Family::Flow => {
            let rate = entry
                .parts
                .iter()
                .flat_map(|part| part.params)
                .any(|info| info.name == "rate" && info.default == "none");
            // A codec's rate has bounds of its own, and a workload needs sizes and a load.
            let lines = [
                format!("{name} 2Mbps"),
                name.to_owned(),
                format!("{name} sizes=web_search load=50%"),
            ];
            let mut accepted = lines.iter().skip(usize::from(!rate));
            match accepted.find(|line| is_flow(line)) {
                Some(line) => vec![
                    format!("sojourn dumbbell --flow {}", shell_word(line)),
                    format!("flows = [\"{line}\"]"),
                ],
                // It is sent to a multicast group, which a scenario has to have.
                None => vec![format!(
                    "flows = [\"{name} from=NODE to=GROUP\"]    (in a network with [[groups]])"
                )],
            }
        }
        catalogue::Family::Source | catalogue::Family::Congestion => Vec::new(),
    }
}

/// Whether it can stand in the list of flows.
fn is_flow(line: &str) -> bool {
    let text = format!("flows = [{line:?}]");
    let document = Document::parse(&text, "");
    document.is_ok_and(|document| Scenario::from_document(&document).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::oneline::{Dumbbell, dumbbell};

    #[test]
    fn every_command_that_shows_how_to_write_an_entry_is_accepted() {
        let mut seen = 0;
        for item in QUEUES.items().iter().chain(&FLOWS.items()) {
            let Some(command) = item.usage.iter().find(|line| line.starts_with("sojourn")) else {
                continue;
            };
            let mut words = command.split(" --").map(|word| word.split_once(' '));
            assert_eq!(words.next(), Some(Some(("sojourn", "dumbbell"))));
            let mut given = Dumbbell::default();
            for word in words {
                let (option, value) = word.unwrap_or_else(|| panic!("{command}"));
                let plain = value.trim_matches('\'').to_owned();
                assert_eq!(value, shell_word(&plain), "{command}");
                match option {
                    "queue" => given.queues.push(plain),
                    _ => given.flows.push(plain),
                }
            }
            let read = dumbbell(&given, &|_, _| Ok(()));
            assert!(read.is_ok(), "{command}: {read:?}");
            seen += 1;
        }
        // What is sent to a group, and that alone, has no command.
        let all = QUEUES.items().len() + FLOWS.items().len();
        assert_eq!(seen, all - 1);
    }
}
