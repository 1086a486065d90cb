//! Timed changes of links.

use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::run;

use crate::support::scenario;

/// Ten seconds of 20 Mbps offered to a link whose rate changes.
fn overloaded(changes: &str) -> String {
    format!(
        "flows = [\"cbr rate=20Mbps size=1250B headers=0B start=0s\"]\n\
        [run]\nduration = \"10s\"\nwarmup = \"0s\"\nreplications = 1\n\
        [topology]\nrate = \"8Mbps\"\nrtt = \"0s\"\naccess_rate = \"1Gbps\"\nbuffer = \"10p\"\n{changes}"
    )
}

fn change(at: &str, rate: &str, every: &str) -> String {
    format!("[[changes]]\nat = \"{at}\"\nlink = \"left-right\"\nrate = \"{rate}\"\n{every}\n")
}

fn sent_packets(text: &str) -> u64 {
    let outcome = run::run(&scenario(text), 0).expect("a run");
    let flow = &outcome.flows[0];
    flow.delivered_packets
}

#[test]
fn a_rate_goes_up_and_down_until_the_run_ends() {
    let wave = change("1s", "2Mbps", "every = \"2s\"") + &change("2s", "8Mbps", "every = \"2s\"");
    let mut listed = String::new();
    for second in 1..10 {
        let rate = if second % 2 == 1 { "2Mbps" } else { "8Mbps" };
        listed += &change(&format!("{second}s"), rate, "");
    }
    let packets = sent_packets(&overloaded(&wave));
    assert_eq!(packets, sent_packets(&overloaded(&listed)));
    // Five seconds of each rate carry 5000 packets of 10 000 bits in all, but for those under way at an edge or left in the queue.
    assert!((4985..=5000).contains(&packets), "{packets}");
}

#[test]
fn a_change_from_the_start_on_happens_again() {
    let wave = change("0s", "2Mbps", "every = \"4s\"") + &change("2s", "8Mbps", "every = \"4s\"");
    let packets = sent_packets(&overloaded(&wave));
    // 2 Mbps for 6 s (0 to 2, 4 to 6, 8 to 10) and 8 Mbps for 4 s.
    assert!((4385..=4400).contains(&packets), "{packets}");
}

#[test]
fn changes_that_meet_later_are_refused_with_the_time() {
    let meet = change("1s", "2Mbps", "every = \"2s\"") + &change("4s", "8Mbps", "every = \"3s\"");
    let error = run::run(&scenario(&overloaded(&meet)), 0).expect_err("both at 7 s");
    assert_eq!(
        error.to_string(),
        "changes: left-right changes twice at 7s; let the two change at different times"
    );
}

#[test]
fn a_change_too_often_for_the_run_is_refused() {
    let text = overloaded(&change("1s", "2Mbps", "every = \"1ms\""))
        .replace("duration = \"10s\"", "duration = \"2000s\"");
    let document = Document::parse(&text, "scenario.toml").expect("TOML");
    let error = Scenario::from_document(&document).expect_err("two million changes");
    assert!(
        error.to_string().contains(
            "changes[0].every: a change every 1ms happens more than 1000000 times within 2000s"
        ),
        "{error}"
    );
}
