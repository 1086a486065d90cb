//! The generator MRG32k3a with its streams and substreams, as ns-2 and ns-3 number them.
//!
//! Sources: L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators"
//! (Operations Research 47(1), 1999), table II and figure I: the recurrences; L'Ecuyer, Simard, Chen and Kelton, "An Object-Oriented
//! Random-Number Package with Many Long Streams and Substreams" (Operations Research 50(6), 2002): streams lie 2^127 steps
//! apart, substreams 2^76. In ns-3 the seed (`RngSeed`) fills all six words of the state, a random variable takes the stream of its
//! number, and the substream is the run (`RngRun`).
//!
//! The state is kept in whole numbers; the results are those of the published floating-point code, which is exact.

/// Modulus of the first component, 2^32 - 209.
const M1: u64 = 4_294_967_087;
/// Modulus of the second component, 2^32 - 22853.
const M2: u64 = 4_294_944_443;
/// Multipliers of the first component, for the values two and three steps back; the second one is subtracted.
const A12: u64 = 1_403_580;
const A13N: u64 = 810_728;
/// Multipliers of the second component, for the values one and three steps back; the second one is subtracted.
const A21: u64 = 527_612;
const A23N: u64 = 1_370_589;

/// Steps between streams, as a power of two.
const STREAM_POWER: u32 = 127;
/// Steps between substreams, as a power of two.
const SUBSTREAM_POWER: u32 = 76;

type Matrix = [[u64; 3]; 3];

/// One step of the first component.
const STEP1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - A13N, A12, 0]];
/// One step of the second component.
const STEP2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - A23N, 0, A21]];

/// A stream of uniform draws.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mrg32k3a {
    /// The last three values of each component, the oldest first.
    state: [[u32; 3]; 2],
}

impl Mrg32k3a {
    /// The seeds that it takes.
    pub const SEEDS: std::ops::Range<u64> = 1..M2;

    /// Substream `substream` of stream `stream` under a seed.
    ///
    /// # Panics
    /// If the seed is 0 or not below 2^32 - 22853: no state of both components.
    pub fn new(seed: u64, stream: u64, substream: u64) -> Mrg32k3a {
        assert!(
            Mrg32k3a::SEEDS.contains(&seed),
            "the seed of MRG32k3a lies between 1 and {}",
            M2 - 1
        );
        let mut state = [[seed; 3]; 2];
        for (number, power) in [(stream, STREAM_POWER), (substream, SUBSTREAM_POWER)] {
            state[0] = advanced(&STEP1, state[0], number, power, M1);
            state[1] = advanced(&STEP2, state[1], number, power, M2);
        }
        Mrg32k3a {
            state: state.map(|component| component.map(narrow)),
        }
    }

    /// Uniform in (0, 1): one step of both components.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        // 1 / (m1 + 1), the published constant.
        const NORM: f64 = 1.0 / 4_294_967_088.0;
        unsigned_float(self.step()) * NORM
    }

    /// Nearly uniform in 0..2^32: no ns-3 code draws it.
    pub(crate) fn bits(&mut self) -> u64 {
        self.step() - 1
    }

    /// One step: a number in 1..=m1.
    #[inline]
    fn step(&mut self) -> u64 {
        let [first, second] = &mut self.state;
        let wide = |value: u32| u64::from(value);
        let p1 = (A12 * wide(first[1]) + A13N * (M1 - wide(first[0]))) % M1;
        let p2 = (A21 * wide(second[2]) + A23N * (M2 - wide(second[0]))) % M2;
        *first = [first[1], first[2], narrow(p1)];
        *second = [second[1], second[2], narrow(p2)];
        if p1 > p2 { p1 - p2 } else { p1 + M1 - p2 }
    }
}

/// The state `number` times 2^`power` steps on.
fn advanced(step: &Matrix, state: [u64; 3], number: u64, power: u32, modulus: u64) -> [u64; 3] {
    let (mut state, mut left) = (state, number);
    let mut leap = *step;
    for _ in 0..power {
        leap = product(&leap, &leap, modulus);
    }
    while left > 0 {
        if left & 1 == 1 {
            state = applied(&leap, state, modulus);
        }
        left >>= 1;
        if left > 0 {
            leap = product(&leap, &leap, modulus);
        }
    }
    state
}

fn applied(matrix: &Matrix, vector: [u64; 3], modulus: u64) -> [u64; 3] {
    matrix.map(|row| {
        row.iter()
            .zip(vector)
            .fold(0, |sum, (a, b)| (sum + a * b % modulus) % modulus)
    })
}

fn product(a: &Matrix, b: &Matrix, modulus: u64) -> Matrix {
    let mut result = [[0; 3]; 3];
    for (to, row) in result.iter_mut().zip(a) {
        for (column, cell) in to.iter_mut().enumerate() {
            *cell = row.iter().zip(b).fold(0, |sum, (x, other)| {
                (sum + x * other[column] % modulus) % modulus
            });
        }
    }
    result
}

/// A value below either modulus.
#[allow(clippy::as_conversions, reason = "both moduli are below 2^32")]
#[inline]
const fn narrow(value: u64) -> u32 {
    value as u32
}

#[allow(clippy::as_conversions, reason = "below 2^33, exact in an f64")]
#[inline]
const fn unsigned_float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum of `n` draws.
    fn sum(stream: &mut Mrg32k3a, n: u32) -> f64 {
        (0..n).map(|_| stream.uniform()).sum()
    }

    #[test]
    fn the_published_test_program_gives_its_published_sum() {
        // L'Ecuyer 1999, section 5.3 (and his test program): all seeds 12345, the sum of 10^7 draws is 5001090.95.
        let mut stream = Mrg32k3a::new(12345, 0, 0);
        let sum = sum(&mut stream, 10_000_000);
        assert!((sum - 5_001_090.95).abs() < 0.005, "{sum}");
    }

    #[test]
    fn streams_and_substreams_begin_where_the_package_puts_them() {
        // RngStreams' testRngStream.c: the initial states of its first streams with seed 12345, and of a next substream.
        let state = |stream, substream| Mrg32k3a::new(12345, stream, substream).state;
        assert_eq!(state(0, 0), [[12345; 3]; 2]);
        assert_eq!(
            state(1, 0),
            [
                [3_692_455_944, 1_366_884_236, 2_968_912_127],
                [335_948_734, 4_161_675_175, 475_798_818]
            ]
        );
        assert_eq!(
            state(2, 0),
            [
                [1_015_873_554, 1_310_354_410, 2_249_465_273],
                [994_084_013, 2_912_484_720, 3_876_682_925]
            ]
        );
        assert_eq!(
            state(0, 1),
            [
                [870_504_860, 2_641_697_727, 884_013_853],
                [339_352_413, 2_374_306_706, 3_651_603_887]
            ]
        );
    }

    #[test]
    fn advancing_in_one_leap_is_advancing_step_by_step() {
        let mut by_steps = Mrg32k3a::new(7, 0, 0);
        let start = by_steps.state.map(|component| component.map(u64::from));
        for _ in 0..40 {
            by_steps.step();
        }
        // 40 steps are 5 leaps of 2^3.
        let leapt = [
            advanced(&STEP1, start[0], 5, 3, M1),
            advanced(&STEP2, start[1], 5, 3, M2),
        ];
        assert_eq!(leapt.map(|component| component.map(narrow)), by_steps.state);
    }

    #[test]
    #[should_panic(expected = "the seed of MRG32k3a")]
    fn a_seed_of_zero_is_refused() {
        Mrg32k3a::new(0, 0, 0);
    }
}
