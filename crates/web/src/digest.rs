//! One number for an outcome, equal only if every bit of the outcome is.

use std::fmt::{self, Write as _};

use sojourn_results::outcome::RunOutcome;

/// FNV-1a over 64 bits (draft-eastlake-fnv).
struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// The checksum of an outcome as text: every count, and every float with all its digits.
pub fn digest(outcome: &RunOutcome) -> String {
    let mut sum = Fnv(0xcbf2_9ce4_8422_2325);
    match write!(sum, "{outcome:?}") {
        Ok(()) => format!("{:016x}", sum.0),
        Err(fmt::Error) => String::new(),
    }
}
