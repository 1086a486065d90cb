"""DOCSIS-PIE as the pseudo-code of RFC 8034 runs it: an oracle apart from the implementation.

Source: RFC 8034 (February 2017), appendix A. Names follow the RFC; every line was compared with its
text. What it leaves open, and how it is read:

* The link is a constant rate, so the latency is queue_.byte_length() over that rate: MSR and
  PEAK_RATE are equal and the token bucket does not matter.
* The update runs at every multiple of INTERVAL, before packets of that instant.
* The limit is tested first and forgets the accumulated probability (A.3).
* One uniform draw for each decision that is random; the packet is dropped unless u > p1.
* "BUFFER_SIZE / 3" is compared in the unit of the limit, without the arriving packet.
* There is no ECN in the RFC; where asked for, capable packets are marked in place of a drop.
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

A = 0.25
B = 2.5
BURST_RESET_TIMEOUT = 1000 * MS
MEAN_PKTSIZE = 1024
MIN_PKTSIZE = 64
PROB_LOW = 0.85
PROB_HIGH = 8.5
LATENCY_LOW = 0.005
LATENCY_HIGH = 0.2

INACTIVE, QUIESCENT, ACTIVE = range(3)


@dataclass(frozen=True)
class Settings:
    latency_target: int = 10 * MS
    interval: int = 16 * MS
    max_burst: int = 142 * MS
    limit: Limit = field(default_factory=lambda: Limit(size=125_000))
    ecn: bool = False


class DocsisPieQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._rate = rate_bps
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._drop_prob = 0.0
        self._accu_prob = 0.0
        self._old_s = 0.0
        self._burst_allowance = 0
        self._burst_reset = 0
        self._state = INACTIVE
        self._next_update = settings.interval

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
            self._accu_prob = 0.0
            return
        if self._drop_early(packet):
            if self._set.ecn and packet.ecn != 0:
                self._log.marked(packet, EARLY)
            else:
                self._log.dropped(packet, EARLY)
                return
        self._fifo.append(packet)
        self._bytes += packet.size

    def _third_full(self) -> bool:
        limit = self._set.limit
        if limit.packets is not None:
            return 3 * len(self._fifo) >= limit.packets
        assert limit.size is not None
        return 3 * self._bytes >= limit.size

    def _drop_early(self, packet: Arrival) -> bool:
        if self._burst_allowance > 0:
            return False
        if self._drop_prob == 0:
            self._accu_prob = 0.0
        if self._state == INACTIVE:
            if not self._third_full():
                return False
            self._state = QUIESCENT
        p1 = min(self._drop_prob * packet.size / MEAN_PKTSIZE, PROB_LOW)
        self._accu_prob += p1
        if self._old_s < 0.5 * self._set.latency_target / PS_PER_S and self._drop_prob < 0.2:
            return False
        if self._bytes <= 2 * MEAN_PKTSIZE:
            return False
        if self._accu_prob < PROB_LOW:
            return False
        if self._accu_prob < PROB_HIGH and self._draws.uniform() > p1:
            return False
        self._accu_prob = 0.0
        if self._state == QUIESCENT:
            self._state = ACTIVE
            self._burst_allowance = self._set.max_burst
        return True

    def _update(self, now_ps: int) -> None:
        while self._next_update <= now_ps:
            self._control()
            self._next_update += self._set.interval

    def _control(self) -> None:
        target = self._set.latency_target / PS_PER_S
        qdelay = 8 * self._bytes / self._rate
        if self._burst_allowance > 0:
            self._drop_prob = 0.0
            self._burst_allowance = max(0, self._burst_allowance - self._set.interval)
        else:
            p = A * (qdelay - target) + B * (qdelay - self._old_s)
            for below, divisor in (
                (0.000001, 2048),
                (0.00001, 512),
                (0.0001, 128),
                (0.001, 32),
                (0.01, 8),
                (0.1, 2),
                (1, 0.5),
                (10, 0.125),
                (float("inf"), 0.03125),
            ):
                if self._drop_prob < below:
                    p /= divisor
                    break
            if self._drop_prob >= 0.1 and p > 0.02:
                p = 0.02
            self._drop_prob += p
            if qdelay < LATENCY_LOW and self._old_s < LATENCY_LOW:
                self._drop_prob *= 0.98
            elif qdelay > LATENCY_HIGH:
                self._drop_prob += 0.02
            top = PROB_LOW * MEAN_PKTSIZE / MIN_PKTSIZE
            self._drop_prob = min(max(self._drop_prob, 0.0), top)
        quiet = (
            qdelay < 0.5 * target
            and self._old_s < 0.5 * target
            and self._drop_prob == 0
            and self._burst_allowance == 0
        )
        if self._state == ACTIVE and quiet:
            self._state = QUIESCENT
            self._burst_reset = 0
        elif self._state == QUIESCENT:
            self._burst_reset = self._burst_reset + self._set.interval if quiet else 0
            if self._burst_reset > BURST_RESET_TIMEOUT:
                self._burst_reset = 0
                self._state = INACTIVE
        self._old_s = qdelay


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a DOCSIS-PIE queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, DocsisPieQueue(log, rate_bps, settings, Stream(seed)), log)
