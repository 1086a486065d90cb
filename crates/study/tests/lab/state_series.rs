//! State as time series: of what is inside schedulers, of senders, of workloads, and the figures of all that was recorded.

use sojourn_conform::replay::{read_arrivals, replay_sampled};
use sojourn_report::Figure;
use sojourn_results::outcome::{RunOutcome, SeriesOutcome};
use sojourn_run::run;
use sojourn_study::study::{Executed, Options, Study, execute};
use sojourn_study::summary::summarize;
use sojourn_units::{Rate, Span};
use std::collections::BTreeMap;

use crate::support::{scenario, study};

fn outcome(text: &str) -> RunOutcome {
    run::run(&scenario(text), 0).expect("a run")
}

fn find<'a>(series: &'a [SeriesOutcome], of: &str, quantity: &str) -> &'a SeriesOutcome {
    let mut all = series.iter();
    let found = all.find(|series| series.of == of && series.quantity == quantity);
    found.unwrap_or_else(|| panic!("no {quantity} of {of}"))
}

fn finite(series: &SeriesOutcome) -> Vec<f64> {
    let values = series.values.iter().copied();
    values.filter(|value| value.is_finite()).collect()
}

fn overloaded(queue: &str, rest: &str) -> String {
    format!(
        "flows = [\"2*newreno\", \"cbr 3Mbps\"]\n[run]\nduration = \"4s\"\nwarmup = \"0s\"\n{rest}\n\
        [topology]\nrate = \"4Mbps\"\nrtt = \"30ms\"\nqueue = \"{queue}\"\n"
    )
}

const INSIDE: [(&str, &str, &str); 14] = [
    ("drr each=(codel)", "queue-0", "count"),
    ("drrpp each=(codel)", "queue-0", "count"),
    ("srr each=(red)", "queue-1", "average_packets"),
    ("sfq each=(red)", "queue-1", "count_packets"),
    ("wfq each=(blue)", "queue-1", "drop_probability"),
    ("qfq each=(pie)", "queue-1", "drop_probability"),
    ("wrr each=(pie)", "queue-1", "accumulated_probability"),
    ("prio bands=1 each=(codel)", "queue-0", "dropping"),
    ("fq_codel", "queue-2", "count"),
    ("fq_pie", "queue-2", "queue_delay_s"),
    ("fq_cobalt", "queue-2", "drop_probability"),
    ("tbf rate=3Mbps each=(codel)", "queue-0", "count"),
    ("htb each=(fq_codel)", "queue-0/queue-0", "count"),
    ("htb each=(fq_codel)", "queue-0", "new_queues"),
];

#[test]
fn the_state_of_what_is_inside_a_scheduler_is_recorded_by_queue_lazy_and_eager() {
    for (queue, place, quantity) in INSIDE {
        let record = "[series]\nrecord = \"queues, state\"\nstep = \"50ms\"\n";
        let lazy = outcome(&(overloaded(queue, "") + record));
        let eager = outcome(&(overloaded(queue, "eager = true") + record));
        assert_eq!(
            format!("{:?}", lazy.series),
            format!("{:?}", eager.series),
            "{queue}"
        );
        let of = format!("left-right/{place}");
        assert!(
            !finite(find(&lazy.series, &of, quantity)).is_empty(),
            "{queue}"
        );
        // To look changes nothing.
        let unseen = outcome(&overloaded(queue, ""));
        assert_eq!(lazy.flows, unseen.flows, "{queue}");
        assert_eq!(
            format!("{:?}", lazy.queues),
            format!("{:?}", unseen.queues),
            "{queue}"
        );
    }
}

#[test]
fn each_flow_of_cake_has_the_state_of_its_cobalt() {
    let text =
        overloaded("cake bandwidth=3Mbps", "") + "[series]\nrecord = \"queues\"\nstep = \"50ms\"\n";
    let series = outcome(&text).series;
    let of_flow = |s: &&SeriesOutcome| s.of.starts_with("left-right/queue-");
    let counts = series.iter().filter(|s| s.quantity == "count");
    let signals: Vec<&SeriesOutcome> = counts.filter(of_flow).collect();
    assert!(signals.len() >= 3, "{}", signals.len());
    assert!(
        signals
            .iter()
            .any(|s| finite(s).iter().any(|count| *count > 0.0))
    );
}

#[test]
fn of_many_queues_the_first_64_are_recorded() {
    let text = "flows = [\"70*cbr 20kbps\"]\n[run]\nduration = \"3s\"\nwarmup = \"0s\"\n\
        [topology]\nrate = \"1Mbps\"\nqueue = \"drr each=(codel)\"\n\
        [series]\nrecord = \"queues\"\nstep = \"500ms\"\n";
    let series = outcome(text).series;
    let of = |quantity: &str| series.iter().filter(|s| s.quantity == quantity).count();
    assert_eq!((of("queue_packets"), of("count")), (64, 64));
}

#[test]
fn the_average_of_red_in_each_queue_is_what_its_packets_find() {
    // With a weight of one the average is the length that the last packet finds. At 1 ms one of the three that waited is sent.
    let input = "time_ns,bytes,flow,ecn\n0,1000,7,0\n1,1000,7,0\n2,1000,7,0\n3,1000,7,0\n4,1000,9,0\n1500000,1000,9,0\n";
    let arrivals = read_arrivals(input.as_bytes(), "in.csv").expect("readable");
    let queue = "drr quantum=1000B each=(red dialect=paper weight=1 min=5p max=15p limit=20p)";
    let queue = queue.parse().expect("a spec");
    let step = Span::from_us(1600);
    let (_, series) =
        replay_sampled(&arrivals, &queue, Rate::mbps(8), None, 1, step).expect("it runs");
    let average = |of: &str| find(&series, of, "average_packets").values[0];
    assert_eq!(
        (average("queue/queue-0"), average("queue/queue-1")),
        (2.0, 1.0)
    );
    // None is near a drop.
    assert_eq!(
        find(&series, "queue/queue-0", "count_packets").values[0],
        -1.0
    );
}

#[test]
fn senders_tell_their_pacing_rate_and_their_phase() {
    let text = "flows = [\"tfrc\", \"quic cc=reno\", \"newreno\", \"reno dialect=ns2\"]\n\
        [run]\nduration = \"20s\"\nwarmup = \"2s\"\n\
        [topology]\nrate = \"4Mbps\"\nrtt = \"40ms\"\nqueue = \"droptail limit=12p\"\n\
        [series]\nrecord = \"cwnd, rtt, pacing, phase\"\nstep = \"20ms\"\n";
    let [lazy, eager] = ["", "eager = true\n"]
        .map(|mode| outcome(&text.replace("[run]\n", &format!("[run]\n{mode}"))).series);
    assert_eq!(format!("{lazy:?}"), format!("{eager:?}"));
    let last = |of: &str, quantity: &str| *find(&lazy, of, quantity).values.last().expect("one");
    // A window is the allowed rate times the round trip (RFC 5348), and QUIC sends a quarter more than a window per round trip
    // (RFC 9002, section 7.7).
    let window = |of: &str| last(of, "pacing_bps") * last(of, "srtt_s") / 8.0;
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
    assert!(near(window("tfrc-1"), last("tfrc-1", "cwnd_bytes")));
    assert!(near(window("quic-1"), 1.25 * last("quic-1", "cwnd_bytes")));
    for of in ["quic-1", "newreno-1", "reno-1"] {
        let phases = finite(find(&lazy, of, "phase"));
        assert_eq!(phases.len(), 1000, "{of}");
        assert!(phases.contains(&0.0) && phases.contains(&3.0), "{of}");
        assert!(phases.iter().all(|phase| (0.0..=4.0).contains(phase)));
    }
}

#[test]
fn a_workload_tells_how_many_connections_are_open_and_the_sums_of_their_windows() {
    let text = "flows = [\"workload sizes=(fixed bytes=1MB) interval=1s connections=4 transfers=3\"]\n\
        [run]\nduration = \"60s\"\nwarmup = \"0s\"\n\
        [topology]\nrate = \"4Mbps\"\nrtt = \"40ms\"\n\
        [series]\nrecord = \"cwnd, rtt\"\nstep = \"50ms\"\n";
    let outcome = outcome(text);
    let transfers = &outcome.flows[0].transfers;
    assert_eq!(transfers.len(), 3);
    let of = |quantity: &str| find(&outcome.series, "workload-1", quantity);
    let (open, cwnd) = (of("open_connections"), of("cwnd_bytes"));
    let sent = of("in_flight_bytes");
    assert_eq!(open.values.len(), 1200);
    assert!(open.values.iter().any(|open| *open >= 1.0));
    assert!(open.values.iter().all(|open| (0.0..=3.0).contains(open)));
    for ((open, cwnd), sent) in open.values.iter().zip(&cwnd.values).zip(&sent.values) {
        assert!(*open > 0.0 || (*cwnd == 0.0 && *sent == 0.0));
    }
    assert!(cwnd.values.iter().any(|cwnd| *cwnd > 10_000.0));
    // When all is over none is open, and there is no round trip.
    assert_eq!(open.values.last(), Some(&0.0));
    assert!(
        of("srtt_s")
            .values
            .last()
            .is_some_and(|value| value.is_nan())
    );
    assert!(finite(of("srtt_s")).iter().all(|rtt| *rtt >= 0.04));
}

fn figures(study: &Study) -> Vec<Figure> {
    let options = Options::default();
    let Executed { results, .. } =
        execute(study, run::run_resolved, None, options).expect("executed");
    let summary = summarize(&results.expect("all runs")).expect("a summary");
    summary.figures().cloned().collect()
}

#[test]
fn whatever_is_recorded_is_drawn() {
    let text = "flows = [\"newreno\", \"bbr\", \"9*cbr 300kbps\"]\n[run]\nduration = \"5s\"\nwarmup = \"1s\"\nreplications = 1\n\
        [topology]\nrate = \"4Mbps\"\nrtt = \"30ms\"\nqueue = \"fq_codel\"\n\
        [series]\nrecord = \"all\"\nstep = \"100ms\"\n";
    let figures = figures(&study(text));
    let of = |id: &str| {
        let mut all = figures.iter();
        let found = all.find(|figure| figure.id == id);
        found.unwrap_or_else(|| panic!("no {id}"))
    };
    let series = outcome(text).series;
    for recorded in series.iter().filter(|series| !finite(series).is_empty()) {
        // The threshold is in the figure of the window, the capacity in those of what links carry.
        if !["ssthresh_bytes", "capacity_bps"].contains(&recorded.quantity.as_str()) {
            let figure = of(&format!("{}-time", recorded.quantity.replace('_', "-")));
            assert!(!figure.rows.is_empty(), "{}", recorded.quantity);
        }
    }
    let windows = of("cwnd-bytes-time");
    let dashed = &windows.series.as_ref().expect("series").dashed;
    assert_eq!(
        dashed.get("newreno-1, threshold").map(String::as_str),
        Some("newreno-1")
    );
    let labels = |figure: &Figure| {
        let rows = figure.rows.iter();
        let mut labels: Vec<String> = rows.map(|row| row["series"].to_string()).collect();
        labels.sort();
        labels.dedup();
        labels.len()
    };
    let queues = of("queue-bytes-time");
    assert_eq!(labels(queues), 8);
    assert!(
        queues
            .thinned
            .as_deref()
            .is_some_and(|text| text.contains("Of 11 queues"))
    );
    assert_eq!(labels(of("throughput-bps-time")), 12);
    // Of this many, the main ones come first and stay in sight; states are steps.
    let folded: Vec<bool> = figures.iter().map(|figure| figure.folded).collect();
    let open = folded.iter().filter(|folded| !**folded).count();
    assert!(folded.is_sorted() && open < 10, "{folded:?}");
    assert!(!windows.folded && queues.folded);
    for (id, steps) in [
        ("phase-time", true),
        ("mode-time", true),
        ("pacing-gain-time", true),
        ("srtt-s-time", false),
        ("backlog-packets-time", false),
    ] {
        assert_eq!(of(id).steps, steps, "{id}");
    }
}

#[test]
fn throughput_is_drawn_beside_what_the_link_could_have_carried_once_in_each_panel() {
    let text = "flows = [\"newreno\"]\n[run]\nduration = \"4s\"\nwarmup = \"1s\"\nreplications = 1\n\
        [topology]\nrate = \"4Mbps\"\nrtt = \"30ms\"\n\
        [[changes]]\nlink = \"left-right\"\nat = \"2s\"\nrate = \"1Mbps\"\n\
        [series]\nrecord = \"throughput, capacity\"\nstep = \"100ms\"\n\
        [[experiment]]\nname = \"queues\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
        values = [\"droptail\", \"codel\"]\n\
        [[figure]]\nexperiment = \"queues\"\nid = \"throughput\"\ntitle = \"Throughput\"\nkind = \"time\"\ny = \"throughput_bps\"\n\
        series = \"queue\"\n";
    let figures = figures(&study(text));
    let figure = figures.first().expect("a figure");
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &figure.rows {
        *labels
            .entry(row["series"].as_str().expect("a label"))
            .or_default() += 1;
    }
    let expected = [
        ("CoDel", 40),
        ("DropTail", 40),
        ("left-right, capacity", 40),
    ];
    assert_eq!(labels, BTreeMap::from(expected));
}

#[test]
fn a_total_over_time_is_the_sum_of_the_lines_of_its_flows() {
    let text = "flows = [{ kind = \"newreno\", label = \"down\", count = 3 }, \"cubic\"]\n\
        [run]\nduration = \"3s\"\nwarmup = \"1s\"\nreplications = 1\n\
        [series]\nrecord = \"throughput\"\nstep = \"100ms\"\n\
        [[experiment]]\nname = \"queues\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
        values = [\"droptail\", \"codel\"]\n\
        [[figure]]\nid = \"each\"\nkind = \"time\"\ny = \"throughput_bps\"\nof = \"down\"\nseries = \"queue\"\n\
        [[figure]]\nid = \"sum\"\nkind = \"time\"\ny = \"throughput_bps_sum\"\nof = \"down\"\nseries = \"queue\"\n";
    let figures = figures(&study(text));
    let values = |place: usize| {
        let mut values: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
        for row in &figures[place].rows {
            let label = row["series"].as_str().expect("a label");
            let queue = label.split(',').next().unwrap_or(label).to_owned();
            let at = (queue, row["x"].to_string());
            values
                .entry(at)
                .or_default()
                .push(row["y"].as_f64().expect("a number"));
        }
        values
    };
    let (each, sums) = (values(0), values(1));
    assert_eq!(each.len(), 60);
    assert!(each.keys().eq(sums.keys()));
    for (at, sum) in &sums {
        assert_eq!((each[at].len(), sum.len()), (3, 1), "{at:?}");
        let expected: f64 = each[at].iter().sum();
        assert!((sum[0] - expected).abs() < 1e-9, "{at:?}");
    }
    assert_eq!(figures[1].y.title, "Throughput, total");
    assert_eq!(figures[1].y.unit.as_deref(), Some("Mbps"));
}

#[test]
fn capacity_makes_no_figure_of_what_was_not_recorded_and_one_of_its_own_alone() {
    let over_time = |record: &str| -> Vec<String> {
        let text = format!(
            "flows = [\"newreno\"]\n[run]\nduration = \"2s\"\nwarmup = \"1s\"\nreplications = 1\n\
            [series]\nrecord = \"{record}\"\nstep = \"100ms\"\n"
        );
        let figures = figures(&study(&text));
        let ids = figures.into_iter().map(|figure| figure.id);
        ids.filter(|id| id.ends_with("-time")).collect()
    };
    assert_eq!(over_time("throughput, capacity"), ["throughput-bps-time"]);
    assert_eq!(over_time("capacity"), ["capacity-bps-time"]);
}
