//! Text from files that goes to a terminal.

use std::borrow::Cow;

/// The text as a terminal may print it: control characters, such as those that begin escape sequences, and those that turn the direction
/// of what follows are written as `\u{1b}`. Line feeds and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    // Unicode Standard Annex 9, section 2: explicit embeddings, overrides, isolates and marks.
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmful = |c: char| (c.is_control() && c != '\n' && c != '\t') || turns(c);
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match harmful(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        let hostile = "a\u{1b}[31mb\u{7}\u{9b}c\u{7f}\r";
        let shown = "a\\u{1b}[31mb\\u{7}\\u{9b}c\\u{7f}\\u{d}";
        assert_eq!(printable(hostile), shown);
        assert_eq!(printable("± 3 µs\n\tΔ"), "± 3 µs\n\tΔ");
    }

    #[test]
    fn what_turns_the_direction_of_text_does_not_reach_a_terminal() {
        assert_eq!(printable("a\u{202e}b\u{2069}"), "a\\u{202e}b\\u{2069}");
    }
}
