//! Where the links of a page lead.

use crate::topics;
use std::path::{Component, Path};

/// Where a link leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Link {
    /// To another part of the same page.
    Here,
    /// To a page that `sojourn docs` prints.
    Topic(String),
    /// To an address on the web.
    Web(String),
}

/// Where a link of the page at `place` in `docs/` leads. What is not a page is a file of the repository.
pub(crate) fn resolve(place: &str, destination: &str) -> Link {
    if destination.contains("://") || destination.starts_with("mailto:") {
        return Link::Web(destination.to_owned());
    }
    let (path, part) = destination.split_once('#').unwrap_or((destination, ""));
    if path.is_empty() {
        return Link::Here;
    }
    let file = in_repository(place, path);
    match topics::at(&file, part) {
        Some(topic) => Link::Topic(topic),
        None => Link::Web(format!("{}/blob/main/{file}", env!("CARGO_PKG_REPOSITORY"))),
    }
}

/// The path from the root of the repository to what a page refers to.
pub(crate) fn in_repository(place: &str, path: &str) -> String {
    let page = Path::new("docs").join(place);
    let joined = page.parent().unwrap_or(Path::new("docs")).join(path);
    let mut parts: Vec<&str> = Vec::new();
    for component in joined.components() {
        match component {
            Component::ParentDir => {
                parts.pop();
            }
            Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
            _ => {}
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_topic_a_rule_or_the_repository() {
        let topic = |name: &str| Link::Topic(name.to_owned());
        assert_eq!(
            resolve("tutorial.md", "how-to/run-a-study.md"),
            topic("run-a-study")
        );
        assert_eq!(
            resolve("how-to/run-a-study.md", "../metrics.md#delay"),
            topic("metrics")
        );
        assert_eq!(
            resolve("tutorial.md", "auditor.md#phase-locked"),
            topic("phase-locked")
        );
        assert_eq!(resolve("tutorial.md", "#here"), Link::Here);
        assert_eq!(
            resolve("index.md", "../DESIGN.md"),
            Link::Web("https://github.com/sojourn-sim/sojourn/blob/main/DESIGN.md".to_owned())
        );
    }
}
