//! What `sojourn board` writes, continues and refuses.

use crate::support::Place;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Cases named after opponents, one with a time series; a cell takes a second.
const PAIRS: &str = r#"[suite]
title = "Against <others>"
source = "a note"
about = "One flow against another."
quick_replications = 2
quick_most = 2

[[case]]
name = "reno"
source = "a note, section 1"
substitute = { cc = "flows.tested" }
set = { "series.record" = "throughput", "series.step" = "100ms" }

[case.scenario]
flows = [{ kind = "reno", label = "tested" }, { kind = "reno", label = "other" }]
topology = { rate = "5Mbps", rtt = "20ms", buffer = "20p" }
run = { duration = "3s", warmup = "1s", start_spread = "100ms" }

[[case.criterion]]
name = "share"
title = "share of the opponent's rate"
metric = "goodput_bps_sum of tested over other"
at_least = "20%"
severity = "must"

[[case.criterion]]
name = "rise"
title = "time to 1 Mbps"
series = "throughput_bps_sum"
of = "tested"
statistic = "time_to_rise"
level = "1Mbps"
from = "0s"
at_most = "2s"

[[case]]
name = "cubic"
source = "a note, section 2"
substitute = { cc = "flows.tested" }
scenario = { flows = [{ kind = "reno", label = "tested" }, { kind = "cubic", label = "other" }], topology = { rate = "5Mbps", rtt = "20ms", buffer = "20p" }, run = { duration = "3s", warmup = "1s", start_spread = "100ms" } }
criterion = [{ name = "share", title = "share of the opponent's rate", metric = "goodput_bps_sum of tested over other", at_least = "20%" }]
"#;

const QUEUES: &str = r#"[suite]
title = "Queues"
quick_replications = 2
quick_most = 2

[[case]]
name = "one"
source = "a note, section 3"
substitute = { queue = "topology.queue" }
scenario = { flows = ["2*reno"], topology = { rate = "5Mbps", rtt = "20ms", buffer = "50p" }, run = { duration = "3s", warmup = "1s", start_spread = "100ms" } }
criterion = [{ name = "delay", title = "delay", metric = "sojourn_s_mean", at_most = "1ms", severity = "must" }]
"#;

const LINE: &str = "board --suite pairs.toml --suite queues.toml --cc reno --cc cubic --queue droptail --queue codel --quick";

fn place() -> Place {
    let place = Place::new();
    place.write("pairs.toml", PAIRS);
    place.write("queues.toml", QUEUES);
    place
}

/// Exit status, standard output and standard error.
fn ended(place: &Place, line: &str) -> (Option<i32>, String, String) {
    let output = place.sojourn(line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Every file of a site but the runs, with its bytes.
fn site(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().to_owned();
            if path.is_dir() && name != Path::new("runs") {
                folders.push(path);
            } else if path.is_file() && !name.to_string_lossy().starts_with('.') {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn page(site: &BTreeMap<PathBuf, Vec<u8>>, name: &str) -> String {
    let bytes = site.get(Path::new(name));
    let bytes = bytes.unwrap_or_else(|| panic!("{name}: {:?}", site.keys()));
    String::from_utf8(bytes.clone()).unwrap()
}

/// The values of an attribute.
fn values<'a>(text: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    let parts = text.split(&begin).skip(1);
    parts.map(|part| part.split('"').next().unwrap()).collect()
}

/// Where a link of a page leads: the file and the fragment.
fn target(page: &Path, link: &str) -> (PathBuf, String) {
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let mut to = match path.is_empty() {
        true => page.to_owned(),
        false => page.parent().unwrap().to_owned(),
    };
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match part {
            ".." => assert!(to.pop(), "{link} in {}", page.display()),
            part => to.push(part),
        }
    }
    (to, fragment.to_owned())
}

#[test]
fn a_board_has_every_cell_and_every_link_leads_to_a_file_of_it() {
    let place = place();
    let (status, text, said) = ended(&place, &format!("{LINE} --out out"));
    assert_eq!(status, Some(0), "{said}");
    assert!(
        text.starts_with("Board: out/index.html (2 suites, 4 algorithms, 4 cells"),
        "{text}"
    );
    let files = site(&place.path("out"));
    let index = page(&files, "index.html");
    for name in ["pairs", "queues", "reno", "cubic", "droptail", "codel"] {
        assert!(index.contains(&format!(">{name}</a>")), "{name}: {index}");
    }
    assert!(index.contains("1 fail (1 must)"), "{index}");
    assert!(index.contains("Against &lt;others&gt;") && !index.contains("<others>"));
    let mut links = 0;
    for (path, bytes) in &files {
        if path.extension().is_none_or(|suffix| suffix != "html") {
            continue;
        }
        let text = std::str::from_utf8(bytes).unwrap();
        for link in values(text, "href").into_iter().chain(values(text, "src")) {
            assert!(!link.contains(':') && !link.starts_with('/'), "{link}");
            let (to, fragment) = target(path, link);
            let there = page(&files, &to.to_string_lossy().replace('\\', "/"));
            if !fragment.is_empty() {
                let id = format!(" id=\"{fragment}\"");
                assert!(there.contains(&id), "{link} in {}", path.display());
            }
            links += 1;
        }
    }
    assert!(links > 50, "{links}");
}

#[test]
fn a_cell_has_its_value_source_figures_and_a_command_that_makes_the_same_numbers() {
    let place = place();
    let (status, _, said) = ended(&place, &format!("{LINE} --out out"));
    assert_eq!(status, Some(0), "{said}");
    let files = site(&place.path("out"));
    let cell = page(&files, "cells/pairs/cc-cubic.html");
    for text in [
        "share of the opponent",
        "a note, section 1",
        "≥ 0.2",
        "time to 1 Mbps",
    ] {
        assert!(cell.contains(text), "{text}: {cell}");
    }
    assert!(
        cell.contains("<img src=\"../../figures/pairs/cc-1.svg#a3\""),
        "{cell}"
    );
    // Only the criterion of a time series has a figure over time.
    assert!(files.contains_key(Path::new("figures/pairs/cc-cubic/2.svg")));
    assert!(!files.contains_key(Path::new("figures/pairs/cc-cubic/1.svg")));
    let reports: Value = serde_json::from_str(&page(&files, "board.json")).unwrap();
    let found = |report: &&Value| report["algorithm"] == "cubic";
    let report = reports.as_array().unwrap().iter().find(found).unwrap();
    let outcome = &report["results"][1];
    assert_eq!(outcome["criterion"], "reno/rise");
    let command = outcome["command"].as_str().unwrap();
    assert!(cell.contains(command), "{command}: {cell}");
    let again = command.strip_prefix("sojourn ").unwrap();
    let (_, text, _) = ended(&place, &format!("{again} --out again --json -"));
    let again: Value = serde_json::from_str(&text).unwrap();
    let of_case = &report["results"].as_array().unwrap()[..2];
    assert_eq!(again["results"].as_array().unwrap(), of_case);
}

#[test]
fn a_pair_shows_each_against_the_other_with_the_difference() {
    let place = place();
    let (status, _, said) = ended(&place, &format!("{LINE} --out out"));
    assert_eq!(status, Some(0), "{said}");
    let files = site(&place.path("out"));
    let pair = page(&files, "pairs/controls/reno--cubic.html");
    let (_, below) = pair.split_once("Against each other").unwrap();
    let first = below.split_once("</tbody>").unwrap().0;
    let rows: Vec<&str> = first.split("<tr>").skip(2).collect();
    // Reno against CUBIC has the share alone; CUBIC against Reno has the rise, too.
    assert_eq!(rows.len(), 2, "{first}");
    assert!(
        rows[0].contains(">share<") && rows[0].contains('…'),
        "{}",
        rows[0]
    );
    assert!(
        rows[1].contains(">rise<") && rows[1].contains("<td></td>"),
        "{}",
        rows[1]
    );
    // No suite of queues is about pairs.
    assert!(!files.keys().any(|path| path.starts_with("pairs/queues")));
    let own = page(&files, "controls/cubic.html");
    assert!(own.contains("../pairs/controls/reno--cubic.html"), "{own}");
}

#[test]
fn a_board_that_was_stopped_and_one_with_other_jobs_have_the_same_bytes() {
    let place = place();
    let (status, _, said) = ended(&place, &format!("{LINE} --out whole --jobs 1"));
    assert_eq!(status, Some(0), "{said}");
    let whole = site(&place.path("whole"));
    let (status, _, said) = ended(&place, &format!("{LINE} --out two --jobs 2"));
    assert_eq!(status, Some(0), "{said}");
    assert!(whole == site(&place.path("two")), "other jobs, other bytes");
    // Killed as soon as a run is there, as many times as it takes.
    let mut kills = 0;
    loop {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sojourn"));
        let line = format!("{LINE} --out killed --jobs 1");
        let command = command.current_dir(place.path(".")).args(line.split(' '));
        let quiet = std::process::Stdio::null;
        let mut child = command.stdout(quiet()).stderr(quiet()).spawn().unwrap();
        let before = runs(&place.path("killed/runs"));
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if kills < 3 && runs(&place.path("killed/runs")) > before {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        match ended {
            Some(status) => {
                assert!(status.success());
                break;
            }
            None => kills += 1,
        }
    }
    assert!(kills > 0, "nothing was killed");
    assert!(
        whole == site(&place.path("killed")),
        "other bytes after {kills} kills"
    );
}

/// Finished runs below a folder.
fn runs(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let each = entries.map(|entry| match entry.path() {
        path if path.is_dir() => runs(&path),
        path => usize::from(path.extension().is_some_and(|suffix| suffix == "parquet")),
    });
    each.sum()
}

#[test]
fn a_second_call_runs_nothing_again_and_removes_pages_that_are_gone() {
    let place = place();
    let (status, _, said) = ended(&place, &format!("{LINE} --out out"));
    assert_eq!(status, Some(0), "{said}");
    let before: Vec<_> = written(&place.path("out/runs"));
    let first = site(&place.path("out"));
    let (status, _, said) = ended(&place, &format!("{LINE} --out out"));
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(before, written(&place.path("out/runs")));
    assert!(first == site(&place.path("out")));
    let (status, _, said) = ended(
        &place,
        "board --suite queues.toml --queue codel --quick --out out",
    );
    assert_eq!(status, Some(0), "{said}");
    let files = site(&place.path("out"));
    assert!(files.contains_key(Path::new("cells/queues/queue-codel.html")));
    assert!(!files.contains_key(Path::new("cells/queues/queue-droptail.html")));
    assert!(!files.contains_key(Path::new("cells/pairs/cc-reno.html")));
    assert_eq!(before, written(&place.path("out/runs")));
}

/// The tables of all runs, and when they were written.
fn written(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "parquet") {
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                all.push((path, time));
            }
        }
    }
    all.sort();
    assert!(!all.is_empty());
    all
}

#[test]
fn what_no_suite_can_test_and_what_is_unknown_is_refused_before_anything_is_written() {
    let place = place();
    for (line, said) in [
        ("--suite pairs.toml --cc cubci", "did you mean \"cubic\"?"),
        (
            "--suite pairs.toml --cc codel",
            "there is no congestion control \"codel\"",
        ),
        (
            "--suite pairs.toml --queue cubic",
            "there is no queue \"cubic\"",
        ),
        ("--suite rfc7982 --queue codel", "did you mean \"rfc7928\"?"),
        (
            "--suite pairs.toml --queue codel",
            "none of the suites has a case for it",
        ),
        (
            "--suite queues.toml --queue codel --queue codel",
            "it is given twice",
        ),
        (
            "--suite queues.toml --suite ./queues.toml --queue codel",
            "two suites are called queues",
        ),
    ] {
        let (status, _, error) = ended(&place, &format!("board --out out --quick {line}"));
        assert_eq!(status, Some(2), "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
        assert!(!place.path("out").exists(), "{line}");
    }
    let mut command = place.sojourn("board --out out --suite queues.toml --queue");
    let output = command.arg("codel targte=5ms").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("did you mean \"target\"?"), "{error}");
    assert!(!place.path("out").exists());
}

#[test]
fn a_directory_of_something_else_is_refused_and_stays_as_it_was() {
    let place = place();
    fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/index.html", "mine");
    for out in ["mine", "pairs.toml"] {
        let (status, _, error) = ended(&place, &format!("{LINE} --out {out}"));
        assert_eq!(status, Some(2), "{error}");
        assert!(error.contains(out) && error.contains("--out"), "{error}");
    }
    assert_eq!(place.read("mine/index.html"), "mine");
    assert_eq!(fs::read_dir(place.path("mine")).unwrap().count(), 1);
}

#[test]
fn what_a_suite_cannot_test_stands_on_the_board_with_its_reason() {
    let place = place();
    // The rate of a media control is not that of a flow of data.
    let line = "board --suite pairs.toml --cc reno --cc nada --suite rmcat --quick --out out";
    let (status, _, error) = ended(&place, line);
    assert_eq!(status, Some(0), "{error}");
    let files = site(&place.path("out"));
    let index = page(&files, "index.html");
    assert!(index.contains(">not tested</a>"), "{index}");
    let reasons = index.split_once("id=\"not-tested\"").unwrap().1;
    assert!(reasons.contains("nada in pairs"), "{reasons}");
}

#[test]
fn pages_stay_small_and_have_what_every_reader_needs() {
    let place = place();
    let (status, _, said) = ended(&place, &format!("{LINE} --out out"));
    assert_eq!(status, Some(0), "{said}");
    for (path, bytes) in site(&place.path("out")) {
        let text = String::from_utf8(bytes).unwrap();
        let name = path.display();
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("html") => {
                for part in [
                    "<html lang=\"en\">",
                    "<title>",
                    "name=\"viewport\"",
                    "<h1>",
                    "<main",
                ] {
                    assert!(text.contains(part), "{name}: {part}");
                }
                assert!(!text.contains("<script"), "{name}");
                let images = text.matches("<img ").count();
                assert_eq!(images, values(&text, "alt").len(), "{name}");
                // A box that scrolls can be reached by keyboard.
                let boxes = text.matches("class=\"frame\"").count();
                assert_eq!(
                    boxes,
                    text.matches("class=\"frame\" role=\"region\" aria-label=")
                        .count()
                );
                assert!(text.matches("tabindex=\"0\"").count() >= boxes, "{name}");
            }
            Some("svg") => {
                assert!(
                    text.contains("prefers-color-scheme: dark") && text.contains("<title>"),
                    "{name}"
                );
                assert!(
                    !text.contains("NaN") && !text.contains("inf\""),
                    "{name}: {text}"
                );
            }
            _ => {}
        }
        assert!(text.len() < 100_000, "{name}: {}", text.len());
    }
}
