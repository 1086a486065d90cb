//! Multicast groups in scenarios, and sessions of SRM over them.

use sojourn_results::columns::{Kind, OptionalTables, batch, read_run};
use sojourn_results::outcome::{FlowOutcome, RunOutcome};
use sojourn_run::run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;

use crate::support::scenario;

fn outcome(text: &str) -> RunOutcome {
    run(&scenario(text), 0).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    let document = Document::parse(text, "groups.toml").expect("TOML");
    let read = Scenario::from_document(&document);
    match read.and_then(|scenario| run(&scenario, 0)) {
        Ok(_) => panic!("it runs"),
        Err(error) => error.to_string(),
    }
}

/// `a - b - c`, `b - d`; one second of 10 packets of 1000 bytes from a.
const BASE: &str = r#"
[run]
duration = "1s"
warmup = "0s"
deterministic = true
[series]
record = "carried, throughput"
step = "100ms"
[[links]]
from = "a"
to = "b"
[[links]]
from = "b"
to = "c"
[[links]]
from = "b"
to = "d"
"#;

const GROUP: &str = "[[groups]]\nname = \"news\"\n";
const MEMBERS: &str = "[[members]]\ngroup = \"news\"\nnode = \"c\"\n[[members]]\ngroup = \"news\"\nnode = \"d\"\njoin = \"405ms\"\nleave = \"805ms\"\n";
const FLOW: &str = "[[flows]]\nkind = \"cbr\"\nstart = \"50ms\"\ninterval = \"100ms\"\nsize = \"1000B\"\nfrom = \"a\"\nto = \"news\"\n";

fn whole(group: &str, members: &str, flow: &str) -> String {
    format!("{BASE}{group}{members}{flow}")
}

#[test]
fn each_member_gets_what_is_sent_while_it_belongs_to_the_group() {
    let outcome = outcome(&whole(GROUP, MEMBERS, FLOW));
    let names: Vec<&str> = outcome
        .receivers
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    assert_eq!(names, ["cbr-1 at c", "cbr-1 at d"]);
    let packets: Vec<u64> = outcome
        .receivers
        .iter()
        .map(|flow| flow.delivered_packets)
        .collect();
    let sent = outcome.flows[0].sent_packets;
    assert_eq!((packets, sent), (vec![10, 4], 10));
    let member = outcome.receivers[1]
        .reception
        .as_ref()
        .expect("a receiver")
        .member;
    assert_eq!(member.to_string(), "400ms");
    // The bits that the link has carried are those that c has got: they take as long to both.
    let series = |of: &str| {
        let found = outcome.series.iter().find(|series| series.of == of);
        found.expect(of).values.iter().sum::<f64>()
    };
    let bits =
        8.0 * 10.0 * f64::from(u32::try_from(outcome.receivers[0].delivered_bytes).expect("few"));
    assert!(
        (series("b-c/cbr-1") - bits).abs() < 1.0,
        "{} {bits}",
        series("b-c/cbr-1")
    );
}

#[test]
fn what_a_file_of_results_holds_is_what_came_out() {
    let text = whole(&format!("{GROUP}delay_from = \"b\"\n"), MEMBERS, FLOW);
    let ours = outcome(&text);
    let table = |kind| batch(kind, 0, &ours).expect("a table");
    let optional = OptionalTables {
        receivers: Some(table(Kind::Receivers)),
        ..OptionalTables::default()
    };
    let read = read_run(
        &table(Kind::Runs),
        &table(Kind::Flows),
        &table(Kind::Queues),
        &optional,
    );
    assert_eq!(read.expect("a run").receivers, ours.receivers);
    let passed = ours.receivers[0]
        .reception
        .as_ref()
        .map(|own| own.passed_packets);
    assert_eq!(passed, Some(ours.receivers[0].delivered_packets));
}

#[test]
fn a_scenario_that_was_written_is_read_as_it_was() {
    for group in [
        GROUP.to_owned(),
        format!("{GROUP}tree = \"shared\"\nrendezvous_point = \"b\"\nswitch = \"500ms\"\n"),
        format!("{GROUP}tree = \"dense\"\nprune_time = \"1s\"\n"),
        format!("{GROUP}tree = \"static\"\nlinks = \"a-b, b-c, b-d\"\n"),
    ] {
        let scenario = scenario(&whole(&group, MEMBERS, FLOW))
            .resolve()
            .unwrap()
            .as_given();
        let text = scenario.resolve().unwrap().to_document().to_toml();
        let document = Document::parse(&text, "again.toml").expect("TOML");
        let again =
            Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.groups, scenario.groups);
        assert_eq!(again.members, scenario.members);
        let [ours, theirs] = [&scenario, &again].map(|one| run(one, 0).expect("a run"));
        assert_eq!(ours.receivers, theirs.receivers);
    }
}

#[test]
fn mistakes_name_the_key_what_is_allowed_and_the_remedy() {
    let refused = |group: &str, members: &str, flow: &str, wanted: &str| {
        let error = refused(&whole(group, members, flow));
        assert!(error.contains(wanted), "{error}\nlacks: {wanted}");
    };
    refused(
        GROUP,
        "",
        FLOW,
        "the group \"news\" has no members; add [[members]] with group = \"news\"",
    );
    refused(
        GROUP,
        "[[members]]\ngroup = \"newt\"\nnode = \"c\"\n",
        FLOW,
        "members[0].group: there is no group \"newt\", did you mean \"news\"?",
    );
    refused(
        "",
        MEMBERS,
        &FLOW.replace("news", "c"),
        "there is no group \"news\"; add [[groups]] with name = \"news\"",
    );
    refused(
        GROUP,
        "[[members]]\ngroup = \"news\"\nnode = \"e\"\n",
        FLOW,
        "no link has a node \"e\"",
    );
    refused(
        GROUP,
        "[[members]]\ngroup = \"news\"\nnode = \"c\"\njoin = \"500ms\"\nleave = \"200ms\"\n",
        FLOW,
        "a leave at 200ms is not after the join at 500ms",
    );
    refused(
        GROUP,
        "[[members]]\ngroup = \"news\"\nnode = \"c\"\njoin = \"2s\"\n",
        FLOW,
        "a join at 2s is not within the run of 1s",
    );
    refused(
        GROUP,
        "[[members]]\ngroup = \"news\"\nnode = \"c\"\n[[members]]\ngroup = \"news\"\nnode = \"c\"\njoin = \"500ms\"\n",
        FLOW,
        "c belongs to news already, from 0s on",
    );
    refused(
        &format!("{GROUP}tree = \"shared\"\n"),
        MEMBERS,
        FLOW,
        "groups[0].rendezvous_point: this key is required",
    );
    refused(
        &format!("{GROUP}tree = \"shared\"\nrendezvous_point = \"bb\"\n"),
        MEMBERS,
        FLOW,
        "groups[0].rendezvous_point: no link has a node \"bb\" (nodes: a, b, c, d)",
    );
    refused(
        &format!("{GROUP}rendezvous_point = \"b\"\n"),
        MEMBERS,
        FLOW,
        "only a shared tree has this key, and this one is source",
    );
    refused(
        &format!("{GROUP}tree = \"static\"\n"),
        MEMBERS,
        FLOW,
        "list the link directions",
    );
    refused(
        &format!("{GROUP}tree = \"static\"\nlinks = \"a-b, b-x\"\n"),
        MEMBERS,
        FLOW,
        "there is no link \"b-x\"",
    );
    refused(
        &format!("{GROUP}tree = \"static\"\nlinks = \"a-b, b-c\"\n"),
        MEMBERS,
        FLOW,
        "no path leads from node \"a\" to node \"d\"",
    );
    refused(
        &GROUP.replace("news", "c"),
        MEMBERS,
        FLOW,
        "\"c\" is a node already",
    );
    refused(
        &format!("{GROUP}{GROUP}"),
        MEMBERS,
        FLOW,
        "there is already a group \"news\"",
    );
    refused(
        GROUP,
        MEMBERS,
        &FLOW.replace("to = \"news\"", "to = \"newz\""),
        "did you mean \"news\"?",
    );
    refused(
        GROUP,
        MEMBERS,
        "[[flows]]\nkind = \"reno\"\nfrom = \"a\"\nto = \"news\"\n",
        "reno has one receiver, and \"news\" is a group",
    );
    refused(
        GROUP,
        MEMBERS,
        "[[flows]]\nkind = \"srm\"\nsource = \"(cbr rate=1Mbps)\"\nfrom = \"a\"\nto = \"c\"\n",
        "srm is sent to a multicast group",
    );
    refused(
        GROUP,
        MEMBERS,
        "[[flows]]\nkind = \"srm\"\nfrom = \"a\"\nto = \"news\"\n",
        "a source with a rate",
    );
    let pieces = "[[links]]\nfrom = \"x\"\nto = \"y\"\n";
    refused(
        pieces,
        &format!("{GROUP}{MEMBERS}"),
        FLOW,
        "the graph is not connected",
    );
    let dumbbell = "flows = [\"cbr 1Mbps\"]\n[[groups]]\nname = \"news\"\n";
    assert!(self::refused(dumbbell).contains("groups need nodes with names of their own"));
}

#[test]
fn eager_links_give_the_same_for_every_tree() {
    for group in [
        GROUP.to_owned(),
        format!("{GROUP}tree = \"shared\"\nrendezvous_point = \"b\"\nswitch = \"500ms\"\n"),
        format!("{GROUP}tree = \"dense\"\nprune_time = \"300ms\"\n"),
    ] {
        let text = whole(&group, MEMBERS, FLOW);
        let (lazy, eager) = (
            outcome(&text),
            outcome(&text.replace("[run]", "[run]\neager = true")),
        );
        assert_eq!(lazy.receivers, eager.receivers);
        assert_eq!(lazy.flows, eager.flows);
    }
}

/// A session: `links` are from-to pairs of 10 ms each, `members` all nodes but `s`, from which ten packets per second come.
fn session(links: &[(String, String)], srm: &str, more: &str, seconds: u32) -> String {
    let mut text =
        format!("[run]\nduration = \"{seconds}s\"\nwarmup = \"0s\"\ndeterministic = true\n");
    let mut nodes = Vec::new();
    for (from, to) in links {
        text += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"100Mbps\"\ndelay = \"10ms\"\n"
        );
        nodes.extend([from.clone(), to.clone()]);
    }
    nodes.sort();
    nodes.dedup();
    text += "[[groups]]\nname = \"session\"\n";
    for node in nodes
        .iter()
        .filter(|node| !["s", "hub"].contains(&node.as_str()))
    {
        text += &format!("[[members]]\ngroup = \"session\"\nnode = \"{node}\"\n");
    }
    let source = "source = \"(cbr interval=100ms size=1000B)\"";
    text += &format!(
        "[[flows]]\nkind = \"srm\"\nfrom = \"s\"\nto = \"session\"\n{source}\nstart = \"0s\"\n{srm}\n{more}"
    );
    text
}

fn pair(from: &str, to: &str) -> (String, String) {
    (from.to_owned(), to.to_owned())
}

fn sum(outcome: &RunOutcome, read: impl Fn(&FlowOutcome) -> u64) -> u64 {
    outcome.receivers.iter().map(read).sum()
}

fn srm(flow: &FlowOutcome) -> sojourn_transport::SrmCounts {
    flow.reception.as_ref().expect("a receiver").srm
}

/// Deterministic timers on a chain: the member right behind the loss asks, the one right before it repairs (Floyd et al.
/// 1997 section IV-A).
#[test]
fn a_chain_has_one_request_and_one_repair_per_loss() {
    let mut links = vec![pair("s", "n1")];
    links.extend((1..9).map(|hop| pair(&format!("n{hop}"), &format!("n{}", hop + 1))));
    let timers = "c1 = 1\nc2 = 0\nd1 = 1\nd2 = 0";
    let loss =
        "[[impairments]]\nlink = \"n3-n4\"\nloss_list = \"200, 260, 320, 380, 440, 501, 563\"\n";
    let outcome = outcome(&session(&links, timers, loss, 60));
    let lost: Vec<u64> = outcome
        .receivers
        .iter()
        .map(|flow| flow.dropped_packets)
        .collect();
    let count = lost[3];
    assert!(count >= 4, "{lost:?}");
    assert_eq!(lost, [0, 0, 0, count, count, count, count, count, count]);
    let requests: Vec<u64> = outcome
        .receivers
        .iter()
        .map(|flow| srm(flow).requests)
        .collect();
    let repairs: Vec<u64> = outcome
        .receivers
        .iter()
        .map(|flow| srm(flow).repairs)
        .collect();
    assert_eq!(requests, [0, 0, 0, count, 0, 0, 0, 0, 0]);
    assert_eq!(repairs, [0, 0, count, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sum(&outcome, |flow| srm(flow).recovered), 6 * count);
    assert_eq!(
        sum(&outcome, |flow| srm(flow).missing
            + srm(flow).duplicate_repairs),
        0
    );
    // n4 asks after its distance to the source, 40 ms; one hop there, one distance of waiting, one hop back: 70 ms.
    let n4 = srm(&outcome.receivers[3]);
    let mean = sojourn_units::Span::from_ps(
        u64::try_from(n4.recovery_sum / u128::from(n4.recovered)).expect("short"),
    );
    assert!((0.0700..0.0708).contains(&mean.as_secs_f64()), "{mean}");
    assert_eq!(outcome.flows[0].retransmissions, 0);
}

/// Random timers on a star, where all are equally far: about 1 + (G - 2) / C2 requests (Floyd et al. 1997 section IV-B).
#[test]
fn a_star_has_as_many_requests_as_its_timers_are_narrow() {
    for (c2, expected) in [(10.0, 1.0 + 19.0 / 10.0), (40.0, 1.0 + 19.0 / 40.0)] {
        let timers = format!("c1 = 1\nc2 = {c2}\nd1 = 1\nd2 = 0");
        let outcome = outcome(&star(&timers, 500));
        let losses = outcome.receivers[0].dropped_packets;
        assert!(losses > 100);
        let requests = sum(&outcome, |flow| srm(flow).requests);
        let mean = f64::from(u32::try_from(requests).expect("few"))
            / f64::from(u32::try_from(losses).expect("few"));
        assert!(
            (mean / expected - 1.0).abs() < 0.15,
            "{mean} requests per loss, C2 = {c2}: {expected}"
        );
        // Nobody else has it, and the source repairs once.
        let repairs = outcome.flows[0].retransmissions;
        assert!(
            repairs >= losses && repairs <= losses + losses / 20,
            "{repairs} {losses}"
        );
        assert_eq!(sum(&outcome, |flow| srm(flow).recovered), 20 * losses);
    }
}

fn tree() -> Vec<(String, String)> {
    let mut links = vec![pair("s", "t1")];
    for node in 2..=15 {
        links.push(pair(&format!("t{}", node / 2), &format!("t{node}")));
    }
    links
}

/// Losses in bursts on several links of a tree, requests and repairs included.
fn lossy_tree(srm: &str) -> String {
    let mut loss = String::new();
    for link in ["s-t1", "t1-t2", "t2-t5", "t3-t6", "t6-t3", "t5-t2"] {
        loss += &format!(
            "[[impairments]]\nlink = \"{link}\"\nto_bad = 0.02\nto_good = 0.4\nloss_bad = 0.8\n"
        );
    }
    session(&tree(), &format!("stop = \"60s\"\n{srm}"), &loss, 200)
}

#[test]
fn no_packet_is_lost_for_good() {
    for timers in ["", "adaptive = true", "c1 = 1\nc2 = 0\nd1 = 1\nd2 = 0"] {
        let outcome = outcome(&lossy_tree(timers));
        let sent = 600;
        for receiver in &outcome.receivers {
            let counts = srm(receiver);
            assert_eq!(counts.missing, 0, "{}", receiver.name);
            // What is lost before a member has heard anything is not its own.
            let got = receiver.delivered_packets + counts.recovered;
            assert!((sent - 5..=sent).contains(&got), "{}: {got}", receiver.name);
        }
        assert!(sum(&outcome, |flow| srm(flow).recovered) > 200);
    }
}

fn star(timers: &str, seconds: u32) -> String {
    let mut links = vec![pair("s", "hub")];
    links.extend((1..=20).map(|leaf| pair("hub", &format!("m{leaf}"))));
    let numbers: Vec<String> = (4..200)
        .map(|number| (number * 30 + 1).to_string())
        .collect();
    let numbers = numbers.join(", ");
    let loss = format!("[[impairments]]\nlink = \"s-hub\"\nloss_list = \"{numbers}\"\n");
    session(&links, timers, &loss, seconds)
}

#[test]
fn adaptive_timers_ask_less_often_for_the_same() {
    let requests = |timers: &str| {
        let outcome = outcome(&star(timers, 300));
        let recovered = sum(&outcome, |flow| srm(flow).recovered);
        assert_eq!(recovered, 20 * outcome.receivers[0].dropped_packets);
        sum(&outcome, |flow| srm(flow).requests)
    };
    let narrow = "c1 = 1\nc2 = 1\nd1 = 1\nd2 = 1";
    let (fixed, adaptive) = (
        requests(narrow),
        requests(&format!("{narrow}\nadaptive = true")),
    );
    assert!(2 * adaptive < fixed, "{adaptive} {fixed}");
}

#[test]
fn a_late_member_gets_the_past_only_if_it_asks_for_it() {
    let late = |history: bool| {
        let links = [pair("s", "a"), pair("a", "b")];
        let text = session(&links, &format!("history = {history}"), "", 30);
        let text = text.replace("interval=100ms", "interval=5ms");
        outcome(&text.replace("node = \"b\"\n", "node = \"b\"\njoin = \"10s\"\n"))
    };
    let with = late(true);
    let b = &with.receivers[1];
    assert!(srm(b).recovered > 1900, "{:?}", srm(b));
    assert_eq!(srm(b).missing, 0);
    let without = late(false);
    assert_eq!(sum(&without, |flow| srm(flow).requests), 0);
}

#[test]
fn eager_links_give_the_same_session_and_a_seed_repeats_it() {
    let text = lossy_tree("adaptive = true").replace("duration = \"200s\"", "duration = \"80s\"");
    let (lazy, again) = (outcome(&text), outcome(&text));
    let eager = outcome(&text.replace("[run]", "[run]\neager = true"));
    assert_eq!(lazy.receivers, eager.receivers);
    assert_eq!(lazy.flows, eager.flows);
    assert_eq!(lazy, again);
}
