//! Rule `picture-stays-lost`.

use sojourn_run::compile::FlowInfo;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "Video lost a picture, its encoder makes a key frame only at the beginning, and its receiver does \
        not ask for another",
    reason: "A frame that misses a packet cannot be shown, and neither can the frames after it until the next \
        key frame. The picture stays frozen to the end of the run, and `frozen_ratio` says only when the \
        first loss happened.",
    source: "RFC 4585, *Extended RTP profile for RTCP-based feedback*, 2006, section 6.3.1 (picture loss \
        indication).",
    remedy: "Give the source groups of pictures, or let the receiver ask.\n\n```toml\nflows = [\"rtp \
        source=(video gop=60) picture_loss=true\"]\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["rtp source=(video) rtcp=false"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "500kbps"
rtt = "40ms"
buffer = "20p"
"#,
    negative: r#"
flows = ["rtp source=(video gop=30) rtcp=false"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "500kbps"
rtt = "40ms"
buffer = "20p"
"#,
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| {
        let flow = frozen(point)?;
        let text = format!(
            "{} lost a picture, and its video makes no further key frame and is asked for none: it is frozen from then on.",
            flow.name
        );
        Some(Remark::new(text).of([flow.name.clone()]))
    })
}

/// The first flow whose video cannot recover from what it lost.
fn frozen<'a>(point: &'a Seen<'_>) -> Option<&'a FlowInfo> {
    let agent = |index: usize| &point.compiled.network.agents[index].agent;
    let one_key_frame = |flow: &&FlowInfo| {
        let asks = flow
            .receiver
            .is_some_and(|r| agent(r).asks_for_key_frames());
        agent(flow.sender).makes_one_key_frame() && !asks
    };
    let loses = |flow: &&FlowInfo| {
        let mut outcomes = point.runs.iter().flat_map(|run| &run.flows);
        outcomes.any(|outcome| {
            outcome.name == flow.name
                && outcome
                    .media
                    .is_some_and(|media| media.played.frames_lost > 0)
        })
    };
    let mut flows = point.compiled.flows.iter().filter(one_key_frame);
    flows.find(loses)
}
