//! One metric: its name, what it is, and how its value follows from a subject.

use sojourn_sim::histogram::{Histogram, middle};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_traffic::workload::TransferKind;
use sojourn_units::Span;

use super::range::Range;
use super::terms::{Level, Subject, Unit};
use crate::outcome::{FlowOutcome, QueueOutcome, RunOutcome, TransferOutcome};
use crate::stats::quantile::{Quantile, RESOLUTION, pooled as pooled_quantile};
use crate::stats::{mean, merged, to_f64, wide_to_f64};

/// One metric.
pub struct Metric {
    /// Its name, noun, unit, statistic: `sojourn_s_p99`.
    pub name: String,
    /// Heading in tables.
    pub title: String,
    /// Unit of its value.
    pub unit: Unit,
    /// The values that it can have.
    pub range: Range,
    /// What it is of.
    pub level: Level,
    /// What it is.
    pub doc: String,
    /// How it is computed.
    pub formula: String,
    /// It exists over the packets of all replications together, too, as `..._pooled`.
    pub pooled: bool,
    /// The flows that have it, where not all do.
    pub flows: Option<&'static str>,
    pub(super) read: Read,
}

#[derive(Clone, Copy)]
pub(super) enum Read {
    Queues(fn(&[&QueueOutcome], f64) -> Option<f64>),
    SojournQuantile(f64),
    Drops(DropReason),
    Marks(MarkReason),
    Flows(fn(&[&FlowOutcome], f64) -> Option<f64>),
    FlowsWhileActive(fn(&[&FlowOutcome], f64) -> Option<f64>),
    DelayQuantile(f64),
    VariationQuantile(f64),
    Transfers(Measure, Statistic),
    Run(fn(&RunOutcome) -> f64),
}

/// What is measured of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// The time that a flow or response took.
    Completion,
    /// That time over the least possible.
    Slowdown,
    /// The time that a page took.
    PageLoad,
}

/// What is said of many values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// The value at this share of them in order of size (nearest rank).
    Quantile(f64),
}

impl Measure {
    /// The value of a transfer, if it has one.
    pub fn of(self, transfer: &TransferOutcome) -> Option<f64> {
        let is_page = transfer.kind == TransferKind::Page;
        match self {
            Measure::Completion if !is_page => transfer.took().map(Span::as_secs_f64),
            Measure::Slowdown if !is_page => transfer.slowdown(),
            Measure::PageLoad if is_page => transfer.took().map(Span::as_secs_f64),
            _ => None,
        }
    }
}

impl Statistic {
    /// What it says of values in any order.
    pub fn of(self, mut values: Vec<f64>) -> Option<f64> {
        match self {
            Statistic::Mean => mean(&values),
            Statistic::Quantile(share) => {
                values.sort_by(f64::total_cmp);
                let count = u64::try_from(values.len()).ok()?;
                let rank = (1..=count).find(|rank| to_f64(*rank) >= share * to_f64(count))?;
                values.get(usize::try_from(rank - 1).ok()?).copied()
            }
        }
    }
}

/// Transfers that tables show by their own size: not pages.
pub fn of_one_size(transfer: &TransferOutcome) -> bool {
    transfer.kind != TransferKind::Page
}

/// Metrics of flows that only receivers of multicast groups have.
const OF_RECEIVERS: [&str; 9] = [
    "passed_delay_s_mean",
    "requests_packets",
    "repairs_packets",
    "duplicate_requests_packets",
    "duplicate_repairs_packets",
    "recovered_packets",
    "missing_packets",
    "recovery_s_mean",
    "recovery_rtts_mean",
];

impl Metric {
    /// The same, of the flows alone that are named.
    pub(super) fn only_of(self, flows: &'static str) -> Metric {
        Metric {
            flows: Some(flows),
            ..self
        }
    }

    /// Whether only receivers of multicast groups have it.
    pub fn is_of_receivers(&self) -> bool {
        self.level == Level::Flow && OF_RECEIVERS.contains(&self.name.as_str())
    }

    /// Its value; `None` where there is none, such as a delay when nothing arrived, and where the subject is of another
    /// level.
    pub fn value(&self, subject: &Subject<'_>) -> Option<f64> {
        let value = match (subject, &self.read) {
            // A run without the flows that are asked for.
            (Subject::Flows(flows, ..), _) if flows.is_empty() => None,
            // Of no queue there is nothing to say, not even that it was empty.
            (Subject::Queues(queues, _), _) if queues.is_empty() => None,
            (Subject::Queues(queues, span), Read::Queues(read)) => read(queues, span.as_secs_f64()),
            (Subject::Queues(queues, _), Read::SojournQuantile(q)) => {
                let range = range(queues, |queue| (queue.sojourn_min, queue.sojourn_max));
                quantile(queues.iter().map(|queue| &queue.sojourn), range, *q)
            }
            (Subject::Queues(queues, _), Read::Drops(reason)) => {
                Some(sum(queues, |queue| queue.drops_by_reason[reason.index()]))
            }
            (Subject::Queues(queues, _), Read::Marks(reason)) => {
                Some(sum(queues, |queue| queue.marks_by_reason[reason.index()]))
            }
            (Subject::Flows(flows, span, _), Read::Flows(read)) => read(flows, span.as_secs_f64()),
            (Subject::Flows(flows, _, active), Read::FlowsWhileActive(read)) => {
                read(flows, active.as_secs_f64())
            }
            (Subject::Flows(flows, ..), Read::DelayQuantile(q)) => {
                let range = range(flows, |flow| (flow.delay_min, flow.delay_max));
                quantile(flows.iter().map(|flow| &flow.delay), range, *q)
            }
            (Subject::Flows(flows, ..), Read::VariationQuantile(q)) => variation(flows, *q),
            (Subject::Flows(flows, ..), Read::Transfers(measure, statistic)) => {
                let all = flows.iter().flat_map(|flow| &flow.transfers);
                statistic.of(all.filter_map(|transfer| measure.of(transfer)).collect())
            }
            (Subject::Run(run), Read::Run(read)) => Some(read(run)),
            _ => None,
        };
        // No zero has a sign; the sum of no floats has.
        value.filter(|value| value.is_finite()).map(|v| v + 0.0)
    }

    /// How far its value may be off because a histogram knows values only to within a step, as a share of the value.
    pub fn resolution(&self) -> f64 {
        match self.read {
            Read::SojournQuantile(_) | Read::DelayQuantile(_) | Read::VariationQuantile(_) => {
                RESOLUTION
            }
            _ => 0.0,
        }
    }

    /// Whether it is a percentile of all packets or transfers of its subject together.
    pub fn is_percentile(&self) -> bool {
        matches!(
            self.read,
            Read::SojournQuantile(_)
                | Read::DelayQuantile(_)
                | Read::Transfers(_, Statistic::Quantile(_))
        )
    }

    /// Of a percentile of transfers: its share, and of how many it is.
    pub(crate) fn transfers(&self, subject: &Subject<'_>) -> Option<(f64, usize)> {
        match (subject, &self.read) {
            (Subject::Flows(flows, ..), Read::Transfers(measure, Statistic::Quantile(share))) => {
                let all = flows.iter().flat_map(|flow| &flow.transfers);
                let count = all
                    .filter(|transfer| measure.of(transfer).is_some())
                    .count();
                Some((*share, count))
            }
            _ => None,
        }
    }

    /// The percentile over several subjects together, one per replication, with what it rests on; `None` where it is not of a
    /// histogram.
    pub(crate) fn quantile(&self, each: &[Subject<'_>]) -> Option<Quantile> {
        let (mut histograms, mut ends) = (Vec::new(), Vec::new());
        let q = match self.read {
            Read::SojournQuantile(q) | Read::DelayQuantile(q) => q,
            _ => return None,
        };
        for subject in each {
            match subject {
                Subject::Queues(queues, _) => {
                    histograms.push(merged(queues.iter().map(|queue| &queue.sojourn)));
                    ends.push(range(queues, |queue| {
                        (queue.sojourn_min, queue.sojourn_max)
                    }));
                }
                Subject::Flows(flows, ..) => {
                    histograms.push(merged(flows.iter().map(|flow| &flow.delay)));
                    ends.push(range(flows, |flow| (flow.delay_min, flow.delay_max)));
                }
                Subject::Run(_) => return None,
            }
        }
        let least = ends.iter().map(|(least, _)| least.as_ps()).min()?;
        let greatest = ends.iter().map(|(_, greatest)| greatest.as_ps()).max()?;
        let histograms: Vec<&Histogram> = histograms.iter().collect();
        pooled_quantile(&histograms, q, least, greatest)
    }

    /// Whether it is a mean of packets or transfers.
    pub fn is_mean(&self) -> bool {
        self.name.ends_with("_mean")
    }

    /// As [`Metric::value`], but a percentile of a histogram by the place of its rank within the step.
    pub(crate) fn value_smooth(&self, subject: &Subject<'_>) -> Option<f64> {
        match (subject, &self.read) {
            (Subject::Queues(queues, _), Read::SojournQuantile(q)) => {
                smooth(queues.iter().map(|queue| &queue.sojourn), *q)
            }
            (Subject::Flows(flows, ..), Read::DelayQuantile(q)) => {
                smooth(flows.iter().map(|flow| &flow.delay), *q)
            }
            _ => self.value(subject),
        }
    }

    /// The column of a table in which its values are shown: `sojourn_ms_mean`.
    pub fn shown_name(&self) -> String {
        match self.unit {
            Unit::Seconds => self.name.replacen("_s_", "_ms_", 1),
            Unit::BitsPerSecond => self.name.replacen("_bps", "_mbps", 1),
            Unit::Ratio => self.name.replacen("_ratio", "_percent", 1),
            _ => self.name.clone(),
        }
    }
}

/// A metric as a line of a table: what it is, and how its value follows from a subject.
pub(super) struct Entry {
    named: Named,
    level: Level,
    pooled: bool,
    read: Read,
}

/// What a metric is.
pub(super) struct Named {
    name: &'static str,
    title: &'static str,
    unit: Unit,
    range: Range,
    doc: &'static str,
    formula: &'static str,
}

/// Name, heading, unit, meaning, formula.
pub(super) const fn named(
    name: &'static str,
    title: &'static str,
    unit: Unit,
    doc: &'static str,
    formula: &'static str,
) -> Named {
    Named {
        name,
        title,
        unit,
        range: Range::of(unit),
        doc,
        formula,
    }
}

impl Named {
    /// A range that does not follow from the unit.
    pub(super) const fn within(self, range: Range) -> Named {
        Named { range, ..self }
    }

    pub(super) const fn entry(self, level: Level, read: Read) -> Entry {
        Entry {
            named: self,
            level,
            pooled: false,
            read,
        }
    }
}

/// A metric of queues.
pub(super) const fn queue(named: Named, read: fn(&[&QueueOutcome], f64) -> Option<f64>) -> Entry {
    named.entry(Level::Queue, Read::Queues(read))
}

/// A metric of flows.
pub(super) const fn flow(named: Named, read: fn(&[&FlowOutcome], f64) -> Option<f64>) -> Entry {
    named.entry(Level::Flow, Read::Flows(read))
}

/// A metric of flows compared with each other.
pub(super) const fn group(named: Named, read: fn(&[&FlowOutcome], f64) -> Option<f64>) -> Entry {
    named.entry(Level::Group, Read::Flows(read))
}

/// A metric of the run.
pub(super) const fn run(named: Named, read: fn(&RunOutcome) -> f64) -> Entry {
    named.entry(Level::Run, Read::Run(read))
}

/// The same over the packets of all replications together, too.
pub(super) const fn pooled(entry: Entry) -> Entry {
    Entry {
        pooled: true,
        ..entry
    }
}

impl Entry {
    pub(super) fn metric(&self) -> Metric {
        Metric {
            name: self.named.name.to_owned(),
            title: self.named.title.to_owned(),
            unit: self.named.unit,
            range: self.named.range,
            level: self.level,
            doc: self.named.doc.to_owned(),
            formula: self.named.formula.to_owned(),
            pooled: self.pooled,
            flows: None,
            read: self.read,
        }
    }
}

/// The metrics of a table.
pub(super) fn of_table(table: &'static [Entry]) -> impl Iterator<Item = Metric> {
    table.iter().map(Entry::metric)
}

/// A quantile of many histograms together, within the range of what they counted.
fn quantile<'a>(
    histograms: impl Iterator<Item = &'a Histogram>,
    (min, max): (Span, Span),
    q: f64,
) -> Option<f64> {
    let picoseconds = merged(histograms).quantile_within(q, min.as_ps(), max.as_ps())?;
    // A product by 1e-12 and a quotient by 1e12 may differ in the last bit.
    let seconds = to_f64(picoseconds) * 1e-12;
    Some(seconds.max(min.as_secs_f64()).min(max.as_secs_f64()))
}

/// As [`quantile`], within the step.
fn smooth<'a>(histograms: impl Iterator<Item = &'a Histogram>, q: f64) -> Option<f64> {
    let all = merged(histograms);
    let rank = q * to_f64(all.count());
    let mut below = 0.0;
    for (number, count) in all.steps() {
        let count = to_f64(count);
        if below + count >= rank {
            // An octave has 32 steps; step 0 is the value zero.
            let width = 1.0 / (32.5 + f64::from(number.saturating_sub(1) % 32));
            let place = (rank - below) / count - 0.5;
            return Some(to_f64(middle(number)) * 1e-12 * (1.0 + place * width));
        }
        below += count;
    }
    None
}

/// From the least to the greatest of all.
fn range<T>(items: &[&T], each: fn(&T) -> (Option<Span>, Span)) -> (Span, Span) {
    let least = items.iter().filter_map(|item| each(item).0).min();
    let greatest = items.iter().map(|item| each(item).1).max();
    (least.unwrap_or(Span::ZERO), greatest.unwrap_or(Span::ZERO))
}

fn variation(flows: &[&FlowOutcome], q: f64) -> Option<f64> {
    let each: Vec<f64> = flows
        .iter()
        .filter_map(|flow| {
            let least = flow.delay_min?;
            let delay = quantile([&flow.delay].into_iter(), (least, flow.delay_max), q)?;
            Some(delay - least.as_secs_f64())
        })
        .collect();
    mean(&each)
}

pub(super) fn sum<T>(items: &[&T], count: impl Fn(&T) -> u64) -> f64 {
    wide_to_f64(items.iter().map(|item| u128::from(count(item))).sum())
}

/// A percentile in headings.
pub(super) fn percentile_title(suffix: &str) -> &str {
    match suffix {
        "p05" => "p5",
        "p50" => "median",
        "p999" => "p99.9",
        other => other,
    }
}

/// A percentile in sentences: how many percent.
pub(super) fn share_text(suffix: &str) -> &str {
    match suffix {
        "p05" => "5",
        "p50" => "50",
        "p999" => "99.9",
        other => other.trim_start_matches('p'),
    }
}
