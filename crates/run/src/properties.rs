//! What holds for every congestion control over a path, inside Sojourn or outside: one function for each property, which panics where it
//! does not hold. A control is given as the specification of a flow: `cubic beta=0.6`.
//!
//! Of the feature `testing`.

use crate::run::run;
use sojourn_results::outcome::{FlowOutcome, RunOutcome};
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;

/// The outcome of a scenario in TOML, in which `FLOW` stands for the flow.
fn outcome(flow: &str, scenario: &str) -> RunOutcome {
    let quoted = flow.replace('\\', "\\\\").replace('"', "\\\"");
    let text = scenario.replace("FLOW", &quoted);
    let read = Document::parse(&text, "property.toml");
    let read = read.and_then(|document| Scenario::from_document(&document));
    let scenario = read.unwrap_or_else(|error| panic!("{flow}: {error}"));
    run(&scenario, 0).unwrap_or_else(|error| panic!("{flow}: {error}"))
}

fn only(outcome: &RunOutcome) -> &FlowOutcome {
    outcome.flows.first().expect("a flow")
}

/// Alone on a path of 10 Mbps and 40 ms, whose queue holds twice what fills the path, it uses 85 % of it at least. `mark_at` packets in
/// the queue, arriving packets are marked, if they can be.
pub fn fills_a_path(flow: &str, mark_at: Option<u32>) {
    let queue = match mark_at {
        Some(packets) => format!("step threshold={packets}p limit=100p"),
        None => "droptail limit=100p".to_owned(),
    };
    let outcome = outcome(
        flow,
        &format!(
            "[run]\nduration = \"60s\"\nwarmup = \"20s\"\n[topology]\nqueue = \"{queue}\"\n[[flows]]\nspec = \"FLOW\"\n"
        ),
    );
    let goodput = only(&outcome).goodput_bytes;
    let full = 40 * 10_000_000 / 8;
    assert!(
        goodput > full / 100 * 85,
        "{flow}: {goodput} of {full} bytes"
    );
}

/// Every byte of a transfer arrives, once, whatever is lost, doubled and late on the way; and lazy links give what eager ones give.
pub fn every_byte_arrives(flow: &str, seed: u64) {
    let scenario = |eager: bool| {
        format!(
            "[run]\nduration = \"2000s\"\nwarmup = \"0s\"\nseed = {seed}\neager = {eager}\nstart_spread = \"0s\"\n\
             [topology]\nqueue = \"droptail limit=30p\"\n\
             [[impairments]]\nlink = \"left-right\"\nloss = 0.03\nduplicate = 0.01\njitter = \"3ms\"\n\
             [[impairments]]\nlink = \"right-left\"\nloss = 0.03\n\
             [[flows]]\nspec = \"FLOW bytes=300kB\"\n"
        )
    };
    let [lazy, eager] = [false, true].map(|eager| outcome(flow, &scenario(eager)));
    let sent = only(&lazy);
    assert_eq!(sent.goodput_bytes, 300_000, "{flow}, seed {seed}");
    assert!(sent.completed.is_some(), "{flow}, seed {seed}");
    // Eager links count more events.
    let same = (&lazy.queues, &lazy.flows) == (&eager.queues, &eager.flows);
    assert!(same, "{flow}, seed {seed}: lazy and eager");
}

/// Beside itself it shares: of four flows that begin together, none gets less than a tenth of its share over a minute.
pub fn shares_with_itself(flow: &str) {
    let outcome = outcome(
        flow,
        "[run]\nduration = \"90s\"\nwarmup = \"30s\"\n[topology]\nqueue = \"droptail limit=100p\"\n[[flows]]\nspec = \"4*FLOW\"\n",
    );
    let goodputs: Vec<u64> = outcome.flows.iter().map(|f| f.goodput_bytes).collect();
    let total: u64 = goodputs.iter().sum();
    assert!(
        goodputs.iter().all(|goodput| goodput * 40 > total),
        "{flow}: {goodputs:?}"
    );
}

/// It answers losses: where one packet in a hundred is lost at random on a path of 100 Mbps and 50 ms, its mean rate stays below three
/// times what Reno's window gives there (Mathis et al. 1997), which is larger than CUBIC's (RFC 9438 section 5.1).
///
/// A control that measures the rate of the path, as BBR does, need not do so.
pub fn answers_losses(flow: &str) {
    let outcome = outcome(
        flow,
        "[run]\nduration = \"60s\"\nwarmup = \"20s\"\n[topology]\nrate = \"100Mbps\"\nrtt = \"50ms\"\nqueue = \"droptail limit=1000p\"\n\
         [[impairments]]\nlink = \"left-right\"\nloss = 0.01\n[[flows]]\nspec = \"FLOW\"\n",
    );
    // 1.31 / sqrt(0.01) segments of 1460 bytes in 50 ms, for 40 s.
    let right = 131 * 1460 / 10 * 20 * 40;
    let goodput = only(&outcome).goodput_bytes;
    assert!(
        goodput < 3 * right,
        "{flow}: {goodput} bytes, {right} are right"
    );
}
