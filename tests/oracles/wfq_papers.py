#!/usr/bin/env python3
"""Weighted fair queueing with the clock of GPS or its own: an oracle in exact fractions.

Sources: A. Demers, S. Keshav and S. Shenker, "Analysis and Simulation of a Fair Queueing
Algorithm", SIGCOMM 1989; A. K. Parekh and R. G. Gallager, "A Generalized Processor Sharing Approach
to Flow Control", IEEE/ACM ToN 1(3), 1993 (virtual time and packet-by-packet GPS); S. J. Golestani,
"A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994. None of the papers
was at hand; the equations are the well-known ones, retold in many texts.

* A packet of L bits that arrives at t in a flow of weight w gets the finish tag
  F = max(F of the flow's packet before, V(t)) + L / w. The packet with the least tag is sent.
* ``gps``: dV/dt = rate / sum of the weights of the flows that are backlogged in the fluid system:
  those whose last tag is above V. V stands still while there are none.
* ``self``: V is the tag of the packet in transmission.
* Tags and V start at 0 anew when the link finds nothing to send.

Open, and done here: tags are compared after rounding to 2^-20 of a bit (half up), and of equal tags
the flow seen first goes first. At a full queue the last packet of the flow with the most in it (in
the unit of the limit; of equals the one seen first) is dropped before the arriving one is let in
(Demers and others: the flow that uses most buffers loses its last packet); the flow's last tag is
then that of the packet before, or what it was before the dropped one.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Sequence
from fractions import Fraction

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

OVERFLOW = "limit"
GRID = 2**20


class Flow:
    def __init__(self, rank: int, weight: int) -> None:
        self.rank = rank
        self.weight = weight
        # Packets with their tags, and the flow's last tag before each.
        self.fifo: deque[tuple[Arrival, Fraction, Fraction]] = deque()
        self.last = Fraction(0)

    @property
    def size(self) -> int:
        return sum(packet.size for packet, _, _ in self.fifo)


class WfqQueue:
    def __init__(
        self, log: Log, rate_bps: int, limit: Limit, clock: str, weights: Sequence[int]
    ) -> None:
        if clock not in ("gps", "self"):
            raise ValueError(f"clock is gps or self, got {clock!r}")
        self._log = log
        self._rate = rate_bps
        self._limit = limit
        self._gps = clock == "gps"
        self._weights = weights
        self._flows: dict[int, Flow] = {}
        self._virtual = Fraction(0)
        self._at_ps = 0

    def __len__(self) -> int:
        return sum(len(flow.fifo) for flow in self._flows.values())

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if packet.flow not in self._flows:
            weight = self._weights[min(packet.flow, len(self._weights) - 1)]
            self._flows[packet.flow] = Flow(len(self._flows), weight)
        flow = self._flows[packet.flow]
        if not self._limit.admits(1, packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        self._advance(now_ps)
        while not self._limit.admits(len(self) + 1, self._bytes() + packet.size):
            self._steal()
        before = flow.last
        flow.last = max(before, self._virtual) + Fraction(packet.size * 8, flow.weight)
        flow.fifo.append((packet, flow.last, before))

    def dequeue(self, now_ps: int) -> Arrival | None:
        self._advance(now_ps)
        waiting = [flow for flow in self._flows.values() if flow.fifo]
        if not waiting:
            self._virtual = Fraction(0)
            for flow in self._flows.values():
                flow.last = Fraction(0)
            return None
        flow = min(waiting, key=lambda flow: (rounded(flow.fifo[0][1]), flow.rank))
        packet, tag, _ = flow.fifo.popleft()
        if not self._gps:
            self._virtual = tag
        return packet

    def _advance(self, now_ps: int) -> None:
        """Bring the virtual time of the fluid system up to now."""
        service = Fraction((now_ps - self._at_ps) * self._rate, PS_PER_S)
        self._at_ps = now_ps
        while self._gps and service > 0:
            fluid = [flow for flow in self._flows.values() if flow.last > self._virtual]
            if not fluid:
                return
            total = sum(flow.weight for flow in fluid)
            step = min(min(flow.last for flow in fluid) - self._virtual, service / total)
            self._virtual += step
            service -= step * total

    def _bytes(self) -> int:
        return sum(flow.size for flow in self._flows.values())

    def _steal(self) -> None:
        def length(flow: Flow) -> tuple[int, int]:
            return len(flow.fifo) if self._limit.in_packets else flow.size, -flow.rank

        flow = max(self._flows.values(), key=length)
        packet, _, before = flow.fifo.pop()
        flow.last = before
        self._log.dropped(packet, OVERFLOW)


def rounded(tag: Fraction) -> int:
    return int((tag * GRID * 2 + 1) // 2)


def run(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    limit: Limit,
    clock: str = "gps",
    weights: Sequence[int] = (1,),
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind weighted fair queueing.

    ``weights`` are those of flows 0, 1 and so on, the last one that of all others.
    """
    log = Log(arrivals)
    return drive(arrivals, rate_bps, WfqQueue(log, rate_bps, limit, clock, weights), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="WFQ with the clock of GPS, or self-clocked.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--limit", default=Limit(), type=parse_limit, help="e.g. 100p or 64kB")
    parser.add_argument("--clock", default="gps", choices=("gps", "self"))
    parser.add_argument("--weights", default="1", help="e.g. 4:2:1")
    args = parser.parse_args()
    weights = [int(weight) for weight in args.weights.split(":")]
    outcomes = run(read_arrivals(args.arrivals), args.rate, args.limit, args.clock, weights)
    write_outcomes(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
