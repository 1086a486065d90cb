//! The formats in which traces are written. Each is a file, and a line below.

use sojourn_scenario::error::{LabError, LabErrorKind};

use super::sink::Form;

/// Declares the modules of the formats, and which there are, in the order in which they are listed.
macro_rules! formats {
    ($($file:ident :: $Format:ident,)*) => {
        $(pub(super) mod $file;)*

        /// A format in which events are written.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum TraceFormat {
            $(
                #[doc = concat!("`", stringify!($file), "`; the head of its file says what it has.")]
                $Format,
            )*
        }

        impl TraceFormat {
            /// Every format.
            pub const ALL: [TraceFormat; [$(TraceFormat::$Format,)*].len()] = [$(TraceFormat::$Format,)*];

            /// What it is.
            pub fn form(self) -> &'static Form {
                match self {
                    $(TraceFormat::$Format => &$file::FORM,)*
                }
            }
        }
    };
}

formats! {
    ns2::Ns2,
    ns2_exact::Ns2Exact,
    nam::Nam,
    pcapng::Pcapng,
    parquet::Parquet,
}

impl TraceFormat {
    /// The name.
    pub fn name(self) -> &'static str {
        self.form().name
    }

    /// The names of all, each with what there is to know of it: `ns2 (as ns-2 writes it), pcapng or parquet`.
    pub fn listed() -> String {
        let each = |format: &TraceFormat| match format.form().about {
            "" => format.name().to_owned(),
            about => format!("{} ({about})", format.name()),
        };
        let mut all: Vec<String> = TraceFormat::ALL.iter().map(each).collect();
        let last = all.pop().unwrap_or_default();
        format!("{} or {last}", all.join(", "))
    }

    /// The format of a name.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn parse(given: &str) -> Result<TraceFormat, LabError> {
        let names = || TraceFormat::ALL.iter().map(|format| format.name());
        let mut all = TraceFormat::ALL.iter().copied();
        all.find(|format| format.name() == given).ok_or_else(|| {
            LabError::new(
                LabErrorKind::UnknownName,
                format!("there is no trace format {given:?}"),
            )
            .in_file("--trace")
            .nearest(sojourn_units::nearest(given, names()))
            .allowed("formats", names().collect::<Vec<_>>().join(", "))
            .remedy("write --trace ns2 FILE")
        })
    }
}
