//! Which metrics the usual tables show: those of what ran, in both directions where both carry more than answers.

use std::collections::BTreeMap;

use serde_json::Value;
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::PointInfo;
use sojourn_results::outcome::{FlowOutcome, QueueOutcome, RunOutcome};
use sojourn_traffic::workload::TransferKind;
use sojourn_units::Time;

use crate::measured::Measured;

/// Labels that have rows of their own.
const MOST_LABELS: usize = 6;

/// What ran in an experiment, as far as the usual tables depend on it.
pub(crate) struct Rows<'a> {
    results: &'a ResultSet,
    points: Vec<&'a PointInfo>,
    labels: Vec<Label<'a>>,
    /// The link direction against the bottleneck, where flows against the direction under study load it.
    back: Option<&'a str>,
}

/// The flows of a label, over all runs.
#[derive(Default)]
struct Label<'a> {
    name: &'a str,
    forward: bool,
    reverse: bool,
    /// In the first run that has them: all, and those in the direction under study.
    flows: usize,
    forward_flows: usize,
    /// Those of them that send a given size.
    finite: usize,
    /// They are `udp_rr`.
    probes: bool,
    /// They have transfers, one after the other.
    transfers: bool,
    media: bool,
    /// How much each of them sends that is a transfer of given size.
    size: Option<String>,
    /// One of those transfers had not ended.
    unfinished: bool,
    /// One of them ended within a run.
    ended: bool,
    /// Something of them happened in the measured time.
    measured: bool,
    /// When the last of them ended.
    last: Time,
}

impl Label<'_> {
    /// Finite transfers that were all over when the measured time began.
    fn was_early(&self) -> bool {
        self.is_finite() && !self.unfinished && !self.measured
    }

    /// Whether all of them are transfers of given size.
    fn is_finite(&self) -> bool {
        self.size.is_some() && self.finite == self.flows
    }

    fn take(&mut self, flow: &FlowOutcome, size: Option<&str>) {
        match (size, &self.size) {
            (Some(size), None) => self.size = Some(size.to_owned()),
            (Some(size), Some(known)) if size != known => {
                self.size = Some("different sizes".to_owned());
            }
            _ => {}
        }
        self.forward |= flow.forward;
        self.reverse |= !flow.forward;
        self.probes |= flow.exchanges.is_some();
        self.transfers |= !flow.transfers.is_empty();
        self.media |= flow.media.is_some();
        self.measured |= flow.sent_packets > 0 || flow.delivered_packets > 0;
        match flow.completed {
            Some(at) => {
                self.ended = true;
                self.last = self.last.max(at);
            }
            None => self.unfinished |= size.is_some(),
        }
    }
}

impl<'a> Rows<'a> {
    pub(super) fn of(
        results: &'a ResultSet,
        points: Vec<&'a PointInfo>,
        measured: &Measured,
    ) -> Rows<'a> {
        let mut labels: Vec<Label<'a>> = Vec::new();
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        let mut back = None;
        for point in &points {
            let sizes = sizes(&point.scenario.value());
            for run in results.of_point(point.point) {
                let known = labels.len();
                for (number, flow) in run.flows.iter().enumerate() {
                    let size = sizes.get(number).and_then(Option::as_deref);
                    let at = *index.entry(&flow.label).or_insert(labels.len());
                    if at == labels.len() {
                        labels.push(Label {
                            name: &flow.label,
                            ..Label::default()
                        });
                    }
                    let label = &mut labels[at];
                    if at >= known {
                        label.flows += 1;
                        label.forward_flows += usize::from(flow.forward);
                        label.finite += usize::from(size.is_some());
                    }
                    label.take(flow, size);
                }
                back = back.or_else(|| against(run, measured));
            }
        }
        let loaded = labels.iter().any(|label| label.reverse && !label.probes);
        Rows {
            results,
            points,
            labels,
            back: back.filter(|_| loaded),
        }
    }

    /// Whether there are requests of `udp_rr` in the direction under study.
    pub(crate) fn has_probes(&self) -> bool {
        self.labels
            .iter()
            .any(|label| label.probes && label.forward)
    }

    /// Metrics of one comparison, down its side.
    pub(super) fn side_by_side(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.add_both(&mut all, "utilization_ratio", "utilization_ratio");
        all.extend(self.goodputs());
        for metric in [
            "sojourn_s_mean",
            "sojourn_s_p50",
            "sojourn_s_p95",
            "sojourn_s_p99",
        ] {
            self.add_both(&mut all, metric, metric);
        }
        all.push("backlog_packets_mean".to_owned());
        all.push("drop_rate_pps".to_owned());
        self.add_both(&mut all, "loss_ratio of bottleneck", "loss_ratio");
        all.extend(self.of_flows());
        if self.any_marks() {
            self.add_both(&mut all, "mark_ratio", "mark_ratio");
        }
        all.extend(self.fairness());
        all
    }

    /// Fairness among the flows of each label; of each direction where a label has flows in both, as their goodputs are.
    fn fairness(&self) -> Vec<String> {
        let shares = |label: &&Label<'_>| !label.probes && label.size.is_none();
        if self
            .labels
            .iter()
            .any(|label| label.forward && label.reverse)
        {
            let count = |of: fn(&Label<'_>) -> usize| {
                let own = || self.labels.iter().filter(|label| of(label) > 0);
                let all = own().all(|label| shares(&label));
                let flows: usize = own().map(of).sum();
                all && flows > 1
            };
            let there = count(|label| label.forward_flows).then_some("jain_index");
            let back = count(|label| label.flows - label.forward_flows);
            let back = back.then_some("jain_index of reverse");
            return there.into_iter().chain(back).map(str::to_owned).collect();
        }
        let shared = |label: &&Label<'_>| {
            label.flows > 1 && shares(label) && (label.forward || self.back.is_some())
        };
        let shared = self.labels.iter().filter(shared).take(MOST_LABELS);
        let shared = shared.map(|label| format!("jain_index of {}", label.name));
        shared.collect()
    }

    /// Metrics of each of many points.
    pub(super) fn brief(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.add_both(&mut all, "utilization_ratio", "utilization_ratio");
        all.extend(self.totals());
        all.push("sojourn_s_mean".to_owned());
        all.push("sojourn_s_p50".to_owned());
        self.add_both(&mut all, "sojourn_s_p95", "sojourn_s_p95");
        all.push("drop_rate_pps".to_owned());
        self.add_both(&mut all, "loss_ratio of bottleneck", "loss_ratio");
        all.extend(self.of_flows());
        all
    }

    /// A metric of the bottleneck, and that of the link direction against it.
    fn add_both(&self, all: &mut Vec<String>, there: &str, metric: &str) {
        all.push(there.to_owned());
        all.extend(self.back.map(|link| format!("{metric} of {link}")));
    }

    /// Goodputs: of each label where there are a few, or else of each direction. Probes have a latency instead.
    fn goodputs(&self) -> Vec<String> {
        let shown: Vec<&Label<'_>> = self.with_goodput().collect();
        let mixed = shown.iter().any(|label| label.forward && label.reverse);
        let one_of_several = shown.len() < self.labels.len();
        let each = shown.len() > 1 || (one_of_several && shown.len() == 1);
        match each && !mixed && shown.len() <= MOST_LABELS {
            true => {
                let each = shown.iter();
                each.map(|label| format!("goodput_bps_sum of {}", label.name))
                    .collect()
            }
            false => self.totals(),
        }
    }

    /// Goodputs of each direction.
    fn totals(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.with_goodput().any(|label| label.forward) {
            all.push("goodput_bps_sum".to_owned());
        }
        if self.with_goodput().any(|label| label.reverse) {
            all.push("goodput_bps_sum of reverse".to_owned());
        }
        all
    }

    fn with_goodput(&self) -> impl Iterator<Item = &Label<'a>> {
        let loads = |label: &&Label<'a>| !label.probes && !label.was_early();
        self.labels.iter().filter(loads)
    }

    /// Metrics of latency, of transfers and of media, where there are some.
    fn of_flows(&self) -> Vec<String> {
        let mut all = Vec::new();
        for label in self.few(|label| label.probes) {
            for metric in [
                "latency_s_p50",
                "latency_s_p95",
                "latency_s_p99",
                "exchange_loss_ratio",
            ] {
                all.push(format!("{metric} of {}", label.name));
            }
        }
        for label in self.few(|label| label.size.is_some()) {
            all.push(format!("completion_s of {}", label.name));
            if label.finite > 1 {
                // Without the slowest there is no last.
                if !label.unfinished {
                    all.push(format!("completion_s_max of {}", label.name));
                }
                all.push(format!("timeouts_count of {}", label.name));
            }
            if label.unfinished {
                all.push(format!("completed_count of {}", label.name));
            }
        }
        let transfers = self.transfer_metrics().iter().copied();
        all.extend(self.placed(transfers, |label| label.transfers && !label.probes));
        let media = self.media_metrics().into_iter();
        all.extend(self.placed(media, |label| label.media));
        all
    }

    /// What is shown of transfers where there are some and a study does not say; requests of `udp_rr` have a latency instead.
    pub(crate) fn transfer_metrics(&self) -> &'static [&'static str] {
        let flows = || {
            let points = self.points.iter();
            let runs = points.flat_map(|point| self.results.of_point(point.point));
            runs.flat_map(|run| &run.flows)
        };
        let workloads = || flows().filter(|flow| flow.exchanges.is_none());
        let kinds = || workloads().flat_map(|flow| &flow.transfers);
        if flows().any(|flow| flow.playback.is_some()) {
            &[
                "quality_bps_mean",
                "quality_switches_count",
                "stalls_count",
                "stalled_ratio",
                "startup_s",
            ]
        } else if kinds().any(|transfer| transfer.kind == TransferKind::Page) {
            &["page_load_s_p50", "page_load_s_p95", "unfinished_count"]
        } else if kinds().next().is_some() {
            &[
                "fct_s_mean",
                "fct_s_p50",
                "fct_s_p99",
                "slowdown_p99",
                "unfinished_count",
            ]
        } else {
            &[]
        }
    }

    /// What is shown of media where there is some and a study does not say.
    fn media_metrics(&self) -> Vec<&'static str> {
        let media = || {
            let points = self.points.iter();
            let runs = points.flat_map(|point| self.results.of_point(point.point));
            runs.flat_map(|run| &run.flows)
                .filter_map(|flow| flow.media.as_ref())
        };
        let mut all = Vec::new();
        if media().next().is_some() {
            all.extend([
                "reported_loss_ratio",
                "reported_jitter_s_mean",
                "reported_rtt_s_mean",
                "playout_delay_s_mean",
                "playout_loss_ratio",
            ]);
        }
        if media().any(|media| media.reported.nacks > 0) {
            all.extend(["rtx_ratio", "repaired_ratio"]);
        }
        if media().any(|media| media.voice.is_some()) {
            all.push("mos");
        }
        if media().any(|media| media.frames) {
            all.extend(["freezes_count", "frozen_ratio"]);
        }
        if media().any(|media| media.played.switches > 0) {
            all.push("level_switches_count");
        }
        all
    }

    fn any_marks(&self) -> bool {
        let points = self.points.iter();
        let runs = points.flat_map(|point| self.results.of_point(point.point));
        runs.flat_map(|run| &run.queues)
            .any(|queue| queue.totals.marked > 0)
    }

    /// Metrics of the flows of some labels: of the direction under study where these are all that may have them, else of each label.
    fn placed<'m>(
        &self,
        metrics: impl Iterator<Item = &'m str>,
        of: impl Fn(&Label<'_>) -> bool,
    ) -> Vec<String> {
        let own = || self.labels.iter().filter(|label| of(label));
        let others = self
            .labels
            .iter()
            .any(|label| label.forward && label.probes && !of(label));
        let plain = own().all(|label| label.forward) && !others;
        let mut all = Vec::new();
        for metric in metrics {
            match plain {
                true => all.push(metric.to_owned()),
                false => {
                    let each = own().take(MOST_LABELS);
                    all.extend(each.map(|label| format!("{metric} of {}", label.name)));
                }
            }
        }
        all
    }

    fn few(&self, of: impl Fn(&Label<'_>) -> bool) -> impl Iterator<Item = &Label<'a>> {
        let own = self.labels.iter().filter(move |label| of(label));
        own.take(MOST_LABELS)
    }

    /// What has to be known of the rows, below the table.
    pub(super) fn notes(&self, points: &[&PointInfo]) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        notes.extend(self.back.and_then(|link| queue_of(link, points)));
        for label in self.few(|label| label.size.is_some()) {
            notes.extend(self.transfers_note(label, points));
        }
        notes
    }

    /// What has to be known of transfers of given size: that they were over early, or not over, or that their goodput says little.
    fn transfers_note(&self, label: &Label<'_>, points: &[&PointInfo]) -> Option<String> {
        let run = points.first()?.scenario.value();
        let text = |key: &str| run["run"][key].as_str().unwrap_or_default().to_owned();
        let name = label.name;
        let last = seconds(label.last.as_secs_f64());
        if label.was_early() {
            return Some(format!(
                "{name} finished at {last}, before the warm-up ended at {}: its goodput is not in the measured time. Set warmup to 0s to measure it.",
                text("warmup")
            ));
        }
        if label.unfinished {
            let size = label.size.as_deref().unwrap_or_default();
            let (flows, duration) = (label.finite, text("duration"));
            return Some(match label.ended {
                true => format!(
                    "Not every transfer of {name} ({flows} of {size} per run) finished within {duration}; completion times are of those that did. Make duration longer."
                ),
                false => format!(
                    "No transfer of {name} ({flows} of {size} per run) finished within {duration}. Make duration longer."
                ),
            });
        }
        label.is_finite().then(|| format!(
            "The goodput of {name} is over the whole measured time, though its transfers ended, the last at {last}."
        ))
    }
}

/// What the short names of some metrics mean.
pub(super) fn definitions(metrics: &[String]) -> Vec<String> {
    let shown = |start: &str| metrics.iter().any(|metric| metric.starts_with(start));
    let all = [
        (
            "latency_s",
            "Latency: round trip from a request of udp_rr to its answer.",
        ),
        (
            "completion_s",
            "Completion time: from the start of a flow until its last byte was acknowledged, the receiver's delay of acknowledgements included.",
        ),
        ("timeouts_count", "Timeouts are those of the measured time."),
        (
            "fct_s",
            "FCT: flow completion time, from the request for a transfer until its last byte arrived.",
        ),
        (
            "slowdown",
            "Slowdown: completion time divided by the least possible on an idle path.",
        ),
    ];
    let own = all.into_iter().filter(|(start, _)| shown(start));
    own.map(|(_, text)| text.to_owned()).collect()
}

/// The link direction against the bottleneck of a run, if it has one bottleneck and both directions are observed.
fn against<'a>(run: &'a RunOutcome, measured: &Measured) -> Option<&'a str> {
    let mut bottlenecks = run.queues.iter().filter(|queue| measured.is(queue));
    let (one, None) = (bottlenecks.next()?, bottlenecks.next()) else {
        return None;
    };
    let turned = |other: &&QueueOutcome| {
        let ends = one.link.match_indices('-');
        ends.into_iter()
            .any(|(at, _)| format!("{}-{}", &one.link[at + 1..], &one.link[..at]) == other.link)
    };
    let found = run.queues.iter().find(turned);
    found.map(|queue| queue.link.as_str())
}

/// How much each flow of a scenario sends, in the order of its flows; `None` where one has no end of its own.
fn sizes(scenario: &Value) -> Vec<Option<String>> {
    let entries = scenario["flows"].as_array().into_iter().flatten();
    let each = entries.flat_map(|entry| {
        let count = &entry["count"];
        let given = count.as_u64().or_else(|| count.as_str()?.parse().ok());
        let count = usize::try_from(given.unwrap_or(1)).unwrap_or(1);
        std::iter::repeat_n(size_of(entry), count)
    });
    each.collect()
}

/// How much each flow of an entry sends.
fn size_of(entry: &Value) -> Option<String> {
    let source = entry["source"].as_str()?;
    let inside = source.trim_matches(['(', ')']).strip_prefix("bulk ")?;
    let size = inside
        .split_whitespace()
        .find_map(|word| word.strip_prefix("bytes="))?;
    (size != "none").then(|| size.to_owned())
}

/// Which queue the link direction against the bottleneck has at some points of a builder's topology.
fn queue_of(link: &str, points: &[&PointInfo]) -> Option<String> {
    let mut others: Vec<String> = Vec::new();
    for point in points {
        let scenario = point.scenario.value();
        let topology = &scenario["topology"];
        let (there, back) = (
            topology["queue"].as_str()?,
            topology["reverse_queue"].as_str()?,
        );
        // One limit in time comes to different bytes at different rates, and is one queue nevertheless.
        let there = super::asked::as_asked(there, "topology.queue", &point.limits);
        let back = super::asked::as_asked(back, "topology.reverse_queue", &point.limits);
        let name = back.split_whitespace().next().unwrap_or_default();
        let title = sojourn_queue::registry::find(name).map_or(name, |entry| entry.title);
        if there != back && !others.iter().any(|other| other == title) {
            others.push(title.to_owned());
        }
    }
    Some(match others.as_slice() {
        [] => format!("{link} has the same queue as the bottleneck; reverse_queue sets another."),
        others => format!(
            "{link} has {} as its queue (reverse_queue).",
            others.join(" or ")
        ),
    })
}

/// A time with three significant digits.
fn seconds(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded} s")
}
