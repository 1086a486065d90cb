//! An axis of a map: a quantity of the scenario, from one value to another.

use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::nearest;

use crate::factors::capitalized;
use crate::range::{Range, is_no_quantity};

/// A quantity with a short name.
struct Quantity {
    name: &'static str,
    path: &'static str,
    /// As an axis and a legend have it.
    title: &'static str,
    /// A range in a fit unit.
    example: &'static str,
}

const fn quantity(
    name: &'static str,
    path: &'static str,
    title: &'static str,
    example: &'static str,
) -> Quantity {
    Quantity {
        name,
        path,
        title,
        example,
    }
}

const SHORT: [Quantity; 7] = [
    quantity("rate", "topology.rate", "Rate", "1..1000Mbps:log"),
    quantity("rtt", "topology.rtt", "Round-trip time", "5..300ms:log"),
    quantity("buffer", "topology.buffer", "Buffer", "10..1000p:log"),
    quantity("delay", "topology.delay", "Delay", "5..100ms:log"),
    quantity(
        "access_rate",
        "topology.access_rate",
        "Access rate",
        "10..1000Mbps:log",
    ),
    quantity("flows", "flows[0].count", "Flows", "1..32"),
    quantity("duration", "run.duration", "Duration", "10..120s"),
];

/// The short quantity of a name or a path.
fn short(name: &str) -> Option<&'static Quantity> {
    SHORT
        .iter()
        .find(|quantity| quantity.name == name || quantity.path == name)
}

/// A range that an axis may have, by what its path ends with.
fn example(name: &str) -> &'static str {
    if let Some(quantity) = short(name) {
        return quantity.example;
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    let has = |words: &[&str]| words.iter().any(|word| last.contains(word));
    if has(&["rate"]) {
        "1..1000Mbps:log"
    } else if has(&[
        "delay", "rtt", "time", "duration", "warmup", "target", "start",
    ]) {
        "5..100ms:log"
    } else if has(&["buffer", "limit"]) {
        "10..1000p:log"
    } else {
        "1..10"
    }
}

/// Decades from which on a tick stands at each of them alone, in the unit that fits it.
const MANY: f64 = 2.5;

/// An axis of a map.
#[derive(Clone, Debug)]
pub struct Axis {
    name: String,
    path: String,
    title: String,
    range: Range,
    /// As it was given: `--x rate=1..100Mbps:log`.
    argument: String,
}

impl Axis {
    /// The axis of an argument: `rate=1..1000Mbps:log`, or a path in place of the name. The lower end may leave out the unit.
    ///
    /// # Errors
    /// When it is not of that form, there is no such quantity, or the range is none.
    pub fn read(option: &str, text: &str) -> Result<Axis> {
        let name = text.split_once('=').map_or(text, |(name, _)| name).trim();
        let wrong = |kind, problem: String| {
            let known = short(name).is_some() || name.contains(['.', '[']);
            let name = if known { name } else { "rate" };
            LabError::new(kind, problem)
                .in_file(&format!("{option} {text}"))
                .remedy(format!(
                    "write {option} {name}={}, with the unit at the upper end at least",
                    example(name)
                ))
        };
        let bad = |problem: &str| wrong(LabErrorKind::BadValue, problem.to_owned());
        let (_, rest) = text
            .split_once('=')
            .ok_or_else(|| bad("a range is missing"))?;
        let (range, log) = match rest.rsplit_once(':') {
            Some((range, "log")) => (range, true),
            Some((range, "linear")) => (range, false),
            Some((_, other)) => {
                let error = wrong(LabErrorKind::BadValue, format!("unknown scale {other:?}"));
                return Err(error
                    .nearest(nearest(other, ["log", "linear"]))
                    .allowed("scales", "log, linear"));
            }
            None => (rest, false),
        };
        let (low, high) = range
            .split_once("..")
            .ok_or_else(|| bad("the range has no .."))?;
        let (low, high) = (low.trim(), high.trim());
        let number = |c: char| c.is_ascii_digit() || c == '.';
        let unit = high.trim_start_matches(number);
        let low = match low.ends_with(number) {
            true => format!("{low}{unit}"),
            false => low.to_owned(),
        };
        let range =
            Range::of(&low, high, log).map_err(|problem| wrong(LabErrorKind::BadValue, problem))?;
        let (path, title) = quantity_of(option, text, name)?;
        Ok(Axis {
            name: name.to_owned(),
            path,
            title,
            range,
            argument: format!("{option} {text}"),
        })
    }

    /// What it sets: `topology.rate`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its heading: `Rate`.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Gives it the heading of a factor that sets the same.
    pub(super) fn called(&mut self, title: &str) {
        title.clone_into(&mut self.title);
    }

    /// Whether it sets all of what a path leads to.
    pub(super) fn replaces(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&self.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// As it was given: `--x rate=1..100Mbps:log`.
    pub(super) fn argument(&self) -> &str {
        &self.argument
    }

    /// How it is called: `rate`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its range.
    pub(crate) fn range(&self) -> &Range {
        &self.range
    }

    /// Whether it is divided by the logarithm.
    pub fn is_log(&self) -> bool {
        self.range.is_log()
    }

    /// The value at a share of the way, rounded to what tells places apart, as a scenario has it.
    pub(super) fn text(&self, share: f64) -> String {
        self.range.label_of(self.range.at(share))
    }

    /// Sets the value at a share of the way.
    pub(super) fn set(&self, document: &mut Document, share: f64) -> Result<()> {
        document.set_argument(&self.path, &self.text(share), &self.argument)
    }

    /// Ticks: where along the axis, and the label. By the logarithm 1, 2 and 5 of each decade, or the decades of many; else about five.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values = match self.is_log() {
            true => self.of_decades(),
            false => self.even(),
        };
        let (low, high) = self.range.ends();
        let inside = values
            .into_iter()
            .filter(|value| (low..=high).contains(value));
        let many = self.is_log() && libm::log10(high / low) > MANY;
        let label = |value: f64| match many {
            true => self.range.tick_of(value),
            false => self.range.label_of(value),
        };
        inside
            .map(|value| (self.range.share(value), label(value)))
            .collect()
    }

    fn of_decades(&self) -> Vec<f64> {
        let (low, high) = self.range.ends();
        let mut decade = libm::pow(10.0, libm::log10(low).floor());
        let many = libm::log10(high / low) > MANY;
        let steps: &[f64] = if many { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let mut values = Vec::new();
        while decade <= high {
            values.extend(steps.iter().map(|step| step * decade));
            decade *= 10.0;
        }
        values
    }

    fn even(&self) -> Vec<f64> {
        let (low, high) = self.range.ends();
        let least = (high - low) / 6.0;
        let decade = libm::pow(10.0, libm::log10(least).floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
        let step = steps
            .into_iter()
            .find(|step| *step >= least)
            .unwrap_or(least);
        let mut value = (low / step).ceil() * step;
        let mut values = Vec::new();
        while value <= high && values.len() < 20 {
            values.push(value);
            value += step;
        }
        values
    }
}

/// The heading of a path: `Bottleneck delay`. What has an index keeps it.
fn heading(path: &str) -> String {
    match path.rsplit_once('.') {
        Some(("topology" | "run", last)) => capitalized(last),
        _ => path.to_owned(),
    }
}

/// The path and the heading of a quantity, by its short name or its path.
fn quantity_of(option: &str, text: &str, name: &str) -> Result<(String, String)> {
    let (path, title) = match short(name) {
        Some(quantity) => (quantity.path.to_owned(), quantity.title.to_owned()),
        None if name.contains(['.', '[']) => (name.to_owned(), heading(name)),
        None => {
            let names = || SHORT.iter().map(|quantity| quantity.name);
            let all: Vec<&str> = names().collect();
            return Err(LabError::new(
                LabErrorKind::UnknownName,
                format!("unknown quantity {name:?}"),
            )
            .in_file(&format!("{option} {text}"))
            .nearest(nearest(name, names()))
            .allowed("quantities", all.join(", "))
            .remedy("or write its path, such as topology.bottleneck_delay"));
        }
    };
    match is_no_quantity(&path) {
        None => Ok((path, title)),
        Some(reason) => Err(LabError::new(
            LabErrorKind::BadValue,
            format!("{path} is no axis of a map: {reason}"),
        )
        .in_file(&format!("{option} {text}"))
        .remedy("name a quantity of the scenario, such as rate, rtt, buffer or flows")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_takes_the_unit_of_its_upper_end_and_names_short_or_long() {
        let axis = Axis::read("--x", "rate=1..1000Mbps:log").unwrap();
        assert_eq!((axis.path(), axis.is_log()), ("topology.rate", true));
        assert_eq!(axis.text(0.0), "1Mbps");
        let ticks: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(ticks, ["1Mbps", "10Mbps", "100Mbps", "1Gbps"]);
        let axis = Axis::read("--y", "topology.bottleneck_delay=5ms..0.1s").unwrap();
        assert_eq!(axis.path(), "topology.bottleneck_delay");
        let ticks: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(ticks, ["20ms", "40ms", "60ms", "80ms", "100ms"]);
    }

    #[test]
    fn places_on_an_axis_have_one_unit_and_ticks_of_many_decades_their_own() {
        let axis = Axis::read("--x", "rate=1..10Mbps:log").unwrap();
        assert_eq!(
            (axis.text(0.5), axis.title()),
            ("3.162Mbps".to_owned(), "Rate")
        );
        let axis = Axis::read("--x", "topology.bottleneck_delay=1..3ms").unwrap();
        assert_eq!(axis.title(), "Bottleneck delay");
        let axis = Axis::read("--x", "rate=500kbps..8Mbps:log").unwrap();
        assert_eq!(
            (axis.text(0.0), axis.text(1.0)),
            ("0.5Mbps".to_owned(), "8Mbps".to_owned())
        );
        let axis = Axis::read("--x", "buffer=0.5..2bdp:log").unwrap();
        assert_eq!(axis.text(0.5), "1bdp");
        let axis = Axis::read("--x", "flows=1..2").unwrap();
        assert_eq!(axis.text(0.5), "2");
    }

    #[test]
    fn the_hint_of_an_axis_names_the_axis_given_in_a_fit_unit() {
        let wrong = |text| Axis::read("--y", text).unwrap_err().to_string();
        assert!(wrong("rtt=1..x").contains("--y rtt=5..300ms:log"));
        assert!(wrong("flows=4..2").contains("--y flows=1..32"));
        assert!(wrong("buffer").contains("--y buffer=10..1000p:log"));
        let own = wrong("topology.bottleneck_delay=2..1ms");
        assert!(
            own.contains("--y topology.bottleneck_delay=5..100ms:log"),
            "{own}"
        );
    }

    #[test]
    fn a_seed_or_a_number_of_replications_is_no_axis() {
        for path in ["run.seed", "run.replications", "run.precision"] {
            let error = Axis::read("--x", &format!("{path}=1..8"))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(path) && error.contains("no axis of a map"),
                "{error}"
            );
        }
        assert!(Axis::read("--x", "duration=1..8s").is_ok());
    }

    #[test]
    fn an_axis_that_is_none_says_what_is_wrong() {
        let wrong = |text| Axis::read("--x", text).unwrap_err().to_string();
        assert!(wrong("rate").contains("a range is missing"));
        assert!(
            wrong("rat=1..2Mbps").contains("\"rate\""),
            "{}",
            wrong("rat=1..2Mbps")
        );
        assert!(wrong("rate=1..2Mbps:lin").contains("linear"));
        assert!(wrong("rate=2..1Mbps").contains("is not below"));
        assert!(wrong("rate=0..1Mbps:log").contains("no logarithm"));
    }
}
