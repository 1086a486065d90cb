//! What a rule noticed.

use sojourn_report::Severity;

/// What a rule noticed, before it bears the name of the rule.
pub(super) struct Finding {
    pub(super) severity: Severity,
    pub(super) text: String,
    /// The reader needs no page to know what to do.
    pub(super) says_all: bool,
}

impl Finding {
    /// The comparison is weak.
    pub(super) fn warning(text: String) -> Finding {
        Finding {
            severity: Severity::Warning,
            text,
            says_all: false,
        }
    }

    /// Something to know.
    pub(super) fn info(text: String) -> Finding {
        Finding {
            severity: Severity::Info,
            ..Finding::warning(text)
        }
    }

    /// Something to know, with all that there is to know of it.
    pub(super) fn that_says_all(text: String) -> Finding {
        Finding {
            says_all: true,
            ..Finding::info(text)
        }
    }
}
