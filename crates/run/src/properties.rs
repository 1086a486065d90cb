//! What holds for every congestion control over a path, and for every queue in a network, inside Sojourn or outside.
//!
//! A property is a function of a [`Setting`]: it says what was seen against what is required. The functions for tests panic where it does
//! not hold. A control is given as the specification of a flow: `cubic beta=0.6`.
//!
//! Of the feature `testing`.

mod setting;

pub use setting::Setting;

use crate::run::run_resolved;
use sojourn_results::outcome::{FlowOutcome, RunOutcome};
use sojourn_scenario::{LabError, Resolved};
use sojourn_units::property::Breach;

/// Makes one run of a scenario.
pub type Runner<'a> = dyn Fn(&Resolved) -> Result<RunOutcome, LabError> + 'a;

/// Why a property could not be shown to hold.
#[derive(Debug)]
pub enum Fault {
    /// It does not hold.
    Breach(Breach),
    /// A run could not be made.
    Error(LabError),
}

impl From<LabError> for Fault {
    fn from(error: LabError) -> Fault {
        Fault::Error(error)
    }
}

impl From<Breach> for Fault {
    fn from(breach: Breach) -> Fault {
        Fault::Breach(breach)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Breach(breach) => breach.fmt(f),
            Fault::Error(error) => error.fmt(f),
        }
    }
}

/// Whether a property holds.
pub type Judged = Result<(), Fault>;

/// A property of a setting.
pub type Property = fn(&Setting, &Runner<'_>) -> Judged;

fn only(outcome: &RunOutcome) -> &FlowOutcome {
    outcome.flows.first().expect("a flow")
}

/// The controls of Sojourn that need not answer losses, each with the reason.
pub const NEED_NOT_ANSWER: [(&str, &str); 6] = [
    ("bbr", "it follows a model of the path"),
    ("bbr3", "it follows a model of the path"),
    ("copa", "it follows delays"),
    ("westwood", "it follows the measured rate"),
    ("illinois", "it takes larger steps where delays are short"),
    ("bic", "it takes larger steps after losses"),
];

/// The controls of Sojourn that need not share with themselves, each with the reason.
pub const NEED_NOT_SHARE: [(&str, &str); 1] = [(
    "ledbat",
    "one that starts late takes the queue of the others for the path's, as its papers say",
)];

/// A flow alone uses 85 % of the path at least. The queue of [`Setting::path`] holds three times what fills it.
///
/// # Errors
/// Where it uses less, and where the run fails.
pub fn fills_the_path(setting: &Setting, run: &Runner<'_>) -> Judged {
    let outcome = run(&setting.resolved(false)?)?;
    let goodput = only(&outcome).goodput_bytes;
    let least = setting.capacity_bytes() / 100 * 85;
    Ok(Breach::unless(goodput > least, || {
        Breach::new(
            format!("{goodput} bytes arrive while it is measured"),
            format!("more than {least}, 85 % of what the link carries then"),
        )
    })?)
}

/// Every byte of a transfer arrives, once, whatever is lost, doubled and late on the way.
///
/// # Errors
/// Where one does not, and where the run fails.
pub fn transfer_completes(setting: &Setting, run: &Runner<'_>) -> Judged {
    let outcome = run(&setting.resolved(false)?)?;
    let flow = only(&outcome);
    let bytes = setting.bytes.unwrap_or(0);
    let ends = flow.completed.is_some();
    Ok(Breach::unless(ends && flow.goodput_bytes == bytes, || {
        let (got, length) = (flow.goodput_bytes, setting.duration());
        let acknowledged = if ends {
            ""
        } else {
            ", and the transfer does not end"
        };
        Breach::new(
            format!("{got} of {bytes} bytes arrive within {length}{acknowledged}"),
            format!("{bytes} bytes arrive, and the transfer ends"),
        )
    })?)
}

/// Lazy links, which replay departures when somebody looks, give what eager ones give, which make each an event.
///
/// # Errors
/// Where they do not, and where a run fails.
pub fn lazy_links_equal_eager_ones(setting: &Setting, run: &Runner<'_>) -> Judged {
    let lazy = run(&setting.resolved(false)?)?;
    let eager = run(&setting.resolved(true)?)?;
    // Eager links count more events.
    differs(&lazy, &eager, "with eager links")
}

/// The same scenario and seed give the same run twice.
///
/// # Errors
/// Where they do not, and where a run fails.
pub fn the_same_run_twice(setting: &Setting, run: &Runner<'_>) -> Judged {
    let resolved = setting.resolved(false)?;
    let (first, second) = (run(&resolved)?, run(&resolved)?);
    differs(&first, &second, "the second time")?;
    Ok(Breach::unless(
        first.census.events == second.census.events,
        || {
            let seen = format!(
                "{} events, and the second time {}",
                first.census.events, second.census.events
            );
            Breach::new(seen, SAME)
        },
    )?)
}

const SAME: &str = "the same bits";

fn differs(one: &RunOutcome, other: &RunOutcome, then: &str) -> Judged {
    for (one, other) in one.flows.iter().zip(&other.flows) {
        let [first, second] = [one, other].map(|flow| {
            (
                flow.sent_packets,
                flow.delivered_packets,
                flow.goodput_bytes,
            )
        });
        if first != second {
            let told = |(sent, arrived, bytes): (u64, u64, u64)| {
                format!("{sent} packets sent, {arrived} arrived, {bytes} bytes of goodput")
            };
            let seen = format!("{}: {}, and {then} {}", one.name, told(first), told(second));
            return Err(Breach::new(seen, SAME).into());
        }
    }
    let same = (&one.queues, &one.flows) == (&other.queues, &other.flows);
    Ok(Breach::unless(same, || {
        Breach::new(format!("times or counts at queues differ {then}"), SAME)
    })?)
}

/// Of several flows of a kind that begin together, none gets less than a tenth of its share.
///
/// # Errors
/// Where one does, and where the run fails.
pub fn shares_are_even(setting: &Setting, run: &Runner<'_>) -> Judged {
    let outcome = run(&setting.resolved(false)?)?;
    let goodputs: Vec<u64> = outcome.flows.iter().map(|f| f.goodput_bytes).collect();
    let total: u64 = goodputs.iter().sum();
    let flows = u64::from(setting.count);
    let least = total / (10 * flows);
    Ok(Breach::unless(
        goodputs.iter().all(|own| *own > least),
        || {
            Breach::new(
                format!("the flows get {goodputs:?} bytes"),
                format!("each gets more than {least}, a tenth of its share"),
            )
        },
    )?)
}

/// Where one packet in a hundred is lost at random, the mean rate stays below three times what Reno's window gives there (Mathis et al.
/// 1997), which is larger than CUBIC's (RFC 9438 section 5.1).
///
/// A control that measures the rate of the path, as BBR does, need not do so.
///
/// # Errors
/// Where it does not, and where the run fails.
pub fn losses_are_answered(setting: &Setting, run: &Runner<'_>) -> Judged {
    let outcome = run(&setting.resolved(false)?)?;
    // 1.31 / sqrt(0.01) segments of 1460 bytes in a round trip.
    let right = 131 * 1460 / 10 * setting.measured_ms() / setting.rtt_ms;
    let goodput = only(&outcome).goodput_bytes;
    Ok(Breach::unless(goodput < 3 * right, || {
        Breach::new(
            format!("{goodput} bytes arrive at a loss of 1 %"),
            format!(
                "less than {}, three times what Reno's window gives (Mathis et al. 1997)",
                3 * right
            ),
        )
    })?)
}

/// Marks are answered: a queue that marks early never overflows once the start is over, and is less than half full on average. See
/// [`Setting::marking`].
///
/// While marks are echoed the transport does not let a window grow, so that what ignores them need not overflow: it keeps the queue long.
///
/// # Errors
/// Where it overflows or stays long, and where the run fails.
pub fn marks_are_answered(setting: &Setting, run: &Runner<'_>) -> Judged {
    let outcome = run(&setting.resolved(false)?)?;
    let queue = outcome.queues.iter().find(|queue| queue.bottleneck);
    let queue = queue.expect("a bottleneck");
    let (waiting, _) = queue.backlog_mean;
    let drops: u64 = queue.drops_by_reason.iter().sum();
    let most = f64::from(Setting::PATH_LIMIT / 2);
    Ok(Breach::unless(drops == 0 && waiting < most, || {
        Breach::new(
            format!("{waiting:.1} packets wait on average, and {drops} are dropped"),
            format!(
                "fewer than {most} wait and none is dropped: {} marks long before",
                setting.queue
            ),
        )
    })?)
}

fn hold(setting: &Setting, property: Property) {
    if let Err(fault) = property(setting, &|resolved| run_resolved(resolved, 0)) {
        panic!("{}: {fault}\n{}", setting.flow, setting.toml(false));
    }
}

/// Alone on a path of 10 Mbps and 40 ms, whose queue holds three times what fills the path, it uses 85 % of it at least. `mark_at` packets in
/// the queue, arriving packets are marked, if they can be.
pub fn fills_a_path(flow: &str, mark_at: Option<u32>) {
    hold(&Setting::path(flow, mark_at), fills_the_path);
}

/// Every byte of a transfer arrives, once, whatever is lost, doubled and late on the way; and lazy links give what eager ones give.
pub fn every_byte_arrives(flow: &str, seed: u64) {
    let setting = Setting::transfer(flow, seed);
    hold(&setting, transfer_completes);
    hold(&setting, lazy_links_equal_eager_ones);
}

/// Beside itself it shares: of four flows that begin together, none gets less than a tenth of its share over a minute.
pub fn shares_with_itself(flow: &str) {
    hold(&Setting::four(flow), shares_are_even);
}

/// It answers losses: see [`losses_are_answered`], on a path of 100 Mbps and 50 ms.
pub fn answers_losses(flow: &str) {
    hold(&Setting::lossy(flow), losses_are_answered);
}

/// It answers marks: see [`marks_are_answered`].
pub fn answers_marks(flow: &str) {
    hold(&Setting::marking(flow), marks_are_answered);
}
