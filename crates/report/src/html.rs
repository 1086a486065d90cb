//! The page: one HTML file that carries its style, its scripts and its data.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::figure::{
    has_hollow, hollow_in_words, intervals_not_shown, rows_not_shown, vega_lite_with, zooms,
};
use crate::markdown::{blocks, escape, phrase};
use crate::number;
use crate::palette::{Palette, Theme};
use crate::summary::{
    Algorithm, Align, Block, Cell, Figure, Note, SettingGroup, Severity, Summary, Table,
};
use crate::table::{Laid, LaidCell, lay, why_no_interval};

const STYLE: &str = include_str!("assets/report.css");
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

/// A table longer than this scrolls in a frame of its own, under a header that stays.
const LONG_TABLE_ROWS: usize = 20;

/// The whole page.
pub(crate) fn page(summary: &Summary, palette: &Palette) -> String {
    let mut page = Page::default();
    page.body(summary);
    let figures: Vec<Value> = summary
        .figures()
        .filter(|figure| !figure.rows.is_empty())
        .map(|figure| embedded(figure, palette))
        .collect();
    let mut html = String::with_capacity(
        page.main.len() + VEGA.len() + VEGA_LITE.len() + VEGA_EMBED.len() + 100_000,
    );
    let title = escape(&summary.title);
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"Sojourn {}\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <button type=\"button\" class=\"theme\" hidden>Dark</button>\n",
        escape(&summary.version)
    );
    html.push_str("<div class=\"page\">\n");
    html.push_str(&page.contents());
    html.push_str("<main id=\"content\">\n");
    html.push_str(&page.main);
    html.push_str("</main>\n</div>\n");
    if !figures.is_empty() {
        let _ = writeln!(
            html,
            "<script type=\"application/json\" id=\"figures\">{}</script>",
            script_safe(&Value::Array(figures))
        );
        for library in [VEGA, VEGA_LITE, VEGA_EMBED] {
            html.push_str("<script>");
            html.push_str(without_source_map(library));
            html.push_str("</script>\n");
        }
    }
    let _ = write!(html, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    html
}

/// JSON that cannot end the script element it stands in, nor begin a comment there.
fn script_safe(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// A library without its last line, which would make a debugger ask for a file that is not there.
fn without_source_map(library: &str) -> &str {
    library
        .split("//# sourceMappingURL=")
        .next()
        .unwrap_or(library)
        .trim_end()
}

/// A figure for the page: the data once, the specification for both themes without it.
fn embedded(figure: &Figure, palette: &Palette) -> Value {
    let mut light = vega_lite_with(figure, palette, Theme::Light);
    let mut dark = vega_lite_with(figure, palette, Theme::Dark);
    let rows = light["data"]["values"].take();
    for spec in [&mut light, &mut dark] {
        if let Some(spec) = spec.as_object_mut() {
            spec.remove("$schema");
            spec.remove("data");
            spec.insert("background".into(), json!("transparent"));
        }
    }
    json!({ "id": figure.id, "rows": rows, "light": light, "dark": dark })
}

#[derive(Default)]
struct Page {
    main: String,
    /// Level, anchor and text of each heading.
    headings: Vec<(u8, String, String)>,
    tables: usize,
    figures: usize,
}

impl Page {
    fn body(&mut self, summary: &Summary) {
        self.title(summary);
        self.notes(&summary.notes);
        let folded = |block: &Block| matches!(block, Block::Figure(figure) if figure.folded);
        let mut blocks_left = summary.blocks.as_slice();
        while let [block, rest @ ..] = blocks_left {
            blocks_left = rest;
            if folded(block) {
                let more = rest.iter().take_while(|block| folded(block)).count();
                let (more, rest) = rest.split_at(more);
                self.fold(std::iter::once(block).chain(more));
                blocks_left = rest;
                continue;
            }
            match block {
                Block::Heading(heading) => self.heading(heading.level, &heading.text),
                Block::Text(text) => self.push(&format!(
                    "<div class=\"text\">{}</div>",
                    blocks(&text.markdown)
                )),
                Block::Table(table) => self.table(table),
                Block::Figure(figure) => self.figure(figure),
            }
        }
        self.settings(&summary.settings);
        self.algorithms(&summary.algorithms);
        self.colophon(summary);
    }

    fn push(&mut self, html: &str) {
        self.main.push_str(html);
        self.main.push('\n');
    }

    fn title(&mut self, summary: &Summary) {
        self.push("<header>");
        self.push("<p class=\"kicker\">Sojourn report</p>");
        self.push(&format!("<h1>{}</h1>", escape(&summary.title)));
        if let Some(subtitle) = &summary.subtitle {
            self.push(&format!("<p class=\"subtitle\">{}</p>", escape(subtitle)));
        }
        if !summary.paragraphs.is_empty() {
            self.push("<section class=\"abstract\" aria-label=\"Abstract\"><h2>Abstract</h2>");
            for paragraph in &summary.paragraphs {
                self.push(&blocks(paragraph));
            }
            self.push("</section>");
        }
        self.push(&format!(
            "<div class=\"command\"><span class=\"label\">Run again</span><code id=\"command\">{}</code>\
             <button type=\"button\" class=\"copy\" hidden>Copy</button></div>",
            escape(&summary.command)
        ));
        self.push("</header>");
    }

    fn notes(&mut self, notes: &[Note]) {
        if notes.is_empty() {
            return;
        }
        self.heading(2, "What to keep in mind");
        self.push("<ul class=\"notes\">");
        for severity in [Severity::Warning, Severity::Info] {
            for note in notes.iter().filter(|note| note.severity == severity) {
                let (class, word) = match severity {
                    Severity::Warning => ("warning", "Warning"),
                    Severity::Info => ("info", "Note"),
                };
                self.push(&format!(
                    "<li class=\"{class}\"><p class=\"rule\"><strong>{word}</strong> <code>{}</code></p><div>{}</div>",
                    escape(&note.rule),
                    blocks(&note.text)
                ));
                if let Some(help) = &note.help {
                    self.push(&format!("<div class=\"help\">{}</div>", blocks(help)));
                }
                self.push("</li>");
            }
        }
        self.push("</ul>");
    }

    fn heading(&mut self, level: u8, text: &str) {
        let anchor = format!("section-{}", self.headings.len() + 1);
        self.push(&format!(
            "<h{level} id=\"{anchor}\">{}</h{level}>",
            escape(text)
        ));
        self.headings.push((level, anchor, text.to_owned()));
    }

    fn table(&mut self, table: &Table) {
        self.tables += 1;
        let laid = lay(table, number::cell);
        self.push(&format!(
            "<figure class=\"table\" id=\"table-{}\">",
            table.id
        ));
        self.push(&format!(
            "<figcaption><p><span class=\"number\">Table {}.</span> <strong>{}</strong> {}</p></figcaption>",
            self.tables,
            sentence(&table.title),
            phrase(&table.caption)
        ));
        let long = if table.rows.len() > LONG_TABLE_ROWS {
            " long"
        } else {
            ""
        };
        self.push(&format!(
            "<div class=\"frame{long}\" tabindex=\"0\" role=\"group\" aria-label=\"Table {}\"><table class=\"sortable\"><thead><tr>",
            self.tables
        ));
        for (column, align) in table.columns.iter().zip(&laid.align) {
            let unit = column.unit.as_ref().map_or_else(String::new, |unit| {
                format!(" <span class=\"unit\">({})</span>", escape(unit))
            });
            self.push(&format!(
                "<th scope=\"col\" class=\"{}\"><span class=\"head\">{}{unit}</span></th>",
                class_of(*align),
                escape(&column.title)
            ));
        }
        self.push("</tr></thead><tbody>");
        let widths = half_widths(table, &laid);
        for (row, laid_row) in table.rows.iter().zip(&laid.rows) {
            let mut line = String::from("<tr>");
            for (index, (cell, laid_cell)) in row.iter().zip(laid_row).enumerate() {
                line.push_str(&table_cell(
                    cell,
                    laid_cell,
                    laid.align[index],
                    widths[index],
                ));
            }
            line.push_str("</tr>");
            self.push(&line);
        }
        self.push("</tbody></table></div>");
        self.remarks(table, &laid);
        self.push("</figure>");
    }

    fn remarks(&mut self, table: &Table, laid: &Laid) {
        if laid.notes.is_empty() && laid.interval_note.is_none() && table.footnotes.is_empty() {
            return;
        }
        self.push("<div class=\"remarks\">");
        for (mark, note) in &laid.notes {
            self.push(&format!("<p><sup>{mark}</sup> {}</p>", escape(note)));
        }
        if let Some(note) = laid.interval_note {
            self.push(&format!("<p>{note}</p>"));
        }
        for footnote in &table.footnotes {
            self.push(&format!("<p>{}</p>", phrase(footnote)));
        }
        self.push("</div>");
    }

    /// Figures that are there for who looks for them.
    fn fold<'a>(&mut self, blocks: impl Iterator<Item = &'a Block>) {
        let figures: Vec<&Figure> = blocks
            .filter_map(|block| match block {
                Block::Figure(figure) => Some(&**figure),
                _ => None,
            })
            .collect();
        let titles: Vec<String> = figures.iter().map(|figure| escape(&figure.title)).collect();
        let count = match figures.len() {
            1 => "One more figure".to_owned(),
            n => format!("{n} more figures"),
        };
        self.push(&format!(
            "<details class=\"fold\"><summary><strong>{count}</strong> {}</summary>",
            titles.join("; ")
        ));
        for figure in figures {
            self.figure(figure);
        }
        self.push("</details>");
    }

    fn figure(&mut self, figure: &Figure) {
        self.figures += 1;
        self.push(&format!(
            "<figure class=\"chart\" id=\"figure-{}\">",
            figure.id
        ));
        if figure.rows.is_empty() {
            self.push("<p class=\"empty\">No data to draw.</p>");
        } else {
            self.push(&format!(
                "<div class=\"plot\" data-figure=\"{}\"><noscript><p class=\"empty\">The figures of this page need \
                 JavaScript. The folder <code>figures</code> has them as Vega-Lite; <code>sojourn report DIR --images svg</code> draws them as pictures.</p></noscript></div>",
                figure.id
            ));
        }
        let mut caption = format!(
            "<p><span class=\"number\">Figure {}.</span> <strong>{}</strong> {}</p>",
            self.figures,
            sentence(&figure.title),
            phrase(&figure.caption)
        );
        let mut remarks = Vec::new();
        if has_hollow(figure) {
            remarks.push(hollow_in_words(figure.kind).to_owned());
        }
        match rows_not_shown(figure) {
            0 => {}
            1 => remarks.push(
                "One value at or below zero has no place on the logarithmic axis.".to_owned(),
            ),
            n => remarks.push(format!(
                "{n} of {} values are at or below zero and have no place on the logarithmic axis.",
                figure.rows.len()
            )),
        }
        match intervals_not_shown(figure) {
            0 => {}
            1 => remarks.push(
                "One interval reaches zero and has no place on the logarithmic axis.".to_owned(),
            ),
            n => remarks.push(format!(
                "{n} intervals reach zero and have no place on the logarithmic axis."
            )),
        }
        remarks.extend(figure.thinned.as_ref().map(|text| escape(text)));
        if !remarks.is_empty() {
            let _ = write!(caption, "<p class=\"remark\">{}</p>", remarks.join(" "));
        }
        if zooms(figure) && !figure.rows.is_empty() {
            caption.push_str("<p class=\"hint\">Drag to move, Alt and wheel to zoom, double-click to return.</p>");
        }
        self.push(&format!("<figcaption>{caption}</figcaption>"));
        self.push("</figure>");
    }

    fn settings(&mut self, settings: &[SettingGroup]) {
        if settings.is_empty() {
            return;
        }
        self.heading(2, "Settings");
        self.push("<div class=\"settings\">");
        for group in settings {
            self.push(&format!("<section><h3>{}</h3><dl>", escape(&group.group)));
            for [key, value] in &group.rows {
                self.push(&format!(
                    "<div><dt>{}</dt><dd>{}</dd></div>",
                    escape(key),
                    escape(value)
                ));
            }
            self.push("</dl></section>");
        }
        self.push("</div>");
    }

    fn algorithms(&mut self, algorithms: &[Algorithm]) {
        if algorithms.is_empty() {
            return;
        }
        self.heading(2, "Algorithms");
        self.push("<p class=\"text\">Every parameter as it ran. Values that are not the default of the dialect are bold.</p>");
        for algorithm in algorithms {
            let release = algorithm
                .release
                .as_ref()
                .map_or_else(String::new, |r| format!(", {}", escape(r)));
            self.push(&format!(
                "<section class=\"algorithm\"><h3>{} <span><code>{}</code>, dialect <code>{}</code>{release}</span></h3>",
                escape(&algorithm.label),
                escape(&algorithm.name),
                escape(&algorithm.dialect)
            ));
            if algorithm.params.is_empty() {
                self.push("<p class=\"empty\">No parameters.</p></section>");
                continue;
            }
            self.push(
                "<div class=\"frame\"><table><thead><tr><th scope=\"col\">Parameter</th><th scope=\"col\">Value</th>\
                 <th scope=\"col\">Source of the default</th></tr></thead><tbody>",
            );
            for param in &algorithm.params {
                let value = escape(&param.value);
                let value = if param.default {
                    value
                } else {
                    format!("<strong>{value}</strong>")
                };
                self.push(&format!(
                    "<tr><td><code>{}</code></td><td>{value}</td><td>{}</td></tr>",
                    escape(&param.name),
                    param
                        .source
                        .as_ref()
                        .map_or_else(|| "–".to_owned(), |source| escape(source))
                ));
            }
            self.push("</tbody></table></div></section>");
        }
    }

    fn colophon(&mut self, summary: &Summary) {
        self.push("<footer>");
        self.push(&format!(
            "<p>Written by Sojourn {} from the files of this directory: <code>figures</code> holds every figure as a \
             Vega-Lite specification, <code>tables</code> every table as CSV and Markdown. This page loads nothing from \
             a network.</p>",
            escape(&summary.version)
        ));
        self.push(
            "<p>Colours: after the palette of Okabe and Ito (2008), told apart with protanopia, deuteranopia and tritanopia. \
             A series has one colour throughout. Grey and hollow marks are published values.</p>",
        );
        self.push("<details><summary>Software inside this page, and its licences</summary>");
        for (name, text) in LICENCES {
            self.push(&format!("<h4>{name}</h4><pre>{}</pre>", escape(text)));
        }
        self.push("</details></footer>");
    }

    fn contents(&self) -> String {
        let shown: Vec<_> = self
            .headings
            .iter()
            .filter(|(level, ..)| *level <= 3)
            .collect();
        if shown.len() < 3 {
            return String::new();
        }
        let mut html = String::from("<nav aria-label=\"Contents\"><h2>Contents</h2><ul>\n");
        for (level, anchor, text) in shown {
            let _ = writeln!(
                html,
                "<li class=\"level-{level}\"><a href=\"#{anchor}\">{}</a></li>",
                escape(text)
            );
        }
        html.push_str("</ul></nav>\n");
        html
    }
}

fn class_of(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Center => "center",
        Align::Right => "right",
    }
}

/// A title that ends as a sentence does, escaped.
fn sentence(title: &str) -> String {
    let end = if title.ends_with(['.', '?', '!']) {
        ""
    } else {
        "."
    };
    format!("{}{end}", escape(title))
}

/// The number of characters behind the `±` in each column, if any: all cells of the column leave that much room, so that
/// the signs stand under each other.
fn half_widths(table: &Table, laid: &Laid) -> Vec<Option<usize>> {
    (0..table.columns.len())
        .map(|index| {
            laid.rows
                .iter()
                .filter_map(|row| row.get(index)?.text.half_width.as_ref())
                .map(|half| half.chars().count())
                .max()
        })
        .collect()
}

fn table_cell(cell: &Cell, laid: &LaidCell, align: Align, half_width: Option<usize>) -> String {
    let mut attributes = format!(" class=\"{}\"", class_of(align));
    if let Some(value) = sort_key(cell) {
        let _ = write!(attributes, " data-value=\"{value}\"");
    }
    if let Some(title) = cell_title(cell) {
        let _ = write!(attributes, " title=\"{}\"", escape(&title));
    }
    let mut content = match cell {
        Cell::Empty => "–".to_owned(),
        Cell::Text(text) => escape(text),
        Cell::Number(_) | Cell::Estimate(_) => minus(&laid.text.value),
    };
    if let Some(width) = half_width.filter(|_| align == Align::Right) {
        content = match &laid.text.half_width {
            Some(half) => format!(
                "{content}<span class=\"half\" style=\"--w:{width}\"> ± {}</span>",
                minus(half)
            ),
            None => format!("{content}<span class=\"half\" style=\"--w:{width}\"></span>"),
        };
    } else if let Some(half) = &laid.text.half_width {
        let _ = write!(content, " ± {}", minus(half));
    }
    if let Some(mark) = &laid.mark {
        let _ = write!(content, "<sup>{mark}</sup>");
    }
    format!("<td{attributes}>{content}</td>")
}

fn sort_key(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Number(number) => Some(number.to_string()),
        Cell::Estimate(estimate) => Some(estimate.value.to_string()),
        Cell::Empty | Cell::Text(_) => None,
    }
}

fn cell_title(cell: &Cell) -> Option<String> {
    if let Some(why) = why_no_interval(cell) {
        return Some(why.to_owned());
    }
    match cell {
        Cell::Estimate(estimate) => estimate.n.map(|n| format!("{n} replications")),
        _ => None,
    }
}

/// A number with the sign of typography; an exponent keeps the sign of programs.
fn minus(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(rest) => format!("\u{2212}{rest}"),
        None => number.replace("(-", "(\u{2212}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_script_element() {
        let text = script_safe(&json!({ "label": "</script><!--<script>alert(1)" }));
        assert!(!text.contains('<'));
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["label"], "</script><!--<script>alert(1)");
    }

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

    #[test]
    fn headers_carry_units_apart_from_the_name() {
        let table: Table = serde_json::from_value(json!({
            "id": "t", "title": "T", "columns": [{"key": "a", "title": "Delay", "unit": "ms"}], "rows": []
        }))
        .unwrap();
        let mut page = Page::default();
        page.table(&table);
        assert!(page.main.contains("Delay <span class=\"unit\">(ms)</span>"));
    }

    #[test]
    fn a_negative_number_has_a_minus_sign() {
        assert_eq!(minus("-1.5"), "\u{2212}1.5");
        assert_eq!(minus("(-1.50 ± 0.25)e-13"), "(\u{2212}1.50 ± 0.25)e-13");
        assert_eq!(minus("1e-9"), "1e-9");
    }
}
