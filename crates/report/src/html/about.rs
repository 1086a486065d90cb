//! What ran and how: the text of the study, its settings and algorithms, and what the page is made of.

use super::out::Out;
use crate::markdown::{blocks, escape};
use crate::summary::{Algorithm, SettingGroup, Summary};

/// The text of the study, and the command that repeats it.
pub(super) fn about(out: &mut Out, summary: &Summary) {
    out.open_part(
        "About this study",
        "what was asked, and the command that repeats it",
        false,
    );
    if let Some(subtitle) = &summary.subtitle {
        out.push(&format!("<p class=\"subtitle\">{}</p>", escape(subtitle)));
    }
    for paragraph in &summary.paragraphs {
        out.push(&format!("<div class=\"text\">{}</div>", blocks(paragraph)));
    }
    out.push(&format!(
        "<div class=\"command\"><span class=\"label\">Run again</span><code id=\"command\">{}</code>\
         <button type=\"button\" class=\"copy\" hidden>Copy</button></div>",
        escape(&summary.command)
    ));
    out.close_part();
}

pub(super) fn settings(out: &mut Out, settings: &[SettingGroup]) {
    if settings.is_empty() {
        return;
    }
    out.open_part("Settings", "what ran, with every default", false);
    out.push("<div class=\"settings\">");
    for group in settings {
        out.push(&format!("<section><h3>{}</h3><dl>", escape(&group.group)));
        for [key, value] in &group.rows {
            out.push(&format!(
                "<div><dt>{}</dt><dd>{}</dd></div>",
                escape(key),
                escape(value)
            ));
        }
        out.push("</dl></section>");
    }
    out.push("</div>");
    out.close_part();
}

pub(super) fn algorithms(out: &mut Out, algorithms: &[Algorithm]) {
    if algorithms.is_empty() {
        return;
    }
    let mut names: Vec<&str> = Vec::new();
    for algorithm in algorithms {
        if !names.contains(&algorithm.label.as_str()) {
            names.push(&algorithm.label);
        }
    }
    out.open_part("Algorithms", &names.join(", "), false);
    out.push("<p class=\"text\">Every parameter as it ran. Values that the scenario sets, other than by default, are bold.</p>");
    for algorithm in algorithms {
        let release = algorithm
            .release
            .as_ref()
            .map_or_else(String::new, |r| format!(", {}", escape(r)));
        out.push(&format!(
            "<section class=\"algorithm\"><h3>{} <span><code>{}</code>, dialect <code>{}</code>{release}</span></h3>",
            escape(&algorithm.label),
            escape(&algorithm.name),
            escape(&algorithm.dialect)
        ));
        if algorithm.params.is_empty() {
            out.push("<p class=\"empty\">No parameters.</p></section>");
            continue;
        }
        out.push(
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
            out.push(&format!(
                "<tr><td><code>{}</code></td><td>{value}</td><td>{}</td></tr>",
                escape(&param.name),
                param
                    .source
                    .as_ref()
                    .map_or_else(|| "–".to_owned(), |source| escape(source))
            ));
        }
        out.push("</tbody></table></div></section>");
    }
    out.close_part();
}

pub(super) fn colophon(out: &mut Out, summary: &Summary, licences: &[(&str, &str)]) {
    out.push("<footer>");
    out.push(&format!(
        "<p>Written by Sojourn {} from the files of this directory: <code>figures</code> holds every figure as a \
         Vega-Lite specification, <code>tables</code> every table as CSV and Markdown. This page loads nothing from \
         a network.</p>",
        escape(&summary.version)
    ));
    out.push(
        "<p>Colours: after the palette of Okabe and Ito (2008), told apart with protanopia, deuteranopia and tritanopia. \
         A series has one colour throughout. Grey and hollow marks are published values.</p>",
    );
    out.push("<details><summary>Software inside this page, and its licences</summary>");
    for (name, text) in licences {
        out.push(&format!(
            "<p><strong>{name}</strong></p><pre>{}</pre>",
            escape(text)
        ));
    }
    out.push("</details></footer>");
}
