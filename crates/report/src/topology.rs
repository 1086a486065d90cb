//! The picture of a topology, as papers draw it: nodes, links with rate, delay and queue, flows as coloured arrows along their links, the
//! members of multicast groups, and what changes over time. It is drawn directly as SVG, left to right, needs no fonts and no renderer, and
//! follows the reader's light or dark setting. The same topology always gives the same bytes.
//!
//! A topology of a scenario's builder is drawn as a row of routers with hosts at its ends. Any other graph is drawn in layers in the
//! direction of its flows. No text lies on another or on a node: what finds no free place is numbered and explained below the picture.

mod bands;
#[cfg(test)]
mod claims;
mod geometry;
mod labels;
mod layers;
mod layout;
mod legend;
mod link_text;
mod model;
mod order;
mod place;
mod ports;
mod row;
mod scene;
mod section;
mod svg;
mod text;

pub(crate) use geometry::Point;
pub use layout::places;
pub use model::{Flow, Form, Leg, Link, Node, NodeKind, Topology, Way};
pub use row::is_row;
pub(crate) use section::section;
pub(crate) use svg::stage;
pub use svg::{topology_stage, topology_svg};
pub use text::Values;
