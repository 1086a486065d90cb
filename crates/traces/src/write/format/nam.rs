//! nam's animation: nodes, links and queues with their places, then each packet as it enters a queue (`+`), leaves it (`-`), starts on the
//! wire (`h`), arrives (`r`) or is dropped (`d`).
//!
//! Source: ns manual (2011), chapter "Nam Trace", and nam(1) of nam 1.15. Times are exact, to the picosecond. Each packet event ends as in
//! ns-2 with `-x {source.port destination.port sequence flags name}`. Marks have no event of their own: bit `E` of the flags has them.
//!
//! nam places a node by the angle (`-o`) and the length (`-h`) of its links. Both follow Sojourn's layout of the network; nam itself
//! places the nodes of a larger one. A queue is drawn for every link direction but those between a host and its router. Annotations at time 0
//! say what the colours are and which discipline each queue has.

use std::collections::BTreeMap;
use std::io::Result;

use crate::write::layout::{Course, courses};
use crate::write::scene::{Scene, item};
use crate::write::sink::{Form, Out, Sink};
use sojourn_sim::trace::{Event, Record};

use super::ns2::text;

pub(crate) const FORM: Form = Form {
    name: "nam",
    about: "an animation; play it with sojourn play or with nam",
    is_analysed: false,
    open: |scene, out| {
        let mut animation = Animation::new(scene, out);
        animation.begin()?;
        Ok(Box::new(animation))
    },
};

/// Colours of flows: those of Sojourn's figures on white. nam knows colours by number, from 1 on.
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#332288", "#882255",
];

/// Queues that annotations describe.
const MOST_QUEUES: usize = 1000;

/// What the distance between the middles of two nodes has beyond the length of their link, in nam's units. A node is 10 of them wide.
const NODES: f64 = 15.0;

/// Units of nam to a pixel of Sojourn's layout, and the shortest link.
const SCALE: f64 = 0.4;
const SHORTEST: f64 = 4.0;

/// Writes what nam plays.
struct Animation<'a> {
    scene: Scene,
    /// The number of each flow's colour.
    colours: Vec<usize>,
    out: Out<'a>,
}

impl<'a> Animation<'a> {
    fn new(scene: Scene, out: Out<'a>) -> Animation<'a> {
        // Of many flows, those of a group have one colour.
        let single = scene.flows.len() <= COLOURS.len();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let flows = scene.flows.iter();
        let colours = flows.map(|flow| {
            let name = if single { &flow.name } else { &flow.group };
            let next = known.len() + 1;
            *known.entry(name).or_insert(next)
        });
        Animation {
            colours: colours.collect(),
            scene,
            out,
        }
    }

    /// What stands before the first packet.
    fn begin(&mut self) -> Result<()> {
        let out = &mut *self.out;
        writeln!(out, "V -t * -v 1.0a5 -a 0")?;
        writeln!(out, "A -t * -n 1 -p 0 -o 0x7fffffff -c 30 -a 1")?;
        writeln!(out, "A -t * -h 1 -m 2147483647 -s 0")?;
        let colours = self.colours.iter().copied().max().unwrap_or(0);
        for (colour, number) in COLOURS.iter().cycle().zip(1..=colours) {
            writeln!(out, "c -t * -i {number} -n {colour}")?;
        }
        let hosts = self.scene.hosts();
        for ((name, host), node) in self.scene.nodes.iter().zip(&hosts).zip(0_u64..) {
            let shape = if *host { "circle" } else { "square" };
            let name = plain(name);
            writeln!(
                out,
                "n -t * -a {node} -s {node} -S UP -v {shape} -c black -b \"{name}\""
            )?;
        }
        let courses = courses(&self.scene);
        for (place, link) in self.scene.links.iter().step_by(2).enumerate() {
            let (from, to) = link.ends;
            let (rate, delay) = (link.rate.as_bps(), link.delay);
            write!(
                out,
                "l -t * -s {from} -d {to} -S UP -r {rate} -D {} -c black",
                seconds(delay.as_ps())
            )?;
            if let Some(Course { degrees, length }) = courses.get(place) {
                let length = (length * SCALE - NODES).max(SHORTEST);
                write!(out, " -h {length:.1} -o {degrees:.1}deg")?;
            }
            writeln!(out)?;
        }
        for (link, place) in self.scene.links.iter().zip(0_usize..) {
            // nam gives angles as multiples of pi: up for one direction, down for the other.
            let angle = if place % 2 == 0 { "0.5" } else { "1.5" };
            if link.chosen && !link.access {
                let (from, to) = link.ends;
                writeln!(out, "q -t * -s {from} -d {to} -a {angle}")?;
            }
        }
        self.annotate()
    }

    /// What the colours and the queues are, as annotations, which nam lists below its picture.
    fn annotate(&mut self) -> Result<()> {
        let single = self.scene.flows.len() <= COLOURS.len();
        let mut names: BTreeMap<usize, (&str, usize)> = BTreeMap::new();
        for (flow, colour) in self.scene.flows.iter().zip(&self.colours) {
            let name = if single { &flow.name } else { &flow.group };
            names.entry(*colour).or_insert((name, 0)).1 += 1;
        }
        let flows = names
            .into_iter()
            .map(|(colour, (name, count))| match count {
                1 => format!("colour {colour}: {name}"),
                _ => format!("colour {colour}: {name} x {count}"),
            });
        let links = self.scene.links.iter();
        let queues = links
            .filter(|link| link.chosen && !link.access)
            .map(|link| format!("queue {}-{}: {}", link.ends.0, link.ends.1, link.queue));
        let texts = flows.chain(queues.take(MOST_QUEUES));
        for (text, number) in texts.zip(1_usize..) {
            let text = plain(&text);
            writeln!(self.out, "v -t 0 -e sim_annotation 0 {number} {text}")?;
        }
        Ok(())
    }
}

impl Sink for Animation<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        let Some(line) = text(&self.scene, record, true) else {
            return Ok(());
        };
        let colour = item(&self.colours, record.packet.flow)
            .copied()
            .unwrap_or(0);
        let fields: Vec<&str> = line.split(' ').collect();
        let [
            event,
            time,
            from,
            to,
            kind,
            size,
            flags,
            flow,
            source,
            sink,
            sequence,
            uid,
        ] = fields[..]
        else {
            return Ok(());
        };
        let rest = format!(
            "-t {time} -s {from} -d {to} -p {kind} -e {size} -c {flow} -i {uid} -a {colour} -x {{{source} {sink} {sequence} {flags} null}}"
        );
        writeln!(self.out, "{event} {rest}")?;
        match record.event {
            Event::Dequeue => writeln!(self.out, "h {rest}"),
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// A text without what means something to Tcl.
fn plain(text: &str) -> String {
    let special = |c: char| c.is_control() || "\"\\[]{}$;".contains(c);
    text.replace(special, "_")
}

/// Seconds with all their digits.
fn seconds(ps: u64) -> String {
    let (whole, fraction) = (ps / PS_PER_S, ps % PS_PER_S);
    let text = format!("{whole}.{fraction:012}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

const PS_PER_S: u64 = 1_000_000_000_000;
