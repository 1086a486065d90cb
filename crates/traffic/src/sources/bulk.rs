//! Bulk transfer: everything there is to send is there at the start.
//!
//! ns-2's Application/FTP: `start` is endless, `produce N` writes N packets.

use crate::entry::Entry;
use sojourn_sim::Stream;
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Bytes, ParamError, Time, params};

params! {
    /// A file transfer, endless or of a given size.
    pub struct BulkParams {
        /// Bytes to send. With none, until the flow stops.
        bytes: Option<Bytes> = "none", range "1B".., source "a file transfer has one parameter, its size";
    }
    dialects Dialect {
        /// The same everywhere.
        exact as Exact = "exact" {}
        /// ns-2's Application/FTP.
        ns2 as Ns2 = "ns2-2.35" {}
        /// ns-3's BulkSendApplication.
        ns3 as Ns3 = "ns3-3.44" {}
        /// ns-3.24's BulkSendApplication.
        ns3_24 as Ns3_24 = "ns3-3.24" {}
    }
}

/// The source.
#[derive(Clone, Debug)]
pub struct Bulk {
    bytes: Option<u64>,
    written: bool,
}

impl Bulk {
    /// A transfer without end.
    pub fn endless() -> Bulk {
        Bulk {
            bytes: None,
            written: false,
        }
    }

    /// A transfer of `bytes`.
    pub fn of(bytes: u64) -> Bulk {
        Bulk {
            bytes: Some(bytes),
            written: false,
        }
    }
}

impl Entry for Bulk {
    const NAME: &'static str = "bulk";
    const ALIASES: &'static [&'static str] = &["ftp"];
    const TITLE: &'static str = "Bulk";
    const ABOUT: &'static str = "A file transfer. All data is available at the start. Without `bytes`, it keeps the transport busy until the flow stops.";
    type Params = BulkParams;

    fn build(params: BulkParams) -> Result<Self, ParamError> {
        Ok(Bulk {
            bytes: params.bytes.map(Bytes::get),
            written: false,
        })
    }
}

impl Source for Bulk {
    fn unlimited(&self) -> bool {
        self.bytes.is_none()
    }

    #[inline(never)]
    fn next(&mut self, _: &mut Stream) -> Option<Write> {
        let bytes = self.bytes.filter(|_| !self.written)?;
        self.written = true;
        Some(Write {
            at: Time::ZERO,
            bytes,
        })
    }

    fn keeps(&self) -> bool {
        true
    }
}
