//! What a scenario or study needs, and how much of it is allowed: counted before anything large is made.
//!
//! Memory is estimated from what was measured: enough to tell a mistake of a factor of ten from a large study. The limits are the
//! same on every machine, and results do not depend on them.

use std::collections::BTreeSet;
use std::fmt;

use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::{FlowGroup, LimitParams, LinkParams, Scenario, Topology};
use sojourn_traffic::workload;
use sojourn_units::{Spec, SpecValue, Time};

use crate::compile::compile;
use crate::series;

/// Bytes of a flow with its hosts, their links and what is counted of it.
const PER_FLOW: u64 = 25_000;
/// Bytes of one more connection of a flow, or member of its group.
const PER_CONNECTION: u64 = 4_000;
/// Bytes of a link direction with its queue.
const PER_LINK: u64 = 10_000;
/// Bytes of what one queue counts of one flow or connection.
const PER_FLOW_AND_QUEUE: u64 = 150;
/// Bytes of one of the queues that a scheduler makes in advance.
const PER_BUCKET: u64 = 300;
/// Bytes of a sample, from its recording to its file.
const PER_SAMPLE: u64 = 240;
/// Bytes of a sample that stays in memory.
const PER_KEPT_SAMPLE: u64 = 16;
/// Bytes of a flow, and of a queue, in the outcome of a run.
const PER_OUTCOME: u64 = 2_500;
/// Bytes of what the outcome of a run keeps of one flow at one queue.
const PER_KEPT_COUNT: u64 = 64;
/// Bytes of a transfer, from its arrival to its file.
const PER_TRANSFER: u64 = 400;
/// Bytes of a transfer that stays in memory.
const PER_KEPT_TRANSFER: u64 = 64;
/// Bytes of an entry of a routing table, with what it takes to find the way.
const PER_ROUTE: u64 = 16;
/// Bytes of a point beside what it runs, and how often the text of its scenario is there.
const PER_POINT: u64 = 8_000;
const COPIES_OF_TEXT: u64 = 4;

/// What a scenario or study needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Points.
    pub points: u64,
    /// Runs: those of all points in all replications.
    pub runs: u64,
    /// Flows of a run, each connection of a workload and each member of a group counted; the most of any point.
    pub flows: u64,
    /// Samples of all time series of a run; the most of any point.
    pub samples: u64,
    /// Bytes of one run under way; the most of any point.
    pub run_bytes: u64,
    /// Bytes of the points, and of the outcomes of all runs without their time series.
    pub result_bytes: u64,
    /// Transfers of all workloads of a run, on average; the most of any point.
    pub transfers: u64,
    /// Bytes of the transfers of all runs; those in a directory are in no memory.
    pub transfer_bytes: u64,
    /// Bytes of the time series of all runs; those in a directory are in no memory.
    pub series_bytes: u64,
}

/// A part of what a run needs.
struct Part {
    key: String,
    what: String,
    bytes: u64,
}

impl Needs {
    /// What a scenario needs.
    pub fn of(scenario: &Scenario) -> Needs {
        Needs::with_transfers(scenario, &LimitParams::default()).0
    }

    /// How often transfers arrive depends on the rates of the paths: a network is made to learn it, if it keeps to the limits.
    fn with_transfers(scenario: &Scenario, limits: &LimitParams) -> (Needs, Vec<Part>) {
        let (mut needs, mut parts) = Needs::with_parts(scenario);
        if needs.run_bytes <= limits.memory.get() {
            parts.extend(needs.add_transfers(scenario));
        }
        (needs, parts)
    }

    fn with_parts(scenario: &Scenario) -> (Needs, Vec<Part>) {
        let mut parts = Vec::new();
        let mut part = |key: &str, what: String, bytes: u64| {
            parts.push(Part {
                key: key.to_owned(),
                what,
                bytes,
            });
        };
        let Flows {
            flows,
            connections,
            receptions,
        } = Flows::of(scenario, &mut part);
        let network = Size::of(&scenario.topology);
        let counted = network.observed.saturating_mul(connections);
        part(
            network.key,
            format!("{} link directions", network.directions),
            network
                .directions
                .saturating_mul(PER_LINK)
                .saturating_add(counted.saturating_mul(PER_FLOW_AND_QUEUE))
                .saturating_add(network.routes.saturating_mul(PER_ROUTE)),
        );
        let access = flows.saturating_mul(4);
        let buckets = network.buckets(access);
        part(
            network.queue_key,
            format!("{buckets} queues inside schedulers"),
            buckets.saturating_mul(PER_BUCKET),
        );
        let each = scenario.run.duration.as_ps() / scenario.series.step.as_ps().max(1);
        let series = series::number(scenario, flows, network.observed);
        let samples = each.saturating_mul(series);
        part(
            "series.step",
            format!("{samples} samples of about {series} time series"),
            samples.saturating_mul(PER_SAMPLE),
        );
        let runs = scenario.run.runs();
        let outcome = flows
            .saturating_add(receptions)
            .saturating_add(network.observed)
            .saturating_mul(PER_OUTCOME)
            .saturating_add(
                network
                    .observed
                    .saturating_mul(flows)
                    .saturating_mul(PER_KEPT_COUNT),
            );
        let needs = Needs {
            points: 1,
            runs,
            flows: connections,
            samples,
            transfers: 0,
            transfer_bytes: 0,
            run_bytes: parts
                .iter()
                .fold(0, |sum, part| sum.saturating_add(part.bytes)),
            result_bytes: runs
                .saturating_mul(outcome)
                .saturating_add(text_bytes(scenario).saturating_mul(COPIES_OF_TEXT))
                .saturating_add(PER_POINT),
            series_bytes: runs.saturating_mul(samples).saturating_mul(PER_KEPT_SAMPLE),
        };
        (needs, parts)
    }

    /// Adds the transfers of workloads: how many there are depends on the rates and delays of the paths.
    fn add_transfers(&mut self, scenario: &Scenario) -> Vec<Part> {
        let has_transfers = |group: &FlowGroup| workload::find(&group.kind).is_some();
        if !scenario.flows.iter().any(has_transfers) {
            return Vec::new();
        }
        // What cannot be compiled is refused for that, by whoever compiles it next.
        let Ok(compiled) = scenario.resolve().and_then(|full| compile(&full, 0)) else {
            return Vec::new();
        };
        let mut parts = Vec::new();
        let mut flows = compiled.flows.iter();
        for (group, index) in scenario.flows.iter().zip(0..) {
            let count = group.place.count;
            let within = group.place.stop.unwrap_or(scenario.run.duration);
            let transfers = flows
                .by_ref()
                .take(usize::try_from(count).unwrap_or(usize::MAX))
                .map(|flow| {
                    let start = flow.start.since(Time::ZERO);
                    let within = within.min(scenario.run.duration).saturating_sub(start);
                    let path = (flow.slowest, count);
                    workload::expected_transfers(
                        &group.kind,
                        &group.args,
                        path,
                        flow.base_rtt,
                        within,
                    )
                })
                .fold(0, u64::saturating_add);
            if transfers == 0 {
                continue;
            }
            let bytes = transfers.saturating_mul(PER_TRANSFER);
            self.transfers = self.transfers.saturating_add(transfers);
            self.run_bytes = self.run_bytes.saturating_add(bytes);
            let kept = transfers.saturating_mul(PER_KEPT_TRANSFER);
            self.transfer_bytes = self
                .transfer_bytes
                .saturating_add(self.runs.saturating_mul(kept));
            parts.push(Part {
                key: format!("flows[{index}]"),
                what: format!("{transfers} transfers"),
                bytes,
            });
        }
        parts
    }

    /// Adds what other points need.
    pub fn add(&mut self, other: &Needs) {
        self.points = self.points.saturating_add(other.points);
        self.runs = self.runs.saturating_add(other.runs);
        self.flows = self.flows.max(other.flows);
        self.samples = self.samples.max(other.samples);
        self.transfers = self.transfers.max(other.transfers);
        self.transfer_bytes = self.transfer_bytes.saturating_add(other.transfer_bytes);
        self.run_bytes = self.run_bytes.max(other.run_bytes);
        self.result_bytes = self.result_bytes.saturating_add(other.result_bytes);
        self.series_bytes = self.series_bytes.saturating_add(other.series_bytes);
    }

    /// What `points` points like this need.
    #[must_use]
    pub fn times(&self, points: u64) -> Needs {
        Needs {
            points: self.points.saturating_mul(points),
            runs: self.runs.saturating_mul(points),
            result_bytes: self.result_bytes.saturating_mul(points),
            transfer_bytes: self.transfer_bytes.saturating_mul(points),
            series_bytes: self.series_bytes.saturating_mul(points),
            ..*self
        }
    }

    /// What a scenario needs. Refuses a scenario whose runs need too much each; the error names the path of the greatest part.
    ///
    /// # Errors
    /// When it does.
    pub fn of_allowed(scenario: &Scenario, limits: &LimitParams) -> Result<Needs> {
        let (needs, parts) = Needs::with_transfers(scenario, limits);
        if needs.run_bytes <= limits.memory.get() {
            return Ok(needs);
        }
        let greatest = parts.into_iter().max_by_key(|part| part.bytes);
        let (key, what) = greatest.map_or_else(Default::default, |part| (part.key, part.what));
        let problem = format!("with {what} a run needs about {}", size(needs.run_bytes));
        Err(too_much_memory(limits, &problem, needs.run_bytes).key(key))
    }

    /// Refuses a study with too many points or runs, or whose results need too much memory.
    ///
    /// # Errors
    /// When it has.
    pub fn check(&self, limits: &LimitParams, in_directory: bool) -> Result<()> {
        check_points(limits, self.points)?;
        if self.runs > limits.runs {
            let problem = format!(
                "{} are {} runs, but limits.runs allows {}",
                replications(self),
                self.runs,
                limits.runs
            );
            return Err(LabError::new(LabErrorKind::BadValue, problem)
                .key("run.replications")
                .remedy(format!(
                    "reduce the points or replications, or raise the limit: --set limits.runs={}",
                    self.runs
                )));
        }
        let kept = self.kept(in_directory);
        let all = kept.saturating_add(self.run_bytes);
        if all <= limits.memory.get() {
            return Ok(());
        }
        let in_files = self.series_bytes.max(self.transfer_bytes);
        let most = match in_files > self.result_bytes && !in_directory {
            true if self.transfer_bytes > self.series_bytes => {
                ", most of it for transfers, which --out keeps in files"
            }
            true => ", most of it for time series, which --out keeps in files",
            false => "",
        };
        let problem = format!(
            "the results of {} need about {}{most}",
            replications(self),
            size(kept)
        );
        Err(too_much_memory(limits, &problem, all).key("run.replications"))
    }

    /// How many runs fit side by side.
    pub fn at_a_time(&self, limits: &LimitParams, in_directory: bool) -> usize {
        let free = limits.memory.get().saturating_sub(self.kept(in_directory));
        usize::try_from(free / self.run_bytes.max(1))
            .unwrap_or(usize::MAX)
            .max(1)
    }

    /// Bytes of what is kept of all runs, in a directory or in memory alone.
    pub fn kept(&self, in_directory: bool) -> u64 {
        match in_directory {
            true => self.result_bytes,
            false => self
                .result_bytes
                .saturating_add(self.series_bytes)
                .saturating_add(self.transfer_bytes),
        }
    }
}

impl Needs {
    /// Its numbers with names, sizes in bytes.
    fn named(&self) -> [(&'static str, u64); 9] {
        [
            ("points", self.points),
            ("runs", self.runs),
            ("flows", self.flows),
            ("samples", self.samples),
            ("transfers", self.transfers),
            ("run_bytes", self.run_bytes),
            ("result_bytes", self.result_bytes),
            ("series_bytes", self.series_bytes),
            ("transfer_bytes", self.transfer_bytes),
        ]
    }

    /// The same for programs: a JSON object of the fields of [`Needs`].
    pub fn json(&self) -> String {
        let lines = self
            .named()
            .map(|(name, value)| format!("  \"{name}\": {value}"));
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }

    /// The same as comma-separated values: a line of names, and one of numbers.
    pub fn csv(&self) -> String {
        let named = self.named();
        let names = named.map(|(name, _)| name.to_owned()).join(",");
        let values = named.map(|(_, value)| value.to_string()).join(",");
        format!("{names}\n{values}\n")
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("points", self.points.to_string()),
            ("runs", self.runs.to_string()),
            ("flows in a run, at most", self.flows.to_string()),
            ("samples in a run, at most", self.samples.to_string()),
            ("transfers in a run, about", self.transfers.to_string()),
            ("memory of a run under way, about", size(self.run_bytes)),
            ("memory of all results, about", size(self.result_bytes)),
            (
                "memory of all time series, without --out, about",
                size(self.series_bytes),
            ),
            (
                "memory of all transfers, without --out, about",
                size(self.transfer_bytes),
            ),
        ];
        for (name, value) in rows {
            writeln!(f, "{name:<48} {value:>12}")?;
        }
        Ok(())
    }
}

/// Refuses too many points; `u64::MAX` stands for more than can be counted.
///
/// # Errors
/// When there are.
pub fn check_points(limits: &LimitParams, points: u64) -> Result<()> {
    if points <= limits.points {
        return Ok(());
    }
    let count = match points {
        u64::MAX => "more than 18 million million million".to_owned(),
        _ => points.to_string(),
    };
    let problem = format!("{count} points, but limits.points allows {}", limits.points);
    let remedy = match points {
        u64::MAX => "reduce the values of the factors".to_owned(),
        _ => format!(
            "reduce the values of the factors, or raise the limit: --set limits.points={points}"
        ),
    };
    Err(LabError::new(LabErrorKind::BadValue, problem)
        .key("experiment")
        .remedy(remedy))
}

fn too_much_memory(limits: &LimitParams, problem: &str, bytes: u64) -> LabError {
    let allowed = size(limits.memory.get());
    LabError::new(
        LabErrorKind::BadValue,
        format!("{problem} of memory, but limits.memory allows {allowed}"),
    )
    .remedy(format!(
        "reduce it, or raise the limit: --limit-memory {}",
        size(bytes.saturating_add(bytes / 10))
    ))
}

/// `100 points in 10 replications`.
fn replications(needs: &Needs) -> String {
    let points = match needs.points {
        1 => "one point".to_owned(),
        points => format!("{points} points"),
    };
    match needs.runs / needs.points.max(1) {
        1 => points,
        each => format!("{points} in {each} replications"),
    }
}

/// A size, rounded up, in the largest unit that gives at least 10.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let found = units
        .iter()
        .find(|(unit, _)| bytes.is_multiple_of(*unit) && bytes > 0 || bytes / unit >= 10);
    match found {
        Some((unit, name)) => format!("{}{name}", bytes.div_ceil(*unit)),
        None => format!("{bytes}B"),
    }
}

/// How many flows a scenario has, and what they come to in the network.
#[derive(Default)]
struct Flows {
    /// Flows of the scenario.
    flows: u64,
    /// Flows of the network: connections, and what members of groups send.
    connections: u64,
    /// Flows times the members that receive them.
    receptions: u64,
}

impl Flows {
    /// Counts them, and reports the memory of each entry as a part.
    fn of(scenario: &Scenario, part: &mut impl FnMut(&str, String, u64)) -> Flows {
        let mut sum = Flows::default();
        for (group, index) in scenario.flows.iter().zip(0..) {
            let count = group.place.count;
            let members = members(scenario, group);
            let own = u64::from(workload::connections(&group.kind, &group.args));
            let width = own.saturating_add(members);
            let all = count.saturating_mul(width);
            sum.flows = sum.flows.saturating_add(count);
            sum.connections = sum.connections.saturating_add(all);
            sum.receptions = sum.receptions.saturating_add(count.saturating_mul(members));
            let bytes = count
                .saturating_mul(PER_FLOW)
                .saturating_add(all.saturating_mul(PER_CONNECTION));
            let what = match width {
                1 => format!("{count} flows"),
                _ => format!("{count} flows of {width} connections or members"),
            };
            part(&format!("flows[{index}].count"), what, bytes);
        }
        sum
    }
}

/// Members of the group that flows are sent to.
fn members(scenario: &Scenario, group: &FlowGroup) -> u64 {
    let to = group.place.to.as_deref();
    let members = scenario.members.iter();
    let members = members.filter(|member| Some(member.group.as_str()) == to);
    u64::try_from(members.count()).unwrap_or(u64::MAX)
}

/// Bytes of what a scenario holds as text.
fn text_bytes(scenario: &Scenario) -> u64 {
    let args = scenario.flows.iter().flat_map(|group| &group.args);
    let args = args.map(|(key, text)| key.len() + text.len());
    let gaps = scenario
        .opportunities
        .iter()
        .filter_map(|schedule| schedule.gaps.as_ref());
    let length: usize = args.chain(gaps.map(String::len)).sum();
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// How large a network is, without the hosts of its flows.
struct Size<'a> {
    /// What makes it large.
    key: &'static str,
    queue_key: &'static str,
    /// Link directions.
    directions: u64,
    /// Those whose queues are reported.
    observed: u64,
    /// Entries of the routing tables.
    routes: u64,
    /// Queues, each with how many there are.
    queues: Vec<(&'a Spec, u64)>,
    access: Option<&'a Spec>,
}

impl<'a> Size<'a> {
    fn of(topology: &'a Topology) -> Size<'a> {
        let line = |hops: u64, queue: &'a Spec, back: &'a Option<Spec>, access| Size {
            key: "topology.hops",
            queue_key: "topology.queue",
            directions: hops.saturating_mul(2),
            observed: hops.saturating_mul(2),
            routes: hops.saturating_mul(hops),
            queues: vec![(queue, hops), (back.as_ref().unwrap_or(queue), hops)],
            access,
        };
        match topology {
            Topology::Dumbbell(d) => line(1, &d.queue, &d.reverse_queue, Some(&d.access_queue)),
            Topology::ParkingLot(p) => {
                line(p.hops, &p.queue, &p.reverse_queue, Some(&p.access_queue))
            }
            Topology::Chain(c) => line(c.hops, &c.queue, &c.reverse_queue, None),
            Topology::Graph(links) => Size::of_graph(links),
        }
    }

    fn of_graph(links: &'a [LinkParams]) -> Size<'a> {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let (mut nodes, mut routers) = (BTreeSet::new(), BTreeSet::new());
        for node in links.iter().flat_map(|link| [&link.from, &link.to]) {
            // A node with one way out needs no table.
            if !nodes.insert(node) {
                routers.insert(node);
            }
        }
        let observed = links.iter().filter(|link| link.observed).count();
        let queues = links.iter().flat_map(|link| {
            let back = link.reverse_queue.as_ref().unwrap_or(&link.queue);
            [(&link.queue, 1), (back, 1)]
        });
        Size {
            key: "links",
            queue_key: "links",
            directions: count(links.len()).saturating_mul(2),
            observed: count(observed).saturating_mul(2),
            routes: count(nodes.len()).saturating_mul(count(routers.len())),
            queues: queues.collect(),
            access: None,
        }
    }

    /// Queues that schedulers make in advance, with `access` access links.
    fn buckets(&self, access: u64) -> u64 {
        let access = self.access.map(|queue| (queue, access));
        let all = self.queues.iter().copied().chain(access);
        all.fold(0, |sum, (queue, count)| {
            sum.saturating_add(buckets(queue).saturating_mul(count))
        })
    }
}

/// Queues that a scheduler makes in advance, as far as its specification says.
fn buckets(spec: &Spec) -> u64 {
    let own = spec.args.iter().filter_map(|(key, value)| match value {
        SpecValue::Text(text) if ["buckets", "flows"].contains(&key.as_str()) => text.parse().ok(),
        _ => None,
    });
    let own: u64 = own.max().unwrap_or(0);
    let inner = spec.args.iter().filter_map(|(_, value)| match value {
        SpecValue::Specs(inner) => Some(
            inner
                .all()
                .iter()
                .map(|spec| buckets(spec))
                .max()
                .unwrap_or(0),
        ),
        SpecValue::Text(_) => None,
    });
    let inner = inner.max().unwrap_or(0);
    own.max(1).saturating_mul(inner.max(1)).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::document::Document;

    fn scenario(text: &str) -> Scenario {
        Scenario::from_document(&Document::parse(text, "t.toml").unwrap()).unwrap()
    }

    fn refused(text: &str) -> LabError {
        Needs::of_allowed(&scenario(text), &LimitParams::default()).unwrap_err()
    }

    #[test]
    fn what_makes_a_run_too_large_is_named_with_its_count_and_a_limit_that_would_do() {
        let cases = [
            (
                "flows = [\"reno\", \"1000000*reno\"]",
                "flows[1].count",
                "1000000 flows",
            ),
            (
                "flows = [\"4*reno\"]\n[run]\nduration = \"2s\"\n[series]\nrecord = \"all\"\nstep = \"1us\"",
                "series.step",
                "samples",
            ),
            (
                "flows = [\"reno\"]\n[topology]\nkind = \"chain\"\nhops = 200\nqueue = \"fq_codel buckets=1000000\"",
                "topology.queue",
                "queues inside schedulers",
            ),
            (
                "flows = [{ kind = \"workload\", load = 0.9, sizes = \"(exponential mean=50B)\" }]\n\
                 [topology]\nrate = \"100Gbps\"\n[run]\nduration = \"2000s\"",
                "flows[0]",
                "transfers",
            ),
        ];
        for (text, key, what) in cases {
            let error = refused(text);
            assert_eq!(error.path(), key);
            let message = error.to_string();
            assert!(
                message.contains(what) && message.contains("limits.memory allows 4GB"),
                "{message}"
            );
            let (_, allowed) = message.rsplit_once("--limit-memory ").unwrap();
            let limits = LimitParams {
                memory: allowed.parse().unwrap(),
                ..LimitParams::default()
            };
            Needs::of_allowed(&scenario(text), &limits).unwrap();
        }
    }

    /// 0.9 of 8 Mbps in transfers of 1000 bytes are 900 a second, and half of the flows share it with the other half.
    #[test]
    fn transfers_that_arrive_by_themselves_are_counted_by_what_their_path_carries() {
        let text = |flows: &str| {
            format!(
                "flows = [{flows}]\n[topology]\nrate = \"8Mbps\"\naccess_rate = \"1Gbps\"\n[run]\nduration = \"100s\"\n\
                 start_spread = \"0s\""
            )
        };
        let sized = "sizes=(fixed bytes=1000B)";
        let count = |flows: &str| {
            let scenario = scenario(&text(flows));
            Needs::of_allowed(&scenario, &LimitParams::default())
                .unwrap()
                .transfers
        };
        assert_eq!(count(&format!("\"workload {sized} load=90%\"")), 90_000);
        assert_eq!(count(&format!("\"2*workload {sized} load=90%\"")), 90_000);
        assert_eq!(
            count(&format!("\"2*workload {sized} interval=1s transfers=7\"")),
            14
        );
        // A user waits a second and a round trip of 40 ms or more for each response.
        let asked = count("\"request_response\"");
        assert!((90..=96).contains(&asked), "{asked}");
        assert_eq!(count("\"reno\""), 0);
    }

    #[test]
    fn counts_that_no_number_holds_are_refused_and_do_not_wrap() {
        let limits = LimitParams::default();
        let mut scenario = scenario("flows = [\"4096*workload sizes=web_search load=50%\"]");
        scenario.flows[0].place.count = u64::MAX;
        scenario.run.replications = u64::MAX;
        let needs = Needs::of(&scenario);
        assert_eq!((needs.run_bytes, needs.result_bytes), (u64::MAX, u64::MAX));
        assert!(needs.check(&limits, true).is_err());
        assert!(Needs::of_allowed(&scenario, &limits).is_err());
        let mut twice = needs.clone();
        twice.add(&needs);
        assert_eq!(twice.runs, u64::MAX);
        assert!(
            check_points(&limits, u64::MAX)
                .unwrap_err()
                .to_string()
                .contains("more than")
        );
    }

    #[test]
    fn fewer_runs_are_made_at_a_time_where_memory_is_short() {
        let needs = Needs {
            run_bytes: 1_000_000_000,
            ..Needs::of(&scenario("flows = [\"reno\"]"))
        };
        assert_eq!(needs.at_a_time(&LimitParams::default(), true), 3);
    }
}
