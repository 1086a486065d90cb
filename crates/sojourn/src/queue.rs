//! Queue disciplines of your own: AQMs and schedulers.

pub use sojourn_queue::aqm::Waiting;
pub use sojourn_queue::child::Backlog;
pub use sojourn_queue::entry::SpecError;
pub use sojourn_queue::foreign::{register_aqm, register_scheduler};
pub use sojourn_queue::nesting::Each;
pub use sojourn_queue::{
    BuildContext, Child, Cx, Departures, Held, Interest, List, Meta, NestingContext, QueueState,
    SchedulerCx, Store, Verdict, View,
};
pub use sojourn_sim::{DropReason, Ecn, MarkReason, Packet, Stream};

/// What a discipline declares of itself: its name, its page, its parameters and how to build it. AQMs are built with a
/// [`BuildContext`], schedulers with a [`NestingContext`].
///
/// ```
/// use sojourn::queue::{Aqm, BuildContext, Cx, Entry, Meta, SpecError, Verdict, View};
///
/// sojourn::params! {
///     /// No parameters.
///     pub struct OpenParams {}
/// }
///
/// struct Open;
///
/// impl Entry for Open {
///     const NAME: &'static str = "open";
///     const TITLE: &'static str = "Open";
///     const ABOUT: &'static str = "A queue without end.";
///     type Params = OpenParams;
///
///     fn build(_: OpenParams, _: &BuildContext) -> Result<Open, SpecError> {
///         Ok(Open)
///     }
/// }
///
/// impl Aqm for Open {
///     fn on_enqueue(&mut self, _: &Meta, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
///         Verdict::Pass
///     }
/// }
///
/// sojourn::queue::register_aqm::<Open>()?;
/// let scenario = sojourn::Scenario::dumbbell().queue("open").flow("reno").build()?;
/// assert!(scenario.resolved()?.contains("\"open\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use sojourn_queue::entry::Entry;

/// An AQM that holds a target delay by dropping at the head:
///
/// ```
/// use sojourn::queue::{Aqm, BuildContext, Cx, DropReason, Entry, Meta, SpecError, Verdict, View};
/// use sojourn::units::Span;
///
/// sojourn::params! {
///     /// Drops packets that waited for longer than a target, but never the last.
///     pub struct LateParams {
///         /// The longest wait.
///         target: Span = "20ms", range "1us".."10s", source "an example";
///     }
/// }
///
/// struct Late {
///     target: Span,
/// }
///
/// impl Entry for Late {
///     const NAME: &'static str = "late";
///     const TITLE: &'static str = "Late";
///     const ABOUT: &'static str = "Drops packets that waited for too long.";
///     type Params = LateParams;
///
///     fn build(params: LateParams, _: &BuildContext) -> Result<Late, SpecError> {
///         Ok(Late { target: params.target })
///     }
/// }
///
/// impl Aqm for Late {
///     fn on_enqueue(&mut self, _: &Meta, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
///         Verdict::Pass
///     }
///
///     fn on_dequeue(&mut self, _: &Meta, sojourn: Span, view: &View<'_>, _: &mut Cx<'_>) -> Verdict {
///         match sojourn > self.target && view.packets > 0 {
///             true => Verdict::Drop(DropReason::TargetExceeded),
///             false => Verdict::Pass,
///         }
///     }
/// }
///
/// sojourn::queue::register_aqm::<Late>()?;
/// let longest = |queue: &str| -> Result<f64, sojourn::Error> {
///     let dumbbell = sojourn::Scenario::dumbbell().queue(queue).flow("2*cubic").duration("10s");
///     let outcome = dumbbell.build()?.run(0)?;
///     Ok(outcome.metric("sojourn_s_max")?.expect("packets waited"))
/// };
/// assert!(longest("late")? < 0.03);
/// assert!(longest("late target=50ms")? > 0.04);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use sojourn_queue::Aqm;

/// A scheduler that sends what came last first. Packets wait in lists of [`SchedulerCx::store`]:
///
/// ```
/// use sojourn::queue::{Entry, Held, List, NestingContext, Scheduler, SchedulerCx, SpecError, DropReason};
///
/// sojourn::params! {
///     /// Sends what came last first.
///     pub struct StackParams {
///         /// Packets that may wait.
///         most: u64 = "50", range "1".., source "an example";
///     }
/// }
///
/// struct Stack {
///     most: u64,
///     waiting: List,
///     bytes: u64,
/// }
///
/// impl Entry<NestingContext> for Stack {
///     const NAME: &'static str = "stack";
///     const TITLE: &'static str = "Stack";
///     const ABOUT: &'static str = "Sends what came last first.";
///     const STARVES_NONE: bool = false;
///     type Params = StackParams;
///
///     fn build(params: StackParams, _: &NestingContext) -> Result<Stack, SpecError> {
///         Ok(Stack { most: params.most, waiting: List::default(), bytes: 0 })
///     }
/// }
///
/// impl Scheduler for Stack {
///     fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
///         if self.waiting.len() >= self.most {
///             return cx.drop(packet, DropReason::Overlimit);
///         }
///         self.bytes += u64::from(packet.size);
///         cx.store.push_back(&mut self.waiting, packet);
///     }
///
///     fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
///         let packet = cx.store.pop_back(&mut self.waiting)?;
///         self.bytes -= u64::from(packet.size);
///         Some(packet)
///     }
///
///     fn backlog(&self) -> (u64, u64) {
///         (self.waiting.len(), self.bytes)
///     }
/// }
///
/// sojourn::queue::register_scheduler::<Stack>()?;
/// let scenario = sojourn::Scenario::dumbbell().queue("stack most=10").flow("cbr 20Mbps").duration("5s");
/// let outcome = scenario.build()?.run(0)?;
/// assert_eq!(outcome.metric("backlog_packets_max")?, Some(10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use sojourn_queue::Scheduler;
