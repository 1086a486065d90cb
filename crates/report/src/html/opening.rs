//! What a reader sees first: the question, the table and the figures that answer it, and the remarks that matter.

use super::out::Out;
use super::{figure, table};
use crate::markdown::{blocks, escape, phrase};
use crate::palette::Palette;
use crate::summary::{Figure, Note, Severity, Summary};

/// Differences between overlaid results that are open; the others unfold.
const OPEN_DIFFERENCES: usize = 4;
/// Remarks that are open; the others unfold.
const OPEN_NOTES: usize = 3;

/// The first screen of a page.
pub(super) fn push(out: &mut Out, summary: &Summary, palette: &Palette) {
    let anchor = out.part("Answer");
    out.push(&format!("<header id=\"{anchor}\">"));
    match &summary.question {
        Some(question) => out.push(&format!(
            "<p class=\"kicker\">{}</p>\n<h1>{}</h1>",
            escape(&summary.title),
            escape(question)
        )),
        None => out.push(&format!(
            "<p class=\"kicker\">Sojourn report</p>\n<h1>{}</h1>",
            escape(&summary.title)
        )),
    }
    differences(out, &summary.differences);
    out.push("</header>");
    out.push("<section class=\"answer\" aria-label=\"Answer\">");
    if let Some(own) = summary.answer_table() {
        table::push(out, own, true);
    }
    match summary.answer_figures().as_slice() {
        [own] => figure::push(out, own, palette, true),
        several => row(out, several, palette),
    }
    notes(out, &summary.notes);
    out.push("</section>");
}

/// Several figures, drawn small in one row. The script of the page gives them one legend if their series are the same.
fn row(out: &mut Out, figures: &[&Figure], palette: &Palette) {
    if figures.is_empty() {
        return;
    }
    out.push("<div class=\"row\">");
    for own in figures {
        figure::push(out, own, palette, true);
    }
    out.push("</div>");
}

/// What overlaid results differ by, the first of it open.
fn differences(out: &mut Out, all: &[String]) {
    if all.is_empty() {
        return;
    }
    let (open, folded) = all.split_at(all.len().min(OPEN_DIFFERENCES));
    let items = |lines: &[String]| {
        let lines = lines.iter();
        lines
            .map(|line| format!("<li>{}</li>", escape(line)))
            .collect::<String>()
    };
    out.push(&format!(
        "<section class=\"differences\" aria-label=\"Differences in settings\"><ul>{}</ul>",
        items(open)
    ));
    if !folded.is_empty() {
        out.push(&format!(
            "<details class=\"fold\"><summary>{} more differences</summary><ul>{}</ul></details>",
            folded.len(),
            items(folded)
        ));
    }
    out.push("</section>");
}

/// What the auditor says, the gravest first.
fn notes(out: &mut Out, notes: &[Note]) {
    if notes.is_empty() {
        return;
    }
    let mut all: Vec<&Note> = notes.iter().collect();
    all.sort_by_key(|note| std::cmp::Reverse(note.level()));
    out.push("<section class=\"caveats\" aria-labelledby=\"caveats\"><h2 id=\"caveats\">Keep in mind</h2>");
    let (open, folded) = all.split_at(all.len().min(OPEN_NOTES));
    list(out, open);
    if !folded.is_empty() {
        let remarks = if folded.len() == 1 {
            "remark"
        } else {
            "remarks"
        };
        out.push(&format!(
            "<details class=\"fold\"><summary>{} more {remarks}</summary>",
            folded.len()
        ));
        list(out, folded);
        out.push("</details>");
    }
    out.push("</section>");
}

fn list(out: &mut Out, notes: &[&Note]) {
    out.push("<ul class=\"notes\">");
    for note in notes {
        let (class, word) = match (&note.allowed, note.severity) {
            (Some(_), _) => ("info", "Allowed"),
            (None, Severity::Error) => ("error", "Error"),
            (None, Severity::Warning) => ("warning", "Warning"),
            (None, Severity::Note) => ("info", "Note"),
        };
        let (text, place) = apart(&note.text);
        let help = note.help.as_ref().map(|help| phrase(help));
        let reason = note.allowed.as_ref();
        let reason = reason.map(|reason| {
            format!(
                "The study allows this because {}.",
                phrase(reason.trim_end_matches('.'))
            )
        });
        let rest = place.map(escape).into_iter().chain(help).chain(reason);
        let rest: Vec<String> = rest.collect();
        out.push(&format!(
            "<li class=\"{class}\"><strong class=\"rule\">{word}<span class=\"sr\"> {}</span></strong> <div>{}</div>",
            escape(&note.rule),
            blocks(text)
        ));
        if !rest.is_empty() {
            out.push(&format!("<p class=\"help\">{}</p>", rest.join(" ")));
        }
        out.push("</li>");
    }
    out.push("</ul>");
}

/// A remark, and the points that it is about.
fn apart(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end();
    match text.rsplit_once(" (at ") {
        Some((said, place)) if place.ends_with(')') => (said, Some(&text[said.len() + 1..])),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_stands_apart_from_its_points() {
        assert_eq!(
            apart("It is short. (at 2 of 5, such as a: b=1)"),
            ("It is short.", Some("(at 2 of 5, such as a: b=1)"))
        );
        assert_eq!(apart("It is short."), ("It is short.", None));
    }
}
