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
use crate::registry::{AnyCc, REGISTER};
use sojourn_units::{Params, check_declaration};

pub use crate::registry::{Foreign, Maker, ReadAndMake};
pub use sojourn_units::RegisterError;

/// Registers a congestion control. The same declaration under the same name is no mistake: what came first stays.
///
/// # Errors
/// If specifications cannot name it, another algorithm has its name, or its declaration does not hold together.
pub fn register(foreign: Foreign) -> Result<(), RegisterError> {
    REGISTER.register(foreign)
}

/// As [`register`], in place of what has this name. Connections that were prepared before stay what they are.
///
/// # Errors
/// As [`register`]. An algorithm of this crate is not replaced.
pub fn replace(foreign: Foreign) -> Result<(), RegisterError> {
    REGISTER.replace(foreign)
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
pub type Loader = sojourn_units::register::Loader<Foreign>;

/// Sets what finds classes of modules. It is asked once for each name; [`retry`] lets it be asked again for those it could not load.
pub fn set_loader(loader: Loader) {
    REGISTER.set_loader(loader);
}

/// Forgets which classes could not be loaded.
pub fn retry() {
    REGISTER.retry();
}
