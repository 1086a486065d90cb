#!/usr/bin/env python3
"""GSP as its draft gives it, basic and adaptive: an oracle apart from the implementation.

Source: draft-lauten-aqm-gsp-03 (May 2016), sections 4.1 and 4.2. In its order, at every arrival: the
state (OVERFLOW if the packet would not fit, from there DRAIN if the queue is empty, from there CLEAR
if it is above the threshold), the cumulative time (twice the time above; less the time below only
in CLEAR) and its bounds, the interval, the decision. What it leaves open, and how it is read:

* The queue is what waits, without the arrival and the packet in transmission. The times are those
  since the last arrival, exact: every arrival and every departure ends a stretch of one length.
* "Below" is at the threshold or below it. now() at the start is 0.
* A packet that the threshold drops is not tested against the buffer again; others are.
"""

from __future__ import annotations

import argparse
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
    parse_span,
    read_arrivals,
    write_outcomes,
)

OVERFLOW = "overlimit"
FORCED = "forced"
CLEAR, OVERFLOWED, DRAINED = range(3)


@dataclass(frozen=True)
class Settings:
    threshold: Limit = field(default_factory=lambda: Limit(packets=50))
    limit: Limit = field(default_factory=lambda: Limit(packets=100))
    interval_ps: int = PS_PER_S // 5
    adaptive: bool = True
    tau_ps: int = PS_PER_S
    alpha: float = 2.0
    max_time_ps: int = 300 * PS_PER_S
    ecn: bool = False


class GspQueue:
    def __init__(self, log: Log, settings: Settings) -> None:
        self._log = log
        self._set = settings
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._state = CLEAR
        self._since_ps = 0
        self._above_ps = 0
        self._below_ps = 0
        self.cumul_ps = 0.0
        self._timeout_ps = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            return None
        self._stretch(now_ps)
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        return packet

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        self._stretch(now_ps)
        settings = self._set
        fits = settings.limit.admits(len(self._fifo) + 1, self._bytes + packet.size)
        if not fits:
            self._state = OVERFLOWED
        if self._state == OVERFLOWED and not self._fifo:
            self._state = DRAINED
        if self._state == DRAINED and self._is_above():
            self._state = CLEAR
        drift = settings.alpha * self._above_ps
        if self._state == CLEAR:
            drift -= self._below_ps
        self.cumul_ps = min(float(settings.max_time_ps), max(0.0, self.cumul_ps + drift))
        self._above_ps = self._below_ps = 0
        interval = float(settings.interval_ps)
        if settings.adaptive:
            interval /= 1 + self.cumul_ps / settings.tau_ps
        marked = False
        if self._is_above() and now_ps > self._timeout_ps:
            self._timeout_ps = now_ps + int(interval)
            marked = settings.ecn and packet.ecn != 0
            if not marked:
                self._log.dropped(packet, FORCED)
                return
        if not fits:
            self._log.dropped(packet, OVERFLOW)
            return
        if marked:
            self._log.marked(packet, "threshold")
        self._fifo.append(packet)
        self._bytes += packet.size

    def _is_above(self) -> bool:
        return not self._set.threshold.admits(len(self._fifo), self._bytes)

    def _stretch(self, now_ps: int) -> None:
        if self._is_above():
            self._above_ps += now_ps - self._since_ps
        else:
            self._below_ps += now_ps - self._since_ps
        self._since_ps = now_ps


def run(arrivals: Sequence[Arrival], rate_bps: int, settings: Settings) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a GSP queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, GspQueue(log, settings), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="GSP by its draft.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--threshold", default=Limit(packets=50), type=parse_limit)
    parser.add_argument("--limit", default=Limit(packets=1000), type=parse_limit)
    parser.add_argument(
        "--interval", default=PS_PER_S // 5, type=parse_span, dest="interval_ps", help="e.g. 200ms"
    )
    parser.add_argument("--basic", action="store_false", dest="adaptive")
    parser.add_argument("--ecn", action="store_true")
    options = vars(parser.parse_args())
    arrivals, rate = (options.pop(name) for name in ("arrivals", "rate"))
    write_outcomes(run(read_arrivals(arrivals), rate, Settings(**options)), sys.stdout)


if __name__ == "__main__":
    main()
