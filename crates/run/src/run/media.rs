//! What the ends of flows of RTP know of their media: of a flow to one receiver, and of one to a group, member by member.

use sojourn_results::outcome::{MediaOutcome, VoiceOutcome};
use sojourn_sim::trace::Tracer;
use sojourn_traffic::Endpoint;
use sojourn_transport::ReceiverReport;
use sojourn_transport::rtp::PlayoutCounts;

use crate::compile::FlowInfo;
use crate::network::LabNetwork;

/// What the members of a flow's group have got of its media, together; `None` if they get none as participants of a session.
pub(super) fn goodput<T: Tracer>(
    network: &LabNetwork<T>,
    flow: &FlowInfo,
) -> Option<ReceiverReport> {
    let media = number(flow)?;
    let all = flow.members.iter();
    let mut all = all.filter_map(|member| network.agent(*member).media_report(media));
    let first = all.next()?;
    Some(all.fold(first, |sum, one| sum.with(&one)))
}

/// The number of the flow of the network that carries the media.
fn number(flow: &FlowInfo) -> Option<u32> {
    u32::try_from(flow.network.start).ok()
}

/// The codec of voice, for the E-model.
fn voice_of(sender: &Endpoint) -> Option<VoiceOutcome> {
    let (info, interval) = sender.voice()?;
    let (ie, bpl) = info.impairment?;
    let delay = interval + info.lookahead;
    Some(VoiceOutcome { ie, bpl, delay })
}

/// What both ends of a flow know of its media; of a flow to a group, all members together.
pub(super) fn of_flow<T: Tracer>(network: &LabNetwork<T>, flow: &FlowInfo) -> Option<MediaOutcome> {
    let sender = network.agent(flow.sender);
    let (media, until) = (number(flow)?, sender.media_until(network.now())?);
    let mut reported = sender.rtp_account()?;
    let mut played = PlayoutCounts::default();
    let mut receivers = 0;
    for receiver in flow.receiver.iter().chain(&flow.members) {
        let receiver = network.agent(*receiver);
        if reports_for(flow) {
            reported = reported.with(&receiver.rtp_account()?);
        }
        played = played.with(&receiver.played(media, until)?);
        receivers += 1;
    }
    (receivers > 0).then(|| MediaOutcome {
        reported,
        played,
        voice: voice_of(sender),
        frames: sender.is_video(),
        receivers,
    })
}

/// Whether the reports of its receivers are counted with this flow: those of a session's members are with its first.
fn reports_for(flow: &FlowInfo) -> bool {
    flow.receiver.is_some() || flow.network.len() > 1
}

/// What member `place` of the group of a flow knows of its media, and has got of it.
pub(super) fn of_member<T: Tracer>(
    network: &LabNetwork<T>,
    flow: &FlowInfo,
    place: usize,
) -> Option<(MediaOutcome, ReceiverReport)> {
    let sender = network.agent(flow.sender);
    let agent = network.agent(*flow.members.get(place)?);
    let (media, until) = (number(flow)?, sender.media_until(network.now())?);
    let mut reported = sender.rtp_account_of(agent.reports_in()?)?;
    if reports_for(flow) {
        reported = reported.with(&agent.rtp_account()?);
    }
    let outcome = MediaOutcome {
        reported,
        played: agent.played(media, until)?,
        voice: voice_of(sender),
        frames: sender.is_video(),
        receivers: 1,
    };
    Some((outcome, agent.media_report(media)?))
}
