//! Transfers over networks that lose, reorder, delay and mark as they like.

use super::{Outcome, Path};
use crate::app::tests::Script;
use crate::tcp::runs::Fifo;
use proptest::prelude::*;
use sojourn_cc::ALGORITHMS;
use sojourn_sim::{ImpairmentSpec, Loss};
use sojourn_units::{Span, Time};

/// A transfer over a network that does what it likes.
#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    seed: u64,
    algorithm: &'static str,
    loss: f64,
    loss_back: f64,
    duplicate: f64,
    jitter_us: u64,
    reorder: bool,
    limit: u64,
    mark_at: u64,
    /// Milliseconds after the write before, and bytes.
    writes: &'a [(u64, u64)],
    dialect: &'static str,
    detection: &'static str,
    reduction: &'static str,
    blocks: &'static str,
    window: &'static str,
    min_rto: &'static str,
    switches: [bool; 9],
    knows: &'static str,
    flows: u32,
}

impl Default for Case<'_> {
    fn default() -> Self {
        Case {
            seed: 0,
            algorithm: "reno",
            loss: 0.0,
            loss_back: 0.0,
            duplicate: 0.0,
            jitter_us: 0,
            reorder: false,
            limit: 2,
            mark_at: u64::MAX,
            writes: &[],
            dialect: "rfc",
            detection: "rack",
            reduction: "prr",
            blocks: "1",
            window: "none",
            min_rto: "1s",
            switches: [false; 9],
            knows: "same",
            flows: 1,
        }
    }
}

impl Case<'_> {
    /// Switch `index` as the value of a parameter.
    fn flag(&self, index: usize) -> &'static str {
        match self.switches[index] {
            true => "true",
            false => "false",
        }
    }

    /// The parameters that every TCP has.
    fn tcp(&self) -> [(&'static str, &'static str); 6] {
        let ecn = match self.mark_at {
            u64::MAX => "false",
            _ => "true",
        };
        [
            ("window", self.window),
            ("min_rto", self.min_rto),
            ("limited_transmit", self.flag(0)),
            ("validate_window", self.flag(1)),
            ("nagle", self.flag(1)),
            ("ecn", ecn),
        ]
    }

    /// Those of selective acknowledgement.
    fn sack(&self) -> [(&'static str, &'static str); 12] {
        // ns-3 has no Accurate ECN, and without it Prague cannot find out what the receiver knows.
        let ns3 = self.dialect == "ns3";
        [
            ("detection", self.detection),
            ("reduction", self.reduction),
            ("sack_blocks", self.blocks),
            ("tail_probe", self.flag(2)),
            ("frto", self.flag(3)),
            ("timestamps", self.flag(4)),
            ("undo", self.flag(5)),
            ("dsack", self.flag(0)),
            ("accurate_ecn", if ns3 { "false" } else { self.flag(6) }),
            ("accurate_ecn_option", self.flag(7)),
            ("pacing", self.flag(8)),
            (
                "receiver_ecn",
                if self.switches[6] && !ns3 {
                    self.knows
                } else {
                    "same"
                },
            ),
        ]
    }

    fn run(&self, eager: bool) -> Outcome {
        let mut at = Time::ZERO;
        let writes: Vec<_> = self
            .writes
            .iter()
            .map(|&(ms, bytes)| {
                at += Span::from_ms(ms);
                (at, bytes)
            })
            .collect();
        Path {
            flows: self.flows,
            dialect: self.dialect,
            cc: self.algorithm,
            source: Script::writes(&writes),
            forward: Fifo::of(self.limit).marking(self.mark_at),
            impair: [self.loss, self.loss_back].map(|loss| ImpairmentSpec {
                loss: Loss::Bernoulli(loss),
                duplicate: self.duplicate,
                jitter: Span::from_us(self.jitter_us),
                reorder: self.reorder,
                ..ImpairmentSpec::default()
            }),
            seed: self.seed,
            eager,
            run: Span::from_secs(20_000),
            ..Path::default()
        }
        .with(&self.tcp())
        .sack(&self.sack())
        .run()
    }
}

/// Writes whose last segment is short, in dialect rfc, where RACK finds losses.
fn short_ends_by_time() -> Vec<Case<'static>> {
    vec![
        Case {
            seed: 16_311_924_166_329_803_764,
            algorithm: "bbr",
            loss: 0.016979020606928623,
            writes: &[(0, 3_001), (1_283, 14_001)],
            window: "20kB",
            ..Case::default()
        },
        Case {
            seed: 7_267_438_725_773_170_089,
            algorithm: "bbr",
            loss: 0.05176612655958366,
            writes: &[(0, 49_332), (0, 44_827), (0, 43_842)],
            window: "1460B",
            ..Case::default()
        },
        Case {
            seed: 4_804_920_564_909_839_037,
            algorithm: "bbr",
            loss: 0.06543805428239666,
            limit: 6,
            writes: &[(0, 24_001)],
            window: "20kB",
            ..Case::default()
        },
        Case {
            seed: 5_190_106_060_453_793_071,
            algorithm: "bbr",
            loss: 0.0791577981213104,
            limit: 6,
            writes: &[(1_039, 9_001), (53, 0)],
            flows: 2,
            ..Case::default()
        },
        Case {
            seed: 6_263_551_431_180_250_094,
            algorithm: "bbr",
            loss: 0.19960779914069546,
            jitter_us: 5_270,
            writes: &[(53, 2_001), (248, 19_001), (109, 0)],
            min_rto: "0s",
            switches: [true, false, false, false, false, false, false, false, false],
            flows: 2,
            ..Case::default()
        },
    ]
}

/// The same where segments above are counted.
fn short_ends_by_count() -> Vec<Case<'static>> {
    vec![
        Case {
            algorithm: "bbr",
            writes: &[(0, 12_001)],
            detection: "count",
            window: "20kB",
            flows: 2,
            ..Case::default()
        },
        Case {
            seed: 4_112_577_852_070_533_816,
            algorithm: "bbr",
            loss: 0.0249261955870962,
            limit: 6,
            writes: &[(0, 32_001)],
            detection: "count",
            window: "20kB",
            flows: 2,
            ..Case::default()
        },
        Case {
            seed: 7_785_066_915_873_425_412,
            algorithm: "bbr",
            loss: 0.11540760890188666,
            jitter_us: 16_932,
            writes: &[(0, 40_001)],
            detection: "count",
            window: "20kB",
            flows: 2,
            ..Case::default()
        },
    ]
}

/// The same in dialect linux.
fn short_ends_of_linux() -> Vec<Case<'static>> {
    vec![
        Case {
            seed: 13_477_322_910_963_352_388,
            algorithm: "bbr",
            loss: 0.05648824438941098,
            limit: 19,
            writes: &[(48, 27_001)],
            dialect: "linux",
            flows: 2,
            ..Case::default()
        },
        Case {
            seed: 9_994_512_226_207_938_420,
            algorithm: "bbr",
            loss: 0.13415113303528217,
            writes: &[(0, 54_759), (0, 26_105), (0, 40_356), (0, 17_781)],
            dialect: "linux",
            window: "1460B",
            ..Case::default()
        },
        Case {
            seed: 16_950_397_377_167_527_497,
            algorithm: "bbr",
            loss: 0.17775470440212823,
            limit: 19,
            mark_at: 14,
            writes: &[(48, 24_001), (411, 33_001)],
            dialect: "linux",
            window: "20kB",
            min_rto: "0s",
            switches: [true, true, false, false, true, false, false, false, false],
            flows: 2,
            ..Case::default()
        },
        Case {
            seed: 2_783_947_751_669_438_146,
            algorithm: "bbr",
            loss: 0.197436368388231,
            limit: 4,
            writes: &[(0, 5_001)],
            dialect: "linux",
            window: "20kB",
            switches: [false, false, true, false, false, false, false, false, false],
            ..Case::default()
        },
    ]
}

/// A recovery can begin with the acknowledgement of a short segment while nothing else is in flight.
#[test]
fn bbr_keeps_a_segment_of_window_where_a_recovery_begins_with_a_short_one() {
    let cases = [
        short_ends_by_time(),
        short_ends_by_count(),
        short_ends_of_linux(),
    ];
    for case in cases.concat() {
        let outcome = case.run(false);
        outcome.assert_delivered(case.writes.iter().map(|write| write.1).sum());
        assert_eq!(outcome, case.run(true), "{case:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_whatever_the_network_does(
        seed in any::<u64>(),
        algorithm in 0..ALGORITHMS.len(),
        loss in prop_oneof![Just(0.0), 0.0..0.2f64],
        loss_back in prop_oneof![Just(0.0), 0.0..0.2f64],
        duplicate in prop_oneof![Just(0.0), 0.0..0.1f64],
        jitter_us in prop_oneof![Just(0u64), 0..30_000u64],
        reorder in any::<bool>(),
        limit in 2..60u64,
        mark_at in prop_oneof![Just(u64::MAX), 1..20u64],
        writes in prop::collection::vec((0..3_000u64, 0..60_000u64), 0..6),
        dialect in prop_oneof![Just("rfc"), Just("linux"), Just("ns3")],
        detection in prop_oneof![Just("rack"), Just("count")],
        reduction in prop_oneof![Just("prr"), Just("prr_linux"), Just("halt")],
        blocks in prop_oneof![Just("1"), Just("3")],
        window in prop_oneof![Just("none"), Just("1460B"), Just("20kB")],
        min_rto in prop_oneof![Just("1s"), Just("200ms"), Just("0s")],
        switches in prop::collection::vec(any::<bool>(), 9),
        knows in prop_oneof![Just("same"), Just("classic"), Just("none")],
        flows in 1..3u32,
    ) {
        let algorithm = ALGORITHMS[algorithm].name;
        let switches = |index: usize| switches[index];
        let case = Case {
            seed,
            algorithm,
            loss,
            loss_back,
            duplicate,
            jitter_us,
            reorder,
            limit,
            mark_at,
            writes: &writes,
            dialect,
            detection,
            reduction,
            blocks,
            window,
            min_rto,
            switches: std::array::from_fn(switches),
            knows,
            flows,
        };
        let bytes = writes.iter().map(|write| write.1).sum();
        let lazy = case.run(false);
        lazy.assert_delivered(bytes);
        prop_assert_eq!(lazy, case.run(true));
    }
}
