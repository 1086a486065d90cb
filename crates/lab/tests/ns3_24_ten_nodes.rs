//! ns-3.24's own runs of ten nodes with TCP Tahoe and UDP over RED or DropTail (`tests/data/ns3-3.24`): all 72 published
//! lines to the printed digit with every byte and drop, and packet traces line by line.

use sojourn_lab::compile::compile;
use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::outcome::RunOutcome;
use sojourn_lab::run::run;
use sojourn_lab::stats::significant;
use sojourn_sim::trace::{Event, Merged, Record};
use sojourn_sim::{Flags, Network, to_usize};
use sojourn_traffic::endpoint::Ns3Change;
use sojourn_units::{Span, Time};
use std::cell::RefCell;
use std::io::Read;
use std::path::PathBuf;

/// The study, from which the network is taken, and one of its points is chosen.
const STUDY: &str = include_str!("../../../studies/red-droptail-ten-nodes/study.toml");

fn data(name: &str) -> PathBuf {
    [
        env!("CARGO_MANIFEST_DIR"),
        "../../tests/data/ns3-3.24",
        name,
    ]
    .iter()
    .collect()
}
