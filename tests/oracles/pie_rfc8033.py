#!/usr/bin/env python3
"""PIE as the pseudo-code of RFC 8033 runs it: an oracle apart from the implementation.

Source: RFC 8033 (February 2017), appendix A (basic PIE, delay by timestamps) and the enhancements
of section 5 and appendix B: ECN, departure rate, de-randomisation, cap. Names follow the RFC; every
line was compared with its text. PIE is always active (section 5.3 is optional). What the RFC leaves
open, and how it is read:

* calculate_drop_prob runs at every multiple of T_UPDATE, before packets of that instant.
* With timestamps current_qdelay is the wait of the packet that left last, also while the link is
  idle; nothing sets it to zero.
* queue_.byte_length() in enque() is without the arriving packet, in deque() without the leaving
  one; the packet in transmission is not in the queue.
* With the departure rate (appendix B) the delay is computed at updates only, and the probability
  decays while it is below half of the reference instead of at zero. A measurement begins once
  DQ_THRESHOLD bytes wait.
* With de-randomisation drop_early() is asked before the burst allowance is looked at (appendix B),
  without it only once there is none (appendix A).
* The tail drop limit is tested first and forgets the accumulated probability (appendix B). In
  enque() accu_prob_ = 0 stands below an else without braces; it is taken as its indentation says:
  after a drop, not after a mark.
* One uniform draw for each decision that is random.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import PS_PER_S, Arrival, Limit, Log, Outcome, drive
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"
DQ_THRESHOLD = 2**14
MS = PS_PER_S // 1000


@dataclass(frozen=True)
class Settings:
    qdelay_ref: int = 15 * MS
    t_update: int = 15 * MS
    max_burst: int = 150 * MS
    alpha: float = 0.125
    beta: float = 1.25
    mean_pktsize: int = 1024
    limit: Limit = field(default_factory=lambda: Limit(packets=1000))
    ecn: bool = False
    mark_ecnth: float = 0.1
    dq_rate: bool = False
    derandomize: bool = False
    cap: bool = False


class PieQueue:
    def __init__(self, log: Log, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._drop_prob = 0.0
        self._accu_prob = 0.0
        self._current_s = 0.0
        self._old_s = 0.0
        self._burst = settings.max_burst
        self._next_update = settings.t_update
        self._in_measurement = False
        self._measurement_start = 0
        self._dq_count = 0
        self._avg_dq_time = 0.0

    def __len__(self) -> int:
        return len(self._fifo)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        self._update(now_ps)
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            self._accu_prob = 0.0
            return
        half = self._set.qdelay_ref / PS_PER_S / 2
        if self._drop_prob == 0 and self._current_s < half and self._old_s < half:
            self._burst = self._set.max_burst
        if self._set.derandomize:
            chosen = self._drop_early() and self._burst == 0
        else:
            chosen = self._burst == 0 and self._drop_early()
        if chosen:
            if self._set.ecn and packet.ecn != 0 and self._drop_prob < self._set.mark_ecnth:
                self._log.marked(packet, EARLY)
            else:
                self._log.dropped(packet, EARLY)
                self._accu_prob = 0.0
                return
        self._fifo.append(packet)
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        self._update(now_ps)
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        if self._set.dq_rate:
            self._measure(packet, now_ps)
        else:
            self._current_s = (now_ps - packet.time_ps) / PS_PER_S
        return packet

    def _drop_early(self) -> bool:
        half = self._set.qdelay_ref / PS_PER_S / 2
        if self._old_s < half and self._drop_prob < 0.2:
            return False
        if self._bytes <= 2 * self._set.mean_pktsize:
            return False
        if self._set.derandomize:
            if self._drop_prob == 0:
                self._accu_prob = 0.0
            self._accu_prob += self._drop_prob
            if self._accu_prob < 0.85:
                return False
            if self._accu_prob >= 8.5:
                return True
        if self._draws.uniform() < self._drop_prob:
            self._accu_prob = 0.0
            return True
        return False

    def _measure(self, packet: Arrival, now_ps: int) -> None:
        if self._in_measurement:
            self._dq_count += packet.size
            if self._dq_count >= DQ_THRESHOLD:
                dq_time = (now_ps - self._measurement_start) / PS_PER_S
                if self._avg_dq_time == 0:
                    self._avg_dq_time = dq_time
                else:
                    weight = DQ_THRESHOLD / 2**16
                    self._avg_dq_time = dq_time * weight + self._avg_dq_time * (1 - weight)
                self._in_measurement = False
        if self._bytes >= DQ_THRESHOLD and not self._in_measurement:
            self._in_measurement = True
            self._measurement_start = now_ps
            self._dq_count = 0

    def _update(self, now_ps: int) -> None:
        while self._next_update <= now_ps:
            self._calculate_drop_prob()
            self._next_update += self._set.t_update

    def _calculate_drop_prob(self) -> None:
        ref = self._set.qdelay_ref / PS_PER_S
        if self._set.dq_rate:
            self._current_s = self._bytes * self._avg_dq_time / DQ_THRESHOLD
        current, old = self._current_s, self._old_s
        p = self._set.alpha * (current - ref) + self._set.beta * (current - old)
        for below, divisor in (
            (0.000001, 2048),
            (0.00001, 512),
            (0.0001, 128),
            (0.001, 32),
            (0.01, 8),
            (0.1, 2),
        ):
            if self._drop_prob < below:
                p /= divisor
                break
        if self._set.cap and self._drop_prob >= 0.1 and p > 0.02:
            p = 0.02
        self._drop_prob += p
        calm = (current < ref / 2 and old < ref / 2) if self._set.dq_rate else current == old == 0
        if calm:
            self._drop_prob *= 0.98
        self._drop_prob = min(max(self._drop_prob, 0.0), 1.0)
        self._old_s = current
        self._burst = max(0, self._burst - self._set.t_update)


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a PIE queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, PieQueue(log, settings, Stream(seed)), log)
