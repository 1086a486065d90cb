//! A scenario, typed: what a file, a one-line command or Python says. What is left to a default is filled in by
//! [`Scenario::resolve`].
//!
//! Every table of a scenario file is one [`params!`] block here, so that a key, its unit, default, range and source are
//! declared once and reach TOML, the command, Python, the JSON Schema and the documentation from this place.

use sojourn_units::{Bytes, Limit, Rate, Ratio, Span, Spec, choice, params};

choice! {
    /// Order of events at one instant.
    pub enum TieRule {
        /// The one scheduled earlier comes first, then the component of lower rank: the order of ns-3.
        Birth = "birth",
        /// As ns-2 has them: its times are sums in double precision, which round events at one instant apart; equal sums happen in the order
        /// in which they were scheduled. Every end of transmission is an event.
        Ns2Clock = "ns2_clock",
        /// A departure at or before t precedes an arrival at t.
        DeparturesFirst = "departures_first",
    }
}

choice! {
    /// Rounding of serialization times.
    pub enum Rounding {
        /// The remainder below a picosecond is carried to the next packet, and cleared when the link goes idle.
        Carry = "carry",
        /// Each serialization time is cut to whole nanoseconds: the clock of ns-3.
        TruncateNs = "truncate_ns",
        /// Each time is the nearest whole number of nanoseconds, as on the clock of ns-3 from 3.36 on.
        NearestNs = "nearest_ns",
        /// Seconds in double precision, cut to whole nanoseconds: what ns-3.24 does.
        DoubleNs = "double_ns",
    }
}

choice! {
    /// How random streams are told apart.
    pub enum Streams {
        /// By the names of what draws from them: adding something changes nothing else.
        Names = "names",
        /// By number, in the order of construction, as in ns-3.24: MRG32k3a, whose run is the number of the replication from 1.
        Ns3 = "ns3",
    }
}

choice! {
    /// Direction of a flow over a builder's topology.
    pub enum Direction {
        /// From the left to the right, over the bottleneck under study.
        Forward = "forward",
        /// Against it.
        Reverse = "reverse",
    }
}

choice! {
    /// Where a lossy link loses packets.
    pub enum LossPlace {
        /// After transmission: a lost packet has used capacity.
        Wire = "wire",
        /// Before the queue, as an error model of ns-2 does.
        Queue = "queue",
    }
}

choice! {
    /// How packets reach the members of a multicast group.
    pub enum TreeKind {
        /// One tree for all sources, from a rendezvous point on, to which each source sends.
        Shared = "shared",
        /// A tree for each source, of the members' shortest paths to it.
        Source = "source",
        /// Flooded; nodes without members prune themselves off.
        Dense = "dense",
        /// Links that are listed, whoever belongs to the group.
        Static = "static",
    }
}

params! {
    /// How long, how often and with which conventions a scenario runs: table `[run]`.
    pub struct RunParams {
        /// Simulated time of one run.
        duration: Span = "60s", range "1us".."200h", source "Sojourn's choice";
        /// Simulated time at the start that is left out of every measure; unless given, at most half of the duration.
        warmup: Span = "5s", range "0s".."200h", source "Sojourn's choice";
        /// Seed of every random stream.
        seed: u64 = "1", source "Sojourn's choice";
        /// How random streams are told apart.
        streams: Option<Streams> = "none", source "ns3 in dialect ns3_24, names elsewhere";
        /// Runs that differ only in their random draws; intervals are taken over them.
        replications: u64 = "10", range "1".."100000", source "Sojourn's choice";
        /// Order of events at one instant.
        ties: Option<TieRule> = "none", source "ns2_clock in dialect ns2, birth in dialects ns3 and ns3_24, departures_first elsewhere";
        /// Flows without a start of their own start uniformly within this time; their phases are random, too.
        start_spread: Span = "1s", range "0s"..,  source "Sojourn's choice";
        /// Starts and phases are zero, and one run is made.
        deterministic: bool = "false", source "Sojourn's choice";
        /// Every end of transmission is an event: slower, the same result to the bit.
        eager: bool = "false", source "Sojourn's choice";
    }
}

impl RunParams {
    /// Runs that are made: one where nothing is random.
    pub fn runs(&self) -> u64 {
        match self.deterministic {
            true => 1,
            false => self.replications,
        }
    }
}

params! {
    /// Two routers and the link between them, hosts on both sides: table `[topology]` with `kind = "dumbbell"`.
    pub struct DumbbellParams {
        /// Rate of the bottleneck, from left to right.
        rate: Rate = "10Mbps", range "1bps".., source "Sojourn's choice";
        /// Rate of the bottleneck from right to left; the same unless given.
        reverse_rate: Option<Rate> = "none", range "1bps".., source "equal to rate";
        /// Base round trip: propagation over access, bottleneck and access, both ways.
        rtt: Span = "40ms", range "0s".."1h", source "Sojourn's choice";
        /// One-way propagation of the bottleneck.
        bottleneck_delay: Option<Span> = "none", source "a quarter of rtt";
        /// One-way propagation of each access link.
        access_delay: Option<Span> = "none", source "what bottleneck_delay leaves of rtt, spread evenly";
        /// Rate of the access links.
        access_rate: Option<Rate> = "none", range "1bps".., source "10 times rate";
        /// Limit of each bottleneck queue; overrides the discipline's own default.
        buffer: Option<Limit> = "none", source "the discipline's default";
        /// Queue of the bottleneck, from left to right.
        queue: Spec = "droptail", source "Sojourn's choice";
        /// Queue of the bottleneck from right to left.
        reverse_queue: Option<Spec> = "none", source "equal to queue";
        /// Queue of every access link.
        access_queue: Spec = "(droptail limit=1000000p)", source "too large to drop";
        /// Hosts on each side; flows take them in turn, in each direction from the first on. One pair per flow unless given.
        pairs: Option<u64> = "none", range "1".."1000000", source "one pair per flow";
    }
}

params! {
    /// Routers in a row with a bottleneck between each two: table `[topology]` with `kind = "parking_lot"`.
    pub struct ParkingLotParams {
        /// Bottlenecks in the row.
        hops: u64 = "3", range "1".."200", source "Sojourn's choice";
        /// Rate of each bottleneck, both ways.
        rate: Rate = "10Mbps", range "1bps".., source "Sojourn's choice";
        /// One-way propagation of each bottleneck.
        delay: Span = "10ms", range "0s".."1h", source "Sojourn's choice";
        /// Rate of the access links.
        access_rate: Option<Rate> = "none", range "1bps".., source "10 times rate";
        /// One-way propagation of each access link.
        access_delay: Span = "1ms", range "0s".."1h", source "Sojourn's choice";
        /// Limit of each bottleneck queue; overrides the discipline's own default.
        buffer: Option<Limit> = "none", source "the discipline's default";
        /// Queue of each bottleneck, forward.
        queue: Spec = "droptail", source "Sojourn's choice";
        /// Queue of each bottleneck, reverse.
        reverse_queue: Option<Spec> = "none", source "equal to queue";
        /// Queue of every access link.
        access_queue: Spec = "(droptail limit=1000000p)", source "too large to drop";
        /// Flows without `from` and `to` are put across one bottleneck each, in turn, after this many that cross all.
        end_to_end: u64 = "1", source "Sojourn's choice";
    }
}

params! {
    /// Nodes in a line without hosts of their own; flows run from the first to the last node: table `[topology]` with
    /// `kind = "chain"`.
    pub struct ChainParams {
        /// Links in the line.
        hops: u64 = "2", range "1".."250", source "Sojourn's choice";
        /// Rate of each link, both ways.
        rate: Rate = "10Mbps", range "1bps".., source "Sojourn's choice";
        /// One-way propagation of each link.
        delay: Span = "10ms", range "0s".."1h", source "Sojourn's choice";
        /// Limit of each queue; overrides the discipline's own default.
        buffer: Option<Limit> = "none", source "the discipline's default";
        /// Queue of each link, forward.
        queue: Spec = "droptail", source "Sojourn's choice";
        /// Queue of each link, reverse.
        reverse_queue: Option<Spec> = "none", source "equal to queue";
    }
}

params! {
    /// One link of a graph, both directions: table `[[links]]`; the topology's kind is then `graph`.
    pub struct LinkParams {
        /// Node at one end.
        from: String = "", source "required";
        /// Node at the other end.
        to: String = "", source "required";
        /// Rate, both ways.
        rate: Rate = "10Mbps", range "1bps".., source "Sojourn's choice";
        /// Rate from `to` to `from`.
        reverse_rate: Option<Rate> = "none", range "1bps".., source "equal to rate";
        /// One-way propagation.
        delay: Span = "1ms", range "0s".."1h", source "Sojourn's choice";
        /// Queue from `from` to `to`.
        queue: Spec = "droptail", source "Sojourn's choice";
        /// Queue from `to` to `from`.
        reverse_queue: Option<Spec> = "none", source "equal to queue";
        /// The two queues are reported and traced; otherwise only counted.
        observed: bool = "true", source "Sojourn's choice";
        /// The queue from `from` to `to` is a bottleneck: what metrics of the bottleneck are of. Where no link says so, it is the slowest on the ways of the flows in the direction under study; of several as slow on one way, the first, and of its two directions that of the first flow.
        bottleneck: Option<bool> = "none", source "Sojourn's choice";
    }
}

params! {
    /// Conventions of every link: table `[wire]`.
    pub struct WireParams {
        /// Rounding of serialization times.
        tx_rounding: Option<Rounding> = "none", source "nearest_ns in dialect ns3, double_ns in ns3_24, carry elsewhere";
        /// Packets that the device takes from the discipline ahead of their transmission.
        device_queue: Option<u64> = "none", range "0".."100000", source "1 in dialect ns3, 0 in ns3_24 and elsewhere";
        /// Bytes of the `headers` of flows that the device adds when it transmits a packet: queues neither see nor count them, neither for their limits nor for
        /// their deficits, the link's time does. 2 for PPP (`headers` are 54 bytes with TCP and timestamps then); of Ethernet, 18 where the queue sees the
        /// datagram, 4 where it sees 14 of them, as in Linux.
        link_header: Option<u64> = "none", range "0".."1000", source "2 in dialect ns3 (ppp-header.cc), 0 in ns3_24 and elsewhere";
    }
}

params! {
    /// What a link direction does to packets beside delaying them: table `[[impairments]]`.
    pub struct ImpairmentParams {
        /// The link direction, such as `left-right`.
        link: String = "", source "required";
        /// Each packet is lost with this probability.
        loss: Ratio = "0", source "Sojourn's choice";
        /// Packets with these numbers are lost, counted from 0: numbers separated by commas.
        loss_list: Option<String> = "none", source "Sojourn's choice";
        /// Gilbert-Elliott: probability per packet of going from the good state to the bad one.
        to_bad: Ratio = "0", source "Sojourn's choice";
        /// Gilbert-Elliott: probability per packet of going from the bad state to the good one.
        to_good: Ratio = "1", source "Sojourn's choice";
        /// Gilbert-Elliott: loss probability in the bad state.
        loss_bad: Ratio = "1", source "Gilbert's model";
        /// Where packets are lost.
        loss_at: LossPlace = "wire", source "Sojourn's choice";
        /// Each packet arrives twice with this probability.
        duplicate: Ratio = "0", source "Sojourn's choice";
        /// Extra delay, uniform from zero to this.
        jitter: Span = "0s", range "0s".."1h", source "Sojourn's choice";
        /// Packets may overtake each other.
        reorder: bool = "false", source "Sojourn's choice";
        /// ECN bleaching: each packet with ECT(0), ECT(1) or CE arrives as Not-ECT with this probability.
        bleach: Ratio = "0", source "Sojourn's choice";
        /// Each packet with ECT(0) or ECT(1) gets CE with this probability, whatever the queue does; before `bleach`.
        mark: Ratio = "0", source "Sojourn's choice";
    }
}

params! {
    /// When a link direction may send, in place of its rate: table `[[opportunities]]`. At each opportunity up to `size` bytes of what
    /// waits are sent; what is larger goes on at the next ones, and what is not used by what waits is lost.
    pub struct OpportunityParams {
        /// The link direction, such as `left-right`.
        link: String = "", source "required";
        /// File of a packet delivery trace as Mahimahi has them, beside this file: a line for each opportunity, its time in
        /// milliseconds; after the last it begins anew.
        file: Option<String> = "none", source "one of file, gaps and every is required";
        /// The same in one line: milliseconds from one opportunity to the next, with commas between, the first from the beginning.
        gaps: Option<String> = "none", source "one of file, gaps and every is required";
        /// Time between opportunities that come regularly.
        every: Option<Span> = "none", range "1us".."1h", source "one of file, gaps and every is required";
        /// Bytes that each opportunity is good for.
        size: Bytes = "1500B", range "1B".."100MB", source "mm-link(1): an opportunity is 1500 bytes";
        /// How far into the schedule a run begins.
        offset: Span = "0s", range "0s".."200h", source "mm-link(1): at the first line";
        /// Each replication begins at a random place of the schedule.
        random_offset: bool = "false", source "mm-link(1): at the first line";
    }
}

choice! {
    /// Whether a link carries packets.
    pub enum LinkState {
        /// It does.
        Up = "up",
        /// It does not.
        Down = "down",
    }
}

choice! {
    /// What becomes of packets while a link is down.
    pub enum WhileDown {
        /// They wait in the queue. The packet in transmission when the link goes down is sent and arrives; no other is begun.
        Wait = "wait",
        /// They are sent and lost on the wire, and so is the packet in transmission when the link goes down.
        Lose = "lose",
    }
}

params! {
    /// A timed change of a link: table `[[changes]]`.
    pub struct ChangeParams {
        /// When.
        at: Span = "0s", source "required";
        /// The link direction, such as `left-right`.
        link: String = "", source "required";
        /// New rate, from the next start of transmission on: the packet in transmission keeps the rate at which it began.
        rate: Option<Rate> = "none", range "1bps".., source "unchanged";
        /// New propagation, for packets that start from then on.
        delay: Option<Span> = "none", range "0s".."1h", source "unchanged";
        /// The link goes down, or comes up again. What is in flight arrives in any case.
        state: Option<LinkState> = "none", source "unchanged";
        /// What becomes of packets while the link is down.
        while_down: WhileDown = "wait", source "Sojourn's choice", where state is "down";
        /// Time after which it happens again, and again until the run ends: two changes of one link with different times make its
        /// rate go up and down.
        every: Option<Span> = "none", range "1ms".."200h", source "once";
    }
}

params! {
    /// Where and when a flow runs, beside what its own kind declares: keys of `[[flows]]`.
    pub struct PlaceParams {
        /// Flows of this kind; they are numbered.
        count: u64 = "1", range "1".."1000000", source "Sojourn's choice";
        /// Name of the flows in results; the kind unless given.
        label: Option<String> = "none", source "the kind";
        /// Direction over a builder's topology.
        direction: Direction = "forward", source "Sojourn's choice";
        /// Node of the sender; the builder's choice unless given.
        from: Option<String> = "none", source "the builder's";
        /// Node of the receiver, or a multicast group; the builder's choice unless given.
        to: Option<String> = "none", source "the builder's";
        /// When the first flow starts; within start_spread at random unless given.
        start: Option<Span> = "none", source "random within start_spread";
        /// Later flows of the same entry start this much apart, when start is given.
        stagger: Span = "0s", source "Sojourn's choice";
        /// When the flows stop sending.
        stop: Option<Span> = "none", source "the end of the run";
        /// Differentiated services codepoint of the flows' packets, both ways.
        dscp: u32 = "0", range "0".."63", source "RFC 2474 section 4.1 (default forwarding)";
        /// Base round trip of the flows (dumbbell only): access delays are chosen for it.
        rtt: Option<Span> = "none", source "the topology's";
    }
}

params! {
    /// A multicast group: table `[[groups]]`. A flow whose `to` is its name is sent to all members.
    pub struct GroupParams {
        /// Name of the group; no node has it.
        name: String = "", source "required";
        /// How packets reach the members.
        tree: TreeKind = "source", source "Sojourn's choice";
        /// Of a shared tree, the node at its root, to which every source sends.
        rendezvous_point: Option<String> = "none", source "required of a shared tree";
        /// Of a shared tree, bytes that packets have more on their way to the rendezvous point; 0B sends them as they are.
        encapsulation: Option<Bytes> = "none", range .."1000B", source "28B: IP header (20) and PIM Register header (8), RFC 7761 section 4.9.3; 20B in dialect ns2";
        /// Of a shared tree, when every source gets a tree of its own instead.
        switch: Option<Span> = "none", source "never";
        /// Of a static tree, its link directions, separated by commas.
        links: Option<String> = "none", source "required of a static tree";
        /// Of a dense tree, how long a pruned link carries nothing.
        prune_time: Option<Span> = "none", range "1us".."200h", source "210s, RFC 3973 section 4.8; 500ms in dialect ns2 (DM.tcl)";
        /// Of a dense tree, after how long a graft that is not acknowledged is sent again.
        graft_retry: Span = "3s", range "1us".."1h", source "RFC 3973 section 4.8";
        /// Of a dense tree, bytes of a prune, graft or acknowledgement.
        message: Bytes = "54B", range "1B".."1000B", source "IP header (20) and PIM Join/Prune with one group and source (34), RFC 3973 section 4.7";
        /// A node from which on delays are measured, too.
        delay_from: Option<String> = "none", source "Sojourn's choice";
    }
}

params! {
    /// A stay of a node in a multicast group: table `[[members]]`.
    pub struct MemberParams {
        /// The group.
        group: String = "", source "required";
        /// The node.
        node: String = "", source "required";
        /// When it joins.
        join: Span = "0s", source "Sojourn's choice";
        /// When it leaves.
        leave: Option<Span> = "none", source "the end of the run";
    }
}

params! {
    /// Time series: table `[series]`. Each is sampled at every step.
    pub struct SeriesParams {
        /// Time between samples.
        step: Span = "100ms", range "1us".."1h", source "Sojourn's choice";
        /// Which, separated by commas: backlog, sojourn, drops, throughput, carried, capacity, cwnd, rtt, packets, pacing, phase, control, media, state, queues; or all.
        record: String = "none", source "Sojourn's choice";
    }
}

params! {
    /// How much a scenario or study may ask for: table `[limits]`. What asks for more is refused before it begins. Results do not
    /// depend on the limits.
    pub struct LimitParams {
        /// Memory that the runs under way and the results of all runs may need together, by an estimate. Where runs side by side would need
        /// more, fewer are made at a time.
        memory: Bytes = "4GB", range "10MB".., source "Sojourn's choice";
        /// Points of a study.
        points: u64 = "100000", range "1".., source "Sojourn's choice";
        /// Runs: those of all points in all replications.
        runs: u64 = "1000000", range "1".., source "Sojourn's choice";
    }
}

impl DumbbellParams {
    /// One-way propagation of the bottleneck and of each access link: a quarter of the base round trip lies on the
    /// bottleneck and the rest on the two access links, unless one of them is given.
    pub fn delays(&self) -> (Span, Span) {
        let bottleneck = match (self.bottleneck_delay, self.access_delay) {
            (Some(bottleneck), _) => bottleneck,
            (None, Some(access)) => (self.rtt / 2).saturating_sub(access * 2),
            (None, None) => self.rtt / 4,
        };
        let rest = (self.rtt / 2).saturating_sub(bottleneck) / 2;
        (bottleneck, self.access_delay.unwrap_or(rest))
    }

    /// Whether the delays that are given leave each other room in the round trip.
    pub fn delays_fit(&self) -> bool {
        let one_way = self.rtt / 2;
        match (self.bottleneck_delay, self.access_delay) {
            (Some(_), Some(_)) | (None, None) => true,
            (Some(bottleneck), None) => bottleneck <= one_way,
            (None, Some(access)) => access.checked_mul(2).is_some_and(|both| both <= one_way),
        }
    }

    /// The base round trip that these delays make; none if it is longer than a time can be.
    pub fn round_trip(bottleneck: Span, access: Span) -> Option<Span> {
        access
            .checked_mul(2)?
            .checked_add(bottleneck)?
            .checked_mul(2)
    }
}

/// The shape of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum Topology {
    /// Two routers, one bottleneck.
    Dumbbell(DumbbellParams),
    /// Several bottlenecks in a row.
    ParkingLot(ParkingLotParams),
    /// Nodes in a line.
    Chain(ChainParams),
    /// Links one by one.
    Graph(Vec<LinkParams>),
}

/// Flows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowGroup {
    /// What runs: `reno`, `cbr`...
    pub kind: String,
    /// Parameters of the kind, as text; checked against its declaration.
    pub args: Vec<(String, String)>,
    /// Where and when.
    pub place: PlaceParams,
}

/// A scenario, as it was said.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Name for messages and results.
    pub name: String,
    /// Default dialect of every component; a component's own wins. The top-level key `dialect`.
    pub dialect: Option<String>,
    /// How long and how often.
    pub run: RunParams,
    /// The network.
    pub topology: Topology,
    /// Conventions of links.
    pub wire: WireParams,
    /// Flows, in the order of the file.
    pub flows: Vec<FlowGroup>,
    /// Multicast groups, in the order of the file.
    pub groups: Vec<GroupParams>,
    /// Stays in them, in the order of the file.
    pub members: Vec<MemberParams>,
    /// What links do to packets.
    pub impairments: Vec<ImpairmentParams>,
    /// Links that send when they may.
    pub opportunities: Vec<OpportunityParams>,
    /// Timed changes, in the order of time.
    pub changes: Vec<ChangeParams>,
    /// Time series to record.
    pub series: SeriesParams,
}
