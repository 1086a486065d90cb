//! Both ends of a flow of your own.

pub use sojourn_sim::{Ecn, Flags, Kind, Outgoing, Packet, Side, Stream, Timers};
pub use sojourn_traffic::flow::{FlowRequest, register_flow};
pub use sojourn_traffic::foreign::{BuildEnds, Ends, ForeignFlow as Flow};
pub use sojourn_traffic::registry::Resolved;
pub use sojourn_transport::{Gauges, ReceiverReport, SenderReport};

/// What the network offers to an agent while it handles an event: the time, sending, one timer.
///
/// ```
/// use sojourn::flow::{Host, Outgoing};
///
/// /// Sends a packet of 1000 bytes of flow 0 and comes back in a millisecond.
/// fn tick(host: &mut dyn Host) {
///     host.send(0, Outgoing { size: 1000, ..Outgoing::default() });
///     let next = host.now() + sojourn::units::Span::from_ms(1);
///     let armed = host.now();
///     host.wake(next, armed);
/// }
/// # let _ = tick;
/// ```
pub use sojourn_sim::Host;

/// A sender of one packet at a time, and a receiver that answers each:
///
/// ```
/// use sojourn::flow::{Agent, Ends, Flow, Host, Outgoing, Packet, Resolved, SenderReport, register_flow};
/// use sojourn::units::{Params, Span, Time};
///
/// sojourn::params! {
///     /// Sends the next packet when the last was answered.
///     pub struct StopAndWaitParams {
///         /// Bytes of a packet.
///         size: u32 = "1000", range "40".."1500", source "an example";
///         /// After so long a packet counts as lost.
///         patience: Span = "1s", range "1ms".., source "an example";
///     }
/// }
///
/// struct Sender {
///     params: StopAndWaitParams,
///     flow: u32,
///     start: Time,
///     next: u64,
///     report: SenderReport,
/// }
///
/// impl Sender {
///     fn send(&mut self, host: &mut dyn Host) {
///         host.send(self.flow, Outgoing { size: self.params.size, seq: self.next, ..Outgoing::default() });
///         self.report.started = self.report.started.or(Some(host.now()));
///         let (now, patience) = (host.now(), self.params.patience);
///         host.wake(now + patience, now);
///     }
/// }
///
/// impl Agent for Sender {
///     fn on_start(&mut self, host: &mut dyn Host) {
///         host.wake(self.start, Time::ZERO);
///     }
///     fn on_packet(&mut self, packet: &Packet, host: &mut dyn Host) {
///         if packet.ack == self.next {
///             self.next += 1;
///             self.report.bytes_acked += u64::from(self.params.size);
///             self.send(host);
///         }
///     }
///     fn on_wake(&mut self, host: &mut dyn Host) {
///         self.report.retransmissions += u64::from(self.report.started.is_some());
///         self.send(host);
///     }
///     fn sender_report(&self) -> Option<SenderReport> {
///         Some(self.report)
///     }
/// }
///
/// struct Receiver {
///     flow: u32,
/// }
///
/// impl Agent for Receiver {
///     fn on_start(&mut self, _: &mut dyn Host) {}
///     fn on_packet(&mut self, packet: &Packet, host: &mut dyn Host) {
///         host.send(self.flow, Outgoing { size: 40, ack: packet.seq, ..Outgoing::default() });
///     }
///     fn on_wake(&mut self, _: &mut dyn Host) {}
/// }
///
/// register_flow(Flow {
///     name: "stop_and_wait",
///     doc: "One packet at a time.",
///     params: StopAndWaitParams::TABLE,
///     dialects: &[],
///     build: Box::new(|args, request| {
///         let params: StopAndWaitParams = sojourn::units::build(request.dialect, args)?;
///         let resolved = Resolved { release: params.release(), pairs: params.pairs() };
///         let (flow, start) = (request.flow, request.start);
///         Ok(Ends {
///             sender: Box::new(Sender { params, flow, start, next: 0, report: SenderReport::default() }),
///             receiver: Some(Box::new(Receiver { flow })),
///             resolved,
///         })
///     }),
/// })?;
/// let scenario = sojourn::Scenario::dumbbell().rtt("50ms").flow("stop_and_wait size=1500").duration("10s");
/// let outcome = scenario.build()?.run(0)?;
/// // 12000 bits in each round trip of 50 ms and a little.
/// let rate = outcome.metric("throughput_bps")?.expect("a flow");
/// assert!((200e3..240e3).contains(&rate), "{rate}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use sojourn_traffic::foreign::End as Agent;
