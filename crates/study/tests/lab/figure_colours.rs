//! Colours of the report, and the catalogue.

use sojourn_report::catalogue_name;
use sojourn_scenario::catalogue::{Family, entries};

#[test]
fn every_queue_and_congestion_control_has_a_colour_by_name_and_title() {
    for entry in entries() {
        if matches!(entry.family, Family::Queue | Family::Congestion) {
            for label in [entry.name, entry.title] {
                assert_eq!(catalogue_name(label), Some(entry.name), "{label}");
            }
        }
    }
}
