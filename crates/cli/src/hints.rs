//! What to write instead of arguments that the command line does not take: a whole command to copy.

use crate::topics;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use sojourn_report::shell_word;
use sojourn_scenario::catalogue::{Family, entries};
use sojourn_scenario::oneline::OPTIONS;

/// What to say of these arguments (the program's name first) in place of the error; `None` where the error says enough.
pub(crate) fn instead(error: &Error, args: &[String]) -> Option<String> {
    let given = args.get(1..).unwrap_or_default();
    let wrong = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) => text.as_str(),
        Some(ContextValue::Strings(texts)) => texts.first().map_or("", String::as_str),
        _ => "",
    };
    match (error.kind(), given.split_first()) {
        (ErrorKind::MissingRequiredArgument, Some((command, rest))) if command == "dumbbell" => {
            wrong.contains("--flow").then(|| {
                let mut words: Vec<String> = rest.to_vec();
                words.extend(FLOW.map(str::to_owned));
                format!(
                    "dumbbell: no flow is given; say what runs, such as: {}",
                    dumbbell(&words)
                )
            })
        }
        (ErrorKind::MissingRequiredArgument, Some((command, _))) if command == "report" => wrong
            .contains("--images")
            .then(|| report_without_images(given)),
        (ErrorKind::UnknownArgument, Some((first, _))) if is_option(first) => {
            let mut words = given.to_vec();
            if !words.iter().any(|word| word == "--flow") {
                words.extend(FLOW.map(str::to_owned));
            }
            let name = first.split('=').next().unwrap_or(first);
            Some(format!(
                "{name} belongs to a command, did you mean: {}",
                dumbbell(&words)
            ))
        }
        (ErrorKind::UnknownArgument, Some((command, _))) if command == "dumbbell" => {
            positional(wrong)
        }
        (ErrorKind::InvalidSubcommand, Some((command, rest))) => subcommand(command, rest),
        (ErrorKind::InvalidValue, _) => value(error, wrong),
        _ => None,
    }
}

/// The flows of an example.
const FLOW: [&str; 2] = ["--flow", "4*cubic"];

fn dumbbell(words: &[String]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| shell_word(word).into_owned())
        .collect();
    format!("sojourn dumbbell {}", words.join(" "))
}

/// What to write where an option is about image files that nobody asked for.
fn report_without_images(given: &[String]) -> String {
    let mut options = given.iter().filter(|word| word.starts_with("--"));
    let about = options.find(|word| {
        let name = word.split('=').next().unwrap_or(word);
        !["--latex", "--xlsx", "--out", "--format"].contains(&name)
    });
    let name = about.map_or("--width", |word| word.split('=').next().unwrap_or(word));
    let words: Vec<String> = given
        .iter()
        .map(|word| shell_word(word).into_owned())
        .collect();
    format!(
        "{name} is about image files, and none are asked for; add --images: sojourn {} --images svg",
        words.join(" ")
    )
}

/// Whether it is an option of `sojourn dumbbell`.
fn is_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    ["--queue", "--flow", "--set", "--out", "--format"].contains(&name)
        || OPTIONS.iter().any(|(option, _)| *option == name)
}

/// What a word alone was probably meant as.
fn positional(word: &str) -> Option<String> {
    let name = word.split(' ').next().unwrap_or(word);
    let option = match () {
        () if is_a(name, Family::Queue) => "--queue",
        () if is_a(name.rsplit('*').next().unwrap_or(name), Family::Flow) => "--flow",
        () => return None,
    };
    Some(format!(
        "dumbbell: unexpected argument {word:?}, did you mean: {option} {}",
        shell_word(word)
    ))
}

fn is_a(name: &str, family: Family) -> bool {
    entries().iter().any(|entry| {
        entry.family == family && (entry.name == name || entry.aliases.contains(&name))
    })
}

/// What an argument of a few words may be instead.
fn value(error: &Error, argument: &str) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) if kind == ContextKind::ValidValue => {
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        _ => None,
    };
    let (given, allowed) = (
        text(ContextKind::InvalidValue)?,
        text(ContextKind::ValidValue)?,
    );
    if given.is_empty() {
        return None;
    }
    let name = argument.split(' ').next().unwrap_or(argument);
    let place = match name.starts_with('-') {
        true => format!("{name} {}", shell_word(&given)),
        false => shell_word(&given).into_owned(),
    };
    let near = sojourn_units::nearest(&given, allowed.split(", "));
    let near = near.map_or_else(String::new, |near| format!(", did you mean {near:?}?"));
    Some(format!(
        "{place}: {given:?} is not allowed here{near} (allowed: {allowed})"
    ))
}

/// Words for what other commands do, and those commands.
const TASKS: [(&[&str], &str); 4] = [
    (
        &["table", "tables", "results", "result", "export", "latex"],
        "a report has the tables of results: sojourn report DIR",
    ),
    (
        &[
            "figure", "figures", "plot", "plots", "graph", "image", "images",
        ],
        "a report draws the figures of results: sojourn report DIR --images svg",
    ),
    (
        &["topology", "picture", "diagram", "network"],
        "to draw a topology: sojourn draw FILE",
    ),
    (
        &["animate", "animation", "nam", "video", "movie"],
        "to play a run: sojourn run FILE --trace nam run.nam, then sojourn play run.nam",
    ),
];

/// What a command that does not exist was probably meant as.
fn subcommand(command: &str, rest: &[String]) -> Option<String> {
    if command == "help"
        && let Some((topic, more)) = rest.split_first()
    {
        return subcommand(topic, more);
    }
    let unknown = format!("there is no command {command:?}");
    if topics::PAGES
        .iter()
        .any(|(place, _)| topics::name_of(place) == command)
        && !is_a(command, Family::Queue)
    {
        return Some(format!(
            "{unknown}; to read that page: sojourn docs {command}"
        ));
    }
    if command.ends_with(".toml") {
        return Some(format!(
            "{unknown}, did you mean: sojourn run {}",
            shell_word(command)
        ));
    }
    let words = std::iter::once(command).chain(rest.iter().map(String::as_str));
    let named: Vec<&str> = words
        .flat_map(|word| word.split(','))
        .filter(|word| is_a(word.split(' ').next().unwrap_or(word), Family::Queue))
        .collect();
    if !named.is_empty() {
        let queues = named
            .iter()
            .flat_map(|queue| ["--queue".to_owned(), (*queue).to_owned()]);
        let words: Vec<String> = queues.chain(FLOW.map(str::to_owned)).collect();
        return Some(format!("{unknown}, did you mean: {}", dumbbell(&words)));
    }
    if let Some((_, task)) = TASKS.iter().find(|(words, _)| words.contains(&command)) {
        return Some(format!("{unknown}; {task}"));
    }
    let comparing = [
        "compare",
        "sim",
        "simulate",
        "simulation",
        "test",
        "queue",
        "start",
    ];
    comparing.contains(&command).then(|| {
        let words = ["--queue", "codel", "--queue", "pie", "--flow", "4*cubic"];
        format!(
            "{unknown}, did you mean: {}",
            dumbbell(&words.map(str::to_owned))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Cli;
    use clap::Parser;

    fn said(line: &[&str]) -> Option<String> {
        let args: Vec<String> = std::iter::once("sojourn")
            .chain(line.iter().copied())
            .map(str::to_owned)
            .collect();
        let error = Cli::try_parse_from(&args).err()?;
        instead(&error, &args)
    }

    #[test]
    fn arguments_that_do_not_fit_are_answered_with_a_command_to_copy() {
        let cases: [(&[&str], &str); 14] = [
            (
                &["help", "tutorial"],
                "there is no command \"tutorial\"; to read that page: sojourn docs tutorial",
            ),
            (
                &["dumbbell", "--queue", "codel target=9ms"],
                "dumbbell: no flow is given; say what runs, such as: sojourn dumbbell --queue 'codel target=9ms' --flow '4*cubic'",
            ),
            (
                &["--queue", "codel"],
                "--queue belongs to a command, did you mean: sojourn dumbbell --queue codel --flow '4*cubic'",
            ),
            (
                &["--rate=10Mbps", "--flow", "reno"],
                "--rate belongs to a command, did you mean: sojourn dumbbell --rate=10Mbps --flow reno",
            ),
            (
                &["dumbbell", "codel", "--flow", "reno"],
                "dumbbell: unexpected argument \"codel\", did you mean: --queue codel",
            ),
            (
                &["dumbbell", "4*reno", "--flow", "reno"],
                "dumbbell: unexpected argument \"4*reno\", did you mean: --flow '4*reno'",
            ),
            (
                &["compare", "codel", "pie"],
                "there is no command \"compare\", did you mean: sojourn dumbbell --queue codel --queue pie --flow '4*cubic'",
            ),
            (
                &["dumbbell", "--flow", "reno", "--format", "yaml"],
                "--format yaml: \"yaml\" is not allowed here (allowed: table, json, csv)",
            ),
            (
                &["list", "metrcs"],
                "metrcs: \"metrcs\" is not allowed here, did you mean \"metrics\"? (allowed: queues, flows, sources, \
                 congestion, topologies, metrics, figures, studies)",
            ),
            (
                &["report", "results", "--width", "3in"],
                "--width is about image files, and none are asked for; add --images: sojourn report results --width 3in \
                 --images svg",
            ),
            (
                &["table", "results"],
                "there is no command \"table\"; a report has the tables of results: sojourn report DIR",
            ),
            (
                &["topology", "wan.toml"],
                "there is no command \"topology\"; to draw a topology: sojourn draw FILE",
            ),
            (
                &["animate", "wan.toml"],
                "there is no command \"animate\"; to play a run: sojourn run FILE --trace nam run.nam, then sojourn play run.nam",
            ),
            (
                &["lab.toml"],
                "there is no command \"lab.toml\", did you mean: sojourn run lab.toml",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(said(line).as_deref(), Some(expected), "{line:?}");
        }
    }

    #[test]
    fn what_clap_says_well_stays() {
        assert_eq!(said(&["dumbbell", "--flow"]), None);
        assert_eq!(said(&["stdy"]), None);
        assert_eq!(said(&["--help"]), None);
    }
}
