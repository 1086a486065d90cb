//! What is asked.

use sojourn_units::choice;

use super::link::Link;
use super::uses::Use;

choice! {
    /// Where the settings are made.
    pub enum Platform {
        /// A router with Linux, by `tc`.
        Linux = "linux",
        /// A router with OpenWrt, by its SQM scripts.
        Openwrt = "openwrt",
        /// The cable modem and the operator's end of the line.
        Docsis = "docsis",
    }
}

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The access link.
    pub link: Link,
    /// What the link is used for, in the order of [`Use::ALL`].
    pub uses: Vec<Use>,
    /// Where the settings are made.
    pub platform: Platform,
    /// Network device of the router towards the modem.
    pub device: String,
    /// Bytes that the link adds to each IP packet, for the lines to paste.
    pub overhead: u64,
    /// Replications.
    pub replications: u64,
    /// Seed of every random stream.
    pub seed: u64,
    /// The short form.
    pub quick: bool,
    /// The command that repeats it.
    pub command: String,
}
