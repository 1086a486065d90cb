//! QUIC beside TCP, both with Reno's window, through a queue whose drops are random. Through DropTail the shares hang on the phase of
//! the flows (Floyd and Jacobson 1991): sixteen bytes more in a packet may turn half of the link into twice.

use sojourn_run::run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;

/// Goodput of two QUIC flows over that of two TCP flows, over three runs.
fn share(quic: &str) -> f64 {
    let text = format!(
        r#"
flows = ["2*sack", "2*quic cc=reno {quic}"]
[run]
duration = "100s"
warmup = "10s"
[topology]
rate = "20Mbps"
rtt = "40ms"
queue = "pie"
"#
    );
    let document = Document::parse(&text, "shares.toml").unwrap();
    let scenario = Scenario::from_document(&document).unwrap();
    let mut bytes = [0_u64; 2];
    for replication in 0..3 {
        for flow in run(&scenario, replication).unwrap().flows {
            bytes[usize::from(flow.label == "quic")] += flow.goodput_bytes;
        }
    }
    let [tcp, quic] = bytes.map(|bytes| f64::from(u32::try_from(bytes / 1000).unwrap()));
    quic / tcp
}

#[test]
fn quic_and_tcp_share_a_link_by_the_size_of_their_packets() {
    // 1160 bytes of the stream in a packet against 1448.
    let smaller = share("");
    assert!((0.73..0.87).contains(&smaller), "{smaller}");
    let equal = share("mss=1448B headers=52B");
    assert!((0.93..1.07).contains(&equal), "{equal}");
}

#[test]
fn over_quic_too_what_lives_by_marks_keeps_the_queue_at_the_threshold() {
    for control in ["dctcp", "prague"] {
        let flow = |more: &str| {
            format!(
                r#"
flows = ["quic cc={control}{more}"]
[run]
duration = "20s"
warmup = "5s"
[topology]
rate = "20Mbps"
rtt = "20ms"
queue = "step threshold=4p"
"#
            )
        };
        let read = |text: &str| {
            let document = Document::parse(text, "marks.toml").unwrap();
            Scenario::from_document(&document)
        };
        let scenario = read(&flow("")).unwrap();
        let outcome = run(&scenario, 0).unwrap();
        let median = outcome.queues[0].sojourn.quantile(0.5).unwrap();
        // Picoseconds.
        assert!(
            (500_000_000..6_000_000_000).contains(&median),
            "{control}: {median}"
        );
        let error = read(&flow(" ecn=false")).and_then(|scenario| run(&scenario, 0));
        let error = error.expect_err("no marks").to_string();
        assert!(error.contains("lives by marks"), "{error}");
    }
}
