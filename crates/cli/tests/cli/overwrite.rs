//! What commands write over: never what they read, and what Sojourn did not make only with --force.

use crate::support::Place;

/// A place with a nam trace, arrivals and results.
fn place() -> Place {
    let place = Place::new();
    for trace in ["nam run.nam", "ns2 run.tr"] {
        let mut command = place.sojourn(&format!("run tiny.toml --trace {trace}"));
        command.assert().success();
    }
    place.write("in.csv", "time_ns,bytes,flow,ecn\n0,1000,1,0\n");
    place.ok("run tiny.toml --out one --replications 2");
    place.ok("run tiny.toml --out two --replications 2 --seed 5");
    place
}

#[test]
fn no_command_overwrites_what_it_reads() {
    let place = place();
    place.ok("report one");
    for (file, line) in [
        ("run.nam", "play run.nam --out run.nam --force"),
        ("tiny.toml", "draw tiny.toml --out ./tiny.toml --force"),
        ("tiny.toml", "run tiny.toml --trace nam tiny.toml --force"),
        (
            "in.csv",
            "replay in.csv --queue codel --rate 1Mbps --series in.csv --force",
        ),
        (
            "one/manifest.json",
            "bundle one --out one/manifest.json --force",
        ),
        (
            "one/report.html",
            "bundle one --out one/report.html --force",
        ),
    ] {
        let before = place.read(file);
        let said = place.refused(place.sojourn(line));
        assert!(said.contains("overwrit"), "{line}: {said}");
        assert_eq!(place.read(file), before, "{line}");
    }
}

#[test]
fn a_file_of_others_is_replaced_only_with_force_and_one_of_ours_without() {
    let place = place();
    for (file, line) in [
        ("a.html", "play run.nam --out a.html"),
        ("a.svg", "draw tiny.toml --out a.svg"),
        ("a.nam", "run tiny.toml --trace nam a.nam"),
        ("a.pcapng", "run tiny.toml --trace pcapng a.pcapng"),
        ("a.parquet", "run tiny.toml --trace parquet a.parquet"),
        (
            "a.csv",
            "replay in.csv --queue codel --rate 1Mbps --series a.csv",
        ),
        (
            "codel-rfc8289.txt",
            "vectors write --queue codel-rfc8289 --out .",
        ),
        ("ub/report.html", "report one two --out ub"),
        ("ub/tables/t.csv", "report one two --out ub"),
        ("an/summary.json", "trace analyse run.tr --out an"),
    ] {
        let path = place.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        place.write(file, "mine");
        let said = place.refused(place.sojourn(line));
        assert!(said.contains("add --force"), "{line}: {said}");
        assert_eq!(place.read(file), "mine", "{line}");
        place.sojourn(&format!("{line} --force")).assert().success();
        // What is ours now is replaced without.
        place.sojourn(line).assert().success();
        let folder = file.split('/').next().unwrap();
        let _ = std::fs::remove_dir_all(place.path(folder));
    }
    // ns-2's format does not tell who wrote it.
    let said = place.refused(place.sojourn("run tiny.toml --trace ns2 run.tr"));
    assert!(
        said.starts_with("run.tr: ") && said.contains("add --force"),
        "{said}"
    );
}
