//! Limits in time and in bandwidth-delay products: what they become in each topology, and that they run.

use sojourn_queue::sizing::SizedLimit;
use sojourn_run::compile::{Compiled, compile};
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::resolved::Resolved;
use sojourn_units::{Bytes, Rate, Span};

fn read(text: &str) -> Result<Scenario, String> {
    let document = Document::parse(text, "case.toml").map_err(|error| error.to_string())?;
    Scenario::from_document(&document).map_err(|error| error.to_string())
}

fn resolved(text: &str) -> Resolved {
    let scenario = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    scenario.resolve().expect(text)
}

/// The limits of the queue that a key names.
fn limits(full: &Resolved, key: &str) -> Vec<SizedLimit> {
    let queues = full.sized_queues().into_iter();
    let queue = queues.filter(|queue| queue.key == key);
    queue.flat_map(|queue| queue.sized.clone()).collect()
}

fn longest(compiled: &Compiled) -> Span {
    let trips = compiled.flows.iter().map(|flow| flow.base_rtt);
    trips.max().expect("a flow")
}

const FLOW: &str = "[[flows]]\nkind = \"reno\"\n";

#[test]
fn a_buffer_in_time_or_bdp_reaches_every_queue_of_the_bottleneck() {
    for (buffer, bytes) in [
        ("50ms", 62_500),
        ("1bdp", 50_000),
        ("0.25bdp", 12_500),
        ("2bdp", 100_000),
    ] {
        for queue in [
            "droptail",
            "codel",
            "fq_codel",
            "drr limit=none each=(red)",
            "prio each=(pie)",
        ] {
            let full = resolved(&format!(
                "[topology]\nbuffer = \"{buffer}\"\nqueue = \"{queue}\"\n{FLOW}"
            ));
            for key in ["topology.queue", "topology.reverse_queue"] {
                let limits = limits(&full, key);
                if queue.starts_with("drr") {
                    // It has a limit of its own, none, which the buffer leaves alone.
                    assert!(limits.is_empty());
                    continue;
                }
                let [limit] = &limits[..] else {
                    panic!("{queue}: {limits:?}");
                };
                assert_eq!(limit.bytes, Bytes::new(bytes), "{queue} {buffer}");
                assert_eq!(limit.asked.to_string(), buffer);
                assert_eq!(limit.packets.get(), bytes / 1500);
            }
            compile(&full, 0).expect(queue);
        }
    }
}

#[test]
fn the_round_trip_of_a_bdp_is_the_longest_of_the_flows_as_they_run() {
    let cases = [
        ("[topology]\nrtt = \"40ms\"\n", ""),
        (
            "[topology]\nbottleneck_delay = \"3ms\"\naccess_delay = \"1ms\"\n",
            "",
        ),
        ("[topology]\nrtt = \"40ms\"\n", "rtt = \"100ms\"\n"),
        ("[topology]\nrtt = \"40ms\"\n", "direction = \"reverse\"\n"),
        ("[topology]\nkind = \"chain\"\nhops = 3\n", ""),
        (
            "[topology]\nkind = \"chain\"\nhops = 3\n",
            "from = \"n1\"\nto = \"n2\"\n",
        ),
        ("[topology]\nkind = \"parking_lot\"\n", "count = 4\n"),
        (
            "[topology]\nkind = \"parking_lot\"\nend_to_end = 0\n",
            "count = 2\n",
        ),
    ];
    for (topology, flow) in cases {
        let text = format!("{topology}buffer = \"1bdp\"\n{FLOW}{flow}");
        let full = resolved(&text);
        let trip = longest(&compile(&full, 0).expect("compiled"));
        let limits = limits(&full, "topology.queue");
        assert_eq!(limits[0].round_trip, Some(trip), "{text}");
    }
}

#[test]
fn each_link_of_a_graph_has_the_flows_that_cross_it() {
    let text = "[[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"100Mbps\"\ndelay = \"1ms\"\nqueue = \"droptail limit=1bdp\"\n\
        [[links]]\nfrom = \"b\"\nto = \"c\"\nrate = \"10Mbps\"\nreverse_rate = \"2Mbps\"\ndelay = \"9ms\"\nqueue = \"codel limit=1bdp\"\n\
        [[links]]\nfrom = \"b\"\nto = \"d\"\ndelay = \"40ms\"\n\
        [[flows]]\nkind = \"reno\"\nfrom = \"a\"\nto = \"c\"\n\
        [[flows]]\nkind = \"reno\"\nfrom = \"a\"\nto = \"d\"\n";
    let full = resolved(text);
    let bytes = |key: &str| {
        let limits = limits(&full, key);
        (limits[0].bytes.get(), limits[0].rate, limits[0].round_trip)
    };
    // The flow to d, of 82 ms, crosses the first link but not the second.
    let (long, short) = (Some(Span::from_ms(82)), Some(Span::from_ms(20)));
    assert_eq!(bytes("links[0].queue"), (1_025_000, Rate::mbps(100), long));
    assert_eq!(bytes("links[1].queue"), (25_000, Rate::mbps(10), short));
    assert_eq!(
        bytes("links[1].reverse_queue"),
        (5_000, Rate::mbps(2), short)
    );
    assert!(limits(&full, "links[2].queue").is_empty());
}

#[test]
fn the_manifest_s_scenario_has_bytes_and_runs_the_same() {
    let text = format!(
        "[topology]\nbuffer = \"0.5bdp\"\nqueue = \"prio each=(codel limit=20ms),(red)\"\n{FLOW}"
    );
    let full = resolved(&text);
    let written = full.to_document().to_toml();
    assert!(written.contains("buffer = \"0.5bdp\""), "{written}");
    assert!(
        written.contains("limit=25kB") && !written.contains("limit=20ms"),
        "{written}"
    );
    let again = resolved(&written);
    assert!(again.sized_queues().is_empty());
    assert_eq!(again.as_given(), full.as_given());
    compile(&again, 0).expect("compiled");
}

#[test]
fn a_packet_is_as_large_as_that_of_the_flows() {
    let text = "[topology]\nbuffer = \"50ms\"\nqueue = \"droptail dialect=linux_head\"\n";
    for (flow, packets) in [
        ("[[flows]]\nkind = \"reno\"\n", "41p"),
        ("[[flows]]\nkind = \"reno\"\nmss = \"585B\"\n", "100p"),
        (
            "[[flows]]\nkind = \"cbr\"\nrate = \"1Mbps\"\nsize = \"97B\"\n",
            "500p",
        ),
        ("[[flows]]\nkind = \"web\"\n", "41p"),
    ] {
        let full = resolved(&format!("{text}{flow}"));
        assert_eq!(limits(&full, "topology.queue")[0].became, packets, "{flow}");
    }
}

#[test]
fn a_change_of_the_rate_leaves_the_limit_and_a_schedule_has_no_rate() {
    let text = format!("[topology]\nbuffer = \"50ms\"\n{FLOW}");
    let change = "[[changes]]\nat = \"0s\"\nlink = \"left-right\"\nrate = \"1Mbps\"\n";
    let full = resolved(&format!("{text}{change}"));
    assert_eq!(limits(&full, "topology.queue")[0].bytes, Bytes::new(62_500));
    let schedule = "[[opportunities]]\nlink = \"left-right\"\nevery = \"1ms\"\n";
    assert_eq!(
        read(&format!("{text}{schedule}")).unwrap_err(),
        "case.toml:2: topology.buffer: \"50ms\" needs a nominal rate, and a link that sends at [[opportunities]] has none; \
         write packets or bytes, such as 100p or 64kB"
    );
}

#[test]
fn what_cannot_be_computed_is_said_with_its_key_and_line() {
    for (text, expected) in [
        (
            "[[links]]\nfrom = \"a\"\nto = \"b\"\n\
             [[links]]\nfrom = \"b\"\nto = \"c\"\nqueue = \"droptail limit=1bdp\"\n\
             [[flows]]\nkind = \"reno\"\nfrom = \"a\"\nto = \"b\"\n",
            "case.toml:7: links[1].queue: \"1bdp\" needs a base round trip, and no flow crosses the link; \
             write packets or bytes, such as 100p or 64kB, or a time such as 50ms",
        ),
        (
            "[topology]\nbuffer = \"0ms\"\n[[flows]]\nkind = \"reno\"\n",
            "case.toml:2: topology.buffer: \"0s\" is out of range, allowed is more than zero",
        ),
        (
            "[topology]\nqueue = \"codel limit=1bdp traget=5ms\"\n[[flows]]\nkind = \"reno\"\n",
            "case.toml:2: topology.queue: codel: unknown parameter \"traget\", did you mean \"target\"?",
        ),
        (
            "[topology]\nqueue = \"red min=1bdp max=0.5bdp limit=2bdp dialect=linux\"\n[[flows]]\nkind = \"reno\"\n",
            "case.toml:2: topology.queue: red: min, 50000 bytes, is above max, 25000 bytes",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
