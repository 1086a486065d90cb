//! The colours of what the catalogue names: queue disciplines and congestion controls. Of those that share a hue, each later one has
//! the next shade. What is often compared with each other has hues of its own; a test lists such sets.

/// The hues of queue disciplines.
pub(super) const QUEUES: &[(&str, usize)] = &[
    ("codel", 0),
    ("drr", 1),
    ("pie", 2),
    ("fq_codel", 3),
    ("droptail", 4),
    ("sfq", 5),
    ("cake", 6),
    ("fq_pie", 7),
    ("red", 6),
    ("blue", 5),
    ("dualpi2", 1),
    ("sfb", 7),
    ("rio", 3),
    ("srr", 2),
    ("wfq", 0),
    ("step", 4),
    ("pi2", 5),
    ("pi", 7),
    ("rem", 1),
    ("avq", 3),
    ("qfq", 3),
    ("wrr", 6),
    ("prio", 7),
    ("drrpp", 4),
    ("wred", 0),
    ("fred", 1),
    ("choke", 7),
    ("green", 2),
    ("cobalt", 1),
    ("fq_cobalt", 1),
    ("gsp", 3),
    ("hhf", 0),
    ("tbf", 2),
    ("htb", 5),
    ("virtual_clock", 7),
    ("tsw", 5),
    ("police", 4),
];

/// The hues of congestion controls.
const CONTROLS: &[(&str, usize)] = &[
    ("cubic", 0),
    ("reno", 1),
    ("bbr", 2),
    ("bbr3", 3),
    ("ledbat", 4),
    ("copa", 5),
    ("prague", 6),
    ("dctcp", 7),
    ("vegas", 6),
    ("westwood", 3),
    ("veno", 5),
    ("highspeed", 2),
    ("scalable", 4),
    ("htcp", 7),
    ("bic", 5),
    ("illinois", 6),
    ("hybla", 2),
    ("yeah", 3),
    ("lp", 1),
    ("compound", 4),
    ("ledbat_plus", 6),
];

/// The hues of congestion controls of media.
const MEDIA: &[(&str, usize)] = &[("nada", 0), ("scream", 1), ("gcc", 2)];

/// What is compared with its like only, so that each list begins with the hues themselves.
const LISTS: [&[(&str, usize)]; 3] = [QUEUES, CONTROLS, MEDIA];

/// Other words that labels have for them.
const WORDS: &[(&str, &str)] = &[
    ("taildrop", "droptail"),
    ("fifo", "droptail"),
    ("policer", "police"),
    ("ared", "red"),
    ("adaptivered", "red"),
    ("gentlered", "red"),
    ("selfconfiguringred", "red"),
    ("drrplus", "drrpp"),
    ("bbrv1", "bbr"),
    ("bbrv3", "bbr3"),
    ("bbrversion3", "bbr3"),
    ("strictpriority", "prio"),
    ("newreno", "reno"),
    ("sack", "reno"),
    ("tcplp", "lp"),
    ("ctcp", "compound"),
    ("stcp", "scalable"),
    ("hstcp", "highspeed"),
];

/// The words of a label in small letters: `FQ-CoDel 1 ms` has `fq`, `codel`, `1` and `ms`.
fn words(label: &str) -> Vec<String> {
    let label = label.to_lowercase().replace("++", "plus");
    let words = label.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The queue discipline or congestion control of the catalogue with which a label begins: `fq_codel` of `FQ-CoDel 1 ms`.
pub fn catalogue_name(label: &str) -> Option<&'static str> {
    let words = words(label);
    // No name has more than three words.
    for count in (1..=words.len().min(3)).rev() {
        let text = words[..count].concat();
        let names = LISTS.into_iter().flatten().map(|(name, _)| *name);
        let mut same = names.filter(|name| name.replace('_', "") == text);
        if let Some(name) = same.next() {
            return Some(name);
        }
        if let Some((_, name)) = WORDS.iter().find(|(word, _)| *word == text) {
            return Some(name);
        }
    }
    None
}

/// The hue of a label that the catalogue knows, and how many names of its list before it have the same.
pub(super) fn place_of(label: &str) -> Option<(usize, usize)> {
    let name = catalogue_name(label)?;
    LISTS.into_iter().find_map(|list| {
        let at = list.iter().position(|(own, _)| *own == name)?;
        let (_, hue) = list[at];
        let rank = list[..at].iter().filter(|(_, other)| *other == hue).count();
        Some((hue, rank))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_often_compared_has_hues_of_its_own() {
        let sets: [&[&str]; 12] = [
            &[
                "droptail", "codel", "pie", "sfq", "fq_codel", "fq_pie", "cake",
            ],
            &["droptail", "codel", "pie", "fq_codel", "dualpi2"],
            &["droptail", "blue", "red", "rio", "sfb", "srr"],
            &["droptail", "codel", "pie", "red", "blue", "drr"],
            &["red", "pi", "rem", "avq", "pie", "codel"],
            &["pie", "pi", "pi2", "dualpi2", "codel", "fq_codel"],
            &["drr", "srr", "wfq", "sfq", "qfq", "wrr", "prio", "drrpp"],
            &["red", "wred", "rio", "fred", "choke", "green"],
            &["codel", "drr", "droptail", "red"],
            &[
                "reno", "cubic", "bbr", "bbr3", "ledbat", "copa", "prague", "dctcp",
            ],
            &["reno", "cubic", "bbr3", "ledbat", "copa", "htcp"],
            &["nada", "scream", "gcc"],
        ];
        for set in sets {
            let places: Vec<_> = set.iter().map(|name| place_of(name).unwrap()).collect();
            let hues: BTreeSet<usize> = places.iter().map(|place| place.0).collect();
            assert_eq!(hues.len(), set.len(), "{set:?}: {places:?}");
        }
    }

    #[test]
    fn labels_are_known_as_papers_write_them() {
        for (label, name) in [
            ("FQ-CoDel 1 ms", "fq_codel"),
            ("RED, adaptive", "red"),
            ("DRR++", "drrpp"),
            ("LEDBAT++", "ledbat_plus"),
            ("H-TCP", "htcp"),
            ("BBRv3", "bbr3"),
            ("BBR, version 1", "bbr"),
            ("BBR, version 3", "bbr3"),
            ("strict priority", "prio"),
            ("TSW marker", "tsw"),
            ("Policer", "police"),
            ("Prague, CUBIC", "prague"),
            ("SRR, a queue for each flow", "srr"),
            ("codel ecn=true", "codel"),
        ] {
            assert_eq!(catalogue_name(label), Some(name), "{label}");
        }
        for label in ["10", "web", "left-right", "", "stepwise"] {
            assert_eq!(catalogue_name(label), None, "{label}");
        }
    }
}
