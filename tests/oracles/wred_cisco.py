#!/usr/bin/env python3
"""WRED by Cisco's description, and Linux's gred in WRED mode: an oracle apart from the code.

Sources:

* Cisco IOS, "Congestion Avoidance Overview" and "Configuring Weighted Random Early Detection": one
  average of the whole queue, average = old (1 - 2^-n) + queue 2^-n, brought up to date when a
  packet arrives; for each class two thresholds and a mark probability denominator; below the least
  the packet is queued, between the two it is dropped with a probability that grows linearly up to
  1 / denominator at the upper one, beyond that it is dropped. Nothing is said of spacing, so there
  is none: one draw for each packet in between. With ECN packets in between are marked if they can
  be; beyond the upper threshold they are dropped.
* Floyd and Jacobson 1993, figure 2, for idle times, where Cisco says nothing: the average decays
  as by arrivals at an empty queue of as many packets of `avpkt` bytes as the link could have sent.
  A packet that is dropped at an idle link starts the idle time anew.
* Linux net/sched/sch_gred.c with several virtual queues of one priority (WRED mode), and
  include/net/red.h: bytes, whole numbers; the average is shared, the count and the draw are each
  class's own. `tc`'s weight and table of idle times as it sets them up (iproute2 tc_red.c).

Classes are the flows here; the last one's settings are those of all flows beyond.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from replay_io import PS_PER_S, Arrival, Log, Outcome, drive
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"
FORCED = "forced"


@dataclass(frozen=True)
class Settings:
    """Thresholds and limit in packets (Cisco) or bytes (Linux)."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    max_p: tuple[float, ...]
    limit: int
    linux: bool = False
    log_weight: int = 9
    avpkt: int = 1000
    bandwidth: int = 10_000_000
    ecn: bool = False
    harddrop: bool = True

    def of(self, packet: Arrival) -> tuple[int, int, float]:
        def pick(values: tuple[float, ...]) -> float:
            return values[min(packet.flow, len(values) - 1)]

        return int(pick(self.low)), int(pick(self.high)), pick(self.max_p)

    def number(self, packet: Arrival) -> int:
        most = max(len(self.low), len(self.high), len(self.max_p))
        return min(packet.flow, most - 1)


class CiscoQueue:
    def __init__(self, log: Log, settings: Settings, draws: Stream, rate_bps: int) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._average = 0.0
        self._packet_s = 8 * settings.avpkt / rate_bps
        self._idle_since_ps: int | None = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            self._idle_since_ps = now_ps
            return None
        return self._fifo.popleft()

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        weight = 2.0**-self._set.log_weight
        idle = self._idle_since_ps
        self._idle_since_ps = None
        if idle is None:
            self._average = (1 - weight) * self._average + weight * len(self._fifo)
        else:
            packets = (now_ps - idle) / PS_PER_S / self._packet_s
            self._average = (1 - weight) ** packets * self._average
        low, high, max_p = self._set.of(packet)
        reason = None
        if self._average > high:
            reason = FORCED
        elif self._average >= low:
            p = max_p * ((self._average - low) / (high - low))
            if self._draws.uniform() < p:
                reason = EARLY
        marks = self._set.ecn and packet.ecn != 0
        marks = marks and (reason == EARLY or (reason == FORCED and not self._set.harddrop))
        if reason is not None and not marks:
            self._log.dropped(packet, reason)
            if idle is not None:
                self._idle_since_ps = now_ps
        elif len(self._fifo) >= self._set.limit:
            self._log.dropped(packet, OVERFLOW)
        else:
            if marks:
                self._log.marked(packet, "early" if reason == EARLY else "threshold")
            self._fifo.append(packet)


class GredQueue:
    def __init__(self, log: Log, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._qavg = 0
        self._idle_since_ps: int | None = None
        self._count: dict[int, int] = {}
        self._random: dict[int, int] = {}
        self._cell_log, self._table = self._damping()

    def __len__(self) -> int:
        return len(self._fifo)

    def _damping(self) -> tuple[int, list[int]]:
        """tc_red_eval_idle_damping, with ticks of 64 ns."""
        xmit = math.floor(self._set.avpkt * 8 / self._set.bandwidth * 1e6 * 15.625)
        lw = -math.log(1 - 1 / (1 << self._set.log_weight)) / xmit
        maxtime = 31 / lw
        clog = 0
        while maxtime / (1 << clog) >= 512:
            clog += 1
        table = [0] * 256
        for i in range(255):
            table[i] = int(min((i << clog) * lw, 31))
        table[255] = 31
        return clog, table

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        if self._bytes == 0:
            self._idle_since_ps = now_ps
        return packet

    def _decayed(self, idle_us: int) -> int:
        idle_us = min(idle_us, 255 << self._cell_log)
        shift = self._table[(idle_us >> self._cell_log) & 255]
        if shift:
            return self._qavg >> shift
        lost = (self._qavg * idle_us) >> self._cell_log
        return self._qavg - lost if lost < self._qavg >> 1 else self._qavg >> 1

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        wlog = self._set.log_weight
        if self._idle_since_ps is None:
            self._qavg += self._bytes - (self._qavg >> wlog)
        else:
            # The clock of the kernel, read in microseconds of the difference.
            self._qavg = self._decayed((now_ps - self._idle_since_ps) * 1_000_000 // PS_PER_S)
            self._idle_since_ps = None
        low, high, max_p = self._set.of(packet)
        number = self._set.number(packet)
        reciprocal = max(int(max_p * 2**32) // (high - low), 1)
        count = self._count.get(number, -1)
        reason = None
        if self._qavg < low << wlog:
            count = -1
        elif self._qavg >= high << wlog:
            reason = FORCED
            count = -1
        else:
            count += 1
            if count == 0:
                self._random[number] = (self._draws.bits() >> 32) // reciprocal
            elif ((self._qavg - (low << wlog)) >> wlog) * count >= self._random[number]:
                count = 0
                self._random[number] = (self._draws.bits() >> 32) // reciprocal
                reason = EARLY
        self._count[number] = count
        marks = self._set.ecn and packet.ecn != 0
        marks = marks and (reason == EARLY or (reason == FORCED and not self._set.harddrop))
        if reason is not None and not marks:
            self._log.dropped(packet, reason)
        elif self._bytes + packet.size > self._set.limit:
            self._log.dropped(packet, OVERFLOW)
        else:
            if marks:
                self._log.marked(packet, "early" if reason == EARLY else "threshold")
            self._fifo.append(packet)
            self._bytes += packet.size


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind WRED; flows are classes."""
    log = Log(arrivals)
    draws = Stream(seed)
    if settings.linux:
        return drive(arrivals, rate_bps, GredQueue(log, settings, draws), log)
    return drive(arrivals, rate_bps, CiscoQueue(log, settings, draws, rate_bps), log)
