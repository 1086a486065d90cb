"""REM as its paper gives the price: an oracle apart from the implementation.

Source: Athuraliya, Li, Low and Yin, "REM: Active Queue Management" (IEEE Network, May 2001):
p(t+1) = max(0, p(t) + gamma (alpha (b(t) - b*) + x(t) - c(t))), marking probability 1 - phi^-p(t).
What it leaves open:

* The price moves at every multiple of the period, before packets of that instant. x is the number
  of packets that arrived in the period, dropped ones too; c the number that the link can send in
  it; b what waits, without the packet in transmission.
* Every arrival that fits is dropped (or marked) at random: one draw each, below the probability.
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
    gamma: float = 0.001
    alpha: float = 0.1
    phi: float = 1.001
    target: float = 20.0
    period_ps: int = PS_PER_S // 500
    packet: int = 1000
    limit: Limit = field(default_factory=lambda: Limit(packets=100))
    ecn: bool = False


class RemQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._capacity = settings.period_ps / PS_PER_S * (rate_bps / (8 * settings.packet))
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._arrived = 0
        self._price = 0.0
        self._probability = 0.0
        self._next_update = settings.period_ps

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
        self._arrived += 1
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        if self._draws.uniform() < self._probability:
            if not (self._set.ecn and packet.ecn != 0):
                self._log.dropped(packet, EARLY)
                return
            self._log.marked(packet, EARLY)
        self._fifo.append(packet)
        self._bytes += packet.size

    def _update(self, now_ps: int) -> None:
        while self._next_update <= now_ps:
            excess = self._set.alpha * (len(self._fifo) - self._set.target)
            mismatch = self._arrived + excess - self._capacity
            self._price = max(0.0, self._price + self._set.gamma * mismatch)
            self._probability = 1 - self._set.phi**-self._price
            self._arrived = 0
            self._next_update += self._set.period_ps


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a REM queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, RemQueue(log, rate_bps, settings, Stream(seed)), log)
