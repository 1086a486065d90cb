//! What is declared of parameters and dialects.

use core::fmt;

use super::kind::Kind;

/// The key that chooses a dialect among parameters, and so cannot be a parameter's name.
pub(super) const DIALECT_KEY: &str = "dialect";

/// What another parameter, or the dialect, has to be for one to have an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The other parameter; `dialect` for the dialect.
    pub key: &'static str,
    /// Whether it has to be the value, or anything else.
    pub is: bool,
    /// The value.
    pub value: &'static str,
}

/// One demand of a parameter: where none of these conditions holds, the parameter has no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Need {
    /// The only value of the parameter that demands this; `None` where every value does.
    pub of: Option<&'static str>,
    /// Alternative conditions: one has to hold.
    pub any: &'static [Condition],
    /// Why it has no effect otherwise; empty where the conditions say it.
    pub why: &'static str,
}

impl Need {
    /// Whether the dialect decides if this is met: it asks for dialects, or for what dialects set.
    pub(super) fn is_of_dialect(&self, table: &[ParamInfo]) -> bool {
        let sets = |key| {
            let mut named = table.iter().filter(|info| info.name == key);
            named.any(|info| info.set_by_dialect)
        };
        self.any
            .iter()
            .all(|condition| condition.key == DIALECT_KEY || sets(condition.key))
    }

    /// Whether it is met by the defaults of a dialect.
    pub(super) fn is_met_in(&self, dialect: &DialectInfo, table: &[ParamInfo]) -> bool {
        self.any.iter().any(|condition| {
            let info = table.iter().find(|info| info.name == condition.key);
            let value = info.map_or(dialect.name, |info| dialect.default_of(info).0);
            (value == condition.value) == condition.is
        })
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Condition { key, is, value }) in self.any.iter().enumerate() {
            if index > 0 {
                f.write_str(" or ")?;
            }
            match (is, *value) {
                (true, "" | "none") => write!(f, "no {key}")?,
                (true, value) => write!(f, "{key}={value}")?,
                (false, "" | "none") => f.write_str(key)?,
                (false, value) => write!(f, "{key} other than {value}")?,
            }
        }
        if let Some(value) = self.of {
            write!(f, " for {value}")?;
        }
        match self.why {
            "" => Ok(()),
            why => write!(f, " ({why})"),
        }
    }
}

/// One declared parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// The name, in snake case.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The default before any dialect, as text.
    pub default: &'static str,
    /// The least value allowed; empty where there is no such bound.
    pub range_low: &'static str,
    /// The greatest value allowed; empty where there is no such bound.
    pub range_high: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
    /// What it demands to have an effect; [`build`](crate::build) refuses it elsewhere.
    pub needs: &'static [Need],
    /// The situation in a run in which it acts, after "Has an effect only when"; empty if it always does.
    pub acts: &'static str,
    /// Whether it only says which dialect's rules apply: dialects set it, and users rarely have to.
    pub set_by_dialect: bool,
    /// What kind of value it takes.
    pub kind: KindOf,
}

/// Where the kind of a parameter's values is known from.
#[derive(Clone, Copy, Debug)]
pub enum KindOf {
    /// The type of the parameter says it.
    Type(fn() -> Kind),
    /// It is known at run time only.
    Known(&'static Kind),
}

impl ParamInfo {
    /// What kind of value it takes.
    pub fn kind(&self) -> Kind {
        match self.kind {
            KindOf::Type(of) => of(),
            KindOf::Known(kind) => kind.clone(),
        }
    }

    /// Whether another one declares the same.
    pub fn is_same(&self, other: &ParamInfo) -> bool {
        let texts = |info: &ParamInfo| {
            [
                info.name,
                info.doc,
                info.default,
                info.range_low,
                info.range_high,
                info.source,
                info.acts,
            ]
        };
        texts(self) == texts(other)
            && (self.needs, self.set_by_dialect) == (other.needs, other.set_by_dialect)
            && self.kind() == other.kind()
    }

    /// The range for a reader: `1us to 10s`, `at least 1p`, `at most 10s`; empty where everything is allowed.
    pub fn range_text(&self) -> String {
        match (self.range_low, self.range_high) {
            ("", "") => String::new(),
            (low, "") => format!("at least {low}"),
            ("", high) => format!("at most {high}"),
            (low, high) => format!("{low} to {high}"),
        }
    }

    /// What it needs to have an effect, for a reader: `rtcp=true`, `silence other than 0s`; empty where that is nothing.
    pub fn needs_text(&self) -> String {
        let needs = self.needs.iter().map(Need::to_string);
        needs.collect::<Vec<_>>().join(", and ")
    }

    /// The dialects in which it can have an effect by their defaults: the names of those of `dialects` that meet its needs. `table` has the
    /// parameters beside it.
    pub fn known_in(&self, table: &[ParamInfo], dialects: &[DialectInfo]) -> Vec<&'static str> {
        let knows = |dialect: &&DialectInfo| {
            self.needs
                .iter()
                .filter(|need| need.of.is_none() && need.is_of_dialect(table))
                .all(|need| need.is_met_in(dialect, table))
        };
        dialects
            .iter()
            .filter(knows)
            .map(|dialect| dialect.name)
            .collect()
    }

    /// When it has an effect, in sentences for a reader; empty where it always has.
    pub fn effect_text(&self) -> String {
        let mut sentences = Vec::new();
        if !self.needs.is_empty() {
            sentences.push(format!("Needs {}.", self.needs_text()));
        }
        if !self.acts.is_empty() {
            sentences.push(format!("Has an effect only when {}.", self.acts));
        }
        if self.set_by_dialect {
            sentences.push("Set by the dialect.".to_owned());
        }
        sentences.join(" ")
    }
}

/// One dialect: the same algorithm as another paper, standard or program has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DialectInfo {
    /// The short name, such as `linux`.
    pub name: &'static str,
    /// The name in full, with the release it was read in, such as `linux-6.1`.
    pub release: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The defaults that are other than declared: parameter, value, source.
    pub overrides: &'static [(&'static str, &'static str, &'static str)],
}

impl DialectInfo {
    /// The default of a parameter in this dialect, and where it comes from.
    pub fn default_of(&self, param: &ParamInfo) -> (&'static str, &'static str) {
        self.overrides
            .iter()
            .find(|&&(name, _, _)| name == param.name)
            .map_or((param.default, param.source), |&(_, value, source)| {
                (value, source)
            })
    }
}
