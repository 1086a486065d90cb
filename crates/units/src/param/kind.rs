//! What kinds of values parameters have, and what a type needs to be one.

use crate::buffer::Buffer;
use crate::error::UnitError;
use crate::rate::Rate;
use crate::size::{Bytes, Packets, Ratio};
use crate::text;
use crate::time::Span;

/// What kind of value a parameter takes, for lists, documents and schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A length of time or a moment.
    Duration,
    /// A length of time, or `auto`.
    DurationOrAuto,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Packets.
    Packets,
    /// Packets or bytes; where a link is known, a time or a number of bandwidth-delay products, too.
    Limit,
    /// A number from 0 to 1.
    Fraction,
    /// A whole number from 0 up.
    Integer,
    /// Any finite number.
    Number,
    /// True or false.
    Flag,
    /// One of some words, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// A name with parameters.
    Spec,
    /// Names with parameters, one or several.
    Specs,
    /// Any text.
    Text,
    /// A value, or `none`.
    Optional(Box<Kind>),
}

impl Kind {
    /// What to write, for a reader: `duration, such as 5ms`.
    pub fn unit_text(&self) -> String {
        match self {
            Kind::Duration => format!("duration, such as {}", text::DURATION.example),
            Kind::DurationOrAuto => {
                format!("duration, such as {}; or auto", text::DURATION.example)
            }
            Kind::Rate => format!("rate, such as {}", text::RATE.example),
            Kind::Size => format!("size, such as {}", text::SIZE.example),
            Kind::Packets => format!("number of packets, such as {}", text::PACKETS.example),
            Kind::Limit => "limit, such as 100p, 64kB, 50ms or 1bdp".to_owned(),
            Kind::Fraction => "fraction, such as 0.1 or 10%".to_owned(),
            Kind::Integer => "whole number, such as 3".to_owned(),
            Kind::Number => "number, such as 0.5".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Choice(choices) => {
                format!("one of {}", list(choices.iter().map(|choice| choice.0)))
            }
            Kind::Spec => "name with parameters, such as (codel target=5ms)".to_owned(),
            Kind::Specs => {
                "name with parameters, such as (codel target=5ms), or one for each, such as (codel),(droptail)"
                    .to_owned()
            }
            Kind::Text => "text".to_owned(),
            Kind::Optional(inner) => format!("{}; or none", inner.unit_text()),
        }
    }

    /// The types in JSON (and TOML) that a value may have: `string`, `integer`, `number`, `boolean`.
    pub fn json_types(&self) -> Vec<&'static str> {
        match self {
            Kind::Fraction => vec!["number", "string"],
            Kind::Integer => vec!["integer"],
            Kind::Number => vec!["number"],
            Kind::Flag => vec!["boolean"],
            Kind::Optional(inner) => {
                let mut types = inner.json_types();
                if !types.contains(&"string") {
                    types.push("string");
                }
                types
            }
            _ => vec!["string"],
        }
    }

    /// The regular expression of JSON Schema for a value that is a string; `None` where any string may stand.
    pub fn pattern(&self) -> Option<String> {
        match self {
            Kind::Duration => Some(text::DURATION.pattern()),
            Kind::DurationOrAuto => Some(format!("^auto$|{}", text::DURATION.pattern())),
            Kind::Rate => Some(text::RATE.pattern()),
            Kind::Size => Some(text::SIZE.pattern()),
            Kind::Packets => Some(text::PACKETS.pattern()),
            Kind::Limit => Some(text::buffer_pattern()),
            Kind::Fraction => Some(text::RATIO_PATTERN.to_owned()),
            Kind::Choice(choices) => {
                let words: Vec<String> = choices
                    .iter()
                    .map(|choice| choice.0.replace('.', "\\."))
                    .collect();
                Some(format!("^({})$", words.join("|")))
            }
            Kind::Optional(inner) => match inner.pattern() {
                Some(pattern) => Some(format!("^none$|{pattern}")),
                // A number or flag is no string: the only string left is "none".
                None if !inner.json_types().contains(&"string") => Some("^none$".to_owned()),
                None => None,
            },
            Kind::Integer | Kind::Number | Kind::Flag | Kind::Spec | Kind::Specs | Kind::Text => {
                None
            }
        }
    }

    /// True for a name with parameters, or several.
    pub fn holds_specs(&self) -> bool {
        match self {
            Kind::Spec | Kind::Specs => true,
            Kind::Optional(inner) => inner.holds_specs(),
            _ => false,
        }
    }

    /// Whether two texts are the same value: `1004ms` and `1.004s` are, and so are `(codel)` and `codel`.
    ///
    /// ```
    /// use sojourn_units::Kind;
    ///
    /// assert!(Kind::Duration.same_value("1004ms", "1.004s"));
    /// assert!(Kind::Optional(Box::new(Kind::Size)).same_value("1KiB", "1024B"));
    /// assert!(!Kind::Size.same_value("1kB", "1KiB"));
    /// ```
    pub fn same_value(&self, one: &str, other: &str) -> bool {
        fn both<T: std::str::FromStr + PartialEq>(one: &str, other: &str) -> bool {
            one.parse::<T>()
                .is_ok_and(|one| other.parse::<T>().is_ok_and(|other| one == other))
        }
        let bare = |text: &str| {
            let text = text.trim();
            let inner = text
                .strip_prefix('(')
                .and_then(|text| text.strip_suffix(')'));
            inner.unwrap_or(text).replace(' ', "")
        };
        bare(one) == bare(other)
            || match self {
                Kind::Duration | Kind::DurationOrAuto => both::<Span>(one, other),
                Kind::Rate => both::<Rate>(one, other),
                Kind::Size => both::<Bytes>(one, other),
                Kind::Packets => both::<Packets>(one, other),
                Kind::Limit => both::<Buffer>(one, other),
                Kind::Fraction => both::<Ratio>(one, other),
                Kind::Integer => both::<u64>(one, other),
                Kind::Number => both::<f64>(one, other),
                Kind::Optional(inner) => inner.same_value(one, other),
                Kind::Flag | Kind::Choice(_) | Kind::Spec | Kind::Specs | Kind::Text => false,
            }
    }

    /// The words to choose from, each with its meaning; empty where the value is not such a word.
    pub fn choices(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Choice(choices) => choices,
            Kind::Optional(inner) => inner.choices(),
            _ => &[],
        }
    }
}

/// A type that a parameter can have: read from text, printed, and compared with the ends of a range.
pub trait ParamValue: Sized + Clone + PartialEq {
    /// What kind of value this is.
    fn kind() -> Kind;

    /// The value of a text.
    ///
    /// # Errors
    /// When the text is no such value.
    fn parse_text(text: &str) -> Result<Self, UnitError>;

    /// The text that [`ParamValue::parse_text`] reads back to this value.
    fn to_text(&self) -> String;

    /// Whether the value lies between `low` and `high`, both allowed; an empty text is an open side. Values without an
    /// order are in every range.
    ///
    /// # Panics
    /// When an end of the range is itself no such value, which is a mistake in a declaration.
    fn in_range(&self, low: &str, high: &str) -> bool {
        let _ = (low, high);
        true
    }
}

pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
