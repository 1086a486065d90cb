//! What every struct of parameters offers, and whether a condition on it is met.

use core::fmt;

use super::error::ParamError;
use super::info::{Condition, DIALECT_KEY, DialectInfo, ParamInfo};

/// The parameters of an algorithm. [`params!`](crate::params) implements it.
pub trait Params: Sized + Clone + PartialEq + fmt::Debug + Default + 'static {
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

/// [`Params`] of any type: what is done with them through this is compiled once, not for each of a hundred types.
pub(super) trait AnyParams {
    fn table(&self) -> &'static [ParamInfo];
    fn dialects(&self) -> &'static [DialectInfo];
    fn dialect_name(&self) -> &'static str;
    fn text_of(&self, key: &str) -> Option<String>;
    fn put(&mut self, key: &str, text: &str) -> Result<(), ParamError>;
    fn texts(&self) -> Vec<(&'static str, String)>;
    /// Whether a parameter that is set to this value is as it was.
    fn keeps(&self, key: &str, text: &str) -> Result<bool, ParamError>;
    /// The defaults.
    fn defaults(&self) -> Box<dyn AnyParams>;
    /// The defaults of a dialect.
    fn with_dialect(&self, name: &str) -> Result<Box<dyn AnyParams>, ParamError>;
}

impl<P: Params> AnyParams for P {
    fn table(&self) -> &'static [ParamInfo] {
        P::TABLE
    }

    fn dialects(&self) -> &'static [DialectInfo] {
        P::DIALECTS
    }

    fn dialect_name(&self) -> &'static str {
        Params::dialect(self)
    }

    fn text_of(&self, key: &str) -> Option<String> {
        Params::get(self, key)
    }

    fn put(&mut self, key: &str, text: &str) -> Result<(), ParamError> {
        Params::set(self, key, text)
    }

    fn texts(&self) -> Vec<(&'static str, String)> {
        Params::pairs(self)
    }

    fn keeps(&self, key: &str, text: &str) -> Result<bool, ParamError> {
        let mut with = self.clone();
        Params::set(&mut with, key, text)?;
        Ok(with == *self)
    }

    fn defaults(&self) -> Box<dyn AnyParams> {
        Box::new(P::default())
    }

    fn with_dialect(&self, name: &str) -> Result<Box<dyn AnyParams>, ParamError> {
        Ok(Box::new(P::in_dialect(name)?))
    }
}

impl Condition {
    /// Whether it is met.
    pub(super) fn holds(&self, params: &dyn AnyParams) -> Result<bool, ParamError> {
        if self.key == DIALECT_KEY {
            return Ok((params.dialect_name() == self.value) == self.is);
        }
        Ok(params.keeps(self.key, self.value)? == self.is)
    }
}
