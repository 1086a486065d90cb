//! A run that somebody watches: it stops whenever they look, and its links can be changed on the way. Neither looking nor stopping
//! changes anything, and a change of a link is one that `[[changes]]` of the scenario could have made, so that the same run can be
//! made again without a watcher.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use sojourn_results::outcome::RunOutcome;
use sojourn_scenario::Resolved;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_sim::topology::Role;
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{Ecn, Flags, to_usize};
use sojourn_units::{Span, Time};

use crate::compile::{FlowInfo, LinkChange, LinkInfo, compile};
use crate::run::{Running, Watch};
use crate::series::count;

/// Flows that are shown one by one; more of them are shown by label.
const MOST_FLOWS: usize = 12;
/// Labels that are shown; the flows of all others are shown together.
const MOST_LABELS: usize = 16;
/// Queues that are watched.
const MOST_QUEUES: usize = 4;

/// What a row says of each queue, in this order.
pub const OF_QUEUE: [&str; 7] = [
    "backlog_packets",
    "backlog_bytes",
    "sojourn_s",
    "drops_packets",
    "marks_packets",
    "carried_bps",
    "capacity_bps",
];

/// What a row says of each lane, behind the queues: bits that arrived per second, the mean window and smoothed round trip of its
/// flows, and packets lost.
pub const OF_LANE: [&str; 4] = ["throughput_bps", "cwnd_bytes", "srtt_s", "dropped_packets"];

/// A flow, or flows that are shown together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// The flow's name, or the label that the flows have in common.
    pub name: String,
    /// What runs.
    pub kind: String,
    /// In the direction under study.
    pub forward: bool,
    /// Indices of its flows.
    flows: Vec<usize>,
}

/// What was counted up to some moment.
#[derive(Clone, Copy, Default)]
struct Counted {
    sojourn: u128,
    sent: u64,
    sent_bytes: u64,
    drops: u64,
    marks: u64,
    capacity: u128,
}

/// A packet that somebody looks at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Seen {
    /// Index of its lane; none of a packet that belongs to no flow of the scenario.
    pub lane: Option<usize>,
    /// Number of the packet.
    pub uid: u32,
    /// Its bytes.
    pub size: u32,
    /// It carries a congestion mark.
    pub marked: bool,
    /// It goes from the receiver to the sender.
    pub back: bool,
    /// Of a packet that waits: when it came to the queue. Of one on its way: when its transmission began.
    pub since: Time,
    /// When it arrives at the far end; of a packet that waits, the time for which it waits is not known.
    pub arrives: Option<Time>,
}

/// A run that somebody watches.
pub struct Live {
    running: Running<NoTrace>,
    step: Span,
    next: Time,
    /// When the last row was made.
    last: Time,
    /// Every change of a link, those that have been made included.
    planned: Vec<LinkChange>,
    /// Indices of the link directions whose queues are watched.
    queues: Vec<usize>,
    lanes: Vec<Lane>,
    /// The lane of each flow of the network.
    lane_of: Vec<Option<usize>>,
    queue_counts: Vec<Counted>,
    /// Bytes that arrived and packets that were lost, by lane.
    lane_counts: Vec<(u64, u64)>,
    measuring: bool,
}

impl Live {
    /// A run at its beginning. It makes a row of numbers every `step`.
    ///
    /// # Errors
    /// As [`compile`].
    pub fn new(scenario: &Resolved, replication: u64, step: Span) -> Result<Live, LabError> {
        let mut compiled = compile(scenario, replication)?;
        let queues = watched(&compiled.links);
        for link in &queues {
            // Their queues may change, which shows in nothing but the time that a run takes.
            let impairments = &mut compiled.network.links[*link].impairments;
            impairments.outages.get_or_insert_default();
        }
        let planned = compiled.changes.clone();
        let lanes = lanes(&compiled.flows);
        let running = Running::of(scenario, replication, compiled, NoTrace)?;
        let mut lane_of = Vec::new();
        for (lane, index) in lanes.iter().zip(0..) {
            for flow in lane.flows.iter().map(|flow| &running.flows[*flow]) {
                lane_of.resize(lane_of.len().max(flow.network.end), None);
                lane_of[flow.network.clone()].fill(Some(index));
            }
        }
        Ok(Live {
            step,
            next: Time::ZERO + step,
            last: Time::ZERO,
            planned,
            queue_counts: vec![Counted::default(); queues.len()],
            lane_counts: vec![(0, 0); lanes.len()],
            queues,
            lanes,
            lane_of,
            running,
            measuring: false,
        })
    }

    /// The link directions whose queues are watched: the bottlenecks, or the first that are observed.
    pub fn queues(&self) -> impl Iterator<Item = &LinkInfo> {
        self.queues.iter().map(|link| &self.running.links[*link])
    }

    /// Every link direction.
    pub fn links(&self) -> &[LinkInfo] {
        &self.running.links
    }

    /// The flows, as they are shown.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The number of flows.
    pub fn flows(&self) -> usize {
        self.running.flows.len()
    }

    /// How far it is.
    pub fn now(&self) -> Time {
        self.running.network.now()
    }

    /// When it ends.
    pub fn end(&self) -> Time {
        self.running.end
    }

    /// Packet-hops so far, a measure of the work. They are counted anew when measuring begins.
    pub fn hops(&self) -> u64 {
        self.running.network.census().hops
    }

    /// Goes on to the next row, or to the end, and appends the row to `rows`: the time in seconds, [`OF_QUEUE`] of each queue, and
    /// [`OF_LANE`] of each lane. False once it has arrived at the end.
    ///
    /// # Errors
    /// Where a bug of Sojourn stopped it.
    pub fn row(&mut self, rows: &mut Vec<f64>) -> Result<bool, LabError> {
        if self.now() >= self.running.end {
            return Ok(false);
        }
        let next = self.next.min(self.running.end);
        self.go_to(next)?;
        self.next = next + self.step;
        self.sample(rows);
        Ok(true)
    }

    /// Goes on to a time between two rows, as one does who looks at single packets. Rows that come before it are appended.
    ///
    /// # Errors
    /// As [`Live::row`].
    pub fn creep(&mut self, until: Time, rows: &mut Vec<f64>) -> Result<bool, LabError> {
        while self.next <= until {
            if !self.row(rows)? {
                return Ok(false);
            }
        }
        self.go_to(until.min(self.running.end))?;
        Ok(self.now() < self.running.end)
    }

    fn go_to(&mut self, until: Time) -> Result<(), LabError> {
        if self.running.warmup == Time::ZERO {
            // All of the run is measured.
            self.measuring = true;
        }
        if !self.measuring && self.running.warmup < until {
            // What was counted before begins anew there.
            self.advance(self.running.warmup)?;
            for place in 0..self.queues.len() {
                let before = self.counted(place);
                let last = &mut self.queue_counts[place];
                last.sojourn = last.sojourn.wrapping_sub(before.sojourn);
                last.sent = last.sent.wrapping_sub(before.sent);
                last.sent_bytes = last.sent_bytes.wrapping_sub(before.sent_bytes);
                last.drops = last.drops.wrapping_sub(before.drops);
                last.marks = last.marks.wrapping_sub(before.marks);
                last.capacity = last.capacity.wrapping_sub(before.capacity);
            }
            for place in 0..self.lanes.len() {
                let before = self.arrived(place);
                let last = &mut self.lane_counts[place];
                *last = (last.0.wrapping_sub(before.0), last.1.wrapping_sub(before.1));
            }
            self.measuring = true;
        }
        self.advance(until)
    }

    fn advance(&mut self, until: Time) -> Result<(), LabError> {
        let never = AtomicBool::new(false);
        let watch = Watch {
            stop: &never,
            reached: None,
        };
        self.running.advance(until, watch)
    }

    /// What the queue at `place` of the watched ones has counted since the start, or since measuring began.
    fn counted(&mut self, place: usize) -> Counted {
        let link = self.queues[place];
        let running = &mut self.running;
        running.network.settle(link);
        let account = running.network.port(link).account();
        let totals = account.measured();
        Counted {
            sojourn: account.sojourn_sum,
            sent: totals.dequeued,
            sent_bytes: totals.dequeued_bytes,
            drops: totals.dropped(),
            marks: totals.marked,
            capacity: running.rates.bits(link, running.network.now()),
        }
    }

    /// Bytes that arrived and packets that were lost of a lane, since the start, or since measuring began.
    fn arrived(&self, lane: usize) -> (u64, u64) {
        let flows = self.lanes[lane].flows.iter();
        let own = flows.flat_map(|flow| self.running.flows[*flow].own.clone());
        own.fold((0, 0), |sum, flow| {
            let counts = self.running.network.flow(flow)[0];
            (
                sum.0 + counts.delivered_bytes,
                sum.1 + counts.dropped_packets,
            )
        })
    }

    fn sample(&mut self, rows: &mut Vec<f64>) {
        let now = self.now();
        rows.push(now.since(Time::ZERO).as_secs_f64());
        // The last step may be shorter.
        let step = now
            .since(std::mem::replace(&mut self.last, now))
            .as_secs_f64();
        for place in 0..self.queues.len() {
            let now = self.counted(place);
            let last = std::mem::replace(&mut self.queue_counts[place], now);
            let sent = now.sent.wrapping_sub(last.sent);
            let account = self.running.network.port(self.queues[place]).account();
            let sojourn = now.sojourn.wrapping_sub(last.sojourn);
            let capacity = now.capacity.wrapping_sub(last.capacity);
            rows.extend([
                count(account.backlog_packets()),
                count(account.backlog_bytes()),
                match sent {
                    0 => f64::NAN,
                    sent => picoseconds(sojourn) / count(sent),
                },
                count(now.drops.wrapping_sub(last.drops)),
                count(now.marks.wrapping_sub(last.marks)),
                count(now.sent_bytes.wrapping_sub(last.sent_bytes)) * 8.0 / step,
                count(u64::try_from(capacity).unwrap_or(u64::MAX)) / step,
            ]);
        }
        for lane in 0..self.lanes.len() {
            let now = self.arrived(lane);
            let last = std::mem::replace(&mut self.lane_counts[lane], now);
            let (window, round_trip) = self.windows(lane);
            rows.extend([
                count(now.0.wrapping_sub(last.0)) * 8.0 / step,
                window,
                round_trip,
                count(now.1.wrapping_sub(last.1)),
            ]);
        }
    }

    /// Mean window and smoothed round trip of the flows of a lane that have them; of a workload, the sum of its windows.
    fn windows(&self, lane: usize) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        let mut numbers = (0.0, 0.0);
        for flow in &self.lanes[lane].flows {
            let sender = self.running.network.agent(self.running.flows[*flow].sender);
            let open = sender.open_connections();
            let gauges = sender.gauges();
            let window = gauges
                .map(|own| own.cwnd_bytes)
                .or(open.map(|open| open.cwnd_bytes));
            let round_trip = gauges.and_then(|own| own.srtt);
            let round_trip = round_trip.or(open.and_then(|open| open.srtt));
            if let Some(window) = window {
                sums.0 += count(window);
                numbers.0 += 1.0;
            }
            if let Some(time) = round_trip {
                sums.1 += time.as_secs_f64();
                numbers.1 += 1.0;
            }
        }
        (sums.0 / numbers.0, sums.1 / numbers.1)
    }

    /// Shows the packets that wait in the watched queue at `place`, in no particular order.
    pub fn waiting(&mut self, place: usize, mut show: impl FnMut(Seen)) {
        let Some(link) = self.queues.get(place).copied() else {
            return;
        };
        self.running.network.settle(link);
        let (port, ring) = self.running.network.queue(link);
        port.waiting(ring, &mut |packet| {
            show(Seen {
                lane: self.lane_of.get(to_usize(packet.flow)).copied().flatten(),
                uid: packet.uid,
                size: packet.size,
                marked: packet.ecn() == Ecn::Ce,
                back: packet.flags.has(Flags::REVERSE),
                since: packet.arrived(),
                arrives: None,
            });
        });
    }

    /// Shows the packets that a link direction transmits or that are on its wire.
    pub fn under_way(&mut self, link: usize, mut show: impl FnMut(Seen)) {
        self.running.network.settle(link);
        for packet in self.running.network.under_way(link) {
            let (since, arrives) = packet.flight();
            show(Seen {
                lane: self.lane_of.get(to_usize(packet.flow)).copied().flatten(),
                uid: packet.uid,
                size: packet.size,
                marked: packet.ecn() == Ecn::Ce,
                back: packet.flags.has(Flags::REVERSE),
                since,
                arrives: Some(arrives),
            });
        }
    }

    /// Packets of each lane that the watched queue at `place` has dropped and marked since measuring began.
    pub fn dropped(&self, place: usize) -> Vec<(u64, u64)> {
        let mut all = vec![(0, 0); self.lanes.len()];
        let Some(link) = self.queues.get(place) else {
            return all;
        };
        let flows = self.running.network.port(*link).account().flows.as_deref();
        for (flow, lane) in flows.into_iter().flatten().zip(&self.lane_of) {
            if let Some(sum) = lane.and_then(|lane| all.get_mut(lane)) {
                *sum = (sum.0 + flow.dropped, sum.1 + flow.marked);
            }
        }
        all
    }

    /// Takes the changes of links that are yet to come from a scenario, which is the one that runs, with other `[[changes]]`. The run
    /// then is the one that this scenario gives from the beginning.
    ///
    /// # Errors
    /// If the scenario changes what has passed, or the queue of a link that is not watched; and as [`compile`].
    pub fn change_to(&mut self, scenario: &Resolved) -> Result<(), LabError> {
        let changes = compile(scenario, self.running.replication())?.changes;
        let now = self.now();
        let past = |change: &&LinkChange| change.at <= now;
        let keys = |changes: &[LinkChange]| -> Vec<(Time, usize)> {
            let past = changes.iter().filter(past);
            past.map(|change| (change.at, change.link)).collect()
        };
        let refused = |problem: String, remedy: &str| {
            let error = LabError::new(LabErrorKind::Contradiction, problem);
            Err(error.key("changes").remedy(remedy))
        };
        if keys(&changes) != keys(&self.planned) {
            let problem = format!(
                "the run is at {}, and this changes what has passed",
                now.since(Time::ZERO)
            );
            return refused(problem, "change something later, or start the run again");
        }
        let unwatched =
            |change: &&LinkChange| change.queue.is_some() && !self.queues.contains(&change.link);
        if let Some(change) = changes.iter().find(unwatched) {
            let problem = format!(
                "the queue of {} is not one of those that are watched",
                self.running.links[change.link].name
            );
            return refused(problem, "start the run again");
        }
        let later = changes.iter().filter(|change| change.at > now);
        self.running.changes = later.cloned().collect();
        self.planned = changes;
        Ok(())
    }

    /// What came of it, once it has arrived at the end.
    ///
    /// # Errors
    /// Where a bug of Sojourn stopped it.
    pub fn into_outcome(mut self) -> Result<RunOutcome, LabError> {
        self.advance(Time::MAX)?;
        self.running.into_outcome().map(|(outcome, _)| outcome)
    }
}

fn picoseconds(sum: u128) -> f64 {
    Span::from_ps(u64::try_from(sum).unwrap_or(u64::MAX)).as_secs_f64()
}

fn watched(links: &[LinkInfo]) -> Vec<usize> {
    let all = || links.iter().enumerate().filter(|(_, link)| link.observed);
    let bottlenecks = all().filter(|(_, link)| link.role == Role::Bottleneck);
    let mut queues: Vec<usize> = bottlenecks.map(|(index, _)| index).collect();
    if queues.is_empty() {
        queues.extend(all().map(|(index, _)| index));
    }
    queues.truncate(MOST_QUEUES);
    queues
}

/// Flows one by one where they are few; else those of a label together.
fn lanes(flows: &[FlowInfo]) -> Vec<Lane> {
    let few = flows.len() <= MOST_FLOWS;
    let mut lanes: Vec<Lane> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (flow, index) in flows.iter().zip(0..) {
        let name = if few { &flow.name } else { &flow.label };
        let lane = *known.entry(name).or_insert(lanes.len().min(MOST_LABELS));
        match lanes.get_mut(lane) {
            Some(lane) => lane.flows.push(index),
            None => lanes.push(Lane {
                name: if lane < MOST_LABELS { name } else { "others" }.to_owned(),
                kind: flow.kind.clone(),
                forward: flow.forward,
                flows: vec![index],
            }),
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run;
    use sojourn_scenario::document::Document;
    use sojourn_scenario::model::Scenario;

    const TEXT: &str = "flows = [\"2*cubic\", \"bbr\", \"cbr 500kbps\"]\n[run]\nduration = \"6s\"\nwarmup = \"1s\"\n\
        [topology]\nrate = \"5Mbps\"\nrtt = \"30ms\"\nbuffer = \"60p\"\nqueue = \"codel\"\n";

    const LATER: &str = "[[changes]]\nat = \"2s\"\nlink = \"left-right\"\nqueue = \"fq_codel\"\n\
        [[changes]]\nat = \"3500ms\"\nlink = \"left-right\"\nrate = \"2Mbps\"\nqueue = \"pie\"\n\
        [[changes]]\nat = \"4500ms\"\nlink = \"left-right\"\nqueue = \"tbf rate=1500kbps burst=5kB\"\n\
        [[changes]]\nat = \"5500ms\"\nlink = \"left-right\"\nqueue = \"droptail limit=5p\"\n";

    fn scenario(text: &str) -> Scenario {
        let document = Document::parse(text, "live.toml").unwrap();
        Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
    }

    fn live(text: &str) -> Live {
        Live::new(&scenario(text).resolve().unwrap(), 0, Span::from_ms(7)).unwrap()
    }

    #[test]
    fn looking_at_a_run_changes_nothing_about_it() {
        for text in [TEXT.to_owned(), format!("{TEXT}{LATER}")] {
            let whole = run(&scenario(&text), 0).unwrap();
            let mut live = live(&text);
            let mut rows = Vec::new();
            for look in 0..4_u64 {
                live.creep(Time::ZERO + Span::from_us(700_123) * (look + 1), &mut rows)
                    .unwrap();
                let mut seen = 0;
                live.waiting(0, |_| seen += 1);
                for link in 0..live.links().len() {
                    live.under_way(link, |packet| assert!(packet.arrives.is_some()));
                }
                assert!(live.dropped(0).len() == live.lanes().len());
            }
            while live.row(&mut rows).unwrap() {}
            assert_eq!(rows.len() % (1 + 7 + 4 * 4), 0);
            assert!(live.into_outcome().unwrap() == whole);
        }
    }

    #[test]
    fn changes_that_are_taken_over_on_the_way_give_the_run_of_the_file_with_them() {
        let changed = format!("{TEXT}{LATER}");
        let whole = run(&scenario(&changed), 0).unwrap();
        let mut live = live(TEXT);
        let mut rows = Vec::new();
        live.creep(Time::ZERO + Span::from_ms(1500), &mut rows)
            .unwrap();
        live.change_to(&scenario(&changed).resolve().unwrap())
            .unwrap();
        while live.row(&mut rows).unwrap() {}
        assert!(live.into_outcome().unwrap() == whole);
    }

    #[test]
    fn what_has_passed_is_not_changed() {
        let mut live = live(TEXT);
        live.creep(Time::ZERO + Span::from_secs(3), &mut Vec::new())
            .unwrap();
        let late = scenario(&format!("{TEXT}{LATER}")).resolve().unwrap();
        let error = live.change_to(&late).unwrap_err();
        assert!(
            error.to_string().contains("changes what has passed"),
            "{error}"
        );
    }

    #[test]
    fn a_queue_that_takes_over_gives_the_same_in_lazy_and_eager_mode() {
        let lazy = run(&scenario(&format!("{TEXT}{LATER}")), 0).unwrap();
        let eager = TEXT.replace("[run]\n", "[run]\neager = true\n");
        let eager = run(&scenario(&format!("{eager}{LATER}")), 0).unwrap();
        assert!((&lazy.queues, &lazy.flows) == (&eager.queues, &eager.flows));
        let dropped: u64 = lazy
            .queues
            .iter()
            .map(|queue| queue.totals.dropped_after)
            .sum();
        assert!(dropped > 0);
    }

    #[test]
    fn sums_of_rows_are_the_counts_of_the_outcome() {
        let text = TEXT.replace("warmup = \"1s\"", "warmup = \"0s\"");
        let mut live = live(&text);
        let mut rows = Vec::new();
        while live.row(&mut rows).unwrap() {}
        let width = 1 + 7 + 4 * 4;
        let drops: f64 = rows.chunks(width).map(|row| row[4]).sum();
        let outcome = live.into_outcome().unwrap();
        let queue = outcome
            .queues
            .iter()
            .find(|queue| queue.bottleneck)
            .unwrap();
        assert_eq!(drops, count(queue.totals.dropped()));
        assert!(drops > 0.0);
    }

    #[test]
    fn many_flows_are_shown_by_label() {
        let live = live(&TEXT.replace("\"2*cubic\"", "\"20*cubic\""));
        let names: Vec<&str> = live.lanes().iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["cubic", "bbr", "cbr"]);
        assert_eq!(live.flows(), 22);
    }
}
