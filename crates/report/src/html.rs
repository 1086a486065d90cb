//! The page: one HTML file that carries its style, its scripts and its data.
//!
//! It opens with the question and what answers it. Everything else is folded, in parts that a side index links.

mod about;
mod figure;
mod opening;
mod out;
mod parts;
mod table;

use std::fmt::Write as _;

use crate::markdown::escape;
use crate::palette::Palette;
use crate::play::{Play, fragment};
use crate::summary::Summary;
use crate::topology::section;
use out::Out;

/// The style of a page.
pub const STYLE: &str = include_str!("assets/report.css");
const SCRIPT: &str = include_str!("assets/report.js");
const VEGA: &str = include_str!("../vendor/vega.min.js");
const VEGA_LITE: &str = include_str!("../vendor/vega-lite.min.js");
const VEGA_EMBED: &str = include_str!("../vendor/vega-embed.min.js");
const LICENCES: [(&str, &str); 4] = [
    ("vega", include_str!("../vendor/LICENSE-vega")),
    ("vega-lite", include_str!("../vendor/LICENSE-vega-lite")),
    ("vega-embed", include_str!("../vendor/LICENSE-vega-embed")),
    (
        "Modules inside them",
        include_str!("../vendor/LICENSES-bundled.txt"),
    ),
];

/// Nothing is loaded from anywhere; the scripts are those in the file, and Vega compiles its expressions.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'";

/// The whole page.
pub(crate) fn page(summary: &Summary, palette: &Palette, play: Option<&Play>) -> String {
    let mut out = Out::default();
    opening::push(&mut out, summary, palette);
    topology(&mut out, summary);
    if let Some(play) = play {
        out.open_part("Animation", "packets of a short part of a run", false);
        out.push(&fragment(play));
        out.close_part();
    }
    parts::push(&mut out, summary, palette);
    about::about(&mut out, summary);
    about::settings(&mut out, &summary.settings);
    about::algorithms(&mut out, &summary.algorithms);
    about::colophon(&mut out, summary, &LICENCES);
    let mut html = String::with_capacity(
        out.main.len() + VEGA.len() + VEGA_LITE.len() + VEGA_EMBED.len() + 100_000,
    );
    let title = escape(&summary.title);
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"Sojourn {}\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         <noscript><style>.cut tr {{ display: table-row !important; }} .more {{ display: none; }}</style></noscript>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#content\">Skip to the answer</a>\n<div class=\"page\">\n",
        escape(&summary.version)
    );
    html.push_str(&contents(&out));
    html.push_str("<main id=\"content\" tabindex=\"-1\">\n");
    html.push_str(&out.main);
    html.push_str("</main>\n</div>\n");
    if summary.figures().any(|figure| !figure.rows.is_empty()) {
        for library in [VEGA, VEGA_LITE, VEGA_EMBED] {
            html.push_str("<script>");
            html.push_str(without_source_map(library));
            html.push_str("</script>\n");
        }
    }
    let _ = write!(html, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    html
}

/// The pictures of what ran; closed if there are several.
fn topology(out: &mut Out, summary: &Summary) {
    let pictures = section(&summary.topologies, &summary.title);
    if !pictures.is_empty() {
        let open = summary.topologies.len() == 1;
        out.open_part("Topology", "nodes, links, queues and flows", open);
        out.push(&pictures);
        out.close_part();
    }
}

/// The side index: the parts, and the tables and figures of those that are open.
fn contents(out: &Out) -> String {
    let mut html =
        String::from("<nav aria-label=\"Contents\"><p class=\"brand\">Sojourn</p>\n<ul>\n");
    for part in &out.index {
        let _ = write!(
            html,
            "<li><a href=\"#{}\">{}</a>",
            part.anchor,
            escape(&part.text)
        );
        if !part.items.is_empty() {
            html.push_str("<ul>");
            for (anchor, text) in &part.items {
                let _ = write!(html, "<li><a href=\"#{anchor}\">{}</a></li>", escape(text));
            }
            html.push_str("</ul>");
        }
        html.push_str("</li>\n");
    }
    html.push_str(
        "</ul>\n<p class=\"tools\" hidden><button type=\"button\" class=\"unfold\">Unfold all</button> \
         <button type=\"button\" class=\"theme\">Dark</button></p></nav>\n",
    );
    html
}

/// A library without its last line, which would make a debugger ask for a file that is not there.
fn without_source_map(library: &str) -> &str {
    library
        .split("//# sourceMappingURL=")
        .next()
        .unwrap_or(library)
        .trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendored_scripts_stay_inside_their_elements_and_ask_for_nothing() {
        for library in [VEGA, VEGA_LITE, VEGA_EMBED, SCRIPT] {
            let code = without_source_map(library);
            for end in ["</script", "<!--", "<script"] {
                assert!(!code.to_ascii_lowercase().contains(end));
            }
            assert!(!code.contains("sourceMappingURL"));
            assert!(code.len() > 1000);
        }
    }

    #[test]
    fn the_vendored_versions_are_those_that_are_declared() {
        let table = include_str!("../vendor/VENDORED.md");
        for (name, library) in [
            ("vega", VEGA),
            ("vega-lite", VEGA_LITE),
            ("vega-embed", VEGA_EMBED),
        ] {
            let row = table
                .lines()
                .find(|line| line.starts_with(&format!("| `{name}.min.js`")))
                .unwrap();
            let version = row.split('|').nth(3).unwrap().trim();
            assert!(
                library.contains(&format!("\"{version}\"")),
                "{name} {version}"
            );
        }
    }
}
