//! What happened in equal parts of a run, warm-up included: what rules on the warm-up look at.

use sojourn_units::Span;

use crate::stats::to_f64;

/// Bytes of packets that a queue gave up for transmission.
pub const LEFT_BYTES: &str = "left_bytes";
/// These packets.
pub const LEFT_PACKETS: &str = "left_packets";
/// The sum of their sojourn times, nanoseconds.
pub const SOJOURN_SUM: &str = "sojourn_ns_sum";
/// Packets that a queue dropped.
pub const DROPPED_PACKETS: &str = "dropped_packets";
/// New application bytes that the receivers of all forward flows got.
pub const GOODPUT_BYTES: &str = "goodput_bytes";

/// What [`GOODPUT_BYTES`] is of.
pub const FORWARD: &str = "forward";

/// One count, batch by batch: over equal parts of a run, from its start. What is left at its end after the last whole batch is
/// not in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BatchOutcome {
    /// Whose: a link direction, or [`FORWARD`].
    pub of: String,
    /// What is counted: one of the names above.
    pub quantity: String,
    /// The length of a batch.
    pub step: Span,
    /// The count of each batch.
    pub sums: Vec<u64>,
}

/// A headline metric, batch by batch.
#[derive(Clone, PartialEq, Debug)]
pub struct BatchMeans {
    /// Whose: a link direction, or [`FORWARD`].
    pub of: String,
    /// The metric: `throughput_bps`, `sojourn_s`, `drops_pps` or `goodput_bps`.
    pub metric: &'static str,
    /// The length of a batch.
    pub step: Span,
    /// Its mean in each batch. A sojourn time without packets is that of the batch before, or zero.
    pub values: Vec<f64>,
}

/// The headline metrics of batches, in their order.
pub fn means(batches: &[BatchOutcome]) -> Vec<BatchMeans> {
    let mut all = Vec::new();
    for own in batches {
        let seconds = own.step.as_secs_f64();
        let per_second = |factor: f64| -> Vec<f64> {
            let rate = |sum: &u64| to_f64(*sum) * factor / seconds;
            own.sums.iter().map(rate).collect()
        };
        let packets = || {
            let of = |other: &&BatchOutcome| other.of == own.of && other.quantity == LEFT_PACKETS;
            batches.iter().find(of)
        };
        let (metric, values) = match own.quantity.as_str() {
            LEFT_BYTES => ("throughput_bps", per_second(8.0)),
            GOODPUT_BYTES => ("goodput_bps", per_second(8.0)),
            DROPPED_PACKETS => ("drops_pps", per_second(1.0)),
            SOJOURN_SUM => match packets() {
                Some(packets) => ("sojourn_s", sojourns(&own.sums, &packets.sums)),
                None => continue,
            },
            _ => continue,
        };
        all.push(BatchMeans {
            of: own.of.clone(),
            metric,
            step: own.step,
            values,
        });
    }
    all
}

/// Mean sojourn times in seconds.
fn sojourns(sums: &[u64], packets: &[u64]) -> Vec<f64> {
    let mut last = 0.0;
    let pairs = sums.iter().zip(packets);
    pairs
        .map(|(sum, packets)| {
            if *packets > 0 {
                last = to_f64(*sum) * 1e-9 / to_f64(*packets);
            }
            last
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_without_packets_has_the_sojourn_time_of_the_one_before() {
        let batch = |quantity: &str, sums: &[u64]| BatchOutcome {
            of: "a-b".to_owned(),
            quantity: quantity.to_owned(),
            step: Span::from_ms(500),
            sums: sums.to_vec(),
        };
        let all = means(&[
            batch(LEFT_BYTES, &[0, 1000, 500]),
            batch(LEFT_PACKETS, &[0, 2, 0]),
            batch(SOJOURN_SUM, &[0, 8_000_000, 0]),
            batch(DROPPED_PACKETS, &[0, 1, 0]),
        ]);
        let values: Vec<(&str, &[f64])> = all
            .iter()
            .map(|own| (own.metric, own.values.as_slice()))
            .collect();
        assert_eq!(
            values,
            [
                ("throughput_bps", &[0.0, 16_000.0, 8000.0][..]),
                ("sojourn_s", &[0.0, 0.004, 0.004]),
                ("drops_pps", &[0.0, 2.0, 0.0]),
            ]
        );
    }
}
