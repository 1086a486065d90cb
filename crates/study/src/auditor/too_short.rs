//! Rule `too-short`.

use sojourn_cc::CongestionControl;
use sojourn_queue::registry::{CatalogueEntry, Resolved};
use sojourn_units::{Rate, Span};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen};
use super::finding::Finding;
use super::traffic::{control, inside};

pub(super) const ABOUT: About = About {
    title: "The measured time or the warm-up is short for the round trips, or for the time constants of the \
        algorithms that ran",
    reason: "A congestion control changes its rate once per round trip, and its sawtooth takes many. A \
        controller, a moving average or an interval of a queue needs some of its time constants to settle. A \
        flow of BBR looks for its shortest round trip every ten seconds, BBRv3 every five. A mean over less \
        describes the start. The rule asks for 20 base round trips or 10 time constants, and for one period \
        of each congestion control that has one, of measured time. It asks for 5 round trips or 3 time \
        constants of warm-up. The sources give the constants, not how many of them a run needs: these \
        numbers are Sojourn's choice. After 3 time constants 5 % of a start is left (e⁻³), and a mean over \
        10 more contains half a percent of it. In 5 round trips a slow start grows to 32 times its window, \
        and in 20 a control decides 20 times. Each algorithm declares its own time constant; that of PIE, \
        until its probability has changed by 1 %, is Sojourn's definition. `not-steady` looks at whether \
        sawteeth repeated.",
    source: "RFC 8033, section 4.2 (PIE); RFC 8289, section 4.2 (the interval of CoDel); Floyd and Jacobson, \
        \"Random early detection gateways for congestion avoidance\", 1993 (the average queue); Cardwell et \
        al., \"BBR: congestion-based congestion control\", 2016; draft-ietf-ccwg-bbr, section 2.16 (BBRv3).",
    remedy: "Measure for longer.\n\n```toml\n[run]\nduration = \"60s\"\nwarmup = \"10s\"\n```",
    stage: Stage::Scenario,
    former: &["short-run"],
    positive: r#"
flows = ["4*reno"]
[run]
duration = "2s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "pie"]
compare = true
"#,
    negative: r#"
flows = ["4*reno"]
[run]
duration = "8s"
warmup = "2s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
};

/// What should be measured, and what should be left out before: base round trips, and time
/// constants of queues. No source gives these numbers: they are Sojourn's choice.
const ROUND_TRIPS: u64 = 20;
const WARMUP_ROUND_TRIPS: u64 = 5;
const CONSTANTS: u64 = 10;
const WARMUP_CONSTANTS: u64 = 3;

/// A time that a run should have so often.
struct Needed {
    what: String,
    time: Span,
    measured: u64,
    warmup: u64,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = evidence.at_points(Finding::warning, |point| {
        let run = &point.scenario.run;
        let measured = run.duration.saturating_sub(run.warmup());
        let worst = worst(evidence, point, |own| own.measured)?;
        (measured < worst.time.saturating_mul(worst.measured)).then(|| {
            let text = format!(
                "{measured} are measured, and {} is {}: fewer than {} of them.",
                worst.what,
                told(worst.time),
                worst.measured
            );
            concerning(evidence, point, text)
        })
    });
    found.extend(evidence.at_points(Finding::warning, |point| {
        let warmup = point.scenario.run.warmup();
        let worst = worst(evidence, point, |own| own.warmup)?;
        let early = warmup > Span::ZERO && warmup < worst.time.saturating_mul(worst.warmup);
        early.then(|| {
            let text = format!(
                "The warm-up of {warmup} is less than {} times {}, which is {}.",
                worst.warmup,
                worst.what,
                told(worst.time)
            );
            concerning(evidence, point, text)
        })
    }));
    found
}

fn concerning(evidence: &Evidence<'_>, point: &Seen<'_>, text: String) -> Remark {
    let remark = Remark::new(text);
    match evidence.bottleneck(point) {
        Some(link) => remark.on(&link.name),
        None => remark,
    }
}

/// What needs the longest time.
fn worst(evidence: &Evidence<'_>, point: &Seen<'_>, times: fn(&Needed) -> u64) -> Option<Needed> {
    let needed = needed(evidence, point).into_iter();
    needed.max_by_key(|own| own.time.saturating_mul(times(own)))
}

fn needed(evidence: &Evidence<'_>, point: &Seen<'_>) -> Vec<Needed> {
    let mut all = Vec::new();
    let longest = point.compiled.flows.iter().map(|flow| flow.base_rtt).max();
    all.extend(longest.map(|time| Needed {
        what: "the longest base round trip".to_owned(),
        time,
        measured: ROUND_TRIPS,
        warmup: WARMUP_ROUND_TRIPS,
    }));
    for flow in &point.compiled.flows {
        let period = control(point, flow).and_then(CongestionControl::period);
        all.extend(period.map(|(what, time)| Needed {
            what: format!("the time from one {what} of {} to the next", flow.name),
            time,
            measured: 1,
            warmup: 0,
        }));
    }
    if let Some(link) = evidence.bottleneck(point) {
        let packet = packet_time(link.rate);
        let dialect = point.scenario.dialect.as_deref();
        all.extend(of_queue((link.discipline, &link.resolved), dialect, packet));
        for (_, text) in &link.resolved.pairs {
            if let Some((entry, resolved)) = inside(text, dialect) {
                all.extend(of_queue((entry, &resolved), dialect, packet));
            }
        }
    }
    all
}

/// The time constant of a discipline with resolved parameters.
fn of_queue(
    (entry, resolved): (&CatalogueEntry, &Resolved),
    dialect: Option<&str>,
    packet: Span,
) -> Option<Needed> {
    let mut pairs: Vec<(String, String)> = resolved
        .pairs
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.clone()))
        .collect();
    if !entry.dialects.is_empty() {
        pairs.push(("dialect".to_owned(), resolved.release.to_owned()));
    }
    let own = entry.time_constant(dialect, &pairs, packet)?;
    Some(Needed {
        what: format!("the {} of {}", own.what, entry.title),
        time: own.time,
        measured: CONSTANTS,
        warmup: WARMUP_CONSTANTS,
    })
}

/// How long a full packet takes.
fn packet_time(rate: Rate) -> Span {
    const FULL_PACKET_BITS: f64 = 12_000.0;
    Span::round_from_secs(FULL_PACKET_BITS / rate.as_bps_f64())
}

/// A time with three digits, which is all that a time constant is good for.
fn told(time: Span) -> Span {
    Span::round_from_secs(significant_seconds(time))
}

fn significant_seconds(time: Span) -> f64 {
    let text = format!("{:.2e}", time.as_secs_f64());
    text.parse().unwrap_or(time.as_secs_f64())
}
