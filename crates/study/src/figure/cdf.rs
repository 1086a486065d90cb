//! The distribution of sojourn times, one-way delays, flow completion times, slowdowns or page load times, over all replications.

use std::collections::BTreeSet;

use serde_json::json;
use sojourn_report::{Figure, Kind, Scale};
use sojourn_results::asked::Of;
use sojourn_results::metrics::{Measure, Subject, Unit};
use sojourn_results::outcome::RunOutcome;
use sojourn_results::specs::FigureSpec;
use sojourn_results::stats::{merged, to_f64};
use sojourn_scenario::error::Result;
use sojourn_sim::histogram::{Histogram, middle};

use super::form::Form;
use super::frame::{axis, frame, number, numbers, points, row_of};
use super::request::Request;
use crate::summary::wanted::Wanted;

pub(super) const FORM: Form = Form {
    check,
    draw: |wanted, spec| {
        Ok(match transfer_measure(spec) {
            Some(measure) => transfer_distribution(wanted, spec, measure),
            None => distribution(wanted, spec),
        })
    },
};

/// What it can be the distribution of.
const DISTRIBUTIONS: [&str; 5] = ["sojourn_s", "delay_s", "fct_s", "slowdown", "page_load_s"];

fn check(request: &mut Request<'_>) -> Result<()> {
    let usual = || "sojourn_s".to_owned();
    let y = request.spec.y.get_or_insert_with(usual).clone();
    request.one_of("distribution", &y, DISTRIBUTIONS.into_iter())?;
    let metric = format!("{y}_mean");
    request.suits(&metric)?;
    request.metric("of", &Some(metric))?;
    match transfer_measure(&request.spec) {
        Some(Measure::PageLoad) => request.transfers(true)?,
        Some(_) => request.transfers(false)?,
        None => {}
    }
    request.of_one_point()
}

/// The distribution of sojourn times or delays, over all replications.
fn distribution(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let quantity = spec.y.as_deref().unwrap_or("sojourn_s");
    let asked = wanted.parse(&format!("{quantity}_mean"), spec.of.as_deref())?;
    let title = match (quantity, &asked.of) {
        ("delay_s", Of::Flows(name)) => format!("One-way delay, {name}"),
        ("delay_s", _) => "One-way delay".to_owned(),
        (_, Of::Link(name)) => format!("Sojourn time, {name}"),
        _ => "Sojourn time".to_owned(),
    };
    let x = axis("x", &title, Unit::Seconds.shown(), numbers(spec.x_scale));
    let y = axis("y", "Share of packets", "", Scale::Linear);
    let mut figure = frame(wanted, spec, Kind::Cdf, x, y);
    let mut links = BTreeSet::new();
    for point in points(wanted, spec) {
        let runs: Vec<&RunOutcome> = wanted.results.of_point(point.point).collect();
        let histogram: Histogram = match asked.subject(&runs) {
            Subject::Queues(queues, _) => {
                links.extend(queues.iter().map(|queue| queue.link.clone()));
                merged(queues.iter().map(|queue| &queue.sojourn))
            }
            Subject::Flows(flows, ..) => merged(flows.iter().map(|flow| &flow.delay)),
            Subject::Run(_) => Histogram::default(),
        };
        let total = to_f64(histogram.count());
        let mut seen = 0;
        for (step, count) in histogram.steps() {
            seen += count;
            let mut row = row_of(wanted, spec, point);
            let seconds = to_f64(middle(step)) * 1e-12;
            row.insert("x".to_owned(), number(Some(seconds), Unit::Seconds));
            row.insert("y".to_owned(), json!(to_f64(seen) / total));
            figure.rows.push(row);
        }
    }
    if matches!(asked.of, Of::Bottleneck | Of::Measured(_))
        && let Some(link) = links.first().filter(|_| links.len() == 1)
    {
        figure.x.title = format!("{title}, {link}");
    }
    Some(figure)
}

/// What a distribution of transfers is of; `None` for one of packets.
fn transfer_measure(spec: &FigureSpec) -> Option<Measure> {
    match spec.y.as_deref() {
        Some("fct_s") => Some(Measure::Completion),
        Some("slowdown") => Some(Measure::Slowdown),
        Some("page_load_s") => Some(Measure::PageLoad),
        _ => None,
    }
}

/// Steps of a distribution of transfers that are drawn at most.
const MOST_STEPS: usize = 400;

/// The distribution of a measure of transfers, over all replications.
fn transfer_distribution(
    wanted: &Wanted<'_>,
    spec: &FigureSpec,
    measure: Measure,
) -> Option<Figure> {
    let asked = wanted.parse("fct_s_mean", spec.of.as_deref())?;
    let rows = wanted.rows();
    let probes = rows.transfer_metrics().is_empty() && rows.has_probes();
    let (title, unit, what) = match measure {
        Measure::Completion if probes => ("Round trip", Unit::Seconds, "requests"),
        Measure::Completion => ("Flow completion time", Unit::Seconds, "transfers"),
        Measure::Slowdown => ("Slowdown", Unit::Index, "transfers"),
        Measure::PageLoad => ("Page load time", Unit::Seconds, "pages"),
    };
    let x = axis("x", title, unit.shown(), numbers(spec.x_scale));
    let y = axis("y", &format!("Share of {what}"), "", Scale::Linear);
    let mut figure = frame(wanted, spec, Kind::Cdf, x, y);
    for point in points(wanted, spec) {
        let runs: Vec<&RunOutcome> = wanted.results.of_point(point.point).collect();
        let Subject::Flows(flows, ..) = asked.subject(&runs) else {
            continue;
        };
        let transfers = flows.iter().flat_map(|flow| &flow.transfers);
        let mut values: Vec<f64> = transfers.filter_map(|t| measure.of(t)).collect();
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let every = count.div_ceil(MOST_STEPS).max(1);
        if every > 1 {
            figure.thinned = Some(format!("One step is drawn for every {every} transfers."));
        }
        for (value, place) in values.iter().zip(1..) {
            if place % every != 0 && place != count {
                continue;
            }
            let share = |n: usize| to_f64(u64::try_from(n).unwrap_or(u64::MAX));
            let mut row = row_of(wanted, spec, point);
            row.insert("x".to_owned(), number(Some(*value), unit));
            row.insert("y".to_owned(), json!(share(place) / share(count)));
            figure.rows.push(row);
        }
    }
    Some(figure)
}
