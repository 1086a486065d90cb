//! Everything behind the answer: a part for each section of the report, folded until a reader asks for it.

use super::out::Out;
use super::{figure, table};
use crate::figure::says_nothing;
use crate::markdown::{blocks, escape};
use crate::palette::Palette;
use crate::summary::{Block, Figure, Summary};

/// A report without sections shows its figures at once if there are no more than this.
const FEW_FIGURES: usize = 6;

/// The blocks of a section.
struct Part<'a> {
    title: &'a str,
    is_open: bool,
    blocks: Vec<&'a Block>,
}

/// The sections of a report, without what opens the page.
pub(super) fn push(out: &mut Out, summary: &Summary, palette: &Palette) {
    let table = summary.answer_table().map(|table| table.id.as_str());
    let shown = summary.answer_figures();
    for part in parts(summary) {
        let seen = |block: &Block| match block {
            Block::Table(own) => Some(own.id.as_str()) == table,
            Block::Figure(own) => shown.iter().any(|figure| figure.id == own.id),
            Block::Heading(_) | Block::Text(_) => false,
        };
        let above: Vec<&Block> = part
            .blocks
            .iter()
            .copied()
            .filter(|block| seen(block))
            .collect();
        let rest: Vec<&Block> = part
            .blocks
            .iter()
            .copied()
            .filter(|block| !seen(block))
            .collect();
        if rest.is_empty() {
            continue;
        }
        out.open_part(part.title, &holds(&rest), part.is_open);
        for block in above {
            link(out, block);
        }
        body(out, &rest, palette);
        out.close_part();
    }
}

/// Each heading of level 2 begins a part. What stands before the first one is told apart by tables and figures.
fn parts(summary: &Summary) -> Vec<Part<'_>> {
    let is_section = |block: &Block| matches!(block, Block::Heading(heading) if heading.level == 2);
    let first = summary.blocks.iter().position(is_section);
    let (before, sections) = summary
        .blocks
        .split_at(first.unwrap_or(summary.blocks.len()));
    let is_figure = |block: &&Block| matches!(block, Block::Figure(_));
    let (figures, others): (Vec<&Block>, Vec<&Block>) = before.iter().partition(is_figure);
    let few = summary.figures().filter(|figure| !figure.folded).count() <= FEW_FIGURES;
    let mut all = vec![
        Part {
            title: "Tables",
            is_open: false,
            blocks: others,
        },
        Part {
            title: "Figures",
            is_open: few && first.is_none(),
            blocks: figures,
        },
    ];
    for block in sections {
        match (block, all.last_mut()) {
            (Block::Heading(heading), _) if heading.level == 2 => all.push(Part {
                title: &heading.text,
                is_open: false,
                blocks: Vec::new(),
            }),
            (_, Some(part)) => part.blocks.push(block),
            (_, None) => {}
        }
    }
    all
}

/// How many tables and figures there are.
fn holds(blocks: &[&Block]) -> String {
    let count = |of: fn(&Block) -> bool, one: &str, many: &str| match blocks
        .iter()
        .filter(|block| of(block))
        .count()
    {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    let tables = count(|block| matches!(block, Block::Table(_)), "table", "tables");
    let figures = count(
        |block| matches!(block, Block::Figure(_)),
        "figure",
        "figures",
    );
    let all: Vec<String> = tables.into_iter().chain(figures).collect();
    all.join(", ")
}

/// Where a table or figure of the part is that opens the page.
fn link(out: &mut Out, block: &Block) {
    let (anchor, title) = match block {
        Block::Table(table) => (format!("table-{}", table.id), &table.title),
        Block::Figure(figure) => (format!("figure-{}", figure.id), &figure.title),
        Block::Heading(_) | Block::Text(_) => return,
    };
    out.push(&format!(
        "<p class=\"above\"><a href=\"#{anchor}\">{}</a> is at the top of the page.</p>",
        escape(title)
    ));
    out.item(&anchor, title);
}

fn body(out: &mut Out, blocks_of: &[&Block], palette: &Palette) {
    let (idle, said): (Vec<&Block>, Vec<&Block>) = blocks_of
        .iter()
        .partition(|block| why_left_out(block).is_some());
    let mut left = said.as_slice();
    while let [block, rest @ ..] = left {
        left = rest;
        match block {
            Block::Heading(heading) => out.heading(heading.level, &heading.text),
            Block::Text(text) => out.push(&format!(
                "<div class=\"text\">{}</div>",
                blocks(&text.markdown)
            )),
            Block::Table(own) => table::push(out, own, false),
            Block::Figure(own) if own.folded => {
                let more = rest.iter().map_while(|block| folded(block));
                let figures: Vec<&Figure> = std::iter::once(&**own).chain(more).collect();
                figure::fold(out, &figures, palette);
                left = &rest[figures.len() - 1..];
            }
            Block::Figure(own) => figure::push(out, own, palette, false),
        }
    }
    let told: Vec<String> = idle
        .iter()
        .filter_map(|block| why_left_out(block))
        .collect();
    if !told.is_empty() {
        out.push(&format!(
            "<p class=\"remark left-out\">Figures left out: {}.</p>",
            told.join("; ")
        ));
    }
}

/// A figure that says nothing, and why, in a few words.
fn why_left_out(block: &Block) -> Option<String> {
    let Block::Figure(figure) = block else {
        return None;
    };
    let title = escape(&figure.title);
    says_nothing(figure).map(|why| format!("<em>{title}</em> ({})", escape(&why)))
}

/// A figure that is there for who looks for it.
fn folded(block: &Block) -> Option<&Figure> {
    match block {
        Block::Figure(figure) if figure.folded => Some(figure),
        _ => None,
    }
}
