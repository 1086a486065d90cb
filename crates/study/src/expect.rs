//! What to expect of each discipline: small runs behind the figures of the reference pages, each beside a DropTail. Of congestion
//! controls: `controls`.

pub mod controls;

use sojourn_queue::registry::{CatalogueEntry, DisciplineKind};
use sojourn_report::{Drawn, Panel, Picture};
use sojourn_results::outcome::{FlowOutcome, RunOutcome};
use sojourn_run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::LabError;
use sojourn_scenario::model::Scenario;

/// A figure of a page: what is run, and what is shown of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The queue.
    pub queue: String,
    /// The scenario, in TOML, without its queue.
    pub scenario: String,
    /// What is shown.
    pub shown: Shown,
    /// What is to be seen, in Markdown.
    pub caption: String,
}

/// What is shown of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// Queue delay, and a quantity of the internal state with its title and its unit, over time.
    Control(&'static str, &'static str, Unit),
    /// Throughput and delay of each flow.
    Sharing,
    /// Throughput over time of each flow; and of those that share one FIFO.
    Throughput,
    /// Queue delay over time, and utilization, of FIFOs of different lengths.
    Buffers,
}

/// How a quantity is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// As it is.
    Plain,
    /// A fraction in percent.
    Percent,
    /// Seconds in milliseconds.
    Milliseconds,
    /// Bits per second in megabits.
    Megabits,
    /// Bytes in thousands.
    Kilobytes,
}

impl Unit {
    fn of(self, value: f64) -> f64 {
        match self {
            Unit::Plain => value,
            Unit::Percent => value * 100.0,
            Unit::Milliseconds => value * 1e3,
            Unit::Megabits => value / 1e6,
            Unit::Kilobytes => value / 1e3,
        }
    }
}

/// What the others are compared with.
const DROPTAIL: &str = "droptail";

/// The lengths of the FIFOs, in packets, on the page of DropTail: three quarters, three times and twelve times what the path holds.
const BUFFERS: [u32; 3] = [25, 100, 400];

/// The figure of a discipline.
pub fn expectation(entry: &CatalogueEntry) -> Expectation {
    let (arguments, shown) = shown(entry);
    let (flows, told) = traffic(entry.name, shown);
    let what = match shown {
        Shown::Control(..) => "Queue delay and internal state",
        Shown::Sharing => "Throughput, and one-way delay that 95 % of the packets do not exceed",
        Shown::Throughput => "Throughput",
        Shown::Buffers => "Queue delay and utilization",
    };
    let against = match shown {
        Shown::Buffers => "for buffers of 25, 100 and 400 packets".to_owned(),
        _ => "compared with a DropTail of 100 packets".to_owned(),
    };
    let flows = match entry.name {
        // It only marks.
        "step" => flows.replace("newreno", "dctcp"),
        _ => flows.to_owned(),
    };
    let topology = match entry.name {
        // Of a millisecond, which a full packet takes at 10 Mbps, its L4S queue can make nothing.
        "dualpi2" => TOPOLOGY.replace("10Mbps", "40Mbps"),
        _ => TOPOLOGY.to_owned(),
    };
    let queue = format!("{} {arguments}", entry.name).trim().to_owned();
    Expectation {
        caption: format!("{told}. {what}, {against}. One run of `{queue}`."),
        queue,
        scenario: format!("{flows}{topology}"),
        shown,
    }
}

/// The arguments of the queue, and what is shown of it.
fn shown(entry: &CatalogueEntry) -> (String, Shown) {
    use Unit::{Megabits, Milliseconds, Percent, Plain};
    let control = |title, quantity, unit| (String::new(), Shown::Control(title, quantity, unit));
    let sharing = |arguments: &str| (arguments.to_owned(), Shown::Sharing);
    let probability = |quantity| control("Drop probability, %", quantity, Percent);
    match entry.name {
        DROPTAIL => (String::new(), Shown::Buffers),
        "codel" | "cobalt" => control("Count", "count", Plain),
        "red" => control("Average queue, packets", "average_packets", Plain),
        "blue" | "pi" | "pie" | "green" => probability("drop_probability"),
        "rem" => control("Price", "price", Plain),
        "avq" => control("Virtual rate, Mbps", "virtual_rate_bps", Megabits),
        "pi2" => control("Base probability, %", "base_probability", Percent),
        "gsp" => control("Interval between drops, ms", "interval_s", Milliseconds),
        "step" => control("Mark probability, %", "mark_probability", Percent),
        "wrr" | "srr" | "wfq" | "qfq" => sharing("weights=4:2:1"),
        "choke" => sharing("min=10p max=30p"),
        "wred" => sharing("min=10p:10p:10p:20p:20p:20p:30p max=20p:20p:20p:30p:30p:30p:40p"),
        "hhf" => sharing("admit_bytes=20kB"),
        "cake" => sharing("bandwidth=9500kbps"),
        "tbf" => ("rate=4Mbps burst=500kB".to_owned(), Shown::Throughput),
        "htb" => (
            "rate=9Mbps classes=5Mbps/9Mbps,3Mbps/9Mbps,1Mbps/3Mbps".to_owned(),
            Shown::Throughput,
        ),
        _ if entry.kind == DisciplineKind::Scheduler => sharing(""),
        // AQMs that look at flows or at services.
        _ => sharing(""),
    }
}

/// The flows, and what is said of them.
fn traffic(name: &str, shown: Shown) -> (&'static str, &'static str) {
    match (name, shown) {
        ("wrr" | "srr" | "wfq" | "qfq", _) => (
            WEIGHTED,
            "Three flows of 6 Mbps each, with weights 4, 2 and 1, and one of 69 kbps whose weight is 1, share 10 Mbps",
        ),
        ("rio", _) => (
            PROFILES,
            "Packets within their profile (IN, 6 Mbps) and beyond it (OUT, 8 Mbps) share 10 Mbps",
        ),
        ("wred", _) => (
            CLASSES,
            "Three classes of 4.5 Mbps each, by their IP precedence, share 10 Mbps; thresholds of each are where those of the class below it end",
        ),
        ("tbf", _) => (
            BURSTS,
            "A flow of 2 Mbps, and from 5 s to 10 s another of 6 Mbps, before a bucket of 4 Mbps and 500 kB",
        ),
        ("htb", _) => (
            BORROWING,
            "Three flows of 8 Mbps each start one after another. Their classes have 5, 3 and 1 Mbps of 9 Mbps and can borrow, the third up to 3 Mbps",
        ),
        ("dualpi2", _) => (
            SCALABLE,
            "Two Prague flows (L4S) and two CUBIC flows (Classic) share 40 Mbps at a base round trip of 40 ms",
        ),
        (_, Shown::Sharing) => (
            MIXED,
            "Two TCP flows, an unresponsive flow of 8 Mbps and a voice-like flow of 69 kbps share 10 Mbps at a base delay of 20 ms",
        ),
        ("step", _) => (
            LOAD,
            "Three DCTCP flows (ten from 10 s to 20 s) share 10 Mbps at a base round trip of 40 ms",
        ),
        _ => (
            LOAD,
            "Three TCP flows (ten from 10 s to 20 s) share 10 Mbps at a base round trip of 40 ms",
        ),
    }
}

impl Expectation {
    /// Runs it.
    ///
    /// # Errors
    /// If a run fails.
    pub fn picture(&self, entry: &CatalogueEntry) -> Result<Picture, LabError> {
        let title = entry.title;
        let panels = match self.shown {
            Shown::Buffers => buffers(&self.scenario)?,
            shown => {
                let droptail = outcome(&self.scenario, DROPTAIL, 100)?;
                let own = outcome(&self.scenario, &self.queue, 100)?;
                match shown {
                    Shown::Control(state, quantity, unit) => vec![
                        over_time(
                            "Queue delay, ms",
                            vec![
                                curve("DropTail", true, &droptail, "sojourn_s", Unit::Milliseconds),
                                curve(title, false, &own, "sojourn_s", Unit::Milliseconds),
                            ],
                        ),
                        over_time(state, vec![curve(title, false, &own, quantity, unit)]),
                    ],
                    Shown::Sharing => vec![
                        by_flow("Throughput, Mbps", title, &droptail, &own, throughput),
                        by_flow("Delay, 95th percentile, ms", title, &droptail, &own, delay),
                    ],
                    _ => vec![
                        over_time("Throughput with DropTail, Mbps", throughputs(&droptail)),
                        over_time(&format!("Throughput with {title}, Mbps"), throughputs(&own)),
                    ],
                }
            }
        };
        Ok(Picture {
            text: format!("{title}: {}", self.caption.replace('`', "")),
            panels,
        })
    }
}

const TOPOLOGY: &str = r#"
[topology]
kind = "dumbbell"
rate = "10Mbps"
rtt = "40ms"
"#;

/// Load that grows and falls.
const LOAD: &str = r#"
[run]
duration = "30s"
warmup = "0s"
[series]
record = "sojourn, state"
step = "150ms"
[[flows]]
kind = "newreno"
count = 3
[[flows]]
kind = "newreno"
label = "more"
count = 7
start = "10s"
stop = "20s"
"#;

const MIXED: &str = r#"
[run]
duration = "24s"
warmup = "4s"
[[flows]]
kind = "newreno"
label = "TCP"
count = 2
[[flows]]
kind = "cbr"
label = "8 Mbps"
rate = "8Mbps"
size = "1000B"
[[flows]]
kind = "cbr"
label = "voice"
size = "172B"
interval = "20ms"
dscp = 46
"#;

const WEIGHTED: &str = r#"
[run]
duration = "14s"
warmup = "4s"
[[flows]]
kind = "poisson"
label = "weight 4"
rate = "6Mbps"
[[flows]]
kind = "poisson"
label = "weight 2"
rate = "6Mbps"
[[flows]]
kind = "poisson"
label = "weight 1"
rate = "6Mbps"
[[flows]]
kind = "cbr"
label = "voice"
size = "172B"
interval = "20ms"
"#;

const PROFILES: &str = r#"
[run]
duration = "24s"
warmup = "4s"
[[flows]]
kind = "poisson"
label = "IN"
rate = "6Mbps"
dscp = 10
[[flows]]
kind = "poisson"
label = "OUT"
rate = "8Mbps"
"#;

const CLASSES: &str = r#"
[run]
duration = "24s"
warmup = "4s"
[[flows]]
kind = "poisson"
label = "precedence 0"
rate = "4.5Mbps"
[[flows]]
kind = "poisson"
label = "precedence 3"
rate = "4.5Mbps"
dscp = 24
[[flows]]
kind = "poisson"
label = "precedence 6"
rate = "4.5Mbps"
dscp = 48
"#;

const SCALABLE: &str = r#"
[run]
duration = "34s"
warmup = "4s"
[[flows]]
kind = "prague"
label = "Prague"
count = 2
[[flows]]
kind = "cubic"
label = "CUBIC"
count = 2
"#;

const BURSTS: &str = r#"
[run]
duration = "15s"
warmup = "0s"
[series]
record = "throughput"
step = "250ms"
[[flows]]
kind = "cbr"
label = "2 Mbps"
rate = "2Mbps"
start = "0s"
[[flows]]
kind = "cbr"
label = "6 Mbps"
rate = "6Mbps"
start = "5s"
stop = "10s"
"#;

const BORROWING: &str = r#"
[run]
duration = "20s"
warmup = "0s"
[series]
record = "throughput"
step = "250ms"
[[flows]]
kind = "poisson"
label = "class 1"
rate = "8Mbps"
start = "10s"
[[flows]]
kind = "poisson"
label = "class 2"
rate = "8Mbps"
start = "5s"
[[flows]]
kind = "poisson"
label = "class 3"
rate = "8Mbps"
start = "0s"
"#;

fn outcome(scenario: &str, queue: &str, packets: u32) -> Result<RunOutcome, LabError> {
    let text = format!("{scenario}buffer = \"{packets}p\"\nqueue = \"{queue}\"\n");
    let document = Document::parse(&text, "expectation.toml")?;
    run::run(&Scenario::from_document(&document)?, 0)
}

/// A quantity of the bottleneck over time.
fn curve(label: &str, reference: bool, run: &RunOutcome, quantity: &str, unit: Unit) -> Drawn {
    let link = run.queues.iter().find(|queue| queue.bottleneck);
    let of = link.map_or("", |link| link.link.as_str());
    curve_of(of, label, reference, run, quantity, unit)
}

/// A quantity of a queue or a flow over time.
fn curve_of(
    of: &str,
    label: &str,
    reference: bool,
    run: &RunOutcome,
    quantity: &str,
    unit: Unit,
) -> Drawn {
    let mut all = run.series.iter();
    let series = all.find(|series| series.quantity == quantity && series.of == of);
    let points = series.map(|series| {
        let times = (0_u64..).map(|n| (series.first + series.step * n).as_secs_f64());
        let points = times.zip(series.values.iter().map(|value| unit.of(*value)));
        points.filter(|(_, value)| value.is_finite()).collect()
    });
    Drawn {
        label: label.to_owned(),
        reference,
        points: points.unwrap_or_default(),
    }
}

fn over_time(title: &str, series: Vec<Drawn>) -> Panel {
    let alone = series.len() == 1;
    let unnamed = |mut drawn: Drawn| {
        if alone {
            drawn.label.clear();
        }
        drawn
    };
    Panel {
        title: title.to_owned(),
        below: "Time, s".to_owned(),
        series: series.into_iter().map(unnamed).collect(),
        groups: Vec::new(),
    }
}

/// The throughput of each flow over time.
fn throughputs(run: &RunOutcome) -> Vec<Drawn> {
    let series = run.series.iter();
    let series = series.filter(|series| series.quantity == "throughput_bps");
    let drawn = series.map(|series| Drawn {
        label: flow_name(run, &series.of),
        reference: false,
        points: (0_u64..)
            .map(|n| (series.first + series.step * n).as_secs_f64())
            .zip(series.values.iter().map(|bps| bps / 1e6))
            .collect(),
    });
    drawn.collect()
}

/// The label of a flow that is the only one with it, else its name.
fn flow_name(run: &RunOutcome, name: &str) -> String {
    let flow = run.flows.iter().find(|flow| flow.name == name);
    let label = flow.map_or(name, |flow| flow.label.as_str());
    let alone = run.flows.iter().filter(|flow| flow.label == label).count() == 1;
    match alone {
        true => label.to_owned(),
        false => name.replace('-', " "),
    }
}

fn by_flow(
    title: &str,
    own_title: &str,
    droptail: &RunOutcome,
    own: &RunOutcome,
    value: fn(&RunOutcome, &FlowOutcome) -> f64,
) -> Panel {
    let bars = |label: &str, reference: bool, run: &RunOutcome| Drawn {
        label: label.to_owned(),
        reference,
        points: run
            .flows
            .iter()
            .map(|flow| (0.0, value(run, flow)))
            .collect(),
    };
    Panel {
        title: title.to_owned(),
        below: String::new(),
        series: vec![
            bars("DropTail", true, droptail),
            bars(own_title, false, own),
        ],
        groups: own
            .flows
            .iter()
            .map(|flow| flow_name(own, &flow.name))
            .collect(),
    }
}

fn throughput(run: &RunOutcome, flow: &FlowOutcome) -> f64 {
    number(flow.delivered_bytes) * 8.0 / run.measured.as_secs_f64() / 1e6
}

fn delay(_: &RunOutcome, flow: &FlowOutcome) -> f64 {
    number(flow.delay.quantile(0.95).unwrap_or(0)) * 1e-9
}

/// FIFOs of different lengths.
fn buffers(scenario: &str) -> Result<Vec<Panel>, LabError> {
    let mut curves = Vec::new();
    let mut used = Vec::new();
    for packets in BUFFERS {
        let run = outcome(scenario, DROPTAIL, packets)?;
        let label = format!("{packets} packets");
        curves.push(curve(&label, false, &run, "sojourn_s", Unit::Milliseconds));
        let link = run.queues.iter().find(|queue| queue.bottleneck);
        used.push(link.map_or(0.0, |link| {
            number(link.sent_bytes) * 800.0 / wide(link.capacity_bits)
        }));
    }
    let bars = Drawn {
        label: String::new(),
        reference: false,
        points: used.into_iter().map(|share| (0.0, share)).collect(),
    };
    let utilization = Panel {
        title: "Utilization, %".to_owned(),
        below: String::new(),
        series: vec![bars],
        groups: BUFFERS.map(|packets| format!("{packets} packets")).to_vec(),
    };
    Ok(vec![over_time("Queue delay, ms", curves), utilization])
}

#[allow(clippy::cast_precision_loss, reason = "a picture needs three digits")]
fn number(value: u64) -> f64 {
    value as f64
}

#[allow(clippy::cast_precision_loss, reason = "a picture needs three digits")]
fn wide(value: u128) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_queue::registry::catalogue;

    #[test]
    fn every_discipline_has_a_figure_with_something_in_it() {
        for entry in catalogue() {
            let picture = expectation(entry).picture(entry);
            let picture = picture.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            for panel in &picture.panels {
                for drawn in &panel.series {
                    let most = drawn.points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
                    assert!(
                        most > 0.0,
                        "{}: {}: {}",
                        entry.name,
                        panel.title,
                        drawn.label
                    );
                }
            }
        }
    }
}
