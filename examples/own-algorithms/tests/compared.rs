// Both algorithms run in scenarios with those of Sojourn.

use sojourn::Scenario;

/// A metric of four CUBIC flows and one of ours through a queue.
fn metric(queue: &str, name: &str) -> f64 {
    own_algorithms::register();
    let scenario = Scenario::dumbbell()
        .queue(queue)
        .flow("4*cubic")
        .flow("gentle")
        .duration("20s")
        .build()
        .expect("a scenario");
    let outcome = scenario.run(0).expect("a run");
    outcome.metric(name).expect("a metric").expect("a value")
}

#[test]
fn slope_keeps_the_queue_shorter_than_droptail_and_the_link_busy() {
    let delay = |queue| metric(queue, "sojourn_s_p95");
    assert!(delay("slope") < delay("droptail limit=200p") / 2.0);
    assert!(metric("slope", "utilization") > 0.95);
}

#[test]
fn a_contradiction_of_parameters_is_refused_with_a_text() {
    own_algorithms::register();
    let scenario = Scenario::dumbbell()
        .queue("slope target=50ms")
        .flow("gentle");
    let error = scenario.build().expect_err("full is not above target");
    assert!(error.to_string().contains("is not above target"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let delay = || metric("slope most=0.3", "sojourn_s_mean").to_bits();
    assert_eq!(delay(), delay());
}
