//! What to expect of each congestion control: two flows of it, one after the other, at one bottleneck.

use super::{DROPTAIL, Unit, curve, curve_of, outcome, over_time};
use sojourn_report::{Drawn, Picture};
use sojourn_results::outcome::RunOutcome;
use sojourn_scenario::error::LabError;

/// What others are compared with.
const RENO: &str = "reno";

/// A figure of a page: what is run, and what is to be seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlExpectation {
    title: &'static str,
    name: &'static str,
    is_media: bool,
    queue: &'static str,
    /// What is to be seen, in Markdown.
    pub caption: String,
}

/// The figure of a congestion control, of media or of a transport.
pub fn control_expectation(
    name: &'static str,
    title: &'static str,
    is_media: bool,
) -> ControlExpectation {
    let queue = match name {
        "dctcp" => "step",
        "prague" => "dualpi2",
        _ => DROPTAIL,
    };
    let shares = match is_media {
        true => {
            "Two video calls, the second from 30 s on, share 2.5 Mbps at a base round trip of 100 ms and a buffer of 100 packets"
                .to_owned()
        }
        false => format!(
            "Two flows, the second from 20 s on, share {} Mbps at a base round trip of 40 ms and a buffer of 100 packets",
            megabits(name)
        ),
    };
    let seen = match (is_media, name) {
        (true, _) => "Rates and queue delay",
        (false, RENO) => "Congestion windows and queue delay",
        (false, _) => {
            "Congestion windows, and queue delay compared with that of two Reno flows through a DropTail"
        }
    };
    ControlExpectation {
        title,
        name,
        is_media,
        queue,
        caption: format!("{shares}. {seen}. One run of `{name}` through `{queue}`."),
    }
}

impl ControlExpectation {
    /// Runs it.
    ///
    /// # Errors
    /// If a run fails.
    pub fn picture(&self) -> Result<Picture, LabError> {
        let panels = match self.is_media {
            true => {
                let own = outcome(&calls(self.name), self.queue, 100)?;
                vec![
                    over_time("Rate, Mbps", flows(&own, "throughput_bps", Unit::Megabits)),
                    over_time("Queue delay, ms", vec![delay(self.title, false, &own)]),
                ]
            }
            false => {
                let own = outcome(&transfers(self.name, self.name), self.queue, 100)?;
                let mut delays = vec![delay(self.title, false, &own)];
                if self.name != RENO {
                    let reno = outcome(&transfers(RENO, self.name), DROPTAIL, 100)?;
                    delays.insert(0, delay("Reno", true, &reno));
                }
                vec![
                    over_time(
                        "Congestion window, kB",
                        flows(&own, "cwnd_bytes", Unit::Kilobytes),
                    ),
                    over_time("Queue delay, ms", delays),
                ]
            }
        };
        Ok(Picture {
            text: format!("{}: {}", self.title, self.caption.replace('`', "")),
            panels,
        })
    }
}

fn delay(label: &str, reference: bool, run: &RunOutcome) -> Drawn {
    curve(label, reference, run, "sojourn_s", Unit::Milliseconds)
}

/// A quantity of both flows.
fn flows(run: &RunOutcome, quantity: &str, unit: Unit) -> Vec<Drawn> {
    let both = run.flows.iter();
    let both = both.map(|flow| curve_of(&flow.name, &flow.label, false, run, quantity, unit));
    both.collect()
}

/// The rate of the bottleneck on the page of a control.
fn megabits(name: &str) -> u32 {
    match name {
        // Of a millisecond, which a full packet takes at 10 Mbps, its queue can make nothing.
        "prague" => 40,
        _ => 10,
    }
}

/// Two flows of a kind, at the bottleneck of the page of a control.
fn transfers(kind: &str, page: &str) -> String {
    let rate = megabits(page);
    format!(
        r#"
[run]
duration = "60s"
warmup = "0s"
[series]
record = "sojourn, cwnd"
step = "200ms"
[[flows]]
kind = "{kind}"
label = "first"
start = "0s"
[[flows]]
kind = "{kind}"
label = "second"
start = "20s"
[topology]
kind = "dumbbell"
rate = "{rate}Mbps"
rtt = "40ms"
"#
    )
}

fn calls(control: &str) -> String {
    format!(
        r#"
[run]
duration = "90s"
warmup = "0s"
[series]
record = "sojourn, throughput"
step = "500ms"
[[flows]]
kind = "rtp"
dialect = "avpf"
label = "first"
source = "(video)"
control = "{control}"
picture_loss = true
start = "0s"
[[flows]]
kind = "rtp"
dialect = "avpf"
label = "second"
source = "(video)"
control = "{control}"
picture_loss = true
start = "30s"
[topology]
kind = "dumbbell"
rate = "2.5Mbps"
rtt = "100ms"
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_has_a_figure_with_both_flows_and_their_delay_in_it() {
        let transports = sojourn_cc::ALGORITHMS.iter();
        let transports = transports.map(|a| control_expectation(a.name, a.title(), false));
        let media = sojourn_cc::media::MEDIA_ALGORITHMS.iter();
        let media = media.map(|a| control_expectation(a.name, a.title(), true));
        for expectation in transports.chain(media) {
            let name = expectation.name;
            let picture = expectation.picture();
            let picture = picture.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(picture.panels[0].series.len(), 2, "{name}");
            for panel in &picture.panels {
                for drawn in &panel.series {
                    let most = drawn.points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
                    assert!(most > 0.0, "{name}: {}: {}", panel.title, drawn.label);
                }
            }
        }
    }
}
