//! The algorithms by name: static dispatch, parameters and documentation, from one line each.

use crate::control::{Acked, Build, Congestion, CongestionControl, Sent, Start};
use crate::sample::{Lost, Phase, Sample, Traits, Undo};
use sojourn_units::register::{Listed, Register, Registered};
use sojourn_units::{
    DialectInfo, ParamError, ParamInfo, Params, Rate, RegisterError, Span, Time, Values,
    head_markdown, head_text, head_title, nearest,
};

/// One entry of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// The name by which scenarios call it.
    pub name: &'static str,
    /// The name as papers write it, where its file does not say it.
    pub(crate) title: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    /// The head of its file; empty of one that is registered.
    pub(crate) head: &'static str,
    pub(crate) prepare: Prepare,
}

impl Algorithm {
    /// The name as papers write it.
    pub fn title(&self) -> &'static str {
        match self.title {
            "" => head_title(self.head),
            title => title,
        }
    }

    /// Sources, revisions and deviations, dialect by dialect, in Markdown.
    pub fn sources(&self) -> String {
        head_markdown(self.head)
    }
}

/// Reads the parameters of an algorithm in a dialect from text, to build it as often as it is wanted.
#[derive(Clone, Copy)]
pub(crate) enum Prepare {
    Own(PrepareOwn),
    Foreign(&'static ReadAndMake),
}

/// How an algorithm of this crate reads them.
pub(crate) type PrepareOwn = fn(Option<&str>, &[(String, String)]) -> Result<Maker, ParamError>;

impl std::fmt::Debug for Prepare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Prepare::Own(_) => "Own",
            Prepare::Foreign(_) => "Foreign",
        })
    }
}

/// Reads parameters, each a name and a text, in a dialect.
pub type ReadAndMake =
    dyn Fn(Option<&str>, &[(String, String)]) -> Result<Maker, ParamError> + Send + Sync;

/// A congestion control from outside this crate. Its texts last as long as the program; leak those that are known at run time only.
pub struct Foreign {
    /// The name by which scenarios call it.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The name as papers write it.
    pub title: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    /// Reads its parameters in a dialect, to build it as often as connections are opened, each with a state of its own.
    pub prepare: Box<ReadAndMake>,
}

/// Builds an algorithm whose parameters have been read.
pub type Maker = Box<dyn Fn() -> AnyCc + Send>;

/// Why an algorithm cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// There is no algorithm of that name.
    Unknown {
        /// The name given.
        given: String,
        /// The one that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A class outside Sojourn cannot be had.
    Foreign {
        /// The name given.
        given: String,
        /// Why, and what to do.
        problem: String,
    },
    /// A parameter or dialect of the algorithm is wrong.
    Param {
        /// The algorithm.
        algorithm: &'static str,
        /// What is wrong.
        error: ParamError,
    },
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BuildError::Unknown { given, nearest } => {
                write!(f, "unknown congestion control {given:?}")?;
                if let Some(name) = nearest {
                    write!(f, ", did you mean {name:?}?")?;
                }
                let names: Vec<_> = all().iter().map(|a| a.name).collect();
                write!(f, " (algorithms: {})", names.join(", "))
            }
            BuildError::Foreign { given, problem } => {
                write!(f, "congestion control {given:?}: {problem}")
            }
            BuildError::Param {
                error: error @ ParamError::OfDialect { .. },
                ..
            } => write!(f, "{error}"),
            BuildError::Param { algorithm, error } => write!(f, "{algorithm}: {error}"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Unknown { .. } | BuildError::Foreign { .. } => None,
            BuildError::Param { error, .. } => Some(error),
        }
    }
}

/// Parameters of release 0.1.0 that said whose rules an algorithm follows, and the dialect for each of their words.
const OF_DIALECT: [(&str, &[(&str, &str)]); 3] = [
    (
        "details",
        &[("paper", "rfc"), ("ns3", "ns3"), ("linux", "linux")],
    ),
    (
        "curve",
        &[("real", "rfc"), ("ns3", "ns3"), ("ticks", "linux")],
    ),
    ("rule", &[("rfc", "rfc"), ("ns3", "ns3")]),
];

impl Algorithm {
    /// Refuses parameters of earlier releases that said what the dialect says, among `pairs` of key and value.
    ///
    /// # Errors
    /// The first of them, with the dialect to write.
    pub fn refuse_of_dialect(&self, pairs: &[(String, String)]) -> Result<(), ParamError> {
        let found = pairs.iter().find_map(|(key, given)| {
            let (_, said) = OF_DIALECT.iter().find(|(name, _)| name == key)?;
            let has = self.params.iter().any(|info| info.name == key);
            (!has).then_some((key, given, said))
        });
        match found {
            None => Ok(()),
            Some((key, given, said)) => {
                let pair = (key.as_str(), given.as_str());
                Err(ParamError::of_dialect(self.name, pair, said, self.dialects))
            }
        }
    }
}

impl Listed for Algorithm {
    const WHAT: &'static str = "congestion control";

    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn is_same(&self, other: &Algorithm) -> bool {
        let texts = |a: &Algorithm| (a.name, a.title, a.aliases, a.doc);
        let same = |(one, two): (&ParamInfo, &ParamInfo)| one.is_same(two);
        texts(self) == texts(other)
            && self.params.len() == other.params.len()
            && self.params.iter().zip(other.params).all(same)
            && self.dialects == other.dialects
    }
}

impl Registered for Algorithm {
    type Entry = Algorithm;
    type Foreign = Foreign;

    fn new(foreign: Foreign) -> Result<Algorithm, RegisterError> {
        let Foreign { name, params, .. } = foreign;
        Values::check(params, foreign.dialects).map_err(|problem| RegisterError::Declaration {
            given: name.to_owned(),
            problem,
        })?;
        Ok(Algorithm {
            name,
            title: foreign.title,
            aliases: foreign.aliases,
            doc: foreign.doc,
            params,
            dialects: foreign.dialects,
            head: "",
            prepare: Prepare::Foreign(Box::leak(foreign.prepare)),
        })
    }

    fn entry(&self) -> &Algorithm {
        self
    }
}

/// The algorithms from outside this crate.
pub(crate) static REGISTER: Register<Algorithm> = Register::new(ALGORITHMS);

/// Every algorithm: those of this crate in the order of the list, then those [registered](crate::foreign) in the order of their names.
pub fn all() -> &'static [Algorithm] {
    REGISTER.all()
}

/// The entry of `name`, which may be another name for it. A class of a module is loaded where it is not registered.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    REGISTER.find(name).ok().flatten()
}

/// The entry of `name`. Use [`find`] where it may be missing: this error takes long to make.
///
/// # Errors
/// If no algorithm has that name, or a class cannot be loaded.
pub fn required(name: &str) -> Result<&'static Algorithm, BuildError> {
    let refused = |problem| BuildError::Foreign {
        given: name.to_owned(),
        problem,
    };
    REGISTER
        .find(name)
        .map_err(refused)?
        .ok_or_else(|| BuildError::Unknown {
            given: name.to_owned(),
            nearest: nearest(
                name,
                all()
                    .iter()
                    .flat_map(|a| std::iter::once(a.name).chain(a.aliases.iter().copied())),
            ),
        })
}

/// The algorithm `name` in a dialect (its default one where none is named) with parameters from text.
///
/// # Errors
/// If the name, the dialect, a parameter or a value does not exist or is out of range.
pub fn build(
    name: &str,
    dialect: Option<&str>,
    pairs: &[(String, String)],
) -> Result<AnyCc, BuildError> {
    Ok(prepare(name, dialect, pairs)?())
}

/// As [`build`], for connections that are opened while a run goes on: parameters are read once.
///
/// # Errors
/// As [`build`].
pub fn prepare(
    name: &str,
    dialect: Option<&str>,
    pairs: &[(String, String)],
) -> Result<Maker, BuildError> {
    let algorithm = required(name)?;
    let prepared = algorithm.refuse_of_dialect(pairs);
    let prepared = prepared.and_then(|()| match algorithm.prepare {
        Prepare::Own(prepare) => prepare(dialect, pairs),
        Prepare::Foreign(prepare) => prepare(dialect, pairs),
    });
    prepared.map_err(|error| BuildError::Param {
        algorithm: algorithm.name,
        error,
    })
}

/// The arithmetic of a dialect that has one of its own: a congestion control of the algorithm's module, or what that module has for the frame of
/// [`crate::ns3`] or [`crate::linux`].
macro_rules! of_dialect {
    ($module:ident, $dialect:ident, Socket($Ops:ident), $params:expr) => {
        crate::$dialect::Socket::<crate::$module::$Ops>::build($params)
    };
    ($module:ident, $dialect:ident, $Own:ident, $params:expr) => {
        crate::$module::$Own::build($params)
    };
}

/// Declares the algorithms of this crate, one per line: `module = Type(Params);`, the name of the module being the name
/// of the algorithm; `module ["other", ...] = ` gives it other names. With `, ns3 = Own` it is `Own` in dialect ns3, with `, ns3 = Socket(Ops)` `Ops` in the frame
/// of [`crate::ns3`]. The first one is asked without a detour; the others lie in boxes, so that a connection stays small.
macro_rules! algorithms {
    ($first:ident [$($first_alias:literal),*] = $First:ident($FirstParams:ident); $($module:ident $([$($alias:literal),*])? = $Type:ident($Params:ident) $(, $dialect:ident = $Other:ident $(($Ops:ident))?)*;)*) => {
        /// An algorithm of the registry, dispatched statically, or one that the registry does not know.
        #[derive(Debug)]
        pub enum AnyCc {
            #[doc = concat!("See [`mod@crate::", stringify!($first), "`].")]
            $First(crate::$first::$First),
            $(
                #[doc = concat!("See [`mod@crate::", stringify!($module), "`].")]
                $Type(Box<crate::$module::$Type>),
            )*
            /// An algorithm from outside this crate, or one with the arithmetic of ns-3 or Linux.
            Custom(Box<dyn CongestionControl>),
        }

        /// Every algorithm of this crate.
        pub const ALGORITHMS: &[Algorithm] = &[
            Algorithm {
                name: stringify!($first),
                title: "",
                head: head_text!(include_str!(concat!(stringify!($first), ".rs"))),
                aliases: &[$($first_alias),*],
                doc: <crate::$first::$FirstParams as Params>::DOC,
                params: <crate::$first::$FirstParams as Params>::TABLE,
                dialects: <crate::$first::$FirstParams as Params>::DIALECTS,
                prepare: Prepare::Own(|dialect, pairs| {
                    let params = sojourn_units::build::<crate::$first::$FirstParams>(dialect, pairs)?;
                    let cc = crate::$first::$First::build(&params)?;
                    Ok(Box::new(move || AnyCc::$First(cc.clone())))
                }),
            },
            $(Algorithm {
                name: stringify!($module),
                title: "",
                head: head_text!(include_str!(concat!(stringify!($module), ".rs"))),
                aliases: &[$($($alias),*)?],
                doc: <crate::$module::$Params as Params>::DOC,
                params: <crate::$module::$Params as Params>::TABLE,
                dialects: <crate::$module::$Params as Params>::DIALECTS,
                prepare: Prepare::Own(|dialect, pairs| {
                    let params = sojourn_units::build::<crate::$module::$Params>(dialect, pairs)?;
                    $(if params.dialect() == stringify!($dialect) {
                        let cc = of_dialect!($module, $dialect, $Other $(($Ops))?, &params)?;
                        return Ok(Box::new(move || AnyCc::Custom(Box::new(cc.clone()))));
                    })*
                    let cc = crate::$module::$Type::build(&params)?;
                    Ok(Box::new(move || AnyCc::$Type(Box::new(cc.clone()))))
                }),
            },)*
        ];

        impl AnyCc {
            #[inline(never)]
            fn other(&self) -> &dyn CongestionControl {
                match self {
                    AnyCc::$First(cc) => cc,
                    $(AnyCc::$Type(cc) => &**cc,)*
                    AnyCc::Custom(cc) => &**cc,
                }
            }

            #[inline(never)]
            fn other_mut(&mut self) -> &mut dyn CongestionControl {
                match self {
                    AnyCc::$First(cc) => cc,
                    $(AnyCc::$Type(cc) => &mut **cc,)*
                    AnyCc::Custom(cc) => &mut **cc,
                }
            }
        }

        impl CongestionControl for AnyCc {
            #[inline]
            fn on_start(&mut self, start: &Start) {
                match self {
                    AnyCc::$First(cc) => cc.on_start(start),
                    other => other.other_mut().on_start(start),
                }
            }

            #[inline]
            fn on_sent(&mut self, sent: &Sent) {
                match self {
                    AnyCc::$First(cc) => cc.on_sent(sent),
                    other => other.other_mut().on_sent(sent),
                }
            }

            #[inline]
            fn on_ack(&mut self, acked: &Acked) {
                match self {
                    AnyCc::$First(cc) => cc.on_ack(acked),
                    other => other.other_mut().on_ack(acked),
                }
            }

            #[inline]
            fn on_congestion(&mut self, congestion: &Congestion) {
                match self {
                    AnyCc::$First(cc) => cc.on_congestion(congestion),
                    other => other.other_mut().on_congestion(congestion),
                }
            }

            #[inline]
            fn cwnd(&self) -> u64 {
                match self {
                    AnyCc::$First(cc) => cc.cwnd(),
                    other => other.other().cwnd(),
                }
            }

            #[inline]
            fn ssthresh(&self) -> u64 {
                match self {
                    AnyCc::$First(cc) => cc.ssthresh(),
                    other => other.other().ssthresh(),
                }
            }

            #[inline]
            fn pacing_rate(&self) -> Option<Rate> {
                match self {
                    AnyCc::$First(cc) => cc.pacing_rate(),
                    other => other.other().pacing_rate(),
                }
            }

            fn traits(&self) -> Traits {
                self.other().traits()
            }

            fn period(&self) -> Option<(&'static str, Span)> {
                self.other().period()
            }

            #[inline]
            fn on_sample(&mut self, sample: &Sample) {
                match self {
                    AnyCc::$First(cc) => cc.on_sample(sample),
                    other => other.other_mut().on_sample(sample),
                }
            }

            fn on_model(&mut self, sample: &Sample) {
                self.other_mut().on_model(sample);
            }

            fn on_lost(&mut self, lost: &Lost) {
                self.other_mut().on_lost(lost);
            }

            fn on_window(&mut self, cwnd: u64) {
                self.other_mut().on_window(cwnd);
            }

            fn on_next(&mut self, next: u64) {
                self.other_mut().on_next(next);
            }

            fn on_decay(&mut self, cwnd: u64) {
                self.other_mut().on_decay(cwnd);
            }

            fn on_phase(&mut self, phase: Phase, now: Time) {
                self.other_mut().on_phase(phase, now);
            }

            fn on_undo(&mut self, undo: &Undo) {
                self.other_mut().on_undo(undo);
            }

            fn seed(&mut self, seed: u64) {
                self.other_mut().seed(seed);
            }

            fn steer(&mut self, now: Time, action: &[f64]) {
                self.other_mut().steer(now, action);
            }

            fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
                self.other().series(tell);
            }
        }

        #[cfg(test)]
        mod declared {
            #[test]
            fn $first() {
                let checked = sojourn_units::check_declaration::<crate::$first::$FirstParams>();
                assert_eq!(checked, Ok(()));
            }
            $(
                #[test]
                fn $module() {
                    let checked = sojourn_units::check_declaration::<crate::$module::$Params>();
                    assert_eq!(checked, Ok(()));
                }
            )*
        }
    };
}

algorithms! {
    reno ["newreno"] = Reno(RenoParams);
    cubic = Cubic(CubicParams), ns3 = Ns3, linux = Linux;
    bbr ["bbr1", "bbrv1"] = Bbr(BbrParams), ns3 = Ns3;
    bbr3 ["bbrv3"] = Bbr3(Bbr3Params);
    dctcp = Dctcp(DctcpParams), ns3 = Socket(Ns3);
    vegas = Vegas(VegasParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    ledbat = Ledbat(LedbatParams), ns3 = Ns3;
    westwood ["westwood+", "westwood_plus", "westwoodplus", "tcpwestwood"] = Westwood(WestwoodParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    highspeed ["hs", "hstcp"] = Highspeed(HighspeedParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    scalable ["stcp"] = Scalable(ScalableParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    htcp ["h_tcp"] = Htcp(HtcpParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    bic = Bic(BicParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    veno = Veno(VenoParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    illinois = Illinois(IllinoisParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    hybla = Hybla(HyblaParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    yeah = Yeah(YeahParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    lp ["tcp_lp"] = Lp(LpParams), ns3 = Socket(Ns3), linux = Socket(Linux);
    compound ["ctcp"] = Compound(CompoundParams);
    ledbat_plus ["ledbat++", "ledbat_plus_plus", "ledbatplusplus", "ledbatpp"] = LedbatPlus(LedbatPlusParams);
    copa = Copa(CopaParams);
    prague = Prague(PragueParams);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;

    #[test]
    fn every_algorithm_is_built_by_its_name_in_each_of_its_dialects() {
        for algorithm in ALGORITHMS {
            for dialect in algorithm.dialects {
                let cc = build(algorithm.name, Some(dialect.name), &[]).unwrap();
                assert!(cc.ssthresh() > 0);
            }
        }
    }

    #[test]
    fn the_head_of_each_file_has_a_title_and_names_sources() {
        for algorithm in ALGORITHMS {
            let (title, sources) = (algorithm.title(), algorithm.sources());
            assert!(title.len() <= 20, "{}: {title}", algorithm.name);
            assert!(
                sources.starts_with("Source"),
                "{}: {sources}",
                algorithm.name
            );
        }
    }

    #[test]
    fn every_algorithm_is_found_by_its_other_names_and_no_name_is_anothers() {
        let mut all = Vec::new();
        for algorithm in ALGORITHMS {
            for name in std::iter::once(&algorithm.name).chain(algorithm.aliases) {
                assert_eq!(find(name).map(|found| found.name), Some(algorithm.name));
                assert!(!all.contains(name), "{name}");
                all.push(name);
            }
        }
        for (given, name) in [("bbrv1", "bbr"), ("newreno", "reno"), ("hs", "highspeed")] {
            assert_eq!(find(given).map(|found| found.name), Some(name));
        }
    }

    #[test]
    fn a_name_that_does_not_exist_is_answered_with_the_nearest() {
        let error = build("rno", None, &[]).unwrap_err().to_string();
        let expected =
            "unknown congestion control \"rno\", did you mean \"reno\"? (algorithms: reno, ";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn a_wrong_parameter_names_the_algorithm() {
        let pairs = [("slow_start_limit".to_owned(), "0".to_owned())];
        let error = build("reno", None, &pairs).unwrap_err().to_string();
        assert!(error.starts_with("reno: slow_start_limit:"), "{error}");
    }

    #[test]
    fn a_parameter_that_chose_rules_is_refused_with_the_dialect_that_has_them() {
        for (algorithm, key, value, expected) in [
            (
                "cubic",
                "curve",
                "ticks",
                "cubic has no parameter curve: write dialect=linux",
            ),
            (
                "dctcp",
                "details",
                "paper",
                "dctcp has no parameter details: write dialect=rfc",
            ),
            (
                "ledbat",
                "rule",
                "ns3",
                "ledbat has no parameter rule: write dialect=ns3",
            ),
            (
                "copa",
                "details",
                "ns3",
                "copa has no parameter details: choose a dialect: rfc",
            ),
        ] {
            let pairs = [(key.to_owned(), value.to_owned())];
            let error = build(algorithm, None, &pairs).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn parameters_that_contradict_each_other_are_refused() {
        for (algorithm, dialect, key, value, expected) in [
            (
                "vegas",
                "linux",
                "alpha",
                "5",
                "alpha: \"5\" is out of range, allowed is at most beta, 4",
            ),
            (
                "vegas",
                "rfc",
                "beta",
                "0",
                "beta: \"0\" is out of range, allowed is at least alpha, 1",
            ),
            (
                "illinois",
                "ns3",
                "beta_max",
                "0.1",
                "beta_max: \"0.1\" is out of range, allowed is at least beta_min, 0.125",
            ),
            (
                "highspeed",
                "rfc",
                "low_window",
                "90000",
                "low_window: \"90000\" is out of range, allowed is at most high_window, 83000",
            ),
            (
                "compound",
                "rfc",
                "gamma_low",
                "31",
                "gamma_low: \"31\" is out of range, allowed is at most gamma_high, 30",
            ),
        ] {
            let pairs = [(key.to_owned(), value.to_owned())];
            let error = build(algorithm, Some(dialect), &pairs).unwrap_err();
            assert_eq!(error.to_string(), format!("{algorithm}: {expected}"));
        }
    }

    #[test]
    fn an_algorithm_from_outside_is_dispatched_like_one_of_ours() {
        let inner = build("reno", None, &[]).unwrap();
        let mut cc = AnyCc::Custom(Box::new(inner));
        cc.on_start(&crate::Start {
            now: sojourn_units::Time::ZERO,
            mss: 1000,
            initial_window: 3000,
            ..crate::Start::default()
        });
        assert_eq!((cc.cwnd(), cc.pacing_rate()), (3000, None));
    }
}
