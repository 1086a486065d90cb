//! Congestion controls from outside this crate: written in other crates or in Python, and registered by name.
//!
//! A name `module:Class` that is not registered is handed to the [loader](set_loader), once. The register is read while a flow is
//! prepared, never for an acknowledgement.
//!
//! ```
//! use sojourn_cc::{Acked, Build, Congestion, CongestionControl, Sent, Start, foreign, registry};
//! use sojourn_units::{ParamError, Rate, params};
//!
//! params! {
//!     /// A window that never changes.
//!     pub struct FixedParams {
//!         /// The window, segments.
//!         window: u32 = "10", range "1"..,  source "an example";
//!     }
//! }
//!
//! #[derive(Clone, Debug)]
//! struct Fixed {
//!     segments: u64,
//!     mss: u64,
//! }
//!
//! impl Build for Fixed {
//!     type Params = FixedParams;
//!
//!     fn build(params: &FixedParams) -> Result<Fixed, ParamError> {
//!         Ok(Fixed { segments: u64::from(params.window), mss: 1 })
//!     }
//! }
//!
//! impl CongestionControl for Fixed {
//!     fn on_start(&mut self, start: &Start) {
//!         self.mss = start.mss;
//!     }
//!     fn on_sent(&mut self, _: &Sent) {}
//!     fn on_ack(&mut self, _: &Acked) {}
//!     fn on_congestion(&mut self, _: &Congestion) {}
//!     fn cwnd(&self) -> u64 {
//!         self.segments * self.mss
//!     }
//!     fn ssthresh(&self) -> u64 {
//!         u64::MAX
//!     }
//!     fn pacing_rate(&self) -> Option<Rate> {
//!         None
//!     }
//! }
//!
//! foreign::register_control::<Fixed>("fixed", "Fixed window")?;
//! let mut cc = registry::build("fixed", None, &[("window".to_owned(), "4".to_owned())])?;
//! cc.on_start(&Start { mss: 1460, ..Start::default() });
//! assert_eq!(cc.cwnd(), 5840);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::control::{Build, CongestionControl};
use crate::registry::{Algorithm, AnyCc, Prepare, PrepareForeign, change, put};
use sojourn_units::{DialectInfo, ParamInfo, Params, Values, check_declaration};
use std::sync::{PoisonError, RwLock};

pub use crate::registry::Maker;
pub use sojourn_units::RegisterError;

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

/// Reads parameters, each a name and a text, in a dialect.
pub type ReadAndMake = PrepareForeign;

impl Foreign {
    fn algorithm(self) -> Result<Algorithm, RegisterError> {
        Values::check(self.params, self.dialects).map_err(|problem| {
            RegisterError::Declaration {
                given: self.name.to_owned(),
                problem,
            }
        })?;
        Ok(Algorithm {
            name: self.name,
            title: self.title,
            aliases: self.aliases,
            doc: self.doc,
            params: self.params,
            dialects: self.dialects,
            head: "",
            prepare: Prepare::Foreign(Box::leak(self.prepare)),
        })
    }
}

/// Registers a congestion control. The same declaration under the same name is no mistake: what came first stays.
///
/// # Errors
/// If specifications cannot name it, another algorithm has its name, or its declaration does not hold together.
pub fn register(foreign: Foreign) -> Result<(), RegisterError> {
    put(foreign.algorithm()?, false)
}

/// As [`register`], in place of what has this name. Connections that were prepared before stay what they are.
///
/// # Errors
/// As [`register`]. An algorithm of this crate is not replaced.
pub fn replace(foreign: Foreign) -> Result<(), RegisterError> {
    put(foreign.algorithm()?, true)
}

/// Registers an algorithm whose parameters are declared by [`params!`](sojourn_units::params), under a name and with the name that
/// papers write.
///
/// # Errors
/// As [`register`].
pub fn register_control<C>(name: &'static str, title: &'static str) -> Result<(), RegisterError>
where
    C: CongestionControl + Build + Clone + 'static,
    C::Params: Params,
{
    check_declaration::<C::Params>().map_err(|problem| RegisterError::Declaration {
        given: name.to_owned(),
        problem,
    })?;
    register(Foreign {
        name,
        aliases: &[],
        title,
        doc: C::Params::DOC,
        params: C::Params::TABLE,
        dialects: C::Params::DIALECTS,
        prepare: Box::new(|dialect, pairs| {
            let params: C::Params = sojourn_units::build(dialect, pairs)?;
            let cc = C::build(&params)?;
            Ok(Box::new(move || AnyCc::Custom(Box::new(cc.clone()))))
        }),
    })
}

/// Finds a class of a module by its name, `module:Class`: nothing if it is no congestion control, or why it cannot be had.
pub type Loader = fn(&str) -> Option<Result<Foreign, String>>;

static LOADER: RwLock<Option<Loader>> = RwLock::new(None);

/// Sets what finds classes of modules. It is asked once for each name; [`retry`] lets it be asked again for those it could not load.
pub fn set_loader(loader: Loader) {
    *LOADER.write().unwrap_or_else(PoisonError::into_inner) = Some(loader);
    change(|register| register.loader = Some(load));
}

fn load(name: &str) -> Option<Result<Algorithm, String>> {
    let loader = *LOADER.read().unwrap_or_else(PoisonError::into_inner);
    let algorithm = |foreign: Foreign| foreign.algorithm().map_err(|error| error.to_string());
    Some(loader?(name)?.and_then(algorithm))
}

/// Forgets which classes could not be loaded.
pub fn retry() {
    change(|register| register.failures.clear());
}
