//! Options of an analysis as they are typed, for the command and for Python.

use super::analysis::Options;
use super::format::Format;
use super::frame::Tunnels;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Rate, Span, Time};
use std::path::Path;

/// What was typed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// Format of the trace.
    pub format: Option<&'a str>,
    /// Whether what cannot be read is skipped.
    pub lenient: bool,
    /// Length of a step.
    pub step: Option<&'a str>,
    /// Begin of what counts.
    pub from: Option<&'a str>,
    /// End of what is read.
    pub to: Option<&'a str>,
    /// Rates of links: `LINK=RATE`.
    pub rates: &'a [String],
    /// After so long, a packet is taken for lost.
    pub horizon: Option<&'a str>,
    /// The second capture.
    pub receiver: Option<&'a Path>,
    /// Which packet of IP is analysed where one carries another.
    pub tunnels: Option<&'a str>,
}

impl Given<'_> {
    /// The options; `called` gives the name of an option as it was typed, of `step` say.
    ///
    /// # Errors
    /// When a value cannot be read or is out of range.
    pub fn options(&self, called: impl Fn(&str) -> String) -> Result<Options> {
        let bad = |name: &str, given: &str, problem: String| {
            LabError::new(LabErrorKind::BadValue, problem)
                .in_file(&format!("{} {given}", called(name)))
        };
        let span = |name: &str, given: Option<&str>| -> Result<Option<Span>> {
            let parse = |given: &str| {
                given
                    .parse::<Span>()
                    .map_err(|error| bad(name, given, error.to_string()))
            };
            given.map(parse).transpose()
        };
        let length = |name: &str, given: Option<&str>, default: Span| match span(name, given)? {
            Some(span) if span.is_zero() => {
                let problem = "it must be longer than zero";
                Err(bad(name, given.unwrap_or_default(), problem.to_owned()))
            }
            found => Ok(found.unwrap_or(default)),
        };
        let defaults = Options::default();
        let instant = |span: Span| Time::ZERO + span;
        let from = span("from", self.from)?.map(instant);
        let to = span("to", self.to)?.map(instant);
        if let (Some(start), Some(end)) = (from, to)
            && start >= end
        {
            let problem = format!(
                "it must be after {} {}",
                called("from"),
                self.from.unwrap_or_default()
            );
            return Err(bad("to", self.to.unwrap_or_default(), problem));
        }
        let rate = |given: &String| {
            rate(given).map_err(|(problem, remedy)| {
                let error = bad("rate", given, problem);
                match remedy {
                    Some(remedy) => error.remedy(remedy),
                    None => error,
                }
            })
        };
        Ok(Options {
            format: self
                .format
                .map(|given| Format::parse(given, &called("trace-format")))
                .transpose()?,
            lenient: self.lenient,
            step: length("step", self.step, defaults.step)?,
            from,
            to,
            rates: self.rates.iter().map(rate).collect::<Result<_>>()?,
            horizon: length("horizon", self.horizon, defaults.horizon)?,
            receiver: self.receiver.map(Path::to_owned),
            tunnels: match self.tunnels {
                Some(given) => tunnels(given, &called("tunnels"))?,
                None => defaults.tunnels,
            },
        })
    }
}

/// A link and its rate, or what is wrong and what to write.
fn rate(given: &str) -> std::result::Result<(String, Rate), (String, Option<&'static str>)> {
    let Some((link, rate)) = given.split_once('=') else {
        let remedy = "write LINK=RATE, such as 0-1=10Mbps";
        return Err(("there is no \"=\" in it".to_owned(), Some(remedy)));
    };
    let parsed: Rate = rate
        .trim()
        .parse()
        .map_err(|error: sojourn_units::UnitError| (error.to_string(), None))?;
    match parsed.is_zero() {
        true => Err(("a rate must be above zero".to_owned(), None)),
        false => Ok((link.trim().to_owned(), parsed)),
    }
}

fn tunnels(given: &str, option: &str) -> Result<Tunnels> {
    let all = Tunnels::ALL;
    let found = all.iter().find(|(name, _)| *name == given);
    found.map(|(_, tunnels)| *tunnels).ok_or_else(|| {
        let names = all.map(|(name, _)| name);
        LabError::new(
            LabErrorKind::UnknownName,
            format!("unknown value {given:?}"),
        )
        .in_file(option)
        .nearest(sojourn_units::nearest(given, names))
        .allowed("values", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_cannot_be_is_told_with_its_option() {
        let rates = |text: &str| vec![text.to_owned()];
        let base = Given::default();
        let (none, fast) = (rates("0-1"), rates("0-1=fast"));
        for (given, what) in [
            (
                Given {
                    step: Some("10"),
                    ..base
                },
                "--step 10",
            ),
            (
                Given {
                    step: Some("0s"),
                    ..base
                },
                "longer than zero",
            ),
            (
                Given {
                    horizon: Some("x"),
                    ..base
                },
                "--horizon x",
            ),
            (
                Given {
                    from: Some("2s"),
                    to: Some("1s"),
                    ..base
                },
                "--to 1s: it must be after --from 2s",
            ),
            (
                Given {
                    rates: &none,
                    ..base
                },
                "LINK=RATE",
            ),
            (
                Given {
                    rates: &fast,
                    ..base
                },
                "--rate 0-1=fast",
            ),
            (
                Given {
                    format: Some("ns"),
                    ..base
                },
                "--trace-format",
            ),
            (
                Given {
                    tunnels: Some("iner"),
                    ..base
                },
                "inner",
            ),
        ] {
            let error = given.options(|name| format!("--{name}")).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
        let read = base.options(str::to_owned).unwrap();
        assert_eq!(read.step, Span::from_secs(1));
    }
}
