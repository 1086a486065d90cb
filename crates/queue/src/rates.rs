//! Rates of classes, as a parameter of schedulers.

use sojourn_units::{Kind, ParamValue, Rate, UnitError, UnitErrorKind};
use std::fmt;

/// The rate of each class: `4Mbps:2Mbps` gives class 0 the rate of 4 Mbps, and 2 Mbps to each of all others.
///
/// ```
/// use sojourn_queue::Rates;
/// use sojourn_units::{ParamValue, Rate};
///
/// let rates = Rates::parse_text("4Mbps:2Mbps")?;
/// assert_eq!([0, 1, 2].map(|class| rates.of(class)), [4, 2, 2].map(Rate::mbps));
/// # Ok::<(), sojourn_units::UnitError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rates(Vec<Rate>);

impl Rates {
    /// The rate of a class, which is not zero.
    #[inline]
    pub fn of(&self, class: u32) -> Rate {
        let last = self.0.len() - 1;
        self.0[usize::try_from(class).map_or(last, |class| class.min(last))]
    }

    /// The number of classes that have a rate of their own.
    pub fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(Rate::to_string).collect();
        f.write_str(&texts.join(":"))
    }
}

impl ParamValue for Rates {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<Rates, UnitError> {
        let read = |part: &str| part.parse().ok().filter(|rate: &Rate| !rate.is_zero());
        let rates: Option<Vec<Rate>> = text.split(':').map(read).collect();
        rates.map(Rates).ok_or_else(|| {
            UnitError::new(
                UnitErrorKind::Malformed,
                text,
                "a list of rates",
                "write rates with colons between, such as 2Mbps:500kbps",
            )
        })
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_back_and_the_last_is_that_of_all_other_classes() {
        for text in ["1Mbps", "4Mbps:500kbps:1bps"] {
            assert_eq!(Rates::parse_text(text).expect("rates").to_text(), text);
        }
        let rates = Rates::parse_text("3Mbps").expect("rates");
        assert_eq!(rates.of(u32::MAX), Rate::mbps(3));
    }

    #[test]
    fn what_is_no_list_of_rates_is_refused() {
        for text in ["", "0bps", "1Mbps:", ":1Mbps", "1Mbps,2Mbps", "3", "fast"] {
            let error = Rates::parse_text(text).expect_err(text).to_string();
            assert!(error.contains("such as 2Mbps:500kbps"), "{error}");
        }
    }
}
