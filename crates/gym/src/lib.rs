//! A learning environment: runs that are advanced in steps, with an AQM and a congestion control that take actions, and policies that were
//! learned in it.
//!
//! [`Fleet`] holds environments, which are runs of a scenario in which one queue is [`AQM`] or one flow has the congestion control
//! [`CONTROL`]. Both components close their counts once per interval into an observation, whether an agent looks or not, so that a policy
//! that was learned runs in any scenario as it ran in the environment: `gym:aqm policy=FILE`.

use sojourn_queue::foreign::{NO_LOADER, RegisterError};

mod aqm;
mod control;
mod fleet;
mod num;
mod policy;
mod reward;

pub use aqm::{AQM, AQM_OBSERVATION, AqmAct, AqmInterval, BOUND, DELAY_UNIT, GymAqm, GymAqmParams};
pub use control::{
    CONTROL, CONTROL_OBSERVATION, ControlAct, ControlInterval, GymControl, GymControlParams,
};
pub use fleet::{Batch, Fleet, Task};
pub use num::single;
pub use policy::{Activation, Policy, PolicyFile};
pub use reward::{AqmReward, ControlForm, ControlReward};

/// Registers the component of this name, if it is one of this crate: what a loader of [`sojourn_queue::foreign`] and [`sojourn_cc::foreign`]
/// does before it looks for a class. Lists of components do not have it before that.
///
/// # Errors
/// If another component has the name.
pub fn provide(name: &str) -> Result<bool, String> {
    match name {
        AQM => sojourn_queue::foreign::register_aqm::<GymAqm>()
            .map_err(|error: RegisterError| error.to_string())?,
        CONTROL => sojourn_cc::foreign::register_control::<GymControl>(CONTROL, "Learned control")
            .map_err(|error| error.to_string())?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Lets specifications name the components of this crate, in a program that can load no other classes.
pub fn set_loaders() {
    sojourn_queue::foreign::set_loader(|name| alone(name).map(Err));
    sojourn_cc::foreign::set_loader(|name| alone(name).map(Err));
}

/// Why a name cannot be loaded; nothing if it is registered now.
fn alone(name: &str) -> Option<String> {
    match provide(name) {
        Ok(true) => None,
        Ok(false) => Some(NO_LOADER.to_owned()),
        Err(problem) => Some(problem),
    }
}
