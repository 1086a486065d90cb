//! The command that repeats results, as it is written into them.

use sojourn_report::shell_word;
use std::path::Path;

/// A command, word by word.
pub(crate) struct Words(Vec<String>);

impl Words {
    /// `sojourn` and what it is to do.
    pub(crate) fn new(command: &str) -> Words {
        Words(vec!["sojourn".to_owned(), command.to_owned()])
    }

    pub(crate) fn word(mut self, word: &str) -> Words {
        self.0.push(shell_word(word).into_owned());
        self
    }

    pub(crate) fn path(self, path: &Path) -> Words {
        self.word(&path.to_string_lossy())
    }

    pub(crate) fn option(self, name: &str, value: Option<&str>) -> Words {
        match value {
            Some(value) => self.word(name).word(value),
            None => self,
        }
    }

    pub(crate) fn options(self, name: &str, values: &[String]) -> Words {
        values
            .iter()
            .fold(self, |words, value| words.word(name).word(value))
    }

    pub(crate) fn option_path(self, name: &str, path: Option<&Path>) -> Words {
        match path {
            Some(path) => self.word(name).path(path),
            None => self,
        }
    }

    pub(crate) fn text(&self) -> String {
        self.0.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_given() {
        let flows = ["4*reno".to_owned(), "it's".to_owned()];
        let text = Words::new("dumbbell")
            .option("--rate", Some("10Mbps"))
            .option("--rtt", None)
            .options("--flow", &flows)
            .text();
        assert_eq!(
            text,
            "sojourn dumbbell --rate 10Mbps --flow '4*reno' --flow 'it'\\''s'"
        );
    }
}
