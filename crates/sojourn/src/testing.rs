//! The property suites that the algorithms of Sojourn pass, as tests of your own. Of the feature `testing`.
//!
//! A queue discipline is given by what registers it and by the specifications to test, a control as well:
//!
//! ```
//! # mod mine {
//! #     pub fn register() {}
//! # }
//! sojourn::property_suite_queue!(mine::register, ["codel", "codel target=1ms limit=50p"]);
//! sojourn::property_suite_control!(mine::register, ["reno", "reno ecn_factor=0.8"]);
//! # fn main() {}
//! ```
//!
//! Each property becomes a `#[test]`. The functions behind them are in [`queue`] and [`control`], for tests of another form.

/// The properties of queue disciplines.
pub mod queue {
    pub use sojourn_queue::properties::{
        a_light_load_passes, capable_packets_are_marked, declaration_holds_together,
        every_flow_is_served_under_overload, lazy_links_equal_eager_ones, limit_is_never_exceeded,
        reading_the_state_changes_nothing, shown_queues_hold_what_it_holds,
        sparse_packets_get_through, tracing_changes_no_count,
    };
    pub use sojourn_sim::Ties;
    pub use sojourn_sim::testing::Shape;
}

/// The properties of congestion controls.
pub mod control {
    pub use sojourn_cc::properties::{
        no_reduction_raises_the_window, window_grows_with_what_is_acknowledged,
        window_is_at_least_a_segment,
    };
    pub use sojourn_run::properties::{
        answers_losses, answers_marks, every_byte_arrives, fills_a_path, shares_with_itself,
    };
}

use self::queue::{Shape, Ties};
use sojourn_units::{Span, Spec};

/// Registers and calls a property with each specification.
///
/// # Panics
/// If one cannot be read.
pub fn each(register: impl Fn(), specs: &[&str], property: impl Fn(&Spec)) {
    register();
    for text in specs {
        property(&spec(text));
    }
}

/// A specification.
///
/// # Panics
/// If it cannot be read.
pub fn spec(text: &str) -> Spec {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Random networks with this queue, every order of events that happen together, whole and impaired links, with and without a device
/// queue.
pub fn random_networks(spec: &Spec) {
    for (seed, ties) in (0..30_u64).zip(
        [Ties::Birth, Ties::Ns2Clock, Ties::DeparturesFirst]
            .into_iter()
            .cycle(),
    ) {
        let shape = Shape {
            ties,
            eager: false,
            impaired: seed.is_multiple_of(2),
            device_queue: u32::from(seed.is_multiple_of(4)),
        };
        queue::lazy_links_equal_eager_ones(spec, seed, shape);
    }
}

/// Random networks in which one, every second or every third link has this queue, with and without a trace.
pub fn traced_networks(spec: &Spec) {
    for (seed, among) in (0..30).zip([1, 2, 3].into_iter().cycle()) {
        queue::tracing_changes_no_count(spec, seed, among);
    }
}

/// Overloads of different lengths.
pub fn overloads(spec: &Spec) {
    for fill in [100, 300, 1000, 4000] {
        queue::sparse_packets_get_through(spec, Span::from_ms(fill));
    }
}

/// Random arrivals of different seeds.
pub fn random_arrivals(spec: &Spec) {
    for seed in 0..20 {
        queue::limit_is_never_exceeded(spec, seed);
    }
}

/// Tests that a queue discipline has the properties of Sojourn's own. Give what registers it, and the specifications to test.
#[macro_export]
macro_rules! property_suite_queue {
    ($register:expr, [$($spec:literal),+ $(,)?]) => {
        #[test]
        fn queue_declaration_holds_together() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::queue::declaration_holds_together);
        }

        #[test]
        fn queue_shows_the_queues_that_it_has() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::queue::shown_queues_hold_what_it_holds);
        }

        #[test]
        fn queue_state_is_read_without_effect() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::queue::reading_the_state_changes_nothing);
        }

        #[test]
        fn queue_conserves_packets_and_repeats_in_random_networks() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::random_networks);
        }

        #[test]
        fn queue_counts_the_same_with_and_without_a_trace() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::traced_networks);
        }

        #[test]
        fn queue_keeps_its_limit() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::random_arrivals);
        }

        #[test]
        fn queue_passes_a_light_load() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::queue::a_light_load_passes);
        }

        #[test]
        fn queue_serves_every_flow_under_overload() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::queue::every_flow_is_served_under_overload);
        }

        #[test]
        fn queue_lets_sparse_packets_through_after_an_overload() {
            $crate::testing::each($register, &[$($spec),+], $crate::testing::overloads);
        }

        #[test]
        fn queue_marks_capable_packets_where_it_is_told_to() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                if spec.get("ecn").is_some_and(|value| value.to_text() == "true") {
                    $crate::testing::queue::capable_packets_are_marked(spec);
                }
            });
        }
    };
}

/// Tests that a congestion control has the properties of Sojourn's own. Give what registers it, and the specifications to test.
#[macro_export]
macro_rules! property_suite_control {
    ($register:expr, [$($spec:literal),+ $(,)?]) => {
        #[test]
        fn control_window_is_not_raised_by_a_reduction() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                $crate::testing::control::no_reduction_raises_the_window(&spec.name, None, &spec.pairs());
            });
        }

        #[test]
        fn control_window_is_at_least_a_segment() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                $crate::testing::control::window_is_at_least_a_segment(&spec.name, None, &spec.pairs());
            });
        }

        #[test]
        fn control_window_grows_with_what_is_acknowledged() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                $crate::testing::control::window_grows_with_what_is_acknowledged(&spec.name, None, &spec.pairs());
            });
        }

        #[test]
        fn control_answers_marks() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                $crate::testing::control::answers_marks(&spec.to_string());
            });
        }

        #[test]
        fn control_fills_a_path() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                $crate::testing::control::fills_a_path(&spec.to_string(), None);
            });
        }

        #[test]
        fn control_gets_every_byte_across() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                for seed in 1..4 {
                    $crate::testing::control::every_byte_arrives(&spec.to_string(), seed);
                }
            });
        }

        #[test]
        fn control_answers_losses() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                $crate::testing::control::answers_losses(&spec.to_string());
            });
        }

        #[test]
        fn control_shares_a_path_with_itself() {
            $crate::testing::each($register, &[$($spec),+], |spec| {
                $crate::testing::control::shares_with_itself(&spec.to_string());
            });
        }
    };
}
