//! Voice quality as people would judge it: the E-model.
//!
//! Source: ITU-T G.107 (06/2015), formulas 7-1 to 7-29 and annex B; its default values give R = 93.2. They are written down from
//! memory and were checked by that value, by table B.1 (R to MOS) and by the impairments of G.113 that the literature cites.
//! Only what a packet network changes is a parameter: delay, loss, burstiness of loss, codec.

/// What a packet network and a codec do to voice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Voice {
    /// Delay from mouth to ear, milliseconds (Ta; echo comes back after twice that).
    pub delay: f64,
    /// Share of packets that are lost or too late (Ppl / 100).
    pub loss: f64,
    /// Mean length of a burst of losses over that of losses at random (BurstR); 1 for losses at random.
    pub burst: f64,
    /// Equipment impairment factor of the codec (Ie).
    pub ie: f64,
    /// Robustness of the codec against losses (Bpl).
    pub bpl: f64,
}

// Default values (table 3).
const SLR: f64 = 8.0;
const RLR: f64 = 2.0;
const STMR: f64 = 15.0;
const LSTR: f64 = 18.0;
const DS: f64 = 3.0;
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
const QDU: f64 = 1.0;
const NC: f64 = -70.0;
const NFOR: f64 = -64.0;
const PS: f64 = 35.0;
const PR: f64 = 35.0;

fn lg(x: f64) -> f64 {
    libm::log10(x)
}

/// 10 to the tenth part: decibels as a ratio.
fn ratio(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

/// (1 + x^n)^(1/n), where x may be negative and n is even or x is not.
fn rounded(x: f64, n: f64) -> f64 {
    libm::pow(1.0 + libm::pow(x, n), 1.0 / n)
}

/// Sum of the noise powers, dBm0p (No).
fn noise() -> f64 {
    let olr = SLR + RLR;
    let at_sender = PS - SLR - DS - 100.0 + 0.004 * libm::pow(PS - olr - DS - 14.0, 2.0);
    let effective = PR + 10.0 * lg(1.0 + ratio(10.0 - LSTR));
    let at_receiver = RLR - 121.0 + effective + 0.008 * libm::pow(effective - 35.0, 2.0);
    let floor = NFOR + RLR;
    10.0 * lg(ratio(NC) + ratio(at_sender) + ratio(at_receiver) + ratio(floor))
}

/// Impairments that go with the voice (Is), of a signal to noise ratio `ro`.
fn simultaneous(ro: f64, noise: f64, t: f64) -> f64 {
    let olr = SLR + RLR;
    let x = (olr + 0.2 * (64.0 + noise - RLR)) / 8.0;
    let loudness = 20.0 * (rounded(x, 8.0) - x);
    let sidetone = -10.0 * lg(ratio(-STMR) + libm::exp(-t / 4.0) * ratio(-TELR));
    let sidetone = 12.0 * rounded((sidetone - 13.0) / 6.0, 8.0)
        - 28.0 * rounded((sidetone + 1.0) / 19.4, 35.0)
        - 13.0 * rounded((sidetone - 3.0) / 33.0, 13.0)
        + 29.0;
    let q = 37.0 - 15.0 * lg(QDU);
    let g = 1.07 + 0.258 * q + 0.0602 * q * q;
    let y = (ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
    let z = 46.0 / 30.0 - g / 40.0;
    let quantization = 15.0 * lg(1.0 + libm::pow(10.0, y) + libm::pow(10.0, z));
    loudness + sidetone + quantization
}

/// Impairments by delay (Id).
fn delayed(ro: f64, noise: f64, ta: f64) -> f64 {
    let (t, tr) = (ta, 2.0 * ta);
    let talker = if t < 1.0 {
        0.0
    } else {
        let terv =
            TELR - 40.0 * lg((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * libm::exp(-0.3 * t * t);
        let re = 80.0 + 2.5 * (terv - 14.0);
        let half = (-1.5 * (noise - RLR) - re) / 2.0;
        (half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - libm::exp(-t))
    };
    let rle = 10.5 * (WEPL + 7.0) * libm::pow(tr + 1.0, -0.25);
    let half = (ro - rle) / 2.0;
    let listener = half + (half * half + 169.0).sqrt();
    let absolute = if ta <= 100.0 {
        0.0
    } else {
        let x = lg(ta / 100.0) / lg(2.0);
        25.0 * (rounded(x, 6.0) - 3.0 * rounded(x / 3.0, 6.0) + 2.0)
    };
    talker + listener + absolute
}

impl Voice {
    /// The transmission rating factor R: 93.2 without any impairment.
    pub fn rating(&self) -> f64 {
        let noise = noise();
        let ro = 15.0 - 1.5 * (SLR + noise);
        let loss = 100.0 * self.loss;
        let equipment = self.ie + (95.0 - self.ie) * loss / (loss / self.burst.max(1.0) + self.bpl);
        ro - simultaneous(ro, noise, self.delay) - delayed(ro, noise, self.delay) - equipment
    }
}

/// The mean opinion score that a rating stands for (annex B): 1 (bad) to 4.5.
pub fn mean_opinion_score(rating: f64) -> f64 {
    if rating <= 0.0 {
        return 1.0;
    }
    if rating >= 100.0 {
        return 4.5;
    }
    // The cubic dips below 1 for ratings under 6.5.
    (1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAR: Voice = Voice {
        delay: 0.0,
        loss: 0.0,
        burst: 1.0,
        ie: 0.0,
        bpl: 4.3,
    };

    #[test]
    fn default_values_give_93_2() {
        let rating = CLEAR.rating();
        assert!((rating - 93.2).abs() < 0.05, "{rating}");
        assert!((mean_opinion_score(rating) - 4.41).abs() < 0.005);
    }

    #[test]
    fn ratings_are_scores_as_in_table_b_1() {
        for (rating, score) in [
            (90.0, 4.34),
            (80.0, 4.03),
            (70.0, 3.60),
            (60.0, 3.10),
            (50.0, 2.58),
        ] {
            // The table is rounded to hundredths, and not always to the nearest.
            assert!((mean_opinion_score(rating) - score).abs() < 0.0065);
        }
        assert_eq!(mean_opinion_score(-3.0), 1.0);
        assert_eq!(mean_opinion_score(101.0), 4.5);
        assert_eq!(mean_opinion_score(3.0), 1.0);
    }

    #[test]
    fn codecs_and_losses_take_what_g_113_says() {
        let g729 = Voice {
            ie: 11.0,
            bpl: 19.0,
            ..CLEAR
        };
        assert!((CLEAR.rating() - g729.rating() - 11.0).abs() < 1e-9);
        // Half of what remains is gone when the loss in percent equals Bpl.
        let lossy = Voice { loss: 0.19, ..g729 };
        assert!((g729.rating() - lossy.rating() - 42.0).abs() < 1e-9);
        // Losses that come together hurt more.
        let bursty = Voice {
            burst: 2.0,
            ..lossy
        };
        assert!(bursty.rating() < lossy.rating());
    }

    #[test]
    fn delay_hurts_little_up_to_150_ms_and_much_beyond() {
        let at = |delay| Voice { delay, ..CLEAR }.rating();
        assert!(
            at(100.0) > 90.0 && at(150.0) > 88.0,
            "{} {}",
            at(100.0),
            at(150.0)
        );
        // Figure 1 of G.114: about 80 at 250 ms, about 70 at 350 ms. By hand at 500 ms: 30.6 by the delay itself (7-27), 6.6 by the
        // talker's echo (7-22, TELR 65) and 0.7 by the listener's.
        for (delay, rating) in [(250.0, 80.0), (350.0, 69.0), (500.0, 55.3)] {
            assert!((at(delay) - rating).abs() < 4.0, "{delay}: {}", at(delay));
        }
        // Users are satisfied above 80, and nearly all of them dissatisfied below 60.
        assert!(
            at(200.0) > 80.0 && at(500.0) < 60.0,
            "{} {}",
            at(200.0),
            at(500.0)
        );
        let falls = [150.0, 200.0, 250.0, 300.0, 400.0, 500.0].map(at);
        assert!(
            falls.windows(2).all(|pair| pair[1] < pair[0] - 3.0),
            "{falls:?}"
        );
    }
}
