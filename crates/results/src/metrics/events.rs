//! Which metrics count events that may be few: their intervals are those of counts, not of values around a mean.

use super::metric::Metric;
use super::terms::Level;

/// A metric, and the one that counts its events.
struct Counted {
    level: Level,
    metric: &'static str,
    events: &'static str,
}

const fn of(level: Level, metric: &'static str, events: &'static str) -> Counted {
    Counted {
        level,
        metric,
        events,
    }
}

const COUNTED: &[Counted] = &[
    of(Level::Queue, "drop_rate_pps", "dropped_packets"),
    of(Level::Queue, "loss_ratio", "dropped_packets"),
    of(Level::Queue, "dropped_packets", "dropped_packets"),
    of(Level::Queue, "mark_ratio", "marked_packets"),
    of(Level::Queue, "marked_packets", "marked_packets"),
    of(Level::Queue, "loss_events_count", "loss_events_count"),
    of(Level::Flow, "loss_ratio", "dropped_packets"),
    of(Level::Flow, "dropped_packets", "dropped_packets"),
    of(Level::Flow, "ce_ratio", "marked_packets"),
    of(Level::Flow, "marked_packets", "marked_packets"),
    of(
        Level::Flow,
        "retransmissions_packets",
        "retransmissions_packets",
    ),
    of(Level::Flow, "timeouts_count", "timeouts_count"),
];

impl Metric {
    /// The metric that counts the events behind this one, which is their number, rate or share; `None` where it is not of events.
    pub fn events(&self) -> Option<&'static Metric> {
        let counted = COUNTED
            .iter()
            .find(|counted| counted.level == self.level && counted.metric == self.name)?;
        super::of_level(self.level).find(|metric| metric.name == counted.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_names_two_metrics_of_its_level() {
        for line in COUNTED {
            let own = super::super::of_level(line.level).find(|metric| metric.name == line.metric);
            let events = own.and_then(Metric::events);
            let events = events.unwrap_or_else(|| panic!("{} {}", line.metric, line.events));
            assert_eq!(events.name, line.events);
        }
    }
}
