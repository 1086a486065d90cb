//! What is known of a capture after some packets.

use sojourn_units::Time;

use super::source::Passing;
use super::twice::Twice;
use crate::read::analysis::Options;
use crate::read::dialogue::{Direction, Nature};
use crate::read::event::{Lookup, place};
use crate::read::frame::{Key, Packet, Tcp};
use crate::read::moments::{Counts, Sizes};
use crate::read::series::{Errors, Series, Subject};

/// What is known of a capture after some packets.
pub(super) struct Book {
    pub(super) directions: Vec<(u32, Key, Direction)>,
    pub(super) by_key: Lookup<(u32, Key), u32>,
    /// Of each interface, that of the other direction of its link.
    pub(super) opposite: Vec<Option<u32>>,
    pub(super) interfaces: Vec<Seen>,
    pub(super) series: Option<Series>,
    /// Time of the first packet, and of the last that counts.
    pub(super) zero: Option<Time>,
    pub(super) last: Option<Time>,
    pub(super) packets: u64,
    pub(super) counted: Counts,
    pub(super) offload: u64,
    pub(super) twice: Twice,
    pub(super) tunnelled: u64,
    pub(super) not_ip: u64,
    pub(super) damaged: u64,
    pub(super) unknown_link: u64,
}

/// What an interface saw.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Seen {
    pub(super) packets: Sizes,
    pub(super) dropped: u64,
    pub(super) active: Option<(Time, Time)>,
}

impl Book {
    pub(super) fn new() -> Book {
        Book {
            directions: Vec::new(),
            by_key: Lookup::default(),
            opposite: Vec::new(),
            interfaces: Vec::new(),
            series: None,
            zero: None,
            last: None,
            packets: 0,
            counted: Counts::default(),
            offload: 0,
            twice: Twice::new(),
            tunnelled: 0,
            not_ip: 0,
            damaged: 0,
            unknown_link: 0,
        }
    }

    /// The number of a direction of a conversation at an interface.
    pub(super) fn direction(&mut self, interface: u32, key: Key) -> u32 {
        let next = u32::try_from(self.directions.len()).unwrap_or(u32::MAX - 1);
        let number = *self.by_key.entry((interface, key)).or_insert(next);
        if number == next {
            self.directions.push((interface, key, Direction::default()));
        }
        number
    }

    /// The number of the other direction: at the same interface, or at that of the other direction of its link.
    pub(super) fn reverse(&self, interface: u32, key: Key) -> Option<u32> {
        let at = |interface| self.by_key.get(&(interface, key.reversed())).copied();
        let opposite = || self.opposite.get(place(interface)).copied().flatten();
        at(interface).or_else(|| opposite().and_then(at))
    }

    /// Takes a packet; `counted` says whether it is to be counted.
    pub(super) fn record(&mut self, record: &Passing, packet: &Packet, counted: bool) {
        if !counted {
            return;
        }
        let number = self.direction(record.interface, packet.key);
        let reverse = self.reverse(record.interface, packet.key);
        if let Some(tcp) = &packet.tcp {
            self.renew(number, reverse, tcp);
        }
        let mut repeats = false;
        if let (Some(tcp), Some(reverse)) = (&packet.tcp, reverse) {
            repeats = self.directions[place(reverse)]
                .2
                .acknowledge(record.time, tcp);
            if !tcp.syn {
                self.directions[place(number)].2.confirm(record.time);
            }
        }
        let way = &mut self.directions[place(number)].2;
        let nature = way.record(record.time, packet);
        way.duplicates += u64::from(repeats);
        let errors = Errors {
            retransmitted: u64::from(nature == Nature::Retransmitted),
            filled: u64::from(nature == Nature::Filled),
            duplicates: u64::from(repeats),
        };
        self.counted.record(packet.bytes);
        self.offload += u64::from(packet.offload);
        self.twice.record(record.time, record.interface, packet);
        self.tunnelled += u64::from(packet.tunnelled);
        if let Some(series) = &mut self.series {
            for subject in [Subject::Flow(number), Subject::Trace] {
                let bin = series.bin(subject);
                bin.sent.record(packet.bytes);
                bin.errors.add(errors);
            }
        }
    }

    /// Forgets what was seen of an earlier connection on the same ports, where a segment of this direction opens another.
    pub(super) fn renew(&mut self, number: u32, reverse: Option<u32>, tcp: &Tcp) {
        if !tcp.syn {
            return;
        }
        let none = Direction::default();
        let back = reverse.map(place);
        let way = &self.directions[place(number)].2;
        let other = back.map_or(&none, |back| &self.directions[back].2);
        let anew = way.begins_anew(tcp, other);
        // The answer begins one of its own direction; of the other one, if the SYN was not captured.
        let both = match tcp.acknowledgement {
            None => anew,
            Some(_) => other.missed_syn(tcp),
        };
        if anew {
            self.directions[place(number)].2.renew();
        }
        if let (true, Some(back)) = (both, back) {
            self.directions[back].2.renew();
        }
    }

    pub(super) fn interface(&mut self, record: &Passing) {
        let at = place(record.interface);
        if at >= self.interfaces.len() {
            self.interfaces.resize_with(at + 1, Seen::default);
        }
        let seen = &mut self.interfaces[at];
        seen.packets.record(record.length);
        seen.dropped += record.dropped;
        let first = seen.active.map_or(record.time, |(first, _)| first);
        seen.active = Some((first, record.time));
    }
}

impl Book {
    /// What has to be known of the bytes that were counted.
    pub(super) fn remark(&self, file: &str) -> Option<String> {
        (self.offload > 0).then(|| {
            format!(
                "{file}: {} of {} IP packets have length 0 in their header, as segmentation offload (TSO) leaves it where a sender captures; \
                 their bytes are counted by the frame",
                self.offload, self.counted.packets
            )
        })
    }

    /// Whether what happens at a time counts; `None` if nothing from there on does. Times are told from the first packet, of a capture
    /// of a simulation from zero.
    pub(super) fn wanted(&self, time: Time, options: &Options) -> Option<bool> {
        let zero = self.zero.unwrap_or(Time::ZERO);
        let since = |at: Option<Time>| at.map(|at| zero.saturating_add(at.since(Time::ZERO)));
        if since(options.to).is_some_and(|to| time >= to) {
            return None;
        }
        Some(since(options.from).is_none_or(|from| time >= from))
    }
}
