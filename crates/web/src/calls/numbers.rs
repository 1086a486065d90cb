//! The metrics of an outcome, all that there are, under their names.

use serde_json::{Map, Value, json};
use sojourn_results::metrics::{Level, Subject, of_level};
use sojourn_results::outcome::RunOutcome;

/// The metrics of each observed queue and of each flow, in the units in which results keep them.
pub(super) fn numbers(outcome: &RunOutcome) -> Value {
    let queues = outcome.queues.iter().map(|queue| {
        let subject = Subject::Queues(vec![queue], outcome.measured);
        json!({
            "link": queue.link,
            "bottleneck": queue.bottleneck,
            "discipline": queue.release,
            "metrics": of(Level::Queue, &subject),
        })
    });
    let flows = outcome.flows.iter().map(|flow| {
        let subject = Subject::Flows(vec![flow], outcome.measured, outcome.active());
        json!({ "flow": flow.name, "label": flow.label, "metrics": of(Level::Flow, &subject) })
    });
    json!({
        "measured_s": outcome.measured.as_secs_f64(),
        "queues": queues.collect::<Vec<_>>(),
        // A list for people and tests; nobody reads that of ten thousand flows.
        "flows": flows.take(200).collect::<Vec<_>>(),
    })
}

fn of(level: Level, subject: &Subject<'_>) -> Map<String, Value> {
    let metrics = of_level(level).filter_map(|metric| {
        let value = metric.value(subject).filter(|value| value.is_finite())?;
        Some((
            metric.name.clone(),
            json!({ "value": value, "title": metric.title, "unit": metric.unit.shown(), "shown": metric.unit.show(value) }),
        ))
    });
    metrics.collect()
}
