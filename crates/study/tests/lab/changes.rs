//! Timed changes of links.

use sojourn_run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_sim::DropReason;
use sojourn_study::auditor;
use sojourn_study::study::{Options, execute};

use crate::support::{self, goodput_mbps, scenario};

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
    // Five seconds of each rate carry 5000 packets of 10 000 bits in all, except for those under way at an edge or left in the queue.
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
        "changes: left-right has two changes of the same kind at 7s; give the two changes different times"
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

/// A link that goes down at 2 s and comes up at 5 s.
fn outage(while_down: &str) -> String {
    overloaded(&format!(
        "[[changes]]\nat = \"2s\"\nlink = \"left-right\"\nstate = \"down\"\nwhile_down = \"{while_down}\"\n\
         [[changes]]\nat = \"5s\"\nlink = \"left-right\"\nstate = \"up\"\n"
    ))
}

#[test]
fn a_link_that_is_down_carries_nothing_and_recovers_when_it_comes_up() {
    for while_down in ["wait", "lose"] {
        let outcome = run::run(&scenario(&outage(while_down)), 0).expect("a run");
        let flow = &outcome.flows[0];
        // Seven seconds of 800 packets.
        let delivered = flow.delivered_packets;
        assert!(
            (5588..=5601).contains(&delivered),
            "{while_down}: {delivered}"
        );
        let queue = outcome
            .queues
            .iter()
            .find(|queue| queue.bottleneck)
            .expect("one");
        let wire = queue.drops_by_reason[DropReason::Wire.index()];
        // What could have been carried: nothing while packets wait; what is lost has used the link.
        let (lost, bits) = match while_down {
            "wait" => (0..=0, 7 * 8_000_000),
            _ => (2399..=2402, 10 * 8_000_000),
        };
        assert!(lost.contains(&wire), "{while_down}: {wire}");
        assert_eq!(queue.capacity_bits, bits, "{while_down}");
        let used = u128::from(queue.sent_bytes) * 8;
        assert!(
            used * 100 >= bits * 99 && used <= bits + 10_000,
            "{while_down}: {used}"
        );
    }
}

#[test]
fn a_link_may_be_down_from_the_start_and_again_and_again() {
    let down = "[[changes]]\nat = \"0s\"\nlink = \"left-right\"\nstate = \"down\"\nevery = \"4s\"\n\
                [[changes]]\nat = \"1s\"\nlink = \"left-right\"\nstate = \"up\"\nevery = \"4s\"\n";
    let packets = sent_packets(&overloaded(down));
    // Down from 0 to 1, 4 to 5 and 8 to 9 s.
    assert!((5588..=5603).contains(&packets), "{packets}");
}

#[test]
fn tcp_goes_on_after_an_outage() {
    for while_down in ["wait", "lose"] {
        let text = outage(while_down)
            .replace(
                "cbr rate=20Mbps size=1250B headers=0B start=0s",
                "cubic start=0s",
            )
            .replace("rtt = \"0s\"", "rtt = \"20ms\"")
            .replace("buffer = \"10p\"", "buffer = \"40p\"")
            .replace("duration = \"10s\"", "duration = \"20s\"")
            .replace("warmup = \"0s\"", "warmup = \"12s\"");
        let outcome = run::run(&scenario(&text), 0).expect("a run");
        let megabits = goodput_mbps(&outcome, "cubic");
        assert!(megabits > 7.0, "{while_down}: {megabits}");
    }
}

#[test]
fn a_link_without_outages_is_not_told_what_becomes_of_packets() {
    let refused = |change: &str| {
        let text = overloaded(&format!(
            "[[changes]]\nat = \"1s\"\nlink = \"left-right\"\n{change}\n"
        ));
        let document = Document::parse(&text, "scenario.toml").expect("TOML");
        Scenario::from_document(&document)
            .expect_err(change)
            .to_string()
    };
    let error = refused("state = \"up\"\nwhile_down = \"lose\"");
    assert!(error.contains("while_down"), "{error}");
    let error = refused("while_down = \"lose\"");
    assert!(
        error.contains("while_down") || error.contains("changes nothing"),
        "{error}"
    );
    let error = refused("state = \"dwon\"");
    assert!(error.contains("did you mean \"down\"?"), "{error}");
    assert!(refused("every = \"1s\"").contains("give it a rate, a delay, a queue or a state"));
}

#[test]
fn a_rate_at_which_a_packet_outlasts_it_is_told() {
    let study = support::study(
        "flows = [\"cubic\"]\n[run]\nduration = \"10s\"\nwarmup = \"2s\"\nreplications = 1\n\
         [topology]\nrate = \"2Mbps\"\nrtt = \"40ms\"\nbuffer = \"20p\"\n\
         [[changes]]\nat = \"4s\"\nlink = \"left-right\"\nrate = \"1bps\"\n\
         [[changes]]\nat = \"6s\"\nlink = \"left-right\"\nrate = \"2Mbps\"\n",
    );
    let executed = execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    let notes = auditor::audit(&executed.results.expect("all runs"), &[]);
    let note = notes
        .iter()
        .find(|note| note.rule == "rate-too-low")
        .expect("a remark");
    assert_eq!(
        note.text,
        "left-right has 1bps from 4s on, for 2s. A packet of 1500 bytes that begins to be sent then takes 12000s, and nothing is sent \
         before it is done, even if the rate rises later. For an outage write state = \"down\" instead of a rate."
    );
}

/// Such a change happened again and again, and nothing came of it.
#[test]
fn a_change_that_repeats_with_nothing_to_change_it_back_is_refused() {
    let refused = |changes: &str| {
        let document = Document::parse(&overloaded(changes), "scenario.toml").expect("TOML");
        Scenario::from_document(&document)
            .expect_err(changes)
            .to_string()
    };
    let alone = change("1s", "2Mbps", "every = \"2s\"");
    let error = refused(&alone);
    assert!(
        error.contains(
            "changes[0].every: nothing changes left-right back in between, so it changes once; add the change"
        ),
        "{error}"
    );
    let delay =
        "[[changes]]\nat = \"2s\"\nlink = \"left-right\"\ndelay = \"5ms\"\nevery = \"2s\"\n";
    let error = refused(&(alone + delay));
    assert!(error.contains("changes[0].every"), "{error}");
}

fn with_queue(queue: &str) -> String {
    format!("[[changes]]\nat = \"5s\"\nlink = \"left-right\"\nqueue = \"{queue}\"\n")
}

#[test]
fn a_smaller_queue_that_takes_over_drops_what_it_has_no_room_for() {
    let outcome = run::run(&scenario(&overloaded(&with_queue("droptail limit=4p"))), 0);
    let outcome = outcome.expect("a run");
    let queue = outcome.queues.iter().find(|queue| queue.bottleneck);
    let queue = queue.expect("a dumbbell has one");
    // Ten packets waited, and the queue before never dropped one that it had let in.
    assert_eq!(queue.totals.dropped_after, 6);
    assert_eq!(queue.discipline, "droptail");
}

#[test]
fn a_queue_of_a_change_is_written_with_every_parameter_and_reads_back_the_same() {
    let given = scenario(&overloaded(&with_queue("codel target=20ms")));
    let full = given.resolve().expect("it resolves").to_document();
    let again = Scenario::from_document(&full).expect("it reads back");
    let text = again.changes[0]
        .queue
        .as_ref()
        .expect("its queue")
        .to_string();
    assert!(
        text.contains("target=20ms") && text.contains("interval=100ms"),
        "{text}"
    );
    let (one, other) = (
        run::run(&given, 0).expect("a run"),
        run::run(&again, 0).expect("a run"),
    );
    assert!(one.is_as(&other));
}

#[test]
fn a_mistake_in_the_queue_of_a_change_is_told_with_its_line() {
    let document = Document::parse(&overloaded(&with_queue("codell")), "lab.toml").unwrap();
    let error = Scenario::from_document(&document).unwrap_err().to_string();
    assert!(
        error.contains("changes[0].queue") && error.contains("codel"),
        "{error}"
    );
}
