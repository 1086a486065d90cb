//! A short window of a run that plays in a page: packets on the links of the topology's picture, queues that fill, drops that fall.
//!
//! The page needs no network and no server: picture, packets and script stand in it. Nothing moves before the reader starts it.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::markdown::escape;
use crate::topology::{Topology, stage};

const STYLE: &str = include_str!("assets/play.css");
const SCRIPT: &str = include_str!("assets/play.js");

/// Nothing is loaded from anywhere; the script is the one in the file.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The file of a result directory from which its report takes a window that plays.
pub const PLAY_FILE: &str = "animation.json";

/// How many seconds of a run pass in a second of the reader, as one over each of these.
const SPEEDS: [u32; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/// A window of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Play {
    /// Where it is from, such as a file's name.
    pub source: String,
    /// Nodes, links and flows; flows have the colours of their packets.
    pub topology: Topology,
    /// When it begins, in nanoseconds of the run.
    pub from: i64,
    /// How long it is, in nanoseconds.
    pub span: i64,
    /// Why it is shorter than was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Queues whose limit in packets is known.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// Packets at links, in the order in which they come to them.
    pub hops: Vec<Hop>,
}

/// How many packets a queue holds at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The link direction.
    pub way: usize,
    /// Packets.
    pub packets: u64,
}

/// A packet at a link. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// The link direction: twice the index of the link, and one more against it.
    pub way: usize,
    /// Index of its flow.
    pub flow: usize,
    /// When it comes to the queue, from the beginning of the window on; below zero if before.
    pub at: i64,
    /// How long it waits until its transmission begins; none if it is not seen to begin.
    pub wait: Option<i64>,
    /// How long its transmission takes, from its first bit to its last.
    pub sending: i64,
    /// From its first bit on the wire to its last at the other end; none if it does not arrive.
    pub flight: Option<i64>,
    /// When it is dropped, after it came.
    pub drop: Option<i64>,
    /// Whether it is marked (ECN).
    pub marked: bool,
}

/// The page.
pub fn page(play: &Play) -> String {
    let title = escape(&play.topology.title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n</head>\n<body class=\"play-page\">\n<main>\n<h1>{title}</h1>\n{}</main>\n</body>\n</html>\n",
        fragment(play)
    )
}

/// What stands in a page: picture, controls, packets and script. A page can have one.
///
/// A window whose indices lead nowhere is empty.
pub fn fragment(play: &Play) -> String {
    let ways = 2 * play.topology.links.len();
    let flows = play.topology.flows.len();
    let astray = |hop: &Hop| hop.way >= ways || hop.flow >= flows;
    if play.topology.astray().is_some() || play.hops.iter().any(astray) {
        return String::new();
    }
    let (svg, paths) = stage(&play.topology);
    let mut html = format!(
        "<style>\n{STYLE}</style>\n<figure class=\"play\">\n<div class=\"play-stage\">{svg}</div>\n"
    );
    let speeds = SPEEDS.iter().map(|speed| {
        let chosen = if *speed == 50 { " selected" } else { "" };
        let name = match speed {
            1 => "real time".to_owned(),
            speed => format!("1/{speed} of real time"),
        };
        format!("<option value=\"{speed}\"{chosen}>{name}</option>")
    });
    let speeds: String = speeds.collect();
    let _ = write!(
        html,
        "<div class=\"play-controls\" hidden>\
         <button type=\"button\" class=\"play-toggle\" aria-pressed=\"false\">Play</button>\
         <label class=\"play-time\"><span>Time</span><input type=\"range\" class=\"play-slider\" min=\"0\" max=\"1000\" step=\"1\" value=\"0\"></label>\
         <output class=\"play-clock\"></output>\
         <label><span>Speed</span> <select class=\"play-speed\">{speeds}</select></label></div>\n\
         <ul class=\"play-queues\"></ul>\n<noscript><p>The animation needs JavaScript.</p></noscript>\n\
         <figcaption>{}</figcaption>\n<script type=\"application/json\" class=\"play-data\">{}</script>\n<script>\n{SCRIPT}</script>\n</figure>\n",
        caption(play),
        data(play, &paths)
    );
    html
}

/// What the reader sees, and what is left out.
fn caption(play: &Play) -> String {
    let mut text = format!(
        "Packets of the run that <code>{}</code> traces, from {} to {}{}. A bar on a link is a packet, as long as its transmission takes; one with a dark edge is marked. A bar next to a \
         link is the queue in front of it. Dropped packets fall.",
        escape(&play.source),
        seconds(play.from),
        seconds(play.from + play.span),
        escape(&setting(play))
    );
    if let Some(cut) = &play.cut {
        let _ = write!(text, " <strong>{}</strong>", escape(cut));
    }
    text
}

/// Queues that are named in a caption.
const MOST_QUEUES: usize = 2;

/// By which queues a reader tells the run from others.
fn setting(play: &Play) -> String {
    let nodes = &play.topology.nodes;
    let ways = play.topology.links.iter().flat_map(|link| {
        [
            (&link.forward, link.from, link.to),
            (&link.reverse, link.to, link.from),
        ]
    });
    let queues = ways.filter(|(way, ..)| !way.queue.is_empty());
    let queues = queues.take(MOST_QUEUES).map(|(way, from, to)| {
        let [from, to] = [from, to].map(|node| nodes[node].name.line("/"));
        let (queue, rate) = (way.queue.line(" / "), way.rate.line(", "));
        format!("{queue} at {rate} from {from} to {to}")
    });
    let queues: Vec<String> = queues.collect();
    match queues.is_empty() {
        true => String::new(),
        false => format!(": {}", queues.join("; ")),
    }
}

/// Nanoseconds in seconds, with the digits that they have.
fn seconds(ns: i64) -> String {
    let digits = format!("{}.{:09}", ns / 1_000_000_000, ns.rem_euclid(1_000_000_000));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}\u{a0}s")
}

/// The packets as the script reads them, a list per quantity.
fn data(play: &Play, paths: &[Vec<crate::topology::Point>]) -> String {
    let hops = || play.hops.iter();
    let open = |time: Option<i64>| time.unwrap_or(-1);
    let tenths = |value: f64| format!("{value:.1}").parse::<f64>().unwrap_or(0.0);
    let paths: Vec<Vec<[f64; 2]>> = paths
        .iter()
        .map(|path| path.iter().map(|at| [tenths(at.x), tenths(at.y)]).collect())
        .collect();
    let names: Vec<String> = play
        .topology
        .links
        .iter()
        .flat_map(|link| {
            let [a, b] = [link.from, link.to].map(|node| play.topology.nodes[node].name.line("/"));
            [format!("{a} to {b}"), format!("{b} to {a}")]
        })
        .collect();
    let data = serde_json::json!({
        "from": play.from,
        "span": play.span,
        "paths": paths,
        "names": names,
        "limits": play.limits.iter().map(|limit| (limit.way, limit.packets)).collect::<Vec<_>>(),
        "way": hops().map(|hop| hop.way).collect::<Vec<_>>(),
        "flow": hops().map(|hop| hop.flow).collect::<Vec<_>>(),
        "at": hops().map(|hop| hop.at).collect::<Vec<_>>(),
        "wait": hops().map(|hop| open(hop.wait)).collect::<Vec<_>>(),
        "sending": hops().map(|hop| hop.sending).collect::<Vec<_>>(),
        "flight": hops().map(|hop| open(hop.flight)).collect::<Vec<_>>(),
        "drop": hops().map(|hop| open(hop.drop)).collect::<Vec<_>>(),
        "marked": hops().map(|hop| u8::from(hop.marked)).collect::<Vec<_>>(),
    });
    // Nothing in it may end the element.
    data.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Flow, Form, Leg, Link, Node, NodeKind, Values, Way};

    fn play() -> Play {
        let node = |name: &str| Node {
            name: Values::one(name),
            kind: NodeKind::Router,
            count: Values::default(),
            member_of: Vec::new(),
        };
        let way = Way {
            rate: Values::one("1 Mbps"),
            delay: Values::one("10 ms"),
            queue: Values::one("RED, 5 packets"),
            ..Way::default()
        };
        Play {
            source: "</script><b>.nam".to_owned(),
            topology: Topology {
                title: "Packets of <a & b>".to_owned(),
                form: Form::Graph,
                nodes: vec![node("</script>"), node("b")],
                links: vec![Link {
                    from: 0,
                    to: 1,
                    forward: way.clone(),
                    reverse: way,
                }],
                flows: vec![Flow {
                    label: Values::one("reno"),
                    count: Values::default(),
                    kind: Values::one("reno"),
                    route: String::new(),
                    legs: vec![Leg {
                        link: 0,
                        back: false,
                    }],
                }],
                notes: Vec::new(),
            },
            from: 1_000_000_000,
            span: 2_000_000_000,
            cut: Some("It ends early.".to_owned()),
            limits: vec![Limit { way: 0, packets: 5 }],
            hops: vec![Hop {
                way: 0,
                flow: 0,
                at: 5,
                wait: Some(10),
                sending: 20,
                flight: Some(30),
                drop: None,
                marked: false,
            }],
        }
    }

    #[test]
    fn the_page_loads_nothing_and_no_text_ends_an_element() {
        let html = page(&play());
        let outside = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http:") && !outside.contains("https:"));
        assert_eq!(html.matches("<script").count(), 2);
        assert_eq!(html.matches("</script>").count(), 2);
        assert!(html.contains("It ends early."));
        assert!(html.contains("<title>Packets of &lt;a &amp; b&gt;</title>"));
        // Flows have no lines of their own, but in the legend: packets are drawn there.
        assert_eq!(html.matches("class=\"f0 lane\"").count(), 1);
    }

    #[test]
    fn the_caption_says_which_run_plays_and_when() {
        let mut play = play();
        play.source = "run.nam".to_owned();
        play.topology.nodes[0].name = Values::one("a");
        let text = caption(&play);
        let start = "Packets of the run that <code>run.nam</code> traces, from 1\u{a0}s to 3\u{a0}s: RED, 5 packets at 1 Mbps from a to b; ";
        assert!(text.starts_with(start), "{text}");
        assert_eq!(seconds(4_999_900_000), "4.9999\u{a0}s");
    }

    #[test]
    fn a_window_is_read_as_it_was_written() {
        let text = serde_json::to_string(&play()).unwrap();
        assert_eq!(serde_json::from_str::<Play>(&text).unwrap(), play());
    }

    #[test]
    fn a_window_whose_indices_lead_nowhere_is_empty() {
        for hop in [(2, 0), (0, 1)] {
            let mut play = play();
            (play.hops[0].way, play.hops[0].flow) = hop;
            assert_eq!(fragment(&play), "");
        }
    }
}
