//! What came of a check: a verdict for each property, as text and as JSON, and the files of its smallest cases.

use serde_json::{Value, json};
use sojourn_queue::properties::course::{Arrival, Course, RATE};
use sojourn_report::shell_word;
use sojourn_run::properties::Setting;
use sojourn_units::Time;
use sojourn_units::property::Breach;
use std::fmt::Write as _;
use std::path::Path;

/// A property: its name, and what it claims.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The name, as in names of files.
    pub name: &'static str,
    /// What it claims.
    pub title: &'static str,
}

/// A property, and what came of it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The property.
    pub claim: Claim,
    /// What came of it.
    pub verdict: Verdict,
}

/// What came of a property.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It held in every case.
    Passed,
    /// It did not hold.
    Failed(Box<Failure>),
    /// It was not asked, with the reason.
    NotAsked(String),
}

/// A property that does not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What was seen in the smallest case, against what is required.
    pub breach: Breach,
    /// The smallest case.
    pub example: Example,
}

/// A case in which a property does not hold.
#[derive(Clone, Debug)]
pub enum Example {
    /// Packets that arrive at the queue before a link of 10 Mbps: `sojourn replay` reads them.
    Arrivals {
        /// The queue.
        queue: String,
        /// The arrivals and the seed.
        course: Course,
    },
    /// A scenario: `sojourn run` runs it.
    Scenario {
        /// The file.
        toml: String,
        /// What to do with it beside running it; empty where that is enough.
        note: String,
    },
    /// What a connection goes through, without a network.
    Steps(Vec<String>),
}

/// The first column that `--out` writes beyond those that a replay reads, by which the file is known.
pub const CSV_MARK: &str = "time_ns,bytes,flow,ecn,sojourn_check";

/// How a scenario that `--out` writes begins.
pub const TOML_MARK: &str = "# The smallest case that sojourn check found";

/// Arrivals that are printed; of more, the first ones and the last.
const MOST_ROWS: usize = 16;

impl Verdict {
    /// Failed, if there is a failure.
    pub(super) fn of(failure: Option<Failure>) -> Verdict {
        failure.map_or(Verdict::Passed, |failure| {
            Verdict::Failed(Box::new(failure))
        })
    }

    /// The word.
    pub const fn name(&self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed(_) => "failed",
            Verdict::NotAsked(_) => "not asked",
        }
    }
}

impl Failure {
    pub(super) fn new(breach: Breach, example: Example) -> Failure {
        Failure { breach, example }
    }
}

impl Example {
    pub(super) fn scenario(setting: &Setting, note: &str) -> Example {
        Example::Scenario {
            toml: setting.toml(false),
            note: note.to_owned(),
        }
    }

    /// The name of its file in a directory, and what is in it; nothing where no command reads such a case.
    pub fn file(&self, checked: &Checked) -> Option<(String, String)> {
        let name = checked.claim.name;
        match self {
            Example::Arrivals { course, .. } => {
                let mut text = format!("{CSV_MARK}\n");
                for arrival in &course.arrivals {
                    text.push_str(&format!("{},{name}\n", row(arrival)));
                }
                Some((format!("{name}.csv"), text))
            }
            Example::Scenario { toml, note } => {
                let mut text = format!("{TOML_MARK}: {}\n", checked.claim.title);
                if !note.is_empty() {
                    text.push_str(&format!("# {note}\n"));
                }
                Some((format!("{name}.toml"), text + "\n" + toml))
            }
            Example::Steps(_) => None,
        }
    }

    /// The names that files may have.
    pub fn file_names(claim: Claim) -> [(String, &'static str); 2] {
        let name = claim.name;
        [
            (format!("{name}.csv"), CSV_MARK),
            (format!("{name}.toml"), TOML_MARK),
        ]
    }

    /// The command that runs it from its file.
    fn command(&self, file: &Path) -> Option<String> {
        let file = file.display().to_string();
        let file = shell_word(&file);
        match self {
            Example::Arrivals { queue, course } => {
                let seed = match course.seed {
                    1 => String::new(),
                    seed => format!(" --seed {seed}"),
                };
                let queue = shell_word(queue);
                Some(format!(
                    "sojourn replay {file} --queue {queue} --rate {RATE}{seed}"
                ))
            }
            Example::Scenario { .. } => Some(format!("sojourn run {file}")),
            Example::Steps(_) => None,
        }
    }

    fn json(&self) -> Value {
        match self {
            Example::Arrivals { queue, course } => json!({
                "kind": "arrivals",
                "queue": queue,
                "rate": RATE.to_string(),
                "seed": course.seed,
                "columns": ["time_ns", "bytes", "flow", "ecn"],
                "arrivals": course.arrivals.iter().map(|arrival| {
                    json!([nanoseconds(arrival), arrival.bytes, arrival.flow, arrival.ecn])
                }).collect::<Vec<_>>(),
            }),
            Example::Scenario { toml, note } => {
                json!({"kind": "scenario", "toml": toml, "note": note})
            }
            Example::Steps(steps) => json!({"kind": "steps", "steps": steps}),
        }
    }
}

fn nanoseconds(arrival: &Arrival) -> u64 {
    arrival.time.since(Time::ZERO).as_ns()
}

fn row(arrival: &Arrival) -> String {
    let Arrival {
        bytes, flow, ecn, ..
    } = arrival;
    format!("{},{bytes},{flow},{ecn}", nanoseconds(arrival))
}

impl Checked {
    /// Whether the property does not hold.
    pub fn failed(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_))
    }

    /// The line of the property, and below it the smallest case of one that does not hold; with `out`, the directory in which the case is
    /// kept.
    pub fn text(&self, out: Option<&Path>) -> String {
        let (word, Claim { name, title }) = (self.verdict.name(), self.claim);
        match &self.verdict {
            Verdict::Passed => format!("{word:<9}  {name}: {title}\n"),
            Verdict::NotAsked(why) => format!("{word:<9}  {name}: {title} ({why})\n"),
            Verdict::Failed(failure) => {
                let mut text = format!("{word:<9}  {name}: {title}\n");
                let Breach { seen, required } = &failure.breach;
                // Writing to a string cannot fail.
                let _ = write!(text, "  seen:      {seen}\n  required:  {required}\n");
                text.push_str(&self.shown(&failure.example, out));
                text
            }
        }
    }

    fn shown(&self, example: &Example, out: Option<&Path>) -> String {
        let mut lines = Vec::new();
        let head = match example {
            Example::Arrivals { course, .. } => {
                let rows: Vec<String> = course.arrivals.iter().map(row).collect();
                lines.push("time_ns,bytes,flow,ecn".to_owned());
                match rows.len() {
                    count if count > MOST_ROWS => {
                        let left = count - MOST_ROWS;
                        lines.extend_from_slice(&rows[..MOST_ROWS - 1]);
                        let more = "--json and --out have all";
                        lines.push(format!("... {left} more; {more}"));
                        lines.extend(rows.last().cloned());
                    }
                    _ => lines.extend(rows.iter().cloned()),
                }
                let packets = match rows.len() {
                    1 => "1 packet arrives".to_owned(),
                    count => format!("{count} packets arrive"),
                };
                format!("{packets} before a link of {RATE}, seed {}:", course.seed)
            }
            Example::Scenario { toml, note } => {
                lines.extend(toml.lines().map(str::to_owned));
                match note.as_str() {
                    "" => "this scenario:".to_owned(),
                    note => format!("this scenario ({note}):"),
                }
            }
            Example::Steps(steps) => {
                lines.extend(steps.iter().cloned());
                "without a network:".to_owned()
            }
        };
        let mut text = format!("  smallest case: {head}\n");
        for line in lines {
            let line = format!("    {line}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        let kept = out.and_then(|out| {
            let (name, _) = example.file(self)?;
            example.command(&out.join(name))
        });
        if let Some(command) = kept {
            let _ = writeln!(text, "  again:     {command}");
        }
        text
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "property": self.claim.name,
            "claim": self.claim.title,
            "verdict": self.verdict.name().replace(' ', "-"),
        });
        match &self.verdict {
            Verdict::Passed => {}
            Verdict::NotAsked(why) => object["reason"] = json!(why),
            Verdict::Failed(failure) => {
                object["seen"] = json!(failure.breach.seen);
                object["required"] = json!(failure.breach.required);
                object["example"] = failure.example.json();
            }
        }
        object
    }
}

/// What came of a check, as JSON: what was checked, and each property with its verdict.
pub fn json(what: &str, given: &str, all: &[Checked]) -> String {
    let properties: Vec<Value> = all.iter().map(Checked::json).collect();
    let whole = json!({
        "checked": given.trim(),
        "kind": what,
        "properties": properties,
    });
    format!("{whole:#}\n")
}
