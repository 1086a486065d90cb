//! What the study `rtp-codel-drr` says of a published comparison: its DRR is ns-2's to the packet, its CoDel tables speak of a buffer
//! that is limited in bytes.

use sojourn_results::metrics::{Subject, find};
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;
use sojourn_study::study::Study;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/rtp-codel-drr");

struct Runs(Study);

impl Runs {
    fn read() -> Runs {
        Runs(Study::read(format!("{FOLDER}/study.toml").as_ref()).expect("the study"))
    }

    fn one(&self, experiment: &str, levels: &[(&str, &str)]) -> RunOutcome {
        let of = |point: &&_| is_at(point, experiment, levels);
        let found: Vec<_> = self.0.points.iter().filter(of).collect();
        assert_eq!(found.len(), 1, "{experiment} {levels:?}");
        run(&found[0].scenario().expect("a scenario"), 0).expect("a run")
    }
}

fn is_at(point: &sojourn_study::study::Point, experiment: &str, levels: &[(&str, &str)]) -> bool {
    let at = |(factor, level): &(&str, &str)| point.levels[*factor] == *level;
    point.experiment == experiment && levels.iter().all(at)
}

fn of_flows(run: &RunOutcome, metric: &str, label: &str) -> f64 {
    let flows = run
        .flows
        .iter()
        .filter(|flow| label.is_empty() || flow.label == label);
    let subject = Subject::Flows(flows.collect(), run.measured, run.active());
    find(metric, None).unwrap().0.value(&subject).expect(metric)
}

fn of_link(run: &RunOutcome, metric: &str, link: &str) -> f64 {
    let queues: Vec<_> = run
        .queues
        .iter()
        .filter(|queue| queue.link == link)
        .collect();
    assert_eq!(queues.len(), 1, "{link}");
    let subject = Subject::Queues(queues, run.measured);
    find(metric, None).unwrap().0.value(&subject).expect(metric)
}

#[test]
fn drr_gives_what_ns2_gives_for_the_same_sources() {
    let runs = Runs::read();
    let text = std::fs::read_to_string(format!("{FOLDER}/ns2.csv")).expect("ns2.csv");
    let mut compared = 0;
    for line in text.lines().filter(|line| line.starts_with("fit-")) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<f64>().expect(line);
        let levels = [
            ("access", cells[1]),
            ("bandwidth", cells[2]),
            ("queue", "DRR"),
        ];
        let run = runs.one(cells[0], &levels);
        let counts = [
            of_link(&run, "sent_packets", "s1-a"),
            of_link(&run, "sent_packets", "s2-a"),
            of_flows(&run, "delivered_packets", "R1"),
            of_flows(&run, "delivered_packets", "R2"),
        ];
        for (i, ours) in counts.into_iter().enumerate() {
            assert!((ours - number(3 + i)).abs() < 0.5, "{line}: {counts:?}");
        }
        let size = of_flows(&run, "packet_bytes_mean", "");
        assert!((size - number(7)).abs() < 0.051, "{line}: {size}");
        let sojourn = 1e3 * of_link(&run, "sojourn_s_mean", "a-b");
        assert!((sojourn - number(8)).abs() < 0.0051, "{line}: {sojourn}");
        let dropped = ["a-b", "s1-a"].map(|link| of_link(&run, "dropped_packets", link));
        assert!((dropped[0] - number(9)).abs() < 0.5, "{line}: {dropped:?}");
        assert!((dropped[1] - number(10)).abs() < 0.5, "{line}: {dropped:?}");
        compared += 1;
    }
    assert_eq!(compared, 28);
}

#[test]
fn only_a_limit_in_bytes_makes_codel_lose_the_large_packets_as_published() {
    let runs = Runs::read();
    let size = |limit: &str| {
        let levels = [("traffic", "A"), ("bandwidth", "1"), ("limit", limit)];
        of_flows(&runs.one("limit", &levels), "packet_bytes_mean", "")
    };
    // Table 3.3: 469 bytes at 1 Mbps, 515 where nothing is lost.
    for limit in ["20 packets", "50 packets", "1000 packets"] {
        assert!(size(limit) > 515.0, "{limit}: {}", size(limit));
    }
    for limit in ["25 kB", "55 kB"] {
        assert!(
            (465.0..480.0).contains(&size(limit)),
            "{limit}: {}",
            size(limit)
        );
    }
}

#[test]
fn codel_of_equal_buffers_is_within_two_percent_of_what_was_published_in_all() {
    let runs = Runs::read();
    // Table 3.3, bottleneck and packets received; S1 behind 5 Mbps.
    let published = [
        ("1", 1766.0),
        ("2", 3347.0),
        ("3", 4395.0),
        ("4", 4854.0),
        ("10", 4866.0),
    ];
    for (bandwidth, received) in published {
        let levels = [
            ("access", "5"),
            ("bandwidth", bandwidth),
            ("queue", "CoDel"),
        ];
        let ours = of_flows(&runs.one("fit-a", &levels), "delivered_packets", "");
        assert!((ours / received - 1.0).abs() < 0.02, "{bandwidth}: {ours}");
    }
}
