//! Idle times, and what `tc`'s table makes of them.

use crate::aqm::float;
use sojourn_units::{Rate, Span, Time};

/// Since when the link has had nothing to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// When it began; `None` while the link is busy.
    pub(super) since: Option<Time>,
    /// The average decays in idle times.
    pub(super) counts: bool,
}

impl Idle {
    /// Every queue begins idle.
    pub(crate) fn new(counts: bool) -> Idle {
        let mut idle = Idle {
            since: None,
            counts,
        };
        idle.begin(Time::ZERO);
        idle
    }

    #[inline]
    pub(crate) fn begin(&mut self, now: Time) {
        if self.counts {
            self.since = Some(now);
        }
    }

    /// How long the link was idle, which ends now.
    #[inline]
    pub(crate) fn end(&mut self, now: Time) -> Option<Span> {
        self.since.take().map(|since| now.since(since))
    }
}

/// How far the average decays in an idle time, as `tc` tabulates it.
pub(crate) struct IdleTable {
    /// A cell is 2^`cell_log` microseconds.
    pub(super) cell_log: u32,
    /// By how many bits the average is shifted, by idle time in cells.
    pub(super) shifts: [u8; 256],
}

impl Default for IdleTable {
    fn default() -> IdleTable {
        IdleTable {
            cell_log: 0,
            shifts: [0; 256],
        }
    }
}

impl IdleTable {
    pub(crate) fn new(wlog: u32, avpkt: u64, rate: Rate) -> IdleTable {
        // Ticks of 64 ns, whole ones.
        let packet_ticks = (float(avpkt) * 8.0 / rate.as_bps_f64() * 1e6 * 15.625).floor();
        let decay = -libm::log(1.0 - 1.0 / float(1 << wlog)) / packet_ticks.max(1.0);
        let longest = 31.0 / decay;
        let fits = |log: &u32| longest / float(1 << log) < 512.0;
        let cell_log = (0..32).find(fits).unwrap_or(31);
        let mut shifts = [31; 256];
        for (index, shift) in (0..255_u32).zip(&mut shifts) {
            *shift = whole_u8((float(u64::from(index) << cell_log) * decay).min(31.0));
        }
        IdleTable { cell_log, shifts }
    }

    pub(crate) fn decayed(&self, average: u64, idle: Span) -> u64 {
        let us = (idle.as_ps() / PS_PER_US).min(255 << self.cell_log);
        let cell = usize::try_from(us >> self.cell_log).unwrap_or(255);
        let shift = self.shifts.get(cell).copied().unwrap_or(31);
        if shift != 0 {
            return average >> shift;
        }
        let lost = average.wrapping_mul(us) >> self.cell_log;
        if lost < average >> 1 {
            average - lost
        } else {
            average >> 1
        }
    }
}

const PS_PER_US: u64 = 1_000_000;

#[allow(clippy::as_conversions, reason = "between 0 and 31, cut as tc does")]
const fn whole_u8(x: f64) -> u8 {
    x as u8
}
