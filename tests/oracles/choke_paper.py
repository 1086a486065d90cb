#!/usr/bin/env python3
"""CHOKe as its paper's flow chart and Linux run it: an oracle apart from the implementation.

Source: Pan, Prabhakar and Psounis, "CHOKe, A Stateless Active Queue Management Scheme for
Approximating Fair Bandwidth Allocation" (INFOCOM 2000), as the commit message of Linux's sch_choke
restates the chart; RED's average and probability as in red_paper.py. What the paper leaves open:

* The packet from the queue: a uniform position among those that wait, one draw (Lemire's method
  with rejection) before RED's own; none if nothing waits.
* RED's part: count and spacing of drops as in RED's figure 2, in packets.
* With ecn RED marks capable packets where it would drop them; a match drops both, capable or not.

linux: the average is a whole number scaled by 2^wlog that does not decay while idle (as under a
shaper that asks no empty queue); bounds `<= min` and `> max`; one draw of 32 bits per drop.
"""

from __future__ import annotations

import argparse
import sys
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
    read_arrivals,
    write_outcomes,
)
from streams import Stream

OVERFLOW = "overlimit"
EARLY = "early"
FORCED = "forced"
MATCH = "flow_match"


def below(draws: Stream, n: int) -> int:
    """Uniform in 0..n-1: the high half of a product with 64 random bits, biased ones rejected."""
    while True:
        product = draws.bits() * n
        low = product & (2**64 - 1)
        if low >= n or low >= 2**64 % n:
            return product >> 64


@dataclass(frozen=True)
class Settings:
    min_th: int = 100
    max_th: int = 200
    w_q: float = 0.002
    max_p: float = 0.02
    limit: Limit = field(default_factory=lambda: Limit(packets=300))
    avpkt: int = 1000
    ecn: bool = False
    harddrop: bool = False
    linux: bool = False
    wlog: int = 4


class ChokeQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._set = settings
        self._draws = draws
        self._fifo: list[Arrival] = []
        self._marks: dict[int, str] = {}
        self._bytes = 0
        self._packet_s = settings.avpkt * 8 / rate_bps
        self._avg = 0.0
        self._scaled = 0
        self._count = -1
        self._q_time: int | None = 0
        self._drawn = 0
        delta = max(1, settings.max_th - settings.min_th)
        self._per_packet = max(1, int(settings.max_p * 2**32) // delta)

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            self._q_time = now_ps
            return None
        packet = self._fifo.pop(0)
        self._bytes -= packet.size
        # Only now: a marked packet may still have met its match.
        if packet.index in self._marks:
            self._log.marked(packet, self._marks[packet.index])
        return packet

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        idle = self._q_time is not None
        if self._accepts(packet, now_ps):
            self._fifo.append(packet)
            self._bytes += packet.size
            self._q_time = None
        elif idle:
            self._q_time = now_ps

    def _accepts(self, packet: Arrival, now_ps: int) -> bool:
        self._average(now_ps)
        chosen = None
        if self._small():
            self._count = -1
        else:
            if self._fifo:
                other = below(self._draws, len(self._fifo))
                if self._fifo[other].flow == packet.flow:
                    victim = self._fifo.pop(other)
                    self._bytes -= victim.size
                    self._log.dropped(victim, MATCH)
                    self._log.dropped(packet, MATCH)
                    return False
            chosen = self._linux_red() if self._set.linux else self._red()
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
            self._marks[packet.index] = "threshold" if chosen == FORCED else EARLY
        return True

    def _average(self, now_ps: int) -> None:
        size = len(self._fifo)
        if self._set.linux:
            self._scaled += size - (self._scaled >> self._set.wlog)
        elif self._q_time is None:
            self._avg = (1 - self._set.w_q) * self._avg + self._set.w_q * size
        else:
            m = (now_ps - self._q_time) / PS_PER_S / self._packet_s
            self._avg = (1 - self._set.w_q) ** m * self._avg

    def _small(self) -> bool:
        if self._set.linux:
            return self._scaled <= self._set.min_th << self._set.wlog
        return self._avg <= self._set.min_th

    def _red(self) -> str | None:
        low, high = self._set.min_th, self._set.max_th
        if self._avg >= high:
            self._count = 0
            return FORCED
        self._count += 1
        p_b = self._set.max_p * (self._avg - low) / (high - low)
        spread = self._count * p_b
        p_a = p_b / (1 - spread) if spread < 1 else 1.0
        if self._draws.uniform() < p_a:
            self._count = 0
            return EARLY
        return None

    def _linux_red(self) -> str | None:
        if self._scaled > self._set.max_th << self._set.wlog:
            self._count = -1
            return FORCED
        self._count += 1
        if self._count == 0:
            self._drawn = (self._draws.bits() >> 32) // self._per_packet
            return None
        above = (self._scaled - (self._set.min_th << self._set.wlog)) >> self._set.wlog
        if above * self._count < self._drawn:
            return None
        self._count = 0
        self._drawn = (self._draws.bits() >> 32) // self._per_packet
        return EARLY


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a CHOKe queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, ChokeQueue(log, rate_bps, settings, Stream(seed)), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="CHOKe by the flow chart of its paper.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--min", default=100, type=int, dest="min_th", help="packets")
    parser.add_argument("--max", default=200, type=int, dest="max_th", help="packets")
    parser.add_argument("--weight", default=0.002, type=float, dest="w_q")
    parser.add_argument("--probability", default=0.02, type=float, dest="max_p")
    parser.add_argument("--limit", default=Limit(packets=300), type=parse_limit)
    parser.add_argument("--wlog", default=4, type=int)
    for flag in ("ecn", "harddrop", "linux"):
        parser.add_argument(f"--{flag}", action="store_true")
    options = vars(parser.parse_args())
    arrivals, rate, seed = (options.pop(name) for name in ("arrivals", "rate", "seed"))
    write_outcomes(run(read_arrivals(arrivals), rate, Settings(**options), seed), sys.stdout)


if __name__ == "__main__":
    main()
