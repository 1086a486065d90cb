//! What the flows of a network allow its links and endpoints to do without, and when nothing is traced they do.

use super::spec::FlowSpec;
use crate::packet::NONE;
use crate::routing::Routes;
use crate::slab::to_usize;

/// Links on which not every packet needs an event of its own.
///
/// A sender whose receiver is passive hears nothing back, so what it sends is known before it is sent; and where packets
/// go to passive receivers only, nothing follows from their arrival. Both may be dealt with when something else looks, at
/// their own times, with the same result.
///
/// Where a link gets all its packets from one other, packets may [run ahead](super::ahead) into it.
#[derive(Default)]
pub(super) struct Quiet {
    /// Links that lead to passive receivers only.
    pub(super) silent: Vec<u32>,
    /// Links all of whose packets go on to silent links that they feed.
    pub(super) calm: Vec<u32>,
    /// Links that carry one flow only, from its sender on, with that sender, which has no other flow.
    pub(super) outlets: Vec<(u32, u32)>,
    /// For each link; nothing where nothing is quiet.
    feeding: Vec<Feeding>,
    /// For each link the one that all its packets go on to, or [`NONE`]; nothing where nothing is quiet.
    onward: Vec<u32>,
}

/// What may run ahead of a link, or into it.
#[derive(Clone, Copy)]
pub(super) struct Feeding {
    /// Packets may run ahead of it: into another link, or to an endpoint.
    pub(super) feeds: bool,
    /// It gets all its packets from one link that feeds it.
    pub(super) fed: bool,
    /// All its packets go on to silent links that it feeds, so that nothing follows from their arrival before the next stop.
    pub(super) calm: bool,
    /// The agent that gets all its packets over this link and nothing else goes over it, and that alone sends over the
    /// link by which it answers; or [`NONE`].
    pub(super) answers: u32,
}

impl Feeding {
    const NOTHING: Feeding = Feeding {
        feeds: false,
        fed: false,
        calm: false,
        answers: NONE,
    };
}

/// How the flows use one link.
#[derive(Clone, Copy, Default)]
struct Use {
    /// Ways of flows over this link: there, and back unless the receiver is passive.
    ways: u32,
    /// Those of them that end there at a passive receiver.
    passive: u32,
    entry: Entry,
    exit: Entry,
}

/// Whence the packets of a link come, or where they go.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Entry {
    #[default]
    Nowhere,
    /// This link alone.
    Link(u32),
    /// From or to an endpoint, or several links.
    Elsewhere,
}

impl Entry {
    fn add(&mut self, from: Entry) {
        if *self == Entry::Nowhere {
            *self = from;
        } else if *self != from {
            *self = Entry::Elsewhere;
        }
    }
}

/// How all flows together use the network.
struct Ways {
    /// For each link.
    uses: Vec<Use>,
    /// Flows of each agent.
    flows_of: Vec<u32>,
    /// The first link of each flow to a passive receiver, with its sender.
    passive: Vec<(u32, u32)>,
    /// Each agent that hears packets and answers, with the last link of what it hears and the first one of what it answers.
    answers: Vec<(u32, u32, u32)>,
    /// Where packets go from each link, over all paths; from the last one nowhere.
    steps: Vec<(u32, Entry)>,
}

impl Ways {
    /// Follows every flow from the node of its sender, and back from that of its receiver.
    fn of(flows: &[FlowSpec], seats: &[u32], routes: &Routes, ends: &[(u32, u32)]) -> Ways {
        let mut ways = Ways {
            uses: vec![Use::default(); ends.len()],
            flows_of: vec![0; seats.len()],
            passive: Vec::new(),
            answers: Vec::new(),
            steps: Vec::new(),
        };
        for flow in flows {
            let way = |agent: u32, to| {
                let from = seats[to_usize(agent)];
                routes.path(from, to, ends).unwrap_or_default()
            };
            let there = way(flow.sender, flow.sink);
            let back = flow.receiver.map(|receiver| way(receiver, flow.source));
            ways.follow(&there);
            if let Some(back) = &back {
                ways.follow(back);
            }
            ways.meet(flow, &there, back.as_deref());
        }
        ways
    }

    /// Packets go this way.
    fn follow(&mut self, path: &[u32]) {
        let mut from = Entry::Elsewhere;
        for link in path {
            let usage = &mut self.uses[to_usize(*link)];
            usage.ways += 1;
            usage.entry.add(from);
            from = Entry::Link(*link);
        }
        let mut to = Entry::Elsewhere;
        for link in path.iter().rev() {
            self.uses[to_usize(*link)].exit.add(to);
            self.steps.push((*link, to));
            to = Entry::Link(*link);
        }
    }

    /// The endpoints of a flow, and the links next to them.
    fn meet(&mut self, flow: &FlowSpec, there: &[u32], back: Option<&[u32]>) {
        for agent in flow.receiver.into_iter().chain([flow.sender]) {
            self.flows_of[to_usize(agent)] += 1;
        }
        if let (Some(receiver), Some(back)) = (flow.receiver, back)
            && let (Some(up), Some(down)) = (there.first(), there.last())
            && let (Some(back_up), Some(back_down)) = (back.first(), back.last())
        {
            self.answers.push((receiver, *down, *back_up));
            self.answers.push((flow.sender, *back_down, *up));
        }
        if flow.receiver.is_none()
            && let (Some(first), Some(last)) = (there.first(), there.last())
        {
            self.uses[to_usize(*last)].passive += 1;
            self.passive.push((*first, flow.sender));
        }
    }

    /// All packets of this link end at its far end, at passive receivers.
    fn only_passive(&self, link: u32) -> bool {
        let Use { ways, passive, .. } = self.uses[to_usize(link)];
        passive > 0 && passive == ways
    }

    /// One way alone goes over this link.
    fn alone(&self, link: u32) -> bool {
        self.uses[to_usize(link)].ways == 1
    }

    /// This agent has no other flow.
    fn has_one_flow(&self, agent: u32) -> bool {
        self.flows_of[to_usize(agent)] == 1
    }

    /// For each link the one that all its packets go on to, or [`NONE`].
    fn onward(&self) -> Vec<u32> {
        let onward = |usage: &Use| match usage.exit {
            Entry::Link(link) => link,
            Entry::Nowhere | Entry::Elsewhere => NONE,
        };
        self.uses.iter().map(onward).collect()
    }
}

/// Makes those links calm that feed silent links only.
fn calm_down(feeding: &mut [Feeding], steps: &[(u32, Entry)], is_silent: impl Fn(u32) -> bool) {
    for link in feeding.iter_mut() {
        link.calm = link.feeds;
    }
    for (link, to) in steps {
        let hears = match *to {
            Entry::Link(next) => !feeding[to_usize(next)].fed || !is_silent(next),
            Entry::Nowhere | Entry::Elsewhere => true,
        };
        feeding[to_usize(*link)].calm &= !hears;
    }
}

impl Quiet {
    /// What the flows allow. Only a link that is `plain` and does not shape may be quiet, a `shaper` that is plain otherwise may
    /// feed, and only one that `lets_through` packets unseen may be fed.
    pub(super) fn of(
        flows: &[FlowSpec],
        seats: &[u32],
        routes: &Routes,
        ends: &[(u32, u32)],
        plain: impl Fn(u32) -> bool,
        shaper: impl Fn(u32) -> bool,
        lets_through: impl Fn(u32) -> bool,
    ) -> Quiet {
        let ways = Ways::of(flows, seats, routes, ends);
        let is_silent = |link: u32| ways.only_passive(link) && plain(link);
        let mut outlets = ways.passive.clone();
        outlets.retain(|(link, sender)| {
            ways.alone(*link) && ways.has_one_flow(*sender) && plain(*link) && !is_silent(*link)
        });
        let mut is_outlet = vec![false; ends.len()];
        for (outlet, _) in &outlets {
            is_outlet[to_usize(*outlet)] = true;
        }
        let mut feeding = vec![Feeding::NOTHING; ends.len()];
        for (link, usage) in (0..).zip(&ways.uses) {
            // The events of a source wait for arrivals at the end of its outlet, so that all of these are events.
            if let Entry::Link(feeder) = usage.entry
                && !is_outlet[to_usize(feeder)]
                && (plain(feeder) || shaper(feeder))
                && plain(link)
                && lets_through(link)
            {
                feeding[to_usize(feeder)].feeds = true;
                feeding[to_usize(link)].fed = true;
            }
        }
        calm_down(&mut feeding, &ways.steps, is_silent);
        for (agent, over, back) in &ways.answers {
            let alone = |link: u32| ways.alone(link) && plain(link);
            if alone(*over) && alone(*back) && lets_through(*over) && ways.has_one_flow(*agent) {
                feeding[to_usize(*over)].feeds = true;
                feeding[to_usize(*over)].answers = *agent;
            }
        }
        let links = || (0..).take(ends.len());
        Quiet {
            silent: links().filter(|link| is_silent(*link)).collect(),
            calm: links()
                .filter(|link| feeding[to_usize(*link)].calm)
                .collect(),
            outlets,
            feeding,
            onward: ways.onward(),
        }
    }

    /// The link that all packets of this link go on to, or [`NONE`].
    pub(super) fn onward(&self, link: u32) -> u32 {
        self.onward.get(to_usize(link)).copied().unwrap_or(NONE)
    }

    /// What may run ahead of this link, or into it.
    pub(super) fn feeding(&self, link: u32) -> Feeding {
        let known = self.feeding.get(to_usize(link));
        known.copied().unwrap_or(Feeding::NOTHING)
    }
}
