//! Rule `phase-effects`.

use sojourn_scenario::model::{Direction, Scenario};
use sojourn_units::Span;

use super::about::{About, Stage};
use super::evidence::Evidence;
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "Two or more flows at constant bit rate start at fixed times",
    reason: "Their packets then reach a queue in the same order during the whole run. One flow may lose every packet \
        and another none (Floyd and Jacobson, \"On traffic phase effects in packet-switched gateways\", 1992). \
        Leave out `start`, so that flows start at random times, or set `random_phase` or `noise` of the flows.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(|point| {
        let count = fixed(&point.scenario, Direction::Forward)
            .max(fixed(&point.scenario, Direction::Reverse));
        (count > 1).then(|| {
            format!(
                "{count} flows at constant bit rate keep the same order of arrival for the whole run; who loses packets is then \
                 decided by their phases."
            )
        })
    });
    found.map(Finding::warning).into_iter().collect()
}

/// Flows in one direction that send at a constant rate in a phase that is not random.
fn fixed(scenario: &Scenario, direction: Direction) -> u64 {
    let run = &scenario.run;
    let groups = scenario.flows.iter().filter(|group| {
        let arg = |key: &str| {
            group
                .args
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, text)| text.as_str())
        };
        let random = arg("random_phase") == Some("true")
            || arg("noise").is_some_and(|text| !["0", "0%", "0.0"].contains(&text));
        let placed =
            group.place.start.is_some() || run.deterministic || run.start_spread == Span::ZERO;
        group.kind == "cbr" && group.place.direction == direction && placed && !random
    });
    groups.map(|group| group.place.count).sum()
}
