//! Which packets share a queue: by flow, by node or by DSCP, one queue each or by hash into buckets.

use crate::entry::BuildContext;
use sojourn_sim::{Flags, Packet, to_usize as at};
use sojourn_units::choice;
use std::collections::BTreeMap;

choice! {
    /// Which packets share a queue.
    pub enum Classify {
        /// Packets of the same flow and direction.
        Flow = "flow",
        /// Packets from the same node. If nodes are unknown, each flow counts as a node.
        Source = "source",
        /// Packets to the same node. If nodes are unknown, each flow counts as a node.
        Destination = "destination",
        /// Packets with the same source node and destination node. If nodes are unknown, each flow has its own nodes.
        SourceDestination = "source_destination",
        /// Packets with the same differentiated services codepoint.
        Dscp = "dscp",
    }
}

/// How classes are spread over buckets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hash {
    /// By SplitMix64's finalizer of the class and a key.
    Keyed(u64),
    /// By the remainder of its number.
    Number,
    /// By ns-2's hash of a node (drr.cc).
    Ns2,
    /// By ns-2's hash of the sum of two nodes (sfq.cc).
    Ns2Sum,
}

/// Finds the queue of a packet.
pub struct Classifier {
    /// What makes a class.
    by: Classify,
    /// Number of buckets, or `None` for a queue per class.
    buckets: Option<u32>,
    /// How classes are spread over buckets.
    hash: Hash,
    /// Flows and nodes, for classes by address.
    cx: BuildContext,
    /// Queue of each flow and direction (even forward, odd reverse) or of each codepoint, or [`NONE`] while unknown.
    known: Vec<u32>,
    /// Queue of each class (or bucket) that has been seen.
    queues: BTreeMap<u64, u32>,
}

/// No queue.
const NONE: u32 = u32::MAX;

/// Flows with larger numbers are looked up every time.
const MOST_KNOWN: usize = 1 << 20;

impl Classifier {
    /// A classifier that has seen no packet.
    pub fn new(by: Classify, buckets: Option<u32>, hash: Hash, cx: &BuildContext) -> Classifier {
        Classifier {
            by,
            buckets,
            hash,
            cx: cx.clone(),
            known: Vec::new(),
            queues: BTreeMap::new(),
        }
    }

    /// The index of the queue, counted in the order in which classes (or buckets) are first seen: one that equals the
    /// number of queues so far is new.
    #[inline]
    pub fn queue_of(&mut self, packet: &Packet) -> u32 {
        let slot = match self.by {
            Classify::Dscp => usize::from(packet.tos >> 2),
            _ => 2 * at(packet.flow) + usize::from(packet.flags.has(Flags::REVERSE)),
        };
        match self.known.get(slot) {
            Some(&index) if index != NONE => index,
            _ => self.look_up(packet, slot),
        }
    }

    /// The class of a packet before any hash: the number of its flow (odd bit 32 for the reverse direction), of its node or
    /// nodes, or its DSCP.
    pub fn class_of(&self, packet: &Packet) -> u64 {
        let (flow, reverse) = (packet.flow, packet.flags.has(Flags::REVERSE));
        let own = u64::from(flow) | u64::from(reverse) << 32;
        let ends = match (self.by, self.cx.flow_nodes.get(at(flow))) {
            (Classify::Dscp, _) => return u64::from(packet.tos >> 2),
            (Classify::Flow, _) | (_, None) => return own,
            (_, Some(&(source, sink))) if reverse => (sink, source),
            (_, Some(&ends)) => ends,
        };
        match self.by {
            Classify::SourceDestination => u64::from(ends.0) << 32 | u64::from(ends.1),
            Classify::Destination => u64::from(ends.1),
            Classify::Flow | Classify::Source | Classify::Dscp => u64::from(ends.0),
        }
    }

    /// The bucket of a class.
    pub fn bucket_of(&self, class: u64) -> u64 {
        match self.buckets {
            Some(buckets) => self.hash_of(class) % u64::from(buckets),
            None => class,
        }
    }

    /// The hash of a class; its remainder is the bucket.
    pub fn hash_of(&self, class: u64) -> u64 {
        match self.hash {
            Hash::Keyed(key) => mix(class ^ key),
            Hash::Number => class,
            Hash::Ns2 => ns2_hash(class),
            Hash::Ns2Sum => ns2_sum_hash((class >> 32) + (class & u64::from(u32::MAX))),
        }
    }

    /// Spreads classes anew, with another key. Queues keep their bucket.
    pub fn rekey(&mut self, key: u64) {
        self.hash = Hash::Keyed(key);
        self.known.clear();
    }

    #[cold]
    fn look_up(&mut self, packet: &Packet, slot: usize) -> u32 {
        let bucket = self.bucket_of(self.class_of(packet));
        let new = u32::try_from(self.queues.len()).expect("fewer than 2^32 queues");
        let index = *self.queues.entry(bucket).or_insert(new);
        if slot < MOST_KNOWN {
            if slot >= self.known.len() {
                self.known.resize(slot + 1, NONE);
            }
            self.known[slot] = index;
        }
        index
    }
}

/// ns-2's hash of a node (drr.cc), with C's remainder that keeps the sign.
fn ns2_hash(node: u64) -> u64 {
    let i = i64::try_from(node).unwrap_or(i64::MAX);
    let hash = (i + (i >> 8) + !(i >> 4)) % ((2 << 23) - 1) + 1;
    u64::try_from(hash).unwrap_or(0)
}

/// ns-2's hash of the sum of two nodes (sfq.cc). For the sum 0, which no two nodes have, C's remainder would be below zero.
fn ns2_sum_hash(sum: u64) -> u64 {
    let k = i64::try_from(sum).unwrap_or(i64::MAX);
    let hash = (k + (k >> 8) + !(k >> 4)).rem_euclid((2 << 19) - 1);
    u64::try_from(hash).unwrap_or(0)
}

/// SplitMix64's finalizer: every bit of the class decides about every bit of the hash.
pub(crate) const fn mix(class: u64) -> u64 {
    let z = class.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn classifier(by: Classify, buckets: Option<u32>, hash: Hash) -> Classifier {
        let cx = BuildContext {
            flow_nodes: Arc::from([(1, 9), (1, 8), (2, 9)]),
            ..BuildContext::plain(1, "queue/test")
        };
        Classifier::new(by, buckets, hash, &cx)
    }

    #[test]
    fn packets_are_told_apart_by_what_was_chosen() {
        for (by, queues) in [
            (Classify::Flow, [0, 1, 2]),
            (Classify::Source, [0, 0, 1]),
            (Classify::Destination, [0, 1, 0]),
            (Classify::SourceDestination, [0, 1, 2]),
            (Classify::Dscp, [0, 0, 0]),
        ] {
            let mut classes = classifier(by, None, Hash::Keyed(0));
            let found = [0, 1, 2].map(|flow| classes.queue_of(&Packet::test(100, flow, 0)));
            assert_eq!(found, queues, "{by}");
        }
    }

    #[test]
    fn one_flow_may_send_in_several_dscp_classes() {
        let mut classes = classifier(Classify::Dscp, None, Hash::Number);
        let found = [0, 46, 0, 10].map(|dscp| {
            let mut packet = Packet::test(100, 0, 0);
            packet.tos = dscp << 2;
            classes.queue_of(&packet)
        });
        assert_eq!(found, [0, 1, 0, 2]);
    }

    #[test]
    fn another_key_spreads_classes_otherwise() {
        let mut classes = classifier(Classify::Flow, Some(16), Hash::Keyed(1));
        let spread =
            |classes: &Classifier| -> Vec<u64> { (0..40).map(|c| classes.bucket_of(c)).collect() };
        let before = spread(&classes);
        classes.rekey(2);
        assert_ne!(before, spread(&classes));
        assert!(before.iter().all(|bucket| *bucket < 16));
    }

    #[test]
    fn ns2_hashes_the_sum_of_two_nodes_to_one_less_while_it_is_small() {
        assert!((1..16).all(|sum| ns2_sum_hash(sum) == sum - 1));
        assert_eq!((ns2_sum_hash(17), ns2_sum_hash(256)), (15, 240));
        let pairs = classifier(Classify::SourceDestination, Some(16), Hash::Ns2Sum);
        assert_eq!(pairs.bucket_of(3 << 32 | 5), 7);
    }

    #[test]
    fn ns2_hashes_small_node_numbers_to_themselves() {
        assert!((0..16).all(|node| ns2_hash(node) == node));
        assert_eq!((ns2_hash(16), ns2_hash(256)), (15, 241));
    }
}
