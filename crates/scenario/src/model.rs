//! A scenario, typed: what a file, a one-line command or Python says. What is left to a default is filled in by
//! [`Scenario::resolve`].
//!
//! Every table of a scenario file is one [`params!`] block here, so that a key, its unit, default, range and source are
//! declared once and reach TOML, the command, Python, the JSON Schema and the documentation from this place.

use sojourn_units::{
    Buffer, Bytes, Kind, ParamValue, Rate, Ratio, Span, Spec, UnitError, choice, params,
};

choice! {
    /// Order of events at the same instant.
    pub enum TieRule {
        /// The event scheduled earlier comes first, then the one of the component with the lower rank, as in ns-3.
        Birth = "birth",
        /// As in ns-2. Times are sums in double precision, so rounding can separate events of one instant. Events with
        /// equal sums happen in the order in which they were scheduled. Every end of transmission is an event.
        Ns2Clock = "ns2_clock",
        /// A departure at or before time t precedes an arrival at t.
        DeparturesFirst = "departures_first",
    }
}

choice! {
    /// Rounding of serialization times.
    pub enum Rounding {
        /// The remainder below a picosecond is carried to the next packet, and cleared when the link goes idle.
        Carry = "carry",
        /// Each serialization time is truncated to whole nanoseconds, the clock of ns-3.
        TruncateNs = "truncate_ns",
        /// Each serialization time is rounded to the nearest nanosecond, as in ns-3 from 3.36 on.
        NearestNs = "nearest_ns",
        /// Serialization times are seconds in double precision, truncated to whole nanoseconds, as in ns-3.24.
        DoubleNs = "double_ns",
    }
}

choice! {
    /// How random streams are assigned.
    pub enum Streams {
        /// By the name of the component that draws from them. Adding a component does not change the draws of others.
        Names = "names",
        /// By number, in the order of construction, as in ns-3.24. The generator is MRG32k3a; its run number is the
        /// number of the replication, from 1.
        Ns3 = "ns3",
    }
}

choice! {
    /// Direction of a flow in a built-in topology.
    pub enum Direction {
        /// From left to right, through the bottleneck under study.
        Forward = "forward",
        /// From right to left.
        Reverse = "reverse",
    }
}

choice! {
    /// Where a lossy link loses packets.
    pub enum LossPlace {
        /// After transmission. A lost packet has used link capacity.
        Wire = "wire",
        /// Before the queue, like an ns-2 error model.
        Queue = "queue",
    }
}

choice! {
    /// How packets reach the members of a multicast group.
    pub enum TreeKind {
        /// One tree for all sources. Each source sends to a rendezvous point, the root of the tree.
        Shared = "shared",
        /// One tree for each source, made of the members' shortest paths to it.
        Source = "source",
        /// Packets are flooded, and nodes without members prune themselves.
        Dense = "dense",
        /// The links listed in `links`, independent of the members.
        Static = "static",
    }
}

params! {
    /// How long, how often and with which conventions a scenario runs: table `[run]`.
    pub struct RunParams {
        /// Simulated time of one run.
        duration: Span = "60s", range "1us".."200h", source "Sojourn's choice";
        /// Simulated time at the start of a run that no metric includes. With `auto`, first runs with 5s, or half of the
        /// duration if that is shorter, show how long the transient lasts (MSER-5); the points of a comparison get the same.
        warmup: Warmup = "auto", range "0s".."200h", source "Sojourn's choice";
        /// Seed of every random stream.
        seed: u64 = "1", source "Sojourn's choice";
        /// How random streams are assigned.
        streams: Option<Streams> = "none", source "ns3 in dialect ns3_24, names elsewhere";
        /// Number of runs that differ only in their random draws. Confidence intervals are computed over them.
        replications: u64 = "10", range "1".."100000", source "Sojourn's choice";
        /// Replications are added, as many as `replications` at a time, until half the width of each interval is at most
        /// this share of the mean. Runs that have not settled are made longer first, each time by a factor of two.
        precision: Option<Ratio> = "none", range "0.001".."1", source "replications are not added";
        /// The metrics that `precision` is of, as in tables, separated by commas. Write `difference of` before a metric
        /// for what the compared points differ by.
        precision_of: Option<String> = "none", source "the means of goodput, sojourn time and transfer time that tables show";
        /// Longest simulated time of one run that `precision` leads to.
        max_duration: Option<Span> = "none", range "1us".."200h", source "8 times duration";
        /// Most replications that `precision` leads to.
        max_replications: Option<u64> = "none", range "1".."100000", source "10 times replications";
        /// Order of events at the same instant.
        ties: Option<TieRule> = "none", source "ns2_clock in dialect ns2, birth in dialects ns3 and ns3_24, departures_first elsewhere";
        /// Flows without `start` start at a random time, uniform within this time. Their phases are random, too.
        start_spread: Span = "1s", range "0s"..,  source "Sojourn's choice";
        /// All starts and phases are zero, and there is only one run.
        deterministic: bool = "false", source "Sojourn's choice";
        /// Make every end of transmission an event. This is slower and gives the same results, to the bit.
        eager: bool = "false", source "Sojourn's choice";
    }
}

/// The part of a run that no metric includes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Warmup {
    /// It follows from first runs.
    Auto,
    /// So long.
    Of(Span),
}

impl ParamValue for Warmup {
    fn kind() -> Kind {
        Kind::DurationOrAuto
    }
    fn parse_text(text: &str) -> Result<Self, UnitError> {
        match text.trim() {
            AUTO => Ok(Warmup::Auto),
            text => Span::parse_text(text).map(Warmup::Of).map_err(|error| {
                UnitError::new(
                    error.kind(),
                    error.given(),
                    format!("{} or {AUTO}", error.expected()),
                    error.remedy(),
                )
            }),
        }
    }
    fn to_text(&self) -> String {
        match self {
            Warmup::Auto => AUTO.to_owned(),
            Warmup::Of(span) => span.to_text(),
        }
    }
    fn in_range(&self, low: &str, high: &str) -> bool {
        match self {
            Warmup::Auto => true,
            Warmup::Of(span) => span.in_range(low, high),
        }
    }
}

/// How a warm-up is written that follows from first runs.
const AUTO: &str = "auto";

/// The warm-up of first runs, if half of the duration is not shorter.
const PROVISIONAL: Span = Span::from_secs(5);

impl RunParams {
    /// The warm-up of a run as it stands; where it follows from first runs, that of the first runs.
    pub fn warmup(&self) -> Span {
        match self.warmup {
            Warmup::Auto => PROVISIONAL.min(self.duration / 2),
            Warmup::Of(span) => span,
        }
    }

    /// Runs that are made: one where nothing is random.
    pub fn runs(&self) -> u64 {
        match self.deterministic {
            true => 1,
            false => self.replications,
        }
    }
}

params! {
    /// Two routers with a bottleneck link between them and hosts on both sides: table `[topology]` with `kind =
    /// "dumbbell"`.
    pub struct DumbbellParams {
        /// Rate of the bottleneck, from left to right; `50/10Mbps` gives both directions.
        rate: Rate = "10Mbps", range "1bps".., source "Sojourn's choice";
        /// Rate of the bottleneck from right to left; the same unless given. `rate` can give it, too.
        reverse_rate: Option<Rate> = "none", range "1bps".., source "equal to rate";
        /// Base round trip time: propagation delay of access link, bottleneck and access link, both ways.
        rtt: Span = "40ms", range "0s".."1h", source "Sojourn's choice";
        /// One-way propagation delay of the bottleneck.
        bottleneck_delay: Option<Span> = "none", source "a quarter of rtt";
        /// One-way propagation delay of each access link.
        access_delay: Option<Span> = "none", source "the rest of rtt, spread evenly over the access links";
        /// Rate of the access links.
        access_rate: Option<Rate> = "none", range "1bps".., source "10 times rate";
        /// Limit of each bottleneck queue, in packets, bytes, time or bandwidth-delay products; overrides the discipline's own default.
        buffer: Option<Buffer> = "none", source "the discipline's default";
        /// Queue of the bottleneck, from left to right.
        queue: Spec = "droptail", source "Sojourn's choice";
        /// Queue of the bottleneck from right to left.
        reverse_queue: Option<Spec> = "none", source "equal to queue";
        /// Queue of every access link.
        access_queue: Spec = "(droptail limit=1000000p)", source "too large to drop";
        /// Hosts on each side. Flows use them in turn; each direction begins with the first host.
        pairs: Option<u64> = "none", range "1".."1000000", source "one pair per flow";
    }
}

params! {
    /// A row of routers with a bottleneck between each two neighbours: table `[topology]` with `kind = "parking_lot"`.
    pub struct ParkingLotParams {
        /// Number of bottlenecks in the row.
        hops: u64 = "3", range "1".."200", source "Sojourn's choice";
        /// Rate of each bottleneck, both ways.
        rate: Rate = "10Mbps", range "1bps".., source "Sojourn's choice";
        /// One-way propagation delay of each bottleneck.
        delay: Span = "10ms", range "0s".."1h", source "Sojourn's choice";
        /// Rate of the access links.
        access_rate: Option<Rate> = "none", range "1bps".., source "10 times rate";
        /// One-way propagation delay of each access link.
        access_delay: Span = "1ms", range "0s".."1h", source "Sojourn's choice";
        /// Limit of each bottleneck queue, in packets, bytes, time or bandwidth-delay products; overrides the discipline's own default.
        buffer: Option<Buffer> = "none", source "the discipline's default";
        /// Queue of each bottleneck, forward.
        queue: Spec = "droptail", source "Sojourn's choice";
        /// Queue of each bottleneck, reverse.
        reverse_queue: Option<Spec> = "none", source "equal to queue";
        /// Queue of every access link.
        access_queue: Spec = "(droptail limit=1000000p)", source "too large to drop";
        /// Number of flows that cross all bottlenecks, among those without `from` and `to`. The flows after these cross
        /// one bottleneck each, in turn.
        end_to_end: u64 = "1", source "Sojourn's choice";
    }
}

params! {
    /// Nodes in a line, without separate hosts; flows run from the first node to the last: table `[topology]` with
    /// `kind = "chain"`.
    pub struct ChainParams {
        /// Number of links in the line.
        hops: u64 = "2", range "1".."250", source "Sojourn's choice";
        /// Rate of each link, both ways.
        rate: Rate = "10Mbps", range "1bps".., source "Sojourn's choice";
        /// One-way propagation delay of each link.
        delay: Span = "10ms", range "0s".."1h", source "Sojourn's choice";
        /// Limit of each queue, in packets, bytes, time or bandwidth-delay products; overrides the discipline's own default.
        buffer: Option<Buffer> = "none", source "the discipline's default";
        /// Queue of each link, forward.
        queue: Spec = "droptail", source "Sojourn's choice";
        /// Queue of each link, reverse.
        reverse_queue: Option<Spec> = "none", source "equal to queue";
    }
}

params! {
    /// One link of a graph, with both directions: table `[[links]]`. The topology's kind is then `graph`.
    pub struct LinkParams {
        /// Node at one end.
        from: String = "", source "required";
        /// Node at the other end.
        to: String = "", source "required";
        /// Rate, both ways; `50/10Mbps` gives each direction its own.
        rate: Rate = "10Mbps", range "1bps".., source "Sojourn's choice";
        /// Rate from `to` to `from`. `rate` can give it, too.
        reverse_rate: Option<Rate> = "none", range "1bps".., source "equal to rate";
        /// One-way propagation delay.
        delay: Span = "1ms", range "0s".."1h", source "Sojourn's choice";
        /// Queue from `from` to `to`.
        queue: Spec = "droptail", source "Sojourn's choice";
        /// Queue from `to` to `from`.
        reverse_queue: Option<Spec> = "none", source "equal to queue";
        /// Report and trace the link's two queues. Otherwise they are only counted.
        observed: bool = "true", source "Sojourn's choice";
        /// The queue from `from` to `to` is a bottleneck, and metrics of the bottleneck are of it. Where no link says so, Sojourn finds the link ([metrics](../metrics.md#which-link-is-measured)); `false` excludes this one.
        bottleneck: Option<bool> = "none", source "Sojourn's choice";
    }
}

params! {
    /// Conventions of every link: table `[wire]`.
    pub struct WireParams {
        /// Rounding of serialization times.
        tx_rounding: Option<Rounding> = "none", source "nearest_ns in dialect ns3, double_ns in ns3_24, carry elsewhere";
        /// Packets that the device takes from the queue discipline before it transmits them.
        device_queue: Option<u64> = "none", range "0".."100000", source "1 in dialect ns3, 0 in ns3_24 and elsewhere";
        /// Bytes of a flow's `headers` that the device adds when it transmits a packet. They take time on the link, but
        /// queues do not count them in limits and deficits. For PPP, 2 (`headers` is then 54 bytes with TCP and
        /// timestamps). For Ethernet, 18 if the queue sees the datagram, or 4 if it sees 14 of the 18 bytes, as in
        /// Linux.
        link_header: Option<u64> = "none", range "0".."1000", source "2 in dialect ns3 (ppp-header.cc), 0 in ns3_24 and elsewhere";
    }
}

params! {
    /// Losses, duplication, jitter, reordering and ECN changes on a link direction: table `[[impairments]]`.
    pub struct ImpairmentParams {
        /// The link direction, such as `left-right`.
        link: String = "", source "required";
        /// Each packet is lost with this probability.
        loss: Ratio = "0", source "Sojourn's choice";
        /// Numbers of the packets that are lost, separated by commas. The first packet has number 0.
        loss_list: Option<String> = "none", source "Sojourn's choice";
        /// Gilbert-Elliott model: probability, per packet, of a transition from the good to the bad state.
        to_bad: Ratio = "0", source "Sojourn's choice";
        /// Gilbert-Elliott model: probability, per packet, of a transition from the bad to the good state.
        to_good: Ratio = "1", source "Sojourn's choice";
        /// Gilbert-Elliott model: loss probability in the bad state.
        loss_bad: Ratio = "1", source "Gilbert's model";
        /// Where packets are lost.
        loss_at: LossPlace = "wire", source "Sojourn's choice";
        /// Each packet arrives twice with this probability.
        duplicate: Ratio = "0", source "Sojourn's choice";
        /// Largest extra delay. Each packet's extra delay is uniform between zero and this.
        jitter: Span = "0s", range "0s".."1h", source "Sojourn's choice";
        /// Whether packets may overtake each other.
        reorder: bool = "false", source "Sojourn's choice";
        /// ECN bleaching: each packet with ECT(0), ECT(1) or CE arrives as Not-ECT with this probability.
        bleach: Ratio = "0", source "Sojourn's choice";
        /// Each packet with ECT(0) or ECT(1) gets CE with this probability, independent of the queue. Applied before
        /// `bleach`.
        mark: Ratio = "0", source "Sojourn's choice";
    }
}

params! {
    /// Times at which a link direction may send, in place of a rate: table `[[opportunities]]`. Each opportunity sends
    /// up to `size` bytes from the queue. A larger packet continues at the next opportunities; unused bytes of an
    /// opportunity are lost.
    pub struct OpportunityParams {
        /// The link direction, such as `left-right`.
        link: String = "", source "required";
        /// File with a Mahimahi packet delivery trace, in the folder of this file. Each line is the time of an
        /// opportunity in milliseconds. After the last line, the trace starts again.
        file: Option<String> = "none", source "one of file, gaps and every is required";
        /// The same schedule as a list: milliseconds between opportunities, separated by commas. The first one counts
        /// from the start of the schedule.
        gaps: Option<String> = "none", source "one of file, gaps and every is required";
        /// Time between opportunities at regular intervals.
        every: Option<Span> = "none", range "1us".."1h", source "one of file, gaps and every is required";
        /// Bytes that each opportunity can send.
        size: Bytes = "1500B", range "1B".."100MB", source "mm-link(1): an opportunity is 1500 bytes";
        /// Position in the schedule at which a run starts.
        offset: Span = "0s", range "0s".."200h", source "mm-link(1): at the first line";
        /// Start each replication at a random position in the schedule.
        random_offset: bool = "false", source "mm-link(1): at the first line";
    }
}

choice! {
    /// Whether a link carries packets.
    pub enum LinkState {
        /// The link carries packets.
        Up = "up",
        /// The link carries no packets.
        Down = "down",
    }
}

choice! {
    /// Fate of packets while a link is down.
    pub enum WhileDown {
        /// They wait in the queue. The packet in transmission when the link goes down still arrives; no other
        /// transmission starts.
        Wait = "wait",
        /// They are transmitted and lost on the wire, including the packet in transmission when the link goes down.
        Lose = "lose",
    }
}

params! {
    /// A timed change of a link: table `[[changes]]`.
    pub struct ChangeParams {
        /// Time of the change.
        at: Span = "0s", source "required";
        /// The link direction, such as `left-right`.
        link: String = "", source "required";
        /// New rate. It applies from the next start of a transmission; the packet in transmission keeps the old rate.
        rate: Option<Rate> = "none", range "1bps".., source "unchanged";
        /// New propagation delay, for packets whose transmission starts after the change.
        delay: Option<Span> = "none", range "0s".."1h", source "unchanged";
        /// New queue discipline. Waiting packets move to it in the order of their arrival and keep their waiting time; it
        /// drops those that it has no room for. Its state starts afresh, as that of an empty queue.
        queue: Option<Spec> = "none", source "unchanged";
        /// Take the link down, or up again. Packets in flight arrive in any case.
        state: Option<LinkState> = "none", source "unchanged";
        /// Fate of packets while the link is down.
        while_down: WhileDown = "wait", source "Sojourn's choice", where state is "down";
        /// Repeat the change at this interval until the run ends. Two changes of one link with different `at` make its
        /// rate go up and down.
        every: Option<Span> = "none", range "1ms".."200h", source "once";
    }
}

params! {
    /// Where and when a flow runs: keys of `[[flows]]` that every kind of flow has.
    pub struct PlaceParams {
        /// Number of flows. Their names are numbered.
        count: u64 = "1", range "1".."1000000", source "Sojourn's choice";
        /// Name of the flows in results.
        label: Option<String> = "none", source "the kind";
        /// Direction in a built-in topology.
        direction: Direction = "forward", source "Sojourn's choice";
        /// Node of the sender. A built-in topology chooses it unless you do.
        from: Option<String> = "none", source "chosen by the topology";
        /// Node of the receiver, or a multicast group. A built-in topology chooses the node unless you do.
        to: Option<String> = "none", source "chosen by the topology";
        /// Time at which the first flow starts.
        start: Option<Span> = "none", source "random within start_spread";
        /// Time between the starts of this entry's flows, if `start` is given.
        stagger: Span = "0s", source "Sojourn's choice";
        /// Time at which the flows stop sending.
        stop: Option<Span> = "none", source "the end of the run";
        /// Differentiated services codepoint (DSCP) of the flows' packets, both ways.
        dscp: u32 = "0", range "0".."63", source "RFC 2474 section 4.1 (default forwarding)";
        /// Base round trip time of the flows. The access delays are chosen to match it (dumbbell only).
        rtt: Option<Span> = "none", source "the topology's";
    }
}

params! {
    /// A multicast group: table `[[groups]]`. A flow whose `to` is its name is sent to all members.
    pub struct GroupParams {
        /// Name of the group. It must differ from all node names.
        name: String = "", source "required";
        /// Kind of multicast tree.
        tree: TreeKind = "source", source "Sojourn's choice";
        /// For a shared tree, the node at its root. Every source sends to it.
        rendezvous_point: Option<String> = "none", source "required for a shared tree";
        /// For a shared tree, extra bytes of packets on their way to the rendezvous point. Use 0B for no encapsulation.
        encapsulation: Option<Bytes> = "none", range .."1000B", source "28B: IP header (20) and PIM Register header (8), RFC 7761 section 4.9.3; 20B in dialect ns2";
        /// For a shared tree, the time at which every source switches to a tree of its own.
        switch: Option<Span> = "none", source "never";
        /// For a static tree, its link directions, separated by commas.
        links: Option<String> = "none", source "required for a static tree";
        /// For a dense tree, time for which a pruned link carries no packets.
        prune_time: Option<Span> = "none", range "1us".."200h", source "210s, RFC 3973 section 4.8; 500ms in dialect ns2 (DM.tcl)";
        /// For a dense tree, time after which a graft without an acknowledgement is sent again.
        graft_retry: Span = "3s", range "1us".."1h", source "RFC 3973 section 4.8";
        /// For a dense tree, size of a prune, graft or acknowledgement.
        message: Bytes = "54B", range "1B".."1000B", source "IP header (20) and PIM Join/Prune with one group and source (34), RFC 3973 section 4.7";
        /// Node from which delays to the members are measured, in addition to those from the source.
        delay_from: Option<String> = "none", source "Sojourn's choice";
    }
}

params! {
    /// A node's membership in a multicast group: table `[[members]]`.
    pub struct MemberParams {
        /// The group.
        group: String = "", source "required";
        /// The node.
        node: String = "", source "required";
        /// Time at which the node joins.
        join: Span = "0s", source "Sojourn's choice";
        /// Time at which the node leaves.
        leave: Option<Span> = "none", source "the end of the run";
    }
}

params! {
    /// Time series: table `[series]`. Each is sampled at every step.
    pub struct SeriesParams {
        /// Time between samples.
        step: Span = "100ms", range "1us".."1h", source "Sojourn's choice";
        /// Time series to record, separated by commas: backlog, sojourn, drops, throughput, carried, capacity, cwnd,
        /// rtt, packets, pacing, phase, control, media, state, queues; or all.
        record: String = "none", source "Sojourn's choice";
    }
}

params! {
    /// Limits on the size of a scenario or study: table `[limits]`. A larger one is refused before it starts. Results
    /// do not depend on the limits.
    pub struct LimitParams {
        /// Memory for the current runs and the results of all runs together, by an estimate. If parallel runs would
        /// need more, fewer run at a time.
        memory: Bytes = "4GB", range "10MB".., source "Sojourn's choice";
        /// Number of points of a study.
        points: u64 = "100000", range "1".., source "Sojourn's choice";
        /// Number of runs: all points in all replications.
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

    /// One-way propagation of each access link of a flow with a base round trip of its own.
    pub fn access_delay_for(rtt: Span, bottleneck: Span) -> Span {
        (rtt / 2).saturating_sub(bottleneck) / 2
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
