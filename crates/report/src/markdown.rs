//! Markdown to HTML, the small part of it that a report needs.
//!
//! Paragraphs, emphasis, code, lists, quotations and links. Raw HTML is shown as text, pictures as their description
//! (a report fetches nothing), headings as bold paragraphs (the body has its own), and only links to the web, to mail
//! and within the page are links.

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

/// Paragraphs and lists.
pub(crate) fn blocks(text: &str) -> String {
    let mut out = String::new();
    html::push_html(&mut out, events(text));
    out.trim_end().to_owned()
}

/// A phrase to stand inside a paragraph, a caption or a note; paragraphs in it become line breaks.
pub(crate) fn phrase(text: &str) -> String {
    let out = blocks(text);
    out.trim()
        .replace("</p>\n<p>", "<br>")
        .strip_prefix("<p>")
        .and_then(|inner| inner.strip_suffix("</p>"))
        .filter(|inner| !inner.contains("<p>"))
        .map_or_else(|| out.clone(), str::to_owned)
}

/// The words alone, for a terminal.
pub(crate) fn words(text: &str) -> String {
    let mut out = String::new();
    for event in events(text) {
        match event {
            Event::Text(text) | Event::Code(text) => out.push_str(&text),
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::CodeBlock) => out.push(' '),
            _ => {}
        }
    }
    out.trim_end().to_owned()
}

/// Text with the five characters that mean something in HTML replaced, for content and attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(text, Options::empty()).map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Heading { .. }) => Event::InlineHtml("<p><strong>".into()),
        Event::End(TagEnd::Heading(_)) => Event::InlineHtml("</strong></p>\n".into()),
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(Tag::Link {
            link_type,
            dest_url: safe_address(link_type, dest_url),
            title,
            id,
        }),
        other => other,
    })
}

fn safe_address<'a>(kind: LinkType, address: CowStr<'a>) -> CowStr<'a> {
    if kind == LinkType::Email {
        return address;
    }
    let lower = address.to_ascii_lowercase();
    let safe = ["https://", "http://", "mailto:", "#"]
        .iter()
        .any(|scheme| lower.starts_with(scheme));
    if safe { address } else { "#".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_keeps_emphasis_code_lists_and_links() {
        assert_eq!(
            blocks("A *b* `c < d` [e](https://example.org).\n\n- one\n- two"),
            "<p>A <em>b</em> <code>c &lt; d</code> <a href=\"https://example.org\">e</a>.</p>\n\
             <ul>\n<li>one</li>\n<li>two</li>\n</ul>"
        );
    }

    #[test]
    fn html_is_shown_and_not_obeyed() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div>\n<b>x</b>\n</div>",
        ] {
            let html = blocks(text);
            for tag in ["<script", "<img", "<div", "<b>"] {
                assert!(!html.contains(tag), "{html}");
            }
            assert!(html.contains("&lt;"), "{html}");
        }
    }

    #[test]
    fn pictures_fetch_nothing_and_script_addresses_lead_nowhere() {
        assert_eq!(
            blocks("![a plot](https://example.org/x.png)"),
            "<p><em>a plot</em></p>"
        );
        assert_eq!(
            blocks("[x](JavaScript:alert(1))"),
            "<p><a href=\"#\">x</a></p>"
        );
        assert!(!blocks("[x](data:text/html,hi)").contains("data:"));
    }

    #[test]
    fn a_phrase_has_no_paragraph_around_it() {
        assert_eq!(phrase("one *two*"), "one <em>two</em>");
        assert_eq!(phrase("one\n\ntwo"), "one<br>two");
        assert_eq!(phrase(""), "");
        assert_eq!(phrase("# one"), "<strong>one</strong>");
    }

    #[test]
    fn words_drop_the_marks_and_keep_the_text() {
        assert_eq!(
            words("Student *t*, `a_b`,\nsee [RFC](https://example.org)"),
            "Student t, a_b, see RFC"
        );
        assert_eq!(words("95 % < 99 %"), "95 % < 99 %");
    }

    #[test]
    fn escape_covers_content_and_attributes() {
        assert_eq!(
            escape("<a b=\"c\" d='e'>&"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;"
        );
    }
}
