//! An axis of a map: a quantity of the scenario, from one value to another.

use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::nearest;

use crate::range::Range;

/// Short names of quantities, and the paths that they set.
const SHORT: [(&str, &str); 7] = [
    ("rate", "topology.rate"),
    ("rtt", "topology.rtt"),
    ("buffer", "topology.buffer"),
    ("delay", "topology.delay"),
    ("access_rate", "topology.access_rate"),
    ("flows", "flows[0].count"),
    ("duration", "run.duration"),
];

/// Values of a range that is narrower than this share of its upper end are not rounded.
const NARROW: f64 = 0.2;

/// An axis of a map.
#[derive(Clone, Debug)]
pub struct Axis {
    name: String,
    path: String,
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
        let wrong = |kind, problem: String| {
            LabError::new(kind, problem)
                .in_file(&format!("{option} {text}"))
                .remedy(format!(
                    "write {option} rate=1..1000Mbps:log, with the unit at the upper end at least"
                ))
        };
        let bad = |problem: &str| wrong(LabErrorKind::BadValue, problem.to_owned());
        let (name, rest) = text
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
        let name = name.trim();
        let short = SHORT.iter().find(|(short, _)| *short == name);
        let path = match short {
            Some((_, path)) => (*path).to_owned(),
            None if name.contains(['.', '[']) => name.to_owned(),
            None => {
                let names = || SHORT.iter().map(|(name, _)| *name);
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
        Ok(Axis {
            name: name.to_owned(),
            path,
            range,
            argument: format!("{option} {text}"),
        })
    }

    /// What it sets: `topology.rate`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// How it is called: `rate`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is divided by the logarithm.
    pub fn is_log(&self) -> bool {
        self.range.is_log()
    }

    /// The value at a share of the way, rounded to what tells places apart, as a scenario has it.
    pub(super) fn text(&self, share: f64) -> String {
        let (low, high) = self.range.ends();
        let value = self.range.at(share);
        match high - low > NARROW * high {
            true => self.range.label_of(value),
            false => self.range.text(value),
        }
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
        inside
            .map(|value| (self.range.share(value), self.range.label_of(value)))
            .collect()
    }

    fn of_decades(&self) -> Vec<f64> {
        let (low, high) = self.range.ends();
        let mut decade = libm::pow(10.0, libm::log10(low).floor());
        let many = libm::log10(high / low) > 2.5;
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
