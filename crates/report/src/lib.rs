//! Figures and the HTML report, from result files only. Nothing here runs a simulation, reads a clock or uses a network.
//!
//! [`render`] turns the `summary.json` of a result directory into
//!
//! - `report.html`, one file that opens without a network: text, sortable tables, interactive figures, light and
//!   dark, made to be printed too;
//! - `figures/<id>.vl.json` and `figures/<id>.dark.vl.json`, each figure as a Vega-Lite specification with its data
//!   inline, from which `vl-convert` draws SVG, PNG and PDF;
//! - `tables/<id>.csv` and `tables/<id>.md`, each table with full precision and as it is read.
//!
//! [`write_latex`] writes the same tables for a paper, and [`sheets`] lays them out for a spreadsheet.
//!
//! The same summary always gives the same bytes. Each file is written under a temporary name and renamed.
//!
//! # `summary.json`, schema version 1
//!
//! One JSON object. Keys marked `?` may be absent; any other key is an error, as is a key not listed here. *Markdown* is
//! paragraphs, emphasis, code, lists, quotations and links; HTML in it is shown as text. All other text is plain.
//!
//! ```text
//! schema_version  1
//! title           text
//! question?       text
//! answer?         {table?: id, figure?: id | [id, at most 3]}
//! differences?    [text], what results that are overlaid differ by
//! subtitle?       text
//! command         the command that repeats the runs
//! version         version of Sojourn that wrote the results
//! abstract?       [Markdown, one per paragraph]
//! topologies?     [Topology]
//! settings?       [{group, rows: [[key, value with unit], ...]}]
//! algorithms?     [{name, label, dialect, release?, params?: [{name, value, default: bool, source?}]}]
//! notes?          [{rule, severity: "warning" | "info", text: Markdown, help?: Markdown}]
//! blocks          [Block]
//!
//! Block           {type: "heading", text, level: 2 | 3 | 4}
//!                 {type: "text", markdown}
//!                 {type: "table", ...Table}
//!                 {type: "figure", ...Figure}
//!
//! Table           {id, title, caption?: Markdown,
//!                  columns: [{key, title, unit?, align?: "left" | "center" | "right"}],
//!                  rows: [[Cell, one per column]], footnotes?: [Markdown]}
//! Cell            null | text | number
//!                 | {value, half_width?, low?, high?, differs?: bool, n?, digits?, note?, deterministic?: bool, equal?: bool}
//!
//! Topology        {title, form: "row" | "graph",
//!                  nodes: [{name: Texts, kind: "host" | "router" | "gap", count?: Texts, member_of?: [flow]}],
//!                  links: [{from: node, to: node, forward: Way, reverse: Way}],
//!                  flows?: [{label: Texts, count?: Texts, kind: Texts, route?: text, legs: [{link, back?: bool}]}],
//!                  notes?: [text]}
//! Way             {rate: Texts, delay: Texts, queue?: Texts, measured?: bool}
//! Texts           [text], the values of all points
//!
//! Figure          {id, title, caption?: Markdown, kind, x: Axis, y: Axis,
//!                  series?: {field, title?, order?: [label]}, facet?: {field, title?},
//!                  slider?: {field, title, unit?, order?: [label]},
//!                  rows: [{field: text | number | null, ..., published?: bool, cut?: "low" | "high" | "both"}],
//!                  y_low?: field, y_high?: field, outlines?: [[row]], reference?: [{label, y}], thinned?: text}
//! kind            "bars" | "points" | "lines" | "range" | "boxes" | "cdf" | "time" | "scatter"
//! Axis            {field, title, unit?, scale?: "linear" | "log" | "category" | "time", order?: [label]}
//! ```
//!
//! - The page opens with the question and with what answers it: the table and the figures that `answer` names, or the first
//!   of each. Several figures stand in one row.
//! - An `id` names files and anchors: lower-case letters, digits, `-`, `_`; unique among tables, and among figures.
//! - Nodes, links and flows of a topology are named by their index.
//! - A field is a letter followed by letters, digits and underscores, and is in at least one row.
//! - A cell with a `half_width` prints two significant digits of it, and the value to the same place: `12.35 ± 0.42`.
//!   Where `low` and `high` lie unevenly around the value, it prints them instead: `12.35 [11.62, 13.40]`.
//!   `digits` (after the point) overrides that. A cell with `differs: true` has a `*`. With `n` below 2, `deterministic` or `equal` (every replication has this
//!   value), it stands alone and the table says why.
//! - A row with `published: true`, and every row of a series called `published` or `published ...`, is drawn hollow;
//!   such a series is grey.
//! - An interval that reaches far beyond the values is drawn as far as the axis goes, with an arrow; so is one whose row says with `cut`
//!   that an end reaches beyond what is possible.
//! - `y_low` and `y_high` come together. They are the whiskers of `bars`, `points` and `scatter`, the band of `lines`,
//!   `cdf` and `time`, and the ends of the bars of `range`, whose `y` may be null. `boxes` has boxes from `q1` to `q3` between them.
//! - `outlines` are closed curves of a `scatter`: each row is a point of the curve, with the fields that rows of the figure have.
//! - Of a figure with a `slider`, the page shows one level at a time, a picture and paper the middle one; all have the same scales.
//! - `cdf` draws steps that hold their value to the next point; `y` runs from 0 to 1.
//! - Category labels may be numbers; `2`, `2.0` and `"2"` are the same label.
//! - A logarithmic axis leaves out values at or below zero, and bars of `range` that begin
//!   there; the caption says how many.
//! - `steps` draws `time` as steps, too: for states, and for what is constant between changes.
//! - Figures that are `folded` and follow each other lie in one fold of the page, closed at first.
//! - `thinned` says how a long series was thinned and how many intervals are cut; it is printed under the caption.

mod algorithm;
mod error;
mod figure;
mod grid;
mod html;
pub mod ids;
pub mod intervals;
mod kind;
mod latex;
mod load;
mod markdown;
mod number;
mod overlay;
mod palette;
mod paper;
mod picture;
mod plain;
pub mod plane;
pub mod play;
mod render;
mod sheets;
mod summary;
mod table;
pub mod topology;

pub use algorithm::{algorithm, algorithms};
pub use error::ReportError;
pub use figure::{vega_lite, vega_lite_with};
pub use grid::{Grid, GridColumn, wrapped};
pub use html::STYLE;
pub use kind::Kind;
pub use latex::{Latex, latex};
pub use load::{ID_RULE, SUMMARY_FILE, is_id, load};
pub use markdown::escape;
pub use overlay::{Labelled, overlay};
pub use palette::{Palette, Theme, catalogue_name};
pub use paper::{LATEX_FOLDER, NUMBERS_FILE, SPREADSHEET_FILE, WrittenLatex, write_latex};
pub use picture::{Drawn, Panel, Picture, svg};
pub use plain::{csv_cell, shell_word};
pub use render::{Rendered, render};
pub use sheets::{Sheet, SheetCell, sheets};
pub use summary::{
    ANSWER_FIGURES, Algorithm, Align, Answer, Axis, Block, Cell, Column, Estimate, Facet, Figure,
    Heading, Note, Param, Reference, SCHEMA_VERSION, Scale, Series, SettingGroup, Severity, Slider,
    Summary, Table, Text,
};
pub use table::{MINUS, csv_table, markdown_table, text_table, text_table_within};
