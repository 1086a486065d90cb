//! How large transfers are, and of how many objects a page is made.
//!
//! Sources of the two empirical distributions: M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010 (web search), and
//! A. Greenberg et al., "VL2: a scalable and flexible data center network", SIGCOMM 2009 (data mining), both as M. Alizadeh et
//! al., "pFabric: minimal near-optimal datacenter transport", SIGCOMM 2013, section 5.1, simulates them: the points of the
//! ns-2 scripts that later studies share (`CDF_dctcp.tcl`, `CDF_vl2.tcl`), whose means they state as 1 711 250 and
//! 12 658 199 bytes.

use crate::entry::wrong;
use crate::num::real;
use crate::points;
use sojourn_sim::Stream;
use sojourn_units::{
    Bytes, ParamError, ParamInfo, ParamValue, Params, Spec, UnitErrorKind, nearest, params,
};

params! {
    /// Always the same size.
    pub struct FixedParams {
        /// The size.
        bytes: Bytes = "100kB", range "1B".., source "Sojourn's choice";
    }
}

params! {
    /// Exponential, in whole bytes.
    pub struct ExponentialParams {
        /// Mean size.
        mean: Bytes = "100kB", range "1B".., source "Sojourn's choice";
    }
}

params! {
    /// Pareto: many small, few very large.
    pub struct ParetoParams {
        /// Mean size.
        mean: Bytes = "100kB", range "1B".., source "Sojourn's choice";
        /// Shape; the variance is infinite up to 2.
        shape: f64 = "1.2", range "1.001".."100", source "Crovella and Bestavros 1997 (1.1 to 1.3 for files of the web)";
    }
}

params! {
    /// Pareto between two bounds.
    pub struct BoundedParetoParams {
        /// Least size.
        min: Bytes = "1kB", range "1B".., source "Sojourn's choice";
        /// Greatest size.
        max: Bytes = "100MB", range "1B".., source "Sojourn's choice";
        /// Shape.
        shape: f64 = "1.2", range "0.01".."100", source "Crovella and Bestavros 1997 (1.1 to 1.3 for files of the web)";
    }
}

params! {
    /// Lognormal; a draw outside the bounds is drawn again.
    pub struct LognormalParams {
        /// Median size.
        median: Bytes = "10kB", range "1B".., source "Sojourn's choice";
        /// Standard deviation of the logarithm.
        sigma: f64 = "1", range "0".."10", source "Sojourn's choice";
        /// Least size.
        min: Bytes = "1B", range "1B".., source "no bound";
        /// Greatest size.
        max: Bytes = "1000GB", range "1B".., source "no bound";
    }
}

params! {
    /// Points of a distribution function, linear between them.
    pub struct EmpiricalParams {
        /// Sizes in bytes with the share of transfers that are no larger, such as `0:0,10000:0.15,30000:1`; shares that end at 100
        /// are percent.
        points: String = "", source "required, here or in a file";
        /// File with a size and a share on each line, in the folder of the scenario; read into `points`.
        file: String = "", source "points";
    }
}

params! {
    /// Sizes of a data centre's web search (Alizadeh et al. 2010, as in pFabric), mean 1.71 MB.
    pub struct WebSearchParams {}
}

params! {
    /// Sizes of a data centre's data mining (Greenberg et al. 2009, as in pFabric), mean 12.7 MB.
    pub struct DataMiningParams {}
}

/// Bytes, and the share of transfers that are no larger.
const WEB_SEARCH: &[(f64, f64)] = &[
    (0.0, 0.0),
    (10_000.0, 0.15),
    (20_000.0, 0.2),
    (30_000.0, 0.3),
    (50_000.0, 0.4),
    (80_000.0, 0.53),
    (200_000.0, 0.6),
    (1_000_000.0, 0.7),
    (2_000_000.0, 0.8),
    (5_000_000.0, 0.9),
    (10_000_000.0, 0.97),
    (30_000_000.0, 1.0),
];

const DATA_MINING: &[(f64, f64)] = &[
    (0.0, 0.0),
    (180.0, 0.1),
    (216.0, 0.2),
    (560.0, 0.3),
    (900.0, 0.4),
    (1_100.0, 0.5),
    (1_870.0, 0.6),
    (3_160.0, 0.7),
    (10_000.0, 0.8),
    (400_000.0, 0.9),
    (3_160_000.0, 0.95),
    (100_000_000.0, 0.98),
    (1_000_000_000.0, 1.0),
];

/// A distribution of sizes that specifications may name.
#[derive(Clone, Copy, Debug)]
pub struct Distribution {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
}

const fn listed<P: Params>(name: &'static str) -> Distribution {
    Distribution {
        name,
        doc: P::DOC,
        params: P::TABLE,
    }
}

/// Every distribution of sizes.
pub const DISTRIBUTIONS: &[Distribution] = &[
    listed::<FixedParams>("fixed"),
    listed::<ExponentialParams>("exponential"),
    listed::<ParetoParams>("pareto"),
    listed::<BoundedParetoParams>("bounded_pareto"),
    listed::<LognormalParams>("lognormal"),
    listed::<EmpiricalParams>("empirical"),
    listed::<WebSearchParams>("web_search"),
    listed::<DataMiningParams>("data_mining"),
];

/// How large transfers are.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// Always the same.
    Fixed(u64),
    /// Exponential with this mean, in whole bytes, and the mean of what is rounded to them.
    Exponential(f64, f64),
    /// Pareto with mean and shape.
    Pareto(f64, f64),
    /// Pareto between bounds, with a shape.
    Bounded(f64, f64, f64),
    /// Lognormal: median, standard deviation of the logarithm, bounds.
    Lognormal(f64, f64, f64, f64),
    /// Points of the distribution function.
    Empirical(Vec<(f64, f64)>),
}

impl Sizes {
    /// The distribution that a specification names; `key` is the parameter that it is given by.
    ///
    /// # Errors
    /// If there is none of that name, or a parameter cannot be.
    pub fn of(key: &str, spec: &Spec) -> Result<Sizes, ParamError> {
        let sizes = Sizes::read(spec).map_err(|error| error.within(key))?;
        sizes.ok_or_else(|| {
            let names = DISTRIBUTIONS.iter().map(|d| d.name);
            unknown(key, &spec.name, "a distribution of sizes", names)
        })
    }

    /// None if there is no distribution of that name.
    fn read(spec: &Spec) -> Result<Option<Sizes>, ParamError> {
        let pairs = spec.pairs();
        Ok(Some(match spec.name.as_str() {
            "fixed" => {
                let params: FixedParams = sojourn_units::build(None, &pairs)?;
                Sizes::Fixed(params.bytes.get())
            }
            "exponential" => {
                let params: ExponentialParams = sojourn_units::build(None, &pairs)?;
                let mean = real(params.mean.get());
                Sizes::Exponential(mean, before_rounding(mean))
            }
            "pareto" => {
                let params: ParetoParams = sojourn_units::build(None, &pairs)?;
                Sizes::Pareto(real(params.mean.get()), params.shape)
            }
            "bounded_pareto" => {
                let params: BoundedParetoParams = sojourn_units::build(None, &pairs)?;
                ordered(params.min, params.max)?;
                Sizes::Bounded(real(params.min.get()), real(params.max.get()), params.shape)
            }
            "lognormal" => {
                let params: LognormalParams = sojourn_units::build(None, &pairs)?;
                ordered(params.min, params.max)?;
                if params.median < params.min || params.median > params.max {
                    return Err(wrong(
                        "median",
                        UnitErrorKind::TooLarge,
                        &params.median.to_string(),
                        &format!("between {} and {}", params.min, params.max),
                        "move the median or the bounds, so that draws lie between them",
                    ));
                }
                let bounds = (real(params.min.get()), real(params.max.get()));
                Sizes::Lognormal(real(params.median.get()), params.sigma, bounds.0, bounds.1)
            }
            "empirical" => {
                let params: EmpiricalParams = sojourn_units::build(None, &pairs)?;
                if !params.file.is_empty() {
                    return Err(unread(&params.file));
                }
                Sizes::Empirical(points(&params.points)?)
            }
            "web_search" => {
                let _: WebSearchParams = sojourn_units::build(None, &pairs)?;
                Sizes::Empirical(WEB_SEARCH.to_vec())
            }
            "data_mining" => {
                let _: DataMiningParams = sojourn_units::build(None, &pairs)?;
                Sizes::Empirical(DATA_MINING.to_vec())
            }
            _ => return Ok(None),
        }))
    }

    /// The mean of what is drawn, bytes: that of the distribution, but where so much of it lies near zero that rounding to whole bytes,
    /// and to one at least, moves it.
    pub fn drawn_mean(&self) -> f64 {
        let mean = self.mean();
        let moved = self.moved_by_rounding();
        match moved.abs() < NOT_WORTH * mean {
            true => mean,
            false => mean + moved,
        }
    }

    /// By how much rounding moves the mean. A mean is the integral of the share of sizes above x over all x; that of rounded sizes is the
    /// sum of the shares above n + 1/2, with 1 for n = 0. Beyond [`NEAR_ZERO`] bytes the two do not differ.
    fn moved_by_rounding(&self) -> f64 {
        const PARTS: u32 = 16;
        let cell = |n: u32| -> f64 {
            let middle = |part: u32| f64::from(n) + (f64::from(part) + 0.5) / f64::from(PARTS);
            let sum: f64 = (0..PARTS).map(|part| self.share_above(middle(part))).sum();
            sum / f64::from(PARTS)
        };
        let rounded = |n: u32| match n {
            0 => 1.0,
            n => self.share_above(f64::from(n) + 0.5),
        };
        match self {
            Sizes::Fixed(_) | Sizes::Exponential(..) => 0.0,
            _ => (0..NEAR_ZERO).map(|n| rounded(n) - cell(n)).sum(),
        }
    }

    /// The share of sizes above `bytes`, before they are rounded.
    fn share_above(&self, bytes: f64) -> f64 {
        match self {
            Sizes::Fixed(fixed) => f64::from(u8::from(bytes < real(*fixed))),
            Sizes::Exponential(_, mean) => libm::exp(-bytes / mean),
            Sizes::Pareto(mean, shape) => {
                let scale = mean * (shape - 1.0) / shape;
                libm::pow(scale / bytes, *shape).min(1.0)
            }
            Sizes::Bounded(min, max, shape) => {
                let above = |bytes: f64| libm::pow(min / bytes, *shape);
                let share = (above(bytes) - above(*max)) / (1.0 - above(*max));
                share.clamp(0.0, 1.0)
            }
            Sizes::Lognormal(median, sigma, min, max) => {
                if *sigma == 0.0 {
                    return f64::from(u8::from(bytes < *median));
                }
                let below = |bytes: f64| normal(libm::log(bytes / median) / sigma);
                let share = (below(*max) - below(bytes)) / (below(*max) - below(*min));
                share.clamp(0.0, 1.0)
            }
            Sizes::Empirical(points) => {
                let next = points.partition_point(|point| point.0 <= bytes);
                match (points.get(next.wrapping_sub(1)), points.get(next)) {
                    (Some(low), Some(high)) => {
                        let way = (bytes - low.0) / (high.0 - low.0);
                        1.0 - low.1 - way * (high.1 - low.1)
                    }
                    (None, Some(_)) => 1.0,
                    (_, None) => 0.0,
                }
            }
        }
    }

    /// The mean of the distribution, bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(bytes) => real(*bytes),
            Sizes::Exponential(mean, _) | Sizes::Pareto(mean, _) => *mean,
            Sizes::Bounded(min, max, shape) => bounded_mean(*min, *max, *shape),
            Sizes::Lognormal(median, sigma, min, max) => {
                if *sigma == 0.0 {
                    return *median;
                }
                let mu = libm::log(*median);
                let at = |bytes: f64| (libm::log(bytes) - mu) / sigma;
                let (low, high) = (at(*min), at(*max));
                let whole = libm::exp(mu + sigma * sigma / 2.0);
                whole * (normal(high - sigma) - normal(low - sigma)) / (normal(high) - normal(low))
            }
            Sizes::Empirical(points) => points
                .windows(2)
                .map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0)
                .sum(),
        }
    }

    /// A size: at least one byte.
    pub fn draw(&self, rng: &mut Stream) -> u64 {
        let bytes = match self {
            Sizes::Fixed(bytes) => return *bytes,
            Sizes::Exponential(_, mean) => rng.exponential(*mean),
            Sizes::Pareto(mean, shape) => rng.pareto(*mean, *shape),
            Sizes::Bounded(min, max, shape) => {
                let part = rng.uniform() * (1.0 - libm::pow(min / max, *shape));
                min * libm::pow(1.0 - part, -1.0 / shape)
            }
            Sizes::Lognormal(median, sigma, min, max) => loop {
                let bytes = median * libm::exp(sigma * rng.normal());
                if bytes >= *min && bytes <= *max {
                    break bytes;
                }
            },
            Sizes::Empirical(points) => {
                let share = rng.uniform();
                let next = points.partition_point(|point| point.1 <= share);
                match (points.get(next.wrapping_sub(1)), points.get(next)) {
                    (Some(low), Some(high)) => {
                        low.0 + (high.0 - low.0) * (share - low.1) / (high.1 - low.1)
                    }
                    (_, Some(only)) | (Some(only), None) => only.0,
                    (None, None) => 1.0,
                }
            }
        };
        whole(bytes)
    }
}

/// The last share where shares are percent.
const PERCENT: f64 = 100.0;

/// Points of a distribution function from their text. Shares go up to 1, or to 100, as in the files of HPCC
/// (<https://github.com/alibaba-edu/High-Precision-Congestion-Control>, `traffic_gen`): the last one tells.
fn points(text: &str) -> Result<Vec<(f64, f64)>, ParamError> {
    let remedy = "write sizes in bytes with shares from 0 to 1 or percent from 0 to 100, both growing, such as 0:0,10000:0.15,30000:1";
    let pairs = points::pairs(text, "a point of a distribution", remedy, |bytes, share| {
        let (bytes, share): (f64, f64) = (bytes.parse().ok()?, share.parse().ok()?);
        ((0.0..1e18).contains(&bytes) && (0.0..=PERCENT).contains(&share)).then_some((bytes, share))
    })?;
    let falls = |pair: &&[((f64, f64), &str)]| {
        let ((before, _), (point, _)) = (pair[0], pair[1]);
        point.0 < before.0 || point.1 < before.1
    };
    if let Some(pair) = pairs.windows(2).find(falls) {
        let expected = "a point beyond the one before";
        return Err(points::refused(pair[1].1, expected, remedy));
    }
    let mut all: Vec<(f64, f64)> = pairs.into_iter().map(|(point, _)| point).collect();
    if all.last().is_some_and(|last| last.1 == PERCENT) {
        for (_, share) in &mut all {
            *share /= PERCENT;
        }
    }
    let expected = match all.last() {
        Some(last) if last.1 == 1.0 && last.0 > 0.0 => None,
        Some(_) => Some("a distribution that ends at 1, or at 100 percent"),
        None => Some("a distribution"),
    };
    if let Some(expected) = expected {
        return Err(points::refused(text, expected, remedy));
    }
    if all.first().is_some_and(|first| first.1 > 0.0) {
        // Nothing is said of sizes below: they are the first one.
        let first = (all[0].0, 0.0);
        all.insert(0, first);
    }
    Ok(all)
}

/// The `points` of a file: a size and a share on each line, between them spaces, commas or tabs; the last column is the share, so
/// that files of ns-2 and pFabric (size, 1, share) are read, too. A first line with one number is the mean, as in the files of Homa
/// (<https://github.com/PlatformLab/HomaSimulation>, `sizeDistributions`), and is passed over. Lines that begin with `#` are
/// comments.
///
/// # Errors
/// With the number and text of a line that is none of these.
pub fn points_of_file(text: &str) -> Result<String, String> {
    let mut lines: Vec<&str> = text.lines().map(str::trim).collect();
    let first = lines
        .iter_mut()
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    if let Some(line) = first
        && line.parse::<f64>().is_ok()
    {
        *line = "";
    }
    points::of_lines(&lines.join("\n"), "a size and a share", |words| {
        let numbers: Option<Vec<f64>> = words.iter().map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some([bytes, .., share]) => Some(format!("{bytes}:{share}")),
            _ => None,
        }
    })
}

/// A file that was named where no files are read.
pub(super) fn unread(file: &str) -> ParamError {
    wrong(
        "file",
        UnitErrorKind::Malformed,
        file,
        "read here",
        "files are read for scenarios that lie in a folder; write its content into points",
    )
}

pub(super) fn unknown(
    key: &str,
    given: &str,
    what: &str,
    names: impl Iterator<Item = &'static str> + Clone,
) -> ParamError {
    let list: Vec<&str> = names.clone().collect();
    let remedy = match nearest(given, names) {
        Some(near) => format!("did you mean {near:?}? (there are: {})", list.join(", ")),
        None => format!("choose one of {}", list.join(", ")),
    };
    wrong(key, UnitErrorKind::UnknownChoice, given, what, remedy)
}

fn ordered(min: Bytes, max: Bytes) -> Result<(), ParamError> {
    if min < max {
        return Ok(());
    }
    Err(wrong(
        "min",
        UnitErrorKind::TooLarge,
        &min.to_string(),
        &format!("below max, {max}"),
        "make it smaller, or max larger",
    ))
}

/// Bytes above which rounding to whole ones moves no mean.
const NEAR_ZERO: u32 = 64;

/// A move of the mean, as a part of it, that nothing can tell.
const NOT_WORTH: f64 = 1e-6;

/// The mean of an exponential distribution that has this mean once it is rounded to whole bytes, and to one at least: that of the rounded
/// sizes is 1 + exp(-3 / 2m) / (1 - exp(-1 / m)) where m is the mean before. One byte is the least.
fn before_rounding(mean: f64) -> f64 {
    let rounded = |m: f64| 1.0 - libm::exp(-1.5 / m) / libm::expm1(-1.0 / m);
    if mean - rounded(mean) == 0.0 {
        return mean;
    }
    let (mut low, mut high) = (1e-3, mean);
    if mean <= rounded(low) {
        return 0.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        match rounded(middle) < mean {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

fn bounded_mean(min: f64, max: f64, shape: f64) -> f64 {
    if (shape - 1.0).abs() < 1e-9 {
        return max * min / (max - min) * libm::log(max / min);
    }
    let norm = libm::pow(min, shape) / (1.0 - libm::pow(min / max, shape));
    norm * shape / (shape - 1.0) * (libm::pow(min, 1.0 - shape) - libm::pow(max, 1.0 - shape))
}

/// The normal distribution function.
pub(super) fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Of how many parts something is made.
#[derive(Clone, PartialEq, Debug)]
pub enum Counts {
    /// Always the same.
    Fixed(u64),
    /// Uniform between two numbers, both included.
    Uniform(u64, u64),
    /// Geometric from zero, with this mean.
    Geometric(f64),
}

params! {
    /// Always the same number.
    pub struct FixedCountParams {
        /// The number.
        n: u64 = "10", range "0".."100000", source "Sojourn's choice";
    }
}

params! {
    /// Uniform between two numbers.
    pub struct UniformCountParams {
        /// The least.
        min: u64 = "0", range "0".."100000", source "Sojourn's choice";
        /// The greatest.
        max: u64 = "20", range "0".."100000", source "Sojourn's choice";
    }
}

params! {
    /// Geometric from zero.
    pub struct GeometricCountParams {
        /// The mean.
        mean: f64 = "10", range "0".."100000", source "Sojourn's choice";
    }
}

/// Every distribution of numbers.
pub const COUNTS: &[Distribution] = &[
    listed::<FixedCountParams>("fixed"),
    listed::<UniformCountParams>("uniform"),
    listed::<GeometricCountParams>("geometric"),
];

impl Counts {
    /// The mean of the distribution.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Counts::Fixed(n) => real(*n),
            Counts::Uniform(min, max) => (real(*min) + real(*max)) / 2.0,
            Counts::Geometric(mean) => *mean,
        }
    }

    /// The distribution that a specification names; `key` is the parameter that it is given by.
    ///
    /// # Errors
    /// If there is none of that name, or a parameter cannot be.
    pub fn of(key: &str, spec: &Spec) -> Result<Counts, ParamError> {
        let counts = Counts::read(spec).map_err(|error| error.within(key))?;
        counts.ok_or_else(|| {
            let names = COUNTS.iter().map(|d| d.name);
            unknown(key, &spec.name, "a distribution of numbers", names)
        })
    }

    /// None if there is no distribution of that name.
    fn read(spec: &Spec) -> Result<Option<Counts>, ParamError> {
        let pairs = spec.pairs();
        Ok(Some(match spec.name.as_str() {
            "fixed" => {
                let params: FixedCountParams = sojourn_units::build(None, &pairs)?;
                Counts::Fixed(params.n)
            }
            "uniform" => {
                let params: UniformCountParams = sojourn_units::build(None, &pairs)?;
                if params.min > params.max {
                    return Err(wrong(
                        "min",
                        UnitErrorKind::TooLarge,
                        &params.min.to_string(),
                        &format!("at most max, {}", params.max),
                        "make it smaller, or max larger",
                    ));
                }
                Counts::Uniform(params.min, params.max)
            }
            "geometric" => {
                let params: GeometricCountParams = sojourn_units::build(None, &pairs)?;
                Counts::Geometric(params.mean)
            }
            _ => return Ok(None),
        }))
    }

    /// A number.
    pub fn draw(&self, rng: &mut Stream) -> u64 {
        match self {
            Counts::Fixed(n) => *n,
            Counts::Uniform(min, max) => min + rng.below(max - min + 1),
            Counts::Geometric(mean) if *mean > 0.0 => {
                let stay = mean / (1.0 + mean);
                floor(libm::log(rng.uniform_above_zero()) / libm::log(stay))
            }
            Counts::Geometric(_) => 0,
        }
    }
}

#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and 10^18"
)]
pub(super) fn whole(bytes: f64) -> u64 {
    (bytes + 0.5).clamp(1.0, 1e18) as u64
}

#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 10^6"
)]
fn floor(value: f64) -> u64 {
    value.clamp(0.0, 1e6) as u64
}

/// A spec in the text of a parameter.
pub(super) fn spec_of(key: &str, text: &str) -> Result<Spec, ParamError> {
    Spec::parse_text(text).map_err(|error| ParamError::BadValue {
        key: key.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_inside_a_distribution_has_the_path_of_its_parameter() {
        let spec = |text: &str| text.parse::<Spec>().unwrap();
        let error = Counts::of("objects", &spec("fixed count=50")).unwrap_err();
        assert_eq!(error.key(), "objects.count");
        assert_eq!(
            error.to_string(),
            "objects: unknown parameter \"count\" (parameters: n)"
        );
        let error = Sizes::of("sizes", &spec("pareto mean=1ms")).unwrap_err();
        assert_eq!(error.key(), "sizes.mean");
        let error = Sizes::of("sizes", &spec("paretto")).unwrap_err();
        assert_eq!(error.key(), "sizes");
    }
    use sojourn_units::check_declaration;

    fn sizes(text: &str) -> Sizes {
        Sizes::of("sizes", &text.parse().unwrap()).unwrap()
    }

    #[test]
    fn the_declarations_hold_together() {
        assert_eq!(check_declaration::<FixedParams>(), Ok(()));
        assert_eq!(check_declaration::<ExponentialParams>(), Ok(()));
        assert_eq!(check_declaration::<ParetoParams>(), Ok(()));
        assert_eq!(check_declaration::<BoundedParetoParams>(), Ok(()));
        assert_eq!(check_declaration::<LognormalParams>(), Ok(()));
        assert_eq!(check_declaration::<EmpiricalParams>(), Ok(()));
        assert_eq!(check_declaration::<FixedCountParams>(), Ok(()));
        assert_eq!(check_declaration::<UniformCountParams>(), Ok(()));
        assert_eq!(check_declaration::<GeometricCountParams>(), Ok(()));
    }

    #[test]
    fn the_named_distributions_have_the_means_that_studies_state() {
        assert_eq!(sizes("web_search").mean().round(), 1_711_250.0);
        assert_eq!(sizes("data_mining").mean().round(), 12_658_199.0);
    }

    #[test]
    fn draws_have_the_mean_and_the_bounds_of_their_distribution() {
        let mut rng = Stream::derive(1, 0, "sizes");
        for (spec, tolerance) in [
            ("fixed bytes=1234B", 1e-12),
            ("exponential mean=50kB", 0.01),
            ("pareto mean=50kB shape=2.5", 0.02),
            ("bounded_pareto min=1kB max=10MB shape=1.2", 0.03),
            ("bounded_pareto min=1kB max=1MB shape=1", 0.02),
            ("lognormal median=4316B sigma=1.37 min=100B max=2MB", 0.02),
            ("lognormal median=10kB sigma=0", 1e-3),
            ("web_search", 0.01),
        ] {
            let law = sizes(spec);
            let draws: Vec<u64> = (0..200_000).map(|_| law.draw(&mut rng)).collect();
            let mean = draws.iter().map(|b| real(*b)).sum::<f64>() / 200_000.0;
            let off = (mean / law.mean() - 1.0).abs();
            assert!(off <= tolerance, "{spec}: {mean} against {}", law.mean());
            let least = draws.iter().min().unwrap();
            match law {
                Sizes::Bounded(min, max, _) | Sizes::Lognormal(_, _, min, max) => {
                    let most = draws.iter().max().unwrap();
                    assert!(real(*least) >= min && real(*most) <= max, "{spec}");
                }
                _ => assert!(*least >= 1, "{spec}"),
            }
        }
    }

    #[test]
    fn rounding_to_whole_bytes_does_not_move_the_mean_that_loads_reckon_with() {
        let mut rng = Stream::derive(1, 0, "sizes");
        for (spec, moves) in [
            ("fixed bytes=1B", false),
            ("exponential mean=1B", false),
            ("exponential mean=3B", false),
            ("exponential mean=40B", false),
            ("pareto mean=5B shape=3.5", true),
            ("pareto mean=100kB shape=3.5", false),
            ("bounded_pareto min=1B max=20B shape=1.2", true),
            ("lognormal median=2B sigma=0.7", true),
            ("lognormal median=3B sigma=0", false),
            ("empirical points=\"0:0,1:0.5,7:1\"", true),
            ("web_search", false),
        ] {
            let law = sizes(spec);
            let n = 400_000;
            let draws: Vec<f64> = (0..n).map(|_| real(law.draw(&mut rng))).collect();
            let mean = draws.iter().sum::<f64>() / real(n);
            let variance = draws.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>() / real(n);
            let off = mean - law.drawn_mean();
            assert!(
                off.abs() <= 4.0 * (variance / real(n)).sqrt() + 1e-9,
                "{spec}: {mean} against {}",
                law.drawn_mean()
            );
            assert_eq!(moves, law.drawn_mean() != law.mean(), "{spec}");
        }
    }

    #[test]
    fn a_large_exponential_size_is_drawn_as_it_was_asked_for() {
        for mean in [1e3, 1e5, 1e9] {
            let before = before_rounding(mean);
            assert!((before / mean - 1.0).abs() < 1e-6, "{mean}: {before}");
        }
    }

    #[test]
    fn an_empirical_distribution_gives_its_shares() {
        let law = sizes("empirical points=\"0:0,1000:0.5,9000:1\"");
        let mut rng = Stream::derive(1, 0, "sizes");
        let small = (0..100_000).filter(|_| law.draw(&mut rng) <= 1000).count();
        assert!((49_500..50_500).contains(&small), "{small}");
        assert_eq!(law.mean(), 0.5 * 500.0 + 0.5 * 5000.0);
        // What begins above zero begins with its first size.
        let law = sizes("empirical points=\"700:0.25,700:1\"");
        assert_eq!((law.draw(&mut rng), law.mean()), (700, 700.0));
    }

    #[test]
    fn files_of_two_or_three_columns_are_read() {
        let text = "# bytes share\n0 0\n10000 0.15\n\n30000,1\n";
        assert_eq!(points_of_file(text).unwrap(), "0:0,10000:0.15,30000:1");
        assert_eq!(
            points_of_file("1460 1 0.5\n2920 1 1\n").unwrap(),
            "1460:0.5,2920:1"
        );
        let error = points_of_file("10 0.5\nten 1\n").unwrap_err();
        assert_eq!(error, "line 2, \"ten 1\", is not a size and a share");
    }

    #[test]
    fn shares_that_end_at_100_are_percent() {
        // The file WebSearch_distribution.txt of HPCC: the same points as ours, in percent.
        let file = "0 0\n10000 15\n20000 20\n30000 30\n50000 40\n80000 53\n200000 60\n1000000 70\n2000000 80\n5000000 90\n10000000 97\n30000000 100\n";
        let text = format!("empirical points=\"{}\"", points_of_file(file).unwrap());
        assert_eq!(sizes(&text), Sizes::Empirical(WEB_SEARCH.to_vec()));
        assert_eq!(sizes(&text), sizes("web_search"));
        let refused = |points: &str| {
            let spec = format!("empirical points=\"{points}\"").parse().unwrap();
            Sizes::of("sizes", &spec).unwrap_err().to_string()
        };
        assert!(refused("0:0,10:50").contains("ends at 1, or at 100 percent"));
        assert!(refused("0:0,10:101").contains("not a point of a distribution"));
    }

    #[test]
    fn the_mean_in_the_first_line_of_a_file_of_homa_is_passed_over() {
        // The first and last lines of Google_SearchRPC.txt of HomaSimulation.
        let file = "440.7907\n1 0\n2 0.0756033901818394\n3529904 1\n";
        assert_eq!(
            points_of_file(file).unwrap(),
            "1:0,2:0.0756033901818394,3529904:1"
        );
        let error = points_of_file("440.7907\n1 0\n2\n").unwrap_err();
        assert_eq!(error, "line 3, \"2\", is not a size and a share");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_nearest_name() {
        let refused = |text: &str| {
            let error = Sizes::of("sizes", &text.parse().unwrap()).unwrap_err();
            error.to_string()
        };
        assert!(refused("web_serch").contains("did you mean \"web_search\"?"));
        assert!(refused("bounded_pareto min=2MB max=1MB").contains("below max"));
        assert!(refused("empirical points=\"0:0,10:0.5\"").contains("ends at 1"));
        assert!(refused("empirical points=\"10:0.5,5:1\"").contains("beyond the one before"));
        assert!(refused("lognormal median=1kB min=2kB").contains("median"));
        assert!(refused("pareto shap=2").contains("did you mean \"shape\"?"));
    }

    #[test]
    fn numbers_have_their_means() {
        let mut rng = Stream::derive(1, 0, "counts");
        for (text, mean) in [
            ("fixed n=7", 7.0),
            ("uniform min=2 max=8", 5.0),
            ("geometric mean=4", 4.0),
            ("geometric mean=0", 0.0),
        ] {
            let law = Counts::of("objects", &text.parse().unwrap()).unwrap();
            let sum: u64 = (0..100_000).map(|_| law.draw(&mut rng)).sum();
            assert!((real(sum) / 100_000.0 - mean).abs() < 0.06, "{text}");
        }
    }
}
