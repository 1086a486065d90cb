//! The lines of Linux's `tc` that configure the same discipline, for `sojourn tc`.
//!
//! A discipline of Linux writes its own in [`crate::entry::Entry::tc`], with the help of [`Line`]: every option that `tc`
//! has, whatever its default, so that the line means the same on every release.

use sojourn_sim::to_usize as at;
use sojourn_units::{Bytes, Limit, Rate, Span, Spec, Specs};
use std::fmt::{Display, Write};

/// One line of `tc`, and those that follow from it: a qdisc, its classes, and the qdiscs in these.
///
/// ```
/// use sojourn_queue::tc::Line;
/// use sojourn_units::{Span, Spec};
///
/// let line = Line::root("codel").option("limit", 1000).time("target", Span::from_ms(5)).word("noecn");
/// assert_eq!(line.on("eth0"), "tc qdisc replace dev eth0 root codel limit 1000 target 5ms noecn");
///
/// let tbf = "tbf each=(codel)".parse()?;
/// let codel = "codel".parse()?;
/// let inside = |_: &Spec| Some(Line::root("codel").option("limit", 1000));
/// let shaped = |_: &Spec| Some(Line::with_handle("tbf").with_queue(1, &codel, &inside));
/// let text = Line::with_handle("prio").option("bands", 3).with_queue(2, &tbf, &shaped).on("eth0");
/// let places: Vec<String> = text.lines().map(|line| line.split(' ').skip(5).take(5).collect::<Vec<_>>().join(" ")).collect();
/// assert_eq!(places[0], "root handle 1: prio bands");
/// assert_eq!(places[1], "parent 1:2 handle 2: tbf");
/// assert_eq!(places[2], "parent 2:1 codel limit 1000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    what: What,
    words: String,
    notes: Vec<String>,
    more: Vec<Line>,
}

/// Gives the lines of a specification inside a queue, in dialect linux unless the specification names another; none where Linux has
/// nothing like it.
pub type Inside<'a> = &'a dyn Fn(&Spec) -> Option<Line>;

/// What a line configures. Numbers are those of classes: the part behind the colon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// A qdisc in a class of the one above, or at the root of the device; with a handle if it has classes.
    Qdisc { class: u32, handle: bool },
    /// A class below another one, or below the qdisc for 0.
    Class { parent: u32, class: u32 },
    /// A change of the qdisc above.
    Change,
}

/// Where the lines of a qdisc stand: handles and classes by their names.
struct Place<'a> {
    device: &'a str,
    /// The handle of the qdisc whose classes these are.
    handle: String,
    /// How the qdisc above was placed.
    above: String,
    /// Handles that are taken, and what they begin with.
    taken: &'a mut u32,
    prefix: &'a str,
    /// The name of every class, where one stands for all.
    any: Option<&'a str>,
}

impl Place<'_> {
    fn class(&self, number: u32) -> String {
        match self.any {
            Some(name) => name.to_owned(),
            None => format!("{}:{number:x}", self.handle),
        }
    }
}

/// Most classes that are written out for queues that packets are hashed to.
const MOST_CLASSES: u32 = 64;

impl Line {
    /// A qdisc without classes.
    pub fn root(kind: &str) -> Line {
        Line::of(
            What::Qdisc {
                class: 0,
                handle: false,
            },
            kind,
        )
    }

    /// A qdisc with classes, by whose handle they are called.
    pub fn with_handle(kind: &str) -> Line {
        Line::of(
            What::Qdisc {
                class: 0,
                handle: true,
            },
            kind,
        )
    }

    /// A change of the qdisc that it follows.
    pub fn change(kind: &str) -> Line {
        Line::of(What::Change, kind)
    }

    fn of(what: What, words: &str) -> Line {
        Line {
            what,
            words: words.to_owned(),
            notes: Vec::new(),
            more: Vec::new(),
        }
    }

    /// A class of this number below another one, or below the qdisc for 0.
    #[must_use]
    pub fn with_class(self, parent: u32, class: u32, words: &str) -> Line {
        self.then(Line::of(What::Class { parent, class }, words))
    }

    /// The qdisc of a specification in the class of this number, as `inside` gives it; a comment where Linux has nothing like it.
    #[must_use]
    pub fn with_queue(self, class: u32, spec: &Spec, inside: Inside<'_>) -> Line {
        match inside(spec) {
            Some(mut line) => {
                if let What::Qdisc { class: own, .. } = &mut line.what {
                    *own = class;
                }
                self.then(line)
            }
            None => self.note(&format!(
                "the queue of HANDLE:{class:x}: tc has nothing like {spec}"
            )),
        }
    }

    /// Classes for the queues that packets are hashed to, with the filter that does it; `words` are those of the class of a number,
    /// from 1. Without a number of queues, or with many, one class stands for all.
    #[must_use]
    pub fn with_hashed(
        self,
        buckets: Option<u32>,
        words: impl Fn(Option<u32>) -> String,
        each: &Specs,
        inside: Inside<'_>,
    ) -> Line {
        let filter = |divisor: &str| {
            format!(
                "filters say which packets a class takes, such as tc filter add dev DEV parent HANDLE: protocol all handle 1 flow hash \
                 keys src,dst,proto,proto-src,proto-dst divisor {divisor} baseclass HANDLE:1"
            )
        };
        if let Some(buckets) = buckets.filter(|buckets| *buckets <= MOST_CLASSES) {
            let line = self.note(&filter(&buckets.to_string()));
            return (1..=buckets).fold(line, |line, class| {
                line.with_class(0, class, &words(Some(class))).with_queue(
                    class,
                    each.of(at(class - 1)),
                    inside,
                )
            });
        }
        let line = self.note(&format!(
            "a class for each flow N: tc class replace dev DEV parent HANDLE: classid HANDLE:N {}",
            words(None)
        ));
        let several = each.all();
        let last = several.len() - 1;
        let line = several
            .into_iter()
            .enumerate()
            .fold(line, |line, (number, spec)| {
                let whose = match (last, number == last) {
                    (0, _) => "its queue".to_owned(),
                    (_, false) => format!("the queue of class {number}"),
                    (_, true) => format!("the queue of class {number} and of those beyond"),
                };
                line.note_inside(&whose, spec, inside)
            });
        line.note(&filter("CLASSES"))
    }

    /// What is to be written for the queue of a class that is not known by number.
    fn note_inside(self, whose: &str, each: &Spec, inside: Inside<'_>) -> Line {
        let notes = match inside(each) {
            Some(line) => {
                let mut text = String::new();
                let mut taken = 0;
                line.write(
                    &mut text,
                    &mut Place {
                        device: "DEV",
                        handle: "HANDLE".to_owned(),
                        above: String::new(),
                        taken: &mut taken,
                        prefix: "H",
                        any: Some("HANDLE:N"),
                    },
                );
                let own = match taken {
                    0 => "",
                    _ => ", where H1 and so on are handles of their own for each class",
                };
                let lines = text
                    .lines()
                    .map(|line| line.trim_start_matches("# ").to_owned());
                std::iter::once(format!("and {whose}{own}:"))
                    .chain(lines)
                    .collect()
            }
            None => vec![format!("{whose}: tc has nothing like {each}")],
        };
        notes.iter().fold(self, |line, text| line.note(text))
    }

    /// A word of its own.
    #[must_use]
    pub fn word(mut self, word: &str) -> Line {
        let _ = write!(self.words, " {word}");
        self
    }

    /// A word where it holds.
    #[must_use]
    pub fn word_if(self, holds: bool, word: &str) -> Line {
        if holds { self.word(word) } else { self }
    }

    /// An option and its value.
    #[must_use]
    pub fn option(mut self, name: &str, value: impl Display) -> Line {
        let _ = write!(self.words, " {name} {value}");
        self
    }

    /// An option that is a time, in the largest unit that leaves it whole; `tc` cuts it to microseconds.
    #[must_use]
    pub fn time(self, name: &str, span: Span) -> Line {
        let us = span.as_ps() / 1_000_000;
        match us {
            us if us > 0 && us % 1_000_000 == 0 => {
                self.option(name, format!("{}s", us / 1_000_000))
            }
            us if us > 0 && us % 1000 == 0 => self.option(name, format!("{}ms", us / 1000)),
            us => self.option(name, format!("{us}us")),
        }
    }

    /// An option that is a number of bytes.
    #[must_use]
    pub fn bytes(self, name: &str, bytes: Bytes) -> Line {
        self.option(name, format!("{}b", bytes.get()))
    }

    /// An option that is a rate.
    #[must_use]
    pub fn rate(self, name: &str, rate: Rate) -> Line {
        let bps = rate.as_bps();
        match bps {
            bps if bps % 1_000_000 == 0 => self.option(name, format!("{}mbit", bps / 1_000_000)),
            bps if bps % 1000 == 0 => self.option(name, format!("{}kbit", bps / 1000)),
            bps => self.option(name, format!("{bps}bit")),
        }
    }

    /// A limit in packets. A limit in bytes, which the qdisc lacks, becomes a note.
    #[must_use]
    pub fn packets(self, name: &str, limit: Option<Limit>) -> Line {
        match limit {
            Some(Limit::Packets(packets)) => self.option(name, packets.get()),
            Some(Limit::Bytes(bytes)) => self.note(&format!(
                "limit={}B: this qdisc counts packets only",
                bytes.get()
            )),
            None => self,
        }
    }

    /// Something that the line cannot say, as a comment above it; `dev DEV` in it names the device, `HANDLE:` the handle of the
    /// qdisc.
    #[must_use]
    pub fn note(mut self, text: &str) -> Line {
        self.notes.push(text.to_owned());
        self
    }

    /// A further line behind this one.
    #[must_use]
    pub fn then(mut self, line: Line) -> Line {
        self.more.push(line);
        self
    }

    /// The same lines, save for comments that were added to one.
    pub(crate) fn says_as(&self, other: &Line) -> bool {
        let told = self.notes.iter().all(|note| other.notes.contains(note));
        told && (self.what, &self.words, &self.more) == (other.what, &other.words, &other.more)
    }

    /// The text for a device, comments first.
    pub fn on(&self, device: &str) -> String {
        let mut text = String::new();
        self.write(
            &mut text,
            &mut Place {
                device,
                handle: String::new(),
                above: String::new(),
                taken: &mut 0,
                prefix: "",
                any: None,
            },
        );
        text.truncate(text.trim_end().len());
        text
    }

    fn write(&self, text: &mut String, place: &mut Place<'_>) {
        let (mut own, mut above) = (place.handle.clone(), place.above.clone());
        let (verb, at) = match self.what {
            What::Qdisc { class, handle } => {
                above = match place.handle.is_empty() {
                    true => "root".to_owned(),
                    false => format!("parent {}", place.class(class)),
                };
                let mut at = above.clone();
                if handle {
                    *place.taken += 1;
                    own = format!("{}{:x}", place.prefix, place.taken);
                    let _ = write!(at, " handle {own}:");
                }
                ("qdisc replace", at)
            }
            What::Class { parent, class } => {
                let parent = match parent {
                    0 => format!("{own}:"),
                    parent => place.class(parent),
                };
                let class = place.class(class);
                ("class replace", format!("parent {parent} classid {class}"))
            }
            What::Change => ("qdisc change", above.clone()),
        };
        let device = place.device;
        for note in &self.notes {
            let note = note.replace("dev DEV", &format!("dev {device}"));
            let _ = writeln!(text, "# {}", note.replace("HANDLE:", &format!("{own}:")));
        }
        let _ = writeln!(text, "tc {verb} dev {device} {at} {}", self.words);
        let inside = matches!(self.what, What::Qdisc { .. });
        let mut below = Place {
            device,
            handle: own,
            above,
            taken: &mut *place.taken,
            prefix: place.prefix,
            any: place.any.filter(|_| !inside),
        };
        for line in &self.more {
            line.write(text, &mut below);
        }
    }
}

/// The greatest gain of PIE that `tc` takes, in sixteenths.
const MOST_SIXTEENTHS: f64 = 32.0;

/// PIE's gains, which `tc` takes in sixteenths.
#[must_use]
pub fn gains(mut line: Line, alpha: f64, beta: f64) -> Line {
    for (name, gain) in [("alpha", alpha), ("beta", beta)] {
        let sixteenths = (gain * 16.0).round().min(MOST_SIXTEENTHS);
        if sixteenths != gain * 16.0 {
            let nearest = sixteenths / 16.0;
            line = line.note(&format!(
                "{name}={gain}: tc takes sixteenths up to 2, here {nearest}"
            ));
        }
        line = line.option(name, sixteenths);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use sojourn_units::Packets;

    /// The lines of a specification without their comments.
    fn lines(spec: &str) -> Vec<String> {
        let line = registry::tc_line(&spec.parse().expect("a spec")).expect("a spec");
        let text = line.expect("a line").on("eth0");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn what_is_nested_is_a_tree_in_which_every_parent_was_made_before() {
        for spec in [
            "prio each=(fq_codel)",
            "prio each=(tbf rate=1Mbps each=(drr buckets=2 each=(sfq)))",
            "prio bands=4 each=(prio each=(red))",
            "htb rate=10Mbps classes=6Mbps/10Mbps{2Mbps/10Mbps,4Mbps/10Mbps},4Mbps/10Mbps each=(prio each=(sfq))",
            "drr buckets=3 each=(qfq buckets=2 each=(codel))",
            "tbf each=(htb)",
            "prio each=(wred)",
        ] {
            let Ok(Some(_)) = registry::tc_line(&spec.parse().expect("a spec")) else {
                // A shaper in a shaper cannot be built.
                assert_eq!(spec, "tbf each=(htb)");
                continue;
            };
            let mut made = std::collections::BTreeSet::new();
            let mut leaves = 0;
            for line in lines(spec) {
                let words: Vec<&str> = line.split(' ').collect();
                assert_eq!(words[..2], ["tc", words[1]], "{line}");
                assert_eq!((words[3], words[4]), ("dev", "eth0"), "{line}");
                let after = |word: &str| {
                    let place = words.iter().position(|own| *own == word);
                    place.map(|place| words[place + 1].to_owned())
                };
                if let Some(parent) = after("parent") {
                    assert!(made.contains(&parent), "{spec}: {line}: {made:?}");
                }
                for new in ["handle", "classid"] {
                    let name = after(new).filter(|_| words[2] == "replace");
                    if let Some(name) = name {
                        assert!(made.insert(name.clone()), "{spec}: {line}: twice");
                    }
                }
                // What these make with themselves.
                let handle = after("handle").unwrap_or_default();
                if let Some(bands) = after("bands") {
                    let bands: u32 = bands.parse().expect("a number");
                    made.extend((1..=bands).map(|band| format!("{handle}{band:x}")));
                }
                if words.contains(&"tbf") {
                    made.insert(format!("{handle}1"));
                }
                leaves += u32::from(words[1] == "qdisc" && handle.is_empty());
            }
            assert!(leaves > 1, "{spec}");
        }
    }

    #[test]
    fn what_is_hashed_to_few_queues_has_its_classes_and_else_one_for_all() {
        assert_eq!(
            lines("drr buckets=2 each=(sfq)"),
            [
                "tc qdisc replace dev eth0 root handle 1: drr",
                "tc class replace dev eth0 parent 1: classid 1:1 drr quantum 1514",
                "tc qdisc replace dev eth0 parent 1:1 sfq limit 127 quantum 1514 perturb 0 divisor 1024 flows 128 depth 127",
                "tc class replace dev eth0 parent 1: classid 1:2 drr quantum 1514",
                "tc qdisc replace dev eth0 parent 1:2 sfq limit 127 quantum 1514 perturb 0 divisor 1024 flows 128 depth 127",
            ]
        );
        let spec = "drr each=(tbf rate=1Mbps)".parse().expect("a spec");
        assert!(registry::tc_line(&spec).is_err());
        let spec = "drr each=(prio bands=3 each=(fq_pie))"
            .parse()
            .expect("a spec");
        let text = registry::tc_line(&spec)
            .expect("a spec")
            .expect("a line")
            .on("eth0");
        for part in [
            "# a class for each flow N: tc class replace dev eth0 parent 1: classid 1:N drr quantum 1514\n",
            "# and its queue, where H1 and so on are handles of their own for each class:\n",
            "# tc qdisc replace dev eth0 parent 1:N handle H1: prio bands 3 ",
            "# tc qdisc replace dev eth0 parent H1:3 fq_pie ",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_change_of_a_nested_qdisc_is_where_that_is() {
        let lines = lines("prio each=(wred)");
        let changes: Vec<&String> = lines.iter().filter(|l| l.contains("change")).collect();
        assert!(!changes.is_empty(), "{lines:?}");
        for line in changes {
            let begin = "tc qdisc change dev eth0 parent 1:";
            assert!(line.starts_with(begin), "{line}");
        }
    }

    #[test]
    fn units_are_those_of_tc() {
        let line = Line::root("x")
            .time("a", Span::from_us(1500))
            .time("b", Span::from_secs(2))
            .bytes("c", Bytes::new(1514))
            .rate("d", Rate::mbps(10))
            .rate("e", Rate::bps(1500));
        assert_eq!(
            line.on("eth0"),
            "tc qdisc replace dev eth0 root x a 1500us b 2s c 1514b d 10mbit e 1500bit"
        );
    }

    #[test]
    fn gains_beyond_those_of_tc_are_told() {
        let line = gains(Line::root("pie"), 0.3, 2.5);
        assert_eq!(
            line.on("eth0"),
            "# alpha=0.3: tc takes sixteenths up to 2, here 0.3125\n# beta=2.5: tc takes sixteenths up to 2, here 2\n\
             tc qdisc replace dev eth0 root pie alpha 5 beta 32"
        );
    }

    #[test]
    fn what_tc_cannot_say_stands_above_the_line() {
        let line = Line::root("x").packets("limit", Some(Limit::Bytes(Bytes::new(9000))));
        assert_eq!(
            line.on("eth0"),
            "# limit=9000B: this qdisc counts packets only\ntc qdisc replace dev eth0 root x"
        );
        let line = Line::root("x").packets("limit", Some(Limit::Packets(Packets::new(9))));
        assert_eq!(line.on("eth0"), "tc qdisc replace dev eth0 root x limit 9");
    }
}
