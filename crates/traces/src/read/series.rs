//! Counts over time: rows of what had something in a step.

use crate::read::event::place;
use crate::read::moments::Counts;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

/// More rows are refused: their memory would not be bounded.
const MOST_ROWS: usize = 2_000_000;

/// Whose row it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Subject {
    /// The trace as a whole.
    Trace,
    /// A node.
    Node(u32),
    /// A link.
    Link(u32),
    /// A flow.
    Flow(u32),
}

/// What was counted in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bin {
    pub(crate) sent: Counts,
    pub(crate) received: Counts,
    pub(crate) forwarded: Counts,
    pub(crate) dropped: Counts,
    /// Sum in picoseconds and number of delays from end to end.
    pub(crate) delay: (u128, u64),
    /// The same of queueing times.
    pub(crate) queueing: (u128, u64),
    /// End of the data sent that are furthest on, and of those that arrived.
    pub(crate) highest: (u64, u64),
    pub(crate) errors: Errors,
    touched: bool,
}

/// What a capture shows of TCP beside new data in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Errors {
    pub(crate) retransmitted: u64,
    pub(crate) filled: u64,
    pub(crate) duplicates: u64,
}

impl Errors {
    /// All of them.
    pub(crate) fn sum(self) -> u64 {
        self.retransmitted + self.filled + self.duplicates
    }

    pub(crate) fn add(&mut self, other: Errors) {
        self.retransmitted += other.retransmitted;
        self.filled += other.filled;
        self.duplicates += other.duplicates;
    }
}

impl Bin {
    fn merge(&mut self, other: &Bin) {
        self.sent.add(other.sent);
        self.received.add(other.received);
        self.forwarded.add(other.forwarded);
        self.dropped.add(other.dropped);
        self.errors.add(other.errors);
        self.delay = (self.delay.0 + other.delay.0, self.delay.1 + other.delay.1);
        self.queueing = (
            self.queueing.0 + other.queueing.0,
            self.queueing.1 + other.queueing.1,
        );
        self.highest = (
            self.highest.0.max(other.highest.0),
            self.highest.1.max(other.highest.1),
        );
    }
}

/// A row: number of the step, whose, what.
pub(crate) type Row = (u64, Subject, Bin);

/// Counts in the step that is being read, and the rows of those before.
pub(crate) struct Series {
    step: Span,
    origin: Time,
    now: u64,
    ends: Time,
    whole: Bin,
    nodes: Vec<Bin>,
    links: Vec<Bin>,
    flows: Vec<Bin>,
    touched: Vec<Subject>,
    rows: Vec<Row>,
}

impl Series {
    pub(crate) fn new(step: Span, origin: Time) -> Series {
        Series {
            step,
            origin,
            now: 0,
            ends: origin.saturating_add(step),
            whole: Bin::default(),
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            touched: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The step that a time lies in.
    fn number(&self, time: Time) -> u64 {
        time.saturating_since(self.origin).as_ps() / self.step.as_ps().max(1)
    }

    /// Goes on to a time.
    #[inline]
    pub(crate) fn advance(&mut self, time: Time) -> Result<()> {
        if time < self.ends {
            return Ok(());
        }
        self.flush();
        self.now = self.number(time);
        self.ends = self
            .origin
            .saturating_add(self.step.saturating_mul(self.now.saturating_add(1)));
        if self.rows.len() > MOST_ROWS {
            return Err(LabError::new(
                LabErrorKind::BadValue,
                format!("with this step, the time series would have more than {MOST_ROWS} rows"),
            )
            .in_file(&format!("--step {}", self.step))
            .remedy("choose a longer step"));
        }
        Ok(())
    }

    /// The counts of a subject in the present step.
    #[inline]
    pub(crate) fn bin(&mut self, subject: Subject) -> &mut Bin {
        let bin = match subject {
            Subject::Trace => &mut self.whole,
            Subject::Node(node) => slot(&mut self.nodes, node),
            Subject::Link(link) => slot(&mut self.links, link),
            Subject::Flow(flow) => slot(&mut self.flows, flow),
        };
        if !bin.touched {
            bin.touched = true;
            self.touched.push(subject);
        }
        bin
    }

    /// Counts something that turned out to have happened in an earlier step, or in this one.
    pub(crate) fn late(&mut self, time: Time, subject: Subject, count: impl FnOnce(&mut Bin)) {
        let number = self.number(time);
        if number == self.now {
            return count(self.bin(subject));
        }
        let mut bin = Bin::default();
        count(&mut bin);
        self.rows.push((number, subject, bin));
    }

    fn flush(&mut self) {
        for subject in self.touched.drain(..) {
            let bin = match subject {
                Subject::Trace => &mut self.whole,
                Subject::Node(node) => &mut self.nodes[place(node)],
                Subject::Link(link) => &mut self.links[place(link)],
                Subject::Flow(flow) => &mut self.flows[place(flow)],
            };
            self.rows.push((self.now, subject, std::mem::take(bin)));
        }
    }

    /// The rows, by subject and time, each subject once per step.
    pub(crate) fn rows(&mut self) -> BTreeMap<(Subject, u64), Bin> {
        self.flush();
        let mut merged: BTreeMap<(Subject, u64), Bin> = BTreeMap::new();
        for (number, subject, bin) in self.rows.drain(..) {
            merged.entry((subject, number)).or_default().merge(&bin);
        }
        merged
    }
}

#[inline]
fn slot(bins: &mut Vec<Bin>, number: u32) -> &mut Bin {
    let at = place(number);
    if at >= bins.len() {
        bins.resize(at + 1, Bin::default());
    }
    &mut bins[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_late_is_counted_in_its_step() {
        let at = |ms: u64| Time::from_ps(ms * 1_000_000_000);
        let mut series = Series::new(Span::from_ms(10), at(0));
        series.bin(Subject::Flow(2)).sent.record(100);
        series.advance(at(35)).unwrap();
        series.bin(Subject::Flow(2)).sent.record(100);
        series.late(at(9), Subject::Flow(2), |bin| bin.sent.record(50));
        series.late(at(39), Subject::Flow(2), |bin| bin.sent.record(50));
        let rows: Vec<(u64, u64)> = series
            .rows()
            .into_iter()
            .map(|((_, number), bin)| (number, bin.sent.bytes))
            .collect();
        assert_eq!(rows, [(0, 150), (3, 150)]);
    }
}
