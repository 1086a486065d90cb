//! Rule `paced-beside-bursts`.

use sojourn_cc::CongestionControl;
use sojourn_run::compile::FlowInfo;
use sojourn_traffic::registry::Resolved;
use sojourn_traffic::udp_rr::UDP_RR;

use super::about::{About, Stage};
use super::evidence::{Evidence, Seen, value};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "Long flows that pace (BBR, Copa, Prague, `pacing=true`) share a DropTail queue with long flows that do \
        not, and no traffic is random",
    reason: "A full queue has room for one packet each time a packet leaves. Paced packets find that room; the second \
        packet of a burst does not. With 20 Mbps, 40 ms and a buffer of one bandwidth-delay product, a paced \
        Reno flow gets 14.1 Mbps and an unpaced one 5.3; Prague gets 13.1 and Reno 6.3. With one percent of \
        random packets, Prague gets 9.7 and Reno 9.4. The difference is a phase effect of the simulation (Floyd \
        and Jacobson 1992), not a merit of the congestion control. Add a little random traffic, such as `poisson \
        rate=200kbps size=100B`, as the study `rfc9743` does.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

/// Sources of long flows and of constant rates, and requests that follow an answer or a clock: what they send is not random.
const NOT_RANDOM: [&str; 4] = ["bulk", "cbr", "periodic", UDP_RR];
const TEXT: &str = "Paced flows share a DropTail queue with flows that are not, and nothing random passes: when the queue is full, who loses \
    packets is decided by their phases.";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found =
        evidence.at_points(|point| is_decided_by_phase(evidence, point).then(|| TEXT.to_owned()));
    found.map(Finding::warning).into_iter().collect()
}

fn is_decided_by_phase(evidence: &Evidence<'_>, point: &Seen<'_>) -> bool {
    let has = |flow: &FlowInfo, name: &str| flow.parts.iter().any(|(part, _)| *part == name);
    let paced = |flow: &FlowInfo| {
        let control = || point.compiled.network.agents[flow.sender].agent.control();
        let asked = |(_, part): &(&str, Resolved)| value(&part.pairs, "pacing") == Some("true");
        control().is_some_and(|control| control.traits().paces) || flow.parts.iter().any(asked)
    };
    let fifo = evidence
        .bottleneck(point)
        .is_some_and(|l| l.discipline.name == "droptail");
    let flows = || point.compiled.flows.iter();
    let long = || flows().filter(|flow| flow.forward && has(flow, "bulk"));
    let random = |flow: &FlowInfo| !NOT_RANDOM.iter().any(|source| has(flow, source));
    fifo && long().any(paced) && !long().all(paced) && !flows().any(random)
}
