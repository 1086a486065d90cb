//! What is written of a page, and what its index lists.

use crate::markdown::escape;

/// The body of a page while it is written.
#[derive(Default)]
pub(super) struct Out {
    /// The body.
    pub(super) main: String,
    /// What the index lists, in order.
    pub(super) index: Vec<Entry>,
    /// Tables and figures so far, which are numbered.
    pub(super) tables: usize,
    pub(super) figures: usize,
    anchors: usize,
}

/// An entry of the index: a part of the page, and the tables and figures in it.
pub(super) struct Entry {
    pub(super) anchor: String,
    pub(super) text: String,
    pub(super) items: Vec<(String, String)>,
}

impl Out {
    pub(super) fn push(&mut self, html: &str) {
        self.main.push_str(html);
        self.main.push('\n');
    }

    /// A new part of the page: its anchor, which the index links.
    pub(super) fn part(&mut self, text: &str) -> String {
        self.anchors += 1;
        let anchor = format!("section-{}", self.anchors);
        self.index.push(Entry {
            anchor: anchor.clone(),
            text: text.to_owned(),
            items: Vec::new(),
        });
        anchor
    }

    /// A table or figure of the last part.
    pub(super) fn item(&mut self, anchor: &str, text: &str) {
        if let Some(part) = self.index.last_mut() {
            part.items.push((anchor.to_owned(), text.to_owned()));
        }
    }

    /// A heading within a part.
    pub(super) fn heading(&mut self, level: u8, text: &str) {
        self.anchors += 1;
        let anchor = format!("section-{}", self.anchors);
        self.push(&format!(
            "<h{level} id=\"{anchor}\">{}</h{level}>",
            escape(text)
        ));
        self.item(&anchor, text);
    }

    /// Begins a part that is folded, or open, with what is in it beside its heading.
    pub(super) fn open_part(&mut self, text: &str, holds: &str, is_open: bool) {
        let anchor = self.part(text);
        let open = if is_open { " open" } else { "" };
        self.push(&format!(
            "<details class=\"part\" id=\"{anchor}\"{open}><summary><h2>{}</h2> <span class=\"holds\">{}</span></summary>\n<div class=\"inside\">",
            escape(text),
            escape(holds)
        ));
    }

    pub(super) fn close_part(&mut self) {
        self.push("</div></details>");
    }
}

/// A title that ends as a sentence does, escaped.
pub(super) fn sentence(title: &str) -> String {
    let end = if title.ends_with(['.', '?', '!']) {
        ""
    } else {
        "."
    };
    format!("{}{end}", escape(title))
}
