//! Diagrams of algorithms for reference pages, drawn directly as SVG from a short text: what a queue keeps, and what it does when
//! a packet comes and when one leaves. Like the other small pictures they need no fonts to be measured, the same text always
//! gives the same bytes, and they follow the reader's light or dark setting.
//!
//! The text of an algorithm is a file in `algorithms/` and a line in [`TEXTS`]. Its lines:
//!
//! ```text
//! title RED
//! state
//!   avg = average queue length
//! lane When a packet arrives
//!   start A packet arrives
//!   do @again avg ← (1 − w) avg + w q
//!   ask avg < min? | yes pass: Join the queue
//!   end Join the queue
//! ```
//!
//! Steps go down the lane. `ask` leaves to the right with the answer given and goes down with the other one. What is on the right
//! is of a kind: `pass`, `drop` and `mark` end there, `do` returns to the lane below, and `back NAME` returns to the step marked
//! `@NAME`. An `end` is a `pass`, unless it begins with `drop`. A backslash between spaces begins a line.

use crate::palette::{Ink, Theme};
use crate::picture::{escaped, small};
use std::fmt::Write;

/// The text of each algorithm, by the name of the discipline.
const TEXTS: &[(&str, &str)] = &[
    ("droptail", include_str!("algorithms/droptail.txt")),
    ("codel", include_str!("algorithms/codel.txt")),
    ("red", include_str!("algorithms/red.txt")),
    ("rio", include_str!("algorithms/rio.txt")),
    ("blue", include_str!("algorithms/blue.txt")),
    ("sfb", include_str!("algorithms/sfb.txt")),
    ("choke", include_str!("algorithms/choke.txt")),
    ("pie", include_str!("algorithms/pie.txt")),
    ("drr", include_str!("algorithms/drr.txt")),
    ("srr", include_str!("algorithms/srr.txt")),
    ("sfq", include_str!("algorithms/sfq.txt")),
    (
        "virtual_clock",
        include_str!("algorithms/virtual_clock.txt"),
    ),
    ("fq_codel", include_str!("algorithms/fq_codel.txt")),
    ("tsw", include_str!("algorithms/tsw.txt")),
];

/// The diagram of a discipline's algorithm as an SVG document; none for a discipline without one.
///
/// # Panics
/// If the text of the algorithm is not of the form above. A test draws them all.
pub fn algorithm(name: &str) -> Option<String> {
    let (_, text) = TEXTS.iter().find(|(known, _)| *known == name)?;
    let chart = Chart::read(text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    Some(chart.svg())
}

/// The disciplines whose algorithm has a diagram.
pub fn algorithms() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

/// An algorithm.
#[derive(Debug, Default)]
struct Chart {
    title: String,
    /// What is kept: its name and its meaning.
    state: Vec<(String, String)>,
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Lane {
    title: String,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    form: Form,
    text: String,
    /// What others return to it by.
    label: Option<String>,
    /// What an `ask` leaves to.
    side: Option<Side>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Start,
    Do,
    Ask,
    End(Fate),
}

/// What becomes of the packet, for the colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Pass,
    Drop,
    Mark,
}

#[derive(Debug)]
struct Side {
    answer: String,
    text: String,
    then: Then,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Then {
    Ends(Fate),
    Joins,
    Back(String),
}

impl Fate {
    fn of(word: &str) -> Option<Fate> {
        match word {
            "pass" => Some(Fate::Pass),
            "drop" => Some(Fate::Drop),
            "mark" => Some(Fate::Mark),
            _ => None,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Fate::Pass => "pass",
            Fate::Drop => "drop",
            Fate::Mark => "mark",
        }
    }
}

impl Chart {
    fn read(text: &str) -> Result<Chart, String> {
        let mut chart = Chart::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let rest = rest.trim();
            match (word, chart.lanes.last_mut()) {
                ("title", _) => rest.clone_into(&mut chart.title),
                ("state", None) => {}
                ("lane", _) => chart.lanes.push(Lane {
                    title: rest.to_owned(),
                    steps: Vec::new(),
                }),
                (_, None) => {
                    let (name, meaning) = line
                        .split_once(" = ")
                        .ok_or_else(|| format!("{line:?} is no NAME = MEANING"))?;
                    chart.state.push((name.to_owned(), meaning.to_owned()));
                }
                (_, Some(lane)) => lane.steps.push(Step::read(word, rest)?),
            }
        }
        chart.check().map(|()| chart)
    }

    /// Whatever is returned to is there.
    fn check(&self) -> Result<(), String> {
        for lane in &self.lanes {
            let labels = || lane.steps.iter().filter_map(|step| step.label.as_deref());
            for side in lane.steps.iter().filter_map(|step| step.side.as_ref()) {
                if let Then::Back(label) = &side.then
                    && !labels().any(|known| known == label)
                {
                    return Err(format!("no step is marked @{label}"));
                }
            }
            if !matches!(lane.steps.last().map(|step| step.form), Some(Form::End(_))) {
                return Err(format!("the lane {:?} has no end", lane.title));
            }
        }
        Ok(())
    }
}

impl Step {
    fn read(word: &str, rest: &str) -> Result<Step, String> {
        let (label, rest) = match rest.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
            Some((label, rest)) => (Some(label.to_owned()), rest),
            None => (None, rest),
        };
        let (text, side) = match rest.split_once(" | ") {
            Some((text, side)) => (text, Some(Side::read(side)?)),
            None => (rest, None),
        };
        let (fate, text) = match text.split_once(' ') {
            Some(("drop", rest)) if word == "end" => (Fate::Drop, rest),
            _ => (Fate::Pass, text),
        };
        let form = match word {
            "start" => Form::Start,
            "do" => Form::Do,
            "ask" => Form::Ask,
            "end" => Form::End(fate),
            other => return Err(format!("{other:?} is no start, do, ask or end")),
        };
        if (form == Form::Ask) != side.is_some() {
            return Err(format!("{text:?}: an ask, and only that, has a side"));
        }
        Ok(Step {
            form,
            text: text.to_owned(),
            label,
            side,
        })
    }
}

impl Side {
    /// `yes drop: Drop the packet`.
    fn read(text: &str) -> Result<Side, String> {
        let problem = || format!("{text:?} is no ANSWER KIND: TEXT");
        let (head, what) = text.split_once(": ").ok_or_else(problem)?;
        let mut words = head.split(' ');
        let answer = words.next().ok_or_else(problem)?;
        let then = match (words.next(), words.next()) {
            (Some("do"), None) => Then::Joins,
            (Some("back"), Some(label)) => Then::Back(label.to_owned()),
            (Some(word), None) => Then::Ends(Fate::of(word).ok_or_else(problem)?),
            _ => return Err(problem()),
        };
        Ok(Side {
            answer: answer.to_owned(),
            text: what.to_owned(),
            then,
        })
    }

    fn other_answer(&self) -> &'static str {
        if self.answer == "yes" { "no" } else { "yes" }
    }

    fn class(&self) -> &'static str {
        match self.then {
            Then::Ends(fate) => fate.class(),
            Then::Joins | Then::Back(_) => "work",
        }
    }
}

const LANE: f64 = 420.0;
const MARGIN: f64 = 16.0;
/// Of the boxes in a lane, from its left edge.
const SPINE: (f64, f64) = (0.0, 224.0);
const SIDE: (f64, f64) = (262.0, 140.0);
/// Where lines return, right of the side boxes.
const CHANNEL: f64 = 411.0;
const MIDDLE: f64 = 112.0;
/// Between the steps of a lane.
const GAP: f64 = 26.0;
const LINE: f64 = 16.0;
const PAD: f64 = 9.0;
/// The slanted ends of a question.
const SLANT: f64 = 10.0;
const BODY: f64 = 12.0;

/// A rectangle with text in it.
#[derive(Clone, Debug)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    lines: Vec<String>,
}

impl Area {
    /// At its place, as high as its text; `inner` is what the text may take of the width.
    fn new(x: f64, y: f64, width: f64, inner: f64, text: &str) -> Area {
        let lines = wrapped(text, inner, BODY);
        Area {
            x,
            y,
            width,
            height: LINE * small(lines.len()) + 2.0 * PAD - 3.0,
            lines,
        }
    }

    fn bottom(&self) -> f64 {
        self.y + self.height
    }

    fn centre(&self) -> f64 {
        self.y + self.height / 2.0
    }

    fn move_down(&mut self, height: f64) {
        self.y += (height - self.height) / 2.0;
    }
}

/// A lane with the place of everything in it, from the top of its first step.
struct Placed<'a> {
    rows: Vec<Row<'a>>,
    height: f64,
}

struct Row<'a> {
    step: &'a Step,
    own: Area,
    side: Option<Area>,
    /// Above whatever is in the row.
    top: f64,
}

impl Lane {
    fn placed(&self) -> Placed<'_> {
        let mut y = 0.0;
        let mut rows = Vec::new();
        for step in &self.steps {
            let slant = if step.form == Form::Ask { SLANT } else { 0.0 };
            let inner = SPINE.1 - 2.0 * (PAD + slant);
            let mut own = Area::new(SPINE.0, y, SPINE.1, inner, &step.text);
            let mut side = step
                .side
                .as_ref()
                .map(|side| Area::new(SIDE.0, y, SIDE.1, SIDE.1 - 2.0 * PAD, &side.text));
            let height = side
                .as_ref()
                .map_or(0.0, |area| area.height)
                .max(own.height);
            own.move_down(height);
            if let Some(side) = &mut side {
                side.move_down(height);
            }
            let top = y;
            rows.push(Row {
                step,
                own,
                side,
                top,
            });
            y += height + GAP;
        }
        Placed {
            rows,
            height: y - GAP,
        }
    }
}

impl Chart {
    /// The text of the state in two columns, and its height.
    fn state_areas(&self, width: f64) -> (Vec<(Area, Vec<String>)>, f64) {
        let column = (width - 2.0 * MARGIN) / 2.0;
        let name = self
            .state
            .iter()
            .map(|(name, _)| width_of(name, BODY) + 12.0);
        let indent = name.fold(40.0, f64::max);
        let rows = self.state.len().div_ceil(2);
        let mut bottoms = [STATE_TOP; 2];
        let mut areas = Vec::new();
        for (place, (name, meaning)) in self.state.iter().enumerate() {
            let side = usize::from(place >= rows);
            let x = MARGIN + PAD + column * small(side);
            let lines = wrapped(meaning, column - indent - 2.0 * PAD, BODY);
            let height = LINE * small(lines.len());
            let area = Area {
                x,
                y: bottoms[side],
                width: indent,
                height,
                lines: vec![name.clone()],
            };
            areas.push((area, lines));
            bottoms[side] += height + 2.0;
        }
        (areas, bottoms[0].max(bottoms[1]))
    }

    fn svg(&self) -> String {
        let lanes: Vec<Placed<'_>> = self.lanes.iter().map(Lane::placed).collect();
        let width = 2.0 * MARGIN + LANE * small(lanes.len()) - (LANE - CHANNEL) + 6.0;
        let (state, floor) = self.state_areas(width);
        let top = floor + 20.0;
        let tallest = lanes.iter().map(|lane| lane.height).fold(0.0, f64::max);
        let height = top + LANE_TOP + tallest + MARGIN;
        let mut out = head(&self.title, width, height);
        let _ = writeln!(
            out,
            "<text class=\"t\" x=\"{MARGIN}\" y=\"27\">{}</text>\n<rect class=\"state\" x=\"{MARGIN}\" y=\"40\" width=\"{}\" height=\"{}\" rx=\"4\"/>",
            escaped(&self.title),
            width - 2.0 * MARGIN,
            floor - 40.0 + 4.0
        );
        for (area, lines) in &state {
            let _ = writeln!(
                out,
                "<text class=\"n\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                area.x,
                area.y + 12.0,
                escaped(&area.lines[0])
            );
            for (line, row) in lines.iter().zip(0_u32..) {
                let _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    area.x + area.width,
                    area.y + 12.0 + LINE * f64::from(row),
                    escaped(line)
                );
            }
        }
        for (place, (lane, placed)) in self.lanes.iter().zip(&lanes).enumerate() {
            let x = MARGIN + LANE * small(place);
            let _ = writeln!(
                out,
                "<g transform=\"translate({x},{top})\">\n<text class=\"h\" x=\"0\" y=\"12\">{}</text>\n<path class=\"a\" d=\"M0 20H{CHANNEL}\"/>\n\
                 <g transform=\"translate(0,{LANE_TOP})\">",
                escaped(&lane.title)
            );
            draw(placed, &mut out);
            out.push_str("</g>\n</g>\n");
        }
        out.push_str("</svg>\n");
        out
    }
}

/// Where the state begins, and the steps below the title of their lane.
const STATE_TOP: f64 = 48.0;
const LANE_TOP: f64 = 36.0;

fn draw(placed: &Placed<'_>, out: &mut String) {
    for (place, row) in placed.rows.iter().enumerate() {
        let Row {
            step, own, side, ..
        } = row;
        let next = placed.rows.get(place + 1);
        if let Some(below) = next
            && !matches!(step.form, Form::End(_))
        {
            line(
                out,
                &format!("M{MIDDLE} {:.1}V{:.1}", own.bottom(), below.own.y),
            );
        }
        shape(step.form, own, out);
        if let (Some(told), Some(area)) = (&step.side, side) {
            let y = own.centre();
            line(
                out,
                &format!("M{:.1} {y:.1}H{:.1}", own.x + own.width, area.x),
            );
            word(out, "w", own.x + own.width + 5.0, y - 5.0, &told.answer);
            // On the side where no line comes back.
            word(
                out,
                "w e",
                MIDDLE - 6.0,
                own.bottom() + 15.0,
                told.other_answer(),
            );
            boxed(told.class(), area, out);
            leave(told, area, next, placed, out);
        }
    }
}

/// The line from what is on the right back to the lane, into the arrow above a step.
fn leave(told: &Side, area: &Area, next: Option<&Row<'_>>, placed: &Placed<'_>, out: &mut String) {
    let into = |row: &Row<'_>| format!("V{:.1}H{:.1}", row.top - GAP / 2.0, MIDDLE + 1.0);
    match (&told.then, next) {
        (Then::Joins, Some(below)) => {
            let x = area.x + area.width / 2.0;
            line(out, &format!("M{x:.1} {:.1}{}", area.bottom(), into(below)));
        }
        (Then::Back(label), _) => {
            let marked = |row: &&Row<'_>| row.step.label.as_ref() == Some(label);
            if let Some(target) = placed.rows.iter().find(marked) {
                let right = area.x + area.width;
                line(
                    out,
                    &format!("M{right:.1} {:.1}H{CHANNEL}{}", area.centre(), into(target)),
                );
            }
        }
        (Then::Ends(_) | Then::Joins, _) => {}
    }
}

/// An arrow.
fn line(out: &mut String, path: &str) {
    let _ = writeln!(
        out,
        "<path class=\"l\" marker-end=\"url(#e)\" d=\"{path}\"/>"
    );
}

fn word(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
        escaped(text)
    );
}

fn shape(form: Form, area: &Area, out: &mut String) {
    let Area {
        x,
        y,
        width,
        height,
        ..
    } = area;
    let round = height / 2.0;
    match form {
        Form::Ask => {
            let (right, middle) = (x + width, y + height / 2.0);
            let _ = writeln!(
                out,
                "<path class=\"ask\" d=\"M{x:.1} {middle:.1}L{:.1} {y:.1}H{:.1}L{right:.1} {middle:.1}L{:.1} {:.1}H{:.1}Z\"/>",
                x + SLANT,
                right - SLANT,
                right - SLANT,
                y + height,
                x + SLANT
            );
            texts(area, out);
        }
        Form::Start => {
            let _ = writeln!(
                out,
                "<rect class=\"start\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{:.1}\"/>",
                round.min(14.0)
            );
            texts(area, out);
        }
        Form::Do => boxed("work", area, out),
        Form::End(fate) => boxed(fate.class(), area, out),
    }
}

fn boxed(class: &str, area: &Area, out: &mut String) {
    let round = if class == "work" { 3.0 } else { 14.0 };
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round}\"/>",
        area.x, area.y, area.width, area.height
    );
    texts(area, out);
}

fn texts(area: &Area, out: &mut String) {
    for (line, row) in area.lines.iter().zip(0_u32..) {
        let _ = writeln!(
            out,
            "<text class=\"m\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            area.x + area.width / 2.0,
            area.y + PAD + 10.0 + LINE * f64::from(row),
            escaped(line)
        );
    }
}

fn head(title: &str, width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>\n{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n</style>\n\
         <defs><marker id=\"e\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path class=\"tip\" d=\"M0 0.5L8 4L0 7.5Z\"/></marker></defs>\n\
         <rect class=\"b\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"6\"/>\n",
        title = escaped(&format!(
            "{title}: what it keeps, and what it does with each packet"
        )),
        light = style(Theme::Light),
        dark = style(Theme::Dark),
    )
}

/// The rules for one background.
fn style(theme: Theme) -> String {
    let Ink {
        background,
        strong,
        soft,
        line,
        grid,
        ..
    } = theme.ink();
    let [blue, orange, green, _, yellow, ..] = theme.colours();
    let tint = |class: &str, colour: &str| {
        format!(
            ".{class} {{ fill: {colour}; fill-opacity: 0.14; stroke: {colour}; stroke-width: 1.4 }}\n"
        )
    };
    let mut rules = format!(
        "text {{ font: 12px system-ui, sans-serif; fill: {strong} }}\n.m {{ text-anchor: middle }}\n.t {{ font-size: 17px; font-weight: 600 }}\n\
         .h {{ font-size: 13px; font-weight: 600 }}\n.n {{ font-weight: 600 }}\n.w {{ font-size: 11px; fill: {soft} }}\n.e {{ text-anchor: end }}\n.b {{ fill: {background} }}\n\
         .a {{ stroke: {line} }}\n.l {{ fill: none; stroke: {soft}; stroke-width: 1.3 }}\n.tip {{ fill: {soft} }}\n\
         .state {{ fill: {grid}; fill-opacity: 0.5 }}\n.work {{ fill: {background}; stroke: {line}; stroke-width: 1.3 }}\n\
         .start {{ fill: {grid}; stroke: {line}; stroke-width: 1.3 }}\n"
    );
    for (class, colour) in [
        ("ask", blue),
        ("drop", orange),
        ("pass", green),
        ("mark", yellow),
    ] {
        rules.push_str(&tint(class, colour));
    }
    rules
}

/// What a text takes at most, in the widest of the usual fonts of screens.
fn width_of(text: &str, size: f64) -> f64 {
    let wide = |letter: char| match letter {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | 'i' | 'j' | 'l' | '!' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        '←' | '→' | '≥' | '≤' | '+' | '−' | '=' | '<' | '>' | '×' | '√' => 0.84,
        'A'..='Z' => 0.72,
        _ => 0.64,
    };
    size * text.chars().map(wide).sum::<f64>()
}

/// Begins a line.
const BREAK: &str = " \\ ";

/// The text in lines that are no wider; a word that is wider stands alone.
fn wrapped(text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split(BREAK) {
        lines.push(String::new());
        for word in part.split(' ') {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if width_of(&format!("{line} {word}"), size) <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charts() -> impl Iterator<Item = (&'static str, Chart)> {
        TEXTS.iter().map(|(name, text)| {
            let chart = Chart::read(text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            (*name, chart)
        })
    }

    fn overlap(a: &Area, b: &Area) -> bool {
        a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.bottom() && b.y < a.bottom()
    }

    #[test]
    fn every_text_is_read_and_names_its_state() {
        for (name, chart) in charts() {
            assert!(!chart.title.is_empty() && !chart.state.is_empty(), "{name}");
            assert!((2..=3).contains(&chart.lanes.len()), "{name}");
            assert!(algorithm(name).is_some(), "{name}");
        }
        assert_eq!(algorithm("nothing"), None);
        assert_eq!(algorithms().count(), TEXTS.len());
    }

    #[test]
    fn no_boxes_overlap_and_no_text_leaves_its_box() {
        for (name, chart) in charts() {
            for lane in &chart.lanes {
                let placed = lane.placed();
                let mut areas: Vec<&Area> = Vec::new();
                for Row {
                    step, own, side, ..
                } in &placed.rows
                {
                    areas.push(own);
                    areas.extend(side);
                    for area in std::iter::once(own).chain(side) {
                        for line in &area.lines {
                            let room = area.width - 2.0 * PAD + 2.0;
                            assert!(
                                width_of(line, BODY) <= room,
                                "{name}: {line:?} in {:?}",
                                step.text
                            );
                        }
                    }
                }
                for (place, area) in areas.iter().enumerate() {
                    let others = &areas[place + 1..];
                    assert!(
                        others.iter().all(|other| !overlap(area, other)),
                        "{name}: {area:?}"
                    );
                }
                assert!(
                    width_of(&lane.title, 14.0) < CHANNEL,
                    "{name}: {}",
                    lane.title
                );
            }
        }
    }

    #[test]
    fn the_same_text_gives_the_same_bits_with_rules_for_both_backgrounds() {
        for name in algorithms() {
            let text = algorithm(name).expect("one");
            assert_eq!(Some(&text), algorithm(name).as_ref());
            assert!(text.contains("prefers-color-scheme: dark"), "{name}");
            assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
            assert_eq!(
                text.matches("<text").count(),
                text.matches("</text>").count()
            );
        }
    }

    #[test]
    fn a_wrong_text_says_what_is_wrong() {
        let problem = |text: &str| Chart::read(text).expect_err(text);
        assert!(problem("title X\nlane L\njump there").contains("\"jump\" is no start"));
        assert!(problem("title X\nlane L\nask a? | yes: b").contains("ANSWER KIND: TEXT"));
        assert!(problem("title X\nlane L\nask a? | yes back b: c\nend d").contains("marked @b"));
        assert!(problem("title X\nlane L\ndo a").contains("has no end"));
        assert!(problem("title X\nstate\nabc").contains("NAME = MEANING"));
        assert!(problem("title X\nlane L\nask a?\nend b").contains("has a side"));
    }

    #[test]
    fn what_returns_to_a_step_goes_into_the_arrow_above_it() {
        let text = "title X\nlane L\nstart a\ndo @again b\nask c? | yes back again: d\nend e";
        let chart = Chart::read(text).expect("a chart");
        let placed = chart.lanes[0].placed();
        let up = placed.rows[1].top - GAP / 2.0;
        assert!(
            chart
                .svg()
                .contains(&format!("H{CHANNEL}V{up:.1}H{:.1}", MIDDLE + 1.0))
        );
    }
}
