//! Every command on a tiny input.

use crate::support::{Place, STUDY};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn run_prints_a_table_with_intervals() {
    let table = Place::new().ok("run tiny.toml");
    assert!(table.contains(" ± "), "{table}");
    for word in ["Sojourn, mean", "Utilization", "Goodput"] {
        assert!(table.contains(word), "{word}: {table}");
    }
}

#[test]
fn run_writes_a_result_directory_that_report_reads() {
    let place = Place::new();
    let table = place.ok("run tiny.toml --out out");
    let report = place.ok("report out --format table");
    let (table, place_of_results) = table.split_once("\nResults: ").unwrap();
    assert_eq!(place_of_results, "out\nReport:  sojourn report out\n");
    assert!(report.starts_with(table), "{table}\n{report}");
    assert!(report.contains("out/report.html"), "{report}");
    let (_, files) = report.split_once("\nReport:").unwrap();
    assert_eq!(place.ok("report out"), format!("Report:{files}"));
    let names: Vec<String> = place.files("out").into_iter().map(|file| file.0).collect();
    for name in [
        "manifest.json",
        "report.html",
        "summary.json",
        "runs/p000-r00.parquet",
        "flows/p000-r02.parquet",
        "queues/p000-r01.parquet",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    assert!(
        names.iter().any(|name| name.ends_with(".vl.json")),
        "{names:?}"
    );
    assert!(
        !names.iter().any(|name| name.contains("partial")),
        "{names:?}"
    );
}

#[test]
fn a_traced_run_writes_every_packet_in_the_format_of_ns2() {
    let place = Place::new();
    let run = "run tiny.toml --set dialect=ns2 --set run.duration=1100ms --trace ns2";
    let output = |file| place.sojourn(&format!("{run} {file}")).unwrap();
    let out = String::from_utf8(output("-").stdout).unwrap();
    assert!(output("t.tr").status.success());
    assert_eq!(out, place.read("t.tr"));
    let first = out.lines().next().unwrap();
    assert!(
        first.starts_with("+ ") && first.split(' ').count() == 12,
        "{first}"
    );
    assert!(out.lines().any(|line| line.starts_with("r ")));
}

#[test]
fn dumbbell_compares_queues_side_by_side() {
    let line = "dumbbell --rate 5Mbps --rtt 20ms --buffer 50p --queue codel --queue drr --flow 2*reno --flow";
    let place = Place::new();
    let mut command = place.sojourn(line);
    command.args([
        "cbr 1Mbps",
        "--duration",
        "3s",
        "--warmup",
        "1s",
        "--replications",
        "3",
    ]);
    let output = command.output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    let header = table.lines().find(|line| line.contains("CoDel")).unwrap();
    assert!(header.contains("DRR"), "{table}");
    assert!(table.contains(" ± "), "{table}");
}

#[test]
fn a_study_is_found_by_name_and_by_file_and_runs_one_experiment_alone() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("studies/mine")).unwrap();
    place.write("studies/mine/study.toml", STUDY);
    let by_name = place.ok("study mine --only windows");
    assert!(by_name.contains("results/mine"), "{by_name}");
    let by_file = place.ok("study small.toml --only windows");
    assert_eq!(by_name.replace("results/mine", "results/small"), by_file);
    assert_eq!(
        place
            .files("results/small")
            .iter()
            .filter(|file| file.0.starts_with("runs/"))
            .count(),
        6
    );
}

#[test]
fn the_study_that_comes_along_runs_anywhere() {
    let place = Place::new();
    let line = "study codel-drr-bandwidth-mtu --only mtu --set run.duration=4s --set run.warmup=2s --set run.replications=2";
    let table = place.ok(line);
    assert!(table.contains("20–50"), "{table}");
    assert!(table.contains("results/codel-drr-bandwidth-mtu"), "{table}");
}

#[test]
fn parts_of_a_study_make_the_whole() {
    let place = Place::new();
    let whole = place.ok("study small.toml --out whole --all");
    let part = place.ok("study small.toml --out parts --shard 1/2");
    assert!(part.contains("sojourn report parts"), "{part}");
    place.ok("study small.toml --out parts --shard 2/2");
    let report = place.ok("report parts --format table");
    let tables = |text: &str, end: &str| text.split(end).next().unwrap().to_owned();
    assert_eq!(tables(&whole, "\nResults:"), tables(&report, "\nReport:"));
}

#[test]
fn the_plain_binary_leaves_images_to_the_python_package() {
    let place = Place::new();
    place.ok("run tiny.toml --out out");
    assert_eq!(
        place.refused(place.sojourn("report out --images svg,png")),
        "--images svg,png: this binary cannot draw image files; use the command of the Python package: run pip install . in \
         Sojourn's source, then its sojourn"
    );
    assert!(!place.path("out/report.html").exists());
}

#[test]
fn schema_is_one_document_of_json() {
    let place = Place::new();
    let study: Value = serde_json::from_str(&place.ok("schema")).unwrap();
    let scenario: Value = serde_json::from_str(&place.ok("schema scenario")).unwrap();
    assert!(study["properties"]["experiment"].is_object());
    assert!(scenario["properties"]["experiment"].is_null());
    assert!(scenario["properties"]["topology"].is_object());
}

#[test]
fn the_pages_in_docs_are_those_of_this_version() {
    let place = Place::new();
    place.ok("reference-pages pages");
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (name, content) in place.files("pages") {
        let kept =
            std::fs::read(docs.join(&name)).unwrap_or_else(|error| panic!("docs/{name}: {error}"));
        assert!(
            kept == content,
            "docs/{name} is out of date: sojourn reference-pages docs"
        );
    }
}

#[test]
fn list_and_show_print_what_is_declared() {
    let place = Place::new();
    assert!(place.ok("list queues").contains("codel"));
    let page = place.ok("show codel");
    for word in ["target", "5ms", "RFC 8289", "linux", "allowed"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    let json: Value = serde_json::from_str(&place.ok("show drr --format json")).unwrap();
    assert_eq!(json["name"], "drr");
}

#[test]
fn show_of_another_name_shows_the_entry_whose_page_names_it() {
    let place = Place::new();
    for (given, name) in [
        ("westwoodplus", "westwood"),
        ("tcpwestwood", "westwood"),
        ("ledbatplusplus", "ledbat_plus"),
        ("pfifo", "droptail"),
        ("flow:westwoodplus", "flow:westwood"),
        ("congestion:ledbatplusplus", "congestion:ledbat_plus"),
    ] {
        let page = place.ok(&format!("show {given}"));
        assert_eq!(page, place.ok(&format!("show {name}")));
        let alias = given.rsplit(':').next().unwrap();
        let also = page.lines().nth(2).unwrap();
        assert!(
            also.starts_with("also: ") && also.contains(alias),
            "{given}: {also}"
        );
    }
    let told = place.refused(place.sojourn("show queue:westwoodplus"));
    assert!(
        told.contains("no queue is called \"westwoodplus\""),
        "{told}"
    );
}

#[test]
fn names_with_plus_signs_work_wherever_a_name_does() {
    let place = Place::new();
    for (given, name) in [("westwood+", "westwood"), ("ledbat++", "ledbat_plus")] {
        assert_eq!(
            place.ok(&format!("show {given}")),
            place.ok(&format!("show {name}"))
        );
        let line = |name: &str| {
            let options = "--duration 3s --start-spread 0s --replications 1 --format csv";
            place.ok(&format!(
                "dumbbell {options} --rate 5Mbps --rtt 20ms --queue codel --flow {name}"
            ))
        };
        assert_eq!(line(given), line(name));
        place.write(
            "plus.toml",
            &format!(
                "[run]\nduration = \"3s\"\nreplications = 1\n[topology]\nrate = \"5Mbps\"\n\
                 [[flows]]\nkind = \"tcp\"\ncc = \"{given}\"\n[[flows]]\nkind = \"{given}\"\n"
            ),
        );
        let table = place.ok("run plus.toml");
        assert!(
            table.contains(&format!("Goodput, {given} (Mbps)")),
            "{table}"
        );
    }
}

#[test]
fn a_row_of_a_table_is_not_broken_in_the_text_of_an_entry() {
    let page = Place::new().ok("show codel");
    // A table that is too wide stands as lists, a line for each cell.
    let cells = page.lines().filter(|line| line.starts_with("  rfc8289: "));
    assert!(cells.count() > 5, "{page}");
    assert!(!page.lines().any(|line| line.starts_with('|')), "{page}");
    assert!(
        page.lines().all(|line| line.chars().count() <= 80),
        "{page}"
    );
}

#[test]
fn replay_decides_on_every_row() {
    let place = Place::new();
    place.write(
        "arrivals.csv",
        "time_ns,bytes,flow,ecn\n0,1000,1,0\n0,1000,1,0\n0,1000,1,0\n",
    );
    let mut command = place.sojourn("replay arrivals.csv --rate 8Mbps --queue");
    let output = command.arg("droptail limit=1p").output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "index,time_ns,bytes,flow,verdict,reason,departure_ns,sojourn_ns\n\
         0,0,1000,1,sent,,0,0\n1,0,1000,1,sent,,1000000,1000000\n2,0,1000,1,dropped,overlimit,,\n"
    );
}

#[test]
fn bench_prints_the_ratio_to_the_ring_loop() {
    let line = Place::new().ok("bench --case b1 --seconds 0.01 --rounds 1 --json");
    let json: Value = serde_json::from_str(&line).unwrap();
    assert!(json["ratio"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_reader_that_goes_away_is_no_mistake() {
    let place = Place::new();
    for line in [
        "list",
        "show codel",
        "schema",
        "run tiny.toml --set dialect=ns2 --trace ns2 -",
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sojourn"))
            .current_dir(place.path(""))
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
        let mut first = String::new();
        reader.read_line(&mut first).unwrap();
        drop(reader);
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), said.as_str()),
            (Some(0), ""),
            "{line}"
        );
    }
}

#[test]
fn every_format_has_the_same_numbers() {
    let place = Place::new();
    let json: Value = serde_json::from_str(&place.ok("run tiny.toml --format json")).unwrap();
    let csv = place.ok("run tiny.toml --format csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let column = |name: &str| {
        csv.lines()
            .next()
            .unwrap()
            .split(',')
            .position(|n| n == name)
            .unwrap()
    };
    let (metric, value) = (column("metric"), column("value"));
    let mut rows = 0;
    for (row, record) in reader.records().zip(json["results"].as_array().unwrap()) {
        let row = row.unwrap();
        assert_eq!(row[metric], *record["metric"].as_str().unwrap());
        let of_csv: f64 = row[value].parse().unwrap();
        assert_eq!(Some(of_csv), record["value"].as_f64());
        rows += 1;
    }
    assert!(rows > 5 && rows == csv.lines().count() - 1);
}

#[test]
fn one_run_has_no_interval_and_says_why() {
    let place = Place::new();
    let table = place.ok("run tiny.toml --set run.deterministic=true");
    let (values, why) = table
        .split_once("Values without an interval are deterministic")
        .unwrap();
    assert!(!values.contains('±'), "{table}");
    assert!(why.starts_with(": one run"), "{table}");
}

#[test]
fn replications_that_a_command_asks_for_where_nothing_is_random_are_refused() {
    let place = Place::new();
    let refused = |line: &str| place.refused(place.sojourn(line));
    let line = "dumbbell --duration 3s --warmup 1s --flow reno --deterministic --replications";
    assert_eq!(
        refused(&format!("{line} 5")),
        "--replications 5: nothing is random with run.deterministic = true, so that one run is made and not 5; leave out one of the two"
    );
    let told = refused("run tiny.toml --set run.deterministic=true --replications 5");
    assert!(told.starts_with("--replications 5: "), "{told}");
    let told = refused("run tiny.toml --set run.deterministic=true --set run.replications=5");
    assert!(told.contains("one run is made and not 5"), "{told}");
    // One is what is made, and a number in the file is not asked for just now.
    place.ok(&format!("{line} 1"));
    place.ok("run tiny.toml --set run.deterministic=true");
}

#[test]
fn init_writes_a_study_that_runs_and_never_writes_over_a_file() {
    let place = Place::new();
    let said = place.ok("init mine.toml");
    assert_eq!(
        said,
        "Wrote mine.toml. Run it with: sojourn study mine.toml\n\
         Wrote sojourn.schema.json, with which editors complete and check it.\n"
    );
    assert_eq!(place.read("sojourn.schema.json"), place.ok("schema"));
    place.write("sojourn.schema.json", "mine");
    let said = place.ok("init second.toml");
    assert_eq!(
        said,
        "Wrote second.toml. Run it with: sojourn study second.toml\n"
    );
    assert_eq!(place.read("sojourn.schema.json"), "mine");
    assert_eq!(place.ok("init -"), place.read("mine.toml"));
    let table = place
        .ok("study mine.toml --set run.duration=2s --set run.warmup=1s --set run.replications=2");
    assert!(table.contains("CoDel"), "{table}");
    assert_eq!(
        place.refused(place.sojourn("init mine.toml")),
        "mine.toml: this file already exists and is not overwritten; name another file, such as sojourn init other.toml"
    );
}

#[test]
fn run_takes_replications_seed_and_any_value_from_the_command_line() {
    let place = Place::new();
    let with = |options: &str| place.ok(&format!("run tiny.toml --format csv {options}"));
    let usual = with("");
    assert_eq!(usual, with("--replications 3 --seed 1 --threads 1"));
    assert_ne!(usual, with("--seed 2"));
    assert_eq!(with("--seed 2"), with("--set run.seed=2"));
    assert_ne!(usual, with("--set topology.rate=4Mbps"));
    assert!(
        with("--replications 2")
            .lines()
            .nth(1)
            .unwrap()
            .contains(",2,false,")
    );
}
