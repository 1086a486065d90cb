//! One point per replication, y over x.

use sojourn_report::{Figure, Kind};
use sojourn_results::manifest::PointInfo;
use sojourn_results::metrics::Unit;
use sojourn_results::specs::FigureSpec;
use sojourn_scenario::error::Result;

use super::form::Form;
use super::frame::{Row, axis, frame, number, numbers, points, row_of};
use super::request::Request;
use crate::summary::wanted::Wanted;

pub(super) const FORM: Form = Form {
    check,
    draw: |wanted, spec| Ok(draw(wanted, spec)),
};

/// Two metrics.
pub(super) fn check(request: &mut Request<'_>) -> Result<()> {
    let spec = &request.spec;
    let remedy = "name a metric, such as x = \"sojourn_s_mean\"";
    request.required("x", &spec.x, remedy)?;
    let remedy = "name a metric, such as y = \"utilization_ratio\"";
    request.required("y", &spec.y, remedy)?;
    request.metric("x", &spec.x)?;
    request.metric("y", &spec.y)
}

fn draw(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let (mut figure, clouds) = clouds(wanted, spec)?;
    for cloud in clouds {
        figure.rows.extend(cloud.rows(wanted, spec, &cloud.pairs));
    }
    Some(figure)
}

/// The frame of a figure of one metric over another, with the pairs of the replications of each point.
pub(super) fn clouds<'a>(
    wanted: &Wanted<'a>,
    spec: &FigureSpec,
) -> Option<(Figure, Vec<Cloud<'a>>)> {
    let parse = |text: &Option<String>| wanted.parse(text.as_deref()?, spec.of.as_deref());
    let (x, y) = (parse(&spec.x)?, parse(&spec.y)?);
    let figure = frame(
        wanted,
        spec,
        Kind::Scatter,
        axis("x", &x.title(), x.unit().shown(), numbers(spec.x_scale)),
        axis("y", &y.title(), y.unit().shown(), numbers(spec.y_scale)),
    );
    let clouds = points(wanted, spec).into_iter().map(|point| {
        let pairs = wanted
            .values(point, &x)
            .into_iter()
            .zip(wanted.values(point, &y));
        let run = wanted.results.of_point(point.point).next();
        Cloud {
            point,
            pairs: pairs.filter_map(|(a, b)| Some((a?, b?))).collect(),
            units: [x.unit(), y.unit()],
            bounds: [x.bounds(run), y.bounds(run)],
        }
    });
    let clouds = clouds.collect();
    Some((figure, clouds))
}

/// The replications of a point.
pub(super) struct Cloud<'a> {
    point: &'a PointInfo,
    pub(super) pairs: Vec<(f64, f64)>,
    units: [Unit; 2],
    /// The least and the greatest value that each of both can have.
    pub(super) bounds: [(f64, f64); 2],
}

impl Cloud<'_> {
    /// The rows of some pairs of values.
    pub(super) fn rows(
        &self,
        wanted: &Wanted<'_>,
        spec: &FigureSpec,
        pairs: &[(f64, f64)],
    ) -> Vec<Row> {
        let [x, y] = self.units;
        let row = |&(a, b): &(f64, f64)| {
            let mut row = row_of(wanted, spec, self.point);
            row.insert("x".to_owned(), number(Some(a), x));
            row.insert("y".to_owned(), number(Some(b), y));
            row
        };
        pairs.iter().map(row).collect()
    }
}
