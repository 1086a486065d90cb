//! Trajectories: window, threshold and round trip of single flows of Linux 6.1, sampled every 100 ms, and the same flows here.
//!
//! `data/trajectories.csv.gz` holds what TCP_INFO said of one flow through each discipline (10 Mbps, base round trip 20 ms, 40 s, beside an echo
//! of 98 bytes every 50 ms). Two runs that share every rule and differ in a microsecond part one day, so that what is asked is when they
//! do first, in what, and how much of the time they are together.

use super::cell::scenario_of;
use sojourn_report::{Drawn, Panel, Picture};
use sojourn_results::outcome::RunOutcome;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_units::{Spec, Time};
use std::fmt;

/// What the kernel told: row, queue, control, ECN, window and threshold in segments, smoothed round trip in microseconds.
const TRAJECTORIES: &[u8] = include_bytes!("../../data/trajectories.csv.gz");

/// Time between samples.
const STEP_S: f64 = 0.1;
/// Payload of a full segment.
const SEGMENT: f64 = 1448.0;

/// Together is what is within a tenth, or within two segments or two milliseconds.
const PART: f64 = 0.1;
const LEAST: f64 = 2.0;
/// Samples in a row that are apart where trajectories part: one alone may be a moment in a recovery.
const IN_A_ROW: usize = 2;

/// A flow at a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow start threshold, segments; none while it is unknown.
    pub ssthresh: Option<f64>,
    /// Smoothed round-trip time, milliseconds.
    pub rtt_ms: f64,
}

/// One flow of Linux's.
#[derive(Clone, PartialEq, Debug)]
pub struct Trajectory {
    /// Name of the row: discipline and congestion control.
    pub row: String,
    /// The queue, in dialect linux.
    pub queue: Spec,
    /// The congestion control.
    pub control: String,
    /// ECN is on.
    pub ecn: bool,
    /// What it did, from 0.1 s on.
    pub theirs: Vec<Sample>,
}

/// The same flow, run here too.
#[derive(Clone, PartialEq, Debug)]
pub struct Followed {
    /// Linux's.
    pub trajectory: Trajectory,
    /// Ours, at the same times.
    pub ours: Vec<Sample>,
}

/// Where two trajectories part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Divergence {
    /// Seconds since the flow began.
    pub at_s: f64,
    /// In what: window, threshold or round trip.
    pub what: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Linux's, and ours; none where there is no threshold yet.
    pub theirs: Option<f64>,
    /// Ours.
    pub ours: Option<f64>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |value: Option<f64>| value.map_or("none".to_owned(), |v| format!("{v:.1}"));
        write!(
            f,
            "{} at {:.1} s: Linux {}, here {} {}",
            self.what,
            self.at_s,
            value(self.theirs),
            value(self.ours),
            self.unit
        )
    }
}

impl Trajectory {
    /// The name of its figure.
    pub fn file(&self) -> String {
        format!("{}.svg", self.row.replace(' ', "-"))
    }
}

/// Every trajectory there is.
///
/// # Errors
/// If the data cannot be read.
pub fn trajectories() -> Result<Vec<Trajectory>, LabError> {
    let bad =
        |problem: String| LabError::new(LabErrorKind::Bug, problem).in_file("trajectories.csv.gz");
    let mut reader = csv::Reader::from_reader(flate2::read::GzDecoder::new(TRAJECTORIES));
    let mut all: Vec<Trajectory> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| bad(error.to_string()))?;
        let cells: Vec<&str> = record.iter().collect();
        let [row, queue, control, ecn, cwnd, ssthresh, rtt] = cells.as_slice() else {
            return Err(bad(format!("not seven cells: {record:?}")));
        };
        let parsed = |text: &str| text.parse::<f64>().map_err(|e| bad(format!("{text}: {e}")));
        if all.last().is_none_or(|last| last.row != *row) {
            all.push(Trajectory {
                row: (*row).to_owned(),
                queue: queue
                    .parse()
                    .map_err(|e: sojourn_units::SpecError| bad(e.to_string()))?,
                control: (*control).to_owned(),
                ecn: *ecn == "true",
                theirs: Vec::new(),
            });
        }
        let sample = Sample {
            cwnd: parsed(cwnd)?,
            ssthresh: match *ssthresh {
                "" => None,
                text => Some(parsed(text)?),
            },
            rtt_ms: parsed(rtt)? / 1e3,
        };
        if let Some(last) = all.last_mut() {
            last.theirs.push(sample);
        }
    }
    Ok(all)
}

/// Runs the flow of a trajectory here.
///
/// # Errors
/// If it cannot be run.
pub fn follow(trajectory: &Trajectory) -> Result<Followed, LabError> {
    let Trajectory {
        row,
        queue,
        control,
        ecn,
        theirs,
    } = trajectory;
    // The kernel's bottleneck delivers a packet when its transmission begins; here the propagation delay is shorter by that.
    let text = format!(
        "name = {row:?}\ndialect = \"linux\"\n[run]\nduration = \"40.05s\"\nwarmup = \"0s\"\nreplications = 1\n\
         [topology]\nkind = \"graph\"\n\
         [[links]]\nfrom = \"a\"\nto = \"r\"\nrate = \"100Gbps\"\ndelay = \"9.3944ms\"\n\
         queue = \"droptail dialect=linux limit=100000p\"\nobserved = false\n\
         [[links]]\nfrom = \"r\"\nto = \"b\"\nrate = \"10Mbps\"\nreverse_rate = \"100Gbps\"\ndelay = \"0s\"\nqueue = {:?}\n\
         reverse_queue = \"droptail dialect=linux limit=100000p\"\n\
         [[flows]]\nspec = \"tcp recovery=sack cc={control} headers=66B ecn={ecn}\"\nlabel = \"tcp\"\nfrom = \"a\"\nto = \"b\"\nstart = \"0s\"\n\
         [[flows]]\nspec = \"cbr rate=15680bps size=98B headers=0B\"\nlabel = \"echo\"\nfrom = \"a\"\nto = \"b\"\nstart = \"13.7ms\"\n\
         [series]\nstep = \"100ms\"\nrecord = \"cwnd,rtt\"\n",
        queue.to_string(),
    );
    let outcome = sojourn_run::run::run(&scenario_of(&text, row, 1)?, 0)?;
    let ours = (1..=theirs.len())
        .map(|n| {
            let at = Time::ZERO + sojourn_units::Span::from_ms(100) * u64::try_from(n).unwrap_or(0);
            let value = |quantity: &str| value_at(&outcome, quantity, at);
            Sample {
                cwnd: value("cwnd_bytes").unwrap_or(f64::NAN) / SEGMENT,
                ssthresh: value("ssthresh_bytes").map(|bytes| bytes / SEGMENT),
                rtt_ms: value("srtt_s").unwrap_or(f64::NAN) * 1e3,
            }
        })
        .collect();
    Ok(Followed {
        trajectory: trajectory.clone(),
        ours,
    })
}

/// Rows whose figures stand in `docs/validation.md`.
const SHOWN: [&str; 4] = ["bfifo1 cubic", "bfifo5 reno", "codel cubic", "codel bbr"];

/// The figures of the page on validation: file in `docs`, and SVG.
///
/// # Errors
/// If a run fails.
pub fn figures() -> Result<Vec<(String, String)>, LabError> {
    let all = trajectories()?;
    let shown = all.iter().filter(|t| SHOWN.contains(&t.row.as_str()));
    shown
        .map(|trajectory| {
            let picture = follow(trajectory)?.picture();
            let name = format!("images/validation/{}", trajectory.file());
            Ok((name, sojourn_report::svg(&picture)))
        })
        .collect()
}

/// A quantity of the flow at a time; none where there is no sample.
fn value_at(outcome: &RunOutcome, quantity: &str, at: Time) -> Option<f64> {
    let series = outcome.series.iter().find(|s| s.quantity == quantity)?;
    let index = at.checked_since(series.first)?.as_ps() / series.step.as_ps();
    let value = series.values.get(usize::try_from(index).ok()?)?;
    value.is_finite().then_some(*value)
}

/// Whether two figures are together.
fn together(theirs: Option<f64>, ours: Option<f64>) -> bool {
    match (theirs, ours) {
        (Some(theirs), Some(ours)) => (theirs - ours).abs() <= (PART * theirs.abs()).max(LEAST),
        (None, None) => true,
        _ => false,
    }
}

impl Followed {
    /// The three quantities of a sample: name, unit, Linux's and ours.
    fn quantities(&self, index: usize) -> [Divergence; 3] {
        let (theirs, ours) = (self.trajectory.theirs[index], self.ours[index]);
        let at_s = STEP_S * number(index + 1);
        let of = |what, unit, theirs, ours| Divergence {
            at_s,
            what,
            unit,
            theirs,
            ours,
        };
        [
            of("window", "segments", Some(theirs.cwnd), Some(ours.cwnd)),
            match self.trajectory.control.as_str() {
                // Linux's BBR puts the target of its drain there, and asks nobody for it.
                "bbr" => of("threshold", "segments", None, None),
                _ => of("threshold", "segments", theirs.ssthresh, ours.ssthresh),
            },
            of("round trip", "ms", Some(theirs.rtt_ms), Some(ours.rtt_ms)),
        ]
    }

    /// The first quantity that is apart in the first of two samples in a row which are; none where they stay together.
    pub fn divergence(&self) -> Option<Divergence> {
        let apart = |index: usize| {
            let all = self.quantities(index);
            all.into_iter().find(|q| !together(q.theirs, q.ours))
        };
        (0..self.ours.len().saturating_sub(IN_A_ROW - 1))
            .find(|&index| (index..index + IN_A_ROW).all(|i| apart(i).is_some()))
            .and_then(apart)
    }

    /// The part of the samples in which window and round trip are together.
    pub fn share_together(&self) -> f64 {
        let count = (0..self.ours.len())
            .filter(|&index| {
                let [window, _, rtt] = self.quantities(index);
                together(window.theirs, window.ours) && together(rtt.theirs, rtt.ours)
            })
            .count();
        number(count) / number(self.ours.len().max(1))
    }

    /// Both, one over the other: window with threshold, and round trip.
    pub fn picture(&self) -> Picture {
        let line = |label: &str,
                    reference: bool,
                    samples: &[Sample],
                    of: &dyn Fn(&Sample) -> Option<f64>| Drawn {
            label: label.to_owned(),
            reference,
            points: samples
                .iter()
                .enumerate()
                .filter_map(|(index, sample)| Some((STEP_S * number(index + 1), of(sample)?)))
                .collect(),
        };
        let panel = |title: &str, of: &dyn Fn(&Sample) -> Option<f64>| Panel {
            title: title.to_owned(),
            below: "time, s".to_owned(),
            series: vec![
                line("Linux 6.1", true, &self.trajectory.theirs, of),
                line("Sojourn", false, &self.ours, of),
            ],
            groups: Vec::new(),
        };
        Picture {
            text: format!(
                "{}: window, threshold and round trip of one flow of Linux 6.1 and here",
                self.trajectory.row
            ),
            panels: vec![
                panel("Window, segments", &|s| Some(s.cwnd)),
                panel("Threshold, segments", &|s| s.ssthresh),
                panel("Smoothed round trip, ms", &|s| Some(s.rtt_ms)),
            ],
        }
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(theirs: &[f64], ours: &[f64]) -> Followed {
        let samples = |cwnds: &[f64]| -> Vec<Sample> {
            let sample = |&cwnd| Sample {
                cwnd,
                ssthresh: None,
                rtt_ms: 20.0,
            };
            cwnds.iter().map(sample).collect()
        };
        Followed {
            trajectory: Trajectory {
                row: "codel reno".to_owned(),
                queue: Spec::new("codel"),
                control: "reno".to_owned(),
                ecn: false,
                theirs: samples(theirs),
            },
            ours: samples(ours),
        }
    }

    #[test]
    fn trajectories_part_where_two_samples_in_a_row_are_apart() {
        let one = followed(&[10.0, 20.0, 40.0, 50.0], &[10.0, 30.0, 41.0, 52.0]);
        assert_eq!(one.divergence(), None);
        assert_eq!(one.share_together(), 0.75);
        let two = followed(&[10.0, 20.0, 40.0, 50.0], &[10.0, 22.0, 46.0, 60.0]);
        let at = two.divergence().expect("they part");
        assert_eq!(
            at.to_string(),
            "window at 0.3 s: Linux 40.0, here 46.0 segments"
        );
    }

    #[test]
    fn a_threshold_that_only_one_has_is_apart() {
        assert!(!together(None, Some(10.0)));
        assert!(together(None, None));
        assert!(together(Some(10.0), Some(12.0)) && !together(Some(10.0), Some(12.1)));
    }

    #[test]
    fn every_trajectory_lasts_forty_seconds_and_can_be_followed() {
        let all = trajectories().expect("the data");
        assert!(all.len() >= 16);
        assert!(all.iter().all(|trajectory| trajectory.theirs.len() == 400));
        let followed = follow(&all[0]).expect("it runs");
        assert!(followed.ours.iter().all(|sample| sample.cwnd >= 1.0));
        // The handshake and the first round trips are the same.
        assert!(followed.divergence().is_none_or(|at| at.at_s > STEP_S));
    }
}
