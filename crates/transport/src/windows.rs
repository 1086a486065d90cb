//! What no window may do, for every congestion control over every transport: outgrow what its losses allow, or what was ever in flight.

use crate::app::tests::Script;
use crate::paths::{Flow, Path};
use crate::report::Gauges;
use sojourn_cc::{ALGORITHMS, CongestionControl, EcnUse, registry};
use sojourn_sim::{ImpairmentSpec, Loss};
use sojourn_units::{Rate, Span, Time};

const TRANSPORTS: [&str; 4] = ["sack", "sack by counting", "plain", "quic"];

/// A flow of `name` over a transport, with the parameters that it needs; `None` where the transport lacks what the algorithm asks for.
fn over(transport: &str, name: &'static str) -> Option<(Flow, Vec<(&'static str, &'static str)>)> {
    let traits = registry::build(name, None, &[]).unwrap().traits();
    match transport {
        "sack" => Some((Flow::Tcp(name), Vec::new())),
        "sack by counting" => Some((Flow::Tcp(name), vec![("detection", "count")])),
        "plain" => {
            let needs_more = traits.samples || traits.timestamps || traits.ecn != EcnUse::Classic;
            (!needs_more).then(|| (Flow::Plain(name), Vec::new()))
        }
        _ => Some((Flow::Quic(name), Vec::new())),
    }
}

fn real(value: u64) -> f64 {
    f64::from(u32::try_from(value).unwrap())
}

/// The mean window over 40 s, in segments, of a flow over 100 Mbps and 50 ms that loses such packets and began with a window of 1000.
fn window_at(loss: Loss, flow: Flow, mut params: Vec<(&'static str, &'static str)>) -> f64 {
    params.push(("initial_window", "1000"));
    let path = Path {
        flows: vec![flow],
        params,
        rate: Rate::mbps(100),
        warm_up: Span::from_secs(20),
        run: Span::from_secs(60),
        every: Some(Span::from_ms(5)),
        impair: [
            ImpairmentSpec {
                loss,
                ..ImpairmentSpec::default()
            },
            ImpairmentSpec::default(),
        ],
        ..Path::default()
    };
    let gauges = &path.run().gauges[0];
    let sum: u64 = gauges.iter().map(|gauge| gauge.cwnd_bytes).sum();
    real(sum / u64::try_from(gauges.len()).unwrap()) / 1460.0
}

/// The larger of Reno's and CUBIC's windows at a loss, segments (Mathis et al. 1997; RFC 9438 section 5.1).
fn response(loss: f64) -> f64 {
    (1.31 / loss.sqrt()).max(1.054 * libm::pow(0.05 / loss, 0.75))
}

/// The mean window of one that grows by `alpha` segments per round trip and falls by the part `beta` (Floyd, Handley and Padhye 2000).
fn aimd(alpha: f64, beta: f64, loss: f64) -> f64 {
    (alpha * (2.0 - beta) / (2.0 * beta) / loss).sqrt()
}

/// The window that an algorithm's own text leaves at such a loss, segments; `None` where it does not follow losses.
fn own_response(name: &str, loss: f64) -> Option<f64> {
    match name {
        // The rate is measured, and losses below a fiftieth are no reason to lower it.
        "bbr" | "bbr3" => None,
        // By delay; a loss changes nothing but in competition.
        "copa" => None,
        // The window falls to the measured rate, which losses at random hardly lower.
        "westwood" => None,
        // Up to ten segments per round trip and an eighth off where the queue is short.
        "illinois" => Some(aimd(10.0, 0.125, loss)),
        // Up to 16 segments per round trip and a fifth off.
        "bic" => Some(aimd(16.0, 0.2, loss)),
        _ => Some(response(loss)),
    }
}

/// Loses one packet in the given number.
fn regular(every: u64) -> Loss {
    Loss::List((1..400_000 / every).map(|n| n * every).collect())
}

#[test]
fn no_window_outgrows_what_the_losses_of_its_flow_allow() {
    let cases = [
        (0.01, Loss::Bernoulli(0.01)),
        (0.01, regular(100)),
        (0.0025, regular(400)),
    ];
    for (part, loss) in cases {
        for algorithm in ALGORITHMS {
            let Some(most) = own_response(algorithm.name, part) else {
                continue;
            };
            for transport in TRANSPORTS {
                let Some((flow, params)) = over(transport, algorithm.name) else {
                    continue;
                };
                let window = window_at(loss.clone(), flow, params);
                assert!(
                    window < 3.0 * most,
                    "{} over {transport}: {window:.0} segments at a loss of {part}, {most:.0} are right",
                    algorithm.name
                );
            }
        }
    }
}

#[test]
fn flights_that_count_beyond_the_window_lock_cubic_where_recoveries_touch() {
    let windows = ["true", "false"].map(|bound| {
        let params = vec![("bound_flight", bound)];
        window_at(regular(100), Flow::Tcp("cubic"), params)
    });
    assert!(windows[1] > 10.0 * windows[0], "{windows:?}");
}

/// The greatest window and the most that was in flight, bytes, of a flow over 100 Mbps and 50 ms that its source holds back, or its peer's window.
fn used(flow: Flow, mut params: Vec<(&'static str, &'static str)>, by_peer: bool) -> (u64, u64) {
    let source = if by_peer {
        params.push(("window", "40kB"));
        None
    } else {
        // 2 Mbps.
        let write = |n| (Time::ZERO + Span::from_ms(10) * n, 2500);
        Some(Script::writes(&(0..2000).map(write).collect::<Vec<_>>()))
    };
    let path = Path {
        flows: vec![flow],
        params,
        source,
        rate: Rate::mbps(100),
        warm_up: Span::ZERO,
        run: Span::from_secs(20),
        every: Some(Span::from_ms(5)),
        ..Path::default()
    };
    let gauges = &path.run().gauges[0];
    let most = |of: fn(&Gauges) -> u64| gauges.iter().map(of).max().unwrap();
    (
        most(|gauge| gauge.cwnd_bytes),
        most(|gauge| gauge.in_flight_bytes),
    )
}

/// Why the window of an algorithm grows unused where the transport does not validate it.
fn grows_unused(name: &str) -> Option<&'static str> {
    match name {
        "cubic" => None,
        // A model of the path, or a bound by what is in flight (RFC 6817 section 2.4.2).
        "bbr" | "bbr3" | "ledbat" => None,
        "dctcp" => Some("RFC 8257 section 3.3 leaves growth to RFC 5681"),
        "prague" => {
            Some("RFC 9331 asks for no validation; the draft grows by what is acknowledged")
        }
        "highspeed" => Some("RFC 3649 changes the steps of RFC 5681, not when it takes them"),
        "ledbat_plus" => Some("the draft leaves out the bound of RFC 6817"),
        "copa" | "vegas" | "veno" | "yeah" | "illinois" | "htcp" | "bic" | "scalable" | "hybla"
        | "westwood" | "lp" | "compound" => Some("its paper has sources that always have data"),
        // As RFC 7661 section 1 says of it.
        _ => Some("RFC 5681 opens the window for what is acknowledged, used or not"),
    }
}

#[test]
fn no_window_outgrows_what_was_ever_in_flight() {
    for (algorithm, validates) in ALGORITHMS.iter().flat_map(|a| [(a, false), (a, true)]) {
        for transport in TRANSPORTS {
            for by_peer in [false, true] {
                let Some((flow, mut params)) = over(transport, algorithm.name) else {
                    continue;
                };
                let quic = transport == "quic";
                // QUIC validates always (RFC 9002 section 7.8), and its peer's window is not modelled.
                if quic && (by_peer || !validates) {
                    continue;
                }
                if validates && !quic {
                    params.push(("validate_window", "true"));
                }
                let (window, flight) = used(flow, params, by_peer);
                let times = real(window) / real(flight.max(14_600));
                let most = match algorithm.name {
                    // The gain of the search, 2 / ln 2, and room for what acknowledgements bring at once.
                    "bbr" => 3.5,
                    // Slow start adds three segments for one at this round trip, to twice what is in flight.
                    "hybla" => 5.0,
                    _ => 2.6,
                };
                let place = format!(
                    "{} over {transport}, by_peer={by_peer}, validate_window={validates}: {window} bytes for {flight}",
                    algorithm.name
                );
                if validates || grows_unused(algorithm.name).is_none() {
                    assert!(times < most, "{place}");
                } else {
                    assert!(times > 10.0, "does not grow unused: {place}");
                }
            }
        }
    }
}
