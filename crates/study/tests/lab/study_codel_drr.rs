//! The DRR half of the study `codel-drr-bandwidth-mtu` beside ns-2.35 itself: with its starts and the phases of its senders' clocks
//! the run is ns-2's.

use super::support::scenario;
use sojourn_results::metrics::{Subject, find};
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;
use sojourn_sim::Mrg32k3a;
use std::fmt::Write;

const ROWS: &str = include_str!("../../../../tests/data/ns2-2.35/drr-two-way.csv");

/// Five FTP flows and two CBR flows each way, a tenth of a second apart. Every sender of TCP has drawn a phase when it was made and draws
/// another when the run begins: those of the left hosts first, host by host, then those of the right ones.
fn text(rate: &str, payload: &str, cbr: &str, ftp: u32, limit: &str) -> String {
    let (mut draws, senders) = (Mrg32k3a::new(1, 0, 0), 2 * ftp);
    let mut text = String::new();
    for _ in 0..senders {
        draws.uniform();
    }
    let mut order = Vec::new();
    for way in 0..2 {
        for host in 0..5 {
            order.extend((0..ftp).filter(|i| i % 5 == host).map(|i| 2 * i + way));
        }
    }
    let ways = ["forward", "reverse"];
    write!(
        text,
        "name = \"two-way\"\ndialect = \"ns2\"\n[run]\nduration = \"60s\"\nwarmup = \"0s\"\n[topology]\nkind = \"dumbbell\"\n\
         rate = \"{rate}Mbps\"\nbottleneck_delay = \"20ms\"\naccess_delay = \"5ms\"\naccess_rate = \"100Mbps\"\npairs = 5\n\
         queue = \"drr limit={limit}B buckets=64\"\n"
    )
    .expect("text");
    let mut phase_of = vec![0.0; order.len()];
    for sender in order {
        phase_of[usize::try_from(sender).expect("few")] = 0.01 * draws.uniform();
    }
    for (sender, phase) in (0..senders).zip(phase_of) {
        let way = ways[usize::try_from(sender % 2).expect("two")];
        write!(
            text,
            "[[flows]]\nkind = \"reno\"\nwindow = \"64p\"\npayload = \"{payload}B\"\ndirection = \"{way}\"\nstart = \"{}ms\"\n\
             tick_phase = \"{phase:.12}s\"\n",
            100 * sender
        )
        .expect("text");
    }
    for source in 0..4 {
        let way = ways[source % 2];
        write!(
            text,
            "[[flows]]\nkind = \"cbr\"\nrate = \"200kbps\"\nsize = \"{cbr}B\"\ndirection = \"{way}\"\nstart = \"{}ms\"\n",
            100 * (usize::try_from(senders).expect("few") + source)
        )
        .expect("text");
    }
    text
}

fn of_link(run: &RunOutcome, metric: &str, link: &str) -> f64 {
    let queues: Vec<_> = run.queues.iter().filter(|q| q.link == link).collect();
    assert_eq!(queues.len(), 1, "{link}");
    let subject = Subject::Queues(queues, run.measured);
    find(metric, None)
        .expect(metric)
        .0
        .value(&subject)
        .expect(metric)
}

#[test]
fn drr_under_two_way_traffic_is_that_of_ns2_to_the_packet() {
    let mut reader = csv::Reader::from_reader(ROWS.as_bytes());
    let mut compared = 0;
    for row in reader.records() {
        let row = row.expect("a row");
        let number = |i: usize| row[i].parse::<f64>().expect("a number");
        let ftp = row[3].parse().expect("a count");
        let scenario = scenario(&text(&row[0], &row[1], &row[2], ftp, &row[4]));
        let run = run(&scenario, 0).expect("a run");
        let name = format!("{row:?}");
        let dropped = of_link(&run, "dropped_packets", "left-right");
        assert_eq!(dropped, number(6), "{name}");
        let both = dropped + of_link(&run, "dropped_packets", "right-left");
        assert!((both / 60.0 - number(9)).abs() < 1e-4, "{name}: {both}");
        for (link, column) in [("left-right", 7), ("right-left", 8)] {
            let sojourn = of_link(&run, "sojourn_s_mean", link);
            // Six digits are printed; delays of ns-2's trace are whole microseconds.
            let near = (sojourn / number(column) - 1.0).abs() < 1e-4;
            assert!(near, "{name}: {link} {sojourn}");
        }
        compared += 1;
    }
    assert_eq!(compared, 7);
}
