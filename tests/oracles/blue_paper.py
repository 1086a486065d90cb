#!/usr/bin/env python3
"""BLUE as its figure and its port to ns-2 run it: an oracle apart from the implementation.

Source: Feng, Kandlur, Saha and Shin, "BLUE: A New Class of Active Queue Management Algorithms"
(UM CSE-TR-387-99; ToN 2002), figure of the algorithm, from its many restatements; the port to ns-2
by Thulasidasan (blue.cc, 2001-2002) for `ns2`. Names follow the paper. What it leaves open:

* One uniform draw in [0, 1) for every arrival, marked if it is below p_m; before the queue is asked
  for room. "Marked" is a drop; with ecn a capable packet is marked instead.
* "Packet loss" is a packet that finds no room. With a threshold L the event is also a packet after
  whose arrival more than L wait.
* "Link idle" is the link looking for a packet and finding none: after the last packet of the queue,
  and when the packet that comes to an idle link is dropped (else p_m = 1 would be for ever).
* "last_update" is one for both directions and begins at 0; "(now - last_update) > freeze_time".

ns2: a packet is marked if the draw is at most p_m; it is put into the queue, and taken out again
if `limit` packets or more wait with it; the two directions have a hold time and a last update of
their own; with algorithm_up 2 an increase doubles p_m, and adds d1 twice (a case falls through).
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
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"


@dataclass(frozen=True)
class Settings:
    d1: float = 0.02
    d2: float = 0.002
    freeze_up_ps: int = PS_PER_S // 10
    freeze_down_ps: int = PS_PER_S // 10
    threshold: Limit | None = None
    limit: Limit = field(default_factory=lambda: Limit(size=100_000))
    ecn: bool = False
    ns2: bool = False
    algorithm_up: int = 0


class BlueQueue:
    def __init__(self, log: Log, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self.p_m = 0.0
        self._last_up = 0
        self._last_down = 0
        self._idle = True

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            self._idle = True
            self._decrease(now_ps)
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        return packet

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if self._accepts(packet, now_ps):
            self._fifo.append(packet)
            self._bytes += packet.size
            self._idle = False
        elif self._idle:
            self._decrease(now_ps)

    def _accepts(self, packet: Arrival, now_ps: int) -> bool:
        draw = self._draws.uniform()
        chosen = draw <= self.p_m if self._set.ns2 else draw < self.p_m
        marked = chosen and self._set.ecn and packet.ecn != 0
        if chosen and not marked:
            self._log.dropped(packet, EARLY)
            return False
        if self._full(packet):
            self._increase(now_ps)
            self._log.dropped(packet, OVERFLOW)
            return False
        level = self._set.threshold
        if level is not None and not level.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._increase(now_ps)
        if marked:
            self._log.marked(packet, EARLY)
        return True

    def _full(self, packet: Arrival) -> bool:
        if self._set.ns2:
            assert self._set.limit.packets is not None
            return len(self._fifo) + 1 >= self._set.limit.packets
        return not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size)

    def _increase(self, now_ps: int) -> None:
        if now_ps - self._last_up <= self._set.freeze_up_ps:
            return
        self._last_up = now_ps
        if not self._set.ns2:
            self._last_down = now_ps
        if self._set.algorithm_up == 2:
            self.p_m = 2 * self.p_m + self._set.d1
        self.p_m = min(1.0, self.p_m + self._set.d1)

    def _decrease(self, now_ps: int) -> None:
        if now_ps - self._last_down <= self._set.freeze_down_ps:
            return
        self._last_down = now_ps
        if not self._set.ns2:
            self._last_up = now_ps
        self.p_m = max(0.0, self.p_m - self._set.d2)


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a BLUE queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, BlueQueue(log, settings, Stream(seed)), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="BLUE by the figure of its paper.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--increment", default=0.02, type=float, dest="d1")
    parser.add_argument("--decrement", default=0.002, type=float, dest="d2")
    hold = parse_span("100ms")
    parser.add_argument("--hold-up", default=hold, type=parse_span, dest="freeze_up_ps")
    parser.add_argument("--hold-down", default=hold, type=parse_span, dest="freeze_down_ps")
    parser.add_argument("--threshold", default=None, type=parse_limit)
    parser.add_argument("--limit", default=Limit(size=100_000), type=parse_limit)
    parser.add_argument("--algorithm-up", default=0, type=int)
    for flag in ("ecn", "ns2"):
        parser.add_argument(f"--{flag}", action="store_true")
    options = vars(parser.parse_args())
    arrivals, rate, seed = (options.pop(name) for name in ("arrivals", "rate", "seed"))
    write_outcomes(run(read_arrivals(arrivals), rate, Settings(**options), seed), sys.stdout)


if __name__ == "__main__":
    main()
