//! What RED in floating point and Linux's RED have in common.

use super::params::RedParams;
use crate::aqm::{Meta, Verdict, View, float};
use crate::entry::{self, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets};

/// In what the queue is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The queue is measured in bytes, else in packets.
    pub(super) in_bytes: bool,
    /// Bytes of a usual packet.
    pub(super) avpkt: u64,
}

impl Unit {
    #[inline]
    pub(super) fn measure(self, view: &View<'_>) -> u64 {
        if self.in_bytes {
            view.bytes
        } else {
            view.packets
        }
    }

    /// A length in this unit; packets are converted to bytes by the usual size.
    pub(super) fn of(self, key: &str, limit: Limit) -> Result<u64, SpecError> {
        match limit {
            Limit::Packets(n) if self.in_bytes => Ok(n.get().saturating_mul(self.avpkt)),
            Limit::Packets(n) => Ok(n.get()),
            Limit::Bytes(n) if self.in_bytes => Ok(n.get()),
            Limit::Bytes(_) => Err(contradiction(&format!(
                "{key} is in bytes, but the queue is measured in packets; write packets, or queue_in_bytes=true"
            ))),
        }
    }

    /// One packet in this unit.
    pub(super) fn packet(self) -> f64 {
        if self.in_bytes {
            float(self.avpkt)
        } else {
            1.0
        }
    }
}

/// What becomes of a packet above the upper threshold.
pub(crate) fn forced(params: &RedParams, meta: &Meta) -> Verdict {
    if params.ecn && !params.harddrop && meta.ecn().is_capable() {
        Verdict::Mark(MarkReason::Threshold)
    } else {
        Verdict::Drop(DropReason::Forced)
    }
}

/// A packet that RED lets in is still refused by a full queue.
#[inline(always)]
pub(crate) fn within_limit(
    verdict: Verdict,
    limit: Limit,
    meta: &Meta,
    view: &View<'_>,
) -> Verdict {
    let packets = Packets::new(view.packets + 1);
    let bytes = Bytes::new(view.bytes + u64::from(meta.size));
    if matches!(verdict, Verdict::Drop(_)) || limit.admits(packets, bytes) {
        verdict
    } else {
        Verdict::Drop(DropReason::Overlimit)
    }
}

#[allow(clippy::as_conversions, reason = "counts are far below 2^53")]
#[inline]
pub(crate) const fn signed_float(n: i64) -> f64 {
    n as f64
}

/// Parameters of RED contradict each other.
pub(super) fn contradiction(text: &str) -> SpecError {
    entry::contradiction("red", text)
}
