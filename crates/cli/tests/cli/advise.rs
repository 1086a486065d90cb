//! What `sojourn advise` says, writes and refuses, and whether tc reads its lines.

use crate::support::Place;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// An advice that is worked out within a second or two: a slow link, and no pages.
const SMALL: &str = "advise --rate 4/2Mbps --rtt 20ms --use voice,game --quick --replications 3";

fn ended(place: &Place, line: &str) -> (Option<i32>, String, String) {
    let output = place.sojourn(line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn advised(place: &Place, options: &str) -> Value {
    serde_json::from_str(&place.ok(&format!("{SMALL} {options} --json -"))).unwrap()
}

fn settings(advice: &Value) -> &Vec<Value> {
    advice["panel"].as_array().unwrap()
}

fn lines(setting: &Value) -> Vec<&str> {
    let lines = setting["lines"].as_array().unwrap();
    lines.iter().map(|line| line.as_str().unwrap()).collect()
}

#[test]
fn the_answer_comes_first_and_the_lines_to_paste_are_those_of_the_recommended_setting() {
    let place = Place::new();
    let line = SMALL.replace("voice,game", "voice,game,bulk");
    let text = place.ok(&format!("{line} --json advice.json"));
    let advice: Value = serde_json::from_str(&place.read("advice.json")).unwrap();
    let chosen = advice["recommended"].as_str().unwrap();
    let setting = settings(&advice);
    let setting = setting.iter().find(|own| own["setting"] == chosen).unwrap();
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("Use "), "{first}");
    assert!(text.contains(&format!("> {chosen}")), "{text}");
    for line in lines(setting) {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(
        text.lines()
            .filter(|line| !line.contains("tc "))
            .all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains("This is a simulation"), "{text}");
}

#[test]
fn a_long_queue_without_a_shaper_is_never_recommended_for_calls_and_games_beside_transfers() {
    let place = Place::new();
    let line = SMALL.replace("voice,game", "voice,game,bulk");
    let text = place.ok(&format!("{line} --json -"));
    let advice: Value = serde_json::from_str(&text).unwrap();
    let chosen = advice["recommended"].as_str().unwrap();
    assert!(
        chosen.starts_with("CAKE") || chosen.starts_with("FQ"),
        "{chosen}"
    );
    let today = &settings(&advice)[0];
    let game = today["uses"]
        .as_array()
        .unwrap()
        .iter()
        .find(|own| own["use"] == "game");
    let game = game.unwrap();
    assert_eq!(game["versus_recommended"]["differs"], true, "{game}");
    assert!(game["value"].as_f64().unwrap() > 100.0, "{game}");
}

#[test]
fn with_transfers_alone_nothing_is_shaped() {
    let place = Place::new();
    let line = SMALL
        .replace("voice,game", "bulk")
        .replace("4/2Mbps", "20Mbps");
    let text = place.ok(&format!("{line} --json -"));
    let advice: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(advice["recommended"], advice["today"], "{advice}");
    let text = place.ok(&line);
    assert!(text.starts_with("Leave it as it is"), "{text}");
    assert!(!text.contains("Lines to paste"), "{text}");
}

#[test]
fn the_study_that_is_written_gives_the_same_values() {
    let place = Place::new();
    let advice = advised(&place, "--write panel.toml");
    let records = place.ok("study panel.toml --format csv --out again");
    let of = |setting: &str, metric: &str| -> f64 {
        let mut lines = records
            .lines()
            .map(|line| line.split(',').collect::<Vec<_>>());
        let found = lines.find(|cells| cells[1] == setting && cells[2] == metric);
        found.unwrap_or_else(|| panic!("{setting} {metric}: {records}"))[4]
            .parse()
            .unwrap()
    };
    for setting in settings(&advice)
        .iter()
        .filter(|own| !own["setting"].as_str().unwrap().contains(','))
    {
        let label = setting["setting"].as_str().unwrap();
        let voice = &setting["uses"][0];
        assert_eq!(voice["use"], "voice");
        let worse = voice["value"].as_f64().unwrap();
        let (down, up) = (
            of(label, "r_factor of voice-down"),
            of(label, "r_factor of voice-up"),
        );
        assert!(worse <= down.min(up) + 1e-9, "{label}: {worse} {down} {up}");
    }
    let again = place.ok(&format!("{SMALL} --write panel.toml --json -"));
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), advice);
}

#[test]
fn a_mistake_names_what_is_allowed_and_leaves_nothing() {
    let place = Place::new();
    let before = place.files(".");
    for (options, wanted) in [
        ("--rate 0", "--rate"),
        ("--rate 50/0Mbps", "out of range"),
        ("--rate fast", "--rate"),
        ("--rate 50Mbps --use web,vioce", "did you mean \"voice\"?"),
        (
            "--rate 50Mbps --platform openwrd",
            "did you mean \"openwrt\"?",
        ),
        ("--rate 50Mbps --rtt 1h", "--rtt"),
        ("--rate 50Mbps --dev eth0/1", "--dev"),
        ("--rate 50Mbps --vary 140%", "--vary"),
        ("--rate 50Mbps --buffer 50ms", "--buffer"),
        ("--rate 50Mbps --replications 1", "--replications"),
        ("--rate 50Mbps --trace nowhere.down", "nowhere.down"),
        ("--rate 50Mbps --trace tiny.toml", "line 1"),
        ("--rate 50Mbps --json tiny.toml", "already exists"),
    ] {
        let (status, out, error) = ended(
            &place,
            &format!("advise {options} --write x.toml --out results"),
        );
        assert_eq!((status, out.as_str()), (Some(2), ""), "{options}");
        assert!(error.contains(wanted), "{options}: {error}");
    }
    assert_eq!(place.files("."), before);
}

#[test]
fn openwrt_gets_a_section_of_sqm_and_a_cable_line_gets_what_to_ask_for() {
    let place = Place::new();
    let openwrt = advised(&place, "--platform openwrt --dev wan");
    let cake = settings(&openwrt)
        .iter()
        .find(|own| own["setting"] == "CAKE 90 %")
        .unwrap();
    let section = lines(cake);
    for line in [
        "config queue 'wan'",
        "    option download '3600'",
        "    option upload '1800'",
        "    option script 'piece_of_cake.qos'",
    ] {
        assert!(section.contains(&line), "{section:?}");
    }
    let docsis = advised(&place, "--platform docsis");
    let pie = settings(&docsis)
        .iter()
        .find(|own| own["setting"] == "PIE both ways")
        .unwrap();
    assert!(
        lines(pie).iter().any(|line| line.contains("RFC 8034")),
        "{pie}"
    );
}

/// What tc prints where it has read a line and the kernel lacks the module. Anything else is a line that tc does not read.
const OF_THE_KERNEL: [&str; 4] = [
    "Error: Specified qdisc kind is unknown.",
    "Error: TC classifier not found.",
    "We have an error talking to the kernel",
    "Command failed ",
];

/// Gives lines to `tc -batch` and `ip -batch` in a network namespace with a device eth0. What tc says is wrong with them; `None` where there
/// is no tc or no such namespace.
fn refused(lines: &[&str]) -> Option<String> {
    let of = |tool: &str| -> String {
        let own = lines
            .iter()
            .filter_map(|line| line.strip_prefix(tool)?.strip_prefix(' '));
        own.map(|line| format!("{line}\n")).collect()
    };
    let script = format!(
        "ip link add eth0 type veth peer name peer0 || exit 77\nip -force -batch - <<'END'\n{}END\ntc -force -batch - <<'END'\n{}END\n",
        of("ip"),
        of("tc")
    );
    let mut shell = Command::new("unshare")
        .args(["-rn", "sh"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    shell.stdin.take()?.write_all(script.as_bytes()).ok()?;
    let output = shell.wait_with_output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77)
        || said.contains("unshare failed")
        || said.contains("not found\n") && said.contains("tc:")
    {
        return None;
    }
    let known = |line: &&str| OF_THE_KERNEL.iter().any(|own| line.starts_with(own));
    let wrong: Vec<&str> = said
        .lines()
        .filter(|line| !known(line) && !line.trim().is_empty())
        .collect();
    Some(wrong.join("\n"))
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that skips says why")]
fn tc_reads_every_line_to_paste() {
    let place = Place::new();
    let advice = advised(&place, "--platform linux");
    let all = settings(&advice);
    let Some(wrong) = refused(&["tc qdisc replace dev eth0 root cake bandwith 5mbit"]) else {
        eprintln!("skipped: there is no tc here, or no network namespace for this user");
        return;
    };
    assert!(
        wrong.contains("bandwith"),
        "a wrong line is found: {wrong:?}"
    );
    for setting in all {
        let lines = lines(setting);
        let wrong = refused(&lines);
        assert_eq!(wrong.as_deref(), Some(""), "{setting:#}");
    }
}
