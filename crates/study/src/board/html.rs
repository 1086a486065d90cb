//! The parts that pages share.

use std::fmt::Write as _;

use sojourn_report::escape;

use crate::suite::{Outcome, Report, Severity, Verdict};

/// The verdicts that are counted on a cell.
const JUDGED: [Verdict; 3] = [Verdict::Pass, Verdict::Fail, Verdict::Undecided];

/// A page.
pub(super) struct Page<'a> {
    /// Its address.
    pub(super) path: &'a str,
    /// Heading.
    pub(super) title: &'a str,
    /// Above the heading: what the page is of.
    pub(super) kicker: &'a str,
    /// The pages above it: address and name. The board itself is left out.
    pub(super) above: &'a [(String, String)],
}

/// The way from a page to the folder of the board.
pub(super) fn root(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

/// The way from a page to another.
pub(super) fn href(path: &str, to: &str) -> String {
    format!("{}{to}", root(path))
}

impl Page<'_> {
    /// The page with its body.
    pub(super) fn with(&self, body: &str) -> String {
        let root = root(self.path);
        let title = escape(self.title);
        let tab = match self.path.contains('/') {
            true => format!("{title} · {} · Board", escape(self.kicker)),
            false => title.clone(),
        };
        let mut way = String::new();
        if self.path.contains('/') {
            let _ = write!(
                way,
                "<nav class=\"way\" aria-label=\"Way to this page\"><a href=\"{root}index.html\">Board</a>"
            );
            for (to, name) in self.above {
                let _ = write!(
                    way,
                    " <span aria-hidden=\"true\">/</span> <a href=\"{root}{to}\">{}</a>",
                    escape(name)
                );
            }
            way.push_str("</nav>\n");
        }
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"Sojourn {version}\">\n<title>{tab}</title>\n<link rel=\"stylesheet\" href=\"{root}style.css\">\n\
             </head>\n<body class=\"board\">\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<div class=\"page\">\n{way}\
             <main id=\"content\" tabindex=\"-1\">\n<p class=\"kicker\">{kicker}</p>\n<h1>{title}</h1>\n{body}</main>\n\
             <footer>Sojourn {version}</footer>\n</div>\n</body>\n</html>\n",
            version = escape(sojourn_results::manifest::VERSION),
            kicker = escape(self.kicker),
        )
    }
}

/// A table in a box that scrolls. The header is of cells as they are in HTML.
pub(super) struct Grid {
    html: String,
}

impl Grid {
    /// A table with a name for those who do not see it.
    pub(super) fn new(name: &str, class: &str, header: &[String]) -> Grid {
        let name = escape(name);
        let mut html = format!(
            "<div class=\"frame\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\">\n<table class=\"{class}\">\n<thead><tr>"
        );
        for cell in header {
            let _ = write!(html, "<th scope=\"col\">{cell}</th>");
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        Grid { html }
    }

    /// A row: its head, then whole cells.
    pub(super) fn row(&mut self, head: &str, cells: &[String]) {
        let _ = writeln!(
            self.html,
            "<tr><th scope=\"row\">{head}</th>{}</tr>",
            cells.concat()
        );
    }

    pub(super) fn end(self) -> String {
        self.html + "</tbody>\n</table>\n</div>\n"
    }
}

/// A verdict in words and colour.
pub(super) fn badge(verdict: Verdict) -> String {
    let name = verdict.name();
    format!("<b class=\"v {name}\">{name}</b>")
}

/// How many criteria pass, fail and are undecided; how many are informative where none is any of these.
pub(super) fn counts(report: &Report) -> String {
    let musts = report.musts(Verdict::Fail).count();
    let mut parts = Vec::new();
    for verdict in JUDGED {
        let (count, name) = (report.count(verdict), verdict.name());
        if count > 0 {
            let must = match (verdict, musts) {
                (Verdict::Fail, 1..) => format!(" ({musts} must)"),
                _ => String::new(),
            };
            parts.push(format!("<b class=\"v {name}\">{count} {name}{must}</b>"));
        }
    }
    if parts.is_empty() {
        let verdict = match report.count(Verdict::Informative) {
            0 => Verdict::NotApplicable,
            _ => Verdict::Informative,
        };
        let (count, name) = (report.count(verdict), verdict.name());
        parts.push(format!("<b class=\"v {name}\">{count} {name}</b>"));
    }
    parts.join(" ")
}

/// All verdicts of a report in words.
pub(super) fn all_counts(report: &Report) -> String {
    let each = Verdict::ALL
        .iter()
        .map(|verdict| (report.count(*verdict), verdict.name()));
    let each = each.filter(|(count, _)| *count > 0);
    let each: Vec<String> = each
        .map(|(count, name)| format!("<b class=\"v {name}\">{count} {name}</b>"))
        .collect();
    each.join(" ")
}

/// The severity, where it is not plain.
pub(super) fn severity(outcome: &Outcome) -> &str {
    match outcome.severity == Severity::Informative.name() {
        true => "",
        false => &outcome.severity,
    }
}

/// The first column of tables of criteria: the name, and what it asks.
pub(super) fn criterion(name: &str, title: &str) -> String {
    match title == name || title.is_empty() {
        true => format!("<span class=\"name\">{}</span>", broken(name)),
        false => format!(
            "<span class=\"name\">{}</span><span class=\"what\">{}</span>",
            broken(name),
            escape(title)
        ),
    }
}

/// A name that may break where case and criterion meet.
fn broken(name: &str) -> String {
    escape(name).replace('/', "/<wbr>")
}

/// A command that a click selects.
pub(super) fn command(text: &str) -> String {
    format!(
        "<code class=\"copy\" tabindex=\"0\">{}</code>",
        escape(text)
    )
}

/// A sentence for those who read marks of a figure.
pub(super) const MARKS: &str = "<p class=\"marks\">In the figures, a disc passes, a cross fails, a ring is undecided, and a square has no \
threshold. The line is the 95 % interval, the shaded area is what is wanted. An interval that reaches far is cut.</p>\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_finds_its_style_from_its_place() {
        for (path, root) in [
            ("index.html", ""),
            ("suites/a.html", "../"),
            ("cells/a/b.html", "../../"),
        ] {
            let page = Page {
                path,
                title: "a <b>",
                kicker: "Suite",
                above: &[("suites/a.html".to_owned(), "a".to_owned())],
            };
            let text = page.with("");
            assert!(
                text.contains(&format!("href=\"{root}style.css\"")),
                "{text}"
            );
            assert!(text.contains("a &lt;b&gt;") && !text.contains("a <b>"));
            assert_eq!(text.contains("aria-label=\"Way"), !root.is_empty());
        }
    }
}
