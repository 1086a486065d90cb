//! TCP-friendly rate control: an unreliable flow whose rate follows TCP's throughput equation.
//!
//! Source: RFC 5348, read in its last draft (draft-ietf-dccp-rfc3448bis-06). `equation` is section 3.1, `history` section 5, `receiver` section 6, `sender` section 4. The loss event rate
//! is counted by the receiver, by the average loss interval method.
//!
//! Deviations: the receiver's first loss interval is found by bisection to far less than the 5 % that section 6.3.1 allows; the rate before
//! the first loss is the greater of that of the last report and that of now; what was not sent when it might have been is lost (section
//! 4.6 would allow a round trip of it); the clock of sender and receiver is the simulation's, so timestamps are exact. What the sender
//! tells with each packet (its round-trip time) and what the receiver reports travel beside the headers, whose size is a parameter.

mod equation;
mod history;
mod receiver;
mod sender;

pub use equation::{loss_rate_of, rate};
pub use history::LossHistory;
pub use receiver::TfrcReceiver;
pub use sender::{TfrcConfig, TfrcSender};

use sojourn_units::{Bytes, Span, params};

params! {
    /// TFRC (RFC 5348): an unreliable flow with the average rate of TCP and less variation.
    pub struct TfrcParams {
        /// Payload of a packet (s).
        segment: Bytes = "1460B", range "1B".."65495B", source "1500 less 28 and 12";
        /// Bytes of headers on the wire in addition to the payload, of data and of feedback.
        headers: Bytes = "40B", range .."1000B", source "RFC 768 (UDP and IP, 28) and what section 3.2 puts into a packet (12)";
        /// Whether the spacing of packets follows individual round-trip times, to reduce oscillation.
        oscillation: bool = "true", source "RFC 5348 section 4.5 (optional)";
        /// Weight of the past in the smoothed round-trip time (q).
        rtt_filter: f64 = "0.9", range "0".."0.999", source "RFC 5348 section 4.3";
        /// Number of packets above a missing packet that signal its loss (NDUPACK).
        dupthresh: u32 = "3", range "1".."100", source "RFC 5348 section 5.1";
        /// Whether a long interval without loss reduces the weight of older intervals (DF).
        discounting: bool = "false", source "RFC 5348 section 5.5 (optional)";
        /// Longest time between two packets (t_mbi).
        longest_gap: Span = "64s", range "1ms".."1h", source "RFC 5348 section 4.3";
        /// Whether packets are ECN-capable. A mark counts as a loss.
        ecn: bool = "false", source "RFC 5348 section 5.1 (a marked packet is a congestion indication)";
    }
    dialects Dialect {
        /// RFC 5348.
        rfc as Rfc = "rfc5348" {}
    }
}

#[cfg(test)]
mod runs;
#[cfg(test)]
mod wire;
