//! Tables of parameters in Markdown.

use sojourn_units::ParamInfo;

/// A table of parameters, in Markdown: key, value, default, range, meaning, source.
pub(crate) fn params_markdown(params: &[ParamInfo]) -> String {
    let mut table = String::from(
        "| key | value | default | allowed | meaning | source of the default |\n|---|---|---|---|---|---|\n",
    );
    for info in params {
        let kind = info.kind();
        let default = match info.default {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        let mut meaning = info.doc.to_owned();
        for (word, what) in kind.choices() {
            meaning.push_str(&format!(" `{word}`: {what}"));
        }
        let effect = info.effect_text();
        if !effect.is_empty() {
            meaning.push_str(&format!(" {effect}"));
        }
        table.push_str(&format!(
            "| `{}` | {} | {default} | {} | {} | {} |\n",
            info.name,
            cell(&kind.unit_text()),
            cell(&info.range_text()),
            cell(&meaning),
            cell(info.source)
        ));
    }
    table
}

/// A text that fits into a cell.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
