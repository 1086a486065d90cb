//! Media over RTP: a source with times of its own, and the two ends that carry it, or a sender and the members of a group.

use crate::endpoint::Endpoint;
use crate::entry::{Resolved, wrong};
use crate::flow::{
    BuiltFlow, Flow, FlowKind, FlowRequest, SOURCE, Transport, check_keys, data, effective_dialect,
    pairs_of,
};
use crate::num::real;
use crate::sources::AnySource;
use crate::sources::video::VideoParams;
use crate::timed::Timed;
use sojourn_cc::media::{self, AnyMedia, Bounds, MediaControl};
use sojourn_sim::Stay;
use sojourn_transport::app::Source;
use sojourn_transport::{RtpConfig, RtpMember, RtpParams, RtpReceiver, RtpSender};
use sojourn_units::{Bytes, ParamError, Params, Rate, Span, Spec, SpecValue, UnitErrorKind};

/// The name of these flows.
pub const RTP: &str = "rtp";

/// What is sent unless a source is named.
const DEFAULT_SOURCE: &str = "voice";

/// The clock of the timestamps of what has no format: that of video (RFC 3551 section 5).
const CLOCK_RATE: u32 = 90_000;

/// The kind of flow.
pub(crate) const FLOW: Flow = Flow {
    name: RTP,
    kind: || FlowKind {
        name: RTP,
        aliases: &[],
        doc: RtpParams::DOC,
        transport: Transport::Tcp,
        params: vec![(RTP, RtpParams::TABLE)],
        dialects: RtpParams::DIALECTS.iter().collect(),
    },
    build,
};

/// Parameters that need a single receiver, from which alone the sender hears.
const FOR_ONE: [&str; 5] = [
    "control",
    "feedback",
    "picture_loss",
    "nack",
    "circuit_breaker",
];

/// Parameters of video by which an encoder follows the rate of a congestion control.
const OF_CONTROL: [&str; 8] = [
    "lag",
    "damping",
    "burst",
    "burst_frames",
    "min_rate",
    "max_rate",
    "ladder",
    "ladder_margin",
];

/// Parameters in which all senders to one group have to agree, because all members compute with them.
pub const OF_SESSION: [&str; 14] = [
    "headers",
    "rtcp",
    "bandwidth",
    "rtcp_share",
    "rtcp_senders",
    "rtcp_always_split",
    "rtcp_least",
    "rtcp_first",
    "reduced_minimum",
    "rtcp_random",
    "reconsideration",
    "rtcp_gain",
    "rtcp_average",
    "rtcp_sizes",
];

/// What both ends of a flow are made of.
struct Media {
    params: RtpParams,
    control: Option<AnyMedia>,
    source: AnySource,
    clock_rate: u32,
    parts: Vec<(&'static str, Resolved)>,
}

impl Media {
    /// Whether its one receiver asks for a key frame when a picture is lost.
    fn asks_for_key_frames(&self) -> bool {
        let lost_for_good = match &self.source {
            AnySource::Video(video) => !video.repeats_key_frames() && !video.is_list(),
            _ => false,
        };
        let params = &self.params;
        params.rtcp && params.picture_loss.unwrap_or(lost_for_good)
    }

    fn sender(self, request: &FlowRequest<'_>, to_group: bool) -> RtpSender<Timed> {
        RtpSender::new(RtpConfig {
            flow: request.flow,
            params: self.params,
            control: self.control,
            source: Timed::new(self.source, request.start),
            clock_rate: self.clock_rate,
            rng: request.stream("source"),
            session: request.stream("rtp/sender"),
            start: request.start,
            stop: request.stop,
            to_group,
        })
    }
}

/// Builds a flow of media.
fn build(args: &[(String, String)], request: &FlowRequest<'_>) -> Result<BuiltFlow, ParamError> {
    let media = read(args, request, false)?;
    let (mut params, clock_rate, parts) =
        (media.params.clone(), media.clock_rate, media.parts.clone());
    params.picture_loss = Some(media.asks_for_key_frames());
    let sender = media.sender(request, false);
    let receiver = RtpReceiver::new(
        (request.flow, sender.session().ssrc()),
        &params,
        clock_rate,
        request.stream("rtp/receiver"),
        (request.start, request.stop),
    );
    Ok(BuiltFlow {
        sender: Endpoint::Rtp(Box::new(sender)),
        receiver: Some(Endpoint::RtpReceiver(Box::new(receiver))),
        transport: Transport::Tcp,
        parts,
        ns3_numbers: 0,
        connections: 1,
    })
}

/// The sender of media to a group, and its members, which belong to it in these times. The members report in as many flows of the
/// network from the one after that asked for on.
///
/// Senders and members have to be introduced to each other ([`Endpoint::introduce`]).
///
/// # Errors
/// If a parameter does not exist, has a value that is not allowed, or has no meaning in a group.
pub fn build_group(
    args: &[(String, String)],
    request: &FlowRequest<'_>,
    members: &[Vec<Stay>],
) -> Result<(BuiltFlow, Vec<Endpoint>), ParamError> {
    for (key, text) in args {
        let is_off = ["none", "false"].contains(&text.as_str());
        if FOR_ONE.contains(&key.as_str()) && !is_off {
            return Err(wrong(
                key,
                UnitErrorKind::UnknownChoice,
                text,
                "for a group, whose members report to all",
                "leave it out, or send to a node",
            ));
        }
    }
    let media = read(args, request, true)?;
    let (params, clock_rate, parts) = (media.params.clone(), media.clock_rate, media.parts.clone());
    let member = |(number, stays): (u32, &Vec<Stay>)| {
        let stays = (1..).zip(stays).map(|(turn, stay)| {
            let rng = request.stream(&format!("rtp/member-{number}/{turn}"));
            (*stay, rng)
        });
        let flow = request.flow + number;
        let member = RtpMember::new(flow, &params, clock_rate, stays.collect());
        Endpoint::RtpMember(Box::new(member))
    };
    let members: Vec<Endpoint> = (1..).zip(members).map(member).collect();
    let built = BuiltFlow {
        sender: Endpoint::Rtp(Box::new(media.sender(request, true))),
        receiver: None,
        transport: Transport::Tcp,
        parts,
        ns3_numbers: 0,
        connections: 1 + u32::try_from(members.len()).expect("fewer than 2^32 members"),
    };
    Ok((built, members))
}

/// Reads the parameters of a flow of media, to one node or to a group.
fn read(
    args: &[(String, String)],
    request: &FlowRequest<'_>,
    to_group: bool,
) -> Result<Media, ParamError> {
    check_keys(args, &[RtpParams::TABLE], &[SOURCE])?;
    let dialect = effective_dialect(args, request);
    let own = args.iter().any(|(key, _)| key == "dialect");
    let known = |name: &&str| {
        let mut dialects = RtpParams::DIALECTS.iter();
        dialects.any(|info| info.name == *name || info.release == *name)
    };
    // The scenario's dialect, unless RTP has none of that name: then its own default.
    let rtp_dialect = dialect.filter(|name| known(name) || own);
    let mut params: RtpParams =
        sojourn_units::build(rtp_dialect, &pairs_of(args, RtpParams::TABLE))?;
    if to_group && args.iter().all(|(key, _)| key != "rtcp_first") {
        params.for_group();
    }
    let mut with_source = args.to_vec();
    if args.iter().all(|(key, _)| key != SOURCE) {
        with_source.push((SOURCE.to_owned(), DEFAULT_SOURCE.to_owned()));
    }
    let (source, data) = data(&with_source, dialect, params.payload)?;
    if source.unlimited() {
        return Err(wrong(
            SOURCE,
            UnitErrorKind::UnknownChoice,
            data.0,
            "a source of media, which has times of its own",
            "choose one such as voice, video or (cbr rate=1Mbps)",
        ));
    }
    let clock_rate = match &source {
        AnySource::Voice(voice) => voice.info().clock_rate,
        _ => CLOCK_RATE,
    };
    check_effects(&params, &source, &data)?;
    let control = control(&mut params, &source)?;
    if params.rtcp && params.bandwidth.is_none() {
        params.bandwidth = nominal(&params, &source, &data);
    }
    let media = Media {
        parts: vec![(RTP, Resolved::of(&params)), data],
        params,
        control,
        source,
        clock_rate,
    };
    let params = &media.params;
    let feedback = params.feedback.is_some() || params.nack || media.asks_for_key_frames();
    if let Some((key, given)) = args.iter().find(|(key, _)| key == "reduced_size")
        && !params.reduced_size
        && !feedback
    {
        let beside = "feedback=none, nack=false and no picture_loss".to_owned();
        let remedy = "leave it out, or give feedback, nack or picture_loss a value";
        return Err(without_effect(key, given, beside, remedy));
    }
    Ok(media)
}

/// A value that has no effect beside that of another parameter.
fn without_effect(key: &str, given: &str, beside: String, remedy: &str) -> ParamError {
    ParamError::NoEffect {
        key: key.to_owned(),
        given: given.to_owned(),
        beside,
        remedy: remedy.to_owned(),
    }
}

/// Refuses what has no effect between the flow and its source.
fn check_effects(
    params: &RtpParams,
    source: &AnySource,
    (name, resolved): &(&'static str, Resolved),
) -> Result<(), ParamError> {
    let video = match source {
        AnySource::Video(video) => Some(video),
        _ => None,
    };
    let beside = match video {
        None => Some(format!(
            "source={name}, which has no pictures and a rate of its own"
        )),
        Some(video) if video.is_list() => Some("source=video of a list of frames".to_owned()),
        Some(_) => None,
    };
    if params.picture_loss == Some(true) {
        if !params.rtcp {
            let remedy = "leave it out, or write rtcp=true";
            return Err(without_effect(
                "picture_loss",
                "true",
                "rtcp=false".to_owned(),
                remedy,
            ));
        }
        if let Some(beside) = beside.clone() {
            let remedy = "leave it out, or write source=(video) without a list";
            return Err(without_effect("picture_loss", "true", beside, remedy));
        }
    }
    match (&params.control, beside) {
        (Some(control), Some(beside)) => {
            let remedy = "leave it out, or write source=(video) without a list";
            Err(without_effect(
                "control",
                &control.to_string(),
                beside,
                remedy,
            ))
        }
        (None, None) => {
            let defaults: VideoParams = sojourn_units::build(Some(resolved.release), &[])?;
            let given = |(key, text): &&(&'static str, String)| {
                OF_CONTROL.contains(key) && defaults.get(key).as_ref() != Some(text)
            };
            match resolved.pairs.iter().find(given) {
                Some((key, text)) => {
                    let remedy = "leave it out, or give the flow a control, such as control=nada";
                    let beside = "control=none".to_owned();
                    Err(without_effect(key, text, beside, remedy).within(SOURCE))
                }
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// The rate of media on the wire while it is sent, headers included. For an encoder that follows a control it is the highest rate.
/// None for a source without a known rate.
fn nominal(
    params: &RtpParams,
    source: &AnySource,
    (_, resolved): &(&'static str, Resolved),
) -> Option<Rate> {
    let of = |key: &str| {
        let mut pairs = resolved.pairs.iter();
        let (_, text) = pairs.find(|(name, _)| *name == key)?;
        Some(text.as_str())
    };
    // Bytes of a write, and how often there is one.
    let (bytes, per_second) = match source {
        AnySource::Voice(voice) => voice.packets(),
        AnySource::Video(video) => video.frames(params.control.is_some()),
        _ => {
            let size: Bytes = of("size")?.parse().ok()?;
            let size = real(size.get());
            let interval = of("interval").and_then(|text| text.parse::<Span>().ok());
            match interval {
                Some(interval) => (size, 1.0 / interval.as_secs_f64()),
                None => {
                    let rate: Rate = of("rate")?.parse().ok()?;
                    (size, rate.as_bps_f64() / 8.0 / size)
                }
            }
        }
    };
    let packets = (bytes / real(params.payload.get())).ceil().max(1.0);
    let per_second = (bytes + packets * real(params.headers.get())) * per_second;
    let rate = Rate::bps(8).scale(per_second);
    (rate > Rate::ZERO).then_some(rate)
}

/// The congestion control that the parameters name. Adds its own parameters to them, and the feedback that it needs.
fn control(params: &mut RtpParams, source: &AnySource) -> Result<Option<AnyMedia>, ParamError> {
    let (Some(spec), AnySource::Video(video)) = (&params.control, source) else {
        return Ok(None);
    };
    let (min, start, max) = video.rates();
    // Controls count bytes on the wire.
    let payload = Rate::bps(params.payload.get()).as_bps_f64();
    let headers = Rate::bps(params.headers.get()).as_bps_f64();
    let wire = |rate: Rate| rate.as_bps_f64() * (payload + headers) / payload;
    let bounds = Bounds {
        min: wire(min),
        start: wire(start.max(min).min(max)),
        max: wire(max),
    };
    let (control, built) = media::build(spec, bounds)?;
    let mut full = Spec::new(built.name);
    let own = (built.release != "default").then_some(("dialect", built.release.to_owned()));
    for (key, text) in own.into_iter().chain(built.pairs) {
        full.args.push((key.to_owned(), SpecValue::Text(text)));
    }
    params.control = Some(full);
    params.feedback.get_or_insert(control.feedback_every());
    Ok(Some(control))
}

#[cfg(test)]
mod tests {
    use crate::flow::{FlowRequest, build_flow};
    use crate::registry::Resolved;
    use sojourn_units::{Rate, Time};

    fn parts(
        pairs: &[(&str, &str)],
        dialect: Option<&str>,
    ) -> Result<Vec<(&'static str, Resolved)>, String> {
        let request = FlowRequest {
            flow: 0,
            name: "flow/rtp-1",
            dialect,
            seed: 1,
            replication: 0,
            start: Time::ZERO,
            stop: None,
            ns3_number: None,
            capacity: Rate::mbps(10),
            shares: 1,
        };
        let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        let pairs: Vec<_> = pairs.iter().map(owned).collect();
        let flow = build_flow("rtp", &pairs, &request).map_err(|error| error.to_string())?;
        Ok(flow.parts)
    }

    fn built(pairs: &[(&str, &str)], dialect: Option<&str>) -> Result<Vec<String>, String> {
        let parts = parts(pairs, dialect)?;
        let parts = parts.iter();
        Ok(parts
            .map(|(name, part)| format!("{name} {}", part.release))
            .collect())
    }

    #[test]
    fn a_flow_is_rtp_and_its_source_each_in_the_dialect_that_it_knows() {
        assert_eq!(built(&[], None).unwrap(), ["rtp rfc3550", "voice itu-p59"]);
        let cbr = [("source", "(cbr rate=1Mbps)")];
        assert_eq!(
            built(&cbr, Some("ns2")).unwrap(),
            ["rtp ns2-2.35", "cbr ns2-2.35"]
        );
        assert_eq!(
            built(&cbr, Some("linux")).unwrap(),
            ["rtp rfc3550", "cbr exact"]
        );
        let avpf = [("source", "(video)"), ("dialect", "avpf")];
        assert_eq!(
            built(&avpf, None).unwrap(),
            ["rtp rfc4585", "video statistical"]
        );
    }

    #[test]
    fn the_bandwidth_of_a_session_is_what_its_media_takes_on_the_wire() {
        let is = |pairs: &[(&str, &str)], wanted: &str| {
            let parts = parts(pairs, None).unwrap();
            let mut pairs = parts[0].1.pairs.iter();
            let (_, text) = pairs.find(|pair| pair.0 == "bandwidth").unwrap();
            let rate = |text: &str| text.parse::<Rate>().ok();
            assert_eq!(rate(text), rate(wanted), "{text} {wanted}");
        };
        // 160 and 20 bytes of payload in 200 and 60, fifty times a second, also of who pauses in between.
        is(&[], "80kbps");
        is(&[("source", "(voice codec=g729)")], "24kbps");
        // A frame of 4000 bytes has four packets, one of 6250 six.
        let small = ("payload", "1160B");
        is(&[("source", "(video rate=960kbps)"), small], "998.4kbps");
        let control = ("control", "nada");
        is(
            &[("source", "(video rate=300kbps)"), small, control],
            "1557.6kbps",
        );
        let list = "(video points=I:3000,P:1000 fps=10)";
        is(&[("source", list)], "166.4kbps");
        let cbr = ("source", "(cbr rate=1Mbps)");
        is(&[cbr], "1.04Mbps");
        is(&[("source", "(cbr interval=200ms size=100B)")], "5.6kbps");
        is(&[cbr, ("bandwidth", "9Mbps")], "9Mbps");
        is(&[cbr, ("dialect", "ns2")], "64kbps");
        is(&[("rtcp", "false")], "none");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_remedy() {
        let refused = |pairs: &[(&str, &str)]| built(pairs, None).unwrap_err();
        assert!(refused(&[("source", "bulk")]).contains("times of its own"));
        assert!(refused(&[("source", "vidio")]).contains("did you mean \"video\"?"));
        assert!(refused(&[("source", "(voice codec=g728)")]).contains("did you mean \"g729\"?"));
        assert!(refused(&[("clock_rate", "12")]).contains("1000"));
        assert!(refused(&[("clock_rate", "99000000000")]).contains("clock_rate"));
        assert!(refused(&[("bytes", "10MB")]).contains("bytes"));
        let nada = ("control", "nado");
        assert!(refused(&[nada, ("source", "video")]).contains("did you mean \"nada\"?"));
        assert_eq!(
            refused(&[("source", "(voice codec=g728)")]),
            "source: codec: \"g728\" is not one of g711, g711_plc, g729, g723, gsm_efr, opus: did you mean \"g729\"?"
        );
        let own = ("control", "(nada pri=2)");
        assert!(refused(&[own, ("source", "video")]).contains("did you mean \"prio\"?"));
        assert!(refused(&[("dialect", "rfc3551")]).contains("did you mean"));
    }

    #[test]
    fn what_has_no_effect_is_refused_with_both_keys_and_the_remedy() {
        const OFF: (&str, &str) = ("rtcp", "false");
        const VIDEO: (&str, &str) = ("source", "video");
        const LIST: (&str, &str) = ("source", "(video points=I:900,P:300)");
        for (pairs, key, other) in [
            (
                vec![OFF, ("circuit_breaker", "true")],
                "circuit_breaker",
                "rtcp=false",
            ),
            (
                vec![("breaker_equation", "full")],
                "breaker_equation",
                "circuit_breaker=false",
            ),
            (
                vec![("unusable_loss", "0.3")],
                "unusable_loss",
                "circuit_breaker=false",
            ),
            (
                vec![("circuit_breaker", "true"), ("unusable_time", "3s")],
                "unusable_time",
                "unusable_loss=none",
            ),
            (vec![OFF, ("feedback", "50ms")], "feedback", "rtcp=false"),
            (vec![OFF, ("nack", "true")], "nack", "rtcp=false"),
            (vec![OFF, ("bandwidth", "1Mbps")], "bandwidth", "rtcp=false"),
            (vec![OFF, ("rtcp_least", "0s")], "rtcp_least", "rtcp=false"),
            (
                vec![OFF, VIDEO, ("control", "nada")],
                "control",
                "rtcp=false",
            ),
            (
                vec![OFF, VIDEO, ("picture_loss", "true")],
                "picture_loss",
                "rtcp=false",
            ),
            (vec![("nack_hold", "1s")], "nack_hold", "nack=false"),
            (vec![("rtx_time", "1s")], "rtx_time", "nack=false"),
            (
                vec![("reduced_size", "false")],
                "reduced_size",
                "feedback=none",
            ),
            (
                vec![("picture_loss", "true")],
                "picture_loss",
                "source=voice",
            ),
            (
                vec![LIST, ("picture_loss", "true")],
                "picture_loss",
                "list of frames",
            ),
            (vec![("control", "nada")], "control", "source=voice"),
            (
                vec![("control", "nada"), ("source", "(cbr rate=1Mbps)")],
                "control",
                "source=cbr",
            ),
            (vec![LIST, ("control", "gcc")], "control", "list of frames"),
            (
                vec![VIDEO, ("control", "nada"), ("pacing", "2Mbps")],
                "pacing",
                "control=nada",
            ),
            (
                vec![("source", "(video max_rate=3Mbps)")],
                "source: max_rate",
                "control=none",
            ),
            (
                vec![("source", "(video damping=1s)")],
                "source: damping",
                "control=none",
            ),
            (
                vec![("source", "(video dialect=rfc8593 burst=20kB)")],
                "source: burst",
                "control=none",
            ),
            (
                vec![("source", "(video ladder=1Mbps)")],
                "source: ladder",
                "control=none",
            ),
            (
                vec![("source", "(video b_ratio=0.3)")],
                "source: b_ratio",
                "b_frames=0",
            ),
            (
                vec![("source", "(video gop=1 b_frames=2)")],
                "source: b_frames",
                "gop=1",
            ),
            (
                vec![("source", "(video points=I:9 gop=5)")],
                "source: gop",
                "leave out points",
            ),
            (
                vec![("source", "(voice talk=2s silence=0s)")],
                "source: talk",
                "silence=0s",
            ),
            (
                vec![VIDEO, ("control", "(scream target_high=1s)")],
                "control: target_high",
                "competing=false",
            ),
        ] {
            let error = built(&pairs, None).expect_err(key);
            assert!(error.starts_with(&format!("{key}: ")), "{error}");
            assert!(error.contains("has no effect with "), "{error}");
            assert!(
                error.contains(other) && error.contains("leave it out"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_is_off_or_the_default_or_has_an_effect_is_not_refused() {
        const OFF: (&str, &str) = ("rtcp", "false");
        for pairs in [
            vec![
                OFF,
                ("circuit_breaker", "false"),
                ("feedback", "none"),
                ("bandwidth", "none"),
            ],
            vec![OFF, ("picture_loss", "false"), ("rtcp_random", "true")],
            vec![OFF, ("dialect", "avpf"), ("rtcp_least", "0s")],
            vec![OFF, ("dialect", "ns2"), ("rtcp_sizes", "ns2")],
            vec![("picture_loss", "false"), ("reduced_size", "true")],
            vec![("source", "video"), ("reduced_size", "false")],
            vec![
                ("nack", "true"),
                ("reduced_size", "false"),
                ("nack_hold", "1s"),
            ],
            vec![
                ("source", "(video max_rate=3Mbps ladder=1Mbps)"),
                ("control", "nada"),
            ],
            vec![("source", "(video max_rate=1.5Mbps lag=200ms)")],
            vec![("source", "(voice talk=1.004s silence=0s)")],
            vec![("source", "(video dialect=rfc8593)")],
            vec![
                ("source", "(video dialect=rfc8593 burst=20kB)"),
                ("control", "gcc"),
            ],
        ] {
            assert!(
                built(&pairs, None).is_ok(),
                "{pairs:?} {:?}",
                built(&pairs, None)
            );
        }
    }
}
