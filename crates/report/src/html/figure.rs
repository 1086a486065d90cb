//! Figures in the page. A figure brings its data with it, so that the page reads only those that are shown.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::out::{Out, sentence};
use crate::figure::{
    Levels, has_cursor, has_hollow, hollow_in_words, intervals_beyond, of_all_levels,
    rows_not_shown, zooms,
};
use crate::kind::Kind;
use crate::markdown::{escape, phrase};
use crate::palette::{Palette, Theme};
use crate::summary::Figure;

/// A figure with its caption.
pub(super) fn push(out: &mut Out, figure: &Figure, palette: &Palette, opens_page: bool) {
    out.figures += 1;
    let anchor = format!("figure-{}", figure.id);
    if !opens_page {
        out.item(&anchor, &figure.title);
    }
    out.push(&format!("<figure class=\"chart\" id=\"{anchor}\">"));
    if figure.rows.is_empty() {
        out.push("<p class=\"empty\">No data to draw.</p>");
    } else {
        out.push(&slider(figure));
        out.push(&format!(
            "<div class=\"plot\" role=\"img\" aria-label=\"{}\"><noscript><p class=\"empty\">The figures of this page need \
             JavaScript. The folder <code>figures</code> has them as Vega-Lite; <code>sojourn report DIR --images svg</code> draws them as pictures.</p></noscript></div>",
            escape(&figure.title)
        ));
        out.push(&format!(
            "<script type=\"application/json\" class=\"figure\">{}</script>",
            script_safe(&embedded(figure, palette))
        ));
    }
    let mut caption = format!(
        "<p><span class=\"number\">Figure {}.</span> <strong>{}</strong> {}</p>",
        out.figures,
        sentence(&figure.title),
        phrase(&figure.caption)
    );
    let remarks = remarks(figure);
    if !remarks.is_empty() {
        let _ = write!(caption, "<p class=\"remark\">{}</p>", remarks.join(" "));
    }
    if let Some(levels) = Levels::of(figure) {
        let text = escape(&levels.in_words());
        let _ = write!(caption, "<p class=\"remark printed\">{text}</p>");
    }
    if zooms(figure) && !figure.rows.is_empty() {
        let cursor = match has_cursor(figure) {
            true => "Point at the figure to read the values, or press the arrow keys. ",
            false => "",
        };
        let _ = write!(
            caption,
            "<p class=\"hint\">{cursor}Drag to move, Alt and wheel to zoom, double-click to return.</p>"
        );
    }
    out.push(&format!("<figcaption>{caption}</figcaption></figure>"));
}

/// The slider of a figure that has one; a script shows it.
fn slider(figure: &Figure) -> String {
    let Some(levels) = Levels::of(figure) else {
        return String::new();
    };
    let id = format!("slider-{}", figure.id);
    let at = escape(&levels.shown[levels.middle]);
    let widest = levels.shown.iter().map(|level| level.chars().count()).max();
    format!(
        "<p class=\"slider\" hidden><label for=\"{id}\">{}:</label> \
         <output for=\"{id}\" aria-live=\"off\" style=\"min-width: {}ch\">{at}</output> \
         <input type=\"range\" id=\"{id}\" min=\"0\" max=\"{}\" step=\"1\" value=\"{}\" aria-valuetext=\"{at}\" autocomplete=\"off\"></p>",
        escape(&levels.title),
        widest.unwrap_or(0),
        levels.labels.len().saturating_sub(1),
        levels.middle
    )
}

/// Figures that are there for who looks for them.
pub(super) fn fold(out: &mut Out, figures: &[&Figure], palette: &Palette) {
    let titles: Vec<String> = figures.iter().map(|figure| escape(&figure.title)).collect();
    let count = match figures.len() {
        1 => "One more figure".to_owned(),
        n => format!("{n} more figures"),
    };
    out.push(&format!(
        "<details class=\"fold\"><summary><strong>{count}</strong> {}</summary>\n<div class=\"inside\">",
        titles.join("; ")
    ));
    for figure in figures {
        push(out, figure, palette, false);
    }
    out.push("</div></details>");
}

/// What is not in the figure, or not as it is.
fn remarks(figure: &Figure) -> Vec<String> {
    let mut remarks = Vec::new();
    if has_hollow(figure) {
        remarks.push(hollow_in_words(figure.kind).to_owned());
    }
    match rows_not_shown(figure) {
        0 => {}
        1 => remarks
            .push("One value at or below zero has no place on the logarithmic axis.".to_owned()),
        n => remarks.push(format!(
            "{n} of {} values are at or below zero and have no place on the logarithmic axis.",
            figure.rows.len()
        )),
    }
    match intervals_beyond(figure) {
        0 => {}
        1 => remarks.push(
            "An arrow marks one interval that reaches farther; the tables have its width."
                .to_owned(),
        ),
        n => remarks.push(format!(
            "Arrows mark {n} intervals that reach farther; the tables have their widths."
        )),
    }
    remarks.extend(figure.thinned.as_ref().map(|text| escape(text)));
    remarks
}

/// JSON that cannot end the script element it stands in, nor begin a comment there.
fn script_safe(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// A figure for the page: the data once, the specification for both themes without it.
fn embedded(figure: &Figure, palette: &Palette) -> Value {
    let mut light = of_all_levels(figure, palette, Theme::Light);
    let mut dark = of_all_levels(figure, palette, Theme::Dark);
    let rows = light["data"]["values"].take();
    for spec in [&mut light, &mut dark] {
        if let Some(spec) = spec.as_object_mut() {
            spec.remove("$schema");
            spec.remove("data");
            spec.insert("background".into(), json!("transparent"));
        }
    }
    let mut whole = json!({ "id": figure.id, "rows": rows, "light": light, "dark": dark });
    if let Some(levels) = Levels::of(figure) {
        whole["slider"] = json!({
            "field": levels.field, "title": levels.title, "labels": levels.labels, "shown": levels.shown,
            "middle": levels.middle, "at": levels.middle
        });
    }
    if has_cursor(figure) {
        let facet = figure.facet.as_ref().map(|facet| &facet.field);
        let series = figure.series.as_ref().map(|series| &series.field);
        whole["cursor"] = json!({
            "x": figure.x.field, "y": figure.y.field, "series": series, "facet": facet,
            "unit": figure.y.unit, "time": figure.x.unit,
            // Figures over time are read at one time, each other one by itself.
            "group": if figure.kind == Kind::Time { "time" } else { figure.id.as_str() }
        });
    }
    whole
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
    fn a_page_has_a_slider_over_all_levels_and_tells_paper_which_one_it_shows() {
        let figure: Figure = serde_json::from_value(json!({
            "id": "f", "title": "F", "kind": "points",
            "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y"},
            "slider": {"field": "queue", "title": "A & B"},
            "rows": [{"x": 1, "y": 1, "queue": "a<b"}, {"x": 1, "y": 2, "queue": "c"}, {"x": 1, "y": 3, "queue": "d"}]
        }))
        .unwrap();
        let palette = Palette::of_figure(&figure);
        let whole = embedded(&figure, &palette);
        assert_eq!(whole["rows"].as_array().unwrap().len(), 3);
        assert_eq!(whole["slider"]["labels"], json!(["a<b", "c", "d"]));
        assert_eq!(
            (&whole["slider"]["at"], &whole["slider"]["middle"]),
            (&json!(1), &json!(1))
        );
        let mut out = Out::default();
        push(&mut out, &figure, &palette, false);
        for part in [
            "<label for=\"slider-f\">A &amp; B:</label>",
            "min=\"0\" max=\"2\" step=\"1\" value=\"1\" aria-valuetext=\"c\"",
            "<p class=\"remark printed\">Shown: A &amp; B c; the page has a slider over a&lt;b, c, d.</p>",
        ] {
            assert!(out.main.contains(part), "{part}: {}", out.main);
        }
        let plain = Figure {
            slider: None,
            ..figure
        };
        assert_eq!(
            (slider(&plain), embedded(&plain, &palette).get("slider")),
            (String::new(), None)
        );
    }
}
