//! What every struct of parameters offers, and whether a condition on it is met.

use core::fmt;

use super::error::ParamError;
use super::info::{Condition, DIALECT_KEY, DialectInfo, ParamInfo};

/// The parameters of an algorithm. [`params!`](crate::params) implements it.
pub trait Params: Sized + Clone + PartialEq + fmt::Debug + Default {
    /// What the parameters belong to.
    const DOC: &'static str;
    /// Every parameter, in the order declared.
    const TABLE: &'static [ParamInfo];
    /// Every dialect, the default one first; empty where there is but one way.
    const DIALECTS: &'static [DialectInfo];

    /// The defaults of a dialect, which is named in short or in full.
    ///
    /// # Errors
    /// When there is no such dialect.
    fn in_dialect(name: &str) -> Result<Self, ParamError>;

    /// Sets a parameter from text.
    ///
    /// # Errors
    /// When there is no such parameter, the text is not of its kind, or the value is out of range; nothing is set then.
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParamError>;

    /// The value of a parameter as text; `None` where there is no such parameter.
    fn get(&self, key: &str) -> Option<String>;

    /// Every parameter and its value as text, in the order declared.
    fn pairs(&self) -> Vec<(&'static str, String)>;

    /// The short name of the dialect whose defaults these began with; `default` where there is but one way.
    fn dialect(&self) -> &'static str;

    /// The name of the dialect in full, as results state it.
    fn release(&self) -> &'static str {
        let dialect = self.dialect();
        Self::DIALECTS
            .iter()
            .find(|info| info.name == dialect)
            .map_or(dialect, |info| info.release)
    }
}

impl Condition {
    /// Whether it is met.
    pub(super) fn holds<P: Params>(&self, params: &P) -> Result<bool, ParamError> {
        if self.key == DIALECT_KEY {
            return Ok((params.dialect() == self.value) == self.is);
        }
        let mut with = params.clone();
        with.set(self.key, self.value)?;
        Ok((with == *params) == self.is)
    }
}
