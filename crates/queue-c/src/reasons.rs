//! The names of reasons as texts for C.

use sojourn_queue::standalone::{DropReason, MarkReason};
use std::ffi::CStr;

pub(crate) const fn of_mark(reason: MarkReason) -> &'static CStr {
    match reason {
        MarkReason::Early => c"early",
        MarkReason::TargetExceeded => c"target_exceeded",
        MarkReason::Threshold => c"threshold",
        MarkReason::Policed => c"policed",
    }
}

pub(crate) const fn of_drop(reason: DropReason) -> &'static CStr {
    match reason {
        DropReason::Overlimit => c"overlimit",
        DropReason::Evicted => c"evicted",
        DropReason::Early => c"early",
        DropReason::Forced => c"forced",
        DropReason::TargetExceeded => c"target_exceeded",
        DropReason::FlowMatch => c"flow_match",
        DropReason::Penalty => c"penalty",
        DropReason::AckFiltered => c"ack_filtered",
        DropReason::Policed => c"policed",
        DropReason::Wire => c"wire",
        DropReason::Unroutable => c"unroutable",
        DropReason::HopLimit => c"hop_limit",
        DropReason::EndOfRun => c"end_of_run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_library() {
        for reason in MarkReason::ALL {
            assert_eq!(of_mark(reason).to_str(), Ok(reason.name()));
        }
        for reason in DropReason::ALL {
            assert_eq!(of_drop(reason).to_str(), Ok(reason.name()));
        }
    }
}
