//! What a table or figure asks for: a metric, and of what.

use std::collections::BTreeSet;

use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::words::{BOTTLENECK, OVER, QUEUES, RUN, WORDS};
use sojourn_units::nearest;

use crate::metrics::{
    Level, Metric, Need, POOLED, Subject, Unit, find, is_series, metrics, nearest_of, of_level,
};
use crate::outcome::RunOutcome;
use crate::stats::Few;
use crate::stats::quantile::Quantile;

/// A metric and what it is of: `goodput_bps_sum of reno`; or how often it is that of another: `goodput_bps_sum of reno over cubic`.
#[derive(Clone)]
pub struct Asked {
    /// The metric.
    pub metric: &'static Metric,
    /// Over the packets of all replications together.
    pub pooled: bool,
    /// What it is of.
    pub of: Of,
    /// What it is divided by: the same metric of this, in the same run.
    pub over: Option<Of>,
}

/// What a metric is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Of {
    /// The queues of all bottlenecks in the direction under study.
    Bottleneck,
    /// The queues of these link directions, which stand for the bottleneck in an experiment ([`Names::measured`]).
    Measured(Vec<String>),
    /// All observed queues together.
    Queues,
    /// The queue of a link direction.
    Link(String),
    /// Flows in the direction under study.
    Forward,
    /// Flows against it.
    Reverse,
    /// All flows.
    All,
    /// The flows of a label, or the flow of a name.
    Flows(String),
    /// The run.
    Run,
}

/// What metrics can be of in a scenario.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Names {
    /// Observed link directions.
    pub links: Vec<String>,
    /// Labels of flows.
    pub labels: Vec<String>,
    /// Names of flows.
    pub flows: Vec<String>,
    /// Labels and names of flows at each of their receivers, where these are a multicast group: `cbr at n5`.
    pub receivers: Vec<String>,
    /// The link directions that `bottleneck` means; `None` for those that each outcome calls so.
    pub measured: Option<Vec<String>>,
    /// What the flows of each label have, where it is known before a run; empty where it is not.
    pub has: Vec<Has>,
}

/// What the flows of a label have in one direction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Has {
    /// The label.
    pub label: String,
    /// In the direction under study.
    pub forward: bool,
    /// What some metrics need.
    pub needs: Vec<Need>,
    /// The source whose packets they send as they are, without RTP: `voice`.
    pub bare: Option<&'static str>,
}

impl Has {
    /// What to write so that these flows have a receiver that plays what they send.
    fn over_rtp(&self, lacking: Need) -> Option<String> {
        let source = self.bare?;
        let suits = match lacking {
            Need::Voice => source == "voice",
            Need::Video => source == "video",
            Need::Media => true,
            _ => false,
        };
        suits.then(|| {
            format!(
                "write kind = \"rtp\" and source = \"{source}\" in place of kind = \"{source}\""
            )
        })
    }

    /// The metric that these flows have in place of one that needs what they lack.
    fn near(&self, lacking: Need) -> Option<&'static str> {
        let has = |need| self.needs.contains(&need);
        match lacking {
            Need::Transfers | Need::Pages if has(Need::End) => Some("completion_s"),
            Need::End if has(Need::Pages) => Some("page_load_s_p50"),
            Need::End if has(Need::Exchanges) => Some("latency_s_p50"),
            Need::End if has(Need::Transfers) => Some("fct_s_mean"),
            _ => None,
        }
    }
}

impl Names {
    /// No names.
    pub const NONE: Names = Names {
        links: Vec::new(),
        labels: Vec::new(),
        flows: Vec::new(),
        receivers: Vec::new(),
        measured: None,
        has: Vec::new(),
    };

    /// The names of an outcome.
    pub fn of_outcome(run: &RunOutcome) -> Names {
        let mut names = Names {
            links: run.queues.iter().map(|queue| queue.link.clone()).collect(),
            ..Names::default()
        };
        for flow in &run.flows {
            names.add(&flow.label, &flow.name);
        }
        for receiver in &run.receivers {
            names.receivers.push(receiver.label.clone());
            names.receivers.push(receiver.name.clone());
        }
        names
    }

    /// Adds a flow.
    pub fn add(&mut self, label: &str, name: &str) {
        if self.labels.last().is_none_or(|last| last != label)
            && self.labels.iter().all(|known| known != label)
        {
            self.labels.push(label.to_owned());
        }
        self.flows.push(name.to_owned());
    }
}

/// The names of several runs of one experiment, each once.
#[derive(Default)]
pub struct JoinedNames {
    names: Names,
    /// The names that are in each of the lists.
    known: [BTreeSet<String>; 4],
    has: BTreeSet<Has>,
}

impl JoinedNames {
    /// Takes up the names of another run.
    pub fn join(&mut self, other: Names) {
        let all = &mut self.names;
        let lists = [
            (&mut all.links, other.links),
            (&mut all.labels, other.labels),
            (&mut all.flows, other.flows),
            (&mut all.receivers, other.receivers),
        ];
        for ((all, new), known) in lists.into_iter().zip(&mut self.known) {
            all.extend(new.into_iter().filter(|name| known.insert(name.clone())));
        }
        self.has.extend(other.has);
    }

    /// All of them.
    pub fn into_names(self) -> Names {
        Names {
            has: self.has.into_iter().collect(),
            ..self.names
        }
    }
}

impl Of {
    /// The word that [`Asked::parse`] reads.
    pub fn word(&self) -> &str {
        match self {
            Of::Bottleneck | Of::Measured(_) => BOTTLENECK,
            Of::Queues => QUEUES,
            Of::Link(name) | Of::Flows(name) => name,
            Of::Forward => "forward",
            Of::Reverse => "reverse",
            Of::All => "all",
            Of::Run => RUN,
        }
    }
}

impl Asked {
    /// What a text asks for: `sojourn_s_p95`, or `goodput_bps_sum of reno`; without "of", it is of `default`, or else of
    /// the bottleneck, the forward flows or the run. `goodput_bps_sum of reno over cubic` is that of reno divided by that of cubic.
    ///
    /// # Errors
    /// When there is no such metric, it cannot be of that, or no flow there can ever have it.
    pub fn parse(text: &str, default: Option<&str>, names: &Names) -> Result<Asked> {
        let (text, over) = match text.split_once(OVER) {
            Some((text, over)) => (text, Some(over.trim())),
            None => (text, None),
        };
        let (name, own) = match text.split_once(" of ") {
            Some((name, of)) => (name.trim(), Some(of.trim())),
            None => (text.trim(), None),
        };
        let of = own.or(default);
        let level = of.map(|of| names.level(of)).transpose()?;
        let (metric, pooled) = find(name, level).ok_or_else(|| unknown_metric(name, level))?;
        let of = match (of, own.is_some()) {
            (None, _) => names.default_of(metric),
            // A default for flows says nothing to a metric of queues, and the other way round.
            (Some(of), false) if !names.suits(metric, of) => names.default_of(metric),
            (Some(of), _) => names.resolve(metric, of)?,
        };
        let over = over.map(|over| names.resolve(metric, over)).transpose()?;
        for of in std::iter::once(&of).chain(&over) {
            names.refuse_impossible(metric, of)?;
        }
        Ok(Asked {
            metric,
            pooled,
            of,
            over,
        })
    }

    /// Its value in one run.
    pub fn value(&self, run: &RunOutcome) -> Option<f64> {
        self.value_pooled(std::slice::from_ref(&run))
    }

    /// Its value over the packets of several runs together.
    pub fn value_pooled(&self, runs: &[&RunOutcome]) -> Option<f64> {
        let value = self.metric.value(&subject(&self.of, runs))?;
        let Some(over) = &self.over else {
            return Some(value);
        };
        let base = self.metric.value(&subject(over, runs))?;
        (base != 0.0).then(|| value / base)
    }

    /// The events in one run that its value is a number, a rate or a share of; `None` where it is of none.
    pub fn events(&self, run: &RunOutcome) -> Option<f64> {
        let events = self.metric.events().filter(|_| self.over.is_none())?;
        events.value(&subject(&self.of, std::slice::from_ref(&run)))
    }

    /// Whether it is a percentile of packets or transfers, which the replications have together.
    pub fn is_percentile(&self) -> bool {
        self.metric.is_percentile() && self.over.is_none()
    }

    /// The percentile of several runs together, with what it rests on; `None` where it is not of a histogram.
    pub fn quantile(&self, runs: &[&RunOutcome]) -> Option<Quantile> {
        let each: Vec<_> = runs
            .iter()
            .map(|run| subject(&self.of, std::slice::from_ref(run)))
            .collect();
        let quantile = self.metric.quantile(&each)?;
        self.over.is_none().then_some(quantile)
    }

    /// The remark on a percentile of transfers of several runs together, if there are too few of them.
    pub fn few_transfers(&self, runs: &[&RunOutcome]) -> Option<Few> {
        let (share, count) = self.metric.transfers(&subject(&self.of, runs))?;
        Few::beyond(share, count)
    }

    /// As [`Asked::value_pooled`], but of a percentile with its place within the step of the histogram, so that it moves with every
    /// packet. Errors follow from this; the value that is shown is the other.
    pub fn value_smooth(&self, runs: &[&RunOutcome]) -> Option<f64> {
        self.metric.value_smooth(&subject(&self.of, runs))
    }

    /// Unit of its value: the metric's, or none where it is divided by another.
    pub fn unit(&self) -> Unit {
        match self.over {
            Some(_) => Unit::Index,
            None => self.metric.unit,
        }
    }

    /// The least and the greatest value that it can have in a run.
    pub fn bounds(&self, run: Option<&RunOutcome>) -> (f64, f64) {
        let runs: Vec<&RunOutcome> = run.into_iter().collect();
        let (low, high) = self.metric.range.bounds(&self.subject(&runs));
        match self.over {
            // A quotient of two that are not negative.
            Some(_) if low >= 0.0 => (0.0, f64::INFINITY),
            Some(_) => (f64::NEG_INFINITY, f64::INFINITY),
            None => (low, high),
        }
    }

    /// Its name, in the form that [`Asked::parse`] reads.
    pub fn name(&self) -> String {
        let pooled = if self.pooled { POOLED } else { "" };
        format!("{}{pooled}", self.metric.name)
    }

    /// Heading of its row: with the unit, which a column has apart.
    pub fn title_with_unit(&self) -> String {
        match self.unit().shown() {
            "" => self.title(),
            unit => format!("{} ({unit})", self.title()),
        }
    }

    /// Heading of its column.
    pub fn title(&self) -> String {
        let title = &self.metric.title;
        let pooled = if self.pooled { ", pooled" } else { "" };
        if let Some(over) = &self.over {
            return format!("{title}{pooled}, {}{OVER}{}", self.of.word(), over.word());
        }
        match &self.of {
            Of::Link(name) | Of::Flows(name) => format!("{title}{pooled}, {name}"),
            Of::Queues => format!("{title}{pooled}, all queues"),
            Of::Reverse => format!("{title}{pooled}, reverse"),
            Of::All => format!("{title}{pooled}, all flows"),
            Of::Bottleneck | Of::Measured(_) | Of::Forward | Of::Run => format!("{title}{pooled}"),
        }
    }

    /// Key of its column, in units as they are shown.
    pub fn key(&self) -> String {
        let pooled = if self.pooled { POOLED } else { "" };
        if let Some(over) = &self.over {
            return format!("{} {}{OVER}{}", self.name(), self.of.word(), over.word());
        }
        let of = match &self.of {
            Of::Link(name) | Of::Flows(name) => format!(" {name}"),
            Of::Queues => " queues".to_owned(),
            Of::Reverse => " reverse".to_owned(),
            Of::All => " all".to_owned(),
            Of::Bottleneck | Of::Measured(_) | Of::Forward | Of::Run => String::new(),
        };
        format!("{}{pooled}{of}", self.metric.shown_name())
    }

    /// The text that asks for it, whatever the table's default.
    pub fn text(&self) -> String {
        let name = self.name();
        if let Some(over) = &self.over {
            return format!("{name} of {} over {}", self.of.word(), over.word());
        }
        match (&self.of, self.metric.level) {
            (Of::Bottleneck | Of::Measured(_), Level::Queue) => {
                match is_ambiguous(&self.metric.name) {
                    true => format!("{name} of bottleneck"),
                    false => name,
                }
            }
            (Of::Forward, _) => match is_ambiguous(&self.metric.name) {
                true => format!("{name} of forward"),
                false => name,
            },
            (Of::Link(of) | Of::Flows(of), _) => format!("{name} of {of}"),
            (Of::Queues, _) => format!("{name} of queues"),
            (Of::Reverse, _) => format!("{name} of reverse"),
            (Of::All, _) => format!("{name} of all"),
            _ => name,
        }
    }

    /// What it is taken of in these runs.
    pub fn subject<'a>(&self, runs: &[&'a RunOutcome]) -> Subject<'a> {
        subject(&self.of, runs)
    }
}

/// What a metric of that is taken of in these runs.
fn subject<'a>(of: &Of, runs: &[&'a RunOutcome]) -> Subject<'a> {
    let measured = runs
        .first()
        .map_or_else(Default::default, |run| run.measured);
    let active = runs.first().map_or(measured, |run| run.active());
    let queues = |keep: &dyn Fn(&crate::outcome::QueueOutcome) -> bool| {
        let all = runs.iter().flat_map(|run| &run.queues);
        Subject::Queues(all.filter(|queue| keep(queue)).collect(), measured)
    };
    let flows = |keep: &dyn Fn(&crate::outcome::FlowOutcome) -> bool| {
        let all = runs.iter().flat_map(|run| &run.flows);
        Subject::Flows(all.filter(|flow| keep(flow)).collect(), measured, active)
    };
    match (of, runs) {
        (Of::Bottleneck, _) => queues(&|queue| queue.bottleneck),
        (Of::Measured(links), _) => queues(&|queue| links.contains(&queue.link)),
        (Of::Queues, _) => queues(&|_| true),
        (Of::Link(name), _) => queues(&|queue| queue.link == *name),
        (Of::Forward, _) => flows(&|flow| flow.forward),
        (Of::Reverse, _) => flows(&|flow| !flow.forward),
        (Of::All, _) => flows(&|_| true),
        (Of::Flows(name), _) => {
            let all = runs
                .iter()
                .flat_map(|run| run.flows.iter().chain(&run.receivers));
            let own = all.filter(|flow| flow.label == *name || flow.name == *name);
            Subject::Flows(own.collect(), measured, active)
        }
        (Of::Run, [run, ..]) => Subject::Run(run),
        (Of::Run, []) => Subject::Flows(Vec::new(), measured, active),
    }
}

/// Names that an error lists.
const LISTED: usize = 12;

impl Names {
    /// Fails unless metrics can be of what is called so.
    ///
    /// # Errors
    /// When nothing is called so, or two things are.
    pub fn check(&self, of: &str) -> Result<()> {
        self.level(of).map(drop)
    }

    /// The level of metrics that can be of what is called so.
    fn level(&self, of: &str) -> Result<Level> {
        let is = |names: &[String]| names.iter().any(|name| name == of);
        let label = is(&self.labels);
        let other = match (is(&self.links), label && is(&self.flows)) {
            (true, _) => Some("a link direction"),
            (_, true) => Some("the name of a flow"),
            _ => None,
        };
        if let Some(other) = other.filter(|_| label) {
            let problem = format!("{of:?} is ambiguous: it is the label of flows and {other}");
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .remedy("give the flows a different label"));
        }
        if of == BOTTLENECK || of == QUEUES || is(&self.links) {
            Ok(Level::Queue)
        } else if WORDS.contains(&of) || label || is(&self.flows) || is(&self.receivers) {
            Ok(Level::Flow)
        } else if of == RUN {
            Ok(Level::Run)
        } else {
            let mut all = vec![BOTTLENECK, QUEUES];
            all.extend(WORDS);
            all.extend(self.links.iter().map(String::as_str));
            all.extend(self.labels.iter().map(String::as_str));
            let flows = self.flows.iter().chain(&self.receivers).map(String::as_str);
            let near = nearest(of, all.iter().copied().chain(flows)).map(str::to_owned);
            let list = match all.len().saturating_sub(LISTED) {
                0 => all.join(", "),
                more => format!("{} and {more} more", all[..LISTED].join(", ")),
            };
            Err(LabError::new(
                LabErrorKind::UnknownName,
                format!("there is no queue, flow or label {of:?}"),
            )
            .nearest(near)
            .allowed("there are", list))
        }
    }

    /// Whether a metric that says nothing of its own can be of this.
    pub fn can_be_of(&self, text: &str, of: &str) -> bool {
        let is_own = text.contains(" of ");
        let found = self
            .level(of)
            .ok()
            .and_then(|level| find(text, Some(level)));
        is_own || found.is_some_and(|(metric, _)| self.suits(metric, of))
    }

    fn suits(&self, metric: &Metric, of: &str) -> bool {
        self.level(of)
            .is_ok_and(|level| kind(level) == kind(metric.level))
    }

    fn bottleneck(&self) -> Of {
        match &self.measured {
            Some(links) => Of::Measured(links.clone()),
            None => Of::Bottleneck,
        }
    }

    fn default_of(&self, metric: &Metric) -> Of {
        match metric.level {
            Level::Queue => self.bottleneck(),
            Level::Flow | Level::Group => Of::Forward,
            Level::Run => Of::Run,
        }
    }

    /// Refuses a metric that none of the flows that it is of can have in any run.
    fn refuse_impossible(&self, metric: &Metric, of: &Of) -> Result<()> {
        let Some(need) = metric.need() else {
            return Ok(());
        };
        let label = |name: &str| self.has.iter().any(|has| has.label == name);
        let (is_of, who): (&dyn Fn(&Has) -> bool, String) = match of {
            Of::Forward => (&|has| has.forward, "no forward flow is one".to_owned()),
            Of::Reverse => (&|has| !has.forward, "no reverse flow is one".to_owned()),
            Of::All => (&|_| true, "no flow is one".to_owned()),
            Of::Flows(name) if label(name) => (
                &|has| has.label == *name,
                format!("{name:?} is of another kind"),
            ),
            _ => return Ok(()),
        };
        let own = || self.has.iter().filter(|has| is_of(has));
        let can = |has: &&Has| has.needs.contains(&need);
        if self.has.is_empty() || own().any(|has| can(&has)) {
            return Ok(());
        }
        let problem = format!(
            "{} is a metric of {} flows, and {who}",
            metric.name,
            need.kinds()
        );
        let near = own().find_map(|has| {
            let write = |near| format!("write \"{near} of {}\"", has.label);
            has.near(need).map(write).or_else(|| has.over_rtp(need))
        });
        let remedy = match self.has.iter().find(can) {
            _ if near.is_some() => near.unwrap_or_default(),
            Some(other) => format!("write \"{} of {}\"", metric.name, other.label),
            None => need.instead().to_owned(),
        };
        Err(LabError::new(LabErrorKind::Contradiction, problem).remedy(remedy))
    }

    fn resolve(&self, metric: &Metric, of: &str) -> Result<Of> {
        let level = self.level(of)?;
        if kind(level) != kind(metric.level) {
            let article = |level: Level| match level {
                Level::Queue => "a queue",
                Level::Flow | Level::Group => "flows",
                Level::Run => "the run",
            };
            return Err(LabError::new(
                LabErrorKind::Contradiction,
                format!(
                    "{} is of {}, and {of:?} is {}",
                    metric.name,
                    article(metric.level),
                    article(level)
                ),
            )
            .remedy(match metric.level {
                Level::Queue => "write \"of bottleneck\", or name a link direction",
                Level::Flow | Level::Group => "write \"of forward\", or name a flow or its label",
                Level::Run => "leave out \"of\"",
            }));
        }
        Ok(match of {
            BOTTLENECK => self.bottleneck(),
            QUEUES => Of::Queues,
            "forward" => Of::Forward,
            "reverse" => Of::Reverse,
            "all" => Of::All,
            RUN => Of::Run,
            name if level == Level::Queue => Of::Link(name.to_owned()),
            name => Of::Flows(name.to_owned()),
        })
    }
}

/// Whether queues and flows both have a metric of that name.
fn is_ambiguous(name: &str) -> bool {
    let metrics = metrics();
    metrics.iter().filter(|metric| metric.name == name).count() > 1
}

/// Flows and groups of flows are the same to a subject.
fn kind(level: Level) -> Level {
    match level {
        Level::Group => Level::Flow,
        level => level,
    }
}

fn unknown_metric(name: &str, level: Option<Level>) -> LabError {
    let levels: &[Level] = match level.map(kind) {
        Some(Level::Flow) => &[Level::Flow, Level::Group],
        Some(Level::Run) => &[Level::Run],
        Some(_) => &[Level::Queue],
        None => &[Level::Queue, Level::Flow, Level::Group, Level::Run],
    };
    let names: Vec<&str> = levels
        .iter()
        .flat_map(|level| of_level(*level))
        .map(|metric| metric.name.as_str())
        .collect();
    let plain = name.strip_suffix(POOLED).unwrap_or(name);
    let problem = match names.contains(&plain) {
        true => format!("{plain} has no pooled form"),
        false => format!("there is no metric {name:?}"),
    };
    let error = LabError::new(LabErrorKind::UnknownName, problem);
    if is_series(plain) {
        return error.remedy(
            "it changes over time: record it with series.record and draw it in a figure of kind time; \
             see sojourn list metrics for what tables can show",
        );
    }
    error
        .nearest(nearest_of(plain, &names).filter(|near| *near != plain))
        .remedy("see sojourn list metrics")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names {
            links: vec!["left-right".to_owned(), "right-left".to_owned()],
            labels: vec!["reno".to_owned(), "cbr".to_owned()],
            flows: vec!["reno-1".to_owned(), "reno-2".to_owned(), "cbr-1".to_owned()],
            receivers: vec!["cbr at n5".to_owned(), "cbr-1 at n5".to_owned()],
            ..Names::default()
        }
    }

    fn of(text: &str, default: Option<&str>) -> Of {
        Asked::parse(text, default, &names()).expect(text).of
    }

    fn error(text: &str) -> String {
        match Asked::parse(text, None, &names()) {
            Err(error) => error.to_string(),
            Ok(asked) => panic!("{text} is {}", asked.title()),
        }
    }

    #[test]
    fn a_metric_is_of_what_it_says_or_the_table_says_or_the_usual() {
        assert_eq!(of("sojourn_s_p95", None), Of::Bottleneck);
        assert_eq!(
            of("sojourn_s_p95 of right-left", None),
            Of::Link("right-left".to_owned())
        );
        assert_eq!(of("drop_rate_pps of queues", None), Of::Queues);
        assert_eq!(of("goodput_bps_sum", None), Of::Forward);
        assert_eq!(
            of("goodput_bps_sum", Some("reno")),
            Of::Flows("reno".to_owned())
        );
        assert_eq!(
            of("delay_s_mean of cbr at n5", None),
            Of::Flows("cbr at n5".to_owned())
        );
        assert_eq!(of("sojourn_s_p95", Some("reno")), Of::Bottleneck);
        assert_eq!(of("created_packets", None), Of::Run);
    }

    #[test]
    fn the_bottleneck_is_the_measured_link_where_an_experiment_has_one() {
        let measured = Names {
            measured: Some(vec!["right-left".to_owned()]),
            ..names()
        };
        for text in ["sojourn_s_p95", "sojourn_s_p95 of bottleneck"] {
            let asked = Asked::parse(text, None, &measured).unwrap();
            assert_eq!(asked.of, Of::Measured(vec!["right-left".to_owned()]));
            assert_eq!(asked.text(), "sojourn_s_p95", "called as before");
        }
        let queue = |link: &str, dropped: u64| crate::outcome::QueueOutcome {
            link: link.to_owned(),
            bottleneck: link == "left-right",
            totals: sojourn_queue::account::Totals {
                dropped_before: dropped,
                ..Default::default()
            },
            ..Default::default()
        };
        let run = RunOutcome {
            queues: vec![queue("left-right", 1), queue("right-left", 2)],
            ..RunOutcome::default()
        };
        let value = |names: &Names| {
            let asked = Asked::parse("dropped_packets of bottleneck", None, names).unwrap();
            asked.value(&run)
        };
        assert_eq!(value(&names()), Some(1.0));
        assert_eq!(value(&measured), Some(2.0));
    }

    #[test]
    fn a_metric_over_that_of_another_has_no_unit() {
        let ratio = Asked::parse("goodput_bps_sum of reno over cbr", None, &names()).unwrap();
        assert_eq!(ratio.of, Of::Flows("reno".to_owned()));
        assert_eq!(ratio.over, Some(Of::Flows("cbr".to_owned())));
        assert_eq!(ratio.unit(), Unit::Index);
        assert_eq!(ratio.title(), "Goodput, reno over cbr");
        assert_eq!(ratio.text(), "goodput_bps_sum of reno over cbr");
        assert_eq!(
            error("goodput_bps_sum of reno over left-right"),
            "goodput_bps_sum is of flows, and \"left-right\" is a queue; write \"of forward\", or name a flow or its label"
        );
    }

    #[test]
    fn the_level_tells_metrics_of_one_name_apart() {
        let level = |text| Asked::parse(text, None, &names()).expect(text).metric.level;
        assert_eq!(level("loss_ratio of left-right"), Level::Queue);
        assert_eq!(level("loss_ratio of reno-2"), Level::Flow);
    }

    #[test]
    fn a_name_that_means_two_things_is_refused() {
        let mut names = names();
        names
            .labels
            .extend(["right-left", "reno-2"].map(str::to_owned));
        let error = |text: &str| {
            let asked = Asked::parse(text, None, &names);
            asked.map(|asked| asked.title()).unwrap_err().to_string()
        };
        assert_eq!(
            error("loss_ratio of right-left"),
            "\"right-left\" is ambiguous: it is the label of flows and a link direction; give the flows a different label"
        );
        assert_eq!(
            error("goodput_bps_sum of reno-2"),
            "\"reno-2\" is ambiguous: it is the label of flows and the name of a flow; give the flows a different label"
        );
    }

    #[test]
    fn a_metric_that_no_flow_there_can_have_is_refused_with_the_right_one() {
        let has = |label: &str, forward, needs: &[Need]| Has {
            label: label.to_owned(),
            forward,
            needs: needs.to_vec(),
            bare: None,
        };
        let mut known = names();
        known.labels.extend(["ping", "call"].map(str::to_owned));
        known.has = vec![
            has("reno", true, &[Need::End]),
            has("cbr", true, &[]),
            has("ping", false, &[Need::Exchanges, Need::Transfers]),
            Has {
                bare: Some("voice"),
                ..has("call", false, &[])
            },
        ];
        let parse = |text: &str| Asked::parse(text, None, &known).map(|asked| asked.of);
        let cases = [
            (
                "mos",
                "mos is a metric of rtp with source = \"voice\" flows, and no forward flow is one; write loss_ratio, delay_s_p95 or jitter_s_mean for any flow",
            ),
            (
                "mos of call",
                "mos is a metric of rtp with source = \"voice\" flows, and \"call\" is of another kind; write kind = \"rtp\" and source = \"voice\" in place of kind = \"voice\"",
            ),
            (
                "page_load_s_p50 of reno",
                "page_load_s_p50 is a metric of web flows, and \"reno\" is of another kind; write \"completion_s of reno\"",
            ),
            (
                "completion_s of cbr",
                "completion_s is a metric of finite flows, and \"cbr\" is of another kind; write \"completion_s of reno\"",
            ),
            (
                "completion_s of ping",
                "completion_s is a metric of finite flows, and \"ping\" is of another kind; write \"latency_s_p50 of ping\"",
            ),
            (
                "fct_s_mean",
                "fct_s_mean is a metric of workload, request_response, web, dash and udp_rr flows, and no forward flow is one; write \"completion_s of reno\"",
            ),
            (
                "latency_s_p50 of ping over reno",
                "latency_s_p50 is a metric of udp_rr flows, and \"reno\" is of another kind; write \"latency_s_p50 of ping\"",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).unwrap_err().to_string(), expected);
        }
        for text in ["fct_s_mean of ping", "latency_s_p99 of all", "completion_s"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        // Of the results of a run every metric may be asked; it has a value or not.
        assert!(Asked::parse("mos", None, &names()).is_ok());
    }

    #[test]
    fn mistakes_name_the_nearest_and_the_remedy() {
        assert_eq!(
            error("sojurn_s_p95"),
            "there is no metric \"sojurn_s_p95\", did you mean \"sojourn_s_p95\"? See sojourn list metrics"
        );
        assert_eq!(
            error("sojourn_s_p95 of renoo"),
            "there is no queue, flow or label \"renoo\", did you mean \"reno\"? (there are: bottleneck, queues, forward, reverse, all, \
             left-right, right-left, reno, cbr)"
        );
        assert_eq!(
            error("utilization_ratio of run"),
            "utilization_ratio is of a queue, and \"run\" is the run; write \"of bottleneck\", or name a link direction"
        );
        assert_eq!(
            error("dropped_packets_pooled"),
            "dropped_packets has no pooled form; see sojourn list metrics"
        );
    }
}
