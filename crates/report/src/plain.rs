//! Text from files that goes where something else reads it: a spreadsheet, a shell.

use std::borrow::Cow;

/// The text as a cell of a CSV file that a spreadsheet may open: an apostrophe goes before what it would take for a formula
/// (OWASP, "CSV Injection"). Numbers are as they are.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.len() > 1;
    let number = text.trim_end_matches('%').trim_end();
    match formula && number.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// The text as a shell reads it back as one word.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "-_.,:/%+=[]@".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', "'\\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_begins_as_a_formula_is_no_formula_in_csv() {
        for text in [
            "=1+1",
            "+cmd|' /C calc'!A0",
            "-2+3",
            "@SUM(A1)",
            "\t=1",
            "-5ms",
        ] {
            assert_eq!(csv_cell(text), format!("'{text}"));
        }
        for text in [
            "-5", "+3.5", "-1e-9", "-inf", "-", "-2.50 %", "a=b", "", "10Mbps",
        ] {
            assert_eq!(csv_cell(text), text);
        }
    }
}
