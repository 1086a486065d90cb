//! `sojourn draw`.

use crate::support::Place;

#[test]
fn every_study_that_comes_along_can_be_drawn() {
    let place = Place::new();
    for study in sojourn_study::named::built_in() {
        let picture = place.ok(&format!("draw {}", study.name));
        assert!(picture.starts_with("<svg "), "{}: {picture}", study.name);
        assert!(picture.ends_with("</svg>\n"), "{}", study.name);
        assert!(picture.contains("class=\"router\""), "{}", study.name);
    }
}

#[test]
fn the_picture_names_nodes_links_queues_and_flows() {
    let picture = Place::new().ok("draw red-droptail-ten-nodes");
    for text in [
        "k1",
        "3 Mbps",
        "12 ms",
        "DropTail",
        "on_off 580 kbps, a2 → c2",
        "measured queue",
    ] {
        assert!(picture.contains(text), "{text}: {picture}");
    }
}

#[test]
fn an_experiment_lists_the_values_of_its_points() {
    let picture = Place::new().ok("draw codel-drr-bandwidth-mtu --experiment bandwidth");
    assert!(picture.contains("2, 4, 10, 100 Mbps"), "{picture}");
    assert!(
        picture.contains("CoDel") && picture.contains("DRR"),
        "{picture}"
    );
}

#[test]
fn every_experiment_has_a_file_in_the_directory() {
    let place = Place::new();
    place.ok("draw codel-drr-bandwidth-mtu --experiment all --out pictures");
    let names: Vec<String> = place
        .files("pictures")
        .into_iter()
        .map(|file| file.0)
        .collect();
    for name in ["bandwidth.svg", "mtu.svg"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
}

#[test]
fn a_hundred_thousand_flows_are_two_stacks_of_hosts() {
    let place = Place::new();
    let picture = place.ok("draw tiny.toml --set flows.reno.count=100000");
    assert!(picture.contains("× 100\u{202f}000"), "{picture}");
    assert!(picture.len() < 20_000, "{}", picture.len());
}

#[test]
fn settings_and_files_are_those_of_other_commands() {
    let place = Place::new();
    place.ok("draw tiny.toml --set topology.rate=7Mbps --out a.svg");
    let picture = place.read("a.svg");
    assert!(picture.contains("7 Mbps"), "{picture}");
    let refused =
        place.refused(place.sojourn("draw codel-drr-bandwidth-mtu --experiment bandwith"));
    assert!(
        refused.contains("--experiment") && refused.contains("bandwidth"),
        "{refused}"
    );
    let refused = place.refused(place.sojourn("draw codel-drr-bandwidth-mtu --experiment all"));
    assert!(refused.contains("--out"), "{refused}");
}
