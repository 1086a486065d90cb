//! Types that parameters have.

use super::kind::{Kind, ParamValue};
use crate::buffer::Buffer;
use crate::error::{UnitError, UnitErrorKind};
use crate::rate::Rate;
use crate::size::{Bytes, Limit, Packets, Ratio};
use crate::spec::{Spec, SpecError, Specs};
use crate::text;
use crate::time::{Span, Time};

/// Whether an ordered value lies in a declared range.
fn between<T: ParamValue + PartialOrd>(value: &T, low: &str, high: &str) -> bool {
    let end = |text: &str| match T::parse_text(text) {
        Ok(end) => end,
        Err(error) => panic!("declared range {low:?}..{high:?}: {error}"),
    };
    (low.is_empty() || *value >= end(low)) && (high.is_empty() || *value <= end(high))
}

/// [`ParamValue`] for a type with text forms and an order of its own.
macro_rules! ordered_value {
    ($($ty:ty => $kind:expr),* $(,)?) => {$(
        impl ParamValue for $ty {
            fn kind() -> Kind {
                $kind
            }
            fn parse_text(text: &str) -> Result<Self, UnitError> {
                text.parse()
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
            fn in_range(&self, low: &str, high: &str) -> bool {
                between(self, low, high)
            }
        }
    )*};
}

ordered_value! {
    Span => Kind::Duration,
    Time => Kind::Duration,
    Rate => Kind::Rate,
    Bytes => Kind::Size,
    Packets => Kind::Packets,
    Ratio => Kind::Fraction,
}

/// Packets and bytes have no order between them: an end in the other unit only tells zero from something.
impl ParamValue for Limit {
    fn kind() -> Kind {
        Kind::Limit
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        text.parse()
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
    fn in_range(&self, low: &str, high: &str) -> bool {
        let end = |text: &str| match text.parse::<Limit>() {
            Ok(end) => end,
            Err(error) => panic!("declared range {low:?}..{high:?}: {error}"),
        };
        let most_of = |most: Limit, least: Limit| match (most, least) {
            (Limit::Packets(most), Limit::Packets(least)) => most >= least,
            (Limit::Bytes(most), Limit::Bytes(least)) => most >= least,
            (most, least) => most.get() > 0 || least.get() == 0,
        };
        (low.is_empty() || most_of(*self, end(low)))
            && (high.is_empty() || most_of(end(high), *self))
    }
}

/// What depends on a link has an order with nothing: an end of a range only tells zero from something.
impl ParamValue for Buffer {
    fn kind() -> Kind {
        Kind::Limit
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        text.parse()
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
    fn in_range(&self, low: &str, high: &str) -> bool {
        let some = |least: &str| {
            let least = least.parse::<Limit>();
            least.is_ok_and(|least| least.get() > 0)
        };
        match self {
            Buffer::Limit(limit) => limit.in_range(low, high),
            Buffer::Time(time) => !time.is_zero() || !some(low),
            Buffer::Bdp(products) => products.as_millionths() > 0 || !some(low),
        }
    }
}

/// [`ParamValue`] for an unsigned integer.
macro_rules! integer_value {
    ($($ty:ty),*) => {$(
        impl ParamValue for $ty {
            fn kind() -> Kind {
                Kind::Integer
            }
            fn parse_text(text: &str) -> Result<Self, UnitError> {
                let digits = whole_number(text)?;
                digits.parse().map_err(|_| {
                    let remedy = format!("the most is {}", <$ty>::MAX);
                    UnitError::new(UnitErrorKind::TooLarge, text, WHOLE_NUMBER, remedy)
                })
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
            fn in_range(&self, low: &str, high: &str) -> bool {
                between(self, low, high)
            }
        }
    )*};
}

integer_value!(u32, u64);

const WHOLE_NUMBER: &str = "a whole number";

/// The digits of a text, if it is nothing else.
fn whole_number(text: &str) -> Result<&str, UnitError> {
    let error = |kind, remedy: &str| Err(UnitError::new(kind, text, WHOLE_NUMBER, remedy));
    let trimmed = text.trim();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(trimmed) {
        return Ok(trimmed);
    }
    match trimmed.strip_prefix(['-', '−']) {
        Some(rest) if digits(rest) => error(UnitErrorKind::Negative, "it cannot be negative"),
        _ if text::is_scientific(trimmed) => error(
            UnitErrorKind::TooPrecise,
            "write it without point and exponent, such as 3",
        ),
        _ => error(
            UnitErrorKind::Malformed,
            "write digits only, without a unit, such as 3",
        ),
    }
}

impl ParamValue for f64 {
    fn kind() -> Kind {
        Kind::Number
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        let error = |kind, remedy| UnitError::new(kind, text, "a number", remedy);
        let trimmed = text.trim();
        match trimmed.parse::<f64>() {
            Ok(value) if text::is_scientific(trimmed.strip_prefix('-').unwrap_or(trimmed)) => {
                // Adding zero turns -0.0 into 0.0, so that equal numbers print alike.
                if value.is_finite() {
                    Ok(value + 0.0)
                } else {
                    Err(error(UnitErrorKind::TooLarge, "the most is 1.797e308"))
                }
            }
            _ => Err(error(
                UnitErrorKind::Malformed,
                "write digits with an optional decimal point, without a unit, such as 0.5",
            )),
        }
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
    fn in_range(&self, low: &str, high: &str) -> bool {
        between(self, low, high)
    }
}

impl ParamValue for bool {
    fn kind() -> Kind {
        Kind::Flag
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        let remedy = match text.trim() {
            "true" => return Ok(true),
            "false" => return Ok(false),
            "yes" | "on" | "1" | "True" | "TRUE" => "did you mean true?",
            "no" | "off" | "0" | "False" | "FALSE" => "did you mean false?",
            _ => "choose one of them",
        };
        Err(UnitError::new(
            UnitErrorKind::UnknownChoice,
            text,
            "true or false",
            remedy,
        ))
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
}

impl ParamValue for String {
    fn kind() -> Kind {
        Kind::Text
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        Ok(text.to_owned())
    }
    fn to_text(&self) -> String {
        self.clone()
    }
}

fn no_spec(text: &str, error: &SpecError, several: bool) -> UnitError {
    if error.is_respelled() {
        let kind = UnitErrorKind::Respelled;
        return UnitError::new(kind, text, "a name with parameters", error.problem());
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let remedy = if !several && text.parse::<Specs>().is_ok() {
        "one is for all of them here; leave the others out".to_owned()
    } else if several && parts.len() > 1 && parts.iter().all(|part| part.parse::<Spec>().is_ok()) {
        format!("several stand in parentheses: ({})", parts.join("),("))
    } else {
        format!("column {}: {}", error.column(), error.problem())
    };
    UnitError::new(
        UnitErrorKind::Malformed,
        text,
        "a name with parameters",
        remedy,
    )
}

impl ParamValue for Spec {
    fn kind() -> Kind {
        Kind::Spec
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        text.parse().map_err(|error| no_spec(text, &error, false))
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
}

impl ParamValue for Specs {
    fn kind() -> Kind {
        Kind::Specs
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        text.parse().map_err(|error| no_spec(text, &error, true))
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
}

/// The word `none`, or a value; no value is in every range.
impl<T: ParamValue> ParamValue for Option<T> {
    fn kind() -> Kind {
        Kind::Optional(Box::new(T::kind()))
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        if text.trim() == NONE {
            return Ok(None);
        }
        T::parse_text(text).map(Some).map_err(|error| {
            UnitError::new(
                error.kind(),
                error.given(),
                format!("{} or none", error.expected()),
                error.remedy(),
            )
        })
    }
    fn to_text(&self) -> String {
        self.as_ref().map_or_else(|| NONE.to_owned(), T::to_text)
    }
    fn in_range(&self, low: &str, high: &str) -> bool {
        self.as_ref().is_none_or(|value| value.in_range(low, high))
    }
}

/// How the absence of an optional value is written.
const NONE: &str = "none";
