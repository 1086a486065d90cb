"""PI as its paper gives the controller: an oracle apart from the implementation.

Source: Hollot, Misra, Towsley and Gong, "On Designing Improved Controllers for AQM Routers
Supporting TCP Flows" (INFOCOM 2001), the difference equation of the digital PI controller:
p(kT) = a (q(kT) - q_ref) - b (q((k-1)T) - q_ref) + p((k-1)T). What it leaves open:

* Samples are taken at every multiple of T, before packets of that instant; q and p begin at 0.
* q is what waits, in packets, without the packet in transmission; p is kept within 0 and 1.
* Every arrival that fits is dropped (or marked) with probability p: one draw each, below p.
* The limit is tested first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import PS_PER_S, Arrival, Limit, Log, Outcome, drive
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"


@dataclass(frozen=True)
class Settings:
    a: float = 1.822e-5
    b: float = 1.816e-5
    q_ref: float = 200.0
    period_ps: int = PS_PER_S // 160
    limit: Limit = field(default_factory=lambda: Limit(packets=800))
    ecn: bool = False
    # In packets of this number of bytes each.
    queue_in_bytes: int | None = None


class PiQueue:
    def __init__(self, log: Log, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._p = 0.0
        self._q_old = 0.0
        self._next_sample = settings.period_ps

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        self._sample(now_ps)
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        return packet

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        self._sample(now_ps)
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        if self._draws.uniform() < self._p:
            if not (self._set.ecn and packet.ecn != 0):
                self._log.dropped(packet, EARLY)
                return
            self._log.marked(packet, EARLY)
        self._fifo.append(packet)
        self._bytes += packet.size

    def _sample(self, now_ps: int) -> None:
        while self._next_sample <= now_ps:
            unit = self._set.queue_in_bytes
            q = float(len(self._fifo)) if unit is None else self._bytes / unit
            ref = self._set.q_ref
            p = self._set.a * (q - ref) - self._set.b * (self._q_old - ref) + self._p
            self._p = min(max(p, 0.0), 1.0)
            self._q_old = q
            self._next_sample += self._set.period_ps


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a PI queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, PiQueue(log, settings, Stream(seed)), log)
