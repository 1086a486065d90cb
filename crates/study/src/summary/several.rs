//! What is said below a table of metrics that are means over several flows.

use sojourn_results::asked::{Asked, Of};
use sojourn_results::manifest::PointInfo;
use sojourn_results::outcome::FlowOutcome;

use super::wanted::Wanted;

/// How a metric says of itself that it is one.
const MEAN: &str = "For several flows, the mean";

/// The metrics that are means over flows, where they are of several flows at any point; none where there is no such metric.
pub(super) fn line(wanted: &Wanted<'_>, points: &[&PointInfo], asked: &[Asked]) -> Option<String> {
    let mut titles: Vec<String> = Vec::new();
    for asked in asked {
        let title = asked.title();
        if asked.metric.doc.contains(MEAN)
            && !titles.contains(&title)
            && points
                .iter()
                .any(|point| flows(wanted, point, &asked.of) > 1)
        {
            titles.push(title);
        }
    }
    let (last, others) = titles.split_last()?;
    Some(match others {
        [] => format!("{last}: the mean over its flows."),
        others => format!("{} and {last}: means over their flows.", others.join("; ")),
    })
}

/// How many flows a metric is of in the first run of a point.
fn flows(wanted: &Wanted<'_>, point: &PointInfo, of: &Of) -> usize {
    let is_of = |flow: &&FlowOutcome| match of {
        Of::Forward => flow.forward,
        Of::Reverse => !flow.forward,
        Of::All => true,
        Of::Flows(name) => flow.label == *name,
        _ => false,
    };
    let run = wanted.results.of_point(point.point).next();
    run.map_or(0, |run| run.flows.iter().filter(is_of).count())
}
