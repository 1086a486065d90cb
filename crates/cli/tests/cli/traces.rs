//! `sojourn run --trace` and `sojourn trace analyse`.

use crate::support::Place;

const SCENARIO: &str = "dialect = \"ns2\"\n[run]\nduration = \"2s\"\nwarmup = \"0s\"\ndeterministic = true\n\
    [topology]\nrate = \"1Mbps\"\nrtt = \"24ms\"\nbottleneck_delay = \"10ms\"\naccess_rate = \"10Mbps\"\n\
    queue = \"droptail limit=8p\"\n[[flows]]\nspec = \"2*cbr 600kbps size=1000B\"\n";

fn place() -> Place {
    let place = Place::new();
    place.write("lab.toml", SCENARIO);
    assert_eq!(place.ok("run lab.toml --trace ns2 run.tr"), "");
    place
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
fn what_is_wrong_is_told_and_lenient_goes_on() {
    let place = place();
    let whole = place.read("run.tr");
    place.write("cut.tr", &whole[..whole.len() - 5]);
    let lines = whole.lines().count();
    assert_eq!(
        place.refused(place.sojourn("trace analyse cut.tr")),
        format!(
            "cut.tr:{lines}: the last line has no end: the trace was cut off; with --lenient, it is left out"
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
    assert!(refused("trace analyse lab.toml").starts_with("lab.toml: no trace format begins with"));
    assert!(refused("trace analyse run.tr --table flow").contains("did you mean \"flows\""));
    assert!(refused("trace analyse run.tr --rate 0-1=1").starts_with("--rate 0-1=1: "));
    assert!(refused("trace analyse run.tr --receiver run.tr").starts_with("--receiver: "));
    assert!(refused("trace analyse nowhere.tr").starts_with("nowhere.tr: cannot read the trace"));
}
