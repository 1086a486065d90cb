//! Parameters, declared once: name, type, default, range and source stand in one place, and everything that reads, checks,
//! lists or documents a parameter takes them from there.
//!
//! [`params!`](crate::params) declares the parameters of one algorithm and its dialects, [`choice!`](crate::choice) a
//! parameter that is one word of a few. [`ParamValue`] is what a type needs to be a parameter's.

use core::fmt;

use crate::error::{UnitError, UnitErrorKind, nearest};
use crate::rate::Rate;
use crate::size::{Bytes, Limit, Packets, Ratio};
use crate::spec::{Spec, SpecError, Specs};
use crate::text;
use crate::time::{Span, Time};

/// What kind of value a parameter takes, for lists, documents and schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A length of time or a moment.
    Duration,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Packets.
    Packets,
    /// Packets or bytes.
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
            Kind::Rate => format!("rate, such as {}", text::RATE.example),
            Kind::Size => format!("size, such as {}", text::SIZE.example),
            Kind::Packets => format!("number of packets, such as {}", text::PACKETS.example),
            Kind::Limit => format!("limit, such as {}", text::LIMIT.example),
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
            Kind::Rate => Some(text::RATE.pattern()),
            Kind::Size => Some(text::SIZE.pattern()),
            Kind::Packets => Some(text::PACKETS.pattern()),
            Kind::Limit => Some(text::LIMIT.pattern()),
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
    fn is_of_dialect(&self, table: &[ParamInfo]) -> bool {
        let sets = |key| {
            let mut named = table.iter().filter(|info| info.name == key);
            named.any(|info| info.set_by_dialect)
        };
        self.any
            .iter()
            .all(|condition| condition.key == DIALECT_KEY || sets(condition.key))
    }

    /// Whether it is met by the defaults of a dialect.
    fn is_met_in(&self, dialect: &DialectInfo, table: &[ParamInfo]) -> bool {
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

impl Condition {
    fn holds(&self, params: &dyn AnyParams) -> Result<bool, ParamError> {
        if self.key == DIALECT_KEY {
            return Ok((params.dialect_name() == self.value) == self.is);
        }
        Ok(params.keeps(self.key, self.value)? == self.is)
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
    /// What it demands to have an effect; [`build`] refuses it elsewhere.
    pub needs: &'static [Need],
    /// The situation in a run in which it acts, behind "Acts when"; empty where it always does.
    pub acts: &'static str,
    /// Whether it only says which dialect's rules apply: dialects set it, and users rarely have to.
    pub set_by_dialect: bool,
    /// What kind of value it takes.
    pub kind: fn() -> Kind,
}

impl ParamInfo {
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
            sentences.push(format!("Acts when {}.", self.acts));
        }
        if self.set_by_dialect {
            sentences.push("Set by the dialect.".to_owned());
        }
        sentences.join(" ")
    }
}

/// One dialect: the same algorithm as another paper, standard or program has it.
#[derive(Clone, Copy, Debug)]
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

/// The parameters of an algorithm. [`params!`](crate::params) implements it.
pub trait Params: Sized + Clone + PartialEq + fmt::Debug + Default + 'static {
    /// What the parameters belong to.
    const DOC: &'static str;
    /// Every parameter, in the order declared.
    const TABLE: &'static [ParamInfo];
    /// Every dialect, the default one first; empty where there is but one way.
    const DIALECTS: &'static [DialectInfo];

    /// The defaults of a dialect, which is named in short or in full.
    ///
    /// # Errors
    /// When there is no such dialect.
    fn in_dialect(name: &str) -> Result<Self, ParamError>;

    /// Sets a parameter from text.
    ///
    /// # Errors
    /// When there is no such parameter, the text is not of its kind, or the value is out of range; nothing is set then.
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParamError>;

    /// The value of a parameter as text; `None` where there is no such parameter.
    fn get(&self, key: &str) -> Option<String>;

    /// Every parameter and its value as text, in the order declared.
    fn pairs(&self) -> Vec<(&'static str, String)>;

    /// The short name of the dialect whose defaults these began with; `default` where there is but one way.
    fn dialect(&self) -> &'static str;

    /// The name of the dialect in full, as results state it.
    fn release(&self) -> &'static str {
        let dialect = self.dialect();
        Self::DIALECTS
            .iter()
            .find(|info| info.name == dialect)
            .map_or(dialect, |info| info.release)
    }
}

/// [`Params`] of any type: what is done with them through this is compiled once, not for each of a hundred types.
trait AnyParams {
    fn table(&self) -> &'static [ParamInfo];
    fn dialects(&self) -> &'static [DialectInfo];
    fn dialect_name(&self) -> &'static str;
    fn text_of(&self, key: &str) -> Option<String>;
    fn put(&mut self, key: &str, text: &str) -> Result<(), ParamError>;
    fn texts(&self) -> Vec<(&'static str, String)>;
    /// Whether a parameter that is set to this value is as it was.
    fn keeps(&self, key: &str, text: &str) -> Result<bool, ParamError>;
    /// The defaults.
    fn defaults(&self) -> Box<dyn AnyParams>;
    /// The defaults of a dialect.
    fn with_dialect(&self, name: &str) -> Result<Box<dyn AnyParams>, ParamError>;
}

impl<P: Params> AnyParams for P {
    fn table(&self) -> &'static [ParamInfo] {
        P::TABLE
    }

    fn dialects(&self) -> &'static [DialectInfo] {
        P::DIALECTS
    }

    fn dialect_name(&self) -> &'static str {
        Params::dialect(self)
    }

    fn text_of(&self, key: &str) -> Option<String> {
        Params::get(self, key)
    }

    fn put(&mut self, key: &str, text: &str) -> Result<(), ParamError> {
        Params::set(self, key, text)
    }

    fn texts(&self) -> Vec<(&'static str, String)> {
        Params::pairs(self)
    }

    fn keeps(&self, key: &str, text: &str) -> Result<bool, ParamError> {
        let mut with = self.clone();
        Params::set(&mut with, key, text)?;
        Ok(with == *self)
    }

    fn defaults(&self) -> Box<dyn AnyParams> {
        Box::new(P::default())
    }

    fn with_dialect(&self, name: &str) -> Result<Box<dyn AnyParams>, ParamError> {
        Ok(Box::new(P::in_dialect(name)?))
    }
}

/// The parameters of a dialect (the default one where none is named) with `pairs` set. A pair `dialect=NAME` among them
/// is the component's own choice and goes before the argument, whatever its place.
///
/// ```
/// use sojourn_units::{Params, Span, build, params};
///
/// params! {
///     /// Controlled delay.
///     pub struct CodelParams {
///         /// Standing sojourn time that is acceptable.
///         target: Span = "5ms", range "1us".."10s", source "RFC 8289";
///     }
/// }
///
/// let given = [("target".to_owned(), "15ms".to_owned())];
/// let params: CodelParams = build(None, &given)?;
/// assert_eq!(params.target, Span::from_ms(15));
///
/// let given = [("traget".to_owned(), "15ms".to_owned())];
/// let error = build::<CodelParams>(None, &given).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unknown parameter \"traget\", did you mean \"target\"? (parameters: target)"
/// );
/// # Ok::<(), sojourn_units::ParamError>(())
/// ```
///
/// # Errors
/// When the dialect or a parameter does not exist, a value cannot be read or is out of range, a key is given twice, or what is given
/// has no effect beside the others. The default never is refused so.
pub fn build<P: Params>(
    dialect: Option<&str>,
    pairs: &[(String, String)],
) -> Result<P, ParamError> {
    let defaults = match own_dialect(pairs)?.or(dialect) {
        Some(name) => P::in_dialect(name)?,
        None => P::default(),
    };
    let mut params = defaults.clone();
    set_given(&mut params, &defaults, pairs)?;
    Ok(params)
}

/// The dialect among `pairs`, if they name one; no key may occur twice.
fn own_dialect(pairs: &[(String, String)]) -> Result<Option<&str>, ParamError> {
    for (index, (key, second)) in pairs.iter().enumerate() {
        if let Some((_, first)) = pairs[..index].iter().find(|(earlier, _)| earlier == key) {
            let (key, first, second) = (key.clone(), first.clone(), second.clone());
            return Err(ParamError::Repeated { key, first, second });
        }
    }
    let own = pairs.iter().find(|(key, _)| key == DIALECT_KEY);
    Ok(own.map(|(_, name)| name.as_str()))
}

/// Sets what `pairs` give beside the dialect, and refuses what has no effect then.
fn set_given(
    params: &mut dyn AnyParams,
    defaults: &dyn AnyParams,
    pairs: &[(String, String)],
) -> Result<(), ParamError> {
    let given = || pairs.iter().filter(|(key, _)| key != DIALECT_KEY);
    for (key, text) in given() {
        params.put(key, text)?;
    }
    for (key, text) in given().filter(|(key, _)| params.text_of(key) != defaults.text_of(key)) {
        for need in expansion::info_in(params.table(), key, text)?.needs {
            if need
                .of
                .is_none_or(|of| params.text_of(key).as_deref() == Some(of))
            {
                check_effect(params, defaults, (key, text), need)?;
            }
        }
    }
    Ok(())
}

/// Characters of another value that a message quotes at most.
const MOST_QUOTED: usize = 30;

/// Refuses a value that has no effect, because what it needs is not there.
fn check_effect(
    params: &dyn AnyParams,
    defaults: &dyn AnyParams,
    (key, given): (&str, &str),
    need: &Need,
) -> Result<(), ParamError> {
    for condition in need.any {
        if condition.holds(params)? {
            return Ok(());
        }
    }
    let refused = |mut beside: String, remedies: Vec<String>| {
        if !need.why.is_empty() {
            beside = format!("{beside} ({})", need.why);
        }
        Err(ParamError::NoEffect {
            key: key.to_owned(),
            given: given.to_owned(),
            beside,
            remedy: match remedies.as_slice() {
                [] => "leave it out".to_owned(),
                remedies => format!("leave it out, or {}", remedies.join(", or ")),
            },
        })
    };
    let untouched =
        |condition: &Condition| params.text_of(condition.key) == defaults.text_of(condition.key);
    let table = params.table();
    if need.is_of_dialect(table) && need.any.iter().all(untouched) {
        let meets = |dialect: &&DialectInfo| need.is_met_in(dialect, table);
        let others = params.dialects().iter().filter(meets);
        let remedies = others.map(|dialect| format!("write {DIALECT_KEY}={}", dialect.name));
        let beside = format!("{DIALECT_KEY}={}", params.dialect_name());
        return refused(beside, remedies.collect());
    }
    let now = |Condition { key, .. }: &Condition| {
        let value = match *key {
            DIALECT_KEY => params.dialect_name().to_owned(),
            key => params.text_of(key).unwrap_or_default(),
        };
        match value.chars().nth(MOST_QUOTED) {
            _ if value.is_empty() => format!("no {key}"),
            None => format!("{key}={value}"),
            Some(_) => {
                let begin: String = value.chars().take(MOST_QUOTED).collect();
                format!("{key}={begin}...")
            }
        }
    };
    let wanted = |Condition { key, is, value }: &Condition| match (is, *value) {
        (true, "" | "none") => format!("leave out {key}"),
        (true, value) => format!("write {key}={value}"),
        (false, "" | "none") => format!("give {key} a value"),
        (false, _) => format!("give {key} another value"),
    };
    let mut beside: Vec<String> = need.any.iter().map(now).collect();
    beside.dedup();
    refused(beside.join(" and "), need.any.iter().map(wanted).collect())
}

/// Whether a declaration holds together: every default lies in its range, every dialect overrides what exists with what is
/// allowed, no name occurs twice. A registry calls it in a test for every entry.
///
/// # Errors
/// The first thing that is wrong, for the one who wrote the declaration.
///
/// # Panics
/// When an end of a range cannot be read.
pub fn check_declaration<P: Params>() -> Result<(), String> {
    check_declared(&P::default())
}

fn check_declared(defaults: &dyn AnyParams) -> Result<(), String> {
    let (table, dialects) = (defaults.table(), defaults.dialects());
    let mut params = defaults.defaults();
    for (index, info) in table.iter().enumerate() {
        if info.name == DIALECT_KEY || table[..index].iter().any(|other| other.name == info.name) {
            return Err(format!("the parameter name {:?} is taken", info.name));
        }
        if info.doc.is_empty() || info.source.is_empty() {
            return Err(format!("{} needs a text and a source", info.name));
        }
        params
            .put(info.name, info.default)
            .map_err(|error| format!("default of {error}"))?;
        for need in info.needs {
            check_need(defaults, info.name, need)?;
        }
    }
    for (index, dialect) in dialects.iter().enumerate() {
        let taken = |other: &DialectInfo| {
            [other.name, other.release].contains(&dialect.name) || other.release == dialect.release
        };
        if dialects[..index].iter().any(taken) {
            return Err(format!("the dialect name {:?} is taken", dialect.name));
        }
        check_dialect(defaults, dialect)
            .map_err(|problem| format!("dialect {}: {problem}", dialect.name))?;
    }
    Ok(())
}

/// Whether the parameter `name` can need this.
fn check_need(defaults: &dyn AnyParams, name: &str, need: &Need) -> Result<(), String> {
    if let Some(value) = need.of {
        defaults
            .keeps(name, value)
            .map_err(|error| format!("need of {error}"))?;
    }
    for condition in need.any {
        let dialect = condition.value;
        let exists = defaults.dialects().iter().any(|info| info.name == dialect);
        if condition.key == DIALECT_KEY && !exists {
            return Err(format!("need of {name}: there is no dialect {dialect:?}"));
        }
        condition
            .holds(defaults)
            .map_err(|error| format!("need of {name}: {error}"))?;
    }
    Ok(())
}

/// Whether what a dialect overrides has sources, and all its values read back.
fn check_dialect(defaults: &dyn AnyParams, dialect: &DialectInfo) -> Result<(), String> {
    let built = defaults
        .with_dialect(dialect.name)
        .map_err(|error| error.to_string())?;
    for (position, &(key, _, source)) in dialect.overrides.iter().enumerate() {
        if source.is_empty() {
            return Err(format!("{key} needs a source"));
        }
        let before = &dialect.overrides[..position];
        if before.iter().any(|&(other, _, _)| other == key) {
            return Err(format!("{key} is overridden twice"));
        }
    }
    for (key, value) in built.texts() {
        if !built
            .keeps(key, &value)
            .map_err(|error| error.to_string())?
        {
            return Err(format!("{key}={value} does not read back"));
        }
    }
    Ok(())
}

/// The key that chooses a dialect among parameters, and so cannot be a parameter's name.
const DIALECT_KEY: &str = "dialect";

/// Why parameters could not be set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamError {
    /// There is no such parameter.
    UnknownKey {
        /// The name given.
        key: String,
        /// The value given for it.
        given: String,
        /// The parameters there are.
        allowed: Vec<&'static str>,
        /// The one that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The text is not of the parameter's kind.
    BadValue {
        /// The parameter.
        key: String,
        /// What is wrong with the text.
        error: UnitError,
    },
    /// The value is outside the parameter's range.
    OutOfRange {
        /// The parameter.
        key: String,
        /// The text given.
        given: String,
        /// The range for a reader: `1us to 10s`.
        allowed: String,
    },
    /// A parameter is given more than once.
    Repeated {
        /// The parameter.
        key: String,
        /// The first text given.
        first: String,
        /// The next one.
        second: String,
    },
    /// The value has no effect beside those of other parameters.
    NoEffect {
        /// The parameter.
        key: String,
        /// The text given.
        given: String,
        /// The others: `rtcp=false`.
        beside: String,
        /// What to do.
        remedy: String,
    },
    /// Something is wrong in a specification that is the value of a parameter.
    Within {
        /// The path of the key inside: `source.codec`.
        path: String,
        /// The parameter.
        outer: String,
        /// What is wrong inside.
        error: Box<ParamError>,
    },
    /// There is no such dialect.
    UnknownDialect {
        /// The name given.
        given: String,
        /// The dialects there are, in short and in full.
        allowed: Vec<(&'static str, &'static str)>,
        /// The one that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A dialect was to be set among parameters that already have one.
    DialectIsFixed {
        /// The name given.
        given: String,
    },
}

impl ParamError {
    /// The key that the error is about.
    pub fn key(&self) -> &str {
        match self {
            ParamError::UnknownKey { key, .. }
            | ParamError::BadValue { key, .. }
            | ParamError::OutOfRange { key, .. }
            | ParamError::NoEffect { key, .. }
            | ParamError::Repeated { key, .. } => key,
            ParamError::Within { path, .. } => path,
            ParamError::UnknownDialect { .. } | ParamError::DialectIsFixed { .. } => DIALECT_KEY,
        }
    }

    /// The same, of a specification that is the value of the parameter `outer`.
    #[must_use]
    pub fn within(self, outer: &str) -> ParamError {
        ParamError::Within {
            path: format!("{outer}.{}", self.key()),
            outer: outer.to_owned(),
            error: Box::new(self),
        }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamError::UnknownKey {
                key,
                given: _,
                allowed,
                nearest,
            } => {
                write!(f, "unknown parameter {key:?}")?;
                write_nearest(f, *nearest)?;
                match allowed.as_slice() {
                    [] => write!(f, " (there are no parameters)"),
                    names => write!(f, " (parameters: {})", list(names.iter().copied())),
                }
            }
            ParamError::BadValue { key, error } => write!(f, "{key}: {error}"),
            ParamError::OutOfRange {
                key,
                given,
                allowed,
            } => {
                write!(f, "{key}: {given:?} is out of range, allowed is {allowed}")
            }
            ParamError::NoEffect {
                key,
                given,
                beside,
                remedy,
            } => write!(f, "{key}: {given:?} has no effect with {beside}: {remedy}"),
            ParamError::Within { outer, error, .. } => write!(f, "{outer}: {error}"),
            ParamError::Repeated { key, first, second } => {
                write!(
                    f,
                    "{key} is given twice, {first:?} and {second:?}; keep one of them"
                )
            }
            ParamError::UnknownDialect {
                given,
                allowed,
                nearest,
            } => {
                write!(f, "unknown dialect {given:?}")?;
                write_nearest(f, *nearest)?;
                let names = allowed
                    .iter()
                    .map(|&(name, release)| match name == release {
                        true => name.to_owned(),
                        false => format!("{name} ({release})"),
                    });
                match names.collect::<Vec<_>>().as_slice() {
                    [] => write!(f, " (there are no dialects; leave it out)"),
                    names => write!(f, " (dialects: {})", names.join(", ")),
                }
            }
            ParamError::DialectIsFixed { given } => {
                write!(
                    f,
                    "dialect: {given:?} comes too late; choose the dialect before other parameters are set"
                )
            }
        }
    }
}

impl core::error::Error for ParamError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ParamError::BadValue { error, .. } => Some(error),
            ParamError::Within { error, .. } => Some(error),
            _ => None,
        }
    }
}

fn write_nearest(f: &mut fmt::Formatter<'_>, nearest: Option<&str>) -> fmt::Result {
    nearest.map_or(Ok(()), |name| write!(f, ", did you mean {name:?}?"))
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// What [`params!`](crate::params) and [`choice!`](crate::choice) expand to calls of; not for use by hand.
#[doc(hidden)]
pub mod expansion {
    use super::*;

    /// What the word before the value of a condition says: whether it has to be it.
    pub const fn is(word: &str) -> bool {
        match word.as_bytes() {
            b"is" => true,
            b"not" => false,
            _ => panic!("a condition has `is` or `not` before its value"),
        }
    }

    /// The value of a parameter that a need is for, if it is for one.
    pub const fn last(of: &[&'static str]) -> Option<&'static str> {
        of.last().copied()
    }

    /// What stands behind `by`: whether dialects set the parameter.
    pub const fn by(word: &str) -> bool {
        match word.as_bytes() {
            b"" => false,
            b"dialect" => true,
            _ => panic!("what sets a parameter is `by dialect`"),
        }
    }

    /// The entry of a key.
    pub fn info<P: Params>(key: &str, text: &str) -> Result<&'static ParamInfo, ParamError> {
        info_in(P::TABLE, key, text)
    }

    pub(super) fn info_in(
        table: &'static [ParamInfo],
        key: &str,
        text: &str,
    ) -> Result<&'static ParamInfo, ParamError> {
        if let Some(info) = table.iter().find(|info| info.name == key) {
            return Ok(info);
        }
        if key == DIALECT_KEY {
            return Err(ParamError::DialectIsFixed {
                given: text.to_owned(),
            });
        }
        let names = table.iter().map(|info| info.name);
        Err(ParamError::UnknownKey {
            key: key.to_owned(),
            given: text.to_owned(),
            allowed: names.clone().collect(),
            nearest: nearest(key, names),
        })
    }

    /// The value of a text for a parameter.
    pub fn read<T: ParamValue>(info: &ParamInfo, text: &str) -> Result<T, ParamError> {
        let key = || info.name.to_owned();
        let value =
            T::parse_text(text).map_err(|error| ParamError::BadValue { key: key(), error })?;
        if value.in_range(info.range_low, info.range_high) {
            Ok(value)
        } else {
            let (given, allowed) = (text.to_owned(), info.range_text());
            Err(ParamError::OutOfRange {
                key: key(),
                given,
                allowed,
            })
        }
    }

    /// The value of a declared default.
    pub fn declared<T: ParamValue>(name: &str, text: &str) -> T {
        T::parse_text(text).unwrap_or_else(|error| panic!("declared default of {name}: {error}"))
    }

    /// The entry of a dialect, named in short or in full.
    pub fn dialect<P: Params>(given: &str) -> Result<&'static DialectInfo, ParamError> {
        dialect_in(P::DIALECTS, given)
    }

    fn dialect_in(
        dialects: &'static [DialectInfo],
        given: &str,
    ) -> Result<&'static DialectInfo, ParamError> {
        let named = |info: &&DialectInfo| info.name == given || info.release == given;
        let names = || dialects.iter().flat_map(|info| [info.name, info.release]);
        dialects
            .iter()
            .find(named)
            .ok_or_else(|| ParamError::UnknownDialect {
                given: given.to_owned(),
                allowed: dialects
                    .iter()
                    .map(|info| (info.name, info.release))
                    .collect(),
                nearest: nearest(given, names()),
            })
    }

    /// The error for a word that is not among the choices.
    pub fn unknown_choice(given: &str, choices: &[(&str, &str)]) -> UnitError {
        let names = choices.iter().map(|choice| choice.0);
        let expected = format!("one of {}", list(names.clone()));
        let remedy = match nearest(given, names) {
            Some(name) => format!("did you mean {name:?}?"),
            None => "choose one of them".to_owned(),
        };
        UnitError::new(UnitErrorKind::UnknownChoice, given, expected, remedy)
    }
}

/// Declares the parameters of an algorithm: a struct with a field for each, a field `dialect`, and [`Params`] for it.
///
/// Each parameter has a text, a type ([`ParamValue`]), a default, a range whose sides may be left open (both ends are
/// allowed values), and a source; each dialect a short name, its name with the release, and the defaults in which it
/// differs. The first dialect is the default one. Range and dialects may be left out. The lines of a text are joined with spaces.
///
/// A parameter that has an effect only beside certain values of others says so behind its source, and [`build`](crate::build)
/// refuses it elsewhere: `where rtcp is "true"`, `where silence not "0s"`, `where early is "true" or late is "true"`. Of several
/// such clauses each has to hold. The condition may be the dialect (`where dialect is "linux"`), may hold for one value alone
/// (`where curve is "ns3" for "hystart_ns3"`), and may say why (`because "Linux's module has it built in"`).
///
/// Behind these, `acts "..."` says in which situation of a run the parameter acts, where it does not always: readers see "Acts when ...".
/// `by dialect` marks a parameter that says whose rules apply. Where such a parameter decides, messages name dialects, not it.
///
/// ```
/// use sojourn_units::{Limit, Params, Span, params};
///
/// params! {
///     /// Controlled delay. Source: RFC 8289.
///     pub struct CodelParams {
///         /// Standing sojourn time that is acceptable.
///         target: Span = "5ms", range "1us".."10s", source "RFC 8289";
///         /// Held at most; more is dropped on arrival.
///         limit: Limit = "1000p", range "1p".., source "sch_codel's default; the RFC gives none";
///     }
///     dialects {
///         /// RFC 8289 as printed.
///         rfc8289 = "rfc8289" {}
///         /// ns-3's CoDelQueueDisc.
///         ns3 = "ns3-3.44" { limit = "1.5MB" from "codel-queue-disc.cc, MaxSize"; }
///     }
/// }
///
/// let mut params = CodelParams::in_dialect("ns3")?;
/// assert_eq!(params.limit.to_string(), "1.5MB");
/// params.set("target", "15ms")?;
/// assert_eq!((params.target, params.release()), (Span::from_ms(15), "ns3-3.44"));
/// assert_eq!(
///     params.set("target", "20s").unwrap_err().to_string(),
///     "target: \"20s\" is out of range, allowed is 1us to 10s"
/// );
/// # Ok::<(), sojourn_units::ParamError>(())
/// ```
///
/// A dialect that overrides what is not declared does not compile:
///
/// ```compile_fail,E0609
/// sojourn_units::params! {
///     /// A queue.
///     pub struct QueueParams {
///         /// Held at most.
///         limit: sojourn_units::Limit = "100p", source "a default";
///     }
///     dialects {
///         /// Another one.
///         other = "other-1" { limits = "50p" from "its manual"; }
///     }
/// }
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $Name:ident {
            $(
                $(#[doc = $param_doc:literal])+
                $param:ident : $ty:ty = $default:literal
                $(, range $($low:literal)? .. $($high:literal)?)?
                , source $source:literal
                $(, where $($need:ident $op:ident $want:literal)or+ $(for $of:literal)? $(because $why:literal)?)*
                $(, acts $acts:literal)?
                $(, by $by:ident)?
                ;
            )*
        }
        $(dialects {
            $(
                $(#[doc = $dialect_doc:literal])+
                $dialect:ident = $release:literal {
                    $($key:ident = $value:literal from $key_source:literal ;)*
                }
            )+
        })?
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name {
            $(
                $(#[doc = $param_doc])+
                pub $param: $ty,
            )*
            /// The short name of the dialect whose defaults these began with.
            pub dialect: &'static str,
        }

        impl $Name {
            /// The declared defaults, before what a dialect overrides.
            fn declared(dialect: &'static str) -> Self {
                Self {
                    $($param: $crate::param::expansion::declared(stringify!($param), $default),)*
                    dialect,
                }
            }
        }

        impl ::core::default::Default for $Name {
            fn default() -> Self {
                match <Self as $crate::Params>::DIALECTS.first() {
                    Some(first) => match <Self as $crate::Params>::in_dialect(first.name) {
                        Ok(params) => params,
                        Err(error) => panic!("declared dialect {}: {error}", first.name),
                    },
                    None => Self::declared("default"),
                }
            }
        }

        impl $crate::Params for $Name {
            const DOC: &'static str = concat!($($doc),+).trim_ascii();
            const TABLE: &'static [$crate::ParamInfo] = &[$(
                $crate::ParamInfo {
                    name: stringify!($param),
                    doc: concat!($($param_doc),+).trim_ascii(),
                    default: $default,
                    range_low: concat!($($($low)?)?),
                    range_high: concat!($($($high)?)?),
                    source: $source,
                    needs: &[$($crate::Need {
                        of: $crate::param::expansion::last(&[$($of)?]),
                        any: &[$($crate::Condition {
                            key: stringify!($need),
                            is: $crate::param::expansion::is(stringify!($op)),
                            value: $want,
                        }),+],
                        why: concat!($($why)?),
                    }),*],
                    acts: concat!($($acts)?),
                    set_by_dialect: $crate::param::expansion::by(concat!($(stringify!($by))?)),
                    kind: <$ty as $crate::ParamValue>::kind,
                }
            ),*];
            const DIALECTS: &'static [$crate::DialectInfo] = &[$($(
                $crate::DialectInfo {
                    name: stringify!($dialect),
                    release: $release,
                    doc: concat!($($dialect_doc),+).trim_ascii(),
                    overrides: &[$((stringify!($key), $value, $key_source)),*],
                }
            ),+)?];

            fn in_dialect(name: &str) -> Result<Self, $crate::ParamError> {
                let info = $crate::param::expansion::dialect::<Self>(name)?;
                let mut params = Self::declared(info.name);
                for &(key, value, _) in info.overrides {
                    $crate::Params::set(&mut params, key, value)?;
                }
                Ok(params)
            }

            fn set(&mut self, key: &str, text: &str) -> Result<(), $crate::ParamError> {
                let info = $crate::param::expansion::info::<Self>(key, text)?;
                $(
                    if info.name == stringify!($param) {
                        self.$param = $crate::param::expansion::read(info, text)?;
                    }
                )*
                let _ = info;
                Ok(())
            }

            fn get(&self, key: &str) -> Option<String> {
                $(
                    if key == stringify!($param) {
                        return Some($crate::ParamValue::to_text(&self.$param));
                    }
                )*
                let _ = key;
                None
            }

            fn pairs(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($param), $crate::ParamValue::to_text(&self.$param))),*]
            }

            fn dialect(&self) -> &'static str {
                self.dialect
            }
        }

        // Reads every field that a dialect overrides or that another needs, so that an undeclared one does not compile.
        $(const _: fn(&$Name) = |_params| {
            $($(let _ = &_params.$key;)*)+
        };)?
        const _: fn(&$Name) = |_params| {
            $($($(let _ = &_params.$need;)+)*)*
        };
    };
}

/// Declares a parameter type that is one word of a few: an enum with its words and their meanings.
///
/// ```
/// use sojourn_units::{ParamValue, choice};
///
/// choice! {
///     /// What makes packets belong together.
///     pub enum Classify {
///         /// The same flow.
///         Flow = "flow",
///         /// The same source address.
///         Source = "source",
///     }
/// }
///
/// assert_eq!("source".parse(), Ok(Classify::Source));
/// assert_eq!(Classify::Flow.to_string(), "flow");
/// assert_eq!(Classify::CHOICES[0], ("flow", "The same flow."));
/// assert_eq!(
///     Classify::parse_text("sauce").unwrap_err().to_string(),
///     "\"sauce\" is not one of flow, source: did you mean \"source\"?"
/// );
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        $vis:vis enum $Name:ident {
            $(
                $(#[doc = $variant_doc:literal])+
                $Variant:ident = $word:literal
            ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $Name {
            $(
                $(#[doc = $variant_doc])+
                $Variant,
            )+
        }

        impl $Name {
            /// Every value, in the order declared.
            #[allow(dead_code, reason = "offered to whoever needs it, whatever the visibility")]
            $vis const ALL: &'static [$Name] = &[$($Name::$Variant),+];

            /// Every word and its meaning, in the order declared.
            $vis const CHOICES: &'static [(&'static str, &'static str)] =
                &[$(($word, concat!($($variant_doc),+).trim_ascii())),+];

            /// The word.
            $vis const fn name(self) -> &'static str {
                match self {
                    $($Name::$Variant => $word,)+
                }
            }
        }

        impl ::core::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::core::str::FromStr for $Name {
            type Err = $crate::UnitError;
            fn from_str(text: &str) -> Result<Self, $crate::UnitError> {
                match text.trim() {
                    $($word => Ok($Name::$Variant),)+
                    other => Err($crate::param::expansion::unknown_choice(other, Self::CHOICES)),
                }
            }
        }

        impl $crate::ParamValue for $Name {
            fn kind() -> $crate::Kind {
                $crate::Kind::Choice(Self::CHOICES)
            }
            fn parse_text(text: &str) -> Result<Self, $crate::UnitError> {
                text.parse()
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
        }
    };
}

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

#[cfg(test)]
mod tests {
    use super::*;

    crate::choice! {
        /// What makes packets
        /// belong together.
        enum Classify {
            /// The same flow.
            Flow = "flow",
            /// The same
            /// source.
            Source = "source",
        }
    }

    crate::params! {
        /// A queue
        /// for tests.
        struct TestParams {
            /// Acceptable
            ///
            /// delay.
            target: Span = "5ms", range "1us".."10s", source "RFC 8289";
            /// Held at most.
            limit: Limit = "1000p", range "1p".., source "a default";
            /// Marked with.
            probability: Ratio = "0.1", range .."50%", source "a paper";
            /// Grouped by.
            classify: Classify = "flow", source "a paper";
            /// The queue in each.
            each: Spec = "droptail", source "a paper";
            /// At a rate.
            rate: Option<Rate> = "none", range "1kbps".., source "a paper";
            /// How often.
            count: u32 = "3", range "1".."9", source "a paper";
            /// Growth.
            gain: f64 = "-0.5", range "-1".."1", source "a paper";
            /// Whether at all.
            ecn: bool = "false", source "a paper";
        }
        dialects {
            /// As printed.
            rfc8289 = "rfc8289" {}
            /// As in
            /// the kernel.
            linux = "linux-6.1" { limit = "50p" from "sch_codel.c"; ecn = "true" from "sch_codel.c"; }
        }
    }

    crate::params! {
        /// Nothing to set, one way to do it.
        struct NoParams {}
    }

    crate::params! {
        /// One parameter, one way to do it.
        struct OneParam {
            /// Held at most.
            limit: Limit = "10p", source "a paper";
        }
    }

    crate::params! {
        /// Wrong in several places.
        struct WrongParams {
            /// Out of range.
            low: u32 = "5", range "6".., source "a paper";
        }
    }

    crate::params! {
        /// The dialect is out of range.
        struct WrongDialect {
            /// Small.
            low: u32 = "5", range .."6", source "a paper";
        }
        dialects {
            /// Good.
            good = "good" {}
            /// Bad.
            bad = "bad-1" { low = "7" from "a paper"; }
        }
    }

    crate::params! {
        /// Parameters, some of which need others.
        struct NeedyParams {
            /// Whether there are reports.
            reports: bool = "true", source "a paper";
            /// Time between them.
            every: Span = "5s", source "a paper", where reports is "true";
            /// Length of a pause.
            pause: Span = "0s", source "a paper";
            /// What is said about it.
            said: Option<Span> = "none", source "a paper", where pause not "0s", where reports is "true" or every not "5s";
        }
        dialects {
            /// Good.
            good = "good" {}
            /// Without reports.
            silent = "silent-1" { reports = "false" from "a paper"; every = "1s" from "a paper"; }
        }
    }

    #[test]
    fn what_has_no_effect_beside_the_others_is_refused_with_both_keys_and_the_remedy() {
        assert_eq!(check_declaration::<NeedyParams>(), Ok(()));
        let refused = |pairs: &[(&str, &str)]| {
            let error = build::<NeedyParams>(None, &owned(pairs)).unwrap_err();
            (error.key().to_owned(), error.to_string())
        };
        assert_eq!(
            refused(&[("every", "1s"), ("reports", "false")]),
            (
                "every".to_owned(),
                "every: \"1s\" has no effect with reports=false: leave it out, or write reports=true".to_owned()
            )
        );
        assert_eq!(
            refused(&[("said", "1s")]).1,
            "said: \"1s\" has no effect with pause=0s: leave it out, or give pause another value"
        );
        assert_eq!(
            refused(&[("said", "1s"), ("pause", "2s"), ("reports", "false")]).1,
            "said: \"1s\" has no effect with reports=false and every=5s: leave it out, or write reports=true, or give every \
             another value"
        );
        let needs = NeedyParams::TABLE.last().map(ParamInfo::needs_text);
        assert_eq!(
            needs.as_deref(),
            Some("pause other than 0s, and reports=true or every other than 5s")
        );
    }

    #[test]
    fn a_default_that_has_no_effect_is_not_refused_in_whatever_dialect() {
        for (dialect, every) in [("good", "5s"), ("silent", "1000ms")] {
            let pairs = owned(&[("every", every), ("reports", "false")]);
            assert!(build::<NeedyParams>(Some(dialect), &pairs).is_ok());
        }
        assert!(build::<NeedyParams>(Some("silent"), &owned(&[("every", "5s")])).is_err());
    }

    crate::choice! {
        /// Whose rules.
        enum Whose {
            /// A paper's.
            Paper = "paper",
            /// A program's.
            Program = "program",
        }
    }

    crate::choice! {
        /// An end.
        enum End {
            /// Late.
            Late = "late",
            /// Early.
            Early = "early",
        }
    }

    crate::params! {
        /// An algorithm of a paper and of programs.
        struct DialectParams {
            /// A table.
            table: u32 = "3", source "a paper", where whose is "paper" because "the program has one built in";
            /// A knob.
            knob: u32 = "0", source "a program", where dialect is "program" or dialect is "port" because "the paper has none";
            /// An end.
            end: End = "late", source "a paper", where whose is "program" for "early" because "it is the program's";
            /// A delay.
            delay: u32 = "1", source "a paper", acts "the run is long";
            /// Whose rules.
            whose: Whose = "paper", source "a paper", by dialect;
        }
        dialects {
            /// The paper.
            paper = "paper-1" {}
            /// The program.
            program = "program-1" { whose = "program" from "its source"; }
            /// Its port, with the paper's rules.
            port = "port-1" {}
        }
    }

    fn refusal(dialect: &str, pairs: &[(&str, &str)]) -> String {
        match build::<DialectParams>(Some(dialect), &owned(pairs)) {
            Ok(_) => "none".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_a_dialect_does_not_know_is_refused_with_those_that_do_and_why() {
        assert_eq!(check_declaration::<DialectParams>(), Ok(()));
        assert_eq!(
            refusal("program", &[("table", "4")]),
            "table: \"4\" has no effect with dialect=program (the program has one built in): leave it out, or write \
             dialect=paper, or write dialect=port"
        );
        assert_eq!(
            refusal("paper", &[("knob", "4")]),
            "knob: \"4\" has no effect with dialect=paper (the paper has none): leave it out, or write dialect=program, or \
             write dialect=port"
        );
        for (dialect, key) in [
            ("paper", "table"),
            ("port", "table"),
            ("program", "knob"),
            ("port", "knob"),
        ] {
            assert_eq!(refusal(dialect, &[(key, "4")]), "none", "{dialect} {key}");
        }
    }

    #[test]
    fn where_the_user_has_chosen_the_rules_the_message_names_them() {
        assert_eq!(
            refusal("paper", &[("table", "4"), ("whose", "program")]),
            "table: \"4\" has no effect with whose=program (the program has one built in): leave it out, or write whose=paper"
        );
        assert_eq!(
            refusal("program", &[("table", "4"), ("whose", "paper")]),
            "none"
        );
    }

    #[test]
    fn a_need_of_one_value_is_none_of_the_others() {
        assert_eq!(
            refusal("paper", &[("end", "early")]),
            "end: \"early\" has no effect with dialect=paper (it is the program's): leave it out, or write dialect=program"
        );
        assert_eq!(refusal("program", &[("end", "early")]), "none");
    }

    #[test]
    fn a_reader_sees_where_and_when_a_parameter_acts() {
        let shown = |name| {
            let info = expansion::info::<DialectParams>(name, "").unwrap();
            let known = info.known_in(DialectParams::TABLE, DialectParams::DIALECTS);
            (info.effect_text(), known)
        };
        let all = vec!["paper", "program", "port"];
        let needs = "Needs whose=paper (the program has one built in).".to_owned();
        assert_eq!(shown("table"), (needs, vec!["paper", "port"]));
        let needs = "Needs dialect=program or dialect=port (the paper has none).".to_owned();
        assert_eq!(shown("knob"), (needs, vec!["program", "port"]));
        let needs = "Needs whose=program for early (it is the program's).".to_owned();
        assert_eq!(shown("end"), (needs, all.clone()));
        assert_eq!(
            shown("delay"),
            ("Acts when the run is long.".to_owned(), all.clone())
        );
        assert_eq!(shown("whose"), ("Set by the dialect.".to_owned(), all));
    }

    crate::params! {
        /// A parameter of a dialect that is none.
        struct NoSuchDialect {
            /// A knob.
            knob: u32 = "0", source "a program", where dialect is "prgram";
        }
        dialects {
            /// The program.
            program = "program-1" {}
        }
    }

    #[test]
    fn a_need_of_a_dialect_that_does_not_exist_is_found() {
        let found = Err("need of knob: there is no dialect \"prgram\"".to_owned());
        assert_eq!(check_declaration::<NoSuchDialect>(), found);
    }

    #[test]
    fn an_error_within_a_specification_has_the_path_of_its_key() {
        let error = build::<NeedyParams>(None, &owned(&[("every", "5")])).unwrap_err();
        let text = error.to_string();
        let within = error.within("source");
        assert_eq!(within.key(), "source.every");
        assert_eq!(within.to_string(), format!("source: {text}"));
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    fn refused(key: &str, text: &str) -> String {
        let mut params = TestParams::default();
        let error = params.set(key, text).unwrap_err();
        assert_eq!(params, TestParams::default(), "nothing is set on an error");
        assert_eq!(error.key(), key);
        error.to_string()
    }

    #[test]
    fn the_table_holds_what_is_declared() {
        assert_eq!(TestParams::DOC, "A queue for tests.");
        let names: Vec<_> = TestParams::TABLE.iter().map(|info| info.name).collect();
        assert_eq!(
            names,
            [
                "target",
                "limit",
                "probability",
                "classify",
                "each",
                "rate",
                "count",
                "gain",
                "ecn"
            ]
        );
        let target = TestParams::TABLE[0];
        assert_eq!(target.doc, "Acceptable delay.");
        assert_eq!((target.default, target.source), ("5ms", "RFC 8289"));
        assert_eq!((target.range_low, target.range_high), ("1us", "10s"));
        assert_eq!((target.kind)(), Kind::Duration);
        let ranges: Vec<_> = TestParams::TABLE
            .iter()
            .map(ParamInfo::range_text)
            .collect();
        assert_eq!(
            ranges[..4],
            ["1us to 10s", "at least 1p", "at most 50%", ""]
        );
    }

    #[test]
    fn the_first_dialect_is_the_default_one() {
        let params = TestParams::default();
        assert_eq!(params, TestParams::in_dialect("rfc8289").unwrap());
        assert_eq!((params.dialect, params.release()), ("rfc8289", "rfc8289"));
        assert_eq!(params.target, Span::from_ms(5));
        assert_eq!(params.classify, Classify::Flow);
        assert_eq!(params.each, Spec::new("droptail"));
        assert_eq!((params.rate, params.count, params.gain), (None, 3, -0.5));
    }

    #[test]
    fn a_dialect_is_named_in_short_or_in_full() {
        let linux = TestParams::in_dialect("linux").unwrap();
        assert_eq!(TestParams::in_dialect("linux-6.1").unwrap(), linux);
        assert_eq!((linux.dialect, linux.release()), ("linux", "linux-6.1"));
        assert_eq!((linux.limit.to_string().as_str(), linux.ecn), ("50p", true));
    }

    #[test]
    fn a_default_has_its_source_in_every_dialect() {
        let [target, limit] = [TestParams::TABLE[0], TestParams::TABLE[1]];
        let linux = TestParams::DIALECTS[1];
        assert_eq!(linux.doc, "As in the kernel.");
        assert_eq!(linux.default_of(&target), ("5ms", "RFC 8289"));
        assert_eq!(linux.default_of(&limit), ("50p", "sch_codel.c"));
    }

    #[test]
    fn a_parameter_is_set_and_read_as_text() {
        let mut params = TestParams::default();
        for (key, text, read) in [
            ("target", "0.0075 s", "7.5ms"),
            ("limit", "64 kB", "64kB"),
            ("probability", "25%", "0.25"),
            ("classify", "source", "source"),
            ("each", "(codel target=15ms)", "codel target=15ms"),
            ("rate", "2 Mbit", "2Mbps"),
            ("count", "9", "9"),
            ("gain", "1e-1", "0.1"),
            ("ecn", "true", "true"),
        ] {
            params.set(key, text).unwrap();
            assert_eq!(params.get(key).as_deref(), Some(read));
        }
        params.set("rate", "none").unwrap();
        assert_eq!(params.rate, None);
        assert_eq!(params.get("nothing"), None);
        assert_eq!(params.pairs()[0], ("target", "7.5ms".to_owned()));
        assert_eq!(params.pairs().len(), TestParams::TABLE.len());
    }

    #[test]
    fn an_unknown_parameter_is_answered_with_the_nearest_name() {
        assert_eq!(
            refused("traget", "5ms"),
            "unknown parameter \"traget\", did you mean \"target\"? (parameters: target, limit, probability, \
             classify, each, rate, count, gain, ecn)"
        );
        assert!(!refused("bandwidth", "5Mbps").contains("did you mean"));
        assert_eq!(
            NoParams::default()
                .set("limit", "5p")
                .unwrap_err()
                .to_string(),
            "unknown parameter \"limit\" (there are no parameters)"
        );
    }

    #[test]
    fn a_text_of_another_kind_is_refused_with_the_remedy() {
        assert_eq!(
            refused("target", "5"),
            "target: \"5\" is not a duration: a duration needs a unit, such as 5ms"
        );
        assert_eq!(
            refused("classify", "flwo"),
            "classify: \"flwo\" is not one of flow, source: did you mean \"flow\"?"
        );
        assert_eq!(
            refused("classify", "colour"),
            "classify: \"colour\" is not one of flow, source: choose one of them"
        );
        assert_eq!(
            refused("rate", "5"),
            "rate: \"5\" is not a rate or none: a rate needs a unit, such as 10Mbps"
        );
        assert_eq!(
            refused("ecn", "yes"),
            "ecn: \"yes\" is not true or false: did you mean true?"
        );
        assert_eq!(
            refused("each", "codel target="),
            "each: \"codel target=\" is not a name with parameters: column 14: expected the value of target \
             (no spaces around \"=\"), found the end"
        );
        assert_eq!(
            refused("count", "3p"),
            "count: \"3p\" is not a whole number: write digits only, without a unit, such as 3"
        );
        assert_eq!(
            refused("count", "-3"),
            "count: \"-3\" is not a whole number: it cannot be negative"
        );
        assert!(refused("count", "4294967296").ends_with("the most is 4294967295"));
        assert!(refused("count", "3.0").contains("without point and exponent"));
        for text in ["nan", "inf", "1ms", "", "--1", "+1", ".5"] {
            assert!(
                refused("gain", text).contains("is not a number: write digits"),
                "{text}"
            );
        }
        assert!(refused("gain", "1e999").contains("the most is"));
    }

    #[test]
    fn the_ends_of_a_range_are_in_it_and_what_lies_beyond_is_not() {
        assert_eq!(
            refused("target", "20s"),
            "target: \"20s\" is out of range, allowed is 1us to 10s"
        );
        assert_eq!(
            refused("limit", "0B"),
            "limit: \"0B\" is out of range, allowed is at least 1p"
        );
        assert_eq!(
            refused("probability", "0.6"),
            "probability: \"0.6\" is out of range, allowed is at most 50%"
        );
        assert!(refused("rate", "999bps").contains("out of range"));
        assert!(refused("count", "10").contains("out of range"));
        assert!(refused("gain", "-1.01").contains("out of range"));
        let mut params = TestParams::default();
        for (key, text) in [
            ("target", "1us"),
            ("target", "10s"),
            ("limit", "1p"),
            ("limit", "1B"),
            ("probability", "0.5"),
            ("count", "1"),
            ("gain", "-1"),
        ] {
            assert_eq!(params.set(key, text), Ok(()), "{key}={text}");
        }
    }

    #[test]
    fn a_limit_in_the_other_unit_is_out_of_range_only_as_nothing_or_above_nothing() {
        let limit = |text: &str| text.parse::<Limit>().unwrap();
        assert!(limit("1B").in_range("100p", ""));
        assert!(!limit("0B").in_range("100p", ""));
        assert!(limit("0B").in_range("0p", "0p"));
        assert!(limit("9MB").in_range("", "100p"));
        assert!(!limit("9MB").in_range("", "0p"));
        assert!(!limit("101p").in_range("", "100p"));
        assert!(!limit("99p").in_range("100p", ""));
    }

    #[test]
    fn an_unknown_dialect_is_answered_with_those_there_are() {
        let error = TestParams::in_dialect("linus").unwrap_err();
        assert_eq!(error.key(), "dialect");
        assert_eq!(
            error.to_string(),
            "unknown dialect \"linus\", did you mean \"linux\"? (dialects: rfc8289, linux (linux-6.1))"
        );
        assert_eq!(
            TestParams::in_dialect("linux-6.2").unwrap_err().to_string(),
            "unknown dialect \"linux-6.2\", did you mean \"linux-6.1\"? (dialects: rfc8289, linux (linux-6.1))"
        );
    }

    #[test]
    fn without_dialects_there_is_one_way_and_no_name_for_it() {
        assert_eq!(OneParam::default().dialect, "default");
        assert_eq!(OneParam::default().release(), "default");
        assert_eq!(NoParams::default().pairs(), vec![]);
        assert_eq!(
            OneParam::in_dialect("linux").unwrap_err().to_string(),
            "unknown dialect \"linux\" (there are no dialects; leave it out)"
        );
    }

    #[test]
    fn parameters_are_set_after_the_dialect_whatever_their_order() {
        let given = owned(&[("limit", "7p"), ("dialect", "linux")]);
        let params: TestParams = build(None, &given).unwrap();
        assert_eq!(
            (
                params.dialect,
                params.ecn,
                params.limit.to_string().as_str()
            ),
            ("linux", true, "7p")
        );
    }

    #[test]
    fn a_dialect_of_ones_own_goes_before_that_of_the_scenario() {
        let given = owned(&[("dialect", "rfc8289")]);
        assert_eq!(
            build::<TestParams>(Some("linux"), &given).map(|p| p.dialect),
            Ok("rfc8289")
        );
        assert_eq!(
            build::<TestParams>(Some("linux"), &[]).map(|p| p.dialect),
            Ok("linux")
        );
        assert_eq!(
            build::<TestParams>(None, &[]).map(|p| p.dialect),
            Ok("rfc8289")
        );
    }

    #[test]
    fn a_key_given_twice_is_refused() {
        let given = owned(&[("limit", "7p"), ("count", "1"), ("limit", "8p")]);
        assert_eq!(
            build::<TestParams>(None, &given).unwrap_err().to_string(),
            "limit is given twice, \"7p\" and \"8p\"; keep one of them"
        );
    }

    #[test]
    fn a_dialect_cannot_be_set_as_a_parameter() {
        assert_eq!(
            refused("dialect", "linux"),
            "dialect: \"linux\" comes too late; choose the dialect before other parameters are set"
        );
    }

    #[test]
    fn a_declaration_that_does_not_hold_together_is_found() {
        assert_eq!(check_declaration::<TestParams>(), Ok(()));
        assert_eq!(check_declaration::<NoParams>(), Ok(()));
        assert_eq!(
            check_declaration::<WrongParams>(),
            Err("default of low: \"5\" is out of range, allowed is at least 6".to_owned())
        );
        assert_eq!(
            check_declaration::<WrongDialect>(),
            Err("dialect bad: low: \"7\" is out of range, allowed is at most 6".to_owned())
        );
    }

    #[test]
    fn a_choice_knows_its_words_and_their_meanings() {
        assert_eq!(
            Classify::CHOICES,
            [("flow", "The same flow."), ("source", "The same source.")]
        );
        for (value, word) in Classify::ALL.iter().zip(["flow", "source"]) {
            assert_eq!(value.to_string(), word);
            assert_eq!(word.parse(), Ok(*value));
        }
    }

    #[test]
    fn a_kind_says_what_to_write() {
        assert_eq!(Span::kind().unit_text(), "duration, such as 5ms");
        assert_eq!(Classify::kind().unit_text(), "one of flow, source");
        assert_eq!(
            Option::<Limit>::kind().unit_text(),
            "limit, such as 100p or 64kB; or none"
        );
    }

    #[test]
    fn a_kind_says_what_a_schema_needs() {
        assert_eq!(Span::kind().json_types(), ["string"]);
        assert_eq!(
            Span::kind().pattern().as_deref(),
            Some("^[0-9]+(\\.[0-9]+)? *(ps|ns|us|µs|μs|ms|s|min|h)$")
        );
        assert_eq!(Ratio::kind().json_types(), ["number", "string"]);
        assert_eq!(Option::<u64>::kind().json_types(), ["integer", "string"]);
        assert_eq!(Option::<u64>::kind().pattern().as_deref(), Some("^none$"));
        assert_eq!(
            Option::<Classify>::kind().pattern().as_deref(),
            Some("^none$|^(flow|source)$")
        );
        assert_eq!(Option::<Classify>::kind().choices(), Classify::CHOICES);
        assert_eq!(String::kind().pattern(), None);
        assert_eq!(Option::<Spec>::kind().pattern(), None);
        assert_eq!(bool::kind().json_types(), ["boolean"]);
    }
}
