#!/usr/bin/env python3
"""RIO by its paper, coupled and decoupled, and ns-2's RIO: an oracle apart from the implementation.

Sources: Clark and Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN
6(4), 1998: the averages of IN packets and of all, twin RED curves, the OUT curve on the average of
all (the paper was not available; read in what cites it, and in ns-2). RIO-D: OUT by the average of
OUT packets. ns-2.35 queue/rio.cc.

Read so, where the paper is silent:

* Each curve is RED's of 1993 (red_paper.py), with a count of its own.
* The average of all moves on every arrival, that of a kind on arrivals of that kind. An average
  decays by all the idle time of the link since it was last moved; the arrival that ends an idle
  time adds no sample, as in RED.

ns-2: averages move on IN arrivals only, and `idletime_` is one for both; the average of all decays
only if no packet has left since the link was idle, that of IN packets only if no IN packet has
arrived or left since. OUT's probability is 1 / linterm_ (10), since out_linterm_ is read by nobody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from replay_io import PS_PER_S, Arrival, Log, Outcome, drive
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"
FORCED = "forced"


@dataclass(frozen=True)
class Curve:
    low: float
    high: float
    max_p: float


@dataclass(frozen=True)
class Settings:
    ns2: bool = False
    coupled: bool = True
    inside: Curve = Curve(40, 70, 0.02)
    outside: Curve = Curve(10, 30, 0.2)
    w_q: float = 0.002
    limit: int = 100
    avpkt: int = 500
    wait: bool = False
    ecn: bool = False


NS2 = Settings(ns2=True, inside=Curve(15, 30, 0.02), outside=Curve(5, 15, 0.1), limit=50, wait=True)


def is_in(packet: Arrival) -> bool:
    return packet.flow != 0


class Average:
    """An average, and the idle time of the link that it has accounted for."""

    def __init__(self) -> None:
        self.value = 0.0
        self.idle_ps = 0


class RioQueue:
    """The paper's."""

    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._packet_s = 8 * settings.avpkt / rate_bps
        self._fifo: deque[Arrival] = deque()
        self._averages = {"in": Average(), "out": Average(), "all": Average()}
        self._counts = {"in": -1, "out": -1}
        self._idle_since: int | None = 0
        self._idle_ps = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if self._fifo:
            return self._fifo.popleft()
        self._idle_since = now_ps
        return None

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        was_idle = self._idle_since is not None
        if self._idle_since is not None:
            self._idle_ps += now_ps - self._idle_since
            self._idle_since = None
        kind = "in" if is_in(packet) else "out"
        mine = sum(is_in(waiting) == is_in(packet) for waiting in self._fifo)
        self._move(self._averages[kind], mine, was_idle)
        self._move(self._averages["all"], len(self._fifo), was_idle)
        by_all = kind == "out" and self._set.coupled
        average = self._averages["all" if by_all else kind].value
        reason = self._judge(kind, average)
        marked = reason is not None and self._set.ecn and packet.ecn != 0
        if reason is not None and not marked:
            self._log.dropped(packet, reason)
        elif len(self._fifo) >= self._set.limit:
            self._log.dropped(packet, OVERFLOW)
        else:
            if marked:
                self._log.marked(packet, "early" if reason == EARLY else "threshold")
            self._fifo.append(packet)
            return
        self._idle_since = now_ps if was_idle else None

    def _move(self, average: Average, queue: int, ends_idle: bool) -> None:
        idle = self._idle_ps - average.idle_ps
        average.idle_ps = self._idle_ps
        w_q = self._set.w_q
        if idle > 0:
            average.value *= (1 - w_q) ** (idle / PS_PER_S / self._packet_s)
        if not ends_idle:
            average.value = (1 - w_q) * average.value + w_q * queue

    def _judge(self, kind: str, average: float) -> str | None:
        curve = self._set.inside if kind == "in" else self._set.outside
        if average < curve.low:
            self._counts[kind] = -1
            return None
        if average >= curve.high:
            self._counts[kind] = 0
            return FORCED
        self._counts[kind] += 1
        if self._draws.uniform() < spaced(curve, average, self._counts[kind], self._set.wait):
            self._counts[kind] = 0
            return EARLY
        return None


def spaced(curve: Curve, average: float, count: int, wait: bool) -> float:
    p = curve.max_p * ((average - curve.low) / (curve.high - curve.low))
    due = count * p
    if wait:
        if due < 1:
            return 0.0
        return min(p / (2 - due), 1.0) if due < 2 else 1.0
    return min(p / (1 - due), 1.0) if due < 1 else 1.0


class Ns2Queue:
    """ns-2's."""

    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._rate = rate_bps
        self._fifo: deque[Arrival] = deque()
        self._ave = {"in": 0.0, "all": 0.0}
        self._idle = {"in": True, "all": True}
        self._idletime = 0
        self._count = {"in": 0, "out": 0}
        self._old = {"in": False, "out": False}

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            self._idle = {"in": True, "all": True}
            self._idletime = now_ps
            return None
        packet = self._fifo.popleft()
        self._idle["all"] = False
        if is_in(packet):
            self._idle["in"] = False
        return packet

    def _estimate(self, which: str, queue: int, now_ps: int) -> None:
        m = 1
        if self._idle[which]:
            self._idle[which] = False
            m += (now_ps - self._idletime) * self._rate // (8 * self._set.avpkt * PS_PER_S)
        w_q = self._set.w_q
        self._ave[which] = self._ave[which] * (1 - w_q) ** m + w_q * queue

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        kind = "in" if is_in(packet) else "out"
        present = len(self._fifo)
        if kind == "in":
            present = sum(is_in(waiting) for waiting in self._fifo)
            self._estimate("all", len(self._fifo), now_ps)
            self._estimate("in", present, now_ps)
        self._count[kind] += 1
        curve = self._set.inside if kind == "in" else self._set.outside
        average = self._ave["in" if kind == "in" else "all"]
        reason = None
        if average >= curve.low and present > 1:
            if average >= curve.high:
                reason = FORCED
            elif not self._old[kind]:
                self._count[kind] = 1
                self._old[kind] = True
            elif self._draws.uniform() <= spaced(curve, average, self._count[kind], self._set.wait):
                self._count[kind] = 0
                reason = EARLY
        else:
            self._old[kind] = False
        if len(self._fifo) >= self._set.limit:
            reason = FORCED if reason == FORCED else OVERFLOW
        if reason in (FORCED, OVERFLOW) and kind == "in":
            self._count["in"] = 0
        if reason is None:
            self._fifo.append(packet)
        else:
            self._log.dropped(packet, reason)


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind RIO; flow 0 is OUT."""
    log = Log(arrivals)
    draws = Stream(seed)
    if settings.ns2:
        return drive(arrivals, rate_bps, Ns2Queue(log, rate_bps, settings, draws), log)
    return drive(arrivals, rate_bps, RioQueue(log, rate_bps, settings, draws), log)
