//! The table of receivers: a row per flow to a multicast group and member of it.

use std::sync::LazyLock;

use super::column::{Columns, columns};
use super::flows;
use crate::outcome::FlowOutcome;

pub(super) static RECEIVERS: LazyLock<Columns<FlowOutcome>> = LazyLock::new(|| {
    let mut all = flows::declared();
    columns! { all;
        text "of_flow" of [reception.flow] "The flow to the group.";
        text "receiver" of [reception.receiver] "The node of the member.";
        integer "member_ps", "ps" of [reception.member] "Time for which it was a member of the group, within the measured time.";
        integer "passed_packets", "packets" of [reception.passed_packets] "Packets that passed the group's node `delay_from`.";
        wide "passed_delay_ps_sum", "ps" of [reception.passed_delay_sum] "Sum of their delays from that node.";
        histogram "passed_delay" of [reception.passed_delay] "these delays";
        integer "requests_packets", "packets" of [reception.srm.requests] "Requests that it sent (SRM).";
        integer "repairs_packets", "packets" of [reception.srm.repairs] "Repairs that it sent (SRM).";
        integer "sessions_packets", "packets" of [reception.srm.sessions] "Session messages that it sent (SRM).";
        integer "duplicate_requests_packets", "packets" of [reception.srm.duplicate_requests] "Requests of others for packets that it had already requested itself (SRM).";
        integer "duplicate_repairs_packets", "packets" of [reception.srm.duplicate_repairs] "Repairs of packets that it already had (SRM).";
        integer "recovered_packets", "packets" of [reception.srm.recovered] "Packets that it missed at first and received later (SRM).";
        integer "missing_packets", "packets" of [reception.srm.missing] "Packets that it was still missing when the run ended (SRM).";
        wide "recovery_ps_sum", "ps" of [reception.srm.recovery_sum] "Sum of the times from the detection of missing packets until they arrived (SRM).";
        integer "recovery_ps_max", "ps" of [reception.srm.recovery_max] "The longest of these times.";
        number "recovery_rtts_sum", "1" of [reception.srm.recovery_round_trips] "Sum of these times in round trips to the source, as the member estimates them.";
    }
    flows::metrics(&mut all, |_| true);
    all
});
