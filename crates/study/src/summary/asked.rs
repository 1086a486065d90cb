//! Queues with their limits as they were given, in time or in bandwidth-delay products.

use sojourn_results::manifest::LimitInfo;

/// The text of the queue that a key names, with its limits as they were given.
pub(super) fn as_asked(queue: &str, key: &str, limits: &[LimitInfo]) -> String {
    let own = limits.iter().filter(|limit| limit.queue == key);
    own.fold(queue.to_owned(), |text, limit| {
        let (_, name) = limit
            .parameter
            .rsplit_once('.')
            .unwrap_or(("", &limit.parameter));
        let became = format!("{name}={}", limit.became);
        text.replacen(&became, &format!("{name}={}", limit.asked), 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_limit_in_time_at_two_rates_is_the_same_queue() {
        let limit = |queue: &str, parameter: &str, became: &str| LimitInfo {
            queue: queue.to_owned(),
            parameter: parameter.to_owned(),
            asked: "50ms".to_owned(),
            became: became.to_owned(),
            bytes: 0,
            packets: 1,
            packet_bytes: 1500,
            rate: "10Mbps".to_owned(),
            round_trip: None,
        };
        let limits = [
            limit("topology.queue", "each.limit", "62500B"),
            limit("topology.reverse_queue", "each.limit", "18750B"),
        ];
        let there = as_asked("prio each=(codel limit=62500B)", "topology.queue", &limits);
        let back = as_asked(
            "prio each=(codel limit=18750B)",
            "topology.reverse_queue",
            &limits,
        );
        assert_eq!(there, back);
        let other = as_asked("prio each=(codel limit=9kB)", "topology.queue", &limits);
        assert_ne!(other, back);
    }
}
