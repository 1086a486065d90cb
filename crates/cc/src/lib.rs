//! Congestion control algorithms: how much a sender may have in flight, and how fast it may send.
//!
//! An algorithm is one file that implements [`CongestionControl`], its `mod` here and one line in [`registry`].
//! It learns what happens to a connection and answers with a window; what is lost, what is sent again and when a timer
//! fires is the transport's business. Sizes are payload bytes.
//!
//! ```
//! use sojourn_cc::{Acked, CongestionControl, Stage, Start, registry};
//! use sojourn_units::Time;
//!
//! let mut cc = registry::build("reno", None, &[])?;
//! cc.on_start(&Start { now: Time::ZERO, mss: 1460, initial_window: 14_600, ..Start::default() });
//! cc.on_ack(&Acked {
//!     now: Time::ZERO,
//!     bytes: 1460,
//!     in_flight: 13_140,
//!     rtt: None,
//!     echo: false,
//!     limited: true,
//!     stage: Stage::Open,
//! });
//! assert_eq!(cc.cwnd(), 16_060);
//! # Ok::<(), sojourn_cc::BuildError>(())
//! ```

pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod compound;
mod control;
pub mod copa;
pub mod cubic;
pub mod dctcp;
mod delays;
pub mod foreign;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
mod hystart;
pub mod illinois;
pub mod ledbat;
pub mod ledbat_plus;
mod linux;
pub mod lp;
pub mod media;
mod ns3;
mod num;
pub mod prague;
#[cfg(any(test, feature = "testing"))]
pub mod properties;
mod reduction;
pub mod registry;
pub mod reno;
mod sample;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
mod window;
pub mod yeah;

pub use control::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Expiry, Sent, Stage, Start,
};
pub use reduction::reduce;
pub use registry::{ALGORITHMS, AnyCc, BuildError};
pub use sample::{EcnUse, Lost, Phase, Sample, Traits, Undo};
