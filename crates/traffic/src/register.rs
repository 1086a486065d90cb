//! The macro of the registry: from the lines in [`crate::sources`] come the enum that dispatches statically, the builder by
//! name and the catalogue.

/// Declares the modules of the sources, the enum that dispatches to them, their builder and the catalogue.
macro_rules! register {
    ($($file:ident :: $Source:ident),* $(,)?) => {
        $(pub mod $file;)*

        use crate::entry::{CatalogueEntry, Entry, params_of};
        use sojourn_sim::Stream;
        use sojourn_transport::app::{Source, Write};
        use sojourn_units::{ParamError, Time};

        /// Every source.
        pub const CATALOGUE: &[CatalogueEntry] = &[$(CatalogueEntry::of::<$file::$Source>(),)*];

        /// Any source, dispatched statically.
        pub enum AnySource {
            $(
                #[doc = concat!("See [`", stringify!($file), "`].")]
                $Source($file::$Source),
            )*
            /// One from outside this crate.
            Custom(Box<dyn Source + Send>),
        }

        impl Source for AnySource {
            fn unlimited(&self) -> bool {
                match self {
                    $(AnySource::$Source(s) => s.unlimited(),)*
                    AnySource::Custom(s) => s.unlimited(),
                }
            }
            #[inline]
            fn next(&mut self, rng: &mut Stream) -> Option<Write> {
                match self {
                    $(AnySource::$Source(s) => s.next(rng),)*
                    AnySource::Custom(s) => s.next(rng),
                }
            }
            fn keeps(&self) -> bool {
                match self {
                    $(AnySource::$Source(s) => s.keeps(),)*
                    AnySource::Custom(s) => s.keeps(),
                }
            }
            fn key(&self) -> bool {
                match self {
                    $(AnySource::$Source(s) => s.key(),)*
                    AnySource::Custom(s) => s.key(),
                }
            }
            fn gap_s(&self) -> Option<f64> {
                match self {
                    $(AnySource::$Source(s) => s.gap_s(),)*
                    AnySource::Custom(s) => s.gap_s(),
                }
            }
            fn level(&self) -> u8 {
                match self {
                    $(AnySource::$Source(s) => s.level(),)*
                    AnySource::Custom(s) => s.level(),
                }
            }
            fn framing(&self) -> (Option<sojourn_units::Span>, u32) {
                match self {
                    $(AnySource::$Source(s) => s.framing(),)*
                    AnySource::Custom(s) => s.framing(),
                }
            }
            fn refresh(&mut self) {
                match self {
                    $(AnySource::$Source(s) => s.refresh(),)*
                    AnySource::Custom(s) => s.refresh(),
                }
            }
            fn adapt(&mut self, bits_per_second: f64, now: Time) {
                match self {
                    $(AnySource::$Source(s) => s.adapt(bits_per_second, now),)*
                    AnySource::Custom(s) => s.adapt(bits_per_second, now),
                }
            }
            fn number_streams(&mut self, seed: u64, run: u64, first: u64) -> u64 {
                match self {
                    $(AnySource::$Source(s) => s.number_streams(seed, run, first),)*
                    AnySource::Custom(s) => s.number_streams(seed, run, first),
                }
            }
        }

        /// Checks what every source declares.
        #[cfg(test)]
        pub(crate) fn check_declarations() -> Result<(), String> {
            $(sojourn_units::check_declaration::<<$file::$Source as Entry>::Params>()?;)*
            Ok(())
        }

        pub(crate) fn build(
            name: &str,
            pairs: &[(String, String)],
            dialect: Option<&str>,
        ) -> Result<AnySource, ParamError> {
            match name {
                $(<$file::$Source as Entry>::NAME => {
                    let params = params_of::<$file::$Source>(pairs, dialect)?;
                    Ok(AnySource::$Source(<$file::$Source as Entry>::build(params)?))
                })*
                _ => unreachable!("names come from the catalogue"),
            }
        }
    };
}
pub(crate) use register;
