//! `sojourn run --trace` and `sojourn trace analyse`.

use crate::support::Place;

const SCENARIO: &str = "dialect = \"ns2\"\n[run]\nduration = \"2s\"\nwarmup = \"0s\"\ndeterministic = true\n\
    [topology]\nrate = \"1Mbps\"\nrtt = \"24ms\"\nbottleneck_delay = \"10ms\"\naccess_rate = \"10Mbps\"\n\
    queue = \"droptail limit=8p\"\n[[flows]]\nspec = \"2*cbr 600kbps size=1000B\"\n";

fn place() -> Place {
    let place = Place::new();
    place.write("lab.toml", SCENARIO);
    assert!(
        place
            .sojourn("run lab.toml --trace ns2 run.tr")
            .ok()
            .is_ok()
    );
    place
}

/// What the command prints, and what it says beside.
fn both(mut command: assert_cmd::Command) -> (String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{err}");
    (out, err)
}

#[test]
fn a_run_with_a_trace_shows_what_it_shows_without() {
    let place = place();
    // Of three replications the first is written.
    for scenario in ["lab.toml", "tiny.toml"] {
        for format in ["table", "csv", "json"] {
            let plain = place.ok(&format!(
                "run {scenario} --replications 1 --format {format}"
            ));
            for trace in ["ns2", "pcapng", "parquet"] {
                let line =
                    format!("run {scenario} --trace {trace} out.tr --force --format {format}");
                let (out, err) = both(place.sojourn(&line));
                assert_eq!(out, plain, "{line}");
                assert!(err.contains("sojourn: wrote out.tr"), "{err}");
            }
            let line = format!("run {scenario} --trace ns2 - --format {format}");
            let (out, err) = both(place.sojourn(&line));
            assert_eq!(err, plain);
            let first = out.lines().next().unwrap_or_default();
            assert!(first.starts_with("+ "), "{first}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_trace_into_a_pipe_has_no_table_in_it() {
    let place = place();
    let (out, err) = both(place.sojourn("run lab.toml --trace ns2 /dev/stdout"));
    assert_eq!(out, place.read("run.tr"));
    assert_eq!(err, place.ok("run lab.toml"));
}

#[test]
fn the_analysis_that_a_run_names_gives_the_figures_of_the_run() {
    let place = place();
    let line = "run tiny.toml --trace ns2-exact out.tr --format json";
    let (out, err) = both(place.sojourn(line));
    let analysis = err
        .trim_end()
        .split_once("the table does: sojourn ")
        .unwrap()
        .1;
    assert_eq!(analysis, "trace analyse out.tr --from 1s --to 3s");
    let run: serde_json::Value = serde_json::from_str(&out).unwrap();
    let read = place.ok(&format!("{analysis} --rate 0-1=5Mbps --format json"));
    let read: serde_json::Value = serde_json::from_str(&read).unwrap();
    let links = read["tables"]["links"].as_array().unwrap();
    let link = links.iter().find(|link| link["link"] == "0-1").unwrap();
    let metric = |name: &str| metric(&run, name).unwrap_or_else(|| panic!("{name}: {run:#}"));
    for (ours, theirs) in [
        ("utilization_ratio", "utilization_ratio"),
        ("sojourn_s_mean", "queueing_s_mean"),
        ("sojourn_s_p95", "queueing_s_p95"),
    ] {
        assert_eq!(Some(metric(ours)), link[theirs].as_f64(), "{ours}");
    }
}

/// The value of a metric in results as JSON.
fn metric(results: &serde_json::Value, name: &str) -> Option<f64> {
    let mut rows = results["results"].as_array()?.iter();
    rows.find(|row| row["metric"] == name)?["value"].as_f64()
}

#[test]
fn standard_input_is_read_plain_and_packed() {
    let place = place();
    let plain = std::fs::read(place.path("run.tr")).unwrap();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, &plain).unwrap();
    let wanted = place.ok("trace analyse run.tr --format json");
    for bytes in [plain, packer.finish().unwrap()] {
        let mut command = place.sojourn("trace analyse - --format json");
        command.write_stdin(bytes);
        assert_eq!(both(command).0, wanted);
    }
    both(place.sojourn("run lab.toml --trace pcapng run.pcapng"));
    let capture = std::fs::read(place.path("run.pcapng")).unwrap();
    for line in [
        "trace analyse - --receiver run.pcapng --table paths",
        "trace analyse run.pcapng --receiver - --table paths",
    ] {
        let mut command = place.sojourn(line);
        command.write_stdin(capture.clone());
        let wanted = place.ok("trace analyse run.pcapng --receiver run.pcapng --table paths");
        assert_eq!(both(command).0, wanted, "{line}");
    }
    let refused = |line: &str, bytes: &[u8]| {
        let mut command = place.sojourn(line);
        command.write_stdin(bytes);
        place.refused(command)
    };
    let told = refused("trace analyse -", b"+ 0 1\n");
    assert!(
        told.starts_with("standard input: unknown trace format"),
        "{told}"
    );
    let told = refused("trace analyse -", b"");
    assert!(
        told.starts_with("standard input: the trace is empty"),
        "{told}"
    );
    let told = refused("trace analyse - --receiver -", b"");
    assert!(told.starts_with("--receiver -: standard input is already the first capture"));
}

#[test]
fn the_overview_has_rates_in_megabits() {
    let place = place();
    both(place.sojourn("run lab.toml --trace pcapng run.pcapng"));
    let text = place.ok("trace analyse run.pcapng");
    let line = text.lines().find(|line| line.starts_with("Throughput "));
    let rate = line.unwrap().strip_suffix(" Mbps").unwrap();
    let rate: f64 = rate.split_whitespace().last().unwrap().parse().unwrap();
    assert!((1.0..10.0).contains(&rate), "{rate}");
}

#[test]
fn a_trace_is_analysed_as_text_csv_and_json() {
    let place = place();
    let text = place.ok("trace analyse run.tr");
    assert!(text.starts_with("a trace of ns-2\n"), "{text}");
    for what in ["Flows", "Links", "Nodes", "0-1"] {
        assert!(text.contains(what), "{what}: {text}");
    }
    let csv = place.ok("trace analyse run.tr --table links --format csv");
    assert!(csv.starts_with("link,from,to,enqueued_packets,"), "{csv}");
    let json: serde_json::Value =
        serde_json::from_str(&place.ok("trace analyse run.tr --format json")).unwrap();
    assert_eq!(json["format"], "ns2");
    let sent = |row: &serde_json::Value| row["sent_packets"].as_u64().unwrap();
    let flows = json["tables"]["flows"].as_array().unwrap();
    assert_eq!(
        flows.iter().map(sent).sum::<u64>(),
        sent(&json["tables"]["trace"][0])
    );
}

#[test]
fn a_directory_gets_every_table_and_a_report() {
    let place = place();
    let output = place
        .sojourn("trace analyse run.tr --step 100ms --out analysis")
        .output()
        .unwrap();
    assert!(output.status.success());
    let report = place.read("analysis/report.html");
    assert!(report.contains("Throughput of receiving"));
    for table in [
        "trace",
        "flows",
        "links",
        "nodes",
        "series",
        "distributions",
    ] {
        assert!(
            place
                .path(&format!("analysis/data/{table}.parquet"))
                .is_file()
        );
        let csv = place.read(&format!("analysis/data/{table}.csv"));
        assert!(csv.lines().count() > 1, "{table}");
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_told_before_the_trace_is_read() {
    let place = place();
    let whole = place.read("run.tr");
    place.write("cut.tr", &whole[..whole.len() - 5]);
    // The trace is cut off, too: who reads it first says that.
    for out in ["run.tr", "run.tr/analysis"] {
        let line = format!("trace analyse cut.tr --out {out}");
        let told = place.refused(place.sojourn(&line));
        assert!(
            told.starts_with(&format!("{out}/data: cannot make the directory: ")),
            "{told}"
        );
        assert!(told.contains("name a directory"), "{told}");
    }
    // What can be written is left alone when the trace cannot be read.
    place.refused(place.sojourn("trace analyse cut.tr --out new/analysis"));
    assert!(!place.path("new").exists());
}

#[test]
fn what_is_wrong_is_told_and_lenient_goes_on() {
    let place = place();
    let whole = place.read("run.tr");
    place.write("cut.tr", &whole[..whole.len() - 5]);
    let lines = whole.lines().count();
    assert_eq!(
        place.refused(place.sojourn("trace analyse cut.tr")),
        format!(
            "cut.tr:{lines}: the last line has no line end: the trace was cut off; use --lenient to skip it"
        )
    );
    let output = place
        .sojourn("trace analyse cut.tr --lenient")
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("sojourn: note: cut.tr: 1 could not be read and was skipped"),
        "{said}"
    );
    let refused = |line: &str| place.refused(place.sojourn(line));
    assert!(
        refused("trace analyse lab.toml")
            .starts_with("lab.toml: unknown trace format: the file begins with")
    );
    assert!(refused("trace analyse run.tr --table flow").contains("did you mean \"flows\""));
    assert!(refused("trace analyse run.tr --rate 0-1=1").starts_with("--rate 0-1=1: "));
    assert!(refused("trace analyse run.tr --receiver run.tr").starts_with("--receiver: "));
    assert!(refused("trace analyse nowhere.tr").starts_with("nowhere.tr: there is no such file"));
}

#[test]
fn escape_sequences_of_a_trace_do_not_reach_the_terminal() {
    let place = Place::new();
    place.write(
        "esc.tr",
        "+ 1 \u{1b}[31m 1 t\u{1b}]0;x\u{7}cp 1000 ------- 1 0.0 1.0 1 1\n- 1.1 \u{1b}[31m 1 t\u{1b}]0;x\u{7}cp 1000 ------- 1 0.0 1.0 1 1\n",
    );
    for line in [
        "trace analyse esc.tr",
        "trace analyse esc.tr --lenient",
        "trace analyse esc.tr --table links",
    ] {
        let output = place.sojourn(line).output().unwrap();
        let both = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(both).unwrap();
        let harmful = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(harmful), "{line}: {text:?}");
        assert!(text.contains("\\u{1b}"), "{line}: {text}");
    }
}
