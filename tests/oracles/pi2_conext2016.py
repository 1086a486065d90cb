"""PI2 as its paper describes it: an oracle apart from the implementation.

Source: De Schepper, Bondarenko, Tsang and Briscoe, "PI2: A Linearized AQM for both Classic and
Scalable TCP" (CoNEXT 2016): every T, p' moves by alpha (tau - tau_0) + beta (tau - tau_old); a
Classic packet is dropped (or marked) if p' is larger than both of two random numbers, a Scalable
one (ECT(1)) is marked if k p' is larger than one. What it leaves open:

* The update runs at every multiple of T, before packets of that instant; tau is how long the
  packet at the head has waited, zero for an empty queue; p' is kept within 0 and 1.
* The decision is taken on arrival, after the limit. The second number is drawn only where the
  first is below p'.
* Without ecn, and for CE, which is Scalable in the paper's classifier too: ECT(1) and CE are
  Scalable only if ecn is on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import PS_PER_S, Arrival, Limit, Log, Outcome, drive
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"
MS = PS_PER_S // 1000


@dataclass(frozen=True)
class Settings:
    target: int = 20 * MS
    period: int = 32 * MS
    alpha: float = 0.3125
    beta: float = 3.125
    k: float = 2.0
    limit: Limit = field(default_factory=lambda: Limit(packets=1000))
    ecn: bool = True


class Pi2Queue:
    def __init__(self, log: Log, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._p = 0.0
        self._old_s = 0.0
        self._next_update = settings.period

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        self._update(now_ps)
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        return packet

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        self._update(now_ps)
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        if self._set.ecn and packet.ecn % 2 == 1:
            chosen = self._draws.uniform() < self._set.k * self._p
        else:
            chosen = self._draws.uniform() < self._p and self._draws.uniform() < self._p
        if chosen:
            if not (self._set.ecn and packet.ecn != 0):
                self._log.dropped(packet, EARLY)
                return
            self._log.marked(packet, EARLY)
        self._fifo.append(packet)
        self._bytes += packet.size

    def _update(self, now_ps: int) -> None:
        while self._next_update <= now_ps:
            at = self._next_update
            delay = (at - self._fifo[0].time_ps) / PS_PER_S if self._fifo else 0.0
            target = self._set.target / PS_PER_S
            self._p += self._set.alpha * (delay - target) + self._set.beta * (delay - self._old_s)
            self._p = min(max(self._p, 0.0), 1.0)
            self._old_s = delay
            self._next_update += self._set.period


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a PI2 queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, Pi2Queue(log, settings, Stream(seed)), log)
