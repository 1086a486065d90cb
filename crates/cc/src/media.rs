//! Congestion control of media: how fast an encoder may run, from a receiver's reports on single packets.
//!
//! A rate is wanted, not a window; feedback comes every so often and says for each packet whether and when it arrived (RFC 8888).
//! One file per algorithm: [`nada`] (RFC 8698), [`scream`] (RFC 8298), [`gcc`] (draft-ietf-rmcat-gcc-02). Rates are bits per second on
//! the wire, headers included.

mod control;
pub mod gcc;
pub mod nada;
mod rate;
pub mod scream;

pub use control::{Bounds, MediaControl, MediaFeedback, PacketResult};

use sojourn_units::{
    DialectInfo, ParamError, ParamInfo, Params, Span, Spec, Time, head_markdown, head_text,
    head_title, nearest,
};

/// One algorithm in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct MediaAlgorithm {
    /// The name in specifications.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    /// The head of its file.
    head: &'static str,
}

impl MediaAlgorithm {
    /// The name as papers write it.
    pub fn title(&self) -> &'static str {
        head_title(self.head)
    }

    /// Sources, revisions and deviations, in Markdown.
    pub fn sources(&self) -> String {
        head_markdown(self.head)
    }
}

/// The parameter of a flow that names the algorithm.
const CONTROL: &str = "control";

/// Declares the enum that dispatches, the builder by name and the catalogue.
macro_rules! media_controls {
    ($($file:ident :: $Control:ident ( $Params:ident ) = $name:literal),* $(,)?) => {
        /// Every algorithm.
        pub const MEDIA_ALGORITHMS: &[MediaAlgorithm] = &[$(MediaAlgorithm {
            name: $name,
            doc: <$file::$Params as Params>::DOC,
            params: <$file::$Params as Params>::TABLE,
            dialects: <$file::$Params as Params>::DIALECTS,
            head: head_text!(include_str!(concat!("media/", stringify!($file), ".rs"))),
        },)*];

        /// Any algorithm, dispatched statically.
        #[derive(Clone, Debug)]
        pub enum AnyMedia {
            $(
                #[doc = concat!("See [`", stringify!($file), "`].")]
                $Control(Box<$file::$Control>),
            )*
        }

        impl MediaControl for AnyMedia {
            fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
                match self { $(AnyMedia::$Control(c) => c.on_feedback(feedback),)* }
            }
            fn on_silence(&mut self, now: Time) {
                match self { $(AnyMedia::$Control(c) => c.on_silence(now),)* }
            }
            fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
                match self { $(AnyMedia::$Control(c) => c.on_sent(now, bytes, in_flight),)* }
            }
            fn target(&self) -> f64 {
                match self { $(AnyMedia::$Control(c) => c.target(),)* }
            }
            fn pacing(&self) -> f64 {
                match self { $(AnyMedia::$Control(c) => c.pacing(),)* }
            }
            fn window(&self) -> Option<u64> {
                match self { $(AnyMedia::$Control(c) => c.window(),)* }
            }
            fn feedback_every(&self) -> Span {
                match self { $(AnyMedia::$Control(c) => c.feedback_every(),)* }
            }
        }

        /// The algorithm that a specification describes, for media within these bounds; with its release and every parameter.
        ///
        /// # Errors
        /// If there is no such algorithm, or a parameter does not exist or has a value that is not allowed.
        pub fn build(spec: &Spec, bounds: Bounds) -> Result<(AnyMedia, Built), ParamError> {
            match spec.name.as_str() {
                $($name => {
                    let params: $file::$Params = sojourn_units::build(None, &spec.pairs())
                        .map_err(|error| error.within(CONTROL))?;
                    let built = Built {
                        name: $name,
                        release: params.release(),
                        pairs: params.pairs(),
                    };
                    let control = $file::$Control::build(&params, bounds)
                        .map_err(|error| error.within(CONTROL))?;
                    Ok((AnyMedia::$Control(Box::new(control)), built))
                })*
                other => Err(unknown(other)),
            }
        }
    };
}

media_controls! {
    nada::Nada(NadaParams) = "nada",
    scream::Scream(ScreamParams) = "scream",
    gcc::Gcc(GccParams) = "gcc",
}

/// What was built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    /// The name of the algorithm.
    pub name: &'static str,
    /// Its dialect in full.
    pub release: &'static str,
    /// Every parameter and its value.
    pub pairs: Vec<(&'static str, String)>,
}

fn unknown(given: &str) -> ParamError {
    let names = || MEDIA_ALGORITHMS.iter().map(|algorithm| algorithm.name);
    let list = names().collect::<Vec<_>>().join(", ");
    let remedy = match nearest(given, names()) {
        Some(near) => format!("did you mean {near:?}? (there are: {list})"),
        None => format!("choose one of {list}"),
    };
    ParamError::BadValue {
        key: CONTROL.to_owned(),
        error: sojourn_units::UnitError::new(
            sojourn_units::UnitErrorKind::UnknownChoice,
            given,
            "a congestion control of media",
            remedy,
        ),
    }
}

#[cfg(test)]
mod bottleneck;
