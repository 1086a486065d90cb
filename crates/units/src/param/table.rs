//! Parameters whose declaration is known at run time only: the table of a component that was not compiled in.

use super::build::{build_in, check_declared};
use super::error::ParamError;
use super::expansion;
use super::info::{DialectInfo, ParamInfo};
use super::kind::{Kind, ParamValue};
use super::params::AnyParams;
use crate::buffer::Buffer;
use crate::error::UnitError;
use crate::rate::Rate;
use crate::size::{Bytes, Packets, Ratio};
use crate::spec::{Spec, Specs};
use crate::time::Span;

/// The checked values of a table of parameters, as texts.
///
/// ```
/// use sojourn_units::{Kind, KindOf, ParamInfo, Values};
///
/// static TABLE: [ParamInfo; 1] = [ParamInfo {
///     name: "target",
///     doc: "Sojourn time that is acceptable.",
///     default: "5ms",
///     range_low: "1us",
///     range_high: "10s",
///     source: "RFC 8289",
///     needs: &[],
///     acts: "",
///     set_by_dialect: false,
///     kind: KindOf::Known(&Kind::Duration),
/// }];
/// let given = [("target".to_owned(), "0.015 s".to_owned())];
/// let values = Values::read(&TABLE, &[], None, &given)?;
/// assert_eq!(values.pairs(), [("target", "15ms".to_owned())]);
/// # Ok::<(), sojourn_units::ParamError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    table: Table,
    /// The place of the dialect in the list.
    dialect: usize,
    texts: Vec<String>,
}

/// What is declared.
#[derive(Clone, Copy)]
struct Table {
    params: &'static [ParamInfo],
    dialects: &'static [DialectInfo],
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.params.iter().map(|info| info.name);
        f.debug_list().entries(names).finish()
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        let same = |(one, two): (&ParamInfo, &ParamInfo)| one.is_same(two);
        self.params.len() == other.params.len()
            && self.params.iter().zip(other.params).all(same)
            && self.dialects == other.dialects
    }
}

impl Eq for Table {}

impl Values {
    /// The values of a dialect (the first where none is named) with `pairs` set, as [`build`](crate::build) reads them.
    ///
    /// # Errors
    /// As [`build`](crate::build), and if a declared default is no value of its parameter.
    pub fn read(
        params: &'static [ParamInfo],
        dialects: &'static [DialectInfo],
        dialect: Option<&str>,
        pairs: &[(String, String)],
    ) -> Result<Values, ParamError> {
        let table = Table { params, dialects };
        build_in(dialect, pairs, |name| {
            match name.or(dialects.first().map(|first| first.name)) {
                Some(name) => Values::in_dialect(table, name),
                None => Values::declared(table, 0),
            }
        })
    }

    /// Whether a declaration holds together, as [`check_declaration`](crate::check_declaration) checks it.
    ///
    /// # Errors
    /// The first thing that is wrong, for the one who wrote the declaration.
    pub fn check(
        params: &'static [ParamInfo],
        dialects: &'static [DialectInfo],
    ) -> Result<(), String> {
        let table = Table { params, dialects };
        let declared = Values::declared(table, 0).map_err(|error| format!("default of {error}"))?;
        check_declared(&declared)
    }

    /// The value of a parameter; `None` where there is no such parameter.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.place(key)?;
        Some(&self.texts[at])
    }

    /// Every parameter and its value, in the order declared.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        self.texts()
    }

    /// The short name of the dialect; `default` where there is but one way.
    pub fn dialect(&self) -> &'static str {
        self.dialect_name()
    }

    /// The name of the dialect in full.
    pub fn release(&self) -> &'static str {
        self.table
            .dialects
            .get(self.dialect)
            .map_or("default", |info| info.release)
    }

    fn place(&self, key: &str) -> Option<usize> {
        self.table.params.iter().position(|info| info.name == key)
    }

    fn declared(table: Table, dialect: usize) -> Result<Values, ParamError> {
        let texts = table.params.iter().map(|info| text_of(info, info.default));
        Ok(Values {
            table,
            dialect,
            texts: texts.collect::<Result<_, ParamError>>()?,
        })
    }

    fn in_dialect(table: Table, name: &str) -> Result<Values, ParamError> {
        let (place, info) = expansion::dialect_in(table.dialects, name)?;
        let mut values = Values::declared(table, place)?;
        for (key, value, _) in info.overrides {
            values.put(key, value)?;
        }
        Ok(values)
    }
}

/// The text of a value as it is printed, if it is one of the parameter.
fn text_of(info: &ParamInfo, text: &str) -> Result<String, ParamError> {
    of_kind(&info.kind(), info, text)
}

fn of_kind(kind: &Kind, info: &ParamInfo, text: &str) -> Result<String, ParamError> {
    fn read<T: ParamValue>(info: &ParamInfo, text: &str) -> Result<String, ParamError> {
        expansion::read::<T>(info, text).map(|value| value.to_text())
    }
    match kind {
        Kind::Duration => read::<Span>(info, text),
        Kind::DurationOrAuto if text.trim() == "auto" => Ok("auto".to_owned()),
        Kind::DurationOrAuto => read::<Span>(info, text),
        Kind::Rate => read::<Rate>(info, text),
        Kind::Size => read::<Bytes>(info, text),
        Kind::Packets => read::<Packets>(info, text),
        Kind::Limit => read::<Buffer>(info, text),
        Kind::Fraction => read::<Ratio>(info, text),
        Kind::Integer => read::<u64>(info, text),
        Kind::Number => read::<f64>(info, text),
        Kind::Flag => read::<bool>(info, text),
        Kind::Spec => read::<Spec>(info, text),
        Kind::Specs => read::<Specs>(info, text),
        Kind::Text => Ok(text.to_owned()),
        Kind::Choice(choices) => match choices.iter().find(|choice| choice.0 == text.trim()) {
            Some((word, _)) => Ok((*word).to_owned()),
            None => Err(ParamError::BadValue {
                key: info.name.to_owned(),
                error: expansion::unknown_choice(text.trim(), choices),
            }),
        },
        Kind::Optional(_) if text.trim() == NONE => Ok(NONE.to_owned()),
        Kind::Optional(inner) => of_kind(inner, info, text).map_err(|error| match error {
            ParamError::BadValue { key, error } => ParamError::BadValue {
                key,
                error: UnitError::new(
                    error.kind(),
                    error.given(),
                    format!("{} or none", error.expected()),
                    error.remedy(),
                ),
            },
            other => other,
        }),
    }
}

/// How the absence of an optional value is written.
const NONE: &str = "none";

impl AnyParams for Values {
    fn table(&self) -> &'static [ParamInfo] {
        self.table.params
    }

    fn dialects(&self) -> &'static [DialectInfo] {
        self.table.dialects
    }

    fn dialect_name(&self) -> &'static str {
        self.table
            .dialects
            .get(self.dialect)
            .map_or("default", |info| info.name)
    }

    fn text_of(&self, key: &str) -> Option<String> {
        self.get(key).map(str::to_owned)
    }

    fn put(&mut self, key: &str, text: &str) -> Result<(), ParamError> {
        let info = expansion::info_in(self.table.params, key, text)?;
        let text = text_of(info, text)?;
        if let Some(at) = self.place(key) {
            self.texts[at] = text;
        }
        Ok(())
    }

    fn texts(&self) -> Vec<(&'static str, String)> {
        let names = self.table.params.iter().map(|info| info.name);
        names.zip(self.texts.iter().cloned()).collect()
    }

    fn keeps(&self, key: &str, text: &str) -> Result<bool, ParamError> {
        let mut with = self.clone();
        with.put(key, text)?;
        Ok(with == *self)
    }

    fn defaults(&self) -> Box<dyn AnyParams> {
        Box::new(self.clone())
    }

    fn with_dialect(&self, name: &str) -> Result<Box<dyn AnyParams>, ParamError> {
        Ok(Box::new(Values::in_dialect(self.table, name)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KindOf, Limit, Params};

    crate::choice! {
        /// What makes packets belong together.
        enum Grouped {
            /// The same flow.
            Flow = "flow",
            /// The same source.
            Source = "source",
        }
    }

    crate::params! {
        /// Every kind of value.
        struct Typed {
            /// A time.
            target: Span = "5ms", range "1us".."10s", source "a paper";
            /// An amount.
            limit: Limit = "1000p", range "1p".., source "a paper";
            /// A share.
            probability: Ratio = "0.1", range .."50%", source "a paper";
            /// A word.
            classify: Grouped = "flow", source "a paper";
            /// A queue.
            each: Spec = "droptail", source "a paper";
            /// Queues.
            all: Specs = "(codel),(droptail)", source "a paper";
            /// A rate or none.
            rate: Option<Rate> = "none", range "1kbps".., source "a paper";
            /// A size.
            burst: Bytes = "1500B", source "a paper";
            /// A count.
            count: u64 = "3", range "1".."9", source "a paper";
            /// A number.
            gain: f64 = "-0.5", range "-1".."1", source "a paper", where ecn is "true";
            /// A switch.
            ecn: bool = "false", source "a paper";
            /// A text.
            note: String = "", source "a paper";
        }
        dialects TypedDialect {
            /// As printed.
            paper as Paper = "paper" {}
            /// As in a program.
            program as Program = "program-1" { ecn = "true" from "its source"; }
        }
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |&(key, text): &(&str, &str)| (key.to_owned(), text.to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn a_table_at_run_time_reads_and_refuses_as_the_struct_of_the_same_declaration() {
        let given: &[&[(&str, &str)]] = &[
            &[],
            &[("target", "0.0075 s"), ("limit", "64 kB")],
            &[("dialect", "program-1"), ("gain", "1e-1")],
            &[("gain", "0.25")],
            &[("classify", "source"), ("each", "(codel target=15ms)")],
            &[("classify", "sauce")],
            &[("all", "(red),(codel)"), ("burst", "1 KiB")],
            &[("rate", "2 Mbit"), ("ecn", "true"), ("note", "a b")],
            &[("rate", "none")],
            &[("rate", "x")],
            &[("rate", "1bps")],
            &[("target", "20s")],
            &[("target", "5")],
            &[("traget", "5ms")],
            &[("count", "3p")],
            &[("count", "10")],
            &[("probability", "60%")],
            &[("limit", "0p")],
            &[("dialect", "linus")],
            &[("count", "3"), ("count", "4")],
            &[("ecn", "yes")],
        ];
        for pairs in given {
            let pairs = owned(pairs);
            let typed = crate::build::<Typed>(None, &pairs);
            let values = Values::read(Typed::TABLE, Typed::DIALECTS, None, &pairs);
            let typed = typed.map(|typed| (typed.release(), typed.pairs()));
            let values = values.map(|values| (values.release(), values.pairs()));
            assert_eq!(values, typed, "{pairs:?}");
        }
        assert_eq!(Values::check(Typed::TABLE, Typed::DIALECTS), Ok(()));
    }

    #[test]
    fn a_default_that_is_no_value_of_its_kind_is_found() {
        let table = |default| -> &'static [ParamInfo] {
            let info = ParamInfo {
                default,
                kind: KindOf::Known(&Kind::Duration),
                ..Typed::TABLE[0]
            };
            Box::leak(Box::new([info]))
        };
        assert_eq!(Values::check(table("7ms"), &[]), Ok(()));
        let problem = Values::check(table("7"), &[]).unwrap_err();
        assert!(
            problem.starts_with("default of target: missing unit"),
            "{problem}"
        );
        let problem = Values::check(table("11s"), &[]).unwrap_err();
        assert!(problem.contains("out of range"), "{problem}");
        let problem = Values::read(table("7"), &[], None, &[]).unwrap_err();
        assert!(problem.to_string().contains("missing unit"), "{problem}");
    }
}
