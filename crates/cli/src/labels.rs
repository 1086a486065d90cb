//! What result directories are called beside each other.

use std::path::PathBuf;

use sojourn_scenario::{LabError, LabErrorKind};

/// The ends of their paths that tell them apart.
///
/// # Errors
/// When one is named twice.
pub(crate) fn labels(dirs: &[PathBuf]) -> Result<Vec<String>, LabError> {
    let whole: Vec<Vec<String>> = dirs
        .iter()
        .map(|dir| {
            let path = dir.canonicalize().unwrap_or_else(|_| dir.clone());
            let parts = path.components();
            parts
                .map(|part| part.as_os_str().to_string_lossy().into_owned())
                .collect()
        })
        .collect();
    for (place, path) in whole.iter().enumerate() {
        if whole[..place].contains(path) {
            return Err(LabError::new(
                LabErrorKind::Contradiction,
                "this directory is named twice",
            )
            .in_file(&dirs[place].display().to_string())
            .remedy("name each once"));
        }
    }
    let longest = whole.iter().map(Vec::len).max().unwrap_or(1);
    let ends = |count: usize| -> Vec<String> {
        let each = whole.iter();
        each.map(|path| path[path.len().saturating_sub(count)..].join("/"))
            .collect()
    };
    let distinct = |names: &Vec<String>| {
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        sorted.len() == names.len()
    };
    let found = (1..=longest).map(ends).find(distinct);
    Ok(found.unwrap_or_else(|| ends(longest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_end_of_the_path_that_tells_directories_apart() {
        let dirs = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(labels(&dirs(&["r/a", "r/b"])).unwrap(), ["a", "b"]);
        assert_eq!(
            labels(&dirs(&["x/rrul", "y/rrul"])).unwrap(),
            ["x/rrul", "y/rrul"]
        );
        let error = labels(&dirs(&["r/a", "r/a"])).unwrap_err().to_string();
        assert!(error.contains("named twice"), "{error}");
    }
}
