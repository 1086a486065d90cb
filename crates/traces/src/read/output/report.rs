//! The report of an analysis: its tables, and figures of throughput, delay, queueing, sizes and sequence numbers.

use crate::read::analysis::Analysis;
use crate::read::heading;
use crate::read::table::{TraceTable, Value};
use serde_json::{Value as Json, json};
use sojourn_report::{
    Axis, Block, Figure, Heading, Kind, Note, Scale, Series, SettingGroup, Severity, Summary,
};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a table that the report shows; all are in the files.
const ROWS: usize = 200;
/// Tables that are drawn and not printed.
const DRAWN: [&str; 2] = ["series", "distributions"];
/// Subjects in a figure: those with most of what it shows.
const MOST_SERIES: usize = 8;
/// Points of a series in a figure.
const MOST_POINTS: usize = 2000;

/// A figure over time: name, title, subject, column of `series`, factor to the unit shown, unit.
struct OverTime {
    id: &'static str,
    title: &'static str,
    subject: &'static str,
    column: &'static str,
    factor: f64,
    unit: &'static str,
    axis: &'static str,
}

const OVER_TIME: [OverTime; 10] = [
    over_time(
        "throughput-received",
        "Throughput of receiving",
        "flow",
        "received_bps",
        1e-6,
        "Mbps",
        "throughput",
    ),
    over_time(
        "throughput-sent",
        "Throughput of sending",
        "flow",
        "sent_bps",
        1e-6,
        "Mbps",
        "throughput",
    ),
    over_time(
        "throughput-dropped",
        "Throughput of dropping",
        "link",
        "dropped_bps",
        1e-6,
        "Mbps",
        "throughput",
    ),
    over_time(
        "throughput-forwarded",
        "Throughput of forwarding",
        "node",
        "forwarded_bps",
        1e-6,
        "Mbps",
        "throughput",
    ),
    over_time(
        "received-total",
        "Bytes received so far",
        "flow",
        "received_total_bytes",
        1e-6,
        "MB",
        "bytes",
    ),
    over_time(
        "delay-over-time",
        "One-way delay",
        "flow",
        "delay_s_mean",
        1e3,
        "ms",
        "mean delay in the step",
    ),
    over_time(
        "queueing-over-time",
        "Queueing time",
        "link",
        "queueing_s_mean",
        1e3,
        "ms",
        "mean queueing time in the step",
    ),
    over_time(
        "sequence",
        "Sequence numbers",
        "flow",
        "sequence_sent_max",
        1.0,
        "",
        "highest sent in the step",
    ),
    over_time(
        "rate",
        "Rate",
        "conversation",
        "sent_bps",
        1e-6,
        "Mbps",
        "rate",
    ),
    over_time(
        "errors",
        "Retransmissions, duplicate acknowledgements and segments out of order",
        "conversation",
        "errors_pps",
        1.0,
        "pps",
        "errors",
    ),
];

const fn over_time(
    id: &'static str,
    title: &'static str,
    subject: &'static str,
    column: &'static str,
    factor: f64,
    unit: &'static str,
    axis: &'static str,
) -> OverTime {
    OverTime {
        id,
        title,
        subject,
        column,
        factor,
        unit,
        axis,
    }
}

/// Distributions that are drawn: subject, quantity, title.
const DISTRIBUTED: [(&str, &str, &str); 7] = [
    ("flow", "delay", "Distribution of one-way delay"),
    ("link", "queueing", "Distribution of queueing time"),
    ("flow", "rtt", "Distribution of round trips"),
    ("flow", "gap", "Distribution of times between arrivals"),
    ("conversation", "rtt", "Distribution of round trips"),
    (
        "conversation",
        "gap",
        "Distribution of times between packets",
    ),
    ("path", "delay", "Distribution of one-way delay"),
];

/// The report; `title` names the trace, `command` repeats the analysis.
pub fn summary(analysis: &Analysis, command: &str, title: &str) -> Summary {
    let mut blocks = Vec::new();
    for table in &analysis.tables {
        if table.name != "trace" && !DRAWN.contains(&table.name) && !table.rows.is_empty() {
            blocks.push(Block::Table(table.without_empty_columns().shown(ROWS)));
        }
    }
    let mut figures = Vec::new();
    if let Some(series) = analysis.table("series") {
        figures.extend(
            OVER_TIME
                .iter()
                .filter_map(|what| over_time_figure(series, what)),
        );
    }
    if let Some(distributions) = analysis.table("distributions") {
        let drawn = DISTRIBUTED.iter();
        figures.extend(drawn.filter_map(|what| distribution_figure(distributions, what)));
        figures.extend(sizes_figure(distributions));
    }
    if !figures.is_empty() {
        let text = "Figures".to_owned();
        blocks.push(Block::Heading(Heading { text, level: 2 }));
        blocks.extend(
            figures
                .into_iter()
                .map(|figure| Block::Figure(Box::new(figure))),
        );
    }
    Summary {
        schema_version: sojourn_report::SCHEMA_VERSION,
        title: title.to_owned(),
        question: None,
        answer: None,
        differences: Vec::new(),
        subtitle: Some(format!("Analysis of {}", analysis.format.title())),
        command: command.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        paragraphs: Vec::new(),
        topologies: Vec::new(),
        settings: settings(analysis),
        algorithms: Vec::new(),
        notes: notes(analysis),
        blocks,
    }
}

/// The first row of the first table, as keys and values.
fn settings(analysis: &Analysis) -> Vec<SettingGroup> {
    let group = |table: &TraceTable| SettingGroup {
        group: table.title.to_owned(),
        rows: pairs(table),
    };
    analysis.table("trace").map(group).into_iter().collect()
}

/// The columns of a table of one row, with their values and units.
pub fn pairs(table: &TraceTable) -> Vec<[String; 2]> {
    let Some(row) = table.rows.first() else {
        return Vec::new();
    };
    let all = table.columns.iter().zip(row).filter_map(|(info, value)| {
        let (shown, factor) = heading::unit(info);
        let (text, unit) = match value {
            Value::Text(text) if text.is_empty() => return None,
            Value::Text(text) => (text.clone(), info.unit),
            Value::Integer(count) => ((*count)?.to_string(), info.unit),
            // Times as they stand in the trace; rates to a bit per second.
            Value::Number(number) if factor == 1.0 => ((*number)?.to_string(), info.unit),
            Value::Number(number) => {
                let text = format!("{:.6}", (*number)? * factor);
                let text = text.trim_end_matches('0').trim_end_matches('.');
                (text.to_owned(), shown.unwrap_or_default())
            }
        };
        let unit = match unit {
            "" | "1" => String::new(),
            // The heading is the unit.
            unit if unit == info.name => String::new(),
            unit => format!(" {unit}"),
        };
        Some([heading::title(info), format!("{text}{unit}")])
    });
    all.collect()
}

fn notes(analysis: &Analysis) -> Vec<Note> {
    let note = |skipped: &crate::read::input::Skipped| {
        let text = format!(
            "{} places of the trace could not be read and were skipped, the first of them: `{}`",
            skipped.count,
            skipped
                .first
                .first()
                .map_or("", String::as_str)
                .replace('`', "'")
        );
        Note::new("skipped", Severity::Warning, text)
    };
    let remark = |text: &String| Note::new("capture", Severity::Note, text.clone());
    let remarks = analysis.remarks.iter().map(remark);
    analysis.skipped.iter().map(note).chain(remarks).collect()
}

fn axis(field: &str, title: &str, unit: &str, scale: Scale) -> Axis {
    Axis {
        field: field.to_owned(),
        title: title.to_owned(),
        unit: (!unit.is_empty()).then(|| unit.to_owned()),
        scale,
        order: Vec::new(),
    }
}

fn figure(id: &str, title: &str, kind: Kind, x: Axis, y: Axis, subject: &str) -> Figure {
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: String::new(),
        kind,
        x,
        y,
        series: Some(Series {
            field: "name".to_owned(),
            title: subject.to_owned(),
            order: Vec::new(),
            dashed: BTreeMap::new(),
        }),
        facet: None,
        slider: None,
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

/// Points by name, of the names with the largest sum of `weight`.
type Points = BTreeMap<String, Vec<(f64, f64)>>;

fn fill(figure: &mut Figure, points: &Points, weight: impl Fn(&[(f64, f64)]) -> f64) -> bool {
    let mut names: Vec<(f64, String)> = points
        .iter()
        .map(|(name, points)| (weight(points), name.clone()))
        .filter(|(weight, _)| *weight > 0.0)
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let (all, kept) = (names.len(), names.len().min(MOST_SERIES));
    names.truncate(kept);
    if kept < all {
        figure.caption = format!("The {kept} largest of {all}.");
    }
    let kept: BTreeSet<&String> = names.iter().map(|(_, name)| name).collect();
    for (name, points) in points.iter().filter(|(name, _)| kept.contains(name)) {
        let every = points.len().div_ceil(MOST_POINTS).max(1);
        if every > 1 {
            figure.thinned = Some(format!("Every {every}th point is shown."));
        }
        for (x, y) in points.iter().step_by(every) {
            let row: BTreeMap<String, Json> = [
                ("x".to_owned(), json!(x)),
                ("y".to_owned(), json!(y)),
                ("name".to_owned(), json!(name)),
            ]
            .into();
            figure.rows.push(row);
        }
    }
    !figure.rows.is_empty()
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => *number,
        Value::Integer(count) => count.map(sojourn_results::stats::to_f64),
        Value::Text(_) => None,
    }
}

/// Reads the named columns of each row.
fn rows<'a, const N: usize>(
    table: &'a TraceTable,
    names: [&str; N],
) -> Option<impl Iterator<Item = [&'a Value; N]>> {
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        *place = table.columns.iter().position(|info| info.name == name)?;
    }
    Some(
        table
            .rows
            .iter()
            .map(move |row| places.map(|place| &row[place])),
    )
}

fn over_time_figure(series: &TraceTable, what: &OverTime) -> Option<Figure> {
    let x = axis("x", "time", "s", Scale::Time);
    let y = axis("y", what.axis, what.unit, Scale::Linear);
    let mut figure = figure(what.id, what.title, Kind::Time, x, y, what.subject);
    let mut points = Points::new();
    for [time, subject, name, value] in rows(series, ["time_s", "subject", "name", what.column])? {
        if let (Value::Text(subject), Value::Text(name)) = (subject, name)
            && subject == what.subject
            && let (Some(time), Some(value)) = (number(time), number(value))
        {
            points
                .entry(name.clone())
                .or_default()
                .push((time, value * what.factor));
        }
    }
    let total = |points: &[(f64, f64)]| points.iter().map(|(_, y)| y).sum();
    fill(&mut figure, &points, total).then_some(figure)
}

fn distribution_figure(table: &TraceTable, what: &(&str, &str, &str)) -> Option<Figure> {
    let (wanted, quantity, title) = what;
    let x = axis("x", quantity, "ms", Scale::Linear);
    let y = axis("y", "share of packets", "", Scale::Linear);
    let id = format!("{wanted}-{quantity}");
    let mut figure = figure(&id, title, Kind::Cdf, x, y, wanted);
    let mut points = Points::new();
    for row in rows(
        table,
        ["subject", "quantity", "name", "value", "cumulative"],
    )? {
        if let [
            Value::Text(subject),
            Value::Text(of),
            Value::Text(name),
            value,
            share,
        ] = row
            && subject == wanted
            && of == quantity
            && let (Some(value), Some(share)) = (number(value), number(share))
        {
            points
                .entry(name.clone())
                .or_default()
                .push((value * 1e3, share));
        }
    }
    let last = |points: &[(f64, f64)]| points.last().map_or(0.0, |(x, _)| *x);
    fill(&mut figure, &points, last).then_some(figure)
}

fn sizes_figure(table: &TraceTable) -> Option<Figure> {
    let x = axis("x", "size", "bytes", Scale::Linear);
    let y = axis("y", "packets", "", Scale::Linear);
    let mut figure = figure("sizes", "Sizes", Kind::Scatter, x, y, "flow");
    let mut points = Points::new();
    for row in rows(table, ["quantity", "name", "value", "count"])? {
        if let [Value::Text(of), Value::Text(name), value, count] = row
            && of == "size"
            && let (Some(value), Some(count)) = (number(value), number(count))
        {
            points.entry(name.clone()).or_default().push((value, count));
        }
    }
    let total = |points: &[(f64, f64)]| points.iter().map(|(_, y)| y).sum();
    fill(&mut figure, &points, total).then_some(figure)
}
