//! A scatter with the ellipse of one standard deviation around the replications of each point.

use sojourn_report::Figure;
use sojourn_results::specs::FigureSpec;
use sojourn_results::stats;

use super::form::Form;
use super::frame::remark_cut;
use super::scatter::{self, clouds};
use crate::summary::wanted::Wanted;

pub(super) const FORM: Form = Form {
    check: scatter::check,
    draw: |wanted, spec| Ok(draw(wanted, spec)),
};

fn draw(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let (mut figure, clouds) = clouds(wanted, spec)?;
    let mut cut = 0;
    for cloud in clouds {
        figure.rows.extend(cloud.rows(wanted, spec, &cloud.pairs));
        if let Some(whole) = ellipse(&cloud.pairs) {
            let outline = within(&whole, cloud.bounds);
            cut += usize::from(outline != whole);
            figure.outlines.push(cloud.rows(wanted, spec, &outline));
        }
    }
    remark_cut(&mut figure, cut, "ellipse");
    Some(figure)
}

/// Points of an outline, none of them beyond the least and the greatest values that its quantities can have.
fn within(points: &[(f64, f64)], bounds: [(f64, f64); 2]) -> Vec<(f64, f64)> {
    let bounded = |value: f64, (least, greatest): (f64, f64)| value.max(least).min(greatest);
    let each = points.iter();
    each.map(|(x, y)| (bounded(*x, bounds[0]), bounded(*y, bounds[1])))
        .collect()
}

/// Points of an ellipse; they lie 7.5 degrees apart on the circle that it is made from.
const ELLIPSE_POINTS: usize = 48;
const TURN: (f64, f64) = (0.991_444_861_373_810_4, 0.130_526_192_220_051_6);

/// The ellipse of one standard deviation around the mean of pairs: where a two-dimensional normal distribution with their means,
/// variances and covariance has 1/sqrt(e) of its greatest density, as in RFC 7928 section 2.7 and the figures of Winstein and
/// Balakrishnan (TCP ex Machina, 2013). None of fewer than three pairs.
fn ellipse(pairs: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    if pairs.len() < 3 {
        return None;
    }
    let (xs, ys): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (x, y) = (stats::mean(&xs)?, stats::mean(&ys)?);
    // The Cholesky factor of the covariance matrix turns the unit circle into the ellipse.
    let right = stats::variance(&xs)?.sqrt();
    let slant = match right > 0.0 {
        true => stats::covariance(&xs, &ys)? / right,
        false => 0.0,
    };
    let up = (stats::variance(&ys)? - slant * slant).max(0.0).sqrt();
    let mut at = (1.0, 0.0);
    let points = (0..ELLIPSE_POINTS).map(|_| {
        let point = (x + right * at.0, y + slant * at.0 + up * at.1);
        at = (at.0 * TURN.0 - at.1 * TURN.1, at.0 * TURN.1 + at.1 * TURN.0);
        point
    });
    Some(points.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ellipse_of_pairs_has_their_mean_and_their_standard_deviations() {
        // Means 2 and 30, variances 1 and 100, covariance 5.
        let pairs = [(1.0, 30.0), (2.0, 20.0), (3.0, 40.0)];
        let points = ellipse(&pairs).unwrap();
        let most = |of: &dyn Fn(&(f64, f64)) -> f64| {
            points.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
        };
        assert!((most(&|p| p.0) - 3.0).abs() < 1e-9);
        // The points next to the highest of 40 are less than 3.75 degrees of the circle away from it.
        assert!((39.97..=40.0).contains(&most(&|p| p.1)));
        for (x, y) in &points {
            // The distance of Mahalanobis is 1 everywhere.
            let (u, v) = (x - 2.0, (y - 30.0) / 10.0);
            let distance = (u * u - u * v + v * v) / 0.75;
            assert!((distance - 1.0).abs() < 1e-9, "{x} {y}: {distance}");
        }
        assert_eq!(ellipse(&pairs[..2]), None);
    }

    #[test]
    fn an_ellipse_of_equal_values_is_a_line_or_a_point() {
        let flat = ellipse(&[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)]).unwrap();
        assert!(flat.iter().all(|p| (p.1 - 5.0).abs() < 1e-12));
        let upright = ellipse(&[(1.0, 4.0), (1.0, 5.0), (1.0, 6.0)]).unwrap();
        assert!(upright.iter().all(|p| (p.0 - 1.0).abs() < 1e-12));
        assert!(
            ellipse(&[(1.0, 1.0); 3])
                .unwrap()
                .iter()
                .all(|p| *p == (1.0, 1.0))
        );
    }
}
