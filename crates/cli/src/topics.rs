//! The documentation that the command brings along: every page of `docs/`, and each rule of the auditor.

use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::auditor::{RULES, rule};
use sojourn_study::lookup;
use std::borrow::Cow;

/// The path of each page from `docs/`, and its text in Markdown, as `build.rs` found them.
pub(crate) const PAGES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page that lists the others, in groups.
pub(crate) const INDEX: &str = "index.md";

/// The page of the auditor. Each section is also a topic of its own.
const AUDITOR: &str = "auditor.md";

/// What `sojourn docs` prints of a topic.
pub(crate) struct Topic {
    /// Where its page lies in `docs/`.
    pub(crate) place: &'static str,
    /// Its text, in Markdown.
    pub(crate) text: Cow<'static, str>,
}

/// The name of the topic that a page is.
pub(crate) fn name_of(place: &str) -> &str {
    let file = place.rsplit('/').next().unwrap_or(place);
    file.trim_end_matches(".md")
}

/// The first heading of a page.
pub(crate) fn title_of(text: &str) -> &str {
    let mut lines = text.lines();
    let heading = lines.find_map(|line| line.strip_prefix("# "));
    heading.unwrap_or_default()
}

/// The topic of a file of the repository, or of the section `part` in it.
pub(crate) fn at(file: &str, part: &str) -> Option<String> {
    let place = file.strip_prefix("docs/")?;
    let (place, _) = PAGES.iter().find(|(known, _)| *known == place)?;
    let is_rule = *place == AUDITOR && RULES.iter().any(|rule| rule.name() == part);
    Some(match is_rule {
        true => part.to_owned(),
        false => name_of(place).to_owned(),
    })
}

/// The names of all topics.
pub(crate) fn names() -> Vec<String> {
    let pages = PAGES.iter().map(|(place, _)| name_of(place).to_owned());
    pages.chain(RULES.iter().map(|rule| rule.name())).collect()
}

/// The topic with a name: that of a page, its path, that of an auditor's rule, or another name of an algorithm.
///
/// # Errors
/// If there is none; it names the nearest.
pub(crate) fn find(given: &str) -> Result<Topic, LabError> {
    let plain = given.trim().to_lowercase();
    let plain = plain.trim_start_matches("docs/").trim_end_matches(".md");
    let wanted = plain.replace([' ', '_'], "-");
    let page = |wanted: &str| {
        let is_it = |place: &str| {
            let path = place.trim_end_matches(".md").replace('_', "-");
            path == wanted || name_of(&path) == wanted
        };
        PAGES.iter().find(|(place, _)| is_it(place))
    };
    if let Some((place, text)) = page(&wanted) {
        return Ok(Topic {
            place,
            text: Cow::Borrowed(text),
        });
    }
    // A rule that had another id before is found by it, too.
    if let Some(rule) = rule(&wanted) {
        return Ok(Topic {
            place: AUDITOR,
            text: Cow::Owned(format!("# The auditor: {}\n\n{}", rule.name(), rule.page())),
        });
    }
    if let Ok(entry) = lookup::find(given) {
        if let Some((place, text)) = page(&entry.name.replace('_', "-")) {
            return Ok(Topic {
                place,
                text: Cow::Borrowed(text),
            });
        }
        let problem = format!("there is no page {given:?}: it is a {}", entry.family);
        return Err(LabError::new(LabErrorKind::UnknownName, problem)
            .remedy(format!("print it with: sojourn show {}", entry.name)));
    }
    let names = names();
    let nearest = sojourn_units::nearest(&wanted, names.iter().map(String::as_str));
    Err(LabError::new(
        LabErrorKind::UnknownName,
        format!("there is no page {given:?}"),
    )
    .nearest(nearest)
    .remedy(match about(given) {
        pages if pages.is_empty() => "`sojourn docs` lists the topics".to_owned(),
        pages => format!("pages that have the word: {}", pages.join(", ")),
    }))
}

/// Pages that are named for a word, at most.
const ABOUT: usize = 5;
/// How often a word in a heading counts.
const HEADING: usize = 10;

/// The names of the pages in which a word occurs most.
fn about(word: &str) -> Vec<&'static str> {
    let word = word.trim().to_lowercase();
    if word.is_empty() {
        return Vec::new();
    }
    let score = |text: &str| -> usize {
        let of = |line: &str| {
            let count = line.to_lowercase().matches(&word).count();
            count * if line.starts_with('#') { HEADING } else { 1 }
        };
        text.lines().map(of).sum()
    };
    let scored = PAGES
        .iter()
        .map(|(place, text)| (score(text), name_of(place)));
    let mut scored: Vec<(usize, &str)> = scored.filter(|(score, _)| *score > 0).collect();
    // Pages with the same score stay in their order.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.truncate(ABOUT);
    scored.into_iter().map(|(_, name)| name).collect()
}
