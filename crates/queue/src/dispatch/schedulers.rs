//! What becomes of the list of schedulers.

/// Declares the modules of schedulers, the enum of all schedulers, the enum of their parameters, and their part of the catalogue.
macro_rules! list {
    ($($file:ident :: $Scheduler:ident),* $(,)?) => {
        $(pub mod $file;)*

        use crate::catalogue::{CatalogueEntry, DisciplineKind, Resolved};
        use crate::nesting::NestingContext;
        use crate::entry::{Entry, SpecError, read};
        use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
        use crate::store::Held;
        use sojourn_units::{ParamError, Spec, Time};

        /// Every scheduler, in the order of the list.
        pub(crate) const CATALOGUE: &[CatalogueEntry] = &[
            $(CatalogueEntry::of::<$file::$Scheduler, NestingContext>(
                DisciplineKind::Scheduler,
                sojourn_units::head_text!(include_str!(concat!("schedulers/", stringify!($file), ".rs"))),
            ),)*
        ];

        /// The parameters of any scheduler, checked.
        #[derive(Clone, PartialEq, Debug)]
        pub(crate) enum AnySchedulerParams {
            $($Scheduler(<$file::$Scheduler as Entry<NestingContext>>::Params),)*
        }

        impl AnySchedulerParams {
            /// The parameters of the scheduler of this name; none if there is no such scheduler.
            pub(crate) fn read(
                name: &str,
                dialect: Option<&str>,
                pairs: &[(String, String)],
            ) -> Option<Result<AnySchedulerParams, ParamError>> {
                match name {
                    $(<$file::$Scheduler as Entry<NestingContext>>::NAME => {
                        Some(read(dialect, pairs).map(AnySchedulerParams::$Scheduler))
                    })*
                    _ => None,
                }
            }

            /// The dialect and every value.
            pub(crate) fn resolved(&self) -> Resolved {
                match self {
                    $(AnySchedulerParams::$Scheduler(params) => Resolved::of(params),)*
                }
            }

            /// The specifications of what is inside its queues.
            pub(crate) fn inside(&self) -> Vec<&Spec> {
                match self {
                    $(AnySchedulerParams::$Scheduler(params) => {
                        <$file::$Scheduler as Entry<NestingContext>>::inside(params)
                    })*
                }
            }

            /// Builds the scheduler of a port.
            pub(crate) fn build(&self, cx: &NestingContext) -> Result<AnyScheduler, SpecError> {
                match self {
                    $(AnySchedulerParams::$Scheduler(params) => {
                        <$file::$Scheduler as Entry<NestingContext>>::build(params.clone(), cx).map(AnyScheduler::$Scheduler)
                    })*
                }
            }

            /// Builds the scheduler of a queue inside another scheduler.
            pub(crate) fn build_inside(&self, cx: &NestingContext) -> Result<Box<dyn Scheduler + Send>, SpecError> {
                match self {
                    $(AnySchedulerParams::$Scheduler(params) => {
                        let built = <$file::$Scheduler as Entry<NestingContext>>::build(params.clone(), cx)?;
                        Ok(Box::new(built))
                    })*
                }
            }
        }

        /// Any scheduler, dispatched statically.
        #[allow(clippy::large_enum_variant, reason = "there is one in each port, and it lives in a box of its own")]
        pub enum AnyScheduler {
            $(
                #[doc = concat!("See [`", stringify!($file), "`].")]
                $Scheduler($file::$Scheduler),
            )*
            /// One from outside this crate.
            Custom(Box<dyn Scheduler + Send>),
        }

        impl Scheduler for AnyScheduler {
            #[inline]
            fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.enqueue(packet, cx),)*
                    AnyScheduler::Custom(s) => s.enqueue(packet, cx),
                }
            }
            #[inline]
            fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.dequeue(cx),)*
                    AnyScheduler::Custom(s) => s.dequeue(cx),
                }
            }
            fn shapes(&self) -> bool {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.shapes(),)*
                    AnyScheduler::Custom(s) => s.shapes(),
                }
            }
            fn ready_at(&mut self, now: Time) -> Time {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.ready_at(now),)*
                    AnyScheduler::Custom(s) => s.ready_at(now),
                }
            }
            fn on_empty(&mut self, now: Time) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.on_empty(now),)*
                    AnyScheduler::Custom(s) => s.on_empty(now),
                }
            }
            fn backlog(&self) -> (u64, u64) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.backlog(),)*
                    AnyScheduler::Custom(s) => s.backlog(),
                }
            }
            fn state_names(&self) -> &'static [&'static str] {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.state_names(),)*
                    AnyScheduler::Custom(s) => s.state_names(),
                }
            }
            fn state(&self, out: &mut Vec<f64>) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.state(out),)*
                    AnyScheduler::Custom(s) => s.state(out),
                }
            }
            fn catch_up(&mut self, cx: &mut SchedulerCx) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.catch_up(cx),)*
                    AnyScheduler::Custom(s) => s.catch_up(cx),
                }
            }
            fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.queues(show),)*
                    AnyScheduler::Custom(s) => s.queues(show),
                }
            }
        }
    };
}
pub(crate) use list;
