//! Weights of classes, as a parameter of schedulers.

use sojourn_units::{Kind, ParamValue, UnitError, UnitErrorKind};
use std::fmt;

/// The weight of each class: `4:2:1` gives class 0 the weight 4, class 1 the weight 2, and all others 1.
///
/// ```
/// use sojourn_queue::Weights;
/// use sojourn_units::ParamValue;
///
/// let weights = Weights::parse_text("4:2:1")?;
/// assert_eq!([0, 1, 2, 3].map(|class| weights.of(class)), [4, 2, 1, 1]);
/// # Ok::<(), sojourn_units::UnitError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weights(Vec<u32>);

/// The greatest weight.
const MOST: u32 = 1_000_000;

impl Weights {
    /// The weight of a class, at least 1.
    #[inline]
    pub fn of(&self, class: u32) -> u32 {
        let last = self.0.len() - 1;
        self.0[usize::try_from(class).map_or(last, |class| class.min(last))]
    }

    /// The greatest weight of all.
    pub fn greatest(&self) -> u32 {
        self.0.iter().copied().max().unwrap_or(1)
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&texts.join(":"))
    }
}

impl ParamValue for Weights {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<Weights, UnitError> {
        let read = |part: &str| {
            part.parse()
                .ok()
                .filter(|weight| (1..=MOST).contains(weight))
        };
        let weights: Option<Vec<u32>> = text.split(':').map(read).collect();
        weights.map(Weights).ok_or_else(|| {
            UnitError::new(
                UnitErrorKind::Malformed,
                text,
                "a list of weights",
                "write whole numbers from 1 to 1000000 with colons between, such as 4:2:1",
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
    fn the_last_weight_is_that_of_all_other_classes() {
        let weights = Weights::parse_text("3").expect("weights");
        assert_eq!([weights.of(0), weights.of(u32::MAX)], [3, 3]);
    }

    #[test]
    fn weights_read_back() {
        for text in ["1", "4:2:1", "1000000:7"] {
            assert_eq!(Weights::parse_text(text).expect("weights").to_text(), text);
        }
    }

    #[test]
    fn what_is_no_list_of_weights_is_refused() {
        for text in ["", "0", "1:", ":1", "1,2", "-1", "1.5", "1000001"] {
            let error = Weights::parse_text(text).expect_err(text).to_string();
            assert!(error.contains("such as 4:2:1"), "{error}");
        }
    }
}
