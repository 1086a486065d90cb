//! What `sojourn init` writes for an algorithm of the user's: the files of an example, with its names replaced.

use sojourn_scenario::error::{LabError, LabErrorKind, Result};

/// What an algorithm is written in, and what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kit {
    /// A queue as a class of Python.
    QueuePython,
    /// A congestion control as a class of Python.
    ControlPython,
    /// A queue and a congestion control in a crate.
    Rust,
}

/// A file: its place in the folder, and its text.
pub type File = (String, String);

const QUEUE: [(&str, &str); 3] = [
    (
        "my_queue.py",
        include_str!("../../../../examples/python-queue/my_queue.py"),
    ),
    (
        "study.toml",
        include_str!("../../../../examples/python-queue/study.toml"),
    ),
    (
        "test_my_queue.py",
        include_str!("../../../../examples/python-queue/test_my_queue.py"),
    ),
];

const CONTROL: [(&str, &str); 3] = [
    (
        "my_control.py",
        include_str!("../../../../examples/python-control/my_control.py"),
    ),
    (
        "study.toml",
        include_str!("../../../../examples/python-control/study.toml"),
    ),
    (
        "test_my_control.py",
        include_str!("../../../../examples/python-control/test_my_control.py"),
    ),
];

const RUST: [(&str, &str); 7] = [
    (
        "Cargo.toml",
        include_str!("../../../../examples/own-algorithms/Cargo.toml"),
    ),
    (
        "src/lib.rs",
        include_str!("../../../../examples/own-algorithms/src/lib.rs"),
    ),
    (
        "src/main.rs",
        include_str!("../../../../examples/own-algorithms/src/main.rs"),
    ),
    (
        "src/queue.rs",
        include_str!("../../../../examples/own-algorithms/src/queue.rs"),
    ),
    (
        "src/control.rs",
        include_str!("../../../../examples/own-algorithms/src/control.rs"),
    ),
    (
        "tests/properties.rs",
        include_str!("../../../../examples/own-algorithms/tests/properties.rs"),
    ),
    (
        "tests/compared.rs",
        include_str!("../../../../examples/own-algorithms/tests/compared.rs"),
    ),
];

/// Names that are taken in Python: words of the language, modules that everything imports, and this package.
const PYTHON: &str = "and as assert async await break case class continue def del elif else except finally for from global if import in is \
    lambda match nonlocal not or pass raise return try type while with yield \
    abc argparse array ast asyncio base64 bisect builtins calendar cmath code codecs collections colorsys concurrent configparser contextlib \
    copy csv ctypes dataclasses datetime decimal difflib dis email enum errno fractions functools gc getopt getpass glob graphlib gzip hashlib \
    heapq hmac html http importlib inspect io ipaddress itertools json keyword linecache locale logging lzma marshal math mmap numbers operator \
    os pathlib pickle platform pprint profile pstats queue random re sched secrets select selectors shelve shlex shutil signal site socket \
    sqlite3 ssl stat statistics string struct subprocess symtable sys sysconfig tempfile test textwrap this threading time timeit token tokenize \
    trace traceback types typing unicodedata unittest urllib uuid venv warnings weakref zipfile zlib \
    conftest numpy pandas polars pytest sojourn study \
    aqm control drop limit mark packet packets parameter rate ratio scheduler size verdict";

/// Names that are taken in Rust: words of the language, its libraries, and this package.
const RUST_TAKEN: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in \
    let loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe unsized use virtual \
    where while yield alloc core deps build examples incremental proc_macro sojourn std test";

impl Kit {
    /// The option that asks for it.
    pub const fn option(self) -> &'static str {
        match self {
            Kit::QueuePython => "--queue-python",
            Kit::ControlPython => "--cc-python",
            Kit::Rust => "--rust",
        }
    }

    /// The files of an algorithm, or of a crate, called `name`. A crate depends on the crate in the folder `sojourn`.
    ///
    /// # Errors
    /// If nothing can be called so.
    pub fn files(self, name: &str, sojourn: &str) -> Result<Vec<File>> {
        self.check(name)?;
        let class = class_name(name);
        Ok(match self {
            Kit::QueuePython => {
                replaced(&QUEUE, &[("my_queue", name), ("Steep", &class)]).collect()
            }
            Kit::ControlPython => {
                replaced(&CONTROL, &[("my_control", name), ("Careful", &class)]).collect()
            }
            Kit::Rust => {
                let module = name.replace('-', "_");
                let names = [("own-algorithms", name), ("own_algorithms", &*module)];
                replaced(&RUST, &names)
                    .map(|file| depends_on(sojourn, file))
                    .collect()
            }
        })
    }

    /// What to do next in the folder, a command in each line.
    ///
    /// # Errors
    /// As [`Kit::files`].
    pub fn next(self, name: &str) -> Result<Vec<String>> {
        self.check(name)?;
        let class = class_name(name);
        Ok(match self {
            Kit::QueuePython | Kit::ControlPython => vec![
                format!("cd {name}"),
                "sojourn study study.toml --out results".to_owned(),
                format!("sojourn check {name}:{class}"),
                "python -m pytest".to_owned(),
            ],
            Kit::Rust => vec![
                format!("cd {name}"),
                "cargo test".to_owned(),
                "cargo run --release -- check slope".to_owned(),
                "cargo run --release -- dumbbell --queue slope --queue codel --flow '4*cubic' --flow gentle".to_owned(),
            ],
        })
    }

    /// Refuses what nothing can be called.
    ///
    /// # Errors
    /// What is wrong with the name, and what is allowed.
    pub fn check(self, name: &str) -> Result<()> {
        let dash = self == Kit::Rust;
        let plain =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || dash && c == '-';
        let begins = name.chars().next().is_some_and(|c| c.is_ascii_lowercase());
        let ends = name.chars().last().is_some_and(|c| c != '-' && c != '_');
        let place = format!("{} {name}", self.option());
        if !begins || !ends || !name.chars().all(plain) || name.len() > 60 {
            let allowed = match dash {
                true => {
                    "lower-case letters, digits, - and _, a letter first and a letter or digit last, at most 60"
                }
                false => {
                    "lower-case letters, digits and _, a letter first and a letter or digit last, at most 60"
                }
            };
            let problem = format!("{name:?} is no name of a {}", self.what());
            return Err(LabError::new(LabErrorKind::BadValue, problem)
                .in_file(place.trim())
                .allowed("characters", allowed));
        }
        let taken = match self {
            Kit::Rust => RUST_TAKEN,
            _ => PYTHON,
        };
        if taken
            .split_whitespace()
            .any(|word| word == name.replace('-', "_"))
            || (self != Kit::Rust && name.starts_with("test_"))
        {
            let problem = format!(
                "{name:?} already means something else in {}",
                self.language()
            );
            return Err(LabError::new(LabErrorKind::BadValue, problem)
                .in_file(&place)
                .remedy(format!(
                    "choose another name, such as my_{}",
                    name.replace('-', "_")
                )));
        }
        Ok(())
    }

    const fn what(self) -> &'static str {
        match self {
            Kit::Rust => "crate",
            _ => "module",
        }
    }

    const fn language(self) -> &'static str {
        match self {
            Kit::Rust => "Rust",
            _ => "Python",
        }
    }
}

/// The name of a class: `my_queue` gives `MyQueue`.
fn class_name(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect()
}

/// Files with names in place of others, in their places and their texts.
fn replaced(files: &[(&str, &str)], names: &[(&str, &str)]) -> impl Iterator<Item = File> {
    files.iter().map(|(place, text)| {
        let replace = |text: &str| {
            let each = names.iter();
            each.fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
        };
        (replace(place), replace(text))
    })
}

/// The manifest of a crate of the user's names the folder of the crate `sojourn`. No registry has it: a crate of that name on crates.io is a
/// different project.
fn depends_on(sojourn: &str, (place, text): File) -> File {
    let text = text
        .replace(
            "# Not a member of Sojourn's workspace: your crate stands in a repository of its own, too.\n",
            "# No member of a workspace around it.\n",
        )
        .replace("\"../../crates/sojourn\"", &quoted(sojourn));
    (place, text)
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KITS: [Kit; 3] = [Kit::QueuePython, Kit::ControlPython, Kit::Rust];

    #[test]
    fn no_name_of_the_example_is_left_in_a_kit() {
        for kit in KITS {
            for (place, text) in kit.files("brisk", "/checkout/crates/sojourn").unwrap() {
                for name in [
                    "my_queue",
                    "my_control",
                    "own_algorithms",
                    "own-algorithms",
                    "Steep",
                    "Careful",
                    "../",
                ] {
                    assert!(
                        !place.contains(name) && !text.contains(name),
                        "{place}: {name}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_class_is_called_as_its_module_is() {
        assert_eq!(class_name("my_queue_2"), "MyQueue2");
        let files = Kit::QueuePython
            .files("my_queue_2", "/checkout/crates/sojourn")
            .unwrap();
        assert_eq!(files[0].0, "my_queue_2.py");
        assert!(
            files[0].1.contains("class MyQueue2(Aqm):"),
            "{}",
            files[0].1
        );
    }

    #[test]
    fn a_crate_depends_on_the_checkout_that_is_named() {
        let files = Kit::Rust
            .files("fast-queues", "/checkout/crates/sojourn")
            .unwrap();
        let (_, manifest) = &files[0];
        let lines: Vec<&str> = manifest
            .lines()
            .filter(|line| line.starts_with("sojourn"))
            .collect();
        assert_eq!(lines.len(), 2, "{manifest}");
        assert!(
            lines
                .iter()
                .all(|line| line.contains("path = \"/checkout/crates/sojourn\"")),
            "{manifest}"
        );
        assert!(
            files[2].1.contains("fast_queues::register();"),
            "{}",
            files[2].1
        );
    }

    #[test]
    fn names_that_cannot_be_are_refused_with_what_is_allowed() {
        for kit in KITS {
            for name in ["", "Mine", "2fast", "a b", "../up", "a/b", "é", "x_"] {
                let error = kit
                    .files(name, "/checkout/crates/sojourn")
                    .unwrap_err()
                    .to_string();
                assert!(error.contains("lower-case letters"), "{error}");
            }
        }
        for (kit, name) in [
            (Kit::QueuePython, "random"),
            (Kit::ControlPython, "class"),
            (Kit::Rust, "std"),
        ] {
            let error = kit
                .files(name, "/checkout/crates/sojourn")
                .unwrap_err()
                .to_string();
            assert!(error.contains("already means something else"), "{error}");
        }
        assert!(
            Kit::QueuePython
                .files("a-b", "/checkout/crates/sojourn")
                .is_err()
                && Kit::Rust.files("a-b", "/checkout/crates/sojourn").is_ok()
        );
    }
}
