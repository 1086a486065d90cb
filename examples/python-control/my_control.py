from sojourn.plugin import Control, Ratio, Time, parameter


class Careful(Control):
    """Grows by a segment per round trip while the queue is short, and stands still while it is long."""

    wait: Time = parameter("10ms", low="0s", doc="Wait in queues at which the window stands still.")
    factor: Ratio = parameter(0.7, doc="What the window is multiplied by on a loss.")

    def on_ack(self, acked: int, mss: int, srtt: float | None, min_rtt: float | None) -> None:
        waits = srtt is not None and min_rtt is not None and srtt - min_rtt > self.wait
        if self.cwnd < self.ssthresh and not waits:
            self.cwnd += acked
        elif not waits:
            self.cwnd += mss * acked / self.cwnd
        elif self.cwnd < self.ssthresh:
            self.ssthresh = self.cwnd

    def on_loss(self) -> None:
        self.cwnd *= self.factor

    def on_timeout(self, mss: int) -> None:
        self.ssthresh = max(self.cwnd / 2, 2 * mss)
        self.cwnd = mss
