//! What is drawn where a study does not say.

use sojourn_results::manifest::FactorInfo;
use sojourn_results::specs::{AxisScale, FigureKind, FigureSpec, id};
use sojourn_scenario::error::Result;

use super::wanted::Wanted;
use crate::figure::bars::GOODPUT_BY_LABEL;
use crate::figure::quantity::{
    CAPACITY, MODES, OVER_TIME, PHASES, THRESHOLD, WITH_CAPACITY, WITH_THRESHOLD, is_of,
    title_and_unit,
};

/// Points of an experiment that are drawn in one figure of distributions without being asked for.
const MOST_DISTRIBUTIONS: usize = 8;
/// The remark on figures over time.
const CAPTION: &str = "The first replication.";

/// The usual figures of an experiment.
struct Usual<'a> {
    wanted: &'a Wanted<'a>,
    all: Vec<FigureSpec>,
}

/// What is drawn where a study does not say.
pub(super) fn usual(wanted: &Wanted<'_>) -> Result<Vec<FigureSpec>> {
    let mut usual = Usual {
        wanted,
        all: Vec::new(),
    };
    usual.over_factors();
    let factors = &wanted.experiment.factors;
    if factors.iter().all(|factor| factor.compare) && factors.len() <= 1 {
        usual.distributions();
        usual.all.push(FigureSpec {
            y: Some(GOODPUT_BY_LABEL.to_owned()),
            ..usual.figure("goodput", "Goodput", FigureKind::Bars)
        });
        usual.over_time()?;
    }
    Ok(usual.all)
}

impl Usual<'_> {
    fn figure(&self, name: &str, title: &str, kind: FigureKind) -> FigureSpec {
        let experiment = self.wanted.experiment;
        let compared = experiment.factors.iter().find(|factor| factor.compare);
        FigureSpec {
            id: id(&[&experiment.name, name]),
            title: title.to_owned(),
            kind,
            experiment: experiment.name.clone(),
            series: compared.map(|factor| factor.name.clone()),
            x_scale: AxisScale::Category,
            y_scale: AxisScale::Linear,
            ..FigureSpec::default()
        }
    }

    /// Metrics over a factor, with a panel for each level of a second one.
    fn over_factors(&mut self) {
        let factors = self.wanted.experiment.factors.iter();
        let others: Vec<&FactorInfo> = factors.filter(|factor| !factor.compare).collect();
        let (x, facet) = match others.as_slice() {
            [x] => (x, None),
            [x, facet] => (x, Some(facet.name.clone())),
            _ => return,
        };
        for (name, title, metric) in [
            ("sojourn", "Sojourn time, 95th percentile", "sojourn_s_p95"),
            ("utilization", "Utilization", "utilization_ratio"),
            ("loss", "Loss", "loss_ratio of bottleneck"),
        ] {
            self.all.push(FigureSpec {
                x: Some(x.name.clone()),
                y: Some(metric.to_owned()),
                facet: facet.clone(),
                ..self.figure(name, title, FigureKind::Points)
            });
        }
    }

    fn distributions(&mut self) {
        let cdf = |name: &str, title: &str, y: &str, what: &str| FigureSpec {
            caption: format!("Share of the {what} at most this long, over all replications."),
            y: Some(y.to_owned()),
            ..self.figure(name, title, FigureKind::Cdf)
        };
        let mut all = Vec::new();
        if self.wanted.points().len() <= MOST_DISTRIBUTIONS {
            let what = "packets that waited";
            all.push(cdf("sojourn-cdf", "Sojourn time", "sojourn_s", what));
        }
        let rows = self.wanted.rows();
        let metrics = rows.transfer_metrics();
        if metrics.contains(&"fct_s_mean") {
            let what = "transfers that took";
            all.push(FigureSpec {
                x_scale: AxisScale::Log,
                ..cdf("fct-cdf", "Flow completion time", "fct_s", what)
            });
            let title = "Slowdown by size, 99th percentile";
            all.push(FigureSpec {
                y: Some("slowdown_p99".to_owned()),
                y_scale: AxisScale::Log,
                ..self.figure("slowdown-sizes", title, FigureKind::Sizes)
            });
        } else if !metrics.is_empty() {
            let what = "pages that took";
            all.push(cdf("page-load-cdf", "Page load time", "page_load_s", what));
        } else if rows.has_probes() {
            let what = "requests that took";
            all.push(FigureSpec {
                x_scale: AxisScale::Log,
                ..cdf("latency-cdf", "Latency", "fct_s", what)
            });
        }
        self.all.extend(all);
    }

    fn over_time(&mut self) -> Result<()> {
        let over_time = |quantity: &str, title: &str, caption: String| FigureSpec {
            y: Some(quantity.to_owned()),
            caption,
            ..self.figure(
                &format!("{}-time", quantity.replace('_', "-")),
                title,
                FigureKind::Time,
            )
        };
        let mut all = Vec::new();
        for &(quantity, title) in OVER_TIME {
            let caption = match quantity {
                "phase" => format!("{CAPTION} {PHASES}"),
                WITH_THRESHOLD => format!("{CAPTION} Dashed: slow start thresholds."),
                _ => CAPTION.to_owned(),
            };
            all.push(over_time(quantity, title, caption));
        }
        // Whatever else was recorded, the states of disciplines and congestion controls above all.
        let recorded = recorded(self.wanted)?;
        let beside = |quantity: &String| WITH_CAPACITY.contains(&quantity.as_str());
        let capacity_is_shown = recorded.iter().any(beside);
        for quantity in recorded {
            let listed = OVER_TIME.iter().any(|(own, _)| *own == quantity)
                || quantity == THRESHOLD
                || (quantity == CAPACITY && capacity_is_shown);
            if !listed {
                let title = format!("{} over time", title_and_unit(&quantity).0);
                let caption = match quantity.as_str() {
                    "mode" => format!("{CAPTION} {MODES}"),
                    _ => CAPTION.to_owned(),
                };
                all.push(over_time(&quantity, &title, caption));
            }
        }
        self.all.extend(all);
        Ok(())
    }
}

/// The quantities that were recorded of what a usual figure shows, in the order in which they were.
fn recorded(wanted: &Wanted<'_>) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for point in wanted.points() {
        let run = wanted.results.of_point(point.point).next();
        for series in wanted.results.series(point.point, 0)? {
            if is_of(&series, None, run, &wanted.measured) && !found.contains(&series.quantity) {
                found.push(series.quantity);
            }
        }
    }
    Ok(found)
}
