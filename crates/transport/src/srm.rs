//! SRM, scalable reliable multicast: receivers find out what they miss and ask the group for it; whoever has it repairs.
//!
//! Source: Floyd, Jacobson, Liu, McCanne and Zhang, "A Reliable Multicast Framework for Light-weight Sessions and Application
//! Level Framing", IEEE/ACM Transactions on Networking 5(6), 1997: session messages and distances (section III-A), request
//! and repair timers, suppression, back-off, hold-down (section III-B), adaptive timers (section VII). The paper's text was not at
//! hand; what is taken from ns-2.35 (`srm.tcl`, `srm-adaptive.tcl`, `srm.cc`), which follows it, was looked up there.
//!
//! Every member of the session sends to the group in a flow of its own: the source its data in the flow asked for, member `i` of the
//! group its messages in the `i + 1`th after it, and the source its messages in the one after all of these. Data is numbered from 0.
//!
//! * A member that gets a number beyond the next one, or hears of one in a session message, a request or a repair, *misses* what
//!   is between. For each missing number it sets a request timer, uniform in [C1 d, (C1 + C2) d] with `d` the distance to the
//!   source. When it fires, the request goes to the group, and the timer is set again, twice as long. A request of another member backs
//!   it off in the same way, but only once until half of the new time has passed.
//! * A member that has what is asked for sets a repair timer, uniform in [D1 d, (D1 + D2) d] with `d` the distance to the member
//!   that asks. A repair by another member cancels it. After a repair, requests for that number are ignored for 3 d.
//! * Session messages tell the highest number and, for the distances, when the last messages of others came.
//!
//! Differences to ns-2: a member asks for what was sent before it came only if `history` says so, and any number of packets may
//! be missing (ns-2.35 stops when its list of more than some 770 numbers becomes too long for Tcl). A session message has
//! the size that ns-2 gives it, and brings at most three distances in turn.

mod adapt;
mod member;
mod waiting;

pub use member::{SrmConfig, SrmCounts, SrmMember};

use sojourn_units::{Bytes, Span, params};

params! {
    /// SRM: a source and the members of a multicast group, which repair each other's losses.
    pub struct SrmParams {
        /// Start of request timers, in distances to the source (C1).
        c1: f64 = "2", range "0".."1000", source "Floyd et al. 1997; srm.tcl";
        /// Width of request timers, in distances to the source (C2).
        c2: f64 = "2", range "0".."1000", source "Floyd et al. 1997; srm.tcl";
        /// Start of repair timers, in distances to the requesting member (D1).
        d1: f64 = "1", range "0".."1000", source "srm.tcl; the logarithm of the group's size in Floyd et al. 1997";
        /// Width of repair timers, in distances to the requesting member (D2).
        d2: f64 = "1", range "0".."1000", source "srm.tcl; the logarithm of the group's size in Floyd et al. 1997";
        /// Maximum number of times that the request timer of a packet is doubled.
        backoffs: u32 = "5", range "0".."30", source "srm.tcl, requestBackoffLimit_";
        /// Adapt C1 to D2 to past duplicates and delays.
        adaptive: bool = "false", source "Floyd et al. 1997 section VII";
        /// Mean time between session messages of a member. Each time is between 0.9 and 1.1 of it.
        session: Span = "1s", range "1ms".."1h", source "srm.tcl, sessionDelay_";
        /// Assumed distance to an unknown member.
        distance: Span = "1s", range "0s".."1h", source "srm.cc: one second";
        /// Whether members request packets that were sent before they joined.
        history: bool = "false", source "Sojourn's choice";
        /// Bytes of headers on the wire in addition to the payload of data, requests, repairs and session messages.
        headers: Bytes = "28B", range .."1000B", source "RFC 791 (IP, 20) and RFC 768 (UDP, 8)";
        /// Bytes of SRM's header on requests, repairs and session messages.
        header: Bytes = "16B", range .."1000B", source "srm.h: four numbers";
        /// Payload of a repair. The default is that of the data.
        repair: Option<Bytes> = "none", range "1B".."65495B", source "the data's; ns-2 sends 1024 bytes";
    }
    dialects Dialect {
        /// Floyd et al. 1997.
        paper as Paper = "floyd1997" {}
        /// ns-2.35. The given sizes are the sizes on the wire.
        ns2 as Ns2 = "ns2-2.35" {
            headers = "0B" from "agent.cc: packetSize_ is the size of the packet";
            repair = "1024B" from "srm.tcl, packetSize_";
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::check_declaration;

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<SrmParams>(), Ok(()));
    }
}
