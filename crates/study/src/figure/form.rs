//! What a kind of figure is: what a study has to say of it, and what it shows.

use sojourn_report::Figure;
use sojourn_results::specs::FigureSpec;
use sojourn_scenario::error::Result;

use super::request::Request;
use crate::summary::wanted::Wanted;

/// A kind of figure.
pub(crate) struct Form {
    /// Checks what a study asks for, and fills in what it leaves out.
    pub(super) check: fn(&mut Request<'_>) -> Result<()>,
    /// The figure of an experiment; none where there is nothing to show.
    pub(crate) draw: fn(&Wanted<'_>, &FigureSpec) -> Result<Option<Figure>>,
}
