//! A queue and a congestion control outside Sojourn.

mod control;
mod queue;

pub use control::Gentle;
pub use queue::Slope;

/// Registers both, under `slope` and `gentle`.
///
/// # Panics
/// If a name is taken by something else.
pub fn register() {
    sojourn::queue::register_aqm::<Slope>().expect("slope is free");
    sojourn::control::register_control::<Gentle>("gentle", "Gentle").expect("gentle is free");
}
