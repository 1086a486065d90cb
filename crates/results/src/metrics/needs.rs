//! Which flows can have a metric at all: a page load time is of flows that load pages.

use super::metric::Metric;

/// What a flow has to have for some metrics to have a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Need {
    /// Transfers one after the other.
    Transfers,
    /// Pages.
    Pages,
    /// Requests and answers over UDP.
    Exchanges,
    /// A viewer.
    Playback,
    /// Media over RTP.
    Media,
    /// Voice.
    Voice,
    /// Video.
    Video,
    /// An end of its own: a size, as of a transfer.
    End,
}

/// The metrics that need something, by the beginnings of their names.
const NEEDS: &[(Need, &[&str])] = &[
    (
        Need::Transfers,
        &[
            "fct_s_",
            "slowdown_",
            "transfers_count",
            "unfinished_count",
            "responsiveness_rpm",
        ],
    ),
    (Need::End, &["completion_s", "completed_count"]),
    (Need::Pages, &["page_load_s_"]),
    (Need::Exchanges, &["exchange", "latency_s_"]),
    (
        Need::Playback,
        &["startup_s", "stalls_count", "stalled_ratio", "quality_"],
    ),
    (
        Need::Media,
        &[
            "reported_",
            "rtcp_bps_mean",
            "playout_",
            "late_ratio",
            "rtx_ratio",
            "repaired_ratio",
        ],
    ),
    (Need::Voice, &["r_factor", "mos"]),
    (
        Need::Video,
        &[
            "frames_lost_ratio",
            "freezes_count",
            "frozen_ratio",
            "level_switches_count",
        ],
    ),
];

impl Metric {
    /// What the flows that it is of have to have; `None` if every flow has it.
    pub fn need(&self) -> Option<Need> {
        let is = |names: &&[&str]| names.iter().any(|name| self.name.starts_with(name));
        let found = NEEDS.iter().find(|(_, names)| is(names));
        found.map(|(need, _)| *need)
    }
}

impl Need {
    /// The flows that have it, for a message.
    pub fn kinds(self) -> &'static str {
        match self {
            Need::Transfers => "workload, request_response, web, dash and udp_rr",
            Need::Pages => "web",
            Need::Exchanges => "udp_rr",
            Need::Playback => "dash",
            Need::Media => "rtp",
            Need::Voice => "rtp with source = \"voice\"",
            Need::Video => "rtp with source = \"video\"",
            Need::End => "finite",
        }
    }

    /// What to ask for instead; a transfer of given size has one time, whatever its distribution is called.
    pub fn instead(self) -> &'static str {
        match self {
            Need::Transfers | Need::Pages => {
                "write completion_s for flows of given size, such as cubic with bytes = \"10MB\""
            }
            Need::End => "give the flows a size, such as bytes = \"10MB\"",
            Need::Exchanges => "write rtt_s_mean for TCP, or delay_s_p95 for any flow",
            Need::Playback => "write goodput_bps_mean for any flow",
            Need::Media | Need::Voice | Need::Video => {
                "write loss_ratio, delay_s_p95 or jitter_s_mean for any flow"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{find, metrics};
    use super::*;

    #[test]
    fn every_name_that_needs_something_is_that_of_a_metric() {
        for (need, names) in NEEDS {
            for name in *names {
                let mut found = metrics()
                    .iter()
                    .filter(|metric| metric.name.starts_with(name));
                assert!(found.any(|metric| metric.need() == Some(*need)), "{name}");
            }
        }
    }

    #[test]
    fn what_every_flow_has_needs_nothing() {
        for name in [
            "goodput_bps_sum",
            "rtt_s_mean",
            "loss_ratio",
            "sojourn_s_p95",
        ] {
            let (metric, _) = find(name, None).expect(name);
            assert_eq!(metric.need(), None, "{name}");
        }
        let (completion, _) = find("completion_s", None).expect("a metric");
        assert_eq!(completion.need(), Some(Need::End));
    }
}
