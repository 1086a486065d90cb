//! Queues with limits that depend on links, until the links and flows are known.

use sojourn_units::{Buffer, Spec};

use crate::document::TableRef;
use crate::nominal::Before;

/// A queue of the topology, and where it stands.
pub(super) struct PendingQueue<'a> {
    pub(super) table: TableRef<'a>,
    pub(super) key: &'static str,
    /// As it was given, without the topology's buffer.
    pub(super) given: Spec,
    pub(super) buffer: Option<Buffer>,
    pub(super) before: Before,
}
