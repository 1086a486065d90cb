//! The packets of a capture, in the order of time.

use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::Time;

use super::digest::Digest;
use crate::read::event::{ahead, backwards, place};
use crate::read::format::Format;
use crate::read::format::pcap::{Capture, PS_PER_S, Record};
use crate::read::frame::{LINK_TYPES, Other, Packet, Tunnels, decode_whole};
use crate::read::input::{Fault, Input};
use crate::read::order::{Ordered, Standing};

/// Captures that begin before this time, in seconds, count from 0 and not from 1970: they are of a simulation.
const SIMULATED: u128 = 100 * 86_400;

/// So much earlier than the first packet may those of another capture be, in seconds.
const MARGIN: u128 = 3600;

/// The packet of IP in a record with the digest of what it carries, if that is needed, or why there is none.
pub(super) type Content = std::result::Result<(Packet, Digest), Other>;

/// A packet whose time counts from the base of its capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passing {
    pub(super) time: Time,
    pub(super) interface: u32,
    pub(super) length: u32,
    pub(super) dropped: u64,
}

/// A capture, in the order of time, and the next packet of it that can be used.
pub(super) struct Source {
    pub(super) capture: Capture,
    pub(super) tunnels: Tunnels,
    pub(super) next: Option<(Passing, Packet, Digest)>,
    /// Digests are needed.
    pub(super) digests: bool,
    pub(super) ordered: Ordered<u128, (Record, Content)>,
    pub(super) ended: bool,
    /// Seconds since 1970 that times count from: picoseconds since 1970 need more than 64 bits.
    pub(super) base: Option<u128>,
    pub(super) packets: u64,
}

impl Source {
    pub(super) fn open(
        input: Input,
        format: Format,
        tunnels: Tunnels,
        digests: bool,
    ) -> Result<Source> {
        let Some(layout) = format.layout() else {
            let problem = format!("this is {}, not a capture", format.title());
            let error = LabError::new(LabErrorKind::Contradiction, problem);
            return Err(error.in_file(input.name()));
        };
        Ok(Source {
            digests,
            tunnels,
            ordered: Ordered::new(input.lenient()),
            capture: Capture::open(input, layout)?,
            next: None,
            ended: false,
            base: None,
            packets: 0,
        })
    }

    /// Reads on to the next packet of IP.
    pub(super) fn advance(&mut self) -> Result<()> {
        self.next = None;
        while self.next.is_none()
            && let Some((passing, packet)) = self.take()?
        {
            self.next = packet
                .ok()
                .map(|(packet, digest)| (passing, packet, digest));
        }
        Ok(())
    }

    /// The next packet.
    pub(super) fn take(&mut self) -> Result<Option<(Passing, Content)>> {
        loop {
            while self.ordered.wants() && !self.ended {
                self.read()?;
            }
            self.base = self.base.or_else(|| self.likely_base());
            let Some((standing, (record, packet))) = self.ordered.pop() else {
                return Ok(None);
            };
            let time = self.base.and_then(|base| since(base, record.time));
            let fault = match (standing, time) {
                (Standing::Fits, Some(time)) => {
                    let passing = Passing {
                        time,
                        interface: record.interface,
                        length: record.length,
                        dropped: record.dropped,
                    };
                    self.packets += 1;
                    if let Err(Other::LinkType(kind)) = packet {
                        self.unknown(kind, record.byte)?;
                    }
                    return Ok(Some((passing, packet)));
                }
                (Standing::Fits, None) => {
                    Fault::new("the time of a packet is months away from that of the first packet")
                }
                (Standing::Behind(last), _) => backwards(record.time, last),
                (Standing::Ahead(next), _) => ahead(record.time, next),
            };
            self.capture.skip_or(&fault, record.byte)?;
        }
    }

    pub(super) fn read(&mut self) -> Result<()> {
        let Some(record) = self.capture.next_record()? else {
            self.ended = true;
            return Ok(());
        };
        let link_type = self.capture.interfaces()[place(record.interface)].link_type;
        let data = self.capture.data();
        let packet = decode_whole(link_type, data, record.length, self.tunnels);
        let packet = packet.map(|(packet, payload)| {
            let digest = match self.digests {
                true => Digest::of(payload),
                false => Digest::default(),
            };
            (packet, digest)
        });
        self.ordered.push(Some(record.time), (record, packet));
        Ok(())
    }

    /// A link type that is not known makes a capture useless, unless lenient.
    pub(super) fn unknown(&self, link_type: i32, byte: u64) -> Result<()> {
        let fault = Fault {
            problem: format!(
                "packets of link type {link_type} cannot be read (allowed: {LINK_TYPES})"
            ),
            remedy: "use --lenient to count and skip them",
        };
        match self.capture.lenient() {
            true => Ok(()),
            false => Err(self.capture.fault(&fault, byte)),
        }
    }

    /// The base by the first packet from which most of those in sight have a time: the time of the very first may be wrong.
    pub(super) fn likely_base(&self) -> Option<u128> {
        let times = || self.ordered.waiting().map(|(record, _)| record.time);
        let bases = || {
            times().map(|ps| match ps / PS_PER_S {
                seconds if seconds < SIMULATED => 0,
                seconds => seconds - MARGIN,
            })
        };
        let near = |base: u128| times().filter(|ps| since(base, *ps).is_some()).count();
        let most = bases().find(|base| 2 * near(*base) >= times().count());
        most.or_else(|| bases().next())
    }

    /// The error of a capture without packets, unless something was skipped.
    pub(super) fn check(&self) -> Result<()> {
        if self.packets > 0 || self.capture.skipped() > 0 {
            return Ok(());
        }
        let fault = Fault {
            problem: "the capture has no packets".to_owned(),
            remedy: "check the capture filter, and that packets passed while it ran",
        };
        Err(self.capture.fault(&fault, self.capture.position()))
    }
}

/// A time in picoseconds since 1970, from a base in seconds on; `None` out of range.
fn since(base: u128, ps: u128) -> Option<Time> {
    let ps = ps.checked_sub(base * PS_PER_S)?;
    u64::try_from(ps).ok().map(Time::from_ps)
}
