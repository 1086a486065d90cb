//! Runs the scripts in `scripts/`: what is injected into one end of a connection, and what it is expected to send.
//!
//! The form follows packetdrill's. Lines before the first that begins with `+` set the scene: `dialect`, `tcp`, `sack` and `cc` with
//! parameters, `role receiver`, `write BYTES [at TIME]` (without one, data has no end), `open none` for a script that does the handshake itself
//! (otherwise it has taken 100 ms, and the first flight is still to be expected). A timeline line begins with the time since the one before:
//!
//! ```text
//! +0.1  < A 1001 sack 2001:3001 ecr 0.1 ECE    an acknowledgement arrives
//! +0    < 1:1001 CE                            a segment arrives (role receiver; PSH comes after the range)
//! +0    > 1:10001                              segments of that range are sent now, each once and in order
//! +0    > R 1:1001                             sent again
//! +0    > A 1001 sack 2001:3001                an acknowledgement is sent now
//! +0    < SEWA                                 a SYN with ECE, CWR and AE; `SW.` is an answer with CWR (`S` alone asks for classic ECN, `S.` for none)
//! +0    < A 1001 ace 6 ceb 1000                the counter of Accurate ECN, and that of bytes in its option; expected so where `ace` stands
//! +0    ? cwnd 10 ssthresh 5 phase recovery    state, in segments
//! ```
//!
//! Nothing may be sent that is not expected. `#` begins a comment.

use super::accecn;
use super::{SackConfig, SackParams, SackReceiver, SackSender};
use crate::app::tests::Script;
use crate::tcp::TcpParams;
use crate::tcp::double::packet;
use sojourn_cc::{CongestionControl, registry};
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Side, Stream};
use sojourn_units::{Params, Span, Time};
use std::collections::VecDeque;

const MSS: u64 = 1000;
const HEADERS: u32 = 40;

#[derive(Default)]
struct Wire {
    now: Time,
    sent: VecDeque<(Time, Outgoing, Side)>,
    wake: Option<Time>,
    arriving: Side,
}

impl Host for Wire {
    fn now(&self) -> Time {
        self.now
    }

    fn send(&mut self, _flow: u32, packet: Outgoing) {
        self.sent.push_back((self.now, packet, Side::default()));
    }

    fn send_with(&mut self, _flow: u32, packet: Outgoing, side: Side) {
        self.sent.push_back((self.now, packet, side));
    }

    fn side(&self, _packet: &Packet) -> Option<Side> {
        Some(self.arriving)
    }

    fn wake(&mut self, at: Time, _armed: Time) {
        self.wake = Some(at);
    }
}

/// A packet without data.
fn bare(seq: u64, ack: u64, flags: Flags) -> Outgoing {
    Outgoing {
        seq,
        ack,
        kind: Kind::Ack,
        flags,
        ..Outgoing::default()
    }
}

enum End {
    Sender(Box<SackSender<Script>>),
    Receiver(Box<SackReceiver>),
}

impl End {
    fn on_start(&mut self, wire: &mut Wire) {
        match self {
            End::Sender(end) => end.on_start(wire),
            End::Receiver(end) => end.on_start(wire),
        }
    }

    fn on_packet(&mut self, packet: &Packet, wire: &mut Wire) {
        match self {
            End::Sender(end) => end.on_packet(packet, wire),
            End::Receiver(end) => end.on_packet(packet, wire),
        }
    }

    fn on_wake(&mut self, wire: &mut Wire) {
        match self {
            End::Sender(end) => end.on_wake(wire),
            End::Receiver(end) => end.on_wake(wire),
        }
    }
}

struct Play {
    end: End,
    wire: Wire,
}

fn time(text: &str) -> Span {
    Span::round_from_secs(text.parse().expect("seconds"))
}

fn range(text: &str) -> (u64, u64) {
    let (first, end) = text.split_once(':').expect("first:end");
    (first.parse().unwrap(), end.parse().unwrap())
}

fn blocks(text: &str) -> [(u64, u64); 3] {
    let mut sack = [(0, 0); 3];
    for (slot, block) in sack.iter_mut().zip(text.split(',')) {
        *slot = range(block);
    }
    sack
}

impl Play {
    /// Sets the scene; the lines of the timeline are left.
    fn new(script: &str) -> (Play, Vec<&str>) {
        let mut dialect = "rfc";
        let mut lines = Vec::new();
        let mut scene = Vec::new();
        for line in script.lines() {
            let line = line.split('#').next().unwrap().trim();
            if line.starts_with('+') {
                lines.push(line);
            } else if let Some(name) = line.strip_prefix("dialect ") {
                dialect = name;
            } else if !line.is_empty() {
                scene.push(line);
            }
        }
        let mut tcp = TcpParams::in_dialect(dialect).unwrap();
        let mut sack = SackParams::in_dialect(dialect).unwrap();
        tcp.set("mss", "1000B").unwrap();
        tcp.set("headers", "40B").unwrap();
        let mut cc = ("reno", Vec::new());
        let mut writes = Vec::new();
        let (mut receiver, mut opened) = (false, true);
        for line in scene {
            let mut words = line.split_whitespace();
            let key = words.next().unwrap();
            let pairs = line
                .split_whitespace()
                .filter_map(|word| word.split_once('='))
                .collect::<Vec<_>>();
            match key {
                "tcp" => pairs.iter().for_each(|(k, v)| tcp.set(k, v).unwrap()),
                "sack" => pairs.iter().for_each(|(k, v)| sack.set(k, v).unwrap()),
                "cc" => {
                    let own = |&(k, v): &(&str, &str)| (k.to_owned(), v.to_owned());
                    cc = (words.next().unwrap(), pairs.iter().map(own).collect());
                }
                "role" => receiver = words.next() == Some("receiver"),
                "open" => opened = words.next() != Some("none"),
                "write" => {
                    let bytes = words.next().unwrap().parse().unwrap();
                    let at = words.nth(1).map_or(Span::ZERO, time);
                    writes.push((Time::ZERO + at, bytes));
                }
                other => panic!("unknown key {other:?}"),
            }
        }
        let known = registry::find(cc.0).unwrap().dialects;
        let cc_dialect = known.iter().any(|d| d.name == dialect).then_some(dialect);
        let cc = registry::build(cc.0, cc_dialect, &cc.1).unwrap();
        let ecn = cc.traits().ecn;
        let end = if receiver {
            End::Receiver(Box::new(SackReceiver::new(&tcp, &sack, ecn)))
        } else {
            End::Sender(Box::new(SackSender::new(SackConfig {
                flow: 0,
                params: tcp,
                sack,
                cc,
                source: if writes.is_empty() {
                    Script::Unlimited
                } else {
                    Script::writes(&writes)
                },
                rng: Stream::derive(0, 0, "script"),
                start: Time::ZERO,
                stop: None,
            })))
        };
        let mut play = Play {
            end,
            wire: Wire::default(),
        };
        play.end.on_start(&mut play.wire);
        play.pass(Span::ZERO);
        if opened {
            play.open(receiver);
        }
        (play, lines)
    }

    fn open(&mut self, receiver: bool) {
        let ask = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
        if receiver {
            self.inject(bare(0, 0, ask), 0, Side::default(), Time::ZERO);
            self.pass(Span::from_ms(100));
            self.inject(bare(1, 1, Flags::NONE), 0, Side::default(), Time::ZERO);
        } else {
            self.wire.sent.clear();
            self.pass(Span::from_ms(100));
            let answer = bare(0, 1, Flags::SYN.with(Flags::ECE));
            self.inject(answer, 0, Side::default(), Time::ZERO);
            // The third packet of the handshake.
            self.wire.sent.pop_front();
            return;
        }
        self.wire.sent.clear();
    }

    fn pass(&mut self, span: Span) {
        let until = self.wire.now + span;
        while let Some(at) = self.wire.wake.filter(|&at| at <= until) {
            self.wire.wake = None;
            self.wire.now = at;
            self.end.on_wake(&mut self.wire);
        }
        self.wire.now = until;
    }

    fn inject(&mut self, out: Outgoing, bytes: u64, side: Side, sent: Time) {
        let mut arriving = packet(Outgoing {
            size: HEADERS + u32::try_from(bytes).unwrap(),
            tos: match out.tos {
                0 => Ecn::Ect0.bits(),
                marked => marked,
            },
            ..out
        });
        arriving.created = sent;
        self.wire.arriving = side;
        self.end.on_packet(&arriving, &mut self.wire);
    }

    fn step(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wait = time(words[0].trim_start_matches('+'));
        match words[1] {
            "<" => {
                self.pass(wait);
                self.nothing_more()?;
                self.arrive(&words[2..]);
                Ok(())
            }
            ">" => {
                self.pass(wait);
                self.leave(&words[2..])
            }
            "?" => {
                self.pass(wait);
                self.state(&words[2..])
            }
            other => Err(format!("unknown line {other:?}")),
        }
    }

    fn nothing_more(&self) -> Result<(), String> {
        match self.wire.sent.front() {
            None => Ok(()),
            Some((at, out, side)) => Err(format!("not expected: {}", show(*at, out, side))),
        }
    }

    fn arrive(&mut self, words: &[&str]) {
        let mut flags = Flags::NONE;
        let mut kind = Kind::Ack;
        let mut side = Side::default();
        let (mut seq, mut ack, mut bytes) = (1, 1, 0);
        let mut sent = self.wire.now;
        let mut marked = false;
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "ace" => {
                    let ace: u64 = words.next().unwrap().parse().unwrap();
                    // As after that number of marks.
                    let marked = [(ace + 3) % 8, 0];
                    flags = flags.with(accecn::tell(marked, false, &mut side));
                }
                "ceb" => {
                    let bytes = words.next().unwrap().parse().unwrap();
                    accecn::add_option(bytes, &mut side);
                }
                _ if letters(word).is_some() => {
                    let (ecn, ae) = letters(word).unwrap();
                    flags = flags.with(Flags::SYN).with(ecn);
                    side.words[0] = u64::from(ae);
                }
                "S." => flags = flags.with(Flags::SYN),
                "S" => flags = flags.with(Flags::SYN).with(Flags::ECE).with(Flags::CWR),
                "A" => ack = words.next().unwrap().parse().unwrap(),
                "CE" => marked = true,
                "ECE" => flags = flags.with(Flags::ECE),
                "CWR" => flags = flags.with(Flags::CWR),
                "PSH" => kind = Kind::Pushed,
                "sack" => side.sack = blocks(words.next().unwrap()),
                "ecr" => {
                    let echo = time(words.next().unwrap());
                    side.timestamps = (self.wire.now.as_ps(), echo.as_ps());
                }
                "sent" => sent = Time::ZERO + time(words.next().unwrap()),
                "marked" => side.words[1] = words.next().unwrap().parse().unwrap(),
                data => {
                    let (first, end) = range(data);
                    seq = first;
                    bytes = end - first;
                    kind = Kind::Segment;
                }
            }
        }
        let arriving = Outgoing {
            kind,
            tos: if marked { Ecn::Ce.bits() } else { 0 },
            ..bare(seq, ack, flags)
        };
        self.inject(arriving, bytes, side, sent);
    }

    fn leave(&mut self, words: &[&str]) -> Result<(), String> {
        let has = |flag: &str| words.contains(&flag);
        let after = |key: &str| {
            let at = words.iter().position(|word| *word == key)?;
            words.get(at + 1).copied()
        };
        let mut range_left = words
            .iter()
            .find(|word| word.contains(':') && after("sack") != Some(**word))
            .map(|word| range(word));
        loop {
            let Some((at, out, side)) = self.wire.sent.pop_front() else {
                return Err(format!("nothing was sent for {words:?}"));
            };
            let shown = show(at, &out, &side);
            let wrong = |what: &str| Err(format!("{what}: {shown}, expected {words:?}"));
            if at != self.wire.now {
                return wrong("at another time");
            }
            let syn = words.iter().find_map(|word| letters(word));
            if let Some((ecn, ae)) = syn {
                let set = out.flags.without(Flags::SYN.with(Flags::RETRANSMIT));
                if !out.flags.has(Flags::SYN) || set != ecn || side.words[0] != u64::from(ae) {
                    return wrong("another handshake");
                }
                return Ok(());
            }
            if let Some(ace) = after("ace") {
                let ceb = after("ceb").map(|bytes| bytes.parse().unwrap());
                if accecn::bits(out.flags, Some(&side)).to_string() != ace
                    || accecn::option_of(&side) != ceb
                {
                    return wrong("other counts");
                }
            }
            if has("S") != out.flags.has(Flags::SYN) || has("R") != out.flags.has(Flags::RETRANSMIT)
            {
                return wrong("other flags");
            }
            if after("ace").is_none()
                && has("ECE") != (out.flags.has(Flags::ECE) && !has("S"))
                && !has("S")
                || has("CWR") && !out.flags.has(Flags::CWR)
                || has("notCWR") && out.flags.has(Flags::CWR)
                || has("ECT0") && out.tos != Ecn::Ect0.bits()
                || has("ECT1") && out.tos != Ecn::Ect1.bits()
                || has("notECT") && out.tos != 0
            {
                return wrong("other ECN");
            }
            if let Some(echo) = after("ecr")
                && side.timestamps.1 != time(echo).as_ps()
            {
                return wrong("another timestamp");
            }
            let bytes = u64::from(out.size.saturating_sub(HEADERS));
            if let Some(ack) = after("A") {
                if out.kind != Kind::Ack || out.ack.to_string() != ack {
                    return wrong("another acknowledgement");
                }
                let expected = after("sack").map_or([(0, 0); 3], blocks);
                if side.sack != expected {
                    return wrong("other blocks");
                }
                return Ok(());
            }
            let Some((first, end)) = range_left else {
                return Ok(());
            };
            if out.seq != first || first + bytes > end || bytes == 0 {
                return wrong("another segment");
            }
            if first + bytes == end {
                return Ok(());
            }
            range_left = Some((first + bytes, end));
        }
    }

    fn state(&mut self, words: &[&str]) -> Result<(), String> {
        let End::Sender(sender) = &self.end else {
            return Err("only senders have a window".to_owned());
        };
        let gauges = sender.gauges();
        let segments = |bytes: u64| format!("{}", bytes / MSS);
        for pair in words.chunks(2) {
            let is = match pair[0] {
                "cwnd" => segments(gauges.cwnd_bytes),
                "ssthresh" => gauges.ssthresh_bytes.map_or("none".to_owned(), segments),
                "flight" => segments(gauges.in_flight_bytes),
                "rto" => gauges.rto.to_string(),
                "phase" => format!("{:?}", sender.phase()).to_lowercase(),
                "timeouts" => sender.report().timeouts.to_string(),
                "completed" => sender.report().completed.is_some().to_string(),
                other => return Err(format!("unknown state {other:?}")),
            };
            if is != pair[1] {
                return Err(format!("{} is {is}, expected {}", pair[0], pair[1]));
            }
        }
        Ok(())
    }
}

/// ECE, CWR and AE of a SYN written with their letters.
fn letters(word: &str) -> Option<(Flags, bool)> {
    let set = word.strip_prefix('S')?;
    let set = set.strip_suffix('.').unwrap_or(set);
    if set.is_empty() || !set.chars().all(|letter| "EWA".contains(letter)) {
        return None;
    }
    let mut flags = Flags::NONE;
    if set.contains('E') {
        flags = flags.with(Flags::ECE);
    }
    if set.contains('W') {
        flags = flags.with(Flags::CWR);
    }
    Some((flags, set.contains('A')))
}

fn show(at: Time, out: &Outgoing, side: &Side) -> String {
    let bytes = u64::from(out.size.saturating_sub(HEADERS));
    let what = if out.kind == Kind::Ack {
        format!("A {} sack {:?} words {:?}", out.ack, side.sack, side.words)
    } else {
        format!("{}:{}", out.seq, out.seq + bytes)
    };
    format!("{} s: {what} {:?}", at.as_secs_f64(), out.flags)
}

/// `Err` names the line.
fn play(script: &str) -> Result<(), String> {
    let (mut play, lines) = Play::new(script);
    for line in lines {
        play.step(line)
            .map_err(|error| format!("{line}\n  {error}"))?;
    }
    play.nothing_more()
        .map_err(|error| format!("at the end\n  {error}"))
}

#[test]
fn every_script_plays() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pkt"))
        .collect();
    names.sort();
    assert!(names.len() >= 40, "{}", names.len());
    let mut failed = Vec::new();
    for path in names {
        let script = std::fs::read_to_string(&path).unwrap();
        if let Err(error) = play(&script) {
            failed.push(format!("{}: {error}", path.file_name().unwrap().display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_script_that_expects_what_is_not_sent_fails() {
    assert!(play("+0 > 1:10001").is_ok());
    for wrong in [
        "+0 > 1:9001",
        "+0 > 1:11001",
        "+0 > R 1:10001",
        "+0.1 > 1:10001",
        "+0 > 1:10001\n+0 ? cwnd 11",
        "+0 > 1:10001\n+0 < A 2001",
    ] {
        assert!(play(wrong).is_err(), "{wrong}");
    }
}
