//! Every congestion control, in each of its dialects, over every transport that takes it, fills a link that it has for itself.

use sojourn_cc::ALGORITHMS;
use sojourn_results::stats::to_f64;
use sojourn_run::run::run;
use sojourn_scenario::LabError;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;

/// TCP without and with selective acknowledgement, and QUIC. `recovery=reno` is left out: after several losses in one window it waits for
/// timeouts (RFC 6582 section 1), whatever the control.
const TRANSPORTS: [&str; 3] = ["tcp recovery=newreno", "tcp recovery=sack", "quic"];

/// What does not fill the link, and why that is right: control, dialect, transport, reason.
const EXCEPTIONS: [(&str, &str, &str, &str); 4] = [
    (
        "vegas",
        "ns3",
        "tcp recovery=sack",
        "ns-3.44 itself uses 52 to 58 % of this link with segments of 1448 bytes",
    ),
    (
        "ledbat",
        "ns3",
        "quic",
        "tcp-ledbat.cc, CongestionAvoidance: no growth beyond what is in flight, which QUIC tells packet by packet",
    ),
    (
        "lp",
        "ns3",
        "tcp recovery=sack",
        "ns-3.44 itself uses 5.7 % of this link: the least delay counts for congestion, and the window goes to one segment",
    ),
    ("lp", "ns3", "quic", "as over TCP"),
];

/// A flow alone: 10 Mbps, a round trip of 40 ms, room for 240 ms. The queue is longer than LEDBAT's target of 100 ms.
fn alone(flow: &str) -> Result<Scenario, LabError> {
    let text = format!(
        r#"
flows = ["{flow}"]
[run]
duration = "60s"
warmup = "40s"
replications = 1
[topology]
rate = "10Mbps"
rtt = "40ms"
buffer = "200p"
"#
    );
    let document = Document::parse(&text, "alone.toml").expect("TOML");
    Scenario::from_document(&document)
}

/// The share of the link that the flow uses in the last 20 of 60 s; `None` where the transport does not take the control.
fn share(flow: &str) -> Option<f64> {
    let outcome = match alone(flow).and_then(|scenario| run(&scenario, 0)) {
        Ok(outcome) => outcome,
        Err(error) => {
            // Without selective acknowledgement there are no samples.
            let text = error.to_string();
            assert!(
                text.contains("needs selective acknowledgement"),
                "{flow}: {text}"
            );
            return None;
        }
    };
    let queue = &outcome.queues[0];
    assert!(queue.bottleneck);
    Some(8.0 * to_f64(queue.sent_bytes) / 10e6 / outcome.measured.as_secs_f64())
}

#[test]
fn every_control_over_every_transport_that_takes_it_fills_an_idle_link() {
    let mut idle = Vec::new();
    let mut tried = 0;
    for algorithm in ALGORITHMS {
        for dialect in algorithm.dialects {
            for transport in TRANSPORTS {
                let (control, dialect) = (algorithm.name, dialect.name);
                let flow = match transport {
                    "quic" => format!("quic cc=({control} dialect={dialect})"),
                    tcp => format!("{tcp} cc={control} dialect={dialect}"),
                };
                let Some(share) = share(&flow) else {
                    continue;
                };
                tried += 1;
                if share < 0.8 {
                    idle.push((control, dialect, transport));
                }
            }
        }
    }
    let excepted = EXCEPTIONS.map(|(control, dialect, transport, _)| (control, dialect, transport));
    assert_eq!(idle, excepted, "an exception that fills the link is none");
    assert!(tried > 2 * ALGORITHMS.len(), "{tried}");
}
