//! The pictures of topologies in a report.

use super::model::Topology;
use super::svg::topology_svg;
use crate::markdown::escape;

/// The first picture, and the others in a fold; nothing where there is none.
pub(crate) fn section(topologies: &[Topology]) -> String {
    let [first, others @ ..] = topologies else {
        return String::new();
    };
    let mut html = figure(first);
    if !others.is_empty() {
        let titles: Vec<String> = others.iter().map(|other| escape(&other.title)).collect();
        let more = match others.len() {
            1 => "One more topology".to_owned(),
            more => format!("{more} more topologies"),
        };
        html.push_str(&format!(
            "<details class=\"fold\"><summary><strong>{more}</strong> {}</summary>\n",
            titles.join("; ")
        ));
        html.extend(others.iter().map(figure));
        html.push_str("</details>\n");
    }
    html
}

fn figure(topology: &Topology) -> String {
    // In a page it is as wide as the text at most.
    let svg = topology_svg(topology).replacen(
        "<svg ",
        "<svg style=\"display:block;margin:0 auto;max-width:100%;height:auto\" ",
        1,
    );
    format!(
        "<figure class=\"topology\">\n{svg}<figcaption><p><strong>Topology.</strong> {}</p></figcaption>\n</figure>\n",
        escape(&topology.title)
    )
}
