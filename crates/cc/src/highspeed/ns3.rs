//! HighSpeed TCP as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-highspeed.cc, which takes RFC 3649's table for its formulas. Where it is not the formulas: growth in whole
//! segments, falls in hundredths, and of what is in flight.

use super::HighspeedParams;
use crate::Build;
use crate::ns3::{Ops, State};
use crate::num::{real, whole};
use sojourn_units::ParamError;

/// RFC 3649, table 12: windows up to which the n-th line holds (its a(w) is n), and b(w) in hundredths.
pub(super) const TABLE: &[(u64, u32)] = &[
    (38, 50),
    (118, 44),
    (221, 41),
    (347, 38),
    (495, 37),
    (663, 35),
    (851, 34),
    (1_058, 33),
    (1_284, 32),
    (1_529, 31),
    (1_793, 30),
    (2_076, 29),
    (2_378, 28),
    (2_699, 28),
    (3_039, 27),
    (3_399, 27),
    (3_778, 26),
    (4_177, 26),
    (4_596, 25),
    (5_036, 25),
    (5_497, 24),
    (5_979, 24),
    (6_483, 23),
    (7_009, 23),
    (7_558, 22),
    (8_130, 22),
    (8_726, 22),
    (9_346, 21),
    (9_991, 21),
    (10_661, 21),
    (11_358, 20),
    (12_082, 20),
    (12_834, 20),
    (13_614, 19),
    (14_424, 19),
    (15_265, 19),
    (16_137, 19),
    (17_042, 18),
    (17_981, 18),
    (18_955, 18),
    (19_965, 17),
    (21_013, 17),
    (22_101, 17),
    (23_230, 17),
    (24_402, 16),
    (25_618, 16),
    (26_881, 16),
    (28_193, 16),
    (29_557, 15),
    (30_975, 15),
    (32_450, 15),
    (33_986, 15),
    (35_586, 14),
    (37_253, 14),
    (38_992, 14),
    (40_808, 14),
    (42_707, 13),
    (44_694, 13),
    (46_776, 13),
    (48_961, 13),
    (51_258, 13),
    (53_667, 12),
    (56_230, 12),
    (58_932, 12),
    (61_799, 12),
    (64_851, 11),
    (68_113, 11),
    (71_617, 11),
    (75_401, 10),
    (79_517, 10),
    (84_035, 10),
    (89_053, 10),
    (94_717, 9),
];

/// See [`super::Highspeed`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    /// Segments acknowledged, times a(w).
    counted: u64,
}

impl Ns3 {
    /// The line for a window of `cwnd` segments.
    fn line(cwnd: u64) -> usize {
        TABLE
            .partition_point(|&(most, _)| most < cwnd)
            .min(TABLE.len() - 1)
    }
}

impl Build for Ns3 {
    type Params = HighspeedParams;

    fn build(_: &HighspeedParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 { counted: 0 })
    }
}

impl Ops for Ns3 {
    fn increase(&mut self, state: &mut State, segments: u64) {
        state.increase(segments, |state, left| {
            let line = Ns3::line(state.window.segments());
            self.counted += left * (u64::try_from(line).unwrap_or(0) + 1);
            state.grow_by(&mut self.counted);
        });
    }

    fn threshold(&mut self, state: &State, in_flight: u64) -> u64 {
        let mss = state.window.mss;
        let flying = in_flight / mss;
        let left = 1.0 - f64::from(TABLE[Ns3::line(flying)].1) / 100.0;
        whole((real(flying) * left).max(2.0)) * mss
    }
}
