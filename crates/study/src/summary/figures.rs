//! Figures of an experiment: those that a study asks for, or the usual ones.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_report::{Axis, Facet, Figure, Kind, Scale, Series};
use sojourn_results::asked::{Asked, Of};
use sojourn_results::manifest::{FactorInfo, PointInfo};
use sojourn_results::metrics::{Measure, Subject, Unit};
use sojourn_results::outcome::{RunOutcome, SeriesOutcome};
use sojourn_results::specs::{FigureSpec, id};
use sojourn_results::stats::{self, merged, to_f64};
use sojourn_scenario::error::Result;
use sojourn_sim::histogram::{Histogram, middle};

use super::transfers;
use super::wanted::{Band, Wanted};
use crate::study::FigureKind;

/// Buckets into which a longer time series is thinned; each keeps its least and greatest value.
const BUCKETS: usize = 600;
/// Points of an experiment that are drawn in one figure of distributions without being asked for.
const MOST_DISTRIBUTIONS: usize = 8;

type Row = BTreeMap<String, Value>;

/// The figures of an experiment, in order.
pub(super) fn of(wanted: &Wanted<'_>) -> Result<Vec<Figure>> {
    let specs: Vec<&FigureSpec> = wanted
        .results
        .manifest
        .figures
        .iter()
        .filter(|spec| spec.experiment == wanted.experiment.name)
        .collect();
    let usual = match specs.is_empty() {
        true => usual(wanted)?,
        false => Vec::new(),
    };
    let mut figures: Vec<Figure> = Vec::new();
    let mut minor: Vec<usize> = Vec::new();
    let is_usual = specs.is_empty();
    for spec in specs.into_iter().chain(&usual) {
        let figure = match kind(spec) {
            FigureKind::Cdf => match transfer_measure(spec) {
                Some(measure) => transfer_distribution(wanted, spec, measure),
                None => distribution(wanted, spec),
            },
            FigureKind::Sizes => over_sizes(wanted, spec),
            FigureKind::Time => time_series(wanted, spec, is_usual)?,
            FigureKind::Scatter | FigureKind::Ellipse => scatter(wanted, spec),
            _ => over_factor(wanted, spec),
        };
        // A figure without rows has nothing to draw.
        let Some(figure) = figure.filter(|figure| !figure.rows.is_empty()) else {
            continue;
        };
        let is_main = |y: &String| MAIN.contains(&y.as_str());
        if is_usual && figure.kind == Kind::Time && !spec.y.as_ref().is_some_and(is_main) {
            minor.push(figures.len());
        }
        figures.push(figure);
    }
    if minor.len() > MOST_OPEN {
        for index in minor {
            figures[index].folded = true;
        }
    }
    Ok(figures)
}

fn kind(spec: &FigureSpec) -> FigureKind {
    spec.kind.parse().unwrap_or(FigureKind::Points)
}

/// What is drawn where a study does not say.
fn usual(wanted: &Wanted<'_>) -> Result<Vec<FigureSpec>> {
    let experiment = wanted.experiment;
    let compared = experiment.factors.iter().find(|factor| factor.compare);
    let others: Vec<&FactorInfo> = experiment
        .factors
        .iter()
        .filter(|factor| !factor.compare)
        .collect();
    let series = compared.map(|factor| factor.name.clone());
    let figure = |name: &str, title: &str, kind: FigureKind| FigureSpec {
        id: id(&[&experiment.name, name]),
        title: title.to_owned(),
        kind: kind.name().to_owned(),
        experiment: experiment.name.clone(),
        series: series.clone(),
        x_scale: "category".to_owned(),
        y_scale: "linear".to_owned(),
        ..FigureSpec::default()
    };
    let mut all = Vec::new();
    let over = |name: &str, title: &str, metric: &str, all: &mut Vec<FigureSpec>| {
        if let [x, rest @ ..] = others.as_slice()
            && rest.len() <= 1
        {
            all.push(FigureSpec {
                x: Some(x.name.clone()),
                y: Some(metric.to_owned()),
                facet: rest.first().map(|factor| factor.name.clone()),
                ..figure(name, title, FigureKind::Points)
            });
        }
    };
    over(
        "sojourn",
        "Sojourn time, 95th percentile",
        "sojourn_s_p95",
        &mut all,
    );
    over("utilization", "Utilization", "utilization_ratio", &mut all);
    over("loss", "Loss", "loss_ratio of bottleneck", &mut all);
    if others.is_empty() && experiment.factors.len() <= 1 {
        let caption = "Share of the packets that waited no longer, over all replications.";
        if wanted.points().len() <= MOST_DISTRIBUTIONS {
            all.push(FigureSpec {
                caption: caption.to_owned(),
                y: Some("sojourn_s".to_owned()),
                ..figure("sojourn-cdf", "Sojourn time", FigureKind::Cdf)
            });
        }
        let metrics = wanted.transfer_metrics();
        if metrics.contains(&"fct_s_mean") {
            all.push(FigureSpec {
                caption: "Share of the transfers that took no longer, over all replications."
                    .to_owned(),
                y: Some("fct_s".to_owned()),
                x_scale: "log".to_owned(),
                ..figure("fct-cdf", "Flow completion time", FigureKind::Cdf)
            });
            all.push(FigureSpec {
                y: Some("slowdown_p99".to_owned()),
                y_scale: "log".to_owned(),
                ..figure(
                    "slowdown-sizes",
                    "Slowdown by size, 99th percentile",
                    FigureKind::Sizes,
                )
            });
        } else if !metrics.is_empty() {
            all.push(FigureSpec {
                caption: "Share of the pages that took no longer, over all replications."
                    .to_owned(),
                y: Some("page_load_s".to_owned()),
                ..figure("page-load-cdf", "Page load time", FigureKind::Cdf)
            });
        }
        all.push(FigureSpec {
            y: Some(GOODPUT_BY_LABEL.to_owned()),
            ..figure("goodput", "Goodput", FigureKind::Bars)
        });
        let over_time = |quantity: &str, title: &str, caption: &str| FigureSpec {
            y: Some(quantity.to_owned()),
            caption: caption.to_owned(),
            ..figure(
                &format!("{}-time", quantity.replace('_', "-")),
                title,
                FigureKind::Time,
            )
        };
        const CAPTION: &str = "The first replication.";
        for (quantity, title) in OVER_TIME {
            let caption = match quantity {
                "phase" => format!("{CAPTION} {PHASES}"),
                SHOWN_WITH_THRESHOLD => format!("{CAPTION} Dashed: slow start thresholds."),
                _ => CAPTION.to_owned(),
            };
            all.push(over_time(quantity, title, &caption));
        }
        // Whatever else was recorded, the states of disciplines and congestion controls above all.
        let recorded = recorded(wanted)?;
        let beside = |quantity: &String| SHOWN_WITH_CAPACITY.contains(&quantity.as_str());
        let capacity_is_shown = recorded.iter().any(beside);
        for quantity in recorded {
            let listed = OVER_TIME.iter().any(|(own, _)| *own == quantity)
                || quantity == THRESHOLD
                || (quantity == CAPACITY && capacity_is_shown);
            if !listed {
                let title = format!("{} over time", quantity_title(&quantity).0);
                let caption = match quantity.as_str() {
                    "mode" => format!("{CAPTION} {MODES}"),
                    _ => CAPTION.to_owned(),
                };
                all.push(over_time(&quantity, &title, &caption));
            }
        }
    }
    Ok(all)
}

/// The quantities that stay in sight where there are too many figures over time.
const MAIN: [&str; 7] = [
    "sojourn_s",
    "backlog_packets",
    "throughput_bps",
    "carried_bps",
    SHOWN_WITH_THRESHOLD,
    "srtt_s",
    "rtt_s",
];
/// Other figures over time that a report shows without folding them away.
const MOST_OPEN: usize = 6;

/// The quantities that are drawn over time first, where they were recorded, and the titles of their figures: the main ones before
/// the others.
const OVER_TIME: [(&str, &str); 17] = [
    ("sojourn_s", "Sojourn time over time"),
    ("backlog_packets", "Backlog over time"),
    ("throughput_bps", "Throughput over time"),
    ("carried_bps", "Throughput at the link over time"),
    (SHOWN_WITH_THRESHOLD, "Congestion windows over time"),
    ("srtt_s", "Round-trip times over time"),
    ("rtt_s", "Round trips of probes over time"),
    ("backlog_bytes", "Backlog in bytes over time"),
    ("queue_packets", "Packets in single queues over time"),
    ("queue_bytes", "Bytes in single queues over time"),
    ("queue_deficit_bytes", "Deficits of single queues over time"),
    ("in_flight_bytes", "Bytes in flight over time"),
    ("rto_s", "Retransmission timeouts over time"),
    ("pacing_bps", "Pacing rates over time"),
    ("phase", "Phases of loss recovery over time"),
    ("delivered_pps", "Packets per second over time"),
    ("dropped_pps", "Errors per second over time: packets lost"),
];

/// The congestion window, whose usual figure shows [`THRESHOLD`] too.
const SHOWN_WITH_THRESHOLD: &str = "cwnd_bytes";
const THRESHOLD: &str = "ssthresh_bytes";

/// What links carry, whose figures show [`CAPACITY`] too where it was recorded.
const SHOWN_WITH_CAPACITY: [&str; 2] = ["throughput_bps", "carried_bps"];
const CAPACITY: &str = "capacity_bps";

/// What the numbers of a phase stand for.
const PHASES: &str = "0: nothing is missing; 1: something is, it may be reordering; 2: the window falls for an ECN echo; \
    3: losses are repaired; 4: the retransmission timer has fired.";

/// What the numbers of a mode stand for.
const MODES: &str = "Of BBR 0: startup; 1: drain; 2: probing for bandwidth; 3: probing for the round trip. Of BBRv3 0: startup; 1: drain; \
    2: down; 3: cruise; 4: refill; 5: up; 6: probing for the round trip.";

/// Queues of one scheduler that a figure shows at most without being asked for.
const MOST_LINES: usize = 8;

/// The quantities that were recorded of what a usual figure shows, in the order in which they were.
fn recorded(wanted: &Wanted<'_>) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for point in wanted.points() {
        let run = wanted.results.of_point(point.point).next();
        for series in wanted.results.series(point.point, 0)? {
            if is_of(&series, None, run) && !found.contains(&series.quantity) {
                found.push(series.quantity);
            }
        }
    }
    Ok(found)
}

/// The y of the usual bars: the goodput of each group of flows, which are the x axis.
const GOODPUT_BY_LABEL: &str = "goodput by label";

fn points<'a>(wanted: &Wanted<'a>, spec: &FigureSpec) -> Vec<&'a PointInfo> {
    let fits = |point: &&PointInfo| {
        spec.only
            .iter()
            .all(|(name, label)| point.levels.get(name) == Some(label))
    };
    wanted.points().into_iter().filter(fits).collect()
}

fn factor<'a>(wanted: &Wanted<'a>, name: Option<&String>) -> Option<&'a FactorInfo> {
    let name = name?;
    wanted
        .experiment
        .factors
        .iter()
        .find(|factor| factor.name == *name)
}

fn label(point: &PointInfo, factor: Option<&FactorInfo>) -> Option<String> {
    point.levels.get(&factor?.name).cloned()
}

/// The parts of a figure that all kinds have.
fn frame(wanted: &Wanted<'_>, spec: &FigureSpec, kind: Kind, x: Axis, y: Axis) -> Figure {
    let series = factor(wanted, spec.series.as_ref());
    let facet = factor(wanted, spec.facet.as_ref());
    Figure {
        id: spec.id.clone(),
        title: spec.title.clone(),
        caption: spec.caption.clone(),
        kind,
        x,
        y,
        series: series.map(|factor| Series {
            field: SERIES.to_owned(),
            title: factor.title.clone(),
            order: factor.labels.clone(),
            dashed: BTreeMap::new(),
        }),
        facet: facet.map(|factor| Facet {
            field: FACET.to_owned(),
            title: factor.title.clone(),
        }),
        rows: Vec::new(),
        y_low: None,
        y_high: None,
        outlines: Vec::new(),
        reference: Vec::new(),
        thinned: None,
        steps: false,
        folded: false,
    }
}

const SERIES: &str = "series";
const FACET: &str = "facet";

/// A row with the levels of a point that tell series and panels apart.
fn row_of(wanted: &Wanted<'_>, spec: &FigureSpec, point: &PointInfo) -> Row {
    let mut row = Row::new();
    if let Some(label) = label(point, factor(wanted, spec.series.as_ref())) {
        row.insert(SERIES.to_owned(), label.into());
    }
    if let Some(label) = label(point, factor(wanted, spec.facet.as_ref())) {
        row.insert(FACET.to_owned(), label.into());
    }
    row
}

fn axis(field: &str, title: &str, unit: &str, scale: Scale) -> Axis {
    Axis {
        field: field.to_owned(),
        title: title.to_owned(),
        unit: Some(unit.to_owned()).filter(|unit| !unit.is_empty()),
        scale,
        order: Vec::new(),
    }
}

fn scale(name: &str) -> Scale {
    match name {
        "log" => Scale::Log,
        "category" => Scale::Category,
        _ => Scale::Linear,
    }
}

fn y_scale(spec: &FigureSpec) -> Scale {
    match spec.y_scale.as_str() {
        "log" => Scale::Log,
        _ => Scale::Linear,
    }
}

/// A metric over the levels of a factor.
fn over_factor(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    if spec.y.as_deref() == Some(GOODPUT_BY_LABEL) {
        return goodput_by_label(wanted, spec);
    }
    let parse = |text: &Option<String>| wanted.parse(text.as_deref()?, spec.of.as_deref());
    let (y, low, high) = (parse(&spec.y), parse(&spec.y_low), parse(&spec.y_high));
    let shown = y.clone().or_else(|| high.clone())?;
    let unit = shown.unit();
    let x = factor(wanted, spec.x.as_ref());
    let x_axis = match x {
        Some(factor) => Axis {
            order: match spec.x_scale.as_str() {
                "category" => factor.labels.clone(),
                _ => Vec::new(),
            },
            ..axis(
                "x",
                &factor.title,
                factor.unit.as_deref().unwrap_or_default(),
                scale(&spec.x_scale),
            )
        },
        None => axis("x", "", "", Scale::Category),
    };
    let drawn = match kind(spec) {
        FigureKind::Bars => Kind::Bars,
        FigureKind::Lines => Kind::Lines,
        FigureKind::Range => Kind::Range,
        _ => Kind::Points,
    };
    let title = match drawn {
        Kind::Range => spec.title.clone(),
        _ => shown.title(),
    };
    let mut figure = frame(
        wanted,
        spec,
        drawn,
        x_axis,
        axis("y", &title, unit.shown(), y_scale(spec)),
    );
    figure.y_low = Some("low".to_owned());
    figure.y_high = Some("high".to_owned());
    let place = |levels: &BTreeMap<String, String>| -> Value {
        let text = x
            .and_then(|factor| levels.get(&factor.name))
            .cloned()
            .unwrap_or_default();
        match (spec.x_scale.as_str(), text.parse::<f64>()) {
            ("category", _) | (_, Err(_)) => text.into(),
            (_, Ok(number)) => json!(number),
        }
    };
    let mut cut = 0;
    for point in points(wanted, spec) {
        let mut row = row_of(wanted, spec, point);
        row.insert("x".to_owned(), place(&point.levels));
        let of = |asked: &Option<Asked>| {
            let asked = asked.as_ref()?;
            wanted.estimate(point, asked)
        };
        let (middle, ends) = match drawn {
            Kind::Range => {
                let ends = (of(&low).map(|e| e.mean), of(&high).map(|e| e.mean));
                (of(&y).map(|e| e.mean), ends)
            }
            _ => {
                let Some(estimate) = of(&y) else { continue };
                let band = wanted.band(point, &shown, &estimate);
                cut += count_cut(&figure, band);
                let ends = (band.map(|band| band.low), band.map(|band| band.high));
                (Some(estimate.mean), ends)
            }
        };
        if drawn == Kind::Range && (ends.0.is_none() || ends.1.is_none()) {
            continue;
        }
        row.insert("y".to_owned(), number(middle, unit));
        row.insert("low".to_owned(), number(ends.0, unit));
        row.insert("high".to_owned(), number(ends.1, unit));
        figure.rows.push(row);
    }
    remark_cut(&mut figure, cut, "interval");
    if spec.published {
        let rows = published(wanted, spec, &[&y, &low, &high], &place);
        figure.rows.extend(rows);
    }
    let whiskers = figure
        .rows
        .iter()
        .any(|row| row.get("low").is_some_and(|v| !v.is_null()));
    if !whiskers {
        figure.y_low = None;
        figure.y_high = None;
        for row in &mut figure.rows {
            row.remove("low");
            row.remove("high");
        }
    }
    Some(figure)
}

/// Published values of the metrics of a figure, one row per set of levels.
fn published(
    wanted: &Wanted<'_>,
    spec: &FigureSpec,
    asked: &[&Option<Asked>; 3],
    place: &dyn Fn(&BTreeMap<String, String>) -> Value,
) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for point in points(wanted, spec) {
        let mut found: [Option<f64>; 3] = [None; 3];
        for (index, asked) in asked.iter().enumerate() {
            let Some(asked) = asked else { continue };
            for published in &wanted.results.manifest.published {
                let same = wanted
                    .parse(&published.metric, None)
                    .is_some_and(|other| other.text() == asked.text());
                if !same || !published.is_at(&wanted.experiment.name, &point.levels) {
                    continue;
                }
                found[index] = found[index].or(published.value);
                // A range of the metric itself: its ends, where the figure has no metrics for them.
                found[1] = found[1].or(published.low);
                found[2] = found[2].or(published.high);
            }
        }
        let [y, low, high] = found;
        let unit = asked
            .iter()
            .find_map(|asked| asked.as_ref())
            .map(|asked| asked.unit());
        let Some(unit) = unit.filter(|_| y.is_some() || (low.is_some() && high.is_some())) else {
            continue;
        };
        let mut row = row_of(wanted, spec, point);
        row.insert("published".to_owned(), true.into());
        row.insert("x".to_owned(), place(&point.levels));
        row.insert("y".to_owned(), number(y, unit));
        row.insert("low".to_owned(), number(low, unit));
        row.insert("high".to_owned(), number(high, unit));
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

/// One if a band is cut where its figure would show more: a logarithmic axis has no place for an interval that reaches zero, and the
/// report says so itself.
fn count_cut(figure: &Figure, band: Option<Band>) -> usize {
    let fits = |band: &Band| figure.y.scale != Scale::Log || band.low > 0.0;
    usize::from(band.is_some_and(|band| band.cut && fits(&band)))
}

/// Says that so many intervals or ellipses are cut.
fn remark_cut(figure: &mut Figure, cut: usize, what: &str) {
    let text = match cut {
        0 => return,
        1 => format!(
            "One {what} reaches beyond the values that the quantity can have, and is drawn up to its bound."
        ),
        n => format!(
            "{n} {what}s reach beyond the values that the quantity can have, and are drawn up to its bound."
        ),
    };
    figure.thinned = Some(match figure.thinned.take() {
        Some(before) => format!("{before} {text}"),
        None => text,
    });
}

fn number(value: Option<f64>, unit: Unit) -> Value {
    value.map_or(Value::Null, |value| json!(unit.show(value)))
}

/// Goodput of each group of flows, with a bar per point.
fn goodput_by_label(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let labels = wanted.forward_labels();
    let asked: Vec<(String, Asked)> = labels
        .iter()
        .filter_map(|label| {
            let asked = wanted.parse(&format!("goodput_bps_sum of {label}"), None)?;
            Some(((*label).clone(), asked))
        })
        .collect();
    let unit = asked.first()?.1.unit();
    let x = Axis {
        order: asked.iter().map(|(label, _)| label.clone()).collect(),
        ..axis("x", "Flows", "", Scale::Category)
    };
    let y = axis("y", "Goodput", unit.shown(), Scale::Linear);
    let mut figure = frame(wanted, spec, Kind::Bars, x, y);
    let mut cut = 0;
    for point in points(wanted, spec) {
        for (label, asked) in &asked {
            let Some(estimate) = wanted.estimate(point, asked) else {
                continue;
            };
            let mut row = row_of(wanted, spec, point);
            row.insert("x".to_owned(), label.as_str().into());
            row.insert("y".to_owned(), number(Some(estimate.mean), unit));
            let band = wanted.band(point, asked, &estimate);
            cut += count_cut(&figure, band);
            if let Some(band) = band {
                row.insert("low".to_owned(), number(Some(band.low), unit));
                row.insert("high".to_owned(), number(Some(band.high), unit));
                figure.y_low = Some("low".to_owned());
                figure.y_high = Some("high".to_owned());
            }
            figure.rows.push(row);
        }
    }
    remark_cut(&mut figure, cut, "interval");
    Some(figure)
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
    let x_scale = match spec.x_scale.as_str() {
        "log" => Scale::Log,
        _ => Scale::Linear,
    };
    let x = axis("x", &title, Unit::Seconds.shown(), x_scale);
    let y = axis("y", "Share of packets", "", Scale::Linear);
    let mut figure = frame(wanted, spec, Kind::Cdf, x, y);
    for point in points(wanted, spec) {
        let runs: Vec<&RunOutcome> = wanted.results.of_point(point.point).collect();
        let histogram: Histogram = match asked.subject(&runs) {
            Subject::Queues(queues, _) => merged(queues.iter().map(|queue| &queue.sojourn)),
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
    let (title, unit) = match measure {
        Measure::Completion => ("Flow completion time", Unit::Seconds),
        Measure::Slowdown => ("Slowdown", Unit::Index),
        Measure::PageLoad => ("Page load time", Unit::Seconds),
    };
    let x_scale = match spec.x_scale.as_str() {
        "log" => Scale::Log,
        _ => Scale::Linear,
    };
    let x = axis("x", title, unit.shown(), x_scale);
    let y = axis("y", "Share of transfers", "", Scale::Linear);
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

/// A statistic of transfers over their sizes.
fn over_sizes(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let name = spec.y.as_deref()?;
    let (title, unit) = transfers::title_of(name);
    let x = Axis {
        order: transfers::bin_names(),
        ..axis("x", "Size", "", Scale::Category)
    };
    let y = axis("y", title, unit.shown(), y_scale(spec));
    let mut figure = frame(wanted, spec, Kind::Points, x, y);
    let mut by_label = false;
    let mut cut = 0;
    for point in points(wanted, spec) {
        let rows = transfers::over_sizes(wanted, point, name, spec.of.as_deref());
        let several = rows.iter().any(|(label, ..)| *label != rows[0].0);
        for (label, values, is_cut) in rows {
            cut += usize::from(is_cut);
            let mut row = row_of(wanted, spec, point);
            if several || figure.series.is_none() {
                by_label = true;
                let own = match row.get(SERIES).and_then(Value::as_str) {
                    Some(own) => format!("{own}, {label}"),
                    None => label,
                };
                row.insert(SERIES.to_owned(), own.into());
            }
            if values.contains_key("low") {
                figure.y_low = Some("low".to_owned());
                figure.y_high = Some("high".to_owned());
            }
            row.extend(values);
            figure.rows.push(row);
        }
    }
    remark_cut(&mut figure, cut, "interval");
    if by_label {
        let title = figure
            .series
            .as_ref()
            .map_or("Flows", |series| series.title.as_str());
        figure.series = Some(Series {
            field: SERIES.to_owned(),
            title: title.to_owned(),
            order: Vec::new(),
            dashed: BTreeMap::new(),
        });
    }
    Some(figure)
}

/// A recorded time series of the first replication. A usual figure has slow start thresholds beside windows, and of the queues
/// of a scheduler not more than can be told apart.
fn time_series(wanted: &Wanted<'_>, spec: &FigureSpec, is_usual: bool) -> Result<Option<Figure>> {
    let Some(quantity) = spec.y.as_deref() else {
        return Ok(None);
    };
    let beside = (is_usual && quantity == SHOWN_WITH_THRESHOLD).then_some(THRESHOLD);
    let (title, unit) = quantity_title(quantity);
    let x = axis("x", "Time", "s", Scale::Time);
    let y = axis("y", &title, unit.shown(), y_scale(spec));
    let mut figure = frame(wanted, spec, Kind::Time, x, y);
    let mut by_subject = false;
    let mut whole = true;
    let mut dashed = BTreeMap::new();
    for point in points(wanted, spec) {
        let all = wanted.results.series(point.point, 0)?;
        let run = wanted.results.of_point(point.point).next();
        let mut chosen: Vec<&SeriesOutcome> = all
            .iter()
            .filter(|series| series.quantity == quantity && is_of(series, spec.of.as_deref(), run))
            .collect();
        let several = chosen.len() > 1 || figure.series.is_none();
        let queues = chosen.len();
        if is_usual && chosen.iter().all(|series| series.of.contains("/queue-")) {
            chosen.truncate(MOST_LINES);
        }
        if chosen.len() < queues {
            figure.thinned = Some(format!(
                "Of {queues} queues, the first {MOST_LINES} are drawn."
            ));
        }
        let thresholds = |of: &str| {
            let own = |series: &&SeriesOutcome| series.of == of;
            let mut all = all.iter().filter(own);
            all.find(|series| Some(series.quantity.as_str()) == beside)
        };
        for series in chosen {
            let values = || series.values.iter().filter(|value| value.is_finite());
            whole &= values().all(|value| value.fract() == 0.0);
            let other = thresholds(&series.of);
            for (series, is_beside) in
                std::iter::once((series, false)).chain(other.map(|o| (o, true)))
            {
                let (values, thinned) = thin(series);
                let first = row_of(wanted, spec, point);
                let own = first.get(SERIES).and_then(Value::as_str);
                let mut label = match own {
                    Some(own) if several => format!("{own}, {}", series.of),
                    Some(own) => own.to_owned(),
                    None => series.of.clone(),
                };
                if is_beside && !values.is_empty() {
                    let name = format!("{label}, threshold");
                    dashed.insert(name.clone(), std::mem::replace(&mut label, name));
                }
                let labelled = several || is_beside;
                for (seconds, value) in values {
                    let mut row = first.clone();
                    if labelled {
                        by_subject = true;
                        row.insert(SERIES.to_owned(), label.as_str().into());
                    }
                    row.insert("x".to_owned(), json!(seconds));
                    row.insert("y".to_owned(), json!(unit.show(value)));
                    figure.rows.push(row);
                }
                if let Some(text) = thinned {
                    figure.thinned = Some(match figure.thinned.take() {
                        Some(before) if !before.contains(&text) => format!("{before} {text}"),
                        Some(before) => before,
                        None => text,
                    });
                }
            }
        }
    }
    if SHOWN_WITH_CAPACITY.contains(&quantity) && !figure.rows.is_empty() {
        by_subject |= add_capacity(wanted, spec, &mut figure, by_subject)?;
    }
    figure.steps = holds(quantity, unit, whole);
    if by_subject {
        figure.series = Some(Series {
            field: SERIES.to_owned(),
            title: figure.series.map(|series| series.title).unwrap_or_default(),
            order: Vec::new(),
            dashed,
        });
    }
    Ok(Some(figure))
}

/// Adds what the bottleneck could have carried, where it was recorded; once where it is the same for all points of a panel. Says
/// whether there is any.
fn add_capacity(
    wanted: &Wanted<'_>,
    spec: &FigureSpec,
    figure: &mut Figure,
    by_subject: bool,
) -> Result<bool> {
    let mut drawn: Vec<(Option<Value>, Vec<f64>)> = Vec::new();
    for point in points(wanted, spec) {
        let all = wanted.results.series(point.point, 0)?;
        let run = wanted.results.of_point(point.point).next();
        let own = |series: &&SeriesOutcome| series.quantity == CAPACITY && is_of(series, None, run);
        for series in all.iter().filter(own) {
            let first = row_of(wanted, spec, point);
            let panel = first.get(FACET).cloned();
            let in_panel: Vec<_> = drawn.iter().filter(|drawn| drawn.0 == panel).collect();
            if in_panel.iter().any(|drawn| drawn.1 == series.values) {
                continue;
            }
            let label = match first.get(SERIES).and_then(Value::as_str) {
                Some(own) if !in_panel.is_empty() => format!("{own}, {}, capacity", series.of),
                _ => format!("{}, capacity", series.of),
            };
            drawn.push((panel, series.values.clone()));
            for (seconds, value) in thin(series).0 {
                let mut row = first.clone();
                row.insert(SERIES.to_owned(), label.as_str().into());
                row.insert("x".to_owned(), json!(seconds));
                row.insert("y".to_owned(), json!(Unit::BitsPerSecond.show(value)));
                figure.rows.push(row);
            }
        }
    }
    // A line that had no need of a name has one now.
    if !drawn.is_empty() && !by_subject {
        for row in &mut figure.rows {
            row.entry(SERIES.to_owned())
                .or_insert_with(|| "throughput".into());
        }
    }
    Ok(!drawn.is_empty())
}

/// Whether a quantity holds its value between changes: numbers of states and counters, which are whole and have no unit, gains and
/// thresholds.
fn holds(quantity: &str, unit: Unit, whole: bool) -> bool {
    (unit == Unit::Index && whole) || quantity.ends_with("_gain") || quantity == THRESHOLD
}

/// Whether a time series is of what a figure asks for: the bottleneck, or all flows in the direction under study.
fn is_of(series: &SeriesOutcome, of: Option<&str>, run: Option<&RunOutcome>) -> bool {
    // The name of a link, or with that of a queue inside its scheduler or of a flow behind it.
    let at_link = |link: &str| {
        let rest = series.of.strip_prefix(link);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let queue = run.and_then(|run| run.queues.iter().find(|queue| at_link(&queue.link)));
    let flow = run.and_then(|run| run.flows.iter().find(|flow| flow.name == series.of));
    match of {
        None | Some("bottleneck" | "forward") => {
            queue.is_some_and(|queue| queue.bottleneck) || flow.is_some_and(|flow| flow.forward)
        }
        Some("reverse") => flow.is_some_and(|flow| !flow.forward),
        Some("all") => flow.is_some(),
        Some(name) => {
            series.of == name
                || queue.is_some_and(|queue| queue.link == name)
                || flow.is_some_and(|flow| flow.label == name)
        }
    }
}

/// Title and unit of a recorded quantity.
fn quantity_title(quantity: &str) -> (String, Unit) {
    let unit = match quantity.rsplit('_').next() {
        Some("s") => Unit::Seconds,
        Some("bps") => Unit::BitsPerSecond,
        Some("packets") => Unit::Packets,
        Some("pps") => Unit::PacketsPerSecond,
        Some("bytes") => Unit::Bytes,
        _ => Unit::Index,
    };
    let name = match (quantity.rsplit_once('_'), unit) {
        (None, _) | (_, Unit::Index) => quantity,
        (Some((name, _)), _) => name,
    };
    let name = match name {
        "cwnd" => "congestion window".to_owned(),
        "srtt" => "RTT, smoothed".to_owned(),
        "rtt" => "RTT".to_owned(),
        "rto" => "RTO".to_owned(),
        "ssthresh" => "slow start threshold".to_owned(),
        "pacing" => "pacing rate".to_owned(),
        "phase" => "phase of loss recovery".to_owned(),
        name => name.replace('_', " "),
    };
    let mut letters = name.chars();
    let title = letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    });
    (title, unit)
}

/// The samples of a series with their times; a long one bucket by bucket, with the least and the greatest of each in the
/// order in which they came, and how it was thinned.
fn thin(series: &SeriesOutcome) -> (Vec<(f64, f64)>, Option<String>) {
    let time = |index: usize| {
        let steps = u64::try_from(index).unwrap_or(u64::MAX);
        (series.first + series.step * steps).as_secs_f64()
    };
    let samples: Vec<(f64, f64)> = series
        .values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        .map(|(index, value)| (time(index), *value))
        .collect();
    if samples.len() <= 2 * BUCKETS {
        return (samples, None);
    }
    let size = samples.len().div_ceil(BUCKETS);
    let mut thinned = Vec::with_capacity(2 * BUCKETS);
    for bucket in samples.chunks(size) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (least, most) = (
            bucket.iter().min_by(by_value),
            bucket.iter().max_by(by_value),
        );
        let (Some(least), Some(most)) = (least, most) else {
            continue;
        };
        let (first, second) = if least.0 <= most.0 {
            (least, most)
        } else {
            (most, least)
        };
        thinned.push(*first);
        if first.0 < second.0 {
            thinned.push(*second);
        }
    }
    let text = format!(
        "Of {} samples, the least and the greatest of every {size} are drawn.",
        samples.len()
    );
    (thinned, Some(text))
}

/// A point per replication, one metric over another, and the ellipses of the points if they are asked for.
fn scatter(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let parse = |text: &Option<String>| wanted.parse(text.as_deref()?, spec.of.as_deref());
    let (x, y) = (parse(&spec.x)?, parse(&spec.y)?);
    let x_scale = match spec.x_scale.as_str() {
        "log" => Scale::Log,
        _ => Scale::Linear,
    };
    let mut figure = frame(
        wanted,
        spec,
        Kind::Scatter,
        axis("x", &x.title(), x.unit().shown(), x_scale),
        axis("y", &y.title(), y.unit().shown(), y_scale(spec)),
    );
    let mut cut = 0;
    for point in points(wanted, spec) {
        let pairs = wanted
            .values(point, &x)
            .into_iter()
            .zip(wanted.values(point, &y));
        let pairs: Vec<(f64, f64)> = pairs.filter_map(|(a, b)| Some((a?, b?))).collect();
        let row = |&(a, b): &(f64, f64)| {
            let mut row = row_of(wanted, spec, point);
            row.insert("x".to_owned(), number(Some(a), x.unit()));
            row.insert("y".to_owned(), number(Some(b), y.unit()));
            row
        };
        figure.rows.extend(pairs.iter().map(row));
        if kind(spec) == FigureKind::Ellipse {
            let run = wanted.results.of_point(point.point).next();
            let bounds = [x.bounds(run), y.bounds(run)];
            let whole = ellipse(&pairs);
            let outline = whole.as_ref().map(|points| within(points, bounds));
            cut += usize::from(outline != whole);
            figure
                .outlines
                .extend(outline.map(|points| points.iter().map(row).collect()));
        }
    }
    remark_cut(&mut figure, cut, "ellipse");
    Some(figure)
}

/// Points of an outline, none of them beyond the least and the greatest values that its quantities can have.
fn within(points: &[(f64, f64)], bounds: [(f64, f64); 2]) -> Vec<(f64, f64)> {
    let bounded = |value: f64, (least, greatest): (f64, f64)| value.max(least).min(greatest);
    let each = points.iter();
    each.map(|(x, y)| (bounded(*x, bounds[0]), bounded(*y, bounds[1])))
        .collect()
}

/// Points of an ellipse; they lie 7.5 degrees apart on the circle that it is made from.
const ELLIPSE_POINTS: usize = 48;
const TURN: (f64, f64) = (0.991_444_861_373_810_4, 0.130_526_192_220_051_6);

/// The ellipse of one standard deviation around the mean of pairs: where a two-dimensional normal distribution with their means,
/// variances and covariance has 1/sqrt(e) of its greatest density, as in RFC 7928 section 2.7 and the figures of Winstein and
/// Balakrishnan (TCP ex Machina, 2013). None of fewer than three pairs.
fn ellipse(pairs: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    if pairs.len() < 3 {
        return None;
    }
    let (xs, ys): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (x, y) = (stats::mean(&xs)?, stats::mean(&ys)?);
    // The Cholesky factor of the covariance matrix turns the unit circle into the ellipse.
    let right = stats::variance(&xs)?.sqrt();
    let slant = match right > 0.0 {
        true => stats::covariance(&xs, &ys)? / right,
        false => 0.0,
    };
    let up = (stats::variance(&ys)? - slant * slant).max(0.0).sqrt();
    let mut at = (1.0, 0.0);
    let points = (0..ELLIPSE_POINTS).map(|_| {
        let point = (x + right * at.0, y + slant * at.0 + up * at.1);
        at = (at.0 * TURN.0 - at.1 * TURN.1, at.0 * TURN.1 + at.1 * TURN.0);
        point
    });
    Some(points.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Span, Time};

    fn series(values: Vec<f64>) -> SeriesOutcome {
        SeriesOutcome {
            of: "left-right".to_owned(),
            quantity: "backlog_packets".to_owned(),
            first: Time::from_ps(0),
            step: Span::from_ms(100),
            values,
        }
    }

    #[test]
    fn thinning_keeps_every_extreme_and_says_so() {
        let mut values = vec![1.0; 5000];
        values[1234] = 99.0;
        values[4321] = -7.0;
        let (thinned, text) = thin(&series(values));
        assert!(thinned.len() <= 2 * BUCKETS);
        assert!(thinned.contains(&(123.4, 99.0)) && thinned.contains(&(432.1, -7.0)));
        assert!(thinned.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(
            text.as_deref(),
            Some("Of 5000 samples, the least and the greatest of every 9 are drawn.")
        );
    }

    #[test]
    fn the_ellipse_of_pairs_has_their_mean_and_their_standard_deviations() {
        // Means 2 and 30, variances 1 and 100, covariance 5.
        let pairs = [(1.0, 30.0), (2.0, 20.0), (3.0, 40.0)];
        let points = ellipse(&pairs).unwrap();
        let most = |of: &dyn Fn(&(f64, f64)) -> f64| {
            points.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
        };
        assert!((most(&|p| p.0) - 3.0).abs() < 1e-9);
        // The points next to the highest of 40 are less than 3.75 degrees of the circle away from it.
        assert!((39.97..=40.0).contains(&most(&|p| p.1)));
        for (x, y) in &points {
            // The distance of Mahalanobis is 1 everywhere.
            let (u, v) = (x - 2.0, (y - 30.0) / 10.0);
            let distance = (u * u - u * v + v * v) / 0.75;
            assert!((distance - 1.0).abs() < 1e-9, "{x} {y}: {distance}");
        }
        assert_eq!(ellipse(&pairs[..2]), None);
    }

    #[test]
    fn an_ellipse_of_equal_values_is_a_line_or_a_point() {
        let flat = ellipse(&[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)]).unwrap();
        assert!(flat.iter().all(|p| (p.1 - 5.0).abs() < 1e-12));
        let upright = ellipse(&[(1.0, 4.0), (1.0, 5.0), (1.0, 6.0)]).unwrap();
        assert!(upright.iter().all(|p| (p.0 - 1.0).abs() < 1e-12));
        assert!(
            ellipse(&[(1.0, 1.0); 3])
                .unwrap()
                .iter()
                .all(|p| *p == (1.0, 1.0))
        );
    }

    #[test]
    fn a_short_series_is_whole_and_gaps_stay_gaps() {
        let (whole, text) = thin(&series(vec![1.0, f64::NAN, 3.0]));
        assert_eq!(whole, [(0.0, 1.0), (0.2, 3.0)]);
        assert_eq!(text, None);
    }

    #[test]
    fn states_counters_and_gains_are_steps_and_measures_are_not() {
        for (quantity, whole, steps) in [
            ("phase", true, true),
            ("mode", true, true),
            ("count", true, true),
            ("pacing_gain", false, true),
            ("ssthresh_bytes", true, true),
            ("drop_probability", false, false),
            ("backlog_packets", true, false),
            ("cwnd_bytes", true, false),
        ] {
            let (_, unit) = quantity_title(quantity);
            assert_eq!(holds(quantity, unit, whole), steps, "{quantity}");
        }
    }

    #[test]
    fn quantities_have_titles_and_units() {
        assert_eq!(
            quantity_title("backlog_packets"),
            ("Backlog".to_owned(), Unit::Packets)
        );
        assert_eq!(
            quantity_title("in_flight_bytes"),
            ("In flight".to_owned(), Unit::Bytes)
        );
        assert_eq!(quantity_title("count"), ("Count".to_owned(), Unit::Index));
    }
}
