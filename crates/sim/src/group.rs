//! Multicast groups: who belongs to one, from when until when, and over which tree its packets go.
//!
//! Sources: Deering and Cheriton, "Multicast Routing in Datagram Internetworks and Extended LANs", ACM TOCS 8(2), 1990 (the
//! group as an address, reverse path forwarding); RFC 7761 (PIM sparse mode: rendezvous point, register, switch to the
//! source's tree); RFC 3973 (PIM dense mode: flood, prune, graft); ns-2.35, `CtrMcast.tcl` and `DM.tcl` (computation in
//! one place without messages; prunes that the data triggers).

use sojourn_units::{Span, Time};

/// A group as a scenario describes it. A flow is sent to it by a [`sink`](crate::FlowSpec::sink) beyond the nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupSpec {
    /// Stable name, such as `group/news`.
    pub name: String,
    /// How its packets reach the members.
    pub tree: TreeSpec,
    /// Its members, in the order in which results list receivers.
    pub members: Vec<MemberSpec>,
    /// A node from which on delays are measured a second time.
    pub waypoint: Option<u32>,
}

/// A member of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberSpec {
    /// Stable name, such as `group/news/n5`.
    pub name: String,
    /// Index of its node.
    pub node: u32,
    /// Index of the agent that gets the group's packets; `None` for a passive member, where packets are only counted. An
    /// agent does not get its own packets.
    pub agent: Option<u32>,
    /// When it belongs to the group, in order and apart from each other.
    pub stays: Vec<Stay>,
}

/// A time in which a member belongs to its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// It joins then, before anything else that happens at that instant.
    pub from: Time,
    /// It leaves then, before anything else at that instant, or later if its agent [lingers](crate::Agent::lingers);
    /// [`Time::MAX`] if it stays.
    pub until: Time,
}

impl Stay {
    /// From the beginning to the end.
    pub const ALWAYS: Stay = Stay {
        from: Time::ZERO,
        until: Time::MAX,
    };
}

/// How packets reach the members of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TreeSpec {
    /// One tree for all sources, rooted at a rendezvous point, to which each source sends by itself. Joins and leaves act at
    /// once on the whole tree, and cost no message.
    Shared {
        /// Index of its node.
        rendezvous_point: u32,
        /// Bytes that packets have more on their way to the rendezvous point; 0 if they go there as they are.
        encapsulation: u32,
        /// When every source gets a tree of its own instead.
        switch: Option<Time>,
    },
    /// A tree of its own for each source, of the members' shortest paths to it. Joins and leaves act at once.
    Source,
    /// Packets are flooded; nodes without members prune themselves off by messages, and graft themselves on again.
    Dense(DenseSpec),
    /// These link directions, whoever belongs to the group.
    Static(Vec<u32>),
}

/// Messages and timers of the dense mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DenseSpec {
    /// After this time a pruned link carries packets again (Prune Holdtime, RFC 3973 section 4.8).
    pub prune_time: Span,
    /// A graft that is not acknowledged is sent again after this time (Graft_Retry_Period, RFC 3973 section 4.8).
    pub graft_retry: Span,
    /// Bytes of a prune, graft or acknowledgement on the wire.
    pub message: u32,
}
