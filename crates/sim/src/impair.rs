//! Impairments of one link direction: loss, duplication, jitter, reordering, changes of the ECN field, outages.
//!
//! ECN: a broken path may clear the ECN field (*bleaching*) or set CE where nothing is congested. Both happen on the wire, marking
//! first, as if the device that bleaches came after the one that marks.
//!
//! Every kind draws from its own stream, in the order in which packets meet it (offered to the queue, or
//! sent), which is the same for lazy and eager links.

use crate::packet::Ecn;
use crate::rng::Stream;
use sojourn_units::Span;

/// Where a lossy link loses packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossAt {
    /// After transmission: a lost packet has used capacity. Indices count packets sent.
    #[default]
    Wire,
    /// Before the queue, as an error model of ns-2 does. Indices count packets offered.
    Queue,
}

/// How packets are lost.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Loss {
    /// None is.
    #[default]
    None,
    /// Those with the given numbers are, counted from 0; sorted.
    List(Vec<u64>),
    /// Each with this probability.
    Bernoulli(f64),
    /// Gilbert and Elliott's two states: transition probabilities per packet, loss probability in each.
    GilbertElliott {
        /// Probability of leaving the good state.
        to_bad: f64,
        /// Probability of leaving the bad state.
        to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

/// What becomes of packets while a link is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outage {
    /// They wait: the transmitter begins none.
    #[default]
    Wait,
    /// They are sent and lost, and so is the one in transmission when the link goes down.
    Lose,
}

/// Whether a link carries packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LinkState {
    /// It does.
    #[default]
    Up,
    /// It does not.
    Down(Outage),
}

/// What a link does to packets beside delaying them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ImpairmentSpec {
    /// How packets are lost.
    pub loss: Loss,
    /// Where.
    pub loss_at: LossAt,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Extra delay, uniform in 0..=jitter.
    pub jitter: Span,
    /// True lets a packet overtake another; otherwise it arrives no earlier than its predecessor.
    pub reorder: bool,
    /// Probability that a packet with ECT(0), ECT(1) or CE arrives with Not-ECT.
    pub bleach: f64,
    /// Probability that a packet with ECT(0) or ECT(1) gets CE.
    pub mark: f64,
    /// The state in which the link begins, if it changes during the run; none for a link that is always up.
    pub outages: Option<LinkState>,
}

impl ImpairmentSpec {
    /// True if the link does nothing but delay, and is always up.
    pub fn is_none(&self) -> bool {
        *self == ImpairmentSpec::default()
    }
}

/// The state of a link's impairments.
#[derive(Debug)]
pub(crate) struct Impairments {
    spec: ImpairmentSpec,
    met: u64,
    next_listed: usize,
    bad: bool,
    loss: Stream,
    duplicate: Stream,
    jitter: Stream,
    mark: Stream,
    bleach: Stream,
}

impl Impairments {
    /// Streams derive from the name of the link.
    pub(crate) fn new(spec: ImpairmentSpec, seed: u64, replication: u64, link: &str) -> Self {
        let stream =
            |purpose: &str| Stream::derive(seed, replication, &format!("{link}/{purpose}"));
        Impairments {
            spec,
            met: 0,
            next_listed: 0,
            bad: false,
            loss: stream("loss"),
            duplicate: stream("duplicate"),
            jitter: stream("jitter"),
            mark: stream("mark"),
            bleach: stream("bleach"),
        }
    }

    /// The state in which the link begins.
    pub(crate) fn first_state(&self) -> LinkState {
        self.spec.outages.unwrap_or_default()
    }

    /// True if the link may go down.
    pub(crate) fn has_outages(&self) -> bool {
        self.spec.outages.is_some()
    }

    /// The type of service of a packet after the wire, which had `tos` before it.
    pub(crate) fn crossed(&mut self, tos: u8) -> u8 {
        let mut ecn = Ecn::from_bits(tos);
        if self.spec.mark > 0.0 && ecn.is_capable() && self.mark.chance(self.spec.mark) {
            ecn = Ecn::Ce;
        }
        if self.spec.bleach > 0.0 && ecn != Ecn::NotEct && self.bleach.chance(self.spec.bleach) {
            ecn = Ecn::NotEct;
        }
        tos & !3 | ecn.bits()
    }

    pub(crate) fn loss_at(&self) -> LossAt {
        self.spec.loss_at
    }

    pub(crate) fn reorders(&self) -> bool {
        self.spec.reorder
    }

    /// The longest extra delay.
    pub(crate) fn max_jitter(&self) -> Span {
        self.spec.jitter
    }

    /// Judges the next packet that meets the loss process.
    pub(crate) fn loses(&mut self) -> bool {
        let number = self.met;
        self.met += 1;
        match &self.spec.loss {
            Loss::None => false,
            Loss::List(numbers) => {
                let listed = numbers.get(self.next_listed) == Some(&number);
                self.next_listed += usize::from(listed);
                listed
            }
            Loss::Bernoulli(p) => self.loss.chance(*p),
            Loss::GilbertElliott {
                to_bad,
                to_good,
                loss_good,
                loss_bad,
            } => {
                let (leave, lose) = if self.bad {
                    (*to_good, *loss_bad)
                } else {
                    (*to_bad, *loss_good)
                };
                let lost = self.loss.chance(lose);
                if self.loss.chance(leave) {
                    self.bad = !self.bad;
                }
                lost
            }
        }
    }

    /// Judges whether the packet arrives twice.
    pub(crate) fn doubles(&mut self) -> bool {
        self.spec.duplicate > 0.0 && self.duplicate.chance(self.spec.duplicate)
    }

    /// The extra delay of the packet.
    pub(crate) fn extra_delay(&mut self) -> Span {
        if self.spec.jitter == Span::ZERO {
            return Span::ZERO;
        }
        Span::from_ps(
            self.jitter
                .below(self.spec.jitter.as_ps().saturating_add(1)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(loss: Loss, n: u64) -> Vec<u64> {
        let spec = ImpairmentSpec {
            loss,
            ..ImpairmentSpec::default()
        };
        let mut impairments = Impairments::new(spec, 1, 0, "link/a-b");
        (0..n).filter(|_| impairments.loses()).collect()
    }

    #[test]
    fn a_list_loses_exactly_its_numbers() {
        assert_eq!(lost(Loss::List(vec![0, 3, 4]), 10), [0, 3, 4]);
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let share = lost(Loss::Bernoulli(0.02), 100_000).len();
        assert!((1850..2150).contains(&share), "{share}");
    }

    #[test]
    fn gilbert_elliott_loses_its_share_in_bursts() {
        let loss = Loss::GilbertElliott {
            to_bad: 0.01,
            to_good: 0.2,
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        let numbers = lost(loss, 200_000);
        // Stationary share of the bad state: 0.01 / 0.21; mean burst 5 packets.
        let bursts = 1 + numbers.windows(2).filter(|w| w[1] != w[0] + 1).count();
        assert!((8800..10300).contains(&numbers.len()), "{}", numbers.len());
        let mean = numbers.len() / bursts;
        assert!((4..=6).contains(&mean), "{mean}");
    }
}
