//! `sojourn play`, and the animation of a report.

use crate::support::Place;

/// Writes a nam trace of the tiny scenario; where it is, the command says on standard error.
fn traced(place: &Place, file: &str) {
    let mut command = place.sojourn(&format!("run tiny.toml --trace nam {file}"));
    command.assert().success();
}

#[test]
fn a_nam_trace_becomes_a_page() {
    let place = Place::new();
    traced(&place, "run.nam");
    let said = place.ok("play run.nam --from 2s --for 100ms");
    assert_eq!(said, "Wrote run.html\n");
    let page = place.read("run.html");
    assert!(
        page.contains("<h1>Packets from 2 s to 2.1 s</h1>"),
        "{page}"
    );
    assert!(page.contains("class=\"play-data\""));
    place.ok("play run.nam --for 50ms --out other.html");
    assert!(place.read("other.html").contains("<h1>Packets from 0"));
}

#[test]
fn a_report_has_the_animation_while_there_is_a_trace() {
    let place = Place::new();
    place.ok("run tiny.toml --out results");
    place.ok("report results");
    assert!(!place.read("results/report.html").contains("play-data"));
    traced(&place, "results/run.nam");
    place.ok("report results");
    assert!(place.read("results/report.html").contains("play-data"));
    std::fs::remove_file(place.path("results/run.nam")).unwrap();
    place.ok("report results");
    assert!(!place.read("results/report.html").contains("play-data"));
}

#[test]
fn what_cannot_be_played_is_refused_with_its_place() {
    let place = Place::new();
    traced(&place, "run.nam");
    for (arguments, what) in [
        (
            "play tiny.toml",
            "sojourn run tiny.toml --trace nam run.nam",
        ),
        ("play none.nam", "none.nam"),
        ("play run.nam --for 0s", "--for 0s"),
        ("play run.nam --from soon", "--from soon"),
        ("play run.nam --from 9000s", "--from"),
        ("play run.nam --from 9000.9999s", "9000.9999"),
    ] {
        let refused = place.refused(place.sojourn(arguments));
        assert!(refused.contains(what), "{arguments}: {refused}");
    }
    let refused = place.refused(place.sojourn("trace analyse run.nam"));
    assert!(refused.contains("sojourn play"), "{refused}");
}

#[test]
fn no_command_overwrites_the_file_that_it_reads() {
    let place = Place::new();
    traced(&place, "run.nam");
    for (arguments, file) in [
        ("play run.nam --out run.nam", "run.nam"),
        ("draw tiny.toml --out ./tiny.toml", "tiny.toml"),
        ("run tiny.toml --trace nam tiny.toml", "tiny.toml"),
    ] {
        let before = place.read(file);
        let refused = place.refused(place.sojourn(arguments));
        assert!(refused.contains("would be overwritten"), "{refused}");
        assert_eq!(place.read(file), before, "{arguments}");
    }
}

#[test]
fn a_trace_that_was_cut_or_altered_is_told_with_a_remedy_that_exists() {
    use std::io::Write as _;
    let place = Place::new();
    traced(&place, "run.nam");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(place.read("run.nam").as_bytes()).unwrap();
    let whole = packer.finish().unwrap();
    std::fs::write(place.path("cut.nam"), &whole[..whole.len() / 2]).unwrap();
    let said = place.refused(place.sojourn("play cut.nam --from 2900ms"));
    assert!(
        said.contains("write the trace again") && !said.contains("--lenient"),
        "{said}"
    );
    // A report stands without its animation.
    place.ok("run tiny.toml --out results");
    place.write("results/run.nam", "garbage\n");
    let output = place.sojourn("report results").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.starts_with("warning: the report has no animation: results/run.nam:1"),
        "{said}"
    );
    assert!(!place.read("results/report.html").contains("play-data"));
}
