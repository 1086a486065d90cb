//! The network that runs, and what its links could have carried.

use sojourn_queue::QueuePort;
use sojourn_sim::{LinkSpec, LinkState, Network, Opportunities, Outage};
use sojourn_traffic::Endpoint;
use sojourn_units::{Rate, Span, Time};

use crate::compile::LinkInfo;

/// A network of queues and endpoints.
pub(crate) type LabNetwork<T> = Network<QueuePort, Endpoint, T>;

/// What each link could have carried: its rate integrated over time, since the start or since measuring began. While it is down and
/// packets wait, that is nothing; where they are lost, they use what it could have carried.
pub(crate) struct Capacity {
    links: Vec<LinkCapacity>,
}

struct LinkCapacity {
    /// Its rate now, and the schedule that it has in place of one.
    rate: Rate,
    schedule: Option<Opportunities>,
    /// Down, and packets wait.
    stopped: bool,
    /// What it could have carried before `since`, in bit-picoseconds.
    since: Time,
    sum: u128,
}

impl LinkCapacity {
    /// What it could have carried until `end`, in bit-picoseconds.
    fn until(&self, end: Time) -> u128 {
        let last = match &self.schedule {
            _ if self.stopped => 0,
            Some(schedule) => schedule.bits(self.since, end) * PS_PER_S,
            None => product(self.rate, end.since(self.since)),
        };
        self.sum + last
    }

    fn go_on(&mut self, now: Time) {
        (self.sum, self.since) = (self.until(now), now);
    }
}

const PS_PER_S: u128 = 1_000_000_000_000;

const STOPPED: LinkState = LinkState::Down(Outage::Wait);

impl Capacity {
    pub(crate) fn new(links: &[LinkInfo], network: &[LinkSpec<QueuePort>]) -> Capacity {
        let links = links.iter().zip(network).map(|(link, spec)| LinkCapacity {
            rate: link.rate,
            schedule: link.opportunities.clone(),
            stopped: spec.impairments.outages == Some(STOPPED),
            since: Time::ZERO,
            sum: 0,
        });
        Capacity {
            links: links.collect(),
        }
    }

    pub(crate) fn set_rate(&mut self, link: usize, now: Time, rate: Rate) {
        let link = &mut self.links[link];
        link.go_on(now);
        link.rate = rate;
    }

    pub(crate) fn set_state(&mut self, link: usize, now: Time, state: LinkState) {
        let link = &mut self.links[link];
        link.go_on(now);
        link.stopped = state == STOPPED;
    }

    pub(crate) fn start_measuring(&mut self, now: Time) {
        for link in &mut self.links {
            (link.sum, link.since) = (0, now);
        }
    }

    /// The rate of a link now.
    pub(crate) fn rate(&self, link: usize) -> Rate {
        self.links[link].rate
    }

    pub(crate) fn bits(&self, link: usize, end: Time) -> u128 {
        self.links[link].until(end) / PS_PER_S
    }
}

fn product(rate: Rate, time: Span) -> u128 {
    u128::from(rate.as_bps()) * u128::from(time.as_ps())
}
