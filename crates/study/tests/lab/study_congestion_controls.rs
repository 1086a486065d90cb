//! The study of all congestion controls has them all.

use sojourn_cc::ALGORITHMS;

#[test]
fn the_study_of_all_congestion_controls_has_every_one_in_both_experiments() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../studies/congestion-controls/study.toml"
    );
    let text = std::fs::read_to_string(path).expect("the study");
    for algorithm in ALGORITHMS {
        // The kind `reno` repairs losses without selective acknowledgement, and the study says that all have it.
        let kind = match algorithm.name {
            "reno" => "sack",
            name => name,
        };
        let value = format!("    \"{kind}\",");
        let times = text.lines().filter(|line| *line == value).count();
        assert_eq!(times, 2, "{}", algorithm.name);
    }
}
