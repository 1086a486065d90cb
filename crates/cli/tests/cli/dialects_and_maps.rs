//! `sojourn study --dialects` and `sojourn map`.

use crate::support::Place;

#[test]
fn each_dialect_has_a_directory_and_a_second_call_runs_nothing_again() {
    let place = Place::new();
    let line = "study small.toml --dialects rfc,linux --out out";
    let text = place.ok(line);
    assert!(text.contains("rfc: the same as written"), "{text}");
    assert!(text.contains("Results: out"), "{text}");
    for file in [
        "out/as-written/manifest.json",
        "out/linux/manifest.json",
        "out/dialects.md",
    ] {
        assert!(place.path(file).exists(), "{file}");
    }
    assert!(!place.path("out/rfc").exists());
    let json: serde_json::Value = serde_json::from_str(&place.read("out/dialects.json")).unwrap();
    assert_eq!(json["dialects"][0]["state"], "same");
    let before = place.files("out");
    assert_eq!(place.ok(line), text);
    assert_eq!(place.files("out"), before);
    let csv = place.ok(&format!("{line} --format csv"));
    assert!(
        csv.starts_with("experiment,levels,metric,a,b,dialect,"),
        "{csv}"
    );
}

#[test]
fn a_dry_run_counts_the_runs_of_all_dialects() {
    let place = Place::new();
    let runs = |line: &str| -> u64 {
        let text = place.ok(line);
        let line = text.lines().find(|line| line.starts_with("runs ")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let alone = runs("study small.toml --dry-run");
    assert_eq!(
        runs("study small.toml --dialects linux,ns3 --dry-run"),
        3 * alone
    );
    assert!(!place.path("results").exists());
}

#[test]
fn a_dialect_that_no_component_has_is_refused_with_the_nearest() {
    let place = Place::new();
    let said = place.refused(place.sojourn("study small.toml --dialects linus --out out"));
    assert!(
        said.contains("--dialects") && said.contains("did you mean \"linux\"?"),
        "{said}"
    );
    assert!(!place.path("out").exists());
}

#[test]
fn a_map_is_written_with_its_places_and_replaces_no_file_of_others() {
    let place = Place::new();
    let line =
        "map small.toml --x rate=1..4Mbps:log --y rtt=10..40ms --cells 2 --depth 0 --out map.svg";
    let text = place.ok(line);
    assert!(text.contains("Wrote map.svg and map.csv"), "{text}");
    // Warnings are as long as they are where nobody has a terminal.
    let mut map = text
        .lines()
        .take_while(|line| !line.starts_with("warning: "));
    assert!(map.all(|line| line.chars().count() <= 80), "{text}");
    assert!(place.read("map.svg").starts_with("<svg "));
    assert_eq!(place.read("map.csv").lines().count(), 5);
    let csv = place.read("map.csv");
    assert_eq!(place.ok(&format!("{line} --format csv")), csv);
    place.write("mine.svg", "<svg/>");
    let said = place.refused(place.sojourn(&line.replace("map.svg", "mine.svg")));
    assert!(said.contains("mine.svg"), "{said}");
    assert_eq!(place.read("mine.svg"), "<svg/>");
    // The table stands next to the picture.
    place.write("other.csv", "a,b\n1,2\n");
    let said = place.refused(place.sojourn(&line.replace("map.svg", "other.svg")));
    assert!(said.contains("other.csv"), "{said}");
    assert_eq!(place.read("other.csv"), "a,b\n1,2\n");
    place.ok(line);
    let said = place.refused(place.sojourn("map small.toml --x rat=1..4Mbps"));
    assert!(
        said.contains("--x rat=1..4Mbps") && said.contains("\"rate\""),
        "{said}"
    );
}

#[test]
fn the_files_on_all_dialects_replace_no_file_of_others() {
    for file in ["dialects.md", "dialects.json"] {
        let place = Place::new();
        std::fs::create_dir(place.path("out")).unwrap();
        place.write(&format!("out/{file}"), "mine");
        let said = place.refused(place.sojourn("study small.toml --dialects linux --out out"));
        assert!(said.contains(file) && said.contains("--out"), "{said}");
        assert_eq!(place.read(&format!("out/{file}")), "mine");
        assert!(!place.path("out/as-written").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_map_into_a_pipe_is_written_to_it_and_leaves_it_a_pipe() {
    use std::os::unix::fs::FileTypeExt as _;
    let place = Place::new();
    let pipe = place.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    let line = "map small.toml --x rate=1..4Mbps --cells 2 --depth 0 --out pipe";
    assert!(place.ok(line).contains("Wrote pipe\n"));
    assert!(reader.join().unwrap().starts_with("<svg "));
    assert!(pipe.metadata().unwrap().file_type().is_fifo());
    assert!(!place.path("pipe.csv").exists());
}

#[test]
fn dialects_do_not_mix_with_a_plain_result_directory() {
    let place = Place::new();
    place.ok("study small.toml --out out");
    let before = place.files("out");
    let said = place.refused(place.sojourn("study small.toml --dialects linux --out out"));
    assert!(
        said.contains("out") && said.contains("another directory"),
        "{said}"
    );
    assert_eq!(place.files("out"), before);
}

#[test]
fn fresh_dialects_leave_no_dialect_of_an_earlier_call_and_no_file_of_others_is_lost() {
    let place = Place::new();
    place.ok("study small.toml --dialects linux,ns3 --out out");
    place.write("out/ns3/mine.txt", "mine");
    place.ok("study small.toml --dialects linux --out out --fresh");
    assert!(!place.path("out/ns3/manifest.json").exists());
    assert_eq!(place.read("out/ns3/mine.txt"), "mine");
    place.ok("study small.toml --dialects ns2 --out out --fresh");
    assert!(!place.path("out/linux").exists());
    assert!(place.path("out/ns2/manifest.json").exists());
}

#[test]
fn a_report_of_a_directory_of_dialects_names_the_study_as_written() {
    let place = Place::new();
    place.ok("study small.toml --dialects linux --out out");
    for line in ["report out", "rerun out"] {
        let said = place.refused(place.sojourn(line));
        assert!(said.contains("out/as-written"), "{line}: {said}");
    }
}

#[test]
fn dialects_and_maps_print_the_warnings_that_a_study_prints() {
    let place = Place::new();
    let warns = |line: &str| {
        let text = place.ok(line);
        text.contains("warning: ")
    };
    assert!(warns("study small.toml --all --out plain --replications 2"));
    assert!(warns(
        "study small.toml --dialects linux --out out --replications 2"
    ));
    assert!(warns(
        "map small.toml --x rtt=10..40ms --cells 2 --depth 0 --replications 2"
    ));
}

#[test]
fn a_dry_run_in_json_is_json() {
    let place = Place::new();
    for line in [
        "study small.toml",
        "study small.toml --dialects linux",
        "run tiny.toml",
        "map small.toml --x rtt=10..40ms",
    ] {
        let text = place.ok(&format!("{line} --dry-run --format json"));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(
            json["runs"].as_u64().is_some_and(|runs| runs > 0),
            "{line}: {text}"
        );
    }
}

#[test]
fn a_map_is_svg_by_name_or_is_refused_with_a_name_that_is() {
    let place = Place::new();
    for (out, remedy) in [
        ("a.png", "--out a.svg"),
        ("-", "--out map.svg"),
        ("b", "--out b.svg"),
    ] {
        let line = format!("map small.toml --x rate=1..4Mbps --cells 2 --depth 0 --out {out}");
        let said = place.refused(place.sojourn(&line));
        assert!(said.contains("SVG") && said.contains(remedy), "{said}");
        assert!(!place.path(out).exists());
    }
    let mut fresh = place.sojourn("map small.toml --x rate=1..4Mbps --fresh");
    let output = fresh.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("unexpected argument '--fresh'"), "{said}");
}
