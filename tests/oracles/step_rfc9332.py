"""Step and ramp marking: an oracle apart from the implementation.

Sources: RFC 8257 (DCTCP), section 3.1: mark every arrival that finds the instantaneous queue above
K. RFC 9332, appendix A: the native AQM of the L4S queue, laqm(): none at or below minTh, all from
maxTh on, linear between (a ramp), by recur(): the probability is summed and a packet is marked
each time the sum exceeds one. What they leave open:

* The length is what waits, in packets or bytes, without the packet in transmission and without the
  arriving one; the delay is the wait of the packet that leaves.
* A step is a ramp of no width: marked above the threshold.
* CE and both ECT codepoints are capable; others pass untouched. Nothing is dropped but at the limit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import Arrival, Limit, Log, Outcome, drive

OVERFLOW = "overlimit"
THRESHOLD = "threshold"


@dataclass(frozen=True)
class Settings:
    """Thresholds in picoseconds at departure, or in packets or bytes on arrival."""

    by: str = "sojourn"
    low: int = 10**9
    high: int = 10**9
    limit: Limit = field(default_factory=lambda: Limit(packets=1000))


class StepQueue:
    def __init__(self, log: Log, settings: Settings) -> None:
        self._log = log
        self._set = settings
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._count = 0.0

    def __len__(self) -> int:
        return len(self._fifo)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        if self._set.by == "packets":
            self._judge(packet, len(self._fifo))
        elif self._set.by == "bytes":
            self._judge(packet, self._bytes)
        self._fifo.append(packet)
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        if self._set.by == "sojourn":
            self._judge(packet, now_ps - packet.time_ps)
        return packet

    def _judge(self, packet: Arrival, measure: int) -> None:
        low, high = self._set.low, self._set.high
        if packet.ecn == 0:
            return
        if low == high:
            marks = measure > low
        else:
            if measure >= high:
                probability = 1.0
            elif measure > low:
                probability = (measure - low) / (high - low)
            else:
                probability = 0.0
            self._count += probability
            marks = self._count > 1
            if marks:
                self._count -= 1
        if marks:
            self._log.marked(packet, THRESHOLD)


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a marking queue; no draws."""
    del seed
    log = Log(arrivals)
    return drive(arrivals, rate_bps, StepQueue(log, settings), log)
