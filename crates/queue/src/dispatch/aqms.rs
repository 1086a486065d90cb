//! What becomes of the list of AQMs.

use crate::aqm::{Aqm, Cx, Meta, Verdict, View};
use sojourn_units::Span;

// `Frame::judge_arrival` and `Frame::judge_departure` have a copy of each AQM's code inlined. All other callers share these two.
pub(crate) fn on_enqueue(
    aqm: &mut impl Aqm,
    meta: &Meta,
    view: &View<'_>,
    cx: &mut Cx<'_>,
) -> Verdict {
    aqm.on_enqueue(meta, view, cx)
}

pub(crate) fn on_dequeue(
    aqm: &mut impl Aqm,
    meta: &Meta,
    sojourn: Span,
    view: &View<'_>,
    cx: &mut Cx<'_>,
) -> Verdict {
    aqm.on_dequeue(meta, sojourn, view, cx)
}

/// Declares the modules of AQMs, the enum of all AQMs, the enum of their parameters, and their part of the catalogue.
macro_rules! list {
    ($($file:ident :: $Aqm:ident),* $(,)?) => {
        $(pub mod $file;)*

        use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
        use crate::catalogue::{CatalogueEntry, DisciplineKind, Resolved};
        use crate::dispatch::aqms as dispatch;
        use crate::entry::{BuildContext, Entry, SpecError, read};
        use crate::frame::Frame;
        use sojourn_sim::{Packet, Ring};
        use sojourn_units::{ParamError, Span, Time};

        /// Every AQM, in the order of the list.
        pub(crate) const CATALOGUE: &[CatalogueEntry] = &[
            $(CatalogueEntry::of::<$file::$Aqm, BuildContext>(
                DisciplineKind::Aqm,
                sojourn_units::head_text!(include_str!(concat!("aqms/", stringify!($file), ".rs"))),
            ),)*
        ];

        /// The parameters of any AQM, checked.
        #[derive(Clone, PartialEq, Debug)]
        pub(crate) enum AnyAqmParams {
            $($Aqm(<$file::$Aqm as Entry>::Params),)*
        }

        impl AnyAqmParams {
            /// The parameters of the AQM of this name; none if there is no such AQM.
            pub(crate) fn read(
                name: &str,
                dialect: Option<&str>,
                pairs: &[(String, String)],
            ) -> Option<Result<AnyAqmParams, ParamError>> {
                match name {
                    $(<$file::$Aqm as Entry>::NAME => Some(read(dialect, pairs).map(AnyAqmParams::$Aqm)),)*
                    _ => None,
                }
            }

            /// The dialect and every value.
            pub(crate) fn resolved(&self) -> Resolved {
                match self {
                    $(AnyAqmParams::$Aqm(params) => Resolved::of(params),)*
                }
            }

            /// Builds the AQM.
            pub(crate) fn build(&self, cx: &BuildContext) -> Result<AnyAqm, SpecError> {
                match self {
                    $(AnyAqmParams::$Aqm(params) => {
                        <$file::$Aqm as Entry>::build(params.clone(), cx).map(AnyAqm::$Aqm)
                    })*
                }
            }
        }

        /// Any AQM, dispatched statically.
        pub enum AnyAqm {
            $(
                #[doc = concat!("See [`", stringify!($file), "`].")]
                $Aqm($file::$Aqm),
            )*
            /// One from outside this crate.
            Custom(Box<dyn Aqm + Send>),
        }

        impl AnyAqm {
            #[inline(always)]
            pub(crate) fn judge_arrival(&mut self, frame: &mut Frame, packet: &Packet, ring: &Ring, now: Time) -> bool {
                match self {
                    $(AnyAqm::$Aqm(a) => frame.judge_arrival(packet, ring, now, a),)*
                    AnyAqm::Custom(a) => frame.judge_arrival(packet, ring, now, &mut **a),
                }
            }
            #[inline(always)]
            pub(crate) fn judge_departure(&mut self, frame: &mut Frame, head: &Packet, now: Time) -> bool {
                match self {
                    $(AnyAqm::$Aqm(a) => frame.judge_departure(head, now, a),)*
                    AnyAqm::Custom(a) => frame.judge_departure(head, now, &mut **a),
                }
            }
        }

        impl Aqm for AnyAqm {
            fn interest(&self) -> Interest {
                match self {
                    $(AnyAqm::$Aqm(a) => a.interest(),)*
                    AnyAqm::Custom(a) => a.interest(),
                }
            }
            // Into the few places that ask, so that one call leads to the discipline and not two.
            #[inline(always)]
            fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
                match self {
                    $(AnyAqm::$Aqm(a) => dispatch::on_enqueue(a, meta, view, cx),)*
                    AnyAqm::Custom(a) => a.on_enqueue(meta, view, cx),
                }
            }
            #[inline(always)]
            fn on_dequeue(&mut self, meta: &Meta, sojourn: Span, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
                match self {
                    $(AnyAqm::$Aqm(a) => dispatch::on_dequeue(a, meta, sojourn, view, cx),)*
                    AnyAqm::Custom(a) => a.on_dequeue(meta, sojourn, view, cx),
                }
            }
            #[inline]
            fn on_empty(&mut self, now: Time) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.on_empty(now),)*
                    AnyAqm::Custom(a) => a.on_empty(now),
                }
            }
            #[inline]
            fn on_evicted(&mut self, packets: u32) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.on_evicted(packets),)*
                    AnyAqm::Custom(a) => a.on_evicted(packets),
                }
            }
            #[inline]
            fn next_tick(&self) -> Option<Time> {
                match self {
                    $(AnyAqm::$Aqm(a) => a.next_tick(),)*
                    AnyAqm::Custom(a) => a.next_tick(),
                }
            }
            fn on_tick(&mut self, view: &View<'_>, cx: &mut Cx<'_>) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.on_tick(view, cx),)*
                    AnyAqm::Custom(a) => a.on_tick(view, cx),
                }
            }
            fn steer(&mut self, action: &[f64]) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.steer(action),)*
                    AnyAqm::Custom(a) => a.steer(action),
                }
            }
            fn state_names(&self) -> &'static [&'static str] {
                match self {
                    $(AnyAqm::$Aqm(a) => a.state_names(),)*
                    AnyAqm::Custom(a) => a.state_names(),
                }
            }
            fn state(&self, out: &mut Vec<f64>) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.state(out),)*
                    AnyAqm::Custom(a) => a.state(out),
                }
            }
            fn state_with_backlog(&self, packets: u64, out: &mut Vec<f64>) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.state_with_backlog(packets, out),)*
                    AnyAqm::Custom(a) => a.state_with_backlog(packets, out),
                }
            }
        }
    };
}
pub(crate) use list;
