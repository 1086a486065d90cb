//! What the command looks like in a terminal: width, colour, help, completions, manual pages.

use crate::support::Place;
use std::process::Command;

/// A study whose tables stay as they are when those that nobody asks for change.
const ASKED: &str = r#"
[[table]]
id = "delay"
title = "Delay and drops"
experiment = "rates"
rows = ["rate"]
columns = ["queue"]
metrics = ["sojourn_s_mean", "sojourn_s_p95", "goodput_bps_sum", "loss_ratio"]

[[table]]
id = "windows"
title = "Use of the link"
experiment = "windows"
rows = ["queue"]
metrics = ["utilization_ratio"]
"#;

impl Place {
    /// What the command prints on a terminal of 80 columns.
    fn at_80(&self, line: &str) -> String {
        let output = self.sojourn(line).env("COLUMNS", "80").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "sojourn {line}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn assert_fits(text: &str, what: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "sojourn {what}: {line}\n{text}");
    }
}

const FOUR: &str = "dumbbell --rate 5Mbps --rtt 20ms --duration 3s --warmup 1s --queue codel --queue pie \
    --queue fq_codel --queue droptail --flow 2*cubic";

#[test]
fn every_table_fits_80_columns() {
    let place = Place::new();
    place.ok("run tiny.toml --trace ns2 trace.tr --quiet");
    for line in [
        "list",
        "list queues",
        "list congestion",
        "show codel",
        "show cake",
        "show cubic",
        "show web",
        "docs",
        "run tiny.toml",
        "run tiny.toml --dry-run",
        FOUR,
        "study small.toml",
        "study small.toml --all",
        "report results/small",
        "report results/small --format table",
        "trace analyse trace.tr",
        "trace analyse trace.tr --table flows",
        "bench --case b1 --rounds 1 --seconds 0.01",
        "bench --queue codel --rounds 1 --seconds 0.01",
    ] {
        assert_fits(&place.at_80(line), line);
    }
}

#[test]
fn help_fits_80_columns() {
    let place = Place::new();
    let help = place.at_80("--help");
    assert_fits(&help, "--help");
    let commands = help.lines().filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        let name = line.split_whitespace().next()?;
        let is_command = name.chars().all(|c| c.is_ascii_lowercase()) && name != "sojourn";
        (is_command && !line.starts_with(' ')).then_some(name)
    });
    let commands: Vec<&str> = commands.collect();
    assert!(commands.len() >= 18, "{commands:?}");
    for name in commands {
        let line = format!("{name} --help");
        let help = place.at_80(&line);
        let options = help.split("Examples:").next().unwrap_or_default();
        assert_fits(options, &line);
    }
}

#[test]
fn help_says_what_it_is_and_groups_the_commands() {
    let help = Place::new().at_80("--help");
    let first = help.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("Simulate networks packet by packet"),
        "{help}"
    );
    for heading in [
        "Compare:",
        "Study:",
        "Look up:",
        "Traces:",
        "Verify and measure:",
        "Examples:",
    ] {
        assert!(
            help.lines().any(|line| line == heading),
            "{heading}: {help}"
        );
    }
    assert_eq!(help.matches("\n  sojourn ").count(), 3, "{help}");
}

#[test]
fn differences_stand_below_where_they_do_not_fit_beside() {
    let place = Place::new();
    let narrow = place.at_80(FOUR);
    assert!(narrow.contains("\nDifferences\n"), "{narrow}");
    let wide = place.ok(&format!("{FOUR} --wide --quiet"));
    assert!(!wide.contains("\nDifferences\n"), "{wide}");
    assert!(
        wide.lines().any(|line| line.chars().count() > 100),
        "{wide}"
    );
}

#[test]
fn a_study_prints_its_first_table_and_where_the_rest_is() {
    let place = Place::new();
    place.write("asked.toml", &(place.read("small.toml") + ASKED));
    let first = place.at_80("study asked.toml");
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/cli/goldens/study-80.txt"
    );
    if std::env::var_os("SOJOURN_WRITE_GOLDENS").is_some() {
        std::fs::write(golden, &first).unwrap();
    }
    assert_eq!(first, std::fs::read_to_string(golden).unwrap());
    let all = place.at_80("study asked.toml --all");
    assert!(all.contains("Use of the link"), "{all}");
}

#[test]
fn a_list_has_one_line_per_entry() {
    let place = Place::new();
    for what in [
        "queues",
        "congestion",
        "flows",
        "sources",
        "metrics",
        "studies",
    ] {
        let names: serde_json::Value =
            serde_json::from_str(&place.ok(&format!("list {what} --format json"))).unwrap();
        let names = names.as_array().unwrap();
        let text = place.at_80(&format!("list {what}"));
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines.len(), names.len(), "{text}");
        for (line, entry) in lines.iter().zip(names) {
            let name = line.split_whitespace().next();
            assert_eq!(name, entry["name"].as_str(), "{text}");
        }
    }
}

#[test]
fn colour_follows_the_option_and_the_variables() {
    let place = Place::new();
    let coloured = |option: &str, variables: &[(&str, &str)]| {
        let mut command = place.sojourn(&format!("list queues {option}"));
        for (name, value) in variables {
            command.env(name, value);
        }
        let output = command.output().unwrap();
        assert!(output.status.success());
        output.stdout.contains(&0x1b)
    };
    let (force, none) = (("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1"));
    assert!(!coloured("", &[]), "no terminal");
    assert!(coloured("", &[force]));
    assert!(!coloured("", &[force, none]));
    assert!(
        coloured("--color always", &[none]),
        "the option says it last"
    );
    assert!(!coloured("--color never", &[force]));
}

#[test]
fn quiet_leaves_out_notes_and_keeps_warnings() {
    let place = Place::new();
    let text = place.ok("run tiny.toml --set run.warmup=0s");
    assert!(
        text.contains("\nnote: ") && text.contains("\nwarning: "),
        "{text}"
    );
    let quiet = place.ok("run tiny.toml --set run.warmup=0s --quiet");
    assert!(
        !quiet.contains("\nnote: ") && quiet.contains("\nwarning: "),
        "{quiet}"
    );
}

#[test]
fn every_shell_has_a_script_that_completes_commands_and_options() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.ok(&format!("completions {shell}"));
        for word in ["dumbbell", "replications", "congestion", "no-pager"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    place.write("sojourn.bash", &place.ok("completions bash"));
    if let Ok(bash) = Command::new("bash")
        .arg("-n")
        .arg(place.path("sojourn.bash"))
        .status()
    {
        assert!(bash.success());
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let page = place.ok("man");
    assert!(page.contains(".TH sojourn 1"), "{page}");
    place.ok("man pages");
    for name in [
        "sojourn",
        "sojourn-dumbbell",
        "sojourn-study",
        "sojourn-docs",
    ] {
        let page = place.read(&format!("pages/{name}.1"));
        assert!(page.contains(".SH DESCRIPTION"), "{name}: {page}");
    }
    assert!(!place.path("pages/sojourn-reference-pages.1").exists());
}

#[test]
fn a_topic_is_printed_with_its_links_as_commands() {
    let place = Place::new();
    let rule = place.ok("docs phase-locked");
    assert!(rule.starts_with("The auditor: phase-locked\n"), "{rule}");
    let index = place.ok("docs");
    assert!(index.contains("\n  compare-queues  "), "{index}");
    let page = place.ok("docs tutorial");
    let words: Vec<&str> = page.split_whitespace().collect();
    assert!(words.join(" ").contains("`sojourn docs "), "{page}");
    let error = place.refused(place.sojourn("docs compare-queue"));
    assert!(error.contains("compare-queues"), "{error}");
}

#[test]
fn a_note_of_the_auditor_names_its_page() {
    let place = Place::new();
    let text = place.ok("run tiny.toml");
    assert!(text.contains("sojourn docs few-replications"), "{text}");
}
