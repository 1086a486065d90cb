//! Which kinds of figures there are.

/// Hands the list of kinds to a macro: the file in `figure/`, whose name is the kind's in `summary.json`, and the variant.
macro_rules! for_each_kind {
    ($then:ident) => {
        $then! {
            bars::Bars,
            points::Points,
            lines::Lines,
            range::Range,
            boxes::Boxes,
            cdf::Cdf,
            time::Time,
            scatter::Scatter,
        }
    };
}
pub(crate) use for_each_kind;

macro_rules! declare {
    ($($file:ident :: $Kind:ident,)*) => {
        /// How the rows of a figure are drawn.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Kind {
            $(
                #[doc = concat!("`", stringify!($file), "`; the head of its file says what it looks like.")]
                $Kind,
            )*
        }

        impl Kind {
            /// The name in `summary.json`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$Kind => stringify!($file),)*
                }
            }
        }
    };
}
for_each_kind!(declare);
