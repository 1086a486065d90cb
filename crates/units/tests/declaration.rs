//! Parameters declared from another crate, as every algorithm's file does, at each visibility.

/// As in an algorithm's file: nothing imported but what the declaration names.
pub mod algorithm {
    use sojourn_units::{Span, choice, params};

    choice! {
        /// What is dropped when the queue is full.
        pub enum Victim {
            /// The packet that arrives.
            Tail = "tail",
            /// The packet that has waited longest.
            Head = "head",
        }
    }

    choice! {
        /// How it is counted.
        pub(crate) enum Unit {
            /// By packet.
            Packet = "packet",
        }
    }

    params! {
        /// A queue.
        pub struct QueueParams {
            /// Dropped when full.
            victim: Victim = "tail", source "this test";
            /// Acceptable delay.
            target: Span = "5ms", range "1us".., source "this test";
        }
        dialects Dialect {
            /// As printed.
            paper as Paper = "paper" {}
            /// As built.
            linux as Linux = "linux-6.1" { victim = "head" from "this test"; }
        }
    }

    params! {
        /// A counter.
        pub(crate) struct CounterParams {
            /// Counted by.
            unit: Unit = "packet", source "this test";
        }
    }
}

use algorithm::{CounterParams, QueueParams, Unit, Victim};
use sojourn_units::{ParamInfo, Params, Spec, build, check_declaration};

#[test]
fn a_declaration_in_another_crate_holds_together() {
    assert_eq!(check_declaration::<QueueParams>(), Ok(()));
    assert_eq!(check_declaration::<CounterParams>(), Ok(()));
    assert_eq!(CounterParams::default().unit, Unit::Packet);
}

#[test]
fn a_spec_sets_parameters_and_dialect() {
    let spec: Spec = "queue dialect=linux target=\"15 ms\""
        .parse()
        .expect("a spec");
    let params: QueueParams = build(None, &spec.pairs()).expect("parameters");
    assert_eq!(params.victim, Victim::Head);
    assert_eq!(params.release(), "linux-6.1");
    assert_eq!(
        params.pairs(),
        [("victim", "head".to_owned()), ("target", "15ms".to_owned())]
    );
}

#[test]
fn a_table_can_be_printed_without_knowing_the_algorithm() {
    fn rows<P: Params>() -> Vec<String> {
        let row = |info: &ParamInfo| {
            let kind = info.kind().unit_text();
            format!(
                "{} | {kind} | {} | {}",
                info.name,
                info.default,
                info.range_text()
            )
        };
        P::TABLE.iter().map(row).collect()
    }
    assert_eq!(
        rows::<QueueParams>(),
        [
            "victim | one of tail, head | tail | ",
            "target | duration, such as 5ms | 5ms | at least 1us"
        ]
    );
}
