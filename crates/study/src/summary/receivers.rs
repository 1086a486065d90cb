//! The table of receivers: what each member of a multicast group got of each flow to it.

use sojourn_report::{Cell, Table};
use sojourn_results::asked::Asked;
use sojourn_results::manifest::PointInfo;
use sojourn_results::specs::id;

use super::columns::{factor_column, meaning, number_column, text_column};
use super::wanted::{Record, Wanted};

/// What is said of a receiver, and the heading where it is another than the metric's.
const COLUMNS: [(&str, Option<&str>); 18] = [
    ("delivered_packets", None),
    ("dropped_packets", Some("Lost")),
    ("loss_ratio", None),
    ("throughput_bps_mean", None),
    ("delay_s_mean", None),
    ("delay_s_p50", None),
    ("delay_s_p95", None),
    ("delay_s_max", None),
    ("passed_delay_s_mean", None),
    ("recovered_packets", None),
    ("missing_packets", None),
    ("recovery_s_mean", None),
    ("requests_packets", None),
    ("repairs_packets", None),
    ("reported_loss_ratio", None),
    ("jitter_s_mean", None),
    ("reported_jitter_s_mean", None),
    ("reported_rtt_s_mean", None),
];

/// Those of them that only a receiver of SRM has.
const OF_SRM: [&str; 5] = [
    "recovered_packets",
    "missing_packets",
    "recovery_s_mean",
    "requests_packets",
    "repairs_packets",
];

/// Those of them that only a receiver of RTP has.
const OF_RTP: [&str; 4] = [
    "reported_loss_ratio",
    "jitter_s_mean",
    "reported_jitter_s_mean",
    "reported_rtt_s_mean",
];

/// The labels of receivers at a point, in order.
fn labels<'a>(wanted: &Wanted<'a>, point: &PointInfo) -> Vec<&'a str> {
    let mut labels: Vec<&str> = Vec::new();
    let run = wanted.results.of_point(point.point).next();
    for receiver in run.iter().flat_map(|run| &run.receivers) {
        if !labels.contains(&receiver.label.as_str()) {
            labels.push(&receiver.label);
        }
    }
    labels
}

/// The metrics of a receiver, with the heading of each. Those of a waypoint, of SRM and of RTP only where there is one.
fn asked(wanted: &Wanted<'_>, label: &str) -> Vec<(Asked, Option<&'static str>)> {
    let points = wanted.points();
    let receivers = || {
        let runs = points
            .iter()
            .flat_map(|point| wanted.results.of_point(point.point));
        runs.flat_map(|run| &run.receivers)
    };
    let all = || receivers().filter_map(|flow| flow.reception.as_ref());
    let reports = receivers().any(|flow| flow.media.is_some());
    let passes = all().any(|own| own.passed_packets > 0);
    let repairs = all().any(|own| own.srm.sessions > 0);
    let columns = COLUMNS.iter().filter(|(name, _)| match *name {
        "passed_delay_s_mean" => passes,
        name if OF_SRM.contains(&name) => repairs,
        name if OF_RTP.contains(&name) => reports,
        _ => true,
    });
    columns
        .filter_map(|(name, title)| Some((wanted.parse(name, Some(label))?, *title)))
        .collect()
}

/// The table, if there are receivers.
pub(super) fn table(wanted: &Wanted<'_>) -> Option<Table> {
    let points = wanted.points();
    let first = points
        .iter()
        .find_map(|point| labels(wanted, point).first().copied())?;
    let mut columns: Vec<_> = wanted
        .experiment
        .factors
        .iter()
        .map(factor_column)
        .collect();
    columns.push(text_column("receiver", "Receiver"));
    columns.extend(asked(wanted, first).iter().map(|(asked, title)| {
        let metric = asked.metric;
        number_column(
            &metric.shown_name(),
            title.unwrap_or(&metric.title),
            metric.unit,
        )
    }));
    let mut rows = Vec::new();
    for point in &points {
        for label in labels(wanted, point) {
            let levels = wanted.levels(point).into_iter();
            let mut row: Vec<Cell> = levels.map(|(_, level)| Cell::Text(level)).collect();
            row.push(Cell::Text(label.to_owned()));
            row.extend(
                asked(wanted, label)
                    .iter()
                    .map(|(asked, _)| wanted.cell(wanted.estimate(point, asked), asked)),
            );
            rows.push(row);
        }
    }
    Some(Table {
        id: id(&[&wanted.experiment.name, "receivers"]),
        title: "Receivers of multicast groups".to_owned(),
        caption: "What each member of a group got of each flow to it. A packet is lost to a member if a copy of it was dropped on the \
            way there while the member belonged to the group. Rates are over the whole measured time."
            .to_owned(),
        columns,
        rows,
        footnotes: meaning(wanted, &points),
    })
}

/// Every number of that table.
pub(super) fn records(wanted: &Wanted<'_>) -> Vec<Record> {
    let mut all = Vec::new();
    for point in wanted.points() {
        for label in labels(wanted, point) {
            for (asked, _) in asked(wanted, label) {
                let Some(estimate) = wanted.estimate(point, &asked) else {
                    continue;
                };
                let levels = wanted.levels(point);
                all.push(Record::of(
                    wanted,
                    levels,
                    asked.text(),
                    asked.unit(),
                    &estimate,
                ));
            }
        }
    }
    all
}
