"""AVQ as the pseudo-code of its paper runs it: an oracle apart from the implementation.

Source: Kunniyur and Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm for
Active Queue Management" (SIGCOMM 2001), the token-bucket form. At each arrival of b bytes:

    VQ = max(VQ - C~ (t - s), 0)
    if VQ + b > B: mark or drop the packet, else VQ = VQ + b
    C~ = max(min(C~ + alpha gamma C (t - s), C) - alpha b, 0)
    s = t

What it leaves open: C~ begins at C; the first arrival only starts the clock; a packet is dropped
unless ecn is on and it is capable. The limit of the real queue is tested after that; B is the
limit, packets counted as `packet` bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import PS_PER_S, Arrival, Limit, Log, Outcome, drive

OVERFLOW = "overlimit"
VIRTUAL = "early"


@dataclass(frozen=True)
class Settings:
    gamma: float = 0.98
    alpha: float = 0.15
    packet: int = 1000
    limit: Limit = field(default_factory=lambda: Limit(packets=100))
    ecn: bool = False


class AvqQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings) -> None:
        self._log = log
        self._set = settings
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._capacity = rate_bps / 8
        self._virtual = self._capacity
        self._vq = 0.0
        self._last: int | None = None
        limit = settings.limit
        self._b = limit.packets * settings.packet if limit.packets is not None else limit.size

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        return packet

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        gap = 0.0 if self._last is None else (now_ps - self._last) / PS_PER_S
        self._last = now_ps
        size = packet.size
        self._vq = max(self._vq - self._virtual * gap, 0.0)
        assert self._b is not None
        congested = self._vq + size > self._b
        if not congested:
            self._vq += size
        alpha = self._set.alpha
        grown = self._virtual + alpha * self._set.gamma * self._capacity * gap
        self._virtual = max(min(grown, self._capacity) - alpha * size, 0.0)
        marked = congested and self._set.ecn and packet.ecn != 0
        if congested and not marked:
            self._log.dropped(packet, VIRTUAL)
            return
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + size):
            self._log.dropped(packet, OVERFLOW)
            return
        if marked:
            self._log.marked(packet, VIRTUAL)
        self._fifo.append(packet)
        self._bytes += size


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind an AVQ; it draws nothing."""
    del seed
    log = Log(arrivals)
    return drive(arrivals, rate_bps, AvqQueue(log, rate_bps, settings), log)
