"""DualPI2 as the pseudo-code of RFC 9332 runs it: an oracle apart from the implementation.

Source: RFC 9332 (January 2023), appendix A, with the edge cases of A.2: figures 2, 3, 5, 7 and 8,
compared line by line. Names follow the RFC. What it leaves open, and how it is read:

* The update runs at every multiple of Tupdate, before packets of that instant; p' is kept within 0
  and 1. cq.time() and lq.time() are the ages of the heads, zero without one.
* laqm() is given the wait of the packet that leaves; it marks nothing natively while no more than
  Th_len packets, that one included, wait in the L4S queue.
* The limit in bytes keeps room for an MTU (figure 3), 1514 bytes, or for the packet if it is larger;
  a limit in packets for one packet.
* scheduler(): weighted round robin by a credit in bytes. The L4S queue is served while the credit
  is at most zero or the Classic queue is empty; a packet sent while the other queue has some moves
  the credit by its size times the other queue's weight in percent, up for L4S and down for Classic;
  a dropped packet does not. The credit begins, and begins again when both queues are found empty,
  at 1514 bytes times the difference of the weights. Or a time-shifted FIFO: the L4S queue unless
  the Classic head is older than its head by more than tshift.
* recur() of both queues starts at zero; each of the three calls for the L4S queue and the one for
  the Classic queue shares its queue's count. p_CL counts as 1 at most, as p_Lmax is 1; else the
  sum of an overload would be spent on drops.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import PS_PER_S, Arrival, Limit, Log, Outcome, drive

OVERFLOW = "overlimit"
EARLY = "early"
MS = PS_PER_S // 1000
MTU = 1514


@dataclass(frozen=True)
class Settings:
    target: int = 15 * MS
    tupdate: int = 15 * MS
    alpha: float = 0.15
    beta: float = 3.0
    k: float = 2.0
    min_th: int = 800 * MS // 1000
    range: int = 400 * MS // 1000
    th_len: int = 1
    limit: Limit = field(default_factory=lambda: Limit(packets=10_000))
    classic_percent: int = 10
    tshift: int | None = None


class DualQueue:
    def __init__(self, log: Log, settings: Settings) -> None:
        self._log = log
        self._set = settings
        self._lq: deque[Arrival] = deque()
        self._cq: deque[Arrival] = deque()
        self._bytes = 0
        self._p = 0.0
        self._prevq = 0.0
        self._count = {"l": 0.0, "c": 0.0}
        self._next_update = settings.tupdate
        self._credit = self._first_credit()

    def __len__(self) -> int:
        return len(self._lq) + len(self._cq)

    def _first_credit(self) -> int:
        return MTU * (2 * self._set.classic_percent - 100)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        self._update(now_ps)
        if not self._set.limit.admits(len(self) + 1, self._bytes + max(MTU, packet.size)):
            self._log.dropped(packet, OVERFLOW)
            return
        (self._lq if packet.ecn % 2 == 1 else self._cq).append(packet)
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        self._update(now_ps)
        while len(self) > 0:
            from_l = self._scheduler(now_ps)
            both = bool(self._lq) and bool(self._cq)
            packet = (self._lq if from_l else self._cq).popleft()
            self._bytes -= packet.size
            drop, mark = self._l4s(packet, now_ps) if from_l else self._classic(packet)
            if drop:
                self._log.dropped(packet, EARLY)
                continue
            if mark:
                self._log.marked(packet, EARLY)
            if both:
                weight = self._set.classic_percent
                self._credit += packet.size * (weight if from_l else weight - 100)
            return packet
        self._credit = self._first_credit()
        return None

    def _scheduler(self, now_ps: int) -> bool:
        if not self._lq or not self._cq:
            return bool(self._lq)
        if self._set.tshift is None:
            return self._credit <= 0
        return self._lq[0].time_ps <= self._cq[0].time_ps + self._set.tshift

    def _l4s(self, packet: Arrival, now_ps: int) -> tuple[bool, bool]:
        p_cl = self._set.k * self._p
        if p_cl < 1:
            native = 0.0
            if len(self._lq) + 1 > self._set.th_len:
                native = self._laqm(now_ps - packet.time_ps)
            return False, self._recur("l", max(native, p_cl))
        if self._recur("l", self._p * self._p):
            return True, False
        return False, self._recur("l", min(p_cl, 1.0))

    def _classic(self, packet: Arrival) -> tuple[bool, bool]:
        p_c = self._p * self._p
        if self._recur("c", p_c):
            if packet.ecn == 0 or p_c >= min(1 / (self._set.k * self._set.k), 1):
                return True, False
            return False, True
        return False, False

    def _laqm(self, qdelay: int) -> float:
        if qdelay >= self._set.min_th + self._set.range:
            return 1.0
        if qdelay > self._set.min_th:
            return (qdelay - self._set.min_th) / self._set.range
        return 0.0

    def _recur(self, queue: str, likelihood: float) -> bool:
        self._count[queue] += likelihood
        if self._count[queue] > 1:
            self._count[queue] -= 1
            return True
        return False

    def _update(self, now_ps: int) -> None:
        while self._next_update <= now_ps:
            at = self._next_update
            heads = [queue[0].time_ps for queue in (self._cq, self._lq) if queue]
            curq = max((at - head) / PS_PER_S for head in heads) if heads else 0.0
            target = self._set.target / PS_PER_S
            p = self._p + (
                self._set.alpha * (curq - target) + self._set.beta * (curq - self._prevq)
            )
            self._p = min(max(p, 0.0), 1.0)
            self._prevq = curq
            self._next_update += self._set.tupdate


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a DualPI2; it draws nothing."""
    del seed
    log = Log(arrivals)
    return drive(arrivals, rate_bps, DualQueue(log, settings), log)
