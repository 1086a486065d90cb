//! A receiver of video alone: what it asks for, and when.

use super::*;
use sojourn_sim::{Agent, Host, Outgoing, Packet, Side};
use sojourn_units::Time;

/// A network that keeps what is sent.
#[derive(Default)]
struct Wire {
    now: Time,
    sent: Vec<(Time, Rtcp)>,
    wake: Option<Time>,
}

impl Host for Wire {
    fn now(&self) -> Time {
        self.now
    }
    fn send(&mut self, flow: u32, packet: Outgoing) {
        self.send_with(flow, packet, Side::default());
    }
    fn send_with(&mut self, _flow: u32, _packet: Outgoing, side: Side) {
        self.sent
            .extend(Rtcp::of(&side).map(|rtcp| (self.now, rtcp)));
    }
    fn side(&self, _packet: &Packet) -> Option<Side> {
        None
    }
    fn wake(&mut self, at: Time, _armed: Time) {
        self.wake = Some(at);
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Video of a frame of two packets every 40 ms. Some packets are lost, and some frames are key frames.
struct Video {
    wire: Wire,
    receiver: RtpReceiver,
    lost: fn(u32, bool) -> bool,
    key: fn(u32) -> bool,
}

impl Video {
    fn new(
        pairs: &[(&str, &str)],
        lost: fn(frame: u32, last: bool) -> bool,
        key: fn(u32) -> bool,
    ) -> Video {
        let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        let pairs: Vec<_> = pairs.iter().map(owned).collect();
        let params: RtpParams = sojourn_units::build(None, &pairs).unwrap();
        let rng = Stream::derive(1, 0, "requests");
        let mut receiver = RtpReceiver::new((0, 7), &params, 90_000, rng, (Time::ZERO, None));
        let mut wire = Wire::default();
        receiver.on_start(&mut wire);
        Video {
            wire,
            receiver,
            lost,
            key,
        }
    }

    /// Time goes on until `until`.
    fn timers(&mut self, until: Time) {
        while let Some(wake) = self.wire.wake.filter(|wake| *wake <= until) {
            self.wire.wake = None;
            self.wire.now = wake;
            self.receiver.on_wake(&mut self.wire);
        }
        self.wire.now = until;
    }

    /// A packet of media.
    fn packet(&self, seq: u64) -> Packet {
        let frame = u32::try_from(seq / 2).unwrap();
        let last = seq % 2 == 1;
        let header = MediaHeader {
            timestamp: frame * 3600,
            first: !last,
            last,
            key: (self.key)(frame),
            level: 0,
            frame,
        };
        let mut packet = Packet::test(1000, 0, 0);
        packet.seq = seq;
        packet.ack = header.word();
        packet.created = at(20 * (seq - seq % 2));
        packet
    }

    /// A packet arrives.
    fn arrive(&mut self, frame: u32, last: bool, now: Time) {
        self.timers(now);
        let packet = self.packet(2 * u64::from(frame) + u64::from(last));
        self.receiver.on_packet(&packet, &mut self.wire);
    }

    /// Frames up to this one arrive.
    fn run(&mut self, frames: u32) {
        for frame in 0..frames {
            for last in [false, true] {
                if !(self.lost)(frame, last) {
                    self.arrive(frame, last, at(40 * u64::from(frame) + u64::from(last)));
                }
            }
        }
    }

    /// When key frames were asked for, milliseconds.
    fn asked(&self) -> Vec<u64> {
        let asked = self.wire.sent.iter();
        let asked = asked.filter(|(_, rtcp)| matches!(rtcp, Rtcp::PictureLoss));
        asked.map(|(at, _)| at.as_ps() / 1_000_000_000).collect()
    }
}

/// Reports may go every 2 ms.
const OFTEN: [(&str, &str); 3] = [
    ("dialect", "avpf"),
    ("bandwidth", "20Mbps"),
    ("picture_loss", "true"),
];

#[test]
fn a_key_frame_is_asked_for_once_in_a_round_trip_however_often_reports_may_be_sent() {
    // Frame 100 is lost, and all key frames that are asked for: 200 ms after the request, then 160.
    let lost = |frame, _| frame == 100;
    let mut video = Video::new(&OFTEN, lost, |frame| frame == 0 || frame == 106);
    video.run(200);
    assert_eq!(video.asked(), [4040], "an answer is on its way");
    // The answer is lost: asked for again, when it should have come long ago.
    let lost = |frame, _| frame == 100 || frame == 106;
    let mut video = Video::new(&OFTEN, lost, |frame| frame == 0 || frame == 106);
    video.run(160);
    let asked = video.asked();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!((5000..=5080).contains(&asked[1]), "{asked:?}");
}

#[test]
fn the_round_trip_is_learnt_from_the_key_frames_that_were_asked_for() {
    // Every answer comes after 200 ms; of the last request, none does.
    let lost = |frame, _| frame % 50 == 49;
    let key = |frame: u32| frame == 0 || (frame % 50 == 5 && frame < 500);
    let mut video = Video::new(&OFTEN, lost, key);
    video.run(530);
    let asked = video.asked();
    // One request in 2 s, until at 18 s the answers stay away.
    let before: Vec<_> = asked.iter().filter(|ms| **ms < 19_000).collect();
    assert_eq!(before.len(), 9, "{asked:?}");
    let after: Vec<_> = asked.iter().copied().filter(|ms| *ms >= 19_900).collect();
    let gaps: Vec<_> = after.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() >= 2, "{asked:?}");
    assert!(
        gaps.iter().all(|gap| (200..=500).contains(gap)),
        "{asked:?}"
    );
}

#[test]
fn a_key_frame_that_arrives_torn_is_asked_for_at_once() {
    let lost = |frame, last| frame == 100 || (frame == 106 && last);
    let mut video = Video::new(&OFTEN, lost, |frame| {
        frame == 0 || frame == 106 || frame == 112
    });
    video.run(140);
    assert_eq!(video.asked(), [4040, 4280]);
}

#[test]
fn a_request_goes_with_a_report_where_none_may_go_early() {
    // With a report in five seconds a request early has the report after it late: one in ten seconds, unless reports carry them.
    let pairs = [("picture_loss", "true")];
    let mut video = Video::new(&pairs, |frame, _| frame == 100, |frame| frame == 0);
    video.run(2500);
    let asked = video.asked();
    let reports = video.wire.sent.iter();
    let reports = reports.filter(|(_, rtcp)| matches!(rtcp, Rtcp::Report(_)));
    let after = reports.filter(|(when, _)| *when > at(4040)).count();
    assert!(
        2 * asked.len() > 3 * after && after > 8,
        "{asked:?} {after}"
    );
}

#[test]
fn a_packet_is_asked_for_again_only_after_a_round_trip_whatever_nack_again_says() {
    // Of every tenth frame the first packet is lost, and comes again 300 ms after it was asked for.
    let pairs = [
        ("dialect", "avpf"),
        ("bandwidth", "20Mbps"),
        ("nack", "true"),
        ("nack_hold", "2s"),
        ("nack_again", "50ms"),
    ];
    let mut video = Video::new(&pairs, |_, _| false, |frame| frame == 0);
    let mut again: Vec<(Time, u64)> = Vec::new();
    let mut asked: Vec<(Time, u64)> = Vec::new();
    let mut seen = 0;
    for frame in 0..1000_u32 {
        for last in [false, true] {
            let now = at(40 * u64::from(frame) + u64::from(last));
            while let Some((when, seq)) = again.first().copied().filter(|one| one.0 <= now) {
                again.remove(0);
                video.timers(when);
                video.receiver.on_again(&video.packet(seq), seq, when);
            }
            if frame % 10 != 5 || last {
                video.arrive(frame, last, now);
            }
            for (when, rtcp) in &video.wire.sent[seen..] {
                if let Rtcp::Nack(nack) = rtcp {
                    for seq in nack.packets() {
                        let seq = u64::from(seq);
                        if asked.iter().all(|one| one.1 != seq) {
                            again.push((*when + Span::from_ms(300), seq));
                        }
                        asked.push((*when, seq));
                    }
                }
            }
            seen = video.wire.sent.len();
        }
    }
    // Once an answer has come, once for each.
    let late = asked.iter().filter(|(when, _)| *when > at(3000)).count();
    assert!((92..=94).contains(&late), "{late}");
}

#[test]
fn where_reports_have_a_least_time_between_them_requests_go_as_often_as_before_and_alone() {
    // A picture that never comes back is asked for every second; reports may go every half second.
    let video = |trr| {
        let pairs = [
            ("dialect", "avpf"),
            ("bandwidth", "64kbps"),
            ("picture_loss", "true"),
            ("trr_int", trr),
        ];
        let mut video = Video::new(&pairs, |frame, _| frame == 100, |frame| frame == 0);
        video.run(2500);
        let reports = video.wire.sent.iter();
        let reports = reports.filter(|(_, rtcp)| matches!(rtcp, Rtcp::Report(_)));
        let reports: Vec<Time> = reports.map(|(when, _)| *when).collect();
        (video.asked(), reports)
    };
    let (asked, reports) = video("0s");
    let (asked_too, seldom) = video("10s");
    assert!(reports.len() > 60, "{}", reports.len());
    assert!((7..=21).contains(&seldom.len()), "{}", seldom.len());
    let gaps = seldom.windows(2).map(|pair| pair[1].since(pair[0]));
    assert!(gaps.clone().all(|gap| gap >= Span::from_secs(5)));
    assert!(asked_too.len() > 50 && asked_too.len() * 10 >= asked.len() * 9);
    // Most of them are nowhere near a report.
    let alone = asked_too.iter().filter(|ms| !seldom.contains(&at(**ms)));
    assert!(alone.count() > 40);
    // Where nothing is lost, nothing is sent between reports.
    let pairs = [("dialect", "avpf"), ("trr_int", "10s")];
    let mut whole = Video::new(&pairs, |_, _| false, |frame| frame == 0);
    whole.run(2500);
    let sent = &whole.wire.sent;
    assert!(sent.iter().all(|(_, rtcp)| matches!(rtcp, Rtcp::Report(_))));
    assert!((7..=21).contains(&sent.len()), "{}", sent.len());
}
