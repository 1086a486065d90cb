#!/usr/bin/env python3
"""GREEN by its formula: an oracle apart from the implementation.

Source: Feng, Kapadia and Thulasidasan, "GREEN: Proactive Queue Management over a Best-Effort
Network" (GLOBECOM 2002), formula and text as recalled and restated (the paper was not available):
a flow in steady state gets MSS c / (RTT sqrt(p)) (Mathis, Semke, Mahdavi and Ott 1997); for each of
N flows to get its share L / N of a link of rate L its packets are dropped with

    p = (N MSS c / (L RTT))^2

What it leaves open, and how it is read:

* MSS is the size of the arriving packet; the RTT is one for all flows (the paper has it carried in
  the IP header); p is at most 1.
* N counts the flows with a packet that arrived in the last `window`, that of the arriving packet
  among them; a packet that is older than `window` no longer counts.
* One uniform draw per arrival, dropped if below p; with ecn a capable packet is marked. Then limit.
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
    rtt_ps: int = PS_PER_S // 10
    c: float = 1.22
    window_ps: int = PS_PER_S
    limit: Limit = field(default_factory=lambda: Limit(packets=1000))
    ecn: bool = False


class GreenQueue:
    def __init__(self, log: Log, rate_bps: int, settings: Settings, draws: Stream) -> None:
        self._log = log
        self._rate = rate_bps
        self._set = settings
        self._draws = draws
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0
        self._last: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._fifo)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        return packet

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        self._last[packet.flow] = now_ps
        n = sum(now_ps - last <= self._set.window_ps for last in self._last.values())
        chosen = self._draws.uniform() < self._probability(n, packet.size)
        marked = chosen and self._set.ecn and packet.ecn != 0
        if chosen and not marked:
            self._log.dropped(packet, EARLY)
            return
        if not self._set.limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        if marked:
            self._log.marked(packet, EARLY)
        self._fifo.append(packet)
        self._bytes += packet.size

    def _probability(self, n: int, size: int) -> float:
        rtt = self._set.rtt_ps / PS_PER_S
        root = n * (8 * size) * self._set.c / (self._rate * rtt)
        return min(1.0, root * root)


def run(
    arrivals: Sequence[Arrival], rate_bps: int, settings: Settings, seed: int = 1
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a GREEN queue."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, GreenQueue(log, rate_bps, settings, Stream(seed)), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="GREEN by its formula.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--rtt", default=PS_PER_S // 10, type=parse_span, dest="rtt_ps")
    parser.add_argument("--constant", default=1.22, type=float, dest="c")
    parser.add_argument("--window", default=PS_PER_S, type=parse_span, dest="window_ps")
    parser.add_argument("--limit", default=Limit(packets=1000), type=parse_limit)
    parser.add_argument("--ecn", action="store_true")
    options = vars(parser.parse_args())
    arrivals, rate, seed = (options.pop(name) for name in ("arrivals", "rate", "seed"))
    write_outcomes(run(read_arrivals(arrivals), rate, Settings(**options), seed), sys.stdout)


if __name__ == "__main__":
    main()
