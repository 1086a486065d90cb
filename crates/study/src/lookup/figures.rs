//! Kinds of figures, and the keys of a figure.

use super::item::{Family, Item};
use crate::study::FigureParams;
use sojourn_results::specs::FigureKind;
use sojourn_scenario::catalogue::Part;
use sojourn_units::Params;

pub(super) const FAMILY: Family = Family {
    name: "figures",
    one: "figure",
    about: "Kinds of figures that a study can draw",
    columns: &[],
    items,
    complete: None,
};

fn items() -> Vec<Item> {
    FigureKind::CHOICES
        .iter()
        .map(|&(kind, doc)| Item {
            family: FAMILY.one,
            name: kind.to_owned(),
            title: kind.to_owned(),
            about: doc.to_owned(),
            parts: vec![Part {
                title: "[[figure]]",
                doc: FigureParams::DOC,
                params: FigureParams::TABLE,
                dialects: &[],
                implied: &[],
            }],
            usage: vec![usage(kind)],
            ..Item::default()
        })
        .collect()
}

/// A figure of this kind, in the starter study.
fn usage(kind: &str) -> String {
    let axes = match kind {
        "range" => {
            "x = \"queue\"\ny = \"sojourn_s_p50\"\ny_low = \"sojourn_s_p05\"\ny_high = \"sojourn_s_p95\""
        }
        "boxes" => "x = \"queue\"\ny = \"sojourn_s\"",
        "cdf" => "y = \"sojourn_s\"",
        "sizes" => "y = \"slowdown_p99\"",
        "time" => "y = \"backlog_packets\"",
        "scatter" | "ellipse" => "x = \"sojourn_s_mean\"\ny = \"goodput_bps_sum\"",
        _ => "x = \"queue\"\ny = \"sojourn_s_p99\"",
    };
    format!("[[figure]]\nid = \"my-figure\"\nkind = \"{kind}\"\n{axes}")
}
