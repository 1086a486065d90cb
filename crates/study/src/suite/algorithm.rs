//! What a suite tests, and how it gets into a scenario.

use crate::lookup::load;
use sojourn_scenario::catalogue::{Entry, Family, entries};
use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Spec, choice};

choice! {
    /// What a suite tests.
    pub enum Kind {
        /// A queue discipline.
        Queue = "queue",
        /// A congestion control.
        Cc = "cc",
    }
}

/// What is tested: a queue or a congestion control with its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Algorithm {
    /// Which of them.
    pub kind: Kind,
    /// As it was given: `pie target=10ms`.
    pub text: String,
}

impl Algorithm {
    /// The algorithm of a text.
    pub fn new(kind: Kind, text: &str) -> Algorithm {
        Algorithm {
            kind,
            text: text.trim().to_owned(),
        }
    }

    /// Those of a kind in the catalogue, each in its default dialect, in the order of the catalogue.
    pub fn catalogue(kind: Kind) -> Vec<Algorithm> {
        let all = of_kind(kind).into_iter();
        all.map(|entry| Algorithm::new(kind, entry.name)).collect()
    }

    /// Checks that the catalogue has one of this name and kind.
    ///
    /// # Errors
    /// When there is none; the error has the nearest name.
    pub fn check(&self) -> Result<()> {
        let all = of_kind(self.kind);
        let names = || {
            let each = all.iter();
            each.flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()))
        };
        let name = self.name();
        if names().any(|own| own == name) || is_loaded(self.kind, name) {
            return Ok(());
        }
        let place = format!("--{} {}", self.kind.name(), self.text);
        load(name).map_err(|error| error.in_file(&place))?;
        let (what, list) = match self.kind {
            Kind::Queue => ("queue", "sojourn list queues"),
            Kind::Cc => ("congestion control", "sojourn list congestion"),
        };
        let problem = format!("there is no {what} {name:?}");
        Err(LabError::new(LabErrorKind::UnknownName, problem)
            .in_file(&place)
            .nearest(sojourn_units::nearest(name, names()))
            .remedy(format!("see {list}")))
    }

    /// Its name without parameters.
    pub fn name(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or("")
    }

    /// Fails, with the place of an error, unless something is called so.
    pub(super) fn check_name(name: &str, error: &LabError) -> Result<()> {
        let all = entries();
        let names = || {
            let each = all.iter();
            each.flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()))
        };
        if names().any(|own| own == name) || Kind::ALL.iter().any(|kind| is_loaded(*kind, name)) {
            return Ok(());
        }
        load(name).map_err(|own| error.clone().with_text_of(&own))?;
        let text = LabError::new(
            LabErrorKind::UnknownName,
            format!("there is no algorithm {name:?}"),
        )
        .nearest(sojourn_units::nearest(name, names()))
        .remedy("see sojourn list queues and sojourn list congestion");
        Err(error.clone().with_text_of(&text))
    }

    /// Its name in paths of results.
    pub fn folder(&self) -> String {
        let plain = |c: char| match c {
            c if c.is_ascii_alphanumeric() || "_.=-".contains(c) => c,
            _ => '-',
        };
        self.text.chars().map(plain).collect()
    }

    /// Puts the algorithm into a document at a path.
    pub(super) fn put(&self, document: &mut Document, path: &str) -> Result<()> {
        let argument = format!("--{} {}", self.kind.name(), self.text);
        let mut set = |path: &str, text: &str| document.set_argument(path, text, argument.as_str());
        let last = path.rsplit('.').next().unwrap_or(path);
        match (self.kind, last) {
            (Kind::Cc, "tcp") => set(path, &format!("({})", self.text)),
            (Kind::Queue, _) | (Kind::Cc, "control" | "cc") => set(path, &self.text),
            // The parameters of a flow are keys next to its kind.
            (Kind::Cc, _) => {
                let spec: Spec = self
                    .text
                    .parse()
                    .map_err(|error| LabError::from_spec(error).in_file(&argument))?;
                let group = path.strip_suffix(".kind").unwrap_or(path);
                set(&format!("{group}.kind"), &spec.name)?;
                for (key, value) in &spec.args {
                    set(&format!("{group}.{key}"), &value.to_string())?;
                }
                Ok(())
            }
        }
    }
}

/// The entries of the catalogue of a kind.
fn of_kind(kind: Kind) -> Vec<Entry> {
    let family = match kind {
        Kind::Queue => Family::Queue,
        Kind::Cc => Family::Congestion,
    };
    let all = entries().into_iter();
    all.filter(|entry| entry.family == family).collect()
}

/// Whether a component from outside has this name, such as a class of Python, which is loaded when it is named.
fn is_loaded(kind: Kind, name: &str) -> bool {
    name.contains(':')
        && match kind {
            Kind::Queue => sojourn_queue::registry::find(name).is_some(),
            Kind::Cc => sojourn_cc::registry::find(name).is_some(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_congestion_control_brings_its_parameters_into_the_flow() -> Result<()> {
        let text = "[[flows]]\nkind = \"cubic\"\nlabel = \"tested\"\n";
        let mut document = Document::parse(text, "x.toml")?;
        let tested = Algorithm::new(Kind::Cc, "sack initial_window=3");
        tested.put(&mut document, "flows.tested")?;
        let json = document.to_json();
        assert_eq!(json["flows"][0]["kind"], "sack");
        assert_eq!(json["flows"][0]["initial_window"], 3);
        Ok(())
    }

    #[test]
    fn a_name_is_that_of_its_kind() {
        for kind in Kind::ALL {
            let all = Algorithm::catalogue(*kind);
            assert!(all.len() > 20 && all.iter().all(|own| own.check().is_ok()));
        }
        let error = |kind, text| {
            let error = Algorithm::new(kind, text).check();
            error.expect_err("there is no such algorithm")
        };
        assert_eq!(error(Kind::Queue, "codle").meant(), Some("codel"));
        assert!(error(Kind::Queue, "cubic").to_string().contains("no queue"));
        assert!(
            error(Kind::Cc, "codel")
                .to_string()
                .contains("no congestion control")
        );
    }
}
