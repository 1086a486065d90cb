//! Flow completion times by size: the table, its numbers one by one, and figures.

use std::collections::BTreeMap;

use serde_json::Value;
use sojourn_report::{Cell, Table};
use sojourn_results::manifest::PointInfo;
use sojourn_results::metrics::{Level, Measure, Statistic, Subject, Unit, find, of_one_size};
use sojourn_results::outcome::{RunOutcome, TransferOutcome};
use sojourn_results::size_statistics::SIZE_STATISTICS;
use sojourn_results::specs::id;
use sojourn_results::stats::jackknife::{self, LeftOut};
use sojourn_results::stats::{Estimate, Few, to_f64};
use sojourn_units::Span;

use super::columns::{factor_column, meaning, number_column, text_column};
use super::wanted::{Band, Record, Wanted, shown};

/// Upper ends of the bins of sizes, bytes, with their names: decades, as studies of data centres use them.
const BINS: [(u64, &str); 6] = [
    (1_000, "to 1 kB"),
    (10_000, "1 to 10 kB"),
    (100_000, "10 to 100 kB"),
    (1_000_000, "100 kB to 1 MB"),
    (10_000_000, "1 to 10 MB"),
    (u64::MAX, "above 10 MB"),
];

/// Transfers of a label in a bin, replication by replication.
struct Bin<'a> {
    label: &'a str,
    name: &'static str,
    /// They are requests of `udp_rr`, which have a latency.
    probes: bool,
    runs: Vec<Vec<&'a TransferOutcome>>,
}

impl Bin<'_> {
    fn count(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    fn estimate(
        &self,
        measure: Measure,
        statistic: Statistic,
        wanted: &Wanted<'_>,
        point: &PointInfo,
    ) -> Option<Estimate> {
        let of_run = |run: &Vec<&TransferOutcome>| {
            let values = run.iter().filter_map(|transfer| measure.of(transfer));
            statistic.of(values.collect())
        };
        if let Statistic::Quantile(share) = statistic {
            return self.percentile((measure, share), wanted, point);
        }
        let values: Vec<f64> = self.runs.iter().filter_map(of_run).collect();
        wanted.of_values(point, &values)
    }

    /// The percentile of the transfers of all replications together.
    fn percentile(
        &self,
        (measure, share): (Measure, f64),
        wanted: &Wanted<'_>,
        point: &PointInfo,
    ) -> Option<Estimate> {
        let of_run = |run: &Vec<&TransferOutcome>| -> Vec<f64> {
            run.iter()
                .filter_map(|transfer| measure.of(transfer))
                .collect()
        };
        let runs: Vec<Vec<f64>> = self.runs.iter().map(of_run).collect();
        let runs: Vec<&Vec<f64>> = runs.iter().filter(|run| !run.is_empty()).collect();
        let of = |runs: &mut dyn Iterator<Item = &&Vec<f64>>| {
            Statistic::Quantile(share).of(runs.flat_map(|run| run.iter().copied()).collect())
        };
        let all = of(&mut runs.iter())?;
        let n = u64::try_from(runs.len()).unwrap_or(u64::MAX);
        let whole = Estimate::exact(all, n);
        if wanted.is_exact(point) {
            return Some(whole);
        }
        let without = jackknife::groups(runs.len())
            .filter(|_| n > 1)
            .map(|group| {
                let mut rest = runs.iter().enumerate();
                let rest = rest.by_ref().filter(|(index, _)| !group.contains(index));
                of(&mut rest.map(|(_, run)| run))
            });
        let without: Option<Vec<f64>> = without.collect();
        let interval =
            without.and_then(|without| jackknife::interval(&LeftOut { all, without }, all));
        let count: usize = runs.iter().map(|run| run.len()).sum();
        Some(Estimate {
            interval,
            deterministic: false,
            equal: n > 1 && interval.is_none(),
            few: Few::beyond(share, count).filter(|_| interval.is_some()),
            ..whole
        })
    }

    /// How many arrived, and how many did not.
    fn counts(&self, wanted: &Wanted<'_>, point: &PointInfo) -> [Option<Estimate>; 2] {
        [true, false].map(|arrived| {
            let of_run = |run: &Vec<&TransferOutcome>| {
                let counted = run.iter().filter(|t| t.completed.is_some() == arrived);
                to_f64(u64::try_from(counted.count()).unwrap_or(u64::MAX))
            };
            let values: Vec<f64> = self.runs.iter().map(of_run).collect();
            wanted.of_values(point, &values)
        })
    }
}

/// The transfers of a point by label and size; bins in which there are none are left out, and pages are not listed by size.
fn bins<'a>(wanted: &Wanted<'a>, point: &PointInfo) -> Vec<Bin<'a>> {
    let runs: Vec<&RunOutcome> = wanted.results.of_point(point.point).collect();
    let mut labels: Vec<&str> = Vec::new();
    for flow in runs.iter().flat_map(|run| &run.flows) {
        if !flow.transfers.is_empty() && !labels.contains(&flow.label.as_str()) {
            labels.push(&flow.label);
        }
    }
    let mut all = Vec::new();
    for label in labels {
        let mut flows = runs.iter().flat_map(|run| &run.flows);
        let probes = flows.any(|flow| flow.label == label && flow.exchanges.is_some());
        let mut low = 0;
        for (high, name) in BINS {
            let fits = |transfer: &&TransferOutcome| {
                of_one_size(transfer) && transfer.bytes > low && transfer.bytes <= high
            };
            let of_run = |run: &&'a RunOutcome| -> Vec<&'a TransferOutcome> {
                let flows = run.flows.iter().filter(|flow| flow.label == label);
                flows
                    .flat_map(|flow| &flow.transfers)
                    .filter(fits)
                    .collect()
            };
            let bin = Bin {
                label,
                name,
                probes,
                runs: runs.iter().map(of_run).collect(),
            };
            if bin.count() > 0 {
                all.push(bin);
            }
            low = high;
        }
    }
    all
}

/// The table of flow completion times by size, if there are any.
pub(crate) fn table(wanted: &Wanted<'_>) -> Option<Table> {
    let factors = &wanted.experiment.factors;
    let mut columns: Vec<_> = factors.iter().map(factor_column).collect();
    columns.push(text_column("flows", "Flows"));
    columns.push(text_column("size", "Size"));
    columns.push(number_column("count", "Transfers", Unit::Count));
    columns.push(number_column("unfinished", "Unfinished", Unit::Count));
    for (name, title, unit, ..) in SIZE_STATISTICS {
        columns.push(number_column(&shown_name(name), title, unit));
    }
    let mut rows = Vec::new();
    for point in wanted.points() {
        for bin in bins(wanted, point).iter().filter(|bin| !bin.probes) {
            let levels = wanted.levels(point).into_iter();
            let mut row: Vec<Cell> = levels.map(|(_, label)| Cell::Text(label)).collect();
            row.push(Cell::Text(bin.label.to_owned()));
            row.push(Cell::Text(bin.name.to_owned()));
            let counts = bin.counts(wanted, point);
            row.extend(counts.map(|count| shown(count, Unit::Count)));
            for (_, _, unit, measure, statistic) in SIZE_STATISTICS {
                row.push(shown(bin.estimate(measure, statistic, wanted, point), unit));
            }
            rows.push(row);
        }
    }
    (!rows.is_empty()).then(|| Table {
        id: id(&[&wanted.experiment.name, "completion-times"]),
        title: "Flow completion times by size".to_owned(),
        caption: "The time from the request for a transfer until its last byte has arrived. The slowdown is this time divided by the \
            shortest possible time: propagation, and the transmission of all bytes with headers at the slowest link of the path. \
            Unfinished transfers are counted separately and excluded from the times."
            .to_owned(),
        columns,
        rows,
        footnotes: meaning(wanted, &wanted.points()),
    })
}

/// The name of a statistic in the unit that the table shows: `fct_ms_mean` of milliseconds.
fn shown_name(name: &str) -> String {
    let metric = find(name, Some(Level::Flow)).map(|(metric, _)| metric.shown_name());
    metric.unwrap_or_else(|| name.to_owned())
}

/// Every number of that table, and the same of requests of `udp_rr`.
pub(crate) fn records(wanted: &Wanted<'_>) -> Vec<Record> {
    let mut all = Vec::new();
    for point in wanted.points() {
        for bin in bins(wanted, point) {
            let mut add = |name: &str, unit: Unit, estimate: Option<Estimate>| {
                let Some(estimate) = estimate else { return };
                let metric = format!("{name} of {}, {}", bin.label, bin.name);
                let levels = wanted.levels(point);
                all.push(Record::of(wanted, levels, metric, unit, &estimate));
            };
            let [arrived, unfinished] = bin.counts(wanted, point);
            add("transfers_count", Unit::Count, arrived);
            add("unfinished_count", Unit::Count, unfinished);
            for (name, _, unit, measure, statistic) in SIZE_STATISTICS {
                add(name, unit, bin.estimate(measure, statistic, wanted, point));
            }
        }
    }
    all
}

/// The names of the bins, in order.
pub(crate) fn bin_names() -> Vec<String> {
    BINS.iter().map(|(_, name)| (*name).to_owned()).collect()
}

/// Rows of a figure of a statistic over sizes at a point, each with its label and whether its interval was cut; `of` is a label.
pub(crate) fn over_sizes(
    wanted: &Wanted<'_>,
    point: &PointInfo,
    name: &str,
    of: Option<&str>,
) -> Vec<(String, BTreeMap<String, Value>, bool)> {
    let Some((_, _, unit, measure, statistic)) =
        SIZE_STATISTICS.iter().find(|column| column.0 == name)
    else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for bin in bins(wanted, point) {
        if of.is_some_and(|of| of != "forward" && of != bin.label) {
            continue;
        }
        let Some(estimate) = bin.estimate(*measure, *statistic, wanted, point) else {
            continue;
        };
        let mut row = BTreeMap::new();
        row.insert("x".to_owned(), bin.name.into());
        row.insert("y".to_owned(), unit.show(estimate.mean).into());
        let band = Band::of(&estimate, range(name));
        if let Some(band) = band {
            row.insert("low".to_owned(), unit.show(band.low).into());
            row.insert("high".to_owned(), unit.show(band.high).into());
            if let Some(ends) = band.cut() {
                row.insert("cut".to_owned(), ends.into());
            }
        }
        rows.push((
            bin.label.to_owned(),
            row,
            band.is_some_and(|band| band.is_cut()),
        ));
    }
    rows
}

/// The least and the greatest value of a statistic over sizes: of the metric of its name.
fn range(name: &str) -> (f64, f64) {
    let metric = find(name, Some(Level::Flow)).map(|(metric, _)| metric.range);
    metric.map_or((0.0, f64::INFINITY), |range| {
        range.bounds(&Subject::Flows(Vec::new(), Span::ZERO, Span::ZERO))
    })
}

/// Title and unit of a statistic over sizes.
pub(crate) fn title_of(name: &str) -> (&'static str, Unit) {
    let found = SIZE_STATISTICS.iter().find(|column| column.0 == name);
    found.map_or(("", Unit::Index), |column| (column.1, column.2))
}
