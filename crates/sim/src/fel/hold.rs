//! The hold model, the measure of event lists: take the least event, schedule it again a random
//! increment later, and repeat at a constant number of pending events.
//!
//! Source: D. W. Jones, "An empirical comparison of priority-queue and event-set implementations",
//! CACM 29(4), 1986, for the model and the distributions of increments. Deviation: increments are
//! drawn beforehand into a table which is read round and round, so that the list is measured and
//! not the logarithm.

use super::EventList;

/// The distribution of increments. All are multiples of one unit, [`UNIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increments {
    /// Exponential of mean 1.
    Exponential,
    /// Jones' bimodal: uniform below 0.95238, and one time in ten 9.5238 more.
    Bimodal,
    /// Jones' biased: uniform between 0.9 and 1.1.
    NearConstant,
}

impl Increments {
    /// Every distribution, in the order of the tables.
    pub const ALL: [Self; 3] = [Self::Exponential, Self::Bimodal, Self::NearConstant];
}

/// The unit of the increments: one millisecond, in picoseconds.
pub const UNIT: u64 = 1_000_000_000;

/// Runs `ops` holds on an empty `list` of at least `n` components, all of which are pending, and
/// returns a checksum of the events' times and components in their order: equal for every list.
pub fn hold<L: EventList>(
    list: &mut L,
    n: u32,
    increments: Increments,
    ops: u64,
    seed: u64,
) -> u64 {
    let mut hold = Hold::new(n, increments, seed);
    hold.fill(list);
    hold.run(list, ops)
}

/// The hold model in steps, so that its preparation need not be timed.
#[derive(Clone, Debug)]
pub struct Hold {
    n: u32,
    table: Vec<u64>,
    next: usize,
}

impl Hold {
    /// Draws the table of increments.
    pub fn new(n: u32, increments: Increments, seed: u64) -> Self {
        let mut uniform = Uniform(seed.wrapping_mul(SPREAD) | 1);
        let table = (0..TABLE)
            .map(|_| match increments {
                Increments::Exponential => -libm::log(uniform.draw()),
                Increments::Bimodal => {
                    let far = if uniform.draw() < 0.1 { 9.5238 } else { 0.0 };
                    0.95238 * uniform.draw() + far
                }
                Increments::NearConstant => 0.9 + 0.2 * uniform.draw(),
            })
            .map(picoseconds)
            .collect();
        Self { n, table, next: 0 }
    }

    /// Schedules the first event of each component.
    pub fn fill<L: EventList>(&mut self, list: &mut L) {
        for id in 0..self.n {
            let first = self.draw();
            list.set(id, first, 0);
        }
    }

    /// Runs `ops` holds, and returns a checksum of the events in their order.
    pub fn run<L: EventList>(&mut self, list: &mut L, ops: u64) -> u64 {
        let mut checksum = 0_u64;
        for _ in 0..ops {
            let Some(event) = list.pop() else { break };
            checksum = checksum.rotate_left(5) ^ event.time ^ u64::from(event.id);
            list.set(event.id, event.time + self.draw(), event.time);
        }
        checksum
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        let increment = self.table[self.next];
        self.next += 1;
        if self.next == TABLE {
            self.next = 0;
        }
        increment
    }
}

/// A prime, so that no component meets the same increments at every turn; small enough for a cache.
const TABLE: usize = 4093;

/// 2^64 over the golden ratio: spreads small seeds over the word.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Numbers in (0, 1) from the upper 32 bits of G. Marsaglia's xorshift with shifts 13, 7 and 17: "Xorshift RNGs",
/// Journal of Statistical Software 8(14), 2003.
struct Uniform(u64);

impl Uniform {
    fn draw(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let upper = u32::try_from(self.0 >> 32).expect("32 bits");
        (f64::from(upper) + 0.5) / 4_294_967_296.0
    }
}

/// An increment in picoseconds, rounded down.
fn picoseconds(units: f64) -> u64 {
    (units * UNIT as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increments_have_the_means_of_their_distributions() {
        for (increments, mean) in [
            (Increments::Exponential, 1.0),
            (Increments::Bimodal, 0.47619 + 0.95238),
            (Increments::NearConstant, 1.0),
        ] {
            let hold = Hold::new(1, increments, 1);
            let sum: u64 = hold.table.iter().sum();
            let measured = sum as f64 / TABLE as f64 / UNIT as f64;
            assert!(
                (measured / mean - 1.0).abs() < 0.1,
                "{increments:?}: {measured}"
            );
        }
    }
}
