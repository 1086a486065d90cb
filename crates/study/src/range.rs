//! Ranges of values with units: read, divided evenly or by the logarithm, written back, and labelled.

use std::collections::BTreeSet;

use sojourn_results::stats::{to_f64, whole};
use sojourn_units::{Bytes, Packets, Rate, Span};

/// The least number of significant digits of a label.
const DIGITS: usize = 4;
/// Units of rates, in bits per second, of durations, in picoseconds, and of sizes, in bytes.
const RATES: [(f64, &str); 4] = [(1.0, "bps"), (1e3, "kbps"), (1e6, "Mbps"), (1e9, "Gbps")];
const SPANS: [(f64, &str); 5] = [
    (1.0, "ps"),
    (1e3, "ns"),
    (1e6, "us"),
    (1e9, "ms"),
    (1e12, "s"),
];
const SIZES: [(f64, &str); 4] = [(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")];
/// The unit of buffers that follow the rate and the round-trip time.
const BDP: &str = "bdp";
/// The most: then the label is the value.
const MOST_DIGITS: usize = 12;

/// A range of values of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    kind: Kind,
    low: f64,
    high: f64,
    log: bool,
}

/// What the values of a range are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Bits per second.
    Rate,
    /// Picoseconds.
    Span,
    Bytes,
    Packets,
    /// Bandwidth-delay products.
    Products,
    /// Per cent.
    Percent,
    /// A whole number without a unit.
    Whole,
    /// Any number without a unit.
    Number,
}

impl Kind {
    /// What a text is, and how much of it.
    fn read(text: &str) -> Option<(Kind, f64)> {
        let text = text.trim();
        let whole = |kind, count: u64| Some((kind, to_f64(count)));
        if let Ok(rate) = text.parse::<Rate>() {
            return whole(Kind::Rate, rate.as_bps());
        }
        if let Ok(span) = text.parse::<Span>() {
            return whole(Kind::Span, span.as_ps());
        }
        if let Ok(bytes) = text.parse::<Bytes>() {
            return whole(Kind::Bytes, bytes.get());
        }
        if let Ok(packets) = text.parse::<Packets>() {
            return whole(Kind::Packets, packets.get());
        }
        for (unit, kind) in [("%", Kind::Percent), (BDP, Kind::Products)] {
            if let Some(number) = text.strip_suffix(unit) {
                return Some((kind, number.trim().parse().ok()?));
            }
        }
        if let Ok(count) = text.parse::<u64>() {
            return whole(Kind::Whole, count);
        }
        let number: f64 = text.parse().ok()?;
        number.is_finite().then_some((Kind::Number, number))
    }

    /// The text of a value, which [`Kind::read`] reads.
    fn text(self, value: f64) -> String {
        match self {
            Kind::Rate => Rate::bps(to_u64(value)).to_string(),
            Kind::Span => Span::from_ps(to_u64(value)).to_string(),
            Kind::Bytes => Bytes::new(to_u64(value)).to_string(),
            Kind::Packets => Packets::new(to_u64(value)).to_string(),
            Kind::Products => format!("{value}{BDP}"),
            Kind::Percent => format!("{value}%"),
            Kind::Whole => to_u64(value).to_string(),
            Kind::Number => value.to_string(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Kind::Rate => "a rate",
            Kind::Span => "a duration",
            Kind::Bytes => "a number of bytes",
            Kind::Packets => "a number of packets",
            Kind::Products => "a number of bandwidth-delay products",
            Kind::Percent => "a share",
            Kind::Whole | Kind::Number => "a number",
        }
    }

    const fn is_counted(self) -> bool {
        !matches!(self, Kind::Percent | Kind::Number | Kind::Products)
    }

    /// Its units from the smallest; none where values have one unit alone.
    const fn units(self) -> &'static [(f64, &'static str)] {
        match self {
            Kind::Rate => &RATES,
            Kind::Span => &SPANS,
            Kind::Bytes => &SIZES,
            _ => &[],
        }
    }
}

/// Why a path is no quantity that a map or a design varies; `None` if it may be one.
pub(crate) fn is_no_quantity(path: &str) -> Option<&'static str> {
    let run = path.strip_prefix("run.");
    match run {
        Some("duration" | "warmup" | "start_spread") => None,
        Some("seed") => Some("the seed chooses the random draws of all replications"),
        Some(_) => Some("it says how a point is run, not what runs"),
        None if path.starts_with("limits.") => Some("limits say what a study may need"),
        None if path.starts_with("series.") => Some("series say what is recorded"),
        None => None,
    }
}

/// A value that is not negative, rounded.
fn to_u64(value: f64) -> u64 {
    whole(value.round())
}

impl Range {
    /// The range between two texts.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn of(low: &str, high: &str, log: bool) -> std::result::Result<Range, String> {
        let read = |text: &str| {
            Kind::read(text).ok_or_else(|| format!("{text:?} is not a number with its unit"))
        };
        let ((first, low_value), (second, high_value)) = (read(low)?, read(high)?);
        let kind = match (first, second) {
            (first, second) if first == second => first,
            (Kind::Whole | Kind::Number, Kind::Whole | Kind::Number) => Kind::Number,
            _ => {
                return Err(format!(
                    "{low:?} is {} and {high:?} is {}",
                    first.name(),
                    second.name()
                ));
            }
        };
        if low_value >= high_value {
            return Err(format!("{low:?} is not below {high:?}"));
        }
        if log && low_value <= 0.0 {
            return Err(format!("{low:?} has no logarithm"));
        }
        Ok(Range {
            kind,
            low: low_value,
            high: high_value,
            log,
        })
    }

    /// Whether it is divided by the logarithm.
    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// The share of the way at which a value lies.
    pub(crate) fn share(&self, value: f64) -> f64 {
        match self.log {
            true => libm::log(value / self.low) / libm::log(self.high / self.low),
            false => (value - self.low) / (self.high - self.low),
        }
    }

    /// Whether a text is a value of the same kind between the ends.
    pub(crate) fn holds(&self, text: &str) -> bool {
        let numbers = |kind| matches!(kind, Kind::Whole | Kind::Number);
        Kind::read(text).is_some_and(|(kind, value)| {
            let alike = kind == self.kind || (numbers(kind) && numbers(self.kind));
            alike && value >= self.low && value <= self.high
        })
    }

    /// Its ends.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The value at a share of the way, from 0 to 1.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let value = match self.log {
            true => self.low * libm::exp(share * libm::log(self.high / self.low)),
            false => self.low + share * (self.high - self.low),
        };
        let value = match self.kind {
            // A scenario has them in millionths.
            Kind::Products => (value * 1e6).round() / 1e6,
            kind if kind.is_counted() => value.round(),
            _ => value,
        };
        value.clamp(self.low, self.high)
    }

    /// The text of a value in a scenario.
    pub(crate) fn text(&self, value: f64) -> String {
        self.kind.text(value)
    }

    /// The unit that fits the middle of the range, and how much it is; `None` where values have one unit alone.
    fn unit(&self) -> Option<(f64, &'static str)> {
        let middle = self.at(0.5);
        let units = self.kind.units();
        let fits = units.iter().rev().find(|(one, _)| *one <= middle);
        fits.or(units.first()).copied()
    }

    /// The label of a value: rounded, and without its unit if one is given.
    fn label(&self, value: f64, unit: Option<f64>, digits: usize) -> String {
        match (unit, self.unit()) {
            (Some(one), _) => plain(rounded(value / one, digits)),
            (None, Some((one, name))) => format!("{}{name}", plain(rounded(value / one, digits))),
            (None, None) => self.kind.text(rounded(value, digits)),
        }
    }

    /// The label of a value alone, with as many digits as tell a few hundred values of the range apart. All labels have the unit that fits
    /// the range, so that they can be compared.
    pub(crate) fn label_of(&self, value: f64) -> String {
        let narrow = libm::log10(self.high / (self.high - self.low)).max(0.0);
        let more = usize::try_from(whole(narrow.floor())).unwrap_or(0);
        self.label(value, None, (DIGITS + more).min(MOST_DIGITS))
    }

    /// A round value in the unit that fits it best.
    pub(crate) fn tick_of(&self, value: f64) -> String {
        self.kind.text(rounded(value, DIGITS))
    }

    /// Whether labels can leave out a unit: it is one of what the range is of.
    pub(crate) fn has_unit(&self, unit: &str) -> bool {
        let read = Kind::read(&format!("1{unit}"));
        let counts = matches!(self.kind, Kind::Whole | Kind::Number);
        counts || read.is_some_and(|(kind, _)| kind == self.kind)
    }

    /// What its values are: `a rate`.
    pub(crate) fn of_what(&self) -> &'static str {
        self.kind.name()
    }

    /// The labels of values, with as few digits as tell them apart.
    pub(crate) fn labels(&self, values: &[f64], unit: Option<&str>) -> Vec<String> {
        let one = unit.and_then(|unit| Kind::read(&format!("1{unit}")));
        let one = one
            .filter(|(kind, _)| *kind == self.kind)
            .map(|(_, one)| one);
        let with = |digits: usize| -> Vec<String> {
            let labels = values.iter().map(|value| self.label(*value, one, digits));
            labels.collect()
        };
        let distinct = |labels: &Vec<String>| {
            let set: BTreeSet<&String> = labels.iter().collect();
            set.len() == labels.len()
        };
        (DIGITS..MOST_DIGITS)
            .map(with)
            .find(distinct)
            .unwrap_or_else(|| with(MOST_DIGITS))
    }
}

/// A number rounded to significant digits.
fn rounded(value: f64, digits: usize) -> f64 {
    let digits = digits.saturating_sub(1);
    format!("{value:.digits$e}").parse().unwrap_or(value)
}

/// A number without an exponent.
fn plain(value: f64) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_keeps_its_unit_and_labels_have_as_few_digits_as_tell_them_apart() {
        let range = Range::of("1Mbps", "1Gbps", true).unwrap();
        let values: Vec<f64> = [0.0, 0.5, 1.0]
            .iter()
            .map(|share| range.at(*share))
            .collect();
        assert_eq!(range.text(values[1]), "31622777bps");
        assert_eq!(
            range.labels(&values, None),
            ["1Mbps", "31.62Mbps", "1000Mbps"]
        );
        assert_eq!(range.labels(&values, Some("Mbps")), ["1", "31.62", "1000"]);
        let close = [31_622_777.0, 31_622_900.0];
        assert_eq!(range.labels(&close, Some("Mbps")), ["31.6228", "31.6229"]);
        let range = Range::of("5ms", "305ms", false).unwrap();
        assert_eq!(range.labels(&[range.at(1.0 / 3.0)], None), ["105ms"]);
        let range = Range::of("1", "10", false).unwrap();
        assert_eq!(range.labels(&[range.at(0.26)], None), ["3"]);
    }

    #[test]
    fn labels_of_a_range_have_one_unit_and_are_read_as_what_they_say() {
        let range = Range::of("1Mbps", "40Mbps", true).unwrap();
        assert_eq!(range.label_of(6_324_555.0), "6.325Mbps");
        assert_eq!(range.label_of(40e6), "40Mbps");
        let range = Range::of("6.3Mbps", "6.4Mbps", false).unwrap();
        assert_eq!(range.label_of(6_324_555.0), "6.3246Mbps");
        for text in ["500kbps", "3ms", "20p", "0.5bdp", "3kB", "7", "20%"] {
            let (kind, value) = Kind::read(text).unwrap();
            let range = Range::of(&kind.text(value), &kind.text(2.0 * value), false).unwrap();
            assert_eq!(Kind::read(&range.label_of(value)), Some((kind, value)));
        }
    }

    #[test]
    fn what_says_how_a_point_is_run_is_no_quantity() {
        for path in [
            "run.seed",
            "run.replications",
            "run.precision",
            "limits.points",
        ] {
            assert!(is_no_quantity(path).is_some(), "{path}");
        }
        for path in ["run.duration", "topology.rate", "flows[0].count"] {
            assert_eq!(is_no_quantity(path), None, "{path}");
        }
    }

    #[test]
    fn a_range_that_is_none_says_what_is_wrong() {
        let wrong = |low, high, log| Range::of(low, high, log).unwrap_err();
        assert_eq!(
            wrong("1Gbps", "1Mbps", true),
            "\"1Gbps\" is not below \"1Mbps\""
        );
        assert_eq!(wrong("0s", "1s", true), "\"0s\" has no logarithm");
        assert_eq!(
            wrong("1ms", "1Mbps", true),
            "\"1ms\" is a duration and \"1Mbps\" is a rate"
        );
        assert_eq!(
            wrong("codel", "1s", false),
            "\"codel\" is not a number with its unit"
        );
        assert!(Range::of("0s", "1s", false).is_ok());
    }
}
