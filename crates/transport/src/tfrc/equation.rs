//! TCP's throughput as a function of round-trip time and loss event rate (RFC 5348 section 3.1).

/// Bytes per second of a flow with packets of `segment` bytes, a round-trip time of `rtt` seconds and a loss event rate of `p`, with
/// `t_RTO = 4 R` and `b = 1` as the RFC recommends.
pub fn rate(segment: f64, rtt: f64, p: f64) -> f64 {
    let p = p.clamp(1e-12, 1.0);
    let timeout = 4.0 * rtt;
    let first = rtt * (2.0 * p / 3.0).sqrt();
    let second = timeout * 3.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    segment / (first + second)
}

/// The loss event rate at which a flow has that rate: the inverse of [`rate`], by bisection of its logarithm.
pub fn loss_rate_of(segment: f64, rtt: f64, wanted: f64) -> f64 {
    let (mut low, mut high) = (1e-10_f64, 1.0_f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if rate(segment, rtt, middle) > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * high).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_equation_has_values_that_were_worked_out_by_hand() {
        // s = 1000, R = 0.1, p = 0.01: 0.1 sqrt(0.02/3) = 8.164966e-3; 0.4 * 3 * sqrt(0.00375) * 0.01 * 1.0032 = 7.371982e-4.
        let expected = 1000.0 / (8.164_966e-3 + 7.371_982e-4);
        assert!((rate(1000.0, 0.1, 0.01) / expected - 1.0).abs() < 1e-6);
        // With few losses it is the square root law of Mathis et al.: s / R * sqrt(3 / (2 p)).
        let law = 1000.0 / 0.1 * (1.5f64 / 1e-6).sqrt();
        assert!((rate(1000.0, 0.1, 1e-6) / law - 1.0).abs() < 1e-3);
        // Every packet lost: a timeout of 4 R times 3 sqrt(3/8) 33, and the square root.
        let all = 1000.0 / (0.1 * (2.0f64 / 3.0).sqrt() + 0.4 * 3.0 * 0.375f64.sqrt() * 33.0);
        assert!((rate(1000.0, 0.1, 1.0) - all).abs() < 1e-9);
    }

    #[test]
    fn the_inverse_gives_back_what_was_put_in() {
        for p in [1e-5, 1e-3, 0.02, 0.3] {
            let found = loss_rate_of(1460.0, 0.05, rate(1460.0, 0.05, p));
            assert!((found / p - 1.0).abs() < 1e-6, "{p}: {found}");
        }
    }
}
