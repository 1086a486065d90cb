//! DropTail: first in, first out; when full the arrival is refused, or the head gives way.
//!
//! Source: the common behaviour of routers; Linux `pfifo`, `bfifo` and `pfifo_head_drop` (net/sched/sch_fifo.c), ns-2's
//! `DropTail`.
//!
//! Dialects differ in the meaning of the limit and in the packet that is dropped:
//! * `fifo` and `linux`: `limit` packets (or bytes) wait; an arrival that would exceed it is refused.
//! * `ns2`: an arrival is refused when the queue would hold `limit` with it, so that at most `limit - 1` packets wait
//!   (ns-2.35, queue/drop-tail.cc; pinned down by the golden trace `tiny-cbr-overload`). In bytes the same comparison
//!   is made with the mean packet size that the script sets; only packets are modelled.
//! * `linux_head` (pfifo_head_drop): the packet at the head is dropped for the arrival. Its limit is in packets, as in Linux:
//!   one head need not be as large as an arrival.

use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
use crate::entry::{BuildContext, Entry, SpecError};
use crate::tc::Line;
use sojourn_sim::DropReason;
use sojourn_units::{Limit, choice, params};

choice! {
    /// Which packet a full queue drops.
    pub enum DropTailDrop {
        /// The one that arrives.
        Tail = "tail",
        /// The one at the head.
        Head = "head",
    }
}

params! {
    /// First in, first out; arrivals are refused when the queue is full.
    pub struct DropTailParams {
        /// Maximum queue length, in packets or bytes, without the packet in transmission. With none, no packet is
        /// refused; use this in a scheduler that has its own limit.
        limit: Option<Limit> = "1000p", range "1p".., source "Linux pfifo: txqueuelen of an Ethernet device";
        /// Which packet is dropped when the queue is full. `head` needs a limit in packets.
        drop: DropTailDrop = "tail", source "Linux pfifo";
    }
    dialects Dialect {
        /// A plain FIFO that holds its limit.
        fifo as Fifo = "fifo" {}
        /// Linux pfifo and bfifo.
        linux as Linux = "linux-6.1" {}
        /// Linux pfifo_head_drop.
        linux_head as LinuxHead = "linux-6.1-head" { drop = "head" from "Linux sch_fifo.c: pfifo_tail_enqueue drops the head"; }
        /// ns-2's DropTail, which holds one packet less than its limit.
        ns2 as Ns2 = "ns2-2.35" { limit = "50p" from "ns-2.35 tcl/lib/ns-default.tcl: Queue set limit_ 50"; }
        /// ns-3's FifoQueueDisc.
        ns3 as Ns3 = "ns3-3.44" { limit = "1000p" from "ns-3.44 fifo-queue-disc.cc: MaxSize 1000p"; }
        /// ns-3's DropTailQueue, the device queue of the releases up to 3.24.
        ns3_24 as Ns3_24 = "ns3-3.24" { limit = "100p" from "ns-3.24 drop-tail-queue.cc: MaxPackets 100"; }
    }
}

/// The discipline.
pub struct DropTail {
    limit: Option<Limit>,
    /// Packets of the limit that are never used: 1 in dialect ns2.
    unused: u64,
    drop: DropTailDrop,
}

impl Entry for DropTail {
    const NAME: &'static str = "droptail";
    const ALIASES: &'static [&'static str] = &["pfifo", "bfifo", "fifo"];
    const TITLE: &'static str = "DropTail";
    const ABOUT: &'static str = "First in, first out: a packet that arrives at a full queue is dropped. With `drop=head`, the oldest packet is dropped instead.\n\n\
        Expect the delay of a large buffer whenever TCP keeps the link busy: the queue fills, loses a packet, drains by a part and fills again. The buffer size, not the load, determines the delay.";
    type Params = DropTailParams;

    fn build(params: DropTailParams, _: &BuildContext) -> Result<Self, SpecError> {
        let unused = u64::from(
            params.dialect == Dialect::Ns2 && matches!(params.limit, Some(Limit::Packets(_))),
        );
        if params.drop == DropTailDrop::Head && matches!(params.limit, Some(Limit::Bytes(_))) {
            return Err(SpecError::Contradiction {
                discipline: DropTail::NAME.to_owned(),
                text: "drop=head is for a limit in packets; give limit in packets, or drop=tail"
                    .to_owned(),
            });
        }
        Ok(DropTail {
            limit: params.limit,
            unused,
            drop: params.drop,
        })
    }

    fn tc(params: &DropTailParams) -> Option<Line> {
        Some(match params.limit {
            Some(Limit::Bytes(bytes)) => Line::root("bfifo").option("limit", bytes.get()),
            Some(Limit::Packets(packets)) => {
                let kind = match params.drop {
                    DropTailDrop::Tail => "pfifo",
                    DropTailDrop::Head => "pfifo_head_drop",
                };
                Line::root(kind).option("limit", packets.get())
            }
            None => Line::root("pfifo")
                .note("limit=none: pfifo holds as many packets as the device's txqueuelen"),
        })
    }
}

impl Aqm for DropTail {
    fn interest(&self) -> Interest {
        let from = match self.limit {
            Some(Limit::Packets(limit)) => limit.get().saturating_sub(self.unused),
            Some(Limit::Bytes(_)) => 0,
            None => u64::MAX,
        };
        Interest {
            reads_counts_only: self.drop == DropTailDrop::Tail,
            ..Interest::in_arrivals_from(from)
        }
    }

    #[inline]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        let fits = match self.limit {
            Some(Limit::Packets(limit)) => view.packets + self.unused < limit.get(),
            Some(Limit::Bytes(limit)) => view.bytes + u64::from(meta.size) <= limit.get(),
            None => true,
        };
        if fits {
            Verdict::Pass
        } else if self.drop == DropTailDrop::Head && view.waiting.peek(0).is_some() {
            Verdict::DropOther(0, DropReason::Evicted)
        } else {
            Verdict::Drop(DropReason::Overlimit)
        }
    }
}
