//! Transfers: what was asked for, and when it had arrived.

use sojourn_units::Time;

/// What was transferred.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TransferKind {
    /// A transfer of a workload.
    Flow,
    /// A response.
    Response,
    /// A page, from the request for its first object to the end of its last one.
    Page,
}

impl TransferKind {
    /// Every kind.
    pub const ALL: [TransferKind; 3] = [
        TransferKind::Flow,
        TransferKind::Response,
        TransferKind::Page,
    ];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            TransferKind::Flow => "flow",
            TransferKind::Response => "response",
            TransferKind::Page => "page",
        }
    }
}

/// One transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// What it was.
    pub kind: TransferKind,
    /// Payload bytes.
    pub bytes: u64,
    /// When it was asked for.
    pub asked: Time,
    /// When its last byte had arrived.
    pub completed: Option<Time>,
}
