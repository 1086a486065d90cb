//! A line of nam's format: a letter, then flags with their values.

/// The event of a line, and its flags.
pub(super) struct Line<'a> {
    pub(super) letter: u8,
    flags: Vec<(u8, &'a str)>,
}

impl<'a> Line<'a> {
    /// The line; none if it is not of nam's form. Values stand in quotes or braces where they have blanks; what follows `-e` of an annotation
    /// runs to the end of the line.
    pub(super) fn parse(text: &'a str) -> Option<Line<'a>> {
        let mut chars = text.chars();
        let letter = u8::try_from(u32::from(chars.next()?)).ok()?;
        if !chars.as_str().starts_with(char::is_whitespace) {
            return None;
        }
        let mut rest = chars.as_str().trim_start();
        let mut flags = Vec::new();
        while let Some(after) = rest.strip_prefix('-') {
            let flag = *after.as_bytes().first()?;
            let behind = after.get(1..)?.trim_start();
            if letter == b'v' && flag == b'e' {
                flags.push((flag, behind.trim_end()));
                break;
            }
            let end = match behind.as_bytes().first() {
                Some(b'"') => behind.get(1..)?.find('"')? + 2,
                Some(b'{') => behind.find('}')? + 1,
                _ => behind.find(' ').unwrap_or(behind.len()),
            };
            let value = behind.get(..end)?;
            flags.push((flag, value.trim_matches(['"', '{', '}'])));
            rest = behind.get(end..)?.trim_start();
        }
        Some(Line { letter, flags })
    }

    /// The value of a flag.
    pub(super) fn get(&self, flag: u8) -> Option<&'a str> {
        let mut flags = self.flags.iter();
        flags.find(|(known, _)| *known == flag).map(|(_, v)| *v)
    }

    /// The value of a flag that is a number.
    pub(super) fn number<T: std::str::FromStr>(&self, flag: u8) -> Option<T> {
        self.get(flag)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_blanks_stand_in_quotes_or_braces() {
        let line =
            Line::parse("n -t * -s 3 -b \"a b\" -x {2.0 3.0 7 ----E-- null} -c red").unwrap();
        assert_eq!(line.letter, b'n');
        assert_eq!(line.number::<u32>(b's'), Some(3));
        assert_eq!(line.get(b'b'), Some("a b"));
        assert_eq!(line.get(b'x'), Some("2.0 3.0 7 ----E-- null"));
        assert_eq!(line.get(b'c'), Some("red"));
        let note = Line::parse("v -t 0 -e sim_annotation 0 1 colour 1: reno - 1").unwrap();
        assert_eq!(
            note.get(b'e'),
            Some("sim_annotation 0 1 colour 1: reno - 1")
        );
    }
}
