//! The access link: its rates, its round trip, and how its rate varies.

use sojourn_scenario::document::split_directions;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::opportunities::gaps_of_file;
use sojourn_units::{Rate, Span, UnitError};

/// The least rate of a direction: below it, the packets of a call and of a game alone fill most of the link.
const LEAST: Rate = Rate::kbps(500);
/// The greatest: beyond it, a home's traffic is no load.
const MOST: Rate = Rate::gbps(10);
/// The longest round trip. A geostationary satellite has 600 ms.
const LONGEST: Span = Span::from_secs(2);

/// The steps of a rate that varies, as shares of the way from the least to the greatest: up and down, all different, 0.5 in the mean.
const STEPS: [f64; 8] = [1.0, 0.35, 0.8, 0.0, 0.6, 0.1, 0.9, 0.25];

/// An access link.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Rate towards the home.
    pub down: Rate,
    /// Rate away from it.
    pub up: Rate,
    /// Round trip to the servers while nothing waits.
    pub rtt: Span,
    /// Limit of the modem's and the operator's queue where they have no AQM, in packets.
    pub buffer: u64,
    /// How the rate varies.
    pub varying: Option<Varying>,
}

/// How the rate of a link varies.
#[derive(Clone, PartialEq, Debug)]
pub enum Varying {
    /// In steps between a share of the rate and the rate, both ways at the same time.
    Steps {
        /// The least share.
        least: f64,
        /// Time of a step.
        every: Span,
    },
    /// As recorded: gaps between opportunities to send 1500 bytes, in milliseconds.
    Trace {
        /// Towards the home.
        down: String,
        /// Away from it; `None` for a fixed rate.
        up: Option<String>,
    },
}

impl Link {
    /// A link with fixed rates and a Linux device's queue.
    pub fn fixed(down: Rate, up: Rate, rtt: Span) -> Link {
        Link {
            down,
            up,
            rtt,
            // The length of a Linux device's queue (txqueuelen of an Ethernet device, net/ethernet/eth.c: ether_setup), as in
            // studies/rrul.
            buffer: 1000,
            varying: None,
        }
    }

    /// Rates down and up from a text such as `50/10Mbps`, or `50Mbps` for both.
    ///
    /// # Errors
    /// When it is no such text.
    pub fn rates(text: &str) -> Result<(Rate, Rate)> {
        let wrong = |error: &UnitError| LabError::from_unit(error).in_file("--rate");
        let one = |text: &str| text.parse::<Rate>().map_err(|error| wrong(&error));
        match split_directions(text) {
            Some((down, up)) => Ok((one(&down)?, one(&up)?)),
            None => one(text).map(|rate| (rate, rate)),
        }
    }

    /// The share at which a link varies, from a text such as `40%`.
    ///
    /// # Errors
    /// When it is no share from 5 % to 95 %.
    pub fn least_share(text: &str) -> Result<f64> {
        let wrong = || {
            LabError::new(
                LabErrorKind::BadValue,
                format!("{text:?} is no share of the rate"),
            )
            .in_file("--vary")
            .remedy("write the lowest rate in percent of --rate, from 5% to 95%, such as 40%")
        };
        let ratio: sojourn_units::Ratio = text.trim().parse().map_err(|_| wrong())?;
        let share = ratio.get();
        (0.05..=0.95)
            .contains(&share)
            .then_some(share)
            .ok_or_else(wrong)
    }

    /// Fails unless its rates and its round trip are in range.
    pub(super) fn check(&self) -> Result<()> {
        for (way, rate) in [("down", self.down), ("up", self.up)] {
            if rate < LEAST || rate > MOST {
                let problem = format!("{rate} {way} is out of range");
                return Err(LabError::new(LabErrorKind::BadValue, problem)
                    .in_file("--rate")
                    .remedy(format!(
                        "write a rate from {LEAST} to {MOST}, such as 50/10Mbps"
                    )));
            }
        }
        if self.rtt > LONGEST {
            return Err(
                LabError::new(LabErrorKind::BadValue, format!("{} is too long", self.rtt))
                    .in_file("--rtt")
                    .remedy(format!("write at most {LONGEST}")),
            );
        }
        Ok(())
    }

    /// The least rates, down and up, of a link that varies, as shares of the rates: the least step, or the share that the link of a trace
    /// reaches in all but a tenth of its seconds.
    pub(super) fn least(&self) -> Option<(f64, f64)> {
        match self.varying.as_ref()? {
            Varying::Steps { least, .. } => Some((*least, *least)),
            Varying::Trace { down, up } => {
                let of = |gaps: &str, rate: Rate| low_rate(gaps) / rate.as_bps_f64();
                let least = of(down, self.down).min(1.0);
                let up = up.as_ref().map_or(1.0, |gaps| of(gaps, self.up).min(1.0));
                Some((least, up))
            }
        }
    }
}

impl Varying {
    /// The gaps of a packet delivery trace.
    ///
    /// # Errors
    /// When the text is none; says the line.
    pub fn gaps(text: &str, file: &str) -> Result<String> {
        gaps_of_file(text).map_err(|problem| {
            LabError::new(LabErrorKind::BadValue, problem)
                .in_file(file)
                .remedy("give a packet delivery trace of mm-link: a time in milliseconds per line")
        })
    }

    /// The steps of a rate, from the first on.
    pub(super) fn steps(least: f64) -> impl Iterator<Item = f64> {
        STEPS.iter().map(move |way| least + way * (1.0 - least))
    }
}

/// The rate in bits per second that a trace has in all but a tenth of its whole seconds. A trace shorter than a second has its mean.
fn low_rate(gaps: &str) -> f64 {
    /// Bits of an opportunity.
    const BITS: u64 = 12_000;
    let mut seconds: Vec<u64> = Vec::new();
    let (mut now, mut all) = (0_u64, 0_u64);
    for gap in gaps
        .split(',')
        .filter_map(|gap| gap.trim().parse::<u64>().ok())
    {
        now += gap;
        all += BITS;
        let second = usize::try_from(now / 1000).unwrap_or(usize::MAX);
        if second >= seconds.len() && second < usize::MAX {
            seconds.resize(second + 1, 0);
        }
        if let Some(bits) = seconds.get_mut(second) {
            *bits += BITS;
        }
    }
    // The last second is not whole.
    seconds.pop();
    seconds.sort_unstable();
    match seconds.get(seconds.len() / 10) {
        Some(bits) => sojourn_results::stats::wide_to_f64(u128::from(*bits)),
        None => {
            let bits = sojourn_results::stats::wide_to_f64(u128::from(all));
            let ms = sojourn_results::stats::wide_to_f64(u128::from(now.max(1)));
            1e3 * bits / ms
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rate_is_that_of_both_directions() {
        let both = |text: &str| Link::rates(text).expect("rates");
        assert_eq!(both("50/10Mbps"), (Rate::mbps(50), Rate::mbps(10)));
        assert_eq!(both("300Mbps"), (Rate::mbps(300), Rate::mbps(300)));
        assert_eq!(both("1Gbps/40Mbps"), (Rate::gbps(1), Rate::mbps(40)));
    }

    #[test]
    fn a_rate_of_nothing_is_refused_with_the_range() {
        for text in ["0", "50/0Mbps", "fast", "-3Mbps"] {
            let refused = Link::rates(text)
                .and_then(|(down, up)| Link::fixed(down, up, Span::from_ms(30)).check());
            assert!(refused.is_err(), "{text}");
        }
    }

    #[test]
    fn the_steps_of_a_rate_are_within_their_ends_and_have_its_middle_as_their_mean() {
        let steps: Vec<f64> = Varying::steps(0.4).collect();
        assert!(steps.iter().all(|share| (0.4..=1.0).contains(share)));
        let sum: f64 = steps.iter().sum();
        assert!((sum / 8.0 - 0.7).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn the_low_rate_of_a_trace_is_that_of_its_slow_seconds() {
        // Ten whole seconds: two with an opportunity every 4 ms, eight with one every millisecond.
        let slow = (1..500).map(|at| at * 4);
        let fast = 2000..=10_000;
        let text: Vec<String> = slow.chain(fast).map(|at| at.to_string()).collect();
        let gaps = Varying::gaps(&text.join("\n"), "x").expect("a trace");
        assert_eq!(low_rate(&gaps), 250.0 * 12_000.0);
        let mut link = Link::fixed(Rate::mbps(12), Rate::mbps(5), Span::from_ms(50));
        link.varying = Some(Varying::Trace {
            down: gaps,
            up: None,
        });
        assert_eq!(link.least(), Some((0.25, 1.0)));
    }
}
