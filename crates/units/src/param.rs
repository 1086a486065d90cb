//! Parameters, declared once: name, type, default, range and source stand in one place, and everything that reads, checks,
//! lists or documents a parameter takes them from there.
//!
//! [`params!`](crate::params) declares the parameters of one algorithm and its dialects, [`choice!`](crate::choice) a
//! parameter that is one word of a few. [`ParamValue`] is what a type needs to be a parameter's.

mod build;
mod error;
#[doc(hidden)]
pub mod expansion;
mod info;
mod kind;
mod params;
mod table;
mod values;

pub use build::{PAPER, build, check_declaration, usable_dialect};
pub use error::ParamError;
pub use info::{Condition, DialectInfo, KindOf, Need, ParamInfo};
pub use kind::{Kind, ParamValue};
pub use params::Params;
pub use table::Values;

/// Declares the parameters of an algorithm: a struct with a field for each, and [`Params`] for it. Where there are dialects,
/// also an enum of these, and a field `dialect` of that type.
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
/// Behind these, `acts "..."` says in which situation of a run the parameter acts, where it does not always: readers see "Has an effect only when ...".
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
///     dialects Dialect {
///         /// RFC 8289 as printed.
///         rfc8289 as Rfc8289 = "rfc8289" {}
///         /// ns-3's CoDelQueueDisc.
///         ns3 as Ns3 = "ns3-3.44" { limit = "1.5MB" from "codel-queue-disc.cc, MaxSize"; }
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
///     dialects Dialect {
///         /// Another one.
///         other as Other = "other-1" { limits = "50p" from "its manual"; }
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
        $(dialects $Dialect:ident {
            $(
                $(#[doc = $dialect_doc:literal])+
                $dialect:ident as $Variant:ident = $release:literal {
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
            $(
                /// The dialect whose defaults these began with.
                pub dialect: $Dialect,
            )?
        }

        $(
            #[doc = concat!("The dialects of [`", stringify!($Name), "`].")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            $vis enum $Dialect {
                $(
                    $(#[doc = $dialect_doc])+
                    $Variant,
                )+
            }

            impl $Dialect {
                /// Every dialect, in the order declared.
                $vis const ALL: &'static [$Dialect] = &[$($Dialect::$Variant),+];

                /// The short name.
                $vis const fn name(self) -> &'static str {
                    match self {
                        $($Dialect::$Variant => stringify!($dialect),)+
                    }
                }
            }

            impl ::core::fmt::Display for $Dialect {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.pad(self.name())
                }
            }
        )?

        impl $Name {
            /// The declared defaults, before what a dialect overrides. It is the dialect at that place of the list.
            fn declared(_place: usize) -> Self {
                Self {
                    $($param: $crate::param::expansion::declared(stringify!($param), $default),)*
                    $(dialect: $Dialect::ALL[_place],)?
                }
            }
        }

        $(impl $Name {
            /// The defaults of a dialect.
            #[allow(dead_code, reason = "offered to whoever needs it, whatever the visibility")]
            $vis fn of(dialect: $Dialect) -> Self {
                match <Self as $crate::Params>::in_dialect(dialect.name()) {
                    Ok(params) => params,
                    Err(error) => panic!("declared dialect {}: {error}", dialect.name()),
                }
            }
        })?

        impl ::core::default::Default for $Name {
            fn default() -> Self {
                match <Self as $crate::Params>::DIALECTS.first() {
                    Some(first) => match <Self as $crate::Params>::in_dialect(first.name) {
                        Ok(params) => params,
                        Err(error) => panic!("declared dialect {}: {error}", first.name),
                    },
                    None => Self::declared(0),
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
                    kind: $crate::KindOf::Type(<$ty as $crate::ParamValue>::kind),
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
                let (place, info) = $crate::param::expansion::dialect::<Self>(name)?;
                let mut params = Self::declared(place);
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
                let _name = "default";
                $(let _name = $Dialect::name(self.dialect);)?
                _name
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Rate;
    use crate::size::{Limit, Ratio};
    use crate::spec::Spec;
    use crate::time::Span;

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
        dialects TestDialect {
            /// As printed.
            rfc8289 as Rfc8289 = "rfc8289" {}
            /// As in
            /// the kernel.
            linux as Linux = "linux-6.1" { limit = "50p" from "sch_codel.c"; ecn = "true" from "sch_codel.c"; }
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
        dialects OutOfRange {
            /// Good.
            good as Good = "good" {}
            /// Bad.
            bad as Bad = "bad-1" { low = "7" from "a paper"; }
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
        dialects NeedyDialect {
            /// Good.
            good as Good = "good" {}
            /// Without reports.
            silent as Silent = "silent-1" { reports = "false" from "a paper"; every = "1s" from "a paper"; }
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
        dialects DialectDialect {
            /// The paper.
            paper as Paper = "paper-1" {}
            /// The program.
            program as Program = "program-1" { whose = "program" from "its source"; }
            /// Its port, with the paper's rules.
            port as Port = "port-1" {}
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
            (
                "Has an effect only when the run is long.".to_owned(),
                all.clone()
            )
        );
        assert_eq!(shown("whose"), ("Set by the dialect.".to_owned(), all));
    }

    crate::params! {
        /// A parameter of a dialect that is none.
        struct NoSuchDialect {
            /// A knob.
            knob: u32 = "0", source "a program", where dialect is "prgram";
        }
        dialects OfNone {
            /// The program.
            program as Program = "program-1" {}
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
        assert_eq!(target.kind(), Kind::Duration);
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
        assert_eq!((params.dialect(), params.release()), ("rfc8289", "rfc8289"));
        assert_eq!(params.target, Span::from_ms(5));
        assert_eq!(params.classify, Classify::Flow);
        assert_eq!(params.each, Spec::new("droptail"));
        assert_eq!((params.rate, params.count, params.gain), (None, 3, -0.5));
    }

    #[test]
    fn a_dialect_is_named_in_short_or_in_full() {
        let linux = TestParams::in_dialect("linux").unwrap();
        assert_eq!(TestParams::in_dialect("linux-6.1").unwrap(), linux);
        assert_eq!(
            (linux.dialect, linux.release()),
            (TestDialect::Linux, "linux-6.1")
        );
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
            "target: missing unit in \"5\": expected a duration such as 5ms"
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
            "rate: missing unit in \"5\": expected a rate such as 5Mbps"
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
        assert_eq!(OneParam::default().dialect(), "default");
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
            (TestDialect::Linux, true, "7p")
        );
    }

    #[test]
    fn a_dialect_of_ones_own_goes_before_that_of_the_scenario() {
        let given = owned(&[("dialect", "rfc8289")]);
        assert_eq!(
            build::<TestParams>(Some("linux"), &given).map(|p| p.dialect),
            Ok(TestDialect::Rfc8289)
        );
        assert_eq!(
            build::<TestParams>(Some("linux"), &[]).map(|p| p.dialect),
            Ok(TestDialect::Linux)
        );
        assert_eq!(
            build::<TestParams>(None, &[]).map(|p| p.dialect),
            Ok(TestDialect::Rfc8289)
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
            "limit, such as 100p, 64kB, 50ms or 1bdp; or none"
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
