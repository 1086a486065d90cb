//! Lines of ns-2's trace format: `event time from to type size flags flow source.port sink.port sequence uid`.
//!
//! Source: ns-2.35 manual, chapter 26, and `trace.cc`. Times are rounded to whole microseconds, on the clock of ns-2 as its
//! doubles round and halves up otherwise, and printed as C's `%.15g` prints them, or printed to the picosecond; ns-2 has no line for a mark.

use crate::ns2_time;
use crate::packet::{Ecn, Flags, Kind};
use crate::trace::{Event, Record};
use sojourn_units::Time;
use std::fmt;

/// What a trace line says of a packet beyond the packet itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowLabel {
    /// What datagrams of the flow are called: `cbr`, `exp`, `pareto`.
    pub datagram: String,
    /// ns-2's flow id.
    pub id: u32,
    /// Node and port of the sender.
    pub source: (u32, u32),
    /// Node and port of the receiver.
    pub sink: (u32, u32),
}

/// The line of `record`, without its end, on a link between nodes `ends`; `None` for an event that ns-2 does not trace.
pub fn line(record: &Record, ends: (u32, u32), flow: &FlowLabel) -> Option<String> {
    let (at, birth) = (record.key.time, record.key.birth);
    let half_up = || (at.as_ps() + PS_PER_US / 2) / PS_PER_US;
    let us = ns2_time::traced_us(at, birth).unwrap_or_else(half_up);
    line_at(&Microseconds(us), record, ends, flow)
}

/// As [`line()`], with the time to the picosecond.
pub fn exact_line(record: &Record, ends: (u32, u32), flow: &FlowLabel) -> Option<String> {
    line_at(&ExactSeconds(record.key.time), record, ends, flow)
}

fn line_at(
    time: &dyn fmt::Display,
    record: &Record,
    ends: (u32, u32),
    flow: &FlowLabel,
) -> Option<String> {
    let event = match record.event {
        Event::Enqueue => '+',
        Event::Dequeue => '-',
        Event::Receive => 'r',
        Event::Drop(_) => 'd',
        Event::Mark(_) => return None,
    };
    let kind = match record.packet.kind {
        Kind::Datagram => flow.datagram.as_str(),
        Kind::Segment | Kind::Pushed => "tcp",
        Kind::Ack => "ack",
        Kind::Control => "rtcp",
    };
    // ns-2 prints -1 for what has no number.
    let sequence: &dyn fmt::Display = match record.packet.kind {
        Kind::Control => &-1,
        _ => &record.packet.seq,
    };
    let (from, to) = if record.packet.flags.has(Flags::REVERSE) {
        (flow.sink, flow.source)
    } else {
        (flow.source, flow.sink)
    };
    Some(format!(
        "{event} {time} {} {} {kind} {} {} {} {}.{} {}.{} {} {}",
        ends.0,
        ends.1,
        record.packet.size,
        flags(record),
        flow.id,
        from.0,
        from.1,
        to.0,
        to.1,
        sequence,
        record.packet.uid,
    ))
}

/// The seven flags: ECN echo, priority, one that is unused, window reduced, CE, fast start, ECN-capable.
fn flags(record: &Record) -> String {
    let ecn = Ecn::from_bits(record.packet.tos);
    let mark = |set, letter| if set { letter } else { '-' };
    [
        mark(record.packet.flags.has(Flags::ECE), 'C'),
        '-',
        '-',
        mark(record.packet.flags.has(Flags::CWR), 'A'),
        mark(ecn == Ecn::Ce, 'E'),
        '-',
        mark(ecn.is_capable(), 'N'),
    ]
    .iter()
    .collect()
}

const PS_PER_US: u64 = 1_000_000;
const US_PER_S: u64 = 1_000_000;

/// A time as `%.15g` prints seconds that were rounded to microseconds.
struct Microseconds(u64);

impl fmt::Display for Microseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = self.0;
        if (1..100).contains(&us) {
            // Below 1e-4, `%g` turns to an exponent.
            return match (us / 10, us % 10) {
                (0, ones) => write!(f, "{ones}e-06"),
                (tens, 0) => write!(f, "{tens}e-05"),
                (tens, ones) => write!(f, "{tens}.{ones}e-05"),
            };
        }
        let (whole, fraction) = (us / US_PER_S, us % US_PER_S);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{fraction:06}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

const PS_PER_S: u64 = 1_000_000_000_000;

/// A time in seconds with all its digits.
struct ExactSeconds(Time);

impl fmt::Display for ExactSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ps = self.0.as_ps();
        let (whole, fraction) = (ps / PS_PER_S, ps % PS_PER_S);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{fraction:012}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Key;
    use crate::packet::Packet;
    use crate::port::{DropReason, MarkReason};

    fn label() -> FlowLabel {
        FlowLabel {
            datagram: "cbr".to_owned(),
            id: 1,
            source: (2, 0),
            sink: (3, 0),
        }
    }

    fn seconds(us: u64) -> String {
        Microseconds(us).to_string()
    }

    #[test]
    fn times_print_as_c_prints_them() {
        let printed = [0, 1, 10, 32, 99, 100, 2032, 277_456, 1_000_000, 12_500_000].map(seconds);
        let expected = [
            "0", "1e-06", "1e-05", "3.2e-05", "9.9e-05", "0.0001", "0.002032", "0.277456", "1",
            "12.5",
        ];
        assert_eq!(printed, expected);
        let half = Time::from_ps(2_032_500_000);
        assert_eq!(ExactSeconds(half).to_string(), "0.0020325");
        let long = Time::from_ps(3_000_000_000_001);
        assert_eq!(ExactSeconds(long).to_string(), "3.000000000001");
        assert_eq!(ExactSeconds(Time::from_ps(4 * PS_PER_S)).to_string(), "4");
    }

    #[test]
    fn half_a_microsecond_rounds_up_and_on_the_clock_of_ns_2_as_its_double_does() {
        let label = label();
        let time_of = |key| {
            let record = Record {
                key,
                event: Event::Receive,
                link: 0,
                packet: Packet::test(1000, 0, 7).label(),
                side: None,
            };
            let line = line(&record, (0, 1), &label).expect("a line");
            line.split(' ').nth(1).map(str::to_owned)
        };
        let half = Key::before(Time::from_ps(2_032_500_000));
        assert_eq!(time_of(half).as_deref(), Some("0.002033"));
        let mut clock = ns2_time::Clock::default();
        let mut of = |seconds: f64| {
            let (time, birth) = clock.event(seconds);
            time_of(Key::event(time, birth, 0))
        };
        let exact = 0.300_000_5_f64;
        let below = f64::from_bits(exact.to_bits() - 4);
        assert_eq!(of(below).as_deref(), Some("0.3"));
        assert_eq!(of(exact).as_deref(), Some("0.300001"));
    }

    #[test]
    fn a_line_names_what_happened_where_and_to_which_packet() {
        let label = label();
        let mut packet = Packet::test(1000, 0, 7);
        let key = Key::before(Time::from_ps(10_800_000_000));
        let drop = Event::Drop(DropReason::Overlimit);
        let record = |event, packet: &Packet| Record {
            key,
            event,
            link: 0,
            packet: packet.label(),
            side: None,
        };
        assert_eq!(
            line(&record(drop, &packet), (0, 1), &label).as_deref(),
            Some("d 0.0108 0 1 cbr 1000 ------- 1 2.0 3.0 7 7")
        );
        packet.kind = Kind::Ack;
        packet.flags = Flags::REVERSE.with(Flags::ECE);
        packet.tos = Ecn::Ce.bits();
        assert_eq!(
            line(&record(Event::Receive, &packet), (1, 0), &label).as_deref(),
            Some("r 0.0108 1 0 ack 1000 C---E-N 1 3.0 2.0 7 7")
        );
        packet.kind = Kind::Control;
        assert_eq!(
            line(&record(Event::Receive, &packet), (1, 0), &label).as_deref(),
            Some("r 0.0108 1 0 rtcp 1000 C---E-N 1 3.0 2.0 -1 7")
        );
        let mark = Event::Mark(MarkReason::Threshold);
        assert_eq!(line(&record(mark, &packet), (0, 1), &label), None);
    }
}
