//! What a rule noticed.

use sojourn_report::Severity;

/// What a rule noticed, before it bears the name of the rule.
pub(super) struct Finding {
    pub(super) severity: Severity,
    pub(super) text: String,
    /// The reader needs no page to know what to do.
    pub(super) says_all: bool,
    /// The link directions concerned, as the outcome names them.
    pub(super) links: Vec<String>,
    /// The flows concerned: names, or labels of groups.
    pub(super) flows: Vec<String>,
    /// The points concerned, by name; empty where it is all of them.
    pub(super) points: Vec<String>,
}

impl Finding {
    fn new(severity: Severity, text: String) -> Finding {
        Finding {
            severity,
            text,
            says_all: false,
            links: Vec::new(),
            flows: Vec::new(),
            points: Vec::new(),
        }
    }

    /// The comparison is void: what it shows is not what it names.
    pub(super) fn error(text: String) -> Finding {
        Finding::new(Severity::Error, text)
    }

    /// The comparison is weak.
    pub(super) fn warning(text: String) -> Finding {
        Finding::new(Severity::Warning, text)
    }

    /// Something to know.
    pub(super) fn note(text: String) -> Finding {
        Finding::new(Severity::Note, text)
    }

    /// Something to know, with all that there is to know of it.
    pub(super) fn that_says_all(text: String) -> Finding {
        Finding {
            says_all: true,
            ..Finding::note(text)
        }
    }

    /// The same, about some link directions.
    pub(super) fn on_links(mut self, links: impl IntoIterator<Item = String>) -> Finding {
        self.links = once(links);
        self
    }

    /// The same, about some flows or groups of flows.
    pub(super) fn of_flows(mut self, flows: impl IntoIterator<Item = String>) -> Finding {
        self.flows = once(flows);
        self
    }

    /// The same, about some points.
    pub(super) fn at(mut self, points: impl IntoIterator<Item = String>) -> Finding {
        self.points = once(points);
        self
    }
}

/// Each name once, in the order of their first appearance.
fn once(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for name in names {
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list
}
