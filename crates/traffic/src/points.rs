//! Points in the text of a parameter, and the files that they come from.

use crate::entry::wrong;
use sojourn_units::{ParamError, UnitErrorKind};

/// The error of points that are not what is expected.
pub(crate) fn refused(given: &str, expected: &str, remedy: &str) -> ParamError {
    wrong("points", UnitErrorKind::Malformed, given, expected, remedy)
}

/// The pairs of a text such as `0:15000,0.25:1000`, each with its own text.
///
/// # Errors
/// Of a pair that `read` does not take for `expected`.
pub(crate) fn pairs<'a, T>(
    text: &'a str,
    expected: &str,
    remedy: &str,
    read: impl Fn(&str, &str) -> Option<T>,
) -> Result<Vec<(T, &'a str)>, ParamError> {
    let pairs = text.split(',').map(str::trim);
    pairs
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let point = pair
                .split_once(':')
                .and_then(|(first, second)| read(first.trim(), second.trim()));
            let point = point.ok_or_else(|| refused(pair, expected, remedy))?;
            Ok((point, pair))
        })
        .collect()
}

/// Such a text from the lines of a file. Spaces, commas, semicolons or tabs separate the words of a line. Lines that begin with `#`
/// are comments.
///
/// # Errors
/// With the number and text of a line that `read` does not take for `expected`.
pub(crate) fn of_lines(
    text: &str,
    expected: &str,
    read: impl Fn(&[&str]) -> Option<String>,
) -> Result<String, String> {
    let mut points = Vec::new();
    for (line, number) in text.lines().zip(1u64..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line
            .split([' ', ',', '\t', ';'])
            .filter(|word| !word.is_empty())
            .collect();
        let point = read(&words);
        points.push(point.ok_or_else(|| format!("line {number}, {line:?}, is not {expected}"))?);
    }
    Ok(points.join(","))
}
