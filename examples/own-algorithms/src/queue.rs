//! Slope: drops or marks a packet on departure with a probability that grows with the time it waited.

use sojourn::queue::{
    Aqm, BuildContext, Cx, DropReason, Entry, MarkReason, Meta, SpecError, Verdict, View,
};
use sojourn::units::{Limit, Span};

sojourn::params! {
    /// Drops with a probability that grows with the time in the queue.
    pub struct SlopeParams {
        /// The wait from which packets are dropped.
        target: Span = "5ms", range "1us".."10s", source "CoDel's target";
        /// The wait from which the probability is the greatest.
        full: Span = "50ms", range "1us".."10s", source "ten targets";
        /// The greatest probability.
        most: f64 = "0.2", range "0".."1", source "tried";
        /// Whether ECN-capable packets are marked instead.
        ecn: bool = "false", source "as codel";
        /// The most that may wait.
        limit: Limit = "1000p", range "1p".., source "as codel";
    }
}

/// The discipline.
pub struct Slope {
    params: SlopeParams,
    probability: f64,
}

impl Entry for Slope {
    const NAME: &'static str = "slope";
    const TITLE: &'static str = "Slope";
    const ABOUT: &'static str =
        "Drops packets with a probability that grows with the time they waited.";
    type Params = SlopeParams;

    fn build(params: SlopeParams, _: &BuildContext) -> Result<Slope, SpecError> {
        if params.full <= params.target {
            return Err(SpecError::Contradiction {
                discipline: Slope::NAME.to_owned(),
                text: format!("full={} is not above target={}", params.full, params.target),
            });
        }
        Ok(Slope {
            params,
            probability: 0.0,
        })
    }
}

impl Aqm for Slope {
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        let fits = match self.params.limit {
            Limit::Packets(most) => view.packets < most.get(),
            Limit::Bytes(most) => view.bytes + u64::from(meta.size) <= most.get(),
        };
        match fits {
            true => Verdict::Pass,
            false => Verdict::Drop(DropReason::Overlimit),
        }
    }

    fn on_dequeue(
        &mut self,
        meta: &Meta,
        sojourn: Span,
        view: &View<'_>,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        let (target, full) = (self.params.target, self.params.full);
        let over = sojourn.as_secs_f64() - target.as_secs_f64();
        let part = over / (full.as_secs_f64() - target.as_secs_f64());
        self.probability = part.clamp(0.0, 1.0) * self.params.most;
        // The last packet goes: a link that has something to send sends.
        if view.packets == 0 || !cx.rng.chance(self.probability) {
            return Verdict::Pass;
        }
        match self.params.ecn && meta.ecn().is_capable() {
            true => Verdict::Mark(MarkReason::TargetExceeded),
            false => Verdict::Drop(DropReason::TargetExceeded),
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["probability"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.push(self.probability);
    }
}
