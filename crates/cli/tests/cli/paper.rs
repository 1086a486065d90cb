//! What a researcher hands in: tables and numbers for a paper, spreadsheets, bundles.

use super::support::Place;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A study whose texts are full of what LaTeX takes for commands.
const HOSTILE: &str = r##"name = "hostile"
flows = ["2*reno", "cbr 1Mbps"]

[run]
duration = "3s"
warmup = "1s"
replications = 3

[topology]
rate = "5Mbps"
rtt = "20ms"
buffer = "50p"

[study]
title = "100 % of \\input{x} & #1 $x$ ~ ^ _ − ± µs … 中"

[[experiment]]
name = "e"

[[experiment.factor]]
name = "queue"
title = "Queue_{50 %} & \"more\" [1]"
unit = "µs/%"
path = "topology.queue"
values = ["droptail", "codel", "red"]
labels = ["[drop]_tail", "CoDel & \\par −1", "* {red} #3 $ ~^|<>"]
compare = true

[[table]]
id = "hostile-1"
title = "A table of a title that is longer than a line of the header"
experiment = "e"
rows = ["queue"]
metrics = ["sojourn_s_mean", "sojourn_s_p99", "loss_ratio", "marked_packets"]
"##;

#[test]
fn a_report_writes_tables_and_numbers_for_a_paper_when_asked() {
    let place = Place::new();
    place.ok("study small.toml --out out");
    let said = place.ok("report out");
    assert!(!said.contains("LaTeX:") && !place.path("out/latex").exists());
    let said = place.ok("report out --latex");
    assert!(said.contains("LaTeX:   out/latex/numbers.tex ("), "{said}");
    let numbers = place.read("out/latex/numbers.tex");
    let tables = fs::read_dir(place.path("out/latex")).unwrap().count() - 1;
    assert!(said.contains(&format!("({tables} tables)")), "{said}");
    let macros = numbers.matches("\\newcommand*{\\").count();
    assert!(macros >= 12 * tables, "{macros} in {tables} tables");
    place.ok("report out --latex=Mine");
    assert!(
        place
            .read("out/latex/numbers.tex")
            .contains("\\newcommand*{\\Mine")
    );
    let said = place.refused(place.sojourn("report out --latex=a_b"));
    assert!(said.starts_with("--latex: \"a_b\" cannot begin"), "{said}");
    let said = place.refused(place.sojourn("report out --xlsx"));
    assert!(said.starts_with("--xlsx: this binary cannot"), "{said}");
    for (line, part) in [
        (
            "report out --images pdf --width wide",
            "ieee, acm, or a length",
        ),
        ("report out --width ieee", "--images"),
    ] {
        let output = place.sojourn(line).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2) && said.contains(part),
            "{said}"
        );
    }
    place.ok("study small.toml --out out --fresh");
    assert!(!place.path("out/latex").exists());
}

/// Whether a program that these tests do without is here; says why not.
#[expect(clippy::print_stderr, reason = "a test that skips says why")]
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output();
    if let Err(error) = &found {
        eprintln!("skipped: {program} cannot be run here ({error})");
    }
    found.is_ok()
}

/// What LaTeX says of a document in this directory.
fn typeset(folder: &Path, file: &str) -> String {
    let output = Command::new("pdflatex")
        .current_dir(folder)
        .args([
            "-interaction=nonstopmode",
            "-halt-on-error",
            "-no-shell-escape",
            file,
        ])
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{log}");
    log
}

#[test]
fn latex_takes_every_table_and_every_number_whatever_the_texts() {
    if !has("pdflatex") {
        return;
    }
    let place = Place::new();
    place.write("hostile.toml", HOSTILE);
    place.ok("study hostile.toml --out out");
    place.ok("report out --latex");
    let numbers = place.read("out/latex/numbers.tex");
    let names = numbers
        .lines()
        .filter_map(|line| line.strip_prefix("\\newcommand*{"));
    let names = names.filter_map(|line| line.split_once('}'));
    let cited: String = names
        .map(|(name, _)| format!("{name}, \\SojournValue{{{name}}}, \\SojournUnit{{{name}}}.\n"))
        .collect();
    assert!(cited.lines().count() >= 12, "{cited}");
    let mut inputs = String::new();
    for entry in fs::read_dir(place.path("out/latex")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name != "numbers.tex" {
            inputs.push_str(&format!("\\input{{out/latex/{name}}}\n\n"));
        }
    }
    place.write(
        "paper.tex",
        &format!(
            "\\documentclass{{article}}\n\\usepackage{{booktabs,siunitx}}\n\\input{{out/latex/numbers}}\n\\begin{{document}}\n\
             {inputs}\n\\section{{{}}}\n{cited}\\end{{document}}\n",
            cited.lines().next().unwrap()
        ),
    );
    let log = typeset(&place.path(""), "paper.tex");
    assert!(
        !log.contains("too wide) detected"),
        "a column has no room for its numbers: {log}"
    );
    assert!(!log.contains("Missing character"), "{log}");
}

#[test]
fn a_bundle_unpacked_elsewhere_reruns_to_the_same_bits() {
    let place = Place::new();
    place.ok("study small.toml --out out");
    let said = place.ok("bundle out");
    assert!(
        said.starts_with("Bundle: out.tar.gz (") && said.contains("18 runs, 72 tables)"),
        "{said}"
    );
    assert!(
        said.ends_with("Check:  sojourn rerun out.tar.gz\n"),
        "{said}"
    );
    let one = fs::read(place.path("out.tar.gz")).unwrap();
    let refused = place.refused(place.sojourn("bundle out"));
    assert!(
        refused.starts_with("out.tar.gz: this file already exists"),
        "{refused}"
    );
    place.ok("bundle out --force");
    place.ok("bundle out --out other.tar.gz");
    assert!(fs::read(place.path("out.tar.gz")).unwrap() == one);
    assert!(
        fs::read(place.path("other.tar.gz")).unwrap() == one,
        "the same bytes"
    );
    assert_eq!(
        place.ok("rerun out.tar.gz"),
        "same bits: 72 of 72 tables (18 runs, as in out.tar.gz)\n"
    );
    let elsewhere = tempfile::tempdir().unwrap();
    let unpacked = flate2::read::GzDecoder::new(&*one);
    tar::Archive::new(unpacked)
        .unpack(elsewhere.path())
        .unwrap();
    let unpacked = flate2::read::GzDecoder::new(&*one);
    let mut archive = tar::Archive::new(unpacked);
    let paths = archive
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap().path().unwrap().into_owned());
    let mut names: Vec<String> = paths
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    assert!(names.is_sorted());
    names.retain(|name| {
        !name.contains("/p0") && !name.contains("/figures/") && !name.contains("/tables/")
    });
    assert_eq!(
        names.join(" "),
        "small/README.md small/bundle.json small/manifest.json small/report.html small/source.toml small/summary.json"
    );
    let folder = elsewhere.path().join("small");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains("    sojourn rerun .\n"), "{readme}");
    let source = fs::read_to_string(folder.join("source.toml")).unwrap();
    assert!(
        source.ends_with("# Run with: sojourn study small.toml --out out\n"),
        "{source}"
    );
    let mut again = place.sojourn("rerun .");
    again.current_dir(&folder);
    assert!(
        String::from_utf8(again.output().unwrap().stdout)
            .unwrap()
            .starts_with("same bits: 72 of 72 tables")
    );
    let mut point = place.sojourn("run scenarios/p003.toml");
    assert!(
        point
            .current_dir(&folder)
            .output()
            .unwrap()
            .status
            .success()
    );
    let record = folder.join("checksums/p002-r01.json");
    let text = fs::read_to_string(&record).unwrap();
    let at = text.find("\"queues/").unwrap() + 30;
    let digit = if &text[at..=at] == "0" { "1" } else { "0" };
    fs::write(
        &record,
        format!("{}{digit}{}", &text[..at], &text[at + 1..]),
    )
    .unwrap();
    let output = again.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.starts_with("./queues/p002-r01.parquet: other bits; 1 of 72 tables differ"),
        "{said}"
    );
}

#[test]
fn what_was_altered_in_a_bundle_or_a_record_is_told_and_is_not_the_same() {
    let place = Place::new();
    place.ok("run tiny.toml --out out");
    place.ok("bundle out --out b.tar.gz");
    let rerun = |line: &str| {
        let output = place.sojourn(line).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), said)
    };
    let alter = |name: &str, from: &str, to: &str| {
        let text = place.read(name);
        assert!(text.contains(from), "{name}: {text}");
        place.write(name, &text.replacen(from, to, 1));
    };
    // The archive itself: cut, or with something behind it.
    let whole = fs::read(place.path("b.tar.gz")).unwrap();
    for bytes in [&whole[..whole.len() - 4], &[&whole[..], b"more"].concat()] {
        fs::write(place.path("cut.tar.gz"), bytes).unwrap();
        let said = place.refused(place.sojourn("rerun cut.tar.gz"));
        assert!(
            said.starts_with("cut.tar.gz: this file is no bundle"),
            "{said}"
        );
    }
    // Files of its folder, which no record has.
    tar::Archive::new(flate2::read::GzDecoder::new(&*whole))
        .unpack(place.path("b"))
        .unwrap();
    assert_eq!(rerun("rerun b/tiny").0, Some(0));
    alter("b/tiny/report.html", "tiny", "tinY");
    fs::remove_file(place.path("b/tiny/summary.json")).unwrap();
    let (status, said) = rerun("rerun b/tiny");
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("b/tiny/report.html: the file was altered after it was written")
            && said.contains("b/tiny/summary.json: the file is missing"),
        "{said}"
    );
    // Records, in a bundle and in a result directory.
    for dir in ["b/tiny", "out"] {
        alter(
            &format!("{dir}/checksums/p000-r01.json"),
            "\"of\": \"",
            "\"of\": \"0",
        );
        place.write(&format!("{dir}/checksums/p000-r02.json"), "garbage");
        let (status, said) = rerun(&format!("rerun {dir}"));
        assert_eq!(status, Some(1), "{said}");
        assert!(
            said.contains(&format!(
                "{dir}/checksums/p000-r01.json: the file was altered"
            )) && said.contains(&format!(
                "{dir}/checksums/p000-r02.json: this is not a list"
            )),
            "{said}"
        );
    }
    // What an archive was unpacked to is nobody's business.
    alter("b/tiny/manifest.json", "tiny", "tinY");
    let folder = place.path("b/tiny");
    let packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(packer);
    archive.append_dir_all("tiny", &folder).unwrap();
    let bytes = archive.into_inner().unwrap().finish().unwrap();
    fs::write(place.path("bad.tar.gz"), bytes).unwrap();
    let said = place.refused(place.sojourn("rerun bad.tar.gz"));
    assert!(
        said.starts_with("bad.tar.gz/manifest.json: ") && said.contains("get the archive again"),
        "{said}"
    );
}

#[test]
fn a_bundle_with_runs_holds_their_tables_and_is_told_from_another_version() {
    let place = Place::new();
    place.ok("run tiny.toml --out out");
    place.ok("bundle out --with-runs --out deep/with.tar.gz");
    let small = place
        .path("out/flows/p000-r01.parquet")
        .metadata()
        .unwrap()
        .len();
    assert!(place.path("deep/with.tar.gz").metadata().unwrap().len() > small);
    assert!(
        place
            .ok("rerun deep/with.tar.gz")
            .starts_with("same bits: 12 of 12 tables (3 runs")
    );
    fs::remove_file(place.path("out/flows/p000-r01.parquet")).unwrap();
    place.refused(place.sojourn("bundle out --out bad.tar.gz"));
    assert!(!place.path("bad.tar.gz").exists());
    let said = place.refused(place.sojourn("rerun tiny.toml"));
    assert!(
        said.starts_with("tiny.toml: this file is no bundle"),
        "{said}"
    );
}
