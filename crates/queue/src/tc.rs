//! The lines of Linux's `tc` that configure the same discipline, for `sojourn tc`.
//!
//! A discipline of Linux writes its own in [`crate::registry::Entry::tc`], with the help of [`Line`]: every option that `tc`
//! has, whatever its default, so that the line means the same on every release.

use crate::registry;
use sojourn_units::{Bytes, Limit, Rate, Span, Spec};
use std::fmt::{Display, Write};

/// One `tc qdisc` line.
///
/// ```
/// use sojourn_queue::tc::Line;
/// use sojourn_units::Span;
///
/// let line = Line::root("codel").option("limit", 1000).time("target", Span::from_ms(5)).word("noecn");
/// assert_eq!(line.on("eth0"), "tc qdisc replace dev eth0 root codel limit 1000 target 5ms noecn");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// `qdisc replace`, `class replace`.
    verb: &'static str,
    place: String,
    words: String,
    notes: Vec<String>,
    more: Vec<Line>,
}

impl Line {
    /// A qdisc at the root of a device.
    pub fn root(kind: &str) -> Line {
        Line::at("root", kind)
    }

    /// A qdisc elsewhere: `parent 1:1 handle 10:`.
    pub fn at(place: &str, kind: &str) -> Line {
        Line {
            verb: "qdisc replace",
            place: place.to_owned(),
            words: kind.to_owned(),
            notes: Vec::new(),
            more: Vec::new(),
        }
    }

    /// A class of a qdisc: `parent 1:1 classid 1:2`.
    pub fn class(place: &str, kind: &str) -> Line {
        Line {
            verb: "class replace",
            ..Line::at(place, kind)
        }
    }

    /// A change of the qdisc at the root.
    pub fn change(kind: &str) -> Line {
        Line {
            verb: "qdisc change",
            ..Line::root(kind)
        }
    }

    /// The qdisc of a specification in a class, in dialect linux unless the specification names another; a comment where Linux has
    /// nothing like it.
    #[must_use]
    pub fn with_queue(self, class: &str, spec: &Spec) -> Line {
        match registry::tc_line(spec) {
            Ok(Some(line)) if line.place.contains("handle") => self.note(&format!(
                "the queue of {class}: {} has classes, which want a handle of their own",
                spec.name
            )),
            Ok(Some(line)) => self.then(Line {
                place: format!("parent {class}"),
                ..line
            }),
            Ok(None) | Err(_) => {
                self.note(&format!("the queue of {class}: tc has nothing like {spec}"))
            }
        }
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

    /// A limit in packets; one in bytes, which the qdisc has not, is said in a note.
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

    /// Something that the line cannot say, as a comment above it; `dev DEV` in it names the device.
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
        told && (self.verb, &self.place, &self.words, &self.more)
            == (other.verb, &other.place, &other.words, &other.more)
    }

    /// The text for a device, comments first.
    pub fn on(&self, device: &str) -> String {
        let mut text = String::new();
        for note in &self.notes {
            let _ = writeln!(
                text,
                "# {}",
                note.replace("dev DEV", &format!("dev {device}"))
            );
        }
        let _ = write!(
            text,
            "tc {} dev {device} {} {}",
            self.verb, self.place, self.words
        );
        for line in &self.more {
            let _ = write!(text, "\n{}", line.on(device));
        }
        text
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
    use sojourn_units::Packets;

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
