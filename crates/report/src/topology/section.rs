//! The pictures of topologies in a report.

use super::model::Topology;
use super::svg::topology_svg;
use crate::markdown::escape;

/// The first picture, and the others in a fold; nothing where there is none. A title that is the page's own is not repeated.
pub(crate) fn section(topologies: &[Topology], page: &str) -> String {
    let [first, others @ ..] = topologies else {
        return String::new();
    };
    let figure = |topology: &Topology| figure(topology, page);
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

fn figure(topology: &Topology, page: &str) -> String {
    // In a page it is as wide as the text at most.
    let svg = topology_svg(topology).replacen(
        "<svg ",
        "<svg style=\"display:block;margin:0 auto;max-width:100%;height:auto\" ",
        1,
    );
    let title = match topology.title == page {
        true => String::new(),
        false => format!(" {}", escape(&topology.title)),
    };
    format!(
        "<figure class=\"topology\">\n{svg}<figcaption><p><strong>Topology.</strong>{title}</p></figcaption>\n</figure>\n"
    )
}
