//! HighSpeed TCP as Linux has it.
//!
//! Source: tcp_highspeed.c of Linux 6.1.192, read for behaviour, which takes RFC 3649's table for its formulas. Where it is not the RFC: a(w) counts per
//! acknowledgement, not per segment, so that delayed acknowledgements halve the growth; b(w) is that of the table's window, in 256ths, rounded
//! down; the line is looked up when the window grows by it, not when it falls, and lags behind.

use super::ns3::TABLE;
use super::{Highspeed, HighspeedParams};
use crate::Build;
use crate::Traits;
use crate::linux::{Ops, State};
use crate::num::{real, whole};
use sojourn_units::ParamError;

/// The lines that Linux has of the table; ns-3 has one more.
const LINES: usize = 72;

/// Where ns-3's table departs from the RFC's, which Linux has.
const MISPRINT: (u64, u64) = (53_667, 53_677);

/// See [`super::Highspeed`].
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// b(w) of the RFC.
    law: Highspeed,
    line: usize,
}

impl Linux {
    /// The window up to which a line holds.
    fn window(line: usize) -> u64 {
        match TABLE[line].0 {
            window if window == MISPRINT.0 => MISPRINT.1,
            window => window,
        }
    }

    fn find(&mut self, cwnd: u64) {
        while cwnd > Linux::window(self.line) && self.line < LINES - 1 {
            self.line += 1;
        }
        while self.line > 0 && cwnd <= Linux::window(self.line - 1) {
            self.line -= 1;
        }
    }

    /// b(w) of the line, 256ths; unlike the RFC's it falls below a tenth.
    fn decrease(&self) -> u64 {
        let place = self.law.place(real(Linux::window(self.line)));
        whole(256.0 * (0.5 + (self.law.high_decrease - 0.5) * place))
    }
}

impl Build for Linux {
    type Params = HighspeedParams;

    fn build(_: &HighspeedParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            law: Highspeed::build(&HighspeedParams::default()).unwrap(),
            line: 0,
        })
    }
}

impl Ops for Linux {
    fn traits(&self) -> Traits {
        Traits::default()
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if !state.avoids(acked, limited) {
            return;
        }
        self.find(state.cwnd);
        state.counted += u64::try_from(self.line).unwrap_or(0) + 1;
        if state.counted >= state.cwnd {
            state.counted -= state.cwnd;
            state.cwnd += 1;
        }
    }

    fn threshold(&mut self, state: &State) -> u64 {
        (state.cwnd - state.cwnd * self.decrease() / 256).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falls_are_the_kernels_256ths() {
        let mut linux = Linux::build(&HighspeedParams::default()).unwrap();
        // Lines of hstcp_aimd_vals.
        for (window, md) in [
            (38, 128),
            (118, 112),
            (1_058, 83),
            (10_661, 52),
            (53_677, 31),
            (89_053, 24),
        ] {
            linux.find(window);
            assert_eq!((Linux::window(linux.line), linux.decrease()), (window, md));
        }
        linux.find(1_000_000);
        assert_eq!(linux.line, LINES - 1);
    }
}
