//! `A/B`, the form of a value that differs by direction: `50/10Mbps` is 50 Mbps from left to right and 10 Mbps from right to left.

use sojourn_units::{Kind, ParamInfo};

/// What the key of the way back has before the name of the key.
const REVERSE: &str = "reverse_";

/// The key of the way back in these parameters; `None` where both directions share one value.
pub(crate) fn way_back(info: &ParamInfo, params: &[ParamInfo]) -> Option<&'static str> {
    let other = params
        .iter()
        .find(|other| other.name.strip_prefix(REVERSE) == Some(info.name));
    other
        .filter(|_| is_quantity(&info.kind()))
        .map(|other| other.name)
}

/// The key that may stand for a key of the way back: `rate` for `reverse_rate`.
pub(super) fn there(key: &str) -> Option<&str> {
    key.strip_prefix(REVERSE)
}

/// Whether values of this kind have the form: numbers with a unit.
pub(super) fn is_quantity(kind: &Kind) -> bool {
    match kind {
        Kind::Rate
        | Kind::Limit
        | Kind::Duration
        | Kind::DurationOrAuto
        | Kind::Size
        | Kind::Packets => true,
        Kind::Optional(inner) => is_quantity(inner),
        _ => false,
    }
}

/// The values of both directions, the way there first; `None` where the text has no such form. A number without a unit has that of
/// the other direction.
pub fn split(text: &str) -> Option<(String, String)> {
    let starts_number = |text: &str| text.trim_start().starts_with(|c: char| c.is_ascii_digit());
    // The stroke of a unit, such as Mbit/s, comes before a letter.
    let strokes = text.match_indices('/').map(|(at, _)| at);
    let mut strokes = strokes.filter(|at| starts_number(&text[at + 1..]));
    let (at, None) = (strokes.next()?, strokes.next()) else {
        return None;
    };
    let (there, back) = (text[..at].trim(), text[at + 1..].trim());
    if !starts_number(there) {
        return None;
    }
    let unit = |text: &str| {
        text.trim_start_matches(|c: char| !c.is_alphabetic())
            .to_owned()
    };
    let complete = |text: &str, other: &str| match unit(text).is_empty() {
        true => format!("{text}{}", unit(other)),
        false => text.to_owned(),
    };
    Some((complete(there, back), complete(back, there)))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_stroke_before_a_number_divides_two_directions() {
        let both = |there: &str, back: &str| Some((there.to_owned(), back.to_owned()));
        assert_eq!(split("50/10Mbps"), both("50Mbps", "10Mbps"));
        assert_eq!(split("50Mbps/10Mbps"), both("50Mbps", "10Mbps"));
        assert_eq!(split("1Gbps / 500kbps"), both("1Gbps", "500kbps"));
        assert_eq!(split("50Mbps/10"), both("50Mbps", "10Mbps"));
        assert_eq!(split("50/10Mbit/s"), both("50Mbit/s", "10Mbit/s"));
        assert_eq!(split("2.5Mbit/s/1Mbit/s"), both("2.5Mbit/s", "1Mbit/s"));
        for one in [
            "10Mbps",
            "10Mbit/s",
            "/10Mbps",
            "1/2/3Mbps",
            "fast/slow",
            "",
        ] {
            assert_eq!(split(one), None, "{one}");
        }
    }
}
