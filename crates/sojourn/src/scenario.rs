//! Scenarios: from TOML, or put together in code.

use crate::outcome::Outcome;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::LabError;
use sojourn_scenario::model::Scenario as Model;
use std::fmt::Write as _;
use std::path::Path;

/// Which network, which queues, which flows, and for how long. It was read and checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    model: Model,
}

impl Scenario {
    /// A scenario as TOML has it.
    ///
    /// ```
    /// let scenario = sojourn::Scenario::parse(
    ///     "[run]\nduration = \"5s\"\n[topology]\nqueue = \"fq_codel\"\n[[flows]]\nkind = \"cubic\"\n",
    /// )?;
    /// assert_eq!(scenario.run(0)?.flows(), ["cubic-1"]);
    /// # Ok::<(), sojourn::Error>(())
    /// ```
    ///
    /// # Errors
    /// Names the line, the key, what was given and what is allowed.
    pub fn parse(text: &str) -> Result<Scenario, LabError> {
        Scenario::of(&Document::parse(text, "scenario.toml")?)
    }

    /// The scenario in a file.
    ///
    /// # Errors
    /// As [`Scenario::parse`], and if the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Scenario, LabError> {
        Scenario::of(&Document::read(path.as_ref())?)
    }

    /// Flows through one bottleneck, to be put together. Without more it is 10 Mbps, a round trip of 40 ms, DropTail and 60 s.
    pub fn dumbbell() -> Builder {
        Builder::default()
    }

    fn of(document: &Document) -> Result<Scenario, LabError> {
        Ok(Scenario {
            model: Model::from_document(document)?,
        })
    }

    /// One run. Replications are numbered from 0; each has random streams of its own.
    ///
    /// # Errors
    /// If the scenario asks for more than its limits allow, or an algorithm fails.
    pub fn run(&self, replication: u64) -> Result<Outcome, LabError> {
        let outcome = sojourn_run::run::run(&self.model, replication)?;
        Ok(Outcome::of(outcome))
    }

    /// The scenario with every default filled in, as TOML: what runs.
    ///
    /// # Errors
    /// If something in it contradicts something else.
    pub fn resolved(&self) -> Result<String, LabError> {
        Ok(self.model.resolve()?.to_document().to_toml())
    }
}

/// A scenario that is being put together. Mistakes show in [`Builder::build`].
///
/// ```
/// let error = sojourn::Scenario::dumbbell().queue("codle").flow("reno").build().unwrap_err();
/// assert!(error.to_string().contains("did you mean \"codel\"?"));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Builder {
    flows: Vec<String>,
    sets: Vec<(String, String)>,
}

impl Builder {
    /// Sets what stands at a path of the scenario file, as `--set PATH=VALUE` does: `topology.access_delay` to `2ms`.
    pub fn set(mut self, path: &str, value: impl Into<String>) -> Builder {
        self.sets.push((path.to_owned(), value.into()));
        self
    }

    /// The queue at the bottleneck: `codel target=5ms`.
    pub fn queue(self, queue: impl Into<String>) -> Builder {
        self.set("topology.queue", queue)
    }

    /// The rate of the bottleneck: `10Mbps`.
    pub fn rate(self, rate: impl Into<String>) -> Builder {
        self.set("topology.rate", rate)
    }

    /// The round-trip time without queues: `40ms`.
    pub fn rtt(self, rtt: impl Into<String>) -> Builder {
        self.set("topology.rtt", rtt)
    }

    /// The most that the queue holds: `100p`, `64kB`, `50ms`, `1bdp`.
    pub fn buffer(self, buffer: impl Into<String>) -> Builder {
        self.set("topology.buffer", buffer)
    }

    /// How long a run lasts: `60s`.
    pub fn duration(self, duration: impl Into<String>) -> Builder {
        self.set("run.duration", duration)
    }

    /// The seed of the random streams.
    pub fn seed(self, seed: u64) -> Builder {
        self.set("run.seed", seed.to_string())
    }

    /// Another flow, or several that are alike: `4*cubic`, `cbr 2Mbps`.
    pub fn flow(mut self, flow: impl Into<String>) -> Builder {
        self.flows.push(flow.into());
        self
    }

    /// The scenario.
    ///
    /// # Errors
    /// Names what was set, and what is allowed.
    pub fn build(self) -> Result<Scenario, LabError> {
        let flows = self.flows.iter();
        let flows = flows.map(|flow| format!("[[flows]]\nspec = {}\n", quoted(flow)));
        let mut document = Document::parse(&flows.collect::<String>(), "scenario")?;
        for (path, value) in &self.sets {
            document.set(path, value)?;
        }
        Scenario::of(&document)
    }
}

/// A text as a string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
