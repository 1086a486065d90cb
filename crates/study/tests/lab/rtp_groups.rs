//! RTP sessions over multicast groups: how often participants report, what they say of each receiver, joins and leaves.

use sojourn_results::columns::{Kind, OptionalTables, batch, read_run};
use sojourn_results::outcome::{FlowOutcome, MediaOutcome, RunOutcome};
use sojourn_run::run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use std::fmt::Write;

fn read(text: &str) -> Result<RunOutcome, String> {
    let document = Document::parse(text, "session.toml").expect("TOML");
    let read = Scenario::from_document(&document);
    read.and_then(|scenario| run(&scenario, 0))
        .map_err(|error| error.to_string())
}

fn outcome(text: &str) -> RunOutcome {
    read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// A star: `s - r`, `t - r`, and `r - m1`, `r - m2`... to each of the members. Seconds of the run and of the warm-up.
fn star(members: usize, (duration, warmup): (u64, u64)) -> String {
    let mut text = format!(
        "[run]\nduration = \"{duration}s\"\nwarmup = \"{warmup}s\"\ndeterministic = true\n[[groups]]\nname = \"call\"\n"
    );
    let ends = ["s".to_owned(), "t".to_owned()].into_iter();
    for end in ends.chain((1..=members).map(|n| format!("m{n}"))) {
        write!(
            text,
            "[[links]]\nfrom = \"r\"\nto = \"{end}\"\nrate = \"100Mbps\"\ndelay = \"10ms\"\n"
        )
        .expect("a string");
    }
    text
}

fn member(n: usize, more: &str) -> String {
    format!("[[members]]\ngroup = \"call\"\nnode = \"m{n}\"\n{more}")
}

fn members(count: usize) -> String {
    (1..=count).map(|n| member(n, "")).collect()
}

fn flow(from: &str, more: &str) -> String {
    format!("[[flows]]\nkind = \"rtp\"\nfrom = \"{from}\"\nto = \"call\"\n{more}")
}

fn media(flow: &FlowOutcome) -> &MediaOutcome {
    flow.media.as_ref().expect("media")
}

fn real(count: u64) -> f64 {
    f64::from(u32::try_from(count).expect("few"))
}

/// The mean time between reports of members of a session without senders, by the oracle of RFC 3550 appendix A.7: packets of 100
/// bytes, 1000 bytes of RTCP per second.
fn oracle(members: usize) -> f64 {
    let text = include_str!("../../../../tests/data/rtcp/a7.csv");
    let wanted = format!("interval,{members},mean,");
    let mean = text.lines().find_map(|line| line.strip_prefix(&wanted));
    mean.expect("a row").parse().expect("a number")
}

/// 160 kbps have 1000 bytes of RTCP per second; voice without pauses.
const CALL: &str = "source = \"(voice silence=0s)\"\nbandwidth = \"160kbps\"\n";

/// The same RTCP, and media that is quick to simulate.
const TICK: &str = "source = \"(cbr interval=200ms size=100B)\"\nbandwidth = \"160kbps\"\n";

#[test]
fn rtcp_keeps_to_its_share_and_members_report_as_often_as_the_oracle_says() {
    for (count, seconds) in [(2, 4000), (10, 1500), (100, 600)] {
        let text = star(count, (seconds + 100, 100)) + &members(count) + &flow("s", TICK);
        let outcome = outcome(&text);
        let whole = media(&outcome.flows[0]).reported;
        let share = real(whole.rtcp_bytes) * 8.0 / real(seconds) / 160e3;
        assert!(share < 0.05, "{count}: {share}");
        // A hundred receivers use up their three quarters; the sender, and few receivers, wait for the least time instead.
        assert_eq!(share > 0.05 * 0.75, count == 100, "{count}: {share}");
        assert_eq!(outcome.receivers.len(), count);
        let all = outcome.receivers.iter();
        let reports: u64 = all.map(|own| media(own).reported.rtcp_packets).sum();
        let mean = real(seconds) * real(u64::try_from(count).unwrap()) / real(reports);
        // Reports have 88 bytes, not 100: where the bandwidth is the limit, they come as much more often.
        let size = if count == 100 { 0.88 } else { 1.0 };
        let expected = oracle(count) * size;
        assert!(
            (mean / expected - 1.0).abs() < 0.03,
            "{count}: {mean} {expected}"
        );
    }
}

#[test]
fn without_a_least_time_sessions_of_every_size_use_up_their_share() {
    for (count, seconds) in [(2, 300), (10, 300), (100, 300)] {
        let avpf = format!("{TICK}dialect = \"avpf\"\n");
        let text = star(count, (seconds + 100, 100)) + &members(count) + &flow("s", &avpf);
        let whole = media(&outcome(&text).flows[0]).reported;
        let share = real(whole.rtcp_bytes) * 8.0 / real(seconds) / 160e3;
        assert!((share / 0.05 - 1.0).abs() < 0.05, "{count}: {share}");
    }
}

#[test]
fn what_is_reported_of_each_receiver_is_what_it_lost_and_the_jitter_that_it_had() {
    let losses = ["0", "0.02", "0.2"];
    let jitters = ["0ms", "6ms", "12ms"];
    let mut text = star(3, (1100, 100)) + &members(3) + &flow("s", CALL);
    for n in 1..=3 {
        write!(
            text,
            "[[impairments]]\nlink = \"r-m{n}\"\nloss = {}\njitter = \"{}\"\n",
            losses[n - 1],
            jitters[n - 1]
        )
        .expect("a string");
    }
    let outcome = outcome(&text);
    for (n, own) in outcome.receivers.iter().enumerate() {
        assert_eq!(own.name, format!("rtp-1 at m{}", n + 1));
        let (told, played) = (media(own).reported, media(own).played);
        let reported = real(told.reported_lost) / real(told.reported_expected);
        let truly = real(played.lost) / real(played.expected);
        assert!((reported - truly).abs() < 0.002, "{n}: {reported} {truly}");
        let of_network = real(own.dropped_packets) / real(own.sent_packets);
        assert!((truly - of_network).abs() < 0.001, "{n}: {truly}");
        // Both in picoseconds; the reported one is cut to units of 125 us.
        let mean = |sum: u128, count: u64| sum / u128::from(count.max(1)) / 1_000_000;
        let reported = mean(told.reported_jitter_sum, told.receiver_reports);
        let truly = mean(own.jitter_sum, own.delivered_packets - 1);
        assert!(
            reported.abs_diff(truly) < 130 + truly / 20,
            "{n}: {reported} us {truly} us"
        );
        assert!(told.receiver_reports > 150, "{n}: {told:?}");
        // 40 ms, and the transmission of the reports.
        let trip = told.reported_rtt_sum / u128::from(told.reported_rtt_count);
        let jitter = u128::from([0_u64, 3, 6][n]) * 1_000_000_000;
        let off = trip.abs_diff(40_000_000_000 + jitter);
        assert!(off < 1_000_000_000, "{n}: {trip}");
    }
    // The row of the flow has all of them together.
    let whole = media(&outcome.flows[0]);
    let sum = |read: fn(&MediaOutcome) -> u64| {
        let all = outcome.receivers.iter();
        all.map(|own| read(media(own))).sum::<u64>()
    };
    assert_eq!(whole.receivers, 3);
    assert_eq!(
        whole.reported.reported_lost,
        sum(|m| m.reported.reported_lost)
    );
    assert_eq!(whole.played.expected, sum(|m| m.played.expected));
    let goodput: u64 = outcome.receivers.iter().map(|own| own.goodput_bytes).sum();
    assert_eq!(outcome.flows[0].goodput_bytes, goodput);
}

#[test]
fn who_comes_late_has_lost_nothing_before_and_who_leaves_says_bye() {
    let late = member(2, "join = \"300s\"\nleave = \"500s\"\n");
    let text = star(2, (800, 0)) + &members(1) + &late + &flow("s", CALL);
    let outcome = outcome(&text);
    let [always, guest] = [0, 1].map(|n| media(&outcome.receivers[n]));
    assert_eq!((guest.played.lost, guest.reported.reported_lost), (0, 0));
    // 50 packets in a second; the first and the last are on their way at a turn.
    assert!(guest.played.expected.abs_diff(200 * 50) < 4, "{guest:?}");
    let expected = guest.reported.reported_expected;
    assert!((180 * 50..200 * 50).contains(&expected), "{expected}");
    // Reports every five seconds, and a BYE, which the sender does not count as report.
    let reports = guest.reported.receiver_reports;
    assert!((30..52).contains(&reports), "{reports}");
    assert_eq!(guest.reported.rtcp_packets, reports + 1);
    assert_eq!(
        always.reported.rtcp_packets,
        always.reported.receiver_reports
    );
}

#[test]
fn who_comes_back_is_a_new_participant_and_has_lost_nothing_meanwhile() {
    let twice = member(1, "join = \"100s\"\nleave = \"200s\"\n") + &member(1, "join = \"400s\"\n");
    let text = star(1, (500, 0)) + &twice + &flow("s", CALL);
    let outcome = outcome(&text);
    let own = media(&outcome.receivers[0]);
    assert_eq!((own.played.lost, own.reported.reported_lost), (0, 0));
    assert!(own.played.expected.abs_diff(200 * 50) < 6, "{own:?}");
    let expected = own.reported.reported_expected;
    assert!((160 * 50..200 * 50).contains(&expected), "{expected}");
}

/// Reports that all members have sent until the end of a run.
fn sent(outcome: &RunOutcome) -> u64 {
    let all = outcome.receivers.iter();
    all.map(|own| media(own).reported.rtcp_packets).sum()
}

#[test]
fn after_a_flash_join_members_hold_their_reports_back() {
    let count = 200;
    let together: String = (1..=count).map(|n| member(n, "join = \"50s\"\n")).collect();
    let by = |seconds: u64, reconsideration: bool| {
        let more = format!("{TICK}reconsideration = {reconsideration}\n");
        let text = star(count, (50 + seconds, 0)) + &together + &flow("s", &more);
        sent(&outcome(&text))
    };
    // Without it all have reported by the end of the first wait: 2.5 s x 1.5 / 1.21828.
    assert!(by(4, false) >= 200);
    // With it most are held back, and from then on the share of the receivers is kept: some 750 / 88 in a second.
    let early = by(4, true);
    assert!(early < 100, "{early}");
    let later = by(14, true) - early;
    assert!((40..130).contains(&later), "{later}");
}

#[test]
fn when_most_leave_the_rest_report_more_often_once_the_byes_are_said() {
    let (count, leavers) = (150, 140);
    let leave = (1..=leavers).map(|n| member(n, "leave = \"300s\"\n"));
    let stay = (leavers + 1..=count).map(|n| member(n, ""));
    let people: String = leave.chain(stay).collect();
    let by = |(end, warmup): (u64, u64)| {
        let text = star(count, (end, warmup)) + &people + &flow("s", &TICK.replace("160", "40"));
        let outcome = outcome(&text);
        let rest = outcome.receivers[leavers..].iter();
        rest.map(|own| media(own).reported.rtcp_packets)
            .sum::<u64>()
    };
    // 150 members have a wait of 150 x 88 / 187.5 = 70 s, eleven one of 5 s. The BYEs take their share of the band, too: 140 of 64
    // bytes last for 48 s, and the waits shrink as they come. Then there are two reports in a second.
    let (before, after) = (by((300, 250)), by((400, 350)));
    assert!(before < 20, "{before}");
    assert!((85..115).contains(&after), "{after}");
}

#[test]
fn members_who_leave_together_hear_the_byes_of_others_and_say_theirs_one_after_another() {
    let said = |count: usize, seconds: u64| {
        let people: String = (1..=count)
            .map(|n| member(n, "leave = \"300s\"\n"))
            .collect();
        let text = star(count, (300 + seconds, 300)) + &people + &flow("s", TICK);
        sent(&outcome(&text))
    };
    // 100 members may send 750 bytes in a second; nobody waits for more than 2.5 s x 1.5 / 1.21828 = 3.1 s unless it hears others.
    let (first, all) = (said(100, 4), said(100, 40));
    assert!((10..70).contains(&first), "{first}");
    assert_eq!(all, 100);
    // A few say it at once.
    assert_eq!(said(20, 1), 20);
}

#[test]
fn a_session_has_several_senders_each_reported_by_all() {
    let talk = format!("{CALL}rtcp_least = \"1s\"\n");
    let text = star(2, (300, 50)) + &members(2) + &flow("s", &talk) + &flow("t", &talk);
    let outcome = outcome(&text);
    let names: Vec<&str> = (outcome.receivers.iter())
        .map(|own| own.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["rtp-1 at m1", "rtp-1 at m2", "rtp-2 at m1", "rtp-2 at m2"]
    );
    for own in &outcome.receivers {
        let told = media(own).reported;
        assert!(told.receiver_reports > 150, "{}: {told:?}", own.name);
        assert_eq!((told.reported_lost, media(own).played.lost), (0, 0));
    }
    // Two members and the other sender report on each sender.
    for flow in &outcome.flows {
        let told = media(flow).reported;
        let by_members: u64 = (outcome.receivers.iter())
            .filter(|own| own.name.starts_with(&flow.name))
            .map(|own| media(own).reported.receiver_reports)
            .sum();
        assert!(told.receiver_reports > by_members + 100, "{told:?}");
    }
}

#[test]
fn lazy_and_eager_agree_and_a_file_of_results_holds_what_came_out() {
    let guest = member(3, "join = \"20s\"\nleave = \"60s\"\n");
    let video = "source = \"(video rate=600kbps gop=60)\"\npayload = \"1200B\"\n";
    let text = star(3, (90, 10)) + &members(2) + &guest + &flow("s", video);
    let text = text + "[[impairments]]\nlink = \"r-m1\"\nloss = 0.01\n";
    let ours = outcome(&text);
    let eager = outcome(&text.replace("[run]\n", "[run]\neager = true\n"));
    assert_eq!(ours.receivers, eager.receivers);
    let table = |kind| Some(batch(kind, 0, &ours).expect("a table"));
    let optional = OptionalTables {
        receivers: table(Kind::Receivers),
        media: table(Kind::Media),
        ..OptionalTables::default()
    };
    let [runs, flows, queues] =
        [Kind::Runs, Kind::Flows, Kind::Queues].map(|kind| batch(kind, 0, &ours).expect("a table"));
    let read = read_run(&runs, &flows, &queues, &optional).expect("a run");
    assert_eq!(read.receivers, ours.receivers);
    assert_eq!(read.flows, ours.flows);
    // Only who lost packets saw frames missing.
    let lost = |n: usize| media(&ours.receivers[n]).played.frames_lost;
    assert!(lost(0) > 50 && lost(1) == 0, "{} {}", lost(0), lost(1));
}

#[test]
fn what_needs_one_receiver_or_one_session_is_refused_with_the_remedy() {
    let base = star(2, (10, 0)) + &members(2);
    let refused = |flows: &str, wanted: &str| {
        let error = read(&format!("{base}{flows}")).expect_err("refused");
        assert!(error.contains(wanted), "{error}\nlacks: {wanted}");
    };
    let video = "source = \"(video)\"\n";
    refused(
        &flow("s", &format!("{video}control = \"nada\"\n")),
        "flows[0].control",
    );
    refused(&flow("s", "feedback = \"50ms\"\n"), "send to a node");
    refused(
        &(flow("s", "") + &flow("t", "bandwidth = \"1Mbps\"\n")),
        "flows[1].bandwidth: all RTP flows to a group are one session, but rtp-1 has bandwidth = \"80kbps\", not \"1Mbps\"",
    );
    refused(
        &(flow("s", "") + &flow("t", video)),
        "timestamps of rtp-1 have 8000 units per second, not 90000",
    );
    let srm = "[[flows]]\nkind = \"srm\"\nsource = \"(cbr rate=100kbps size=100B)\"\nfrom = \"t\"\nto = \"call\"\n";
    refused(&(flow("s", "") + srm), "already has a session of its own");
}
