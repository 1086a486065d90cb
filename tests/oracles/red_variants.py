#!/usr/bin/env python3
"""RED with another rule for max_p or another curve, and ns-3's RED: an oracle apart from the code.

Sources:

* Feng, Kandlur, Saha and Shin, "A Self-Configuring RED Gateway", INFOCOM 1999: whenever the average
  is brought up to date and has come below min_th from elsewhere max_p is divided by alpha (3), and
  multiplied by beta (2) when it has come above max_th from elsewhere. The paper itself was not at
  hand; its pseudo-code as ns-2.35 (queue/red.cc) and ns-3 (red-queue-disc.cc) repeat it. The status
  begins as Above in both; ns-2 divides by its alpha_ 0.01 and multiplies by its beta_ 0.9.
* Zhou, Yeung and Li, "Nonlinear RED", Computer Networks 2006: p_b = 1.5 max_p x^2 between the
  thresholds, x the way of the average from min_th to max_th; the rest is RED's.
* Kim and Lee, "Refined Adaptive RED in TCP/IP Networks", SICE-ICASE 2006: every half second max_p is
  multiplied by 1 - 0.17 (t - avg) / (t - min_th) while avg is below t = min_th + 0.48 (max_th -
  min_th), and raised by 0.25 max_p (avg - u) / u while avg is above u = min_th + 0.52 (max_th -
  min_th), within 0.01 to 0.5. The paper was not at hand; M. Tahiliani's patch of ns-2.35 (2012) and
  his paper on CARED (J. Netw. Comput. Appl. 35, 2012) repeat the rule.
* ns-3's rules for a packet ("ns"), 3.24 (src/network/utils/red-queue.cc) and today: the average
  counts whole packets of an idle time, and one; none is dropped while fewer than two wait; the
  first packet above min_th is spared; gentle's line keeps the first max_p; wait.

Packets only. The "paper" rules are those of red_paper.py.
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
class Settings:
    ns: bool = False
    min_th: float = 5.0
    max_th: float = 15.0
    w_q: float = 0.002
    max_p: float = 0.02
    limit: int = 100
    avpkt: int = 500
    bandwidth: int | None = None
    gentle: bool = False
    # ns-2: forced drops and a full queue start the count anew, and full outdoes a random drop.
    resets: bool = False
    wait: bool = False
    quadratic: bool = False
    feng: tuple[float, float] | None = None
    refined: bool = False


class VariantQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._rate = settings.bandwidth or rate_bps
        self._avg = 0.0
        self._max_p = settings.max_p
        self._count = 0 if settings.ns else -1
        self._old = False
        self._status = "Above"
        self._idle_since: int | None = 0
        self._halves = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if self._fifo:
            return self._fifo.popleft()
        self._idle_since = now_ps
        return None

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        idle = self._idle_since
        self._refine(now_ps)
        self._update(now_ps)
        reason = self._judge_ns() if self._set.ns else self._judge_paper()
        if len(self._fifo) >= self._set.limit:
            if self._set.resets:
                self._count = 0
                reason = reason if reason == FORCED else OVERFLOW
            reason = reason or OVERFLOW
        if reason is None:
            self._fifo.append(packet)
            self._idle_since = None
        else:
            self._log.dropped(packet, reason)
            self._idle_since = None if idle is None else now_ps

    def _update(self, now_ps: int) -> None:
        keep, w_q, queue = 1 - self._set.w_q, self._set.w_q, len(self._fifo)
        if self._idle_since is None:
            self._avg = keep * self._avg + w_q * queue
        elif self._set.ns:
            idle = (now_ps - self._idle_since) * self._rate // (8 * self._set.avpkt * PS_PER_S)
            self._avg = keep ** (idle + 1) * self._avg + w_q * queue
        else:
            packet_s = 8 * self._set.avpkt / self._rate
            self._avg = keep ** ((now_ps - self._idle_since) / PS_PER_S / packet_s) * self._avg
        if self._set.feng is not None:
            alpha, beta = self._set.feng
            if self._set.min_th < self._avg < self._set.max_th:
                self._status = "Between"
            elif self._avg < self._set.min_th and self._status != "Below":
                self._status = "Below"
                self._max_p /= alpha
            elif self._avg > self._set.max_th and self._status != "Above":
                self._status = "Above"
                self._max_p *= beta

    def _refine(self, now_ps: int) -> None:
        """Whatever half seconds have passed: the average has moved at arrivals only."""
        halves = 2 * now_ps // PS_PER_S
        while self._set.refined and self._halves < halves:
            self._halves += 1
            span = self._set.max_th - self._set.min_th
            low, high = self._set.min_th + 0.48 * span, self._set.max_th - 0.48 * span
            if self._avg < low and self._max_p >= 0.01:
                way = (low - self._avg) / (low - self._set.min_th)
                self._max_p *= 1 - 0.17 * way
            elif self._avg > high and self._max_p <= 0.5:
                self._max_p += 0.25 * self._max_p * (self._avg - high) / high

    def _ceiling(self) -> float:
        return 2 * self._set.max_th if self._set.gentle else self._set.max_th

    def _judge_paper(self) -> str | None:
        if self._avg < self._set.min_th:
            self._count = -1
            return None
        if self._avg >= self._ceiling():
            self._count = 0
            return FORCED
        self._count += 1
        if self._draws.uniform() < self._spaced(self._p_b()):
            self._count = 0
            return EARLY
        return None

    def _judge_ns(self) -> str | None:
        self._count += 1
        if self._avg < self._set.min_th or len(self._fifo) <= 1:
            self._old = False
            return None
        if self._avg >= self._ceiling():
            self._count = 0 if self._set.resets else self._count
            return FORCED
        if not self._old:
            self._old = True
            self._count = 1
            return None
        if self._draws.uniform() <= self._spaced(self._p_b()):
            self._count = 0
            return EARLY
        return None

    def _p_b(self) -> float:
        low, high = self._set.min_th, self._set.max_th
        if self._avg < high:
            way = (self._avg - low) / (high - low)
            p_b = self._max_p * (1.5 * way * way if self._set.quadratic else way)
        elif self._set.ns:
            start = self._set.max_p
            p_b = (1 - start) / high * self._avg + (2 * start - 1)
        else:
            p_b = self._max_p + (1 - self._max_p) * (self._avg - high) / high
        return min(p_b, 1.0)

    def _spaced(self, p_b: float) -> float:
        spread = self._count * p_b
        if self._set.wait:
            if spread < 1:
                return 0.0
            return min(p_b / (2 - spread), 1.0) if spread < 2 else 1.0
        return min(p_b / (1 - spread), 1.0) if spread < 1 else 1.0


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind such a queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, VariantQueue(log, rate_bps, settings, Stream(seed)), log)
