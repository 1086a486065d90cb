//! What can be recorded of a scenario, before it runs.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_scenario::quantities::wanted;
use sojourn_scenario::words::BOTTLENECK;

use super::inner::OF_A_QUEUE;
use super::of_flows::{FlowEnds, OF_FLOWS};
use super::of_queues::OF_QUEUES;
use crate::compile::{Compiled, FlowInfo};

/// The name in `record` of the queues inside schedulers, whose states have more quantities than are listed here.
const INSIDE: &str = "queues";

/// The kind of flows that load pages.
const WEB: &str = "web";

/// What can be recorded of some scenarios, and what they record.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recordable {
    quantities: BTreeMap<String, Quantity>,
    recorded: BTreeSet<&'static str>,
    /// The value of `record` of each scenario that records something.
    texts: BTreeSet<String>,
    /// Labels and names of flows that make transfers, and the words for several of them.
    transfers: BTreeSet<String>,
    /// Those that load pages.
    pages: BTreeSet<String>,
}

/// A quantity that can be recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Quantity {
    /// The names in `record` under which it is.
    asked: BTreeSet<&'static str>,
    /// Link directions, labels and names of flows that have it, and the words for several of them.
    subjects: BTreeSet<String>,
}

impl Recordable {
    /// Adds what can be recorded of a scenario, whose key `record` is this.
    pub fn add(&mut self, compiled: &Compiled, record: &str) {
        // A word that means nothing is refused where the scenario is read.
        let recorded = wanted(record).unwrap_or_default();
        if !recorded.is_empty() {
            self.texts.insert(record.to_owned());
        }
        self.recorded.extend(recorded);
        for (link, spec) in compiled.links.iter().zip(&compiled.network.links) {
            if !link.observed {
                continue;
            }
            let words = [link.name.as_str(), BOTTLENECK];
            for own in OF_QUEUES {
                self.take(own.asked, (own.quantities)(&spec.port), &words);
            }
            self.take(INSIDE, &OF_A_QUEUE, &words);
            self.take("carried", &["carried_bps"], &words);
        }
        for flow in &compiled.flows {
            self.add_flow(compiled, flow);
        }
    }

    fn add_flow(&mut self, compiled: &Compiled, flow: &FlowInfo) {
        let arrives = flow.receiver.is_some() || !flow.members.is_empty();
        let ends = FlowEnds {
            sender: &compiled.network.agents[flow.sender].agent,
            arrives,
        };
        let direction = match flow.forward {
            true => "forward",
            false => "reverse",
        };
        let words = [flow.label.as_str(), flow.name.as_str(), direction, "all"];
        let transfers =
            ends.sender.open_connections().is_some() || ends.sender.requester().is_some();
        let pages = flow.kind == WEB;
        for word in words {
            if transfers {
                self.transfers.insert(word.to_owned());
            }
            if pages {
                self.pages.insert(word.to_owned());
            }
        }
        for own in OF_FLOWS.iter().filter(|own| (own.has)(&ends)) {
            let quantities = (own.quantities)(&ends);
            let quantities: Vec<&str> = quantities.iter().map(String::as_str).collect();
            self.take(own.asked, &quantities, &words);
        }
    }

    fn take(&mut self, asked: &'static str, quantities: &[&str], subjects: &[&str]) {
        for name in quantities {
            let quantity = self.quantities.entry((*name).to_owned()).or_default();
            quantity.asked.insert(asked);
            let subjects = subjects.iter().map(|&subject| subject.to_owned());
            quantity.subjects.extend(subjects);
        }
    }

    /// Every quantity that can be recorded.
    pub fn quantities(&self) -> impl Iterator<Item = &str> + Clone {
        self.quantities.keys().map(String::as_str)
    }

    /// Whether a quantity can be recorded; one of the state of queues inside schedulers may be, where these are.
    pub fn is_known(&self, quantity: &str) -> bool {
        self.quantities.contains_key(quantity) || self.recorded.contains(INSIDE)
    }

    /// The value of `record` that records a quantity in addition to what is recorded; `None` where it is recorded already.
    pub fn remedy(&self, quantity: &str) -> Option<String> {
        let asked = &self.quantities.get(quantity)?.asked;
        if asked.iter().any(|name| self.recorded.contains(name)) {
            return None;
        }
        let name = asked.first()?;
        Some(match self.texts.first() {
            Some(text) => format!("{text}, {name}"),
            None => (*name).to_owned(),
        })
    }

    /// What makes transfers, or loads pages: labels and names of flows, and the words for several of them.
    pub fn transfers(&self, pages: bool) -> impl Iterator<Item = &str> + Clone {
        let subjects = match pages {
            true => &self.pages,
            false => &self.transfers,
        };
        subjects.iter().map(String::as_str)
    }

    /// What has a quantity: link directions, labels and names of flows, and the words for several of them.
    pub fn subjects(&self, quantity: &str) -> impl Iterator<Item = &str> + Clone {
        let subjects = self.quantities.get(quantity).map(|own| &own.subjects);
        subjects.into_iter().flatten().map(String::as_str)
    }
}
