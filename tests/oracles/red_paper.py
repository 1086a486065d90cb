#!/usr/bin/env python3
"""RED as the figures of its papers run it: an oracle apart from the implementation.

Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance" (1993),
figure 2 (detailed algorithm) and the byte option of section 4; "gentle" as Floyd recommended it in
2000; the adaptation of max_p and the automatic settings from Floyd, Gummadi and Shenker, "Adaptive
RED" (2001). Names follow the papers. What they leave open, and how it is read:

* The queue is what waits, without the packet in transmission. It "becomes empty" (q_time) when the
  link finds nothing to send; while the link sends its last packet the average moves on with q = 0.
* f(time - q_time) is the idle time over the transmission time of a packet of `avpkt` bytes, not
  rounded. A packet that is dropped at an idle link starts the idle time anew, since the average was
  brought up to date by it.
* "With probability p_a": one uniform draw in [0, 1) per packet in the region where marks are
  random, the packet is marked if it is below p_a. p_a is 1 where the formula is negative or larger.
* Byte option: p_b times the packet's size over `avpkt` (the paper: over the largest size).
* gentle: between max_th and twice max_th p_b rises from max_p to 1, treated as between the
  thresholds otherwise; from twice max_th every packet is marked.
* wait (of ns-2, in no paper): no mark until count times p_b reaches 1, then p_b / (2 - count p_b).
* "Mark" is a drop; with ecn an ECN-capable packet is marked instead, above the upper threshold
  only unless harddrop.
* limit: tested after all that; a packet that it refuses changes nothing else.
* Adaptive: at every multiple of the interval, before packets of that instant: above the target
  band and max_p at most `top`, max_p grows by min(alpha, max_p / 4); below it and max_p at least
  `bottom`, max_p is multiplied by beta. The band is 0.4 to 0.6 of the way from min_th to max_th.
* Automatic: w_q = 1 - exp(-1 / C), min_th = max(5, delay C / 2) packets, max_th = 3 min_th, with C
  the link's rate in packets of `avpkt` bytes per second.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from replay_io import (
    PS_PER_S,
    Arrival,
    Limit,
    Log,
    Outcome,
    drive,
    parse_limit,
    parse_rate,
    parse_size,
    parse_span,
    read_arrivals,
    write_outcomes,
)
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"
FORCED = "forced"


@dataclass(frozen=True)
class Settings:
    """Thresholds are in packets, or in bytes with `queue_in_bytes`; None is automatic."""

    min_th: float | None = 5.0
    max_th: float | None = 15.0
    w_q: float | None = 0.002
    max_p: float = 0.02
    limit: Limit = field(default_factory=lambda: Limit(packets=100))
    avpkt: int = 500
    queue_in_bytes: bool = False
    byte_mode: bool = False
    gentle: bool = False
    wait: bool = False
    ecn: bool = False
    harddrop: bool = False
    adaptive: bool = False
    delay_s: float = 0.005
    interval_ps: int = PS_PER_S // 2
    alpha: float = 0.01
    beta: float = 0.9
    top: float = 0.5
    bottom: float = 0.01


class RedQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._packet_s = settings.avpkt * 8 / rate_bps
        per_second = 1 / self._packet_s
        unit = settings.avpkt if settings.queue_in_bytes else 1
        min_th, max_th, w_q = settings.min_th, settings.max_th, settings.w_q
        if min_th is None:
            min_th = max(5.0, settings.delay_s * per_second / 2) * unit
        self._min = min_th
        self._max = 3 * min_th if max_th is None else max_th
        self._w = 1 - math.exp(-1 / per_second) if w_q is None else w_q
        self._max_p = settings.max_p
        self._avg = 0.0
        self._count = -1
        self._q_time: int | None = 0
        self._next_adaptation = settings.interval_ps

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            self._q_time = now_ps
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        return packet

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        while self._set.adaptive and self._next_adaptation <= now_ps:
            self._adapt()
            self._next_adaptation += self._set.interval_ps
        idle = self._q_time is not None
        if self._accepts(packet, now_ps):
            self._fifo.append(packet)
            self._bytes += packet.size
            self._q_time = None
        elif idle:
            self._q_time = now_ps

    def _accepts(self, packet: Arrival, now_ps: int) -> bool:
        size = self._bytes if self._set.queue_in_bytes else len(self._fifo)
        if self._q_time is None:
            self._avg = (1 - self._w) * self._avg + self._w * size
        else:
            m = (now_ps - self._q_time) / PS_PER_S / self._packet_s
            self._avg = (1 - self._w) ** m * self._avg
        chosen = None
        ceiling = 2 * self._max if self._set.gentle else self._max
        if self._min <= self._avg < ceiling:
            self._count += 1
            if self._draws.uniform() < self._p_a(packet.size):
                chosen = EARLY
                self._count = 0
        elif self._avg >= ceiling:
            chosen = FORCED
            self._count = 0
        else:
            self._count = -1
        marked = False
        if chosen is not None:
            marked = self._set.ecn and packet.ecn != 0
            if chosen == FORCED and self._set.harddrop:
                marked = False
            if not marked:
                self._log.dropped(packet, chosen)
                return False
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return False
        if marked:
            self._log.marked(packet, EARLY)
        return True

    def _p_a(self, size: int) -> float:
        if self._avg < self._max:
            p_b = self._max_p * (self._avg - self._min) / (self._max - self._min)
        else:
            p_b = self._max_p + (1 - self._max_p) * (self._avg - self._max) / self._max
        if self._set.byte_mode:
            p_b = p_b * size / self._set.avpkt
        spread = self._count * p_b
        if self._set.wait:
            if spread < 1:
                return 0.0
            return p_b / (2 - spread) if spread < 2 else 1.0
        return p_b / (1 - spread) if spread < 1 else 1.0

    def _adapt(self) -> None:
        band = self._max - self._min
        if self._avg > self._min + 0.6 * band and self._max_p <= self._set.top:
            self._max_p += min(self._set.alpha, self._max_p / 4)
        elif self._avg < self._min + 0.4 * band and self._max_p >= self._set.bottom:
            self._max_p *= self._set.beta


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a RED queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, RedQueue(log, rate_bps, settings, Stream(seed)), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="RED by the figures of its papers.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--min", default=5.0, type=float, dest="min_th", help="packets or bytes")
    parser.add_argument("--max", default=15.0, type=float, dest="max_th", help="packets or bytes")
    parser.add_argument("--weight", default=0.002, type=float, dest="w_q")
    parser.add_argument("--probability", default=0.02, type=float, dest="max_p")
    parser.add_argument("--limit", default=Limit(packets=100), type=parse_limit)
    parser.add_argument("--avpkt", default=500, type=parse_size)
    parser.add_argument("--interval", default=parse_span("0.5s"), type=parse_span)
    for flag in ("queue-in-bytes", "byte-mode", "gentle", "wait", "ecn", "harddrop", "adaptive"):
        parser.add_argument(f"--{flag}", action="store_true")
    options = vars(parser.parse_args())
    arrivals, rate, seed = (options.pop(name) for name in ("arrivals", "rate", "seed"))
    settings = Settings(interval_ps=options.pop("interval"), **options)
    write_outcomes(run(read_arrivals(arrivals), rate, settings, seed), sys.stdout)


if __name__ == "__main__":
    main()
