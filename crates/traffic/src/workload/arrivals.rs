//! When transfers arrive.

use super::sizes::{Sizes, unknown, unread};
use crate::entry::wrong;
use crate::num::real;
use crate::points;
use sojourn_sim::Stream;
use sojourn_units::{ParamError, Params, Rate, Span, Spec, UnitErrorKind, params};

params! {
    /// Independent of each other: exponential times between arrivals.
    pub struct PoissonParams {}
}

params! {
    /// Equal times between arrivals.
    pub struct DeterministicParams {}
}

params! {
    /// As a list says: times in seconds from the start of the flow, with sizes in bytes.
    pub struct TraceParams {
        /// Times with sizes, such as `0:15000,0.25:1000`.
        points: String = "", source "required, here or in a file";
        /// File with a time and a size on each line, in the folder of the scenario; read into `points`.
        file: String = "", source "points";
    }
}

/// Every arrival process.
pub const PROCESSES: &[super::sizes::Distribution] = &[
    super::sizes::Distribution {
        name: "poisson",
        doc: PoissonParams::DOC,
        params: PoissonParams::TABLE,
    },
    super::sizes::Distribution {
        name: "deterministic",
        doc: DeterministicParams::DOC,
        params: DeterministicParams::TABLE,
    },
    super::sizes::Distribution {
        name: "trace",
        doc: TraceParams::DOC,
        params: TraceParams::TABLE,
    },
];

/// When transfers arrive, and how large they are.
#[derive(Clone, PartialEq, Debug)]
pub enum Arrivals {
    /// At random, with a mean time between them in seconds.
    Poisson(f64, Sizes),
    /// At a fixed distance in seconds.
    Deterministic(f64, Sizes),
    /// From a list of times and sizes, with the number of those that are over.
    Trace(Vec<(Span, u64)>, usize),
}

/// The parameters of a process beside its name.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// Mean time between arrivals, if that is given.
    pub interval: Option<Span>,
    /// Share of `capacity` that is offered, if that is given.
    pub load: Option<f64>,
    /// Rate of the slowest link of the path.
    pub capacity: Rate,
    /// Flows of the entry that offer it together.
    pub shares: u64,
}

impl Arrivals {
    /// The process that a specification names.
    ///
    /// # Errors
    /// If there is none of that name, how often is not said or said twice, or a parameter cannot be.
    pub fn of(
        spec: &Spec,
        sizes: Option<Sizes>,
        offered: &Offered,
    ) -> Result<Arrivals, ParamError> {
        let pairs = spec.pairs();
        let inside = |error: ParamError| error.within("arrivals");
        let make: fn(f64, Sizes) -> Arrivals = match spec.name.as_str() {
            "poisson" => {
                let _: PoissonParams = sojourn_units::build(None, &pairs).map_err(inside)?;
                Arrivals::Poisson
            }
            "deterministic" => {
                let _: DeterministicParams = sojourn_units::build(None, &pairs).map_err(inside)?;
                Arrivals::Deterministic
            }
            "trace" => {
                let params: TraceParams = sojourn_units::build(None, &pairs).map_err(inside)?;
                if !params.file.is_empty() {
                    return Err(inside(unread(&params.file)));
                }
                refuse_beside_trace(sizes.is_some(), offered)?;
                let points = points(&params.points).map_err(inside)?;
                return Ok(Arrivals::Trace(points, 0));
            }
            other => {
                let names = PROCESSES.iter().map(|process| process.name);
                return Err(unknown("arrivals", other, "an arrival process", names));
            }
        };
        let Some(sizes) = sizes else {
            return Err(wrong(
                "sizes",
                UnitErrorKind::Malformed,
                "none",
                "a distribution of sizes",
                "say how large the flows are, such as sizes=web_search or sizes=(exponential mean=50kB)",
            ));
        };
        Ok(make(offered.mean_gap(&sizes)?, sizes))
    }

    /// How many arrive within this time of the start, on average.
    pub(crate) fn expected(&self, within: Span) -> f64 {
        match self {
            Arrivals::Poisson(mean, _) | Arrivals::Deterministic(mean, _) => {
                within.as_secs_f64() / mean
            }
            Arrivals::Trace(points, _) => {
                let early = points.iter().take_while(|(at, _)| *at <= within);
                real(u64::try_from(early.count()).unwrap_or(u64::MAX))
            }
        }
    }

    /// The time until the next arrival, from the last one or the start, and its size; `None` when the list is over.
    pub fn next(&mut self, rng: &mut Stream) -> Option<(Span, u64)> {
        match self {
            Arrivals::Poisson(mean, sizes) => {
                let gap = Span::round_from_secs(rng.exponential(*mean));
                Some((gap, sizes.draw(rng)))
            }
            Arrivals::Deterministic(gap, sizes) => {
                Some((Span::round_from_secs(*gap), sizes.draw(rng)))
            }
            Arrivals::Trace(points, over) => {
                let (at, bytes) = *points.get(*over)?;
                let last = over
                    .checked_sub(1)
                    .map_or(Span::ZERO, |last| points[last].0);
                *over += 1;
                Some((at.saturating_sub(last), bytes))
            }
        }
    }
}

impl Offered {
    /// The mean time between arrivals of transfers of these sizes, in seconds.
    fn mean_gap(&self, sizes: &Sizes) -> Result<f64, ParamError> {
        match (self.interval, self.load) {
            (Some(interval), None) => Ok(interval.as_secs_f64()),
            (None, Some(load)) if load > 0.0 => {
                let rate = load * real(self.capacity.as_bps()) / real(self.shares.max(1));
                Ok(8.0 * sizes.drawn_mean() / rate)
            }
            (None, Some(load)) => Err(wrong(
                "load",
                UnitErrorKind::Malformed,
                &load.to_string(),
                "a load above zero",
                "write such as load=60%",
            )),
            (Some(_), Some(load)) => Err(wrong(
                "load",
                UnitErrorKind::UnknownChoice,
                &load.to_string(),
                "allowed beside interval",
                "keep one of them",
            )),
            (None, None) => Err(wrong(
                "load",
                UnitErrorKind::Malformed,
                "none",
                "an offered load",
                "say how often flows arrive, such as load=60% or interval=10ms",
            )),
        }
    }
}

/// Refuses what a trace says itself.
fn refuse_beside_trace(sizes: bool, offered: &Offered) -> Result<(), ParamError> {
    let given = [
        ("sizes", sizes.then(|| "given".to_owned())),
        ("interval", offered.interval.map(|s| s.to_string())),
        ("load", offered.load.map(|load| load.to_string())),
    ];
    let first = given.into_iter().find_map(|(key, text)| Some((key, text?)));
    match first {
        None => Ok(()),
        Some((key, text)) => Err(wrong(
            key,
            UnitErrorKind::UnknownChoice,
            &text,
            "allowed beside a trace, which says when and how large",
            "leave it out",
        )),
    }
}

/// Arrivals from their text: times, from the first on, with sizes.
fn points(text: &str) -> Result<Vec<(Span, u64)>, ParamError> {
    let remedy = "write seconds that do not go back, with whole bytes, such as 0:15000,0.25:1000";
    let pairs = points::pairs(text, "a time with a size", remedy, |at, bytes| {
        let (at, bytes): (f64, u64) = (at.parse().ok()?, bytes.parse().ok()?);
        ((0.0..1e6).contains(&at) && bytes > 0).then(|| (Span::round_from_secs(at), bytes))
    })?;
    if pairs.is_empty() {
        return Err(points::refused(text, "a list of arrivals", remedy));
    }
    if let Some(pair) = pairs.windows(2).find(|pair| pair[1].0.0 < pair[0].0.0) {
        let expected = "a time that is not before the last one";
        return Err(points::refused(pair[1].1, expected, remedy));
    }
    Ok(pairs.into_iter().map(|(point, _)| point).collect())
}

/// The `points` of a file: a time in seconds and a size in bytes on each line. Lines that begin with `#` are comments.
///
/// # Errors
/// With the number and text of a line that is none of these.
pub fn points_of_file(text: &str) -> Result<String, String> {
    points::of_lines(text, "a time and a size", |words| match words {
        [at, bytes] if at.parse::<f64>().is_ok() && bytes.parse::<u64>().is_ok() => {
            Some(format!("{at}:{bytes}"))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: Offered = Offered {
        interval: None,
        load: Some(0.5),
        capacity: Rate::mbps(8),
        shares: 1,
    };

    fn arrivals(spec: &str, sizes: Option<&str>, offered: Offered) -> Result<Arrivals, String> {
        let sizes = sizes.map(|text| Sizes::of("sizes", &text.parse().unwrap()).unwrap());
        Arrivals::of(&spec.parse().unwrap(), sizes, &offered).map_err(|error| error.to_string())
    }

    #[test]
    fn the_load_decides_how_often_and_flows_share_it() {
        // 10 kB are 80 kbit: half of 8 Mbps is 50 of them a second.
        let sizes = Some("fixed bytes=10kB");
        let mut rng = Stream::derive(1, 0, "arrivals");
        let mut even = arrivals("deterministic", sizes, OFFERED).unwrap();
        assert_eq!(even.next(&mut rng), Some((Span::from_ms(20), 10_000)));
        let shared = Offered {
            shares: 4,
            ..OFFERED
        };
        let mut even = arrivals("deterministic", sizes, shared).unwrap();
        assert_eq!(even.next(&mut rng), Some((Span::from_ms(80), 10_000)));
        let mut random = arrivals("poisson", sizes, OFFERED).unwrap();
        let gaps: Vec<f64> = (0..100_000)
            .filter_map(|_| Some(random.next(&mut rng)?.0.as_secs_f64()))
            .collect();
        let mean = gaps.iter().sum::<f64>() / 1e5;
        let square = gaps.iter().map(|g| g * g).sum::<f64>() / 1e5;
        assert!((mean / 0.02 - 1.0).abs() < 0.01, "{mean}");
        assert!((square / (mean * mean) - 2.0).abs() < 0.05, "{square}");
    }

    #[test]
    fn a_trace_is_followed_to_its_end() {
        let none = Offered {
            load: None,
            ..OFFERED
        };
        let mut list = arrivals("trace points=\"0.5:100,0.5:200,2:300\"", None, none).unwrap();
        let mut rng = Stream::derive(1, 0, "arrivals");
        let all: Vec<_> = std::iter::from_fn(|| list.next(&mut rng)).collect();
        let ms = Span::from_ms;
        assert_eq!(all, [(ms(500), 100), (ms(0), 200), (ms(1500), 300)]);
        assert_eq!(
            points_of_file("# s bytes\n0.5 100\n2,300\n").unwrap(),
            "0.5:100,2:300"
        );
    }

    #[test]
    fn what_is_not_said_or_said_twice_is_refused() {
        let sizes = Some("fixed");
        let with = |interval, load| Offered {
            interval,
            load,
            ..OFFERED
        };
        let ms = Some(Span::from_ms(1));
        let error = |spec, sizes, offered| arrivals(spec, sizes, offered).unwrap_err();
        assert!(error("poison", sizes, OFFERED).contains("did you mean \"poisson\"?"));
        assert!(error("poisson", sizes, with(None, None)).contains("load=60%"));
        assert!(error("poisson", sizes, with(ms, Some(0.5))).contains("keep one of them"));
        assert!(error("poisson", None, OFFERED).contains("sizes=web_search"));
        assert!(error("poisson", sizes, with(None, Some(0.0))).contains("above zero"));
        let trace = "trace points=\"0:1\"";
        assert!(error(trace, None, OFFERED).contains("leave it out"));
        let back = "trace points=\"1:1,0:1\"";
        assert!(error(back, None, with(None, None)).contains("not before"));
    }
}
