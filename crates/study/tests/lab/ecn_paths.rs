//! ECN where it goes wrong: datagrams that do not respond to marks, paths that bleach or mark.

use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::to_f64;
use sojourn_run::run;
use sojourn_sim::DropReason;

use crate::support::{goodput_mbps, scenario};

fn outcome(flows: &str, queue: &str, rest: &str) -> RunOutcome {
    let text = format!(
        "flows = [{flows}]\n[run]\nduration = \"12s\"\nwarmup = \"4s\"\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"10Mbps\"\nrtt = \"40ms\"\nqueue = \"{queue}\"\n{rest}"
    );
    run::run(&scenario(&text), 0).expect("a run")
}

/// RFC 9332 section 4.2.3 and appendix A.2: the L queue drops with p'^2 under overload, and marks what it lets through.
#[test]
fn dualpi2_drops_unresponsive_ect1_that_overloads_the_l_queue() {
    let outcome = outcome(
        "{kind=\"cbr\", rate=\"20Mbps\", ecn=\"ect1\"}",
        "dualpi2",
        "",
    );
    let flow = &outcome.flows[0];
    let queue = outcome
        .queues
        .iter()
        .find(|queue| queue.bottleneck)
        .expect("one");
    let loss = to_f64(flow.dropped_packets) / to_f64(flow.sent_packets);
    // 20 Mbps of payload, 20.56 with headers, into 10.
    assert!((0.49..0.54).contains(&loss), "{loss}");
    assert!(flow.marked_packets * 100 > flow.delivered_packets * 98);
    let early = queue.drops_by_reason[DropReason::Early.index()];
    assert!(
        early * 100 > flow.dropped_packets * 98,
        "{early} of {}",
        flow.dropped_packets
    );
    assert_eq!(queue.drops_by_reason[DropReason::Overlimit.index()], 0);
    // The controller holds the delay at its target of 15 ms.
    let delay = queue.sojourn_sum / u128::from(queue.totals.dequeued.max(1)) / 1_000_000_000;
    assert!((10..25).contains(&delay), "{delay} ms");
}

/// Flows that respond starve beside it, as beside any flow that does not: each packet of theirs is lost with the same probability.
#[test]
fn dualpi2_holds_its_delay_for_flows_beside_unresponsive_ect1() {
    let flows = "{kind=\"cbr\", rate=\"20Mbps\", ecn=\"ect1\"}, \"cubic\", \"prague\"";
    let outcome = outcome(flows, "dualpi2", "");
    let cbr = &outcome.flows[0];
    assert!(
        cbr.dropped_packets * 100 > cbr.sent_packets * 40,
        "{}",
        cbr.dropped_packets
    );
    let queue = outcome.queues.iter().find(|queue| queue.bottleneck);
    let queue = queue.expect("one");
    assert_eq!(queue.drops_by_reason[DropReason::Overlimit.index()], 0);
    let delay = queue.sojourn_sum / u128::from(queue.totals.dequeued.max(1)) / 1_000_000_000;
    assert!(delay < 30, "{delay} ms");
}

#[test]
fn datagrams_that_say_so_are_marked_and_others_dropped() {
    for kind in [
        "cbr",
        "poisson",
        "exponential",
        "on_off",
        "pareto",
        "periodic",
    ] {
        let marked = |ecn: &str| {
            let flow = format!("{{kind=\"{kind}\", rate=\"25Mbps\"{ecn}}}");
            let outcome = outcome(&flow, "codel ecn=true", "");
            outcome.flows[0].marked_packets
        };
        for ecn in ["ect0", "ect1"] {
            assert!(marked(&format!(", ecn=\"{ecn}\"")) > 100, "{kind} {ecn}");
        }
        assert_eq!(marked(", ecn=\"none\""), 0, "{kind}");
        assert_eq!(marked(""), 0, "{kind}");
    }
}

fn impaired(keys: &str) -> String {
    format!("[[impairments]]\nlink = \"left-right\"\n{keys}\n")
}

/// With every codepoint bleached a sender hears of no mark, and lives by losses.
#[test]
fn a_path_that_bleaches_makes_ecn_flows_live_by_losses() {
    for flow in ["cubic ecn=true", "prague", "dctcp", "quic cc=(prague)"] {
        for queue in ["droptail limit=50p", "dualpi2", "codel ecn=true"] {
            let outcome = outcome(&format!("\"{flow}\""), queue, &impaired("bleach = 1"));
            let (one, label) = (&outcome.flows[0], outcome.flows[0].label.clone());
            assert_eq!(one.marked_packets, 0, "{flow} {queue}");
            let megabits = goodput_mbps(&outcome, &label);
            assert!(megabits > 4.0, "{flow} over {queue}: {megabits} Mbps");
        }
    }
}

#[test]
fn partial_bleaching_and_stray_marks_do_not_wedge_a_flow() {
    for flow in ["cubic ecn=true", "prague", "dctcp"] {
        for keys in ["bleach = 0.5", "mark = 0.01", "bleach = 0.3\nmark = 0.01"] {
            let outcome = outcome(&format!("\"{flow}\""), "dualpi2", &impaired(keys));
            let one = &outcome.flows[0];
            let megabits = goodput_mbps(&outcome, &one.label);
            assert!(megabits > 0.5, "{flow}, {keys}: {megabits} Mbps");
            if keys == "mark = 0.01" {
                assert!(one.marked_packets > 0, "{flow}");
            }
        }
    }
}
