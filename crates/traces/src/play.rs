//! A window of a nam file that plays in a page: which packets were where. It reads what `--trace nam` writes, and what ns-2 writes for wired
//! links.

mod line;
mod net;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use sojourn_report::play::{Hop, Limit, Play};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Span, Time};

use crate::read::input::{At, Fault, Input};
use crate::read::number::seconds;
use line::Line;
use net::Net;

/// Packets at links that a window has at most.
pub const MOST_HOPS: usize = 20_000;

/// Nodes of the picture, once hosts that are the same are drawn as one.
const MOST_NODES: usize = 80;

/// The length of a window where nothing is said.
pub const USUAL_SPAN: Span = Span::from_secs(2);

/// Which part of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// When it begins; with the first packet of the trace if nothing is said.
    pub from: Option<Time>,
    /// How long it is.
    pub span: Span,
}

/// A packet at a link, in the times of the trace.
#[derive(Clone, Copy)]
struct Stay {
    way: usize,
    colour: u64,
    bytes: u64,
    at: Time,
    sent: Option<Time>,
    arrived: Option<Time>,
    dropped: Option<Time>,
    marked: bool,
    /// It carries data, or at least is no acknowledgement.
    data: bool,
}

impl Stay {
    fn end(&self) -> Option<Time> {
        self.dropped.or(self.arrived)
    }
}

/// Packets that are at a link, by link direction and number.
type Open = BTreeMap<(usize, u64), VecDeque<Stay>>;

/// What was read of a window.
struct Seen {
    net: Net,
    from: Time,
    end: Time,
    cut: Option<String>,
    stays: Vec<Stay>,
    /// How many packets are at a link.
    open: usize,
}

/// Reads a window of the nam trace in a file, plain or gzip.
///
/// # Errors
/// When it cannot be read or is no nam trace, with its line; when nothing happens in the window, or the network is too large to draw.
pub fn read(path: &Path, window: Window) -> Result<Play> {
    read_input(Input::open(path, false)?, path, window)
}

/// The same of what is already open; `path` is its name.
///
/// # Errors
/// As of [`read`].
pub fn read_input(input: Input, path: &Path, window: Window) -> Result<Play> {
    let name = input.name().to_owned();
    let again = "write the trace again with sojourn run FILE --trace nam run.nam";
    let seen = see(input, window).map_err(|error| match error.advice().contains("--lenient") {
        // A window has no gaps.
        true => error.remedy(again),
        false => error,
    })?;
    let refused = |problem: String, remedy: &str| {
        let error = LabError::new(LabErrorKind::BadValue, problem);
        Err(error.in_file(&name).remedy(remedy))
    };
    if seen.stays.is_empty() {
        return refused(
            format!(
                "no packet is at a link from {} on, for {}",
                seen.from.saturating_since(Time::ZERO),
                window.span
            ),
            "name another window with --from and --for",
        );
    }
    let play = play(&seen, path);
    if play.topology.nodes.len() > MOST_NODES {
        return refused(
            format!(
                "a network of {} nodes is too large to draw",
                play.topology.nodes.len()
            ),
            "trace a smaller network",
        );
    }
    Ok(play)
}

/// Reads a trace up to the end of the window.
fn see(mut input: Input, window: Window) -> Result<Seen> {
    let mut seen = Seen {
        net: Net::default(),
        from: window.from.unwrap_or(Time::ZERO),
        end: Time::ZERO,
        cut: None,
        stays: Vec::new(),
        open: 0,
    };
    let mut begun = false;
    // The trace may end before the window does, or before it begins.
    let mut last = Time::ZERO;
    let mut open = Open::new();
    while let Some(place) = input.next_line()? {
        let at = At::Line(input.lines());
        let line = std::str::from_utf8(input.bytes(place)).ok();
        let line = line
            .filter(|text| !text.trim().is_empty())
            .map(|text| (text, Line::parse(text)));
        let parsed = match line {
            None => continue,
            Some((_, Some(line))) => event(&mut seen.net, &line),
            Some((text, None)) => Err(format!("this is no line of nam's format: {text:?}")),
        };
        let event = match parsed {
            Ok(Some(event)) => event,
            Ok(None) => continue,
            Err(problem) => {
                let remedy = "write the trace with sojourn run FILE --trace nam run.nam";
                return Err(input.fault(&Fault { problem, remedy }, at));
            }
        };
        if !begun {
            begun = true;
            seen.from = window.from.unwrap_or(event.time);
            seen.end = seen.from.saturating_add(window.span);
        }
        if event.time > seen.end {
            last = seen.end;
            break;
        }
        last = event.time;
        if event.letter == b'+' && seen.stays.len() + seen.open >= MOST_HOPS {
            seen.end = event.time;
            seen.cut = Some(format!(
                "The animation ends at {}: it shows at most {MOST_HOPS} packets.",
                text(event.time)
            ));
            break;
        }
        step(&mut open, &mut seen, &event);
    }
    seen.end = seen.end.min(last);
    if last >= seen.from {
        seen.stays.extend(open.into_values().flatten());
    }
    seen.stays.sort_by_key(|stay| stay.at);
    Ok(seen)
}

/// A packet event.
struct Event {
    letter: u8,
    time: Time,
    way: usize,
    uid: u64,
    colour: u64,
    bytes: u64,
    marked: bool,
    data: bool,
}

/// The packet event of a line; none for lines of other kinds, which the network takes up.
fn event(net: &mut Net, line: &Line<'_>) -> std::result::Result<Option<Event>, String> {
    let time = line.get(b't').and_then(|time| seconds(time.as_bytes()));
    if line.letter == b'h' && time.is_none() {
        return Err("a packet event has a time, -t".to_owned());
    }
    if !matches!(line.letter, b'+' | b'-' | b'r' | b'd') {
        net.take(line);
        return Ok(None);
    }
    let ends: Option<(u32, u32)> = line.number(b's').zip(line.number(b'd'));
    let (Some(time), Some((from, to)), Some(uid)) = (time, ends, line.number(b'i')) else {
        return Err("a packet event has -t, -s, -d and -i".to_owned());
    };
    let Some(way) = net.way(from, to) else {
        return Err(format!(
            "no line says that there is a link from {from} to {to}"
        ));
    };
    let flags = line.get(b'x').and_then(|fields| fields.split(' ').nth(3));
    Ok(Some(Event {
        letter: line.letter,
        time,
        way,
        uid,
        colour: line.number(b'a').or_else(|| line.number(b'c')).unwrap_or(0),
        bytes: line.number(b'e').unwrap_or(0),
        marked: flags.is_some_and(|flags| flags.as_bytes().get(4) == Some(&b'E')),
        data: !matches!(line.get(b'p'), Some("ack" | "rtcp")),
    }))
}

/// Takes up what happened to a packet.
fn step(open: &mut Open, seen: &mut Seen, event: &Event) {
    let key = (event.way, event.uid);
    if event.letter == b'+' {
        seen.open += 1;
        open.entry(key).or_default().push_back(Stay {
            way: event.way,
            colour: event.colour,
            bytes: event.bytes,
            at: event.time,
            sent: None,
            arrived: None,
            dropped: None,
            marked: event.marked,
            data: event.data,
        });
        return;
    }
    let Some(stays) = open.get_mut(&key) else {
        return;
    };
    // Of copies with one number, the first that it can be.
    let waits = stays.iter().position(|stay| stay.sent.is_none());
    let flies = stays.iter().position(|stay| stay.sent.is_some());
    let place = match event.letter {
        b'-' => waits,
        b'r' => flies,
        _ => waits.or(flies),
    };
    let Some(place) = place else {
        return;
    };
    let Some(stay) = stays.get_mut(place) else {
        return;
    };
    stay.marked |= event.marked;
    match event.letter {
        b'-' => stay.sent = Some(event.time),
        b'r' => stay.arrived = Some(event.time),
        _ => stay.dropped = Some(event.time),
    }
    if stay.end().is_none() {
        return;
    }
    let ended = stays.remove(place);
    seen.open -= 1;
    if stays.is_empty() {
        open.remove(&key);
    }
    seen.stays.extend(ended.filter(|_| event.time >= seen.from));
}

/// The window as it is drawn.
fn play(seen: &Seen, path: &Path) -> Play {
    // Flows that are silent all the time are in the picture, too.
    let mut colours: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for colour in seen.net.colours() {
        colours.entry(colour).or_default();
    }
    for stay in &seen.stays {
        let crossed = colours.entry(stay.colour).or_default();
        if stay.data {
            crossed.insert(stay.way);
        }
    }
    let mut drawn = seen.net.drawn(&colours);
    let flows: BTreeMap<u64, usize> = colours.keys().copied().zip(0..).collect();
    drawn.topology.title = format!("Packets from {} to {}", text(seen.from), text(seen.end));
    let ns = |span: Span| i64::try_from(span.as_ns()).unwrap_or(i64::MAX);
    let since = |from: Time, to: Time| match to.checked_since(from) {
        Some(span) => ns(span),
        None => -ns(from.saturating_since(to)),
    };
    let hops = seen.stays.iter().map(|stay| {
        let (sending, delay) = seen.net.times(stay.way, stay.bytes);
        // Of what is still under way at the end, it is known when it arrives.
        let lost = stay.dropped.is_some();
        let arrival = stay.sent.map(|sent| {
            let due = sent.saturating_add(sending).saturating_add(delay);
            stay.arrived.unwrap_or(due)
        });
        Hop {
            way: drawn.ways[stay.way],
            flow: flows[&stay.colour],
            at: since(seen.from, stay.at),
            wait: stay.sent.map(|sent| since(stay.at, sent)),
            sending: ns(sending),
            flight: stay
                .sent
                .zip(arrival)
                .filter(|_| !lost)
                .map(|(sent, arrival)| since(sent, arrival)),
            drop: stay.dropped.map(|dropped| since(stay.at, dropped)),
            marked: stay.marked,
        }
    });
    let source = path.file_name().unwrap_or(path.as_os_str());
    Play {
        source: source.to_string_lossy().into_owned(),
        from: since(Time::ZERO, seen.from),
        span: since(seen.from, seen.end),
        cut: seen.cut.clone(),
        limits: seen
            .net
            .limits()
            .map(|(way, packets)| Limit {
                way: drawn.ways[way],
                packets,
            })
            .collect(),
        hops: hops.collect(),
        topology: drawn.topology,
    }
}

/// A time for a reader: in seconds, to the microsecond.
fn text(time: Time) -> String {
    let us = time.as_ps() / 1_000_000;
    let (whole, fraction) = (us / 1_000_000, us % 1_000_000);
    let digits = format!("{whole}.{fraction:06}");
    format!("{} s", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::{TraceFormat, run_written};
    use sojourn_scenario::document::Document;
    use sojourn_scenario::model::Scenario;

    const TINY: &str = "[run]\nduration = \"2s\"\nwarmup = \"0s\"\ndeterministic = true\n[topology]\nrate = \"1Mbps\"\n\
        rtt = \"24ms\"\nqueue = \"droptail limit=5p\"\n[[flows]]\nspec = \"reno\"\n[[flows]]\nspec = \"cbr 500kbps\"\n";

    fn traced() -> (tempfile::TempDir, std::path::PathBuf, String) {
        let document = Document::parse(TINY, "t.toml").unwrap();
        let scenario = Scenario::from_document(&document).unwrap();
        let mut bytes = Vec::new();
        run_written(&scenario, 0, TraceFormat::Nam, &[], &mut bytes).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.nam");
        std::fs::write(&path, &bytes).unwrap();
        (dir, path, String::from_utf8(bytes).unwrap())
    }

    fn window(from_ms: u64, for_ms: u64) -> Window {
        Window {
            from: Some(Time::ZERO + Span::from_ms(from_ms)),
            span: Span::from_ms(for_ms),
        }
    }

    #[test]
    fn a_window_of_the_whole_run_has_each_packet_of_each_link_once() {
        let (_dir, path, text) = traced();
        let play = read(&path, window(0, 2000)).unwrap();
        let lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(play.hops.len(), lines("+ "));
        assert_eq!(
            play.hops.iter().filter(|hop| hop.drop.is_some()).count(),
            lines("d ")
        );
        assert!(lines("d ") > 0);
        assert_eq!(
            play.hops.iter().filter(|hop| hop.wait.is_some()).count(),
            lines("- ")
        );
        assert!(play.hops.is_sorted_by_key(|hop| hop.at));
        assert_eq!(play.cut, None);
        let names: Vec<String> = play
            .topology
            .flows
            .iter()
            .map(|flow| format!("{:?}", flow.label))
            .collect();
        assert!(
            names[0].contains("reno") && names[1].contains("cbr"),
            "{names:?}"
        );
    }

    #[test]
    fn a_queue_never_holds_more_than_its_limit() {
        let (_dir, path, _) = traced();
        let play = read(&path, window(0, 2000)).unwrap();
        let limit = play.limits.iter().find(|limit| limit.way == 0).unwrap();
        assert_eq!(limit.packets, 5);
        let mut steps: Vec<(i64, i64)> = Vec::new();
        for hop in play
            .hops
            .iter()
            .filter(|hop| hop.way == 0 && hop.drop.is_none())
        {
            steps.push((hop.at, 1));
            steps.extend(hop.wait.map(|wait| (hop.at + wait, -1)));
        }
        steps.sort_unstable();
        let (mut now, mut most) = (0, 0);
        for (_, step) in steps {
            now += step;
            most = most.max(now);
        }
        assert_eq!(most, 5);
    }

    #[test]
    fn a_dumbbell_plays_in_the_row_of_its_picture_with_every_flow_in_the_legend() {
        let (_dir, path, text) = traced();
        let silent = "v -t 0 -e sim_annotation 0 9 colour 9: voice-1";
        std::fs::write(&path, format!("{silent}\n{text}")).unwrap();
        let play = read(&path, window(0, 2000)).unwrap();
        assert_eq!(play.topology.form, sojourn_report::topology::Form::Row);
        let flows = play.topology.flows.iter();
        let flows: Vec<String> = flows
            .map(|flow| format!("{:?} {:?}", flow.label, flow.kind))
            .collect();
        let [reno, cbr, voice] = flows.as_slice() else {
            panic!("{flows:?}");
        };
        assert!(reno.contains("reno") && cbr.contains("cbr"), "{flows:?}");
        assert!(
            voice.contains("voice-1") && voice.contains("no packets here"),
            "{voice}"
        );
        assert!(!cbr.contains("no packets here"), "{cbr}");
    }

    #[test]
    fn a_window_begins_with_what_is_still_at_a_link() {
        let (_dir, path, _) = traced();
        let play = read(&path, window(1000, 10)).unwrap();
        assert!(play.hops.iter().any(|hop| hop.at < 0));
        for hop in &play.hops {
            let end = match (hop.drop, hop.wait, hop.flight) {
                (Some(drop), _, _) => hop.at + drop,
                (None, Some(wait), Some(flight)) => hop.at + wait + flight,
                _ => i64::MAX,
            };
            assert!(end >= 0 && hop.at <= play.span, "{hop:?}");
        }
    }

    #[test]
    fn nothing_plays_after_the_end_of_the_trace() {
        let (_dir, path, _) = traced();
        let error = read(&path, window(9000, 1000)).unwrap_err();
        assert!(error.to_string().contains("from 9s on"), "{error}");
        let play = read(&path, window(1500, 2000)).unwrap();
        assert!(play.span <= 500_000_000, "{}", play.span);
    }

    #[test]
    fn a_line_that_is_not_nams_is_an_error_with_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.nam");
        let head = "n -t * -s 0\nn -t * -s 1\nl -t * -s 0 -d 1 -r 1e6 -D 0.01\n";
        for (line, what) in [
            ("+ -t 0 -s 0 -d 2 -i 1\n", "link from 0 to 2"),
            ("+ -t 0 -s 0 -d 1\n", "-i"),
            ("+ -t nan -s 0 -d 1 -i 1\n", "-t"),
            ("h -t nan -s 0 -d 1 -i 1\n", "-t"),
        ] {
            std::fs::write(&path, format!("{head}{line}")).unwrap();
            let error = read(&path, window(0, 1000)).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
            assert_eq!(error.line(), Some(4));
        }
        std::fs::write(&path, "duration = 3\n").unwrap();
        let error = read(&path, window(0, 1000)).unwrap_err();
        assert!(error.to_string().contains("no line of nam's"), "{error}");
        std::fs::write(&path, head).unwrap();
        let error = read(&path, window(0, 1000)).unwrap_err();
        assert!(error.to_string().contains("no packet"), "{error}");
    }
}
