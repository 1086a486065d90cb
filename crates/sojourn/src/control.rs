//! Congestion controls of your own.

pub use sojourn_cc::foreign::register_control;
pub use sojourn_cc::{
    Acked, Congestion, CongestionKind, EcnUse, Expiry, Lost, Phase, Sample, Sent, Stage, Start,
    Traits, Undo,
};

/// What makes a control from its parameters.
///
/// ```
/// use sojourn::control::{Acked, Build, Congestion, CongestionControl, Sent, Start, register_control};
/// use sojourn::units::{ParamError, Rate};
///
/// sojourn::params! {
///     /// A window that never changes.
///     pub struct FixedParams {
///         /// The window, segments.
///         segments: u32 = "10", range "1".., source "an example";
///     }
/// }
///
/// #[derive(Clone, Debug)]
/// struct Fixed {
///     segments: u64,
///     mss: u64,
/// }
///
/// impl Build for Fixed {
///     type Params = FixedParams;
///
///     fn build(params: &FixedParams) -> Result<Fixed, ParamError> {
///         Ok(Fixed { segments: u64::from(params.segments), mss: 1 })
///     }
/// }
///
/// impl CongestionControl for Fixed {
///     fn on_start(&mut self, start: &Start) {
///         self.mss = start.mss;
///     }
///     fn on_sent(&mut self, _: &Sent) {}
///     fn on_ack(&mut self, _: &Acked) {}
///     fn on_congestion(&mut self, _: &Congestion) {}
///     fn cwnd(&self) -> u64 {
///         self.segments * self.mss
///     }
///     fn ssthresh(&self) -> u64 {
///         u64::MAX
///     }
///     fn pacing_rate(&self) -> Option<Rate> {
///         None
///     }
/// }
///
/// register_control::<Fixed>("fixed", "Fixed window")?;
/// // 4 segments of 1460 bytes in 100 ms are 467 kbps, whatever the link.
/// let scenario = sojourn::Scenario::dumbbell().rtt("100ms").flow("fixed segments=4").duration("20s");
/// let outcome = scenario.build()?.run(0)?;
/// let goodput = outcome.metric("goodput_bps")?.expect("a flow");
/// assert!((400e3..470e3).contains(&goodput), "{goodput}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use sojourn_cc::Build;

/// A control that adds a segment a round trip and answers a loss by a factor of its own:
///
/// ```
/// use sojourn::control::{
///     Acked, Build, Congestion, CongestionControl, CongestionKind, Sent, Stage, Start, register_control,
/// };
/// use sojourn::units::{ParamError, Rate};
///
/// sojourn::params! {
///     /// Additive increase, multiplicative decrease.
///     pub struct GentleParams {
///         /// What a loss leaves of the window.
///         keep: f64 = "0.8", range "0.1".."0.95", source "an example";
///     }
/// }
///
/// #[derive(Clone, Debug)]
/// struct Gentle {
///     keep: f64,
///     mss: u64,
///     cwnd: u64,
///     ssthresh: u64,
///     counted: u64,
/// }
///
/// impl Build for Gentle {
///     type Params = GentleParams;
///
///     fn build(params: &GentleParams) -> Result<Gentle, ParamError> {
///         Ok(Gentle { keep: params.keep, mss: 1, cwnd: 1, ssthresh: u64::MAX, counted: 0 })
///     }
/// }
///
/// impl CongestionControl for Gentle {
///     fn on_start(&mut self, start: &Start) {
///         (self.mss, self.cwnd) = (start.mss, start.initial_window);
///     }
///     fn on_sent(&mut self, _: &Sent) {}
///     fn on_ack(&mut self, acked: &Acked) {
///         match acked.stage {
///             Stage::Open if acked.limited && self.cwnd < self.ssthresh => self.cwnd += acked.bytes,
///             Stage::Open if acked.limited => {
///                 self.counted += acked.bytes;
///                 if self.counted >= self.cwnd {
///                     self.counted -= self.cwnd;
///                     self.cwnd += self.mss;
///                 }
///             }
///             Stage::Exit { at_most } => self.cwnd = self.ssthresh.min(at_most).max(self.mss),
///             _ => {}
///         }
///     }
///     fn on_congestion(&mut self, congestion: &Congestion) {
///         let kept = (congestion.in_flight as f64 * self.keep) as u64;
///         self.ssthresh = kept.max(2 * congestion.mss);
///         self.cwnd = match congestion.kind {
///             CongestionKind::Timeout(expiry) => expiry.kept + congestion.mss,
///             CongestionKind::Loss | CongestionKind::Ecn => self.ssthresh,
///         };
///     }
///     fn cwnd(&self) -> u64 {
///         self.cwnd
///     }
///     fn ssthresh(&self) -> u64 {
///         self.ssthresh
///     }
///     fn pacing_rate(&self) -> Option<Rate> {
///         None
///     }
/// }
///
/// register_control::<Gentle>("gentle", "Gentle")?;
/// let scenario = sojourn::Scenario::dumbbell().flow("gentle keep=0.7").flow("reno").duration("20s");
/// let outcome = scenario.build()?.run(0)?;
/// assert!(outcome.metric_of("gentle", "goodput_bps")?.expect("a flow") > 1e6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use sojourn_cc::CongestionControl;
