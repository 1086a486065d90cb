//! Queues whose mean waiting time is known exactly: the command's interval has to hold it.

use crate::support::Place;
use serde_json::Value;

/// The mean sojourn of a queue that Poisson arrivals load to `load`, with packets of 0.8 ms on average: mean and half
/// width of the interval, in seconds.
fn waiting(load: f64, sizes: &str) -> (f64, f64) {
    let place = Place::new();
    let rate = load * 100.0;
    // Ten thousand bytes: rounding an exponential size to whole bytes does not show.
    let scenario = format!(
        "flows = [\"poisson {rate}Mbps size=10000B sizes={sizes} headers=0B\"]\n\
         [run]\nduration = \"250s\"\nwarmup = \"10s\"\nreplications = 10\n\
         [topology]\nkind = \"chain\"\nhops = 1\nrate = \"100Mbps\"\nqueue = \"droptail limit=1000000p\"\n"
    );
    place.write("queue.toml", &scenario);
    let answer: Value = serde_json::from_str(&place.ok("run queue.toml --format json")).unwrap();
    let records = answer["results"].as_array().unwrap();
    let record = records
        .iter()
        .find(|record| record["metric"] == "sojourn_s_mean")
        .unwrap();
    (
        record["value"].as_f64().unwrap(),
        record["half_width"].as_f64().unwrap(),
    )
}

fn holds(expected: f64, (mean, half_width): (f64, f64)) {
    assert!(
        (mean - expected).abs() <= half_width,
        "{expected} is not in {mean} ± {half_width}"
    );
    assert!(half_width < 0.05 * expected, "{half_width} of {expected}");
}

/// One packet of mean size at the rate of the link, in seconds.
const SERVICE: f64 = 0.8e-3;

#[test]
fn the_wait_of_fixed_sizes_is_that_of_m_d_1() {
    for load in [0.5, 0.8] {
        // Pollaczek and Khinchine: W = ρ S / (2 (1 - ρ)).
        holds(
            load * SERVICE / (2.0 * (1.0 - load)),
            waiting(load, "fixed"),
        );
    }
}

#[test]
fn the_wait_of_exponential_sizes_is_that_of_m_m_1() {
    for load in [0.5, 0.8] {
        // W = ρ S / (1 - ρ).
        holds(load * SERVICE / (1.0 - load), waiting(load, "exponential"));
    }
}
