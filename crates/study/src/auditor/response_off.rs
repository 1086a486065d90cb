//! Rule `response-off`.

use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_run::compile::FlowInfo;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{has, is_capable, is_long, numbered, runs_at};

pub(super) const ABOUT: About = About {
    title: "Flows of Reno or CUBIC were much faster than their loss events allow",
    reason: "The response function of a congestion control says how large its mean window is at a given rate \
        of loss events. A window that is many times larger means that the sender did not answer most of \
        them: it may have been in one recovery all the time, and sent new data meanwhile. Its throughput \
        then shows the repair of losses, not the congestion control. Drops within a base round trip from the \
        first are one event; as long as the queue makes round trips longer, the rule counts fewer. It speaks \
        from 10 events in a run on, of windows 4 times what they allow. Both numbers are Sojourn's choice. \
        The functions hold for losses at equal distances, and real losses are not, so the rule leaves a wide \
        margin.",
    source: "RFC 9438, *CUBIC for fast and long-distance networks*, 2023, sections 5 and 5.1 (mean window of \
        CUBIC) and 4.3 (Reno-friendly region); Mathis, Semke, Mahdavi and Ott, \"The macroscopic behavior of \
        the TCP congestion avoidance algorithm\", 1997 (Reno).",
    remedy: "Look at another dialect of the control, or at a buffer in which slow start loses less, and \
        compare.\n\n```toml\nflows = [\"cubic dialect=linux\"]\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["cubic c=100 beta=0.99"]
[run]
duration = "8s"
warmup = "2s"
replications = 2
[topology]
rate = "100Mbps"
rtt = "40ms"
buffer = "100p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail"]
compare = true
"#,
    negative: r#"
flows = ["cubic"]
[run]
duration = "8s"
warmup = "2s"
replications = 2
[topology]
rate = "100Mbps"
rtt = "40ms"
buffer = "100p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail"]
compare = true
"#,
};

/// How many times its response a window may be, and loss events from which on the rule speaks;
/// Sojourn's choice.
const TIMES: f64 = 4.0;
const EVENTS: u64 = 10;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| too_fast(evidence, point))
}

fn too_fast(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point)?;
    let flows: Vec<(usize, &FlowInfo)> = numbered(point).collect();
    let (_, first) = flows.first()?;
    let cubic = has(first, "cubic");
    let alike = |(_, flow): &(usize, &FlowInfo)| {
        let same = has(flow, "cubic") == cubic && has(flow, "reno") != cubic;
        same && is_long(point, flow) && flow.forward && !is_capable(point, flow)
    };
    if !flows.iter().all(alike) {
        return None;
    }
    let runs = runs_at(point, &link.name);
    let responses: Vec<Response> = runs
        .filter_map(|(run, queue)| Response::of(run, queue, &flows, cubic))
        .collect();
    let least = responses
        .iter()
        .min_by(|one, other| one.times().total_cmp(&other.times()))?;
    (responses.len() == point.runs.len() && least.times() > TIMES).then(|| {
        let text = format!(
            "{} had a mean window of {} packets with {} loss events at {} in a run. Its response function allows {}. It reduced its window {} \
             times.",
            first.label,
            short(least.window),
            least.events,
            link.name,
            short(least.allowed),
            least.reductions
        );
        let names = flows.iter().map(|(_, flow)| flow.name.clone());
        Remark::new(text).on(&link.name).of(names)
    })
}

/// How flows answered to losses in a run.
struct Response {
    events: u64,
    reductions: u64,
    /// Mean window, packets.
    window: f64,
    /// That of the response function.
    allowed: f64,
}

impl Response {
    fn of(
        run: &RunOutcome,
        queue: &QueueOutcome,
        flows: &[(usize, &FlowInfo)],
        cubic: bool,
    ) -> Option<Response> {
        let own = |at: usize| run.flows.get(at);
        let sent: u64 = flows
            .iter()
            .filter_map(|(at, _)| Some(own(*at)?.sent_packets))
            .sum();
        let reductions = flows
            .iter()
            .filter_map(|(at, _)| own(*at)?.reductions)
            .sum();
        let trips = flows.iter().filter_map(|(at, _)| Some(own(*at)?.rtt));
        let (sum, count) = trips.fold((0_u128, 0_u64), |all, trip| {
            (all.0 + trip.0, all.1 + trip.1)
        });
        let trip = wide_to_f64(sum) * 1e-12 / to_f64(count.max(1));
        let base = flows
            .iter()
            .map(|(_, flow)| flow.base_rtt)
            .max()?
            .as_secs_f64();
        if queue.loss_events < EVENTS || trip <= 0.0 || sent == 0 {
            return None;
        }
        let number = to_f64(u64::try_from(flows.len()).ok()?);
        let rate = to_f64(queue.loss_event_flows) / to_f64(sent) * (base / trip).min(1.0);
        let reno = (1.5 / rate).sqrt();
        let of_cubic = 1.054 * libm::pow(trip / rate, 0.75);
        Some(Response {
            events: queue.loss_events,
            reductions,
            window: to_f64(sent) / number / run.measured.as_secs_f64() * trip,
            allowed: if cubic { reno.max(of_cubic) } else { reno },
        })
    }

    fn times(&self) -> f64 {
        self.window / self.allowed
    }
}
