//! Below the picture: which colour is which flow, what the thick link is, and what the picture does not show.

#[cfg(test)]
use super::geometry::Area;
use super::geometry::{Point, small};
use super::model::{Flow, Topology};
use super::text::{lines, width_of};

/// Size of letters and height of lines, in pixels.
pub(crate) const SIZE: f64 = 12.0;
const LINE: f64 = 17.0;

/// Width of the line or box in front of an entry.
pub(crate) const SWATCH: f64 = 30.0;

const MARGIN: f64 = 18.0;
const BETWEEN: f64 = 24.0;

/// Notes that are shown; further ones are counted.
const MOST_NOTES: usize = 14;

/// What stands in front of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swatch {
    Flow(usize),
    Measured,
    None,
}

/// A line of the legend.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) swatch: Swatch,
    /// The left end of its base line.
    pub(crate) at: Point,
    /// Its beginning, in bold.
    pub(crate) strong: String,
    pub(crate) text: String,
}

impl Entry {
    /// The box around its text.
    #[cfg(test)]
    pub(crate) fn area(&self) -> Area {
        let width = width_of(&self.strong, SIZE) + width_of(&self.text, SIZE);
        let middle = Point::new(self.at.x + width / 2.0, self.at.y - SIZE / 3.0);
        Area::new(middle, width, SIZE)
    }
}

/// The entries from `top` on in a picture of a width, and where it ends.
pub(crate) fn legend(
    topology: &Topology,
    numbered: &[String],
    unlabelled: Option<&str>,
    (width, top): (f64, f64),
) -> (Vec<Entry>, f64) {
    let room = width - 2.0 * MARGIN;
    let marked = marked(topology);
    let widest = marked
        .iter()
        .map(|(_, strong, text)| SWATCH + width_of(strong, SIZE) * 1.08 + width_of(text, SIZE))
        .fold(1.0, f64::max);
    let columns = (1..=3_usize)
        .rev()
        .find(|columns| {
            small(*columns) * widest + small(*columns - 1) * BETWEEN <= room
                && *columns <= marked.len()
        })
        .unwrap_or(1);
    let mut entries = Vec::new();
    let mut y = top + 4.0;
    for line in marked.chunks(columns) {
        for ((swatch, strong, text), column) in line.iter().zip(0_usize..) {
            let x = MARGIN + small(column) * (widest + BETWEEN);
            let left = room - SWATCH - width_of(strong, SIZE) * 1.08;
            entries.push(Entry {
                swatch: *swatch,
                at: Point::new(x + SWATCH, y),
                strong: strong.clone(),
                text: super::text::cut(text, SIZE, left.max(60.0)),
            });
        }
        y += LINE;
    }
    if !marked.is_empty() {
        y += 4.0;
    }
    let unlabelled = unlabelled.map(|text| format!("Links without a text: {text}."));
    let notes = unlabelled.iter().chain(numbered).chain(&topology.notes);
    let notes: Vec<&String> = notes.collect();
    for text in note_lines(&notes, room) {
        entries.push(Entry {
            swatch: Swatch::None,
            at: Point::new(MARGIN, y),
            strong: String::new(),
            text,
        });
        y += LINE;
    }
    (entries, y - LINE + MARGIN)
}

/// The flows and what a thick link is: mark, beginning and text.
fn marked(topology: &Topology) -> Vec<(Swatch, String, String)> {
    let flows = topology.flows.iter().enumerate();
    let mut marked: Vec<(Swatch, String, String)> = flows
        .map(|(index, flow)| {
            let (strong, text) = words(flow);
            (Swatch::Flow(index), strong, text)
        })
        .collect();
    let measured = topology.links.iter();
    let measured: usize = measured
        .map(|link| usize::from(link.forward.measured) + usize::from(link.reverse.measured))
        .sum();
    if measured > 0 {
        let text = match measured {
            1 => "measured queue and link",
            _ => "measured queues and links",
        };
        marked.push((Swatch::Measured, String::new(), text.to_owned()));
    }
    marked
}

/// The lines of the notes; of many the first, and how many more there are.
fn note_lines(notes: &[&String], room: f64) -> Vec<String> {
    let more = notes.len().saturating_sub(MOST_NOTES);
    let rest = (more > 0).then(|| format!("and {more} more"));
    let shown = notes.iter().copied().take(MOST_NOTES).chain(&rest);
    shown.flat_map(|note| lines(note, SIZE, room, 3)).collect()
}

/// What a flow is called, and what else there is to say.
fn words(flow: &Flow) -> (String, String) {
    let (label, kind) = (flow.label.line(" / "), flow.kind.line(" / "));
    let mut more = match (flow.count.is_empty(), label == kind) {
        (true, true) => Vec::new(),
        (true, false) => vec![kind],
        (false, true) => vec![format!("× {}", flow.count.line(", "))],
        (false, false) => vec![format!("{} × {kind}", flow.count.line(", "))],
    };
    if !flow.route.is_empty() {
        more.push(flow.route.clone());
    }
    let label = super::text::cut(&label, SIZE, 220.0);
    match more.is_empty() {
        true => (label, String::new()),
        false if !flow.count.is_empty() && flow.label == flow.kind => {
            (label, format!(" {}", more.join(", ")))
        }
        false => (label, format!(": {}", more.join(", "))),
    }
}
