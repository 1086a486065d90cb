//! The kinds of figures that a study may ask for: each a file in `figure/`, listed by `for_each_figure_kind` of the results crate.

mod form;
mod frame;
mod over_factor;
pub(crate) mod quantity;
mod request;
pub(crate) mod thinned;
mod total;

use sojourn_results::asked::Names;
use sojourn_results::for_each_figure_kind;
use sojourn_results::manifest::ExperimentInfo;
use sojourn_results::specs::{AxisScale, FigureKind, FigureSpec};
use sojourn_run::series::Recordable;
use sojourn_scenario::document::TableRef;
use sojourn_scenario::error::{LabErrorKind, Result};

use form::Form;
use request::Request;

/// Declares the modules of the kinds, and which form each has.
macro_rules! register {
    ($($file:ident :: $Kind:ident = $word:literal, $doc:literal;)*) => {
        $(pub(crate) mod $file;)*

        /// What a kind is.
        pub(crate) fn form(kind: FigureKind) -> &'static Form {
            match kind {
                $(FigureKind::$Kind => &$file::FORM,)*
            }
        }
    };
}
for_each_figure_kind!(register);

/// A figure as a study asks for it in a table, checked and with what the study leaves out.
///
/// # Errors
/// When a name means nothing, or the kind of the figure needs what is missing.
pub(crate) fn completed(
    spec: FigureSpec,
    table: &TableRef<'_>,
    experiment: &ExperimentInfo,
    (names, recordable): (&Names, Option<&Recordable>),
) -> Result<FigureSpec> {
    let form = form(spec.kind);
    let mut request = Request {
        spec,
        table,
        experiment,
        names,
        recordable,
    };
    request.factor("series", &request.spec.series)?;
    request.factor("facet", &request.spec.facet)?;
    request.factor("slider", &request.spec.slider)?;
    request.colour_compared();
    request.slider()?;
    (form.check)(&mut request)?;
    if request.spec.y_scale == AxisScale::Category {
        return Err(table
            .error_on(
                "y_scale",
                LabErrorKind::BadValue,
                "the y axis has numbers, not categories",
            )
            .remedy("write linear or log"));
    }
    Ok(request.spec)
}
