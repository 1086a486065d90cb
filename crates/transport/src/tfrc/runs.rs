//! TFRC over a network, alone and beside Reno.

use super::*;
use crate::paths::{Flow, Path};
use sojourn_sim::Loss;
use sojourn_units::{Rate, check_declaration};

/// A given number of flows of TFRC, then of Reno.
fn shared(tfrc: usize, reno: usize) -> Path {
    let mut flows = vec![Flow::Tfrc; tfrc];
    flows.resize(tfrc + reno, Flow::Tcp("reno"));
    Path {
        flows,
        ..Path::default()
    }
}

#[test]
fn the_declaration_holds_together() {
    assert_eq!(check_declaration::<TfrcParams>(), Ok(()));
}

#[test]
fn under_random_loss_the_rate_is_that_of_the_equation_and_near_renos() {
    for loss in [0.002, 0.01, 0.04] {
        let mut path = Path {
            rate: Rate::mbps(1000),
            ..shared(4, 4)
        };
        path.impair[0].loss = Loss::Bernoulli(loss);
        let outcome = path.run();
        let all = outcome.rates(&path);
        let tfrc = all[..4].iter().sum::<f64>() / 4.0;
        let reno = all[4..].iter().sum::<f64>() / 4.0;
        // Packets that are lost one by one are loss events of their own, except for those within a round trip of the last.
        let law = rate(1460.0, 0.05, loss);
        assert!(
            (0.6..1.6).contains(&(tfrc / law)),
            "{loss}: {tfrc} against {law}"
        );
        assert!(
            (0.5..2.0).contains(&(tfrc / reno)),
            "{loss}: {tfrc} against {reno}"
        );
    }
}

#[test]
fn without_loss_it_fills_the_link_and_starts_by_doubling_what_was_received() {
    let path = Path {
        limit: 100,
        ..shared(1, 0)
    };
    let outcome = path.run();
    let goodput = outcome.rates(&path)[0] * 8.0;
    assert!(goodput > 0.8e7 * 1460.0 / 1500.0, "{goodput}");
    // 4380 bytes in a round trip of 50 ms; what is received shows a doubling after one and a half, so seven of them make for
    // more than two doublings and no more than six.
    let start = Path {
        rate: Rate::mbps(1000),
        warm_up: Span::ZERO,
        run: Span::from_ms(400),
        ..shared(1, 0)
    };
    let outcome = start.run();
    let (allowed, p, rtt) = outcome.tfrc[0];
    let times = allowed / (4380.0 / rtt);
    assert!(
        (4.0..64.0).contains(&times) && p == 0.0,
        "{times} {p} {rtt}"
    );
}

#[test]
fn it_shares_a_bottleneck_with_reno() {
    let path = Path {
        limit: 60,
        ..shared(2, 2)
    };
    let outcome = path.run();
    let all = outcome.rates(&path);
    let (tfrc, reno) = (all[0] + all[1], all[2] + all[3]);
    assert!((0.33..3.0).contains(&(tfrc / reno)), "{all:?}");
}

#[test]
fn marks_count_as_losses_and_nothing_is_dropped() {
    let path = Path {
        ecn: true,
        mark_at: Some(30),
        limit: 400,
        ..shared(1, 0)
    };
    let outcome = path.run();
    let (_, p, _) = outcome.tfrc[0];
    assert!(p > 0.0);
    assert!(outcome.rates(&path)[0] * 8.0 > 0.6e7);
}

#[test]
fn without_feedback_the_rate_halves_until_it_is_least() {
    let mut path = Path {
        warm_up: Span::ZERO,
        run: Span::from_secs(600),
        ..shared(1, 0)
    };
    // Reports stop after a while: everything is lost on the way back from the hundredth on.
    path.impair[1].loss = Loss::List((100..100_000).collect());
    let outcome = path.run();
    assert!(outcome.senders[0].timeouts > 10);
    assert!(outcome.tfrc[0].0 < 1460.0, "{}", outcome.tfrc[0].0);
}

#[test]
fn a_transfer_ends_and_both_modes_agree_whatever_the_network_does() {
    for (seed, loss, reorder) in [(1, 0.0, false), (2, 0.03, false), (3, 0.05, true)] {
        let path = Path {
            bytes: Some(200_000),
            warm_up: Span::ZERO,
            limit: 20,
            seed,
            ..shared(2, 1)
        }
        .troubled(loss, reorder);
        let lazy = path.run();
        let eager = Path {
            eager: true,
            ..path
        };
        assert_eq!(lazy, eager.run());
        for (sender, receiver) in lazy.senders.iter().zip(&lazy.receivers).take(2) {
            assert!(sender.completed.is_some() && sender.bytes_acked == 200_000);
            assert!(receiver.goodput_bytes <= 200_000);
            assert!(receiver.goodput_bytes > 120_000, "{receiver:?}");
        }
    }
}
