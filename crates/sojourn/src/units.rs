//! Time, rates and sizes as types, and what parameters are made of.

pub use sojourn_units::{
    Buffer, Bytes, Kind, KindOf, Limit, Packets, ParamError, ParamInfo, Rate, Ratio, RegisterError,
    Span, Spec, Specs, Time, UnitError, UnitErrorKind, Values, build,
};

/// ```
/// use sojourn::units::{Params, Span};
///
/// sojourn::params! {
///     /// The parameters of my queue.
///     pub struct MyParams {
///         /// Sojourn time that is acceptable.
///         target: Span = "5ms", range "1us".."10s", source "RFC 8289";
///     }
/// }
///
/// let mut params = MyParams::default();
/// params.set("target", "15ms")?;
/// assert_eq!(params.target, Span::from_ms(15));
/// assert_eq!(MyParams::TABLE[0].source, "RFC 8289");
/// # Ok::<(), sojourn::units::ParamError>(())
/// ```
pub use sojourn_units::Params;

/// ```
/// use sojourn::units::{Kind, ParamValue, UnitError, UnitErrorKind};
///
/// /// A number of hours, which a parameter takes as `3h`.
/// #[derive(Clone, Debug, PartialEq)]
/// pub struct Hours(u32);
///
/// impl ParamValue for Hours {
///     fn kind() -> Kind {
///         Kind::Text
///     }
///     fn parse_text(text: &str) -> Result<Hours, UnitError> {
///         let digits = text.trim().strip_suffix('h').and_then(|digits| digits.parse().ok());
///         let kind = UnitErrorKind::Malformed;
///         digits.map(Hours).ok_or_else(|| UnitError::new(kind, text, "hours", "write 3h"))
///     }
///     fn to_text(&self) -> String {
///         format!("{}h", self.0)
///     }
/// }
///
/// assert_eq!(Hours::parse_text("3h"), Ok(Hours(3)));
/// assert!(Hours::parse_text("3").is_err());
/// ```
pub use sojourn_units::ParamValue;
