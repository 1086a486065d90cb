#!/usr/bin/env python3
"""Stochastic fairness queueing after McKenney: an oracle apart from the implementation.

Source: P. E. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990 (and Internetworking: Research
and Experience 2, 1991), as later papers and the comments of its implementations retell it; the paper itself was not available, so the open points below are unchecked. Each conversation is hashed to
one of a fixed number of queues (here: a queue per flow, as if no two collided), the queues are
served round robin, a packet at a time. Without a free buffer one is stolen from the longest queue,
and the arriving packet takes it.

* A queue that becomes active joins the end of the round; one that empties leaves it at once.
* Open, and done here: the victim is the tail of the longest queue (``drop``: tail or head); length
  is in the unit of the limit; of equally long queues the one seen first loses; the arriving packet
  does not count when the longest is chosen; a packet above the whole limit is refused.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Sequence

from replay_io import (
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


class SfqQueue:
    def __init__(self, log: Log, limit: Limit, drop: str = "tail") -> None:
        if drop not in ("head", "tail"):
            raise ValueError(f"drop is head or tail, got {drop!r}")
        self._log = log
        self._limit = limit
        self._drop = drop
        self._queues: dict[int, deque[Arrival]] = {}
        self._round: deque[int] = deque()

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        queue = self._queues.setdefault(packet.flow, deque())
        if not self._limit.admits(1, packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        while not self._limit.admits(len(self) + 1, self._size() + packet.size):
            self._steal()
        if not queue:
            self._round.append(packet.flow)
        queue.append(packet)

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._round:
            return None
        flow = self._round.popleft()
        packet = self._queues[flow].popleft()
        if self._queues[flow]:
            self._round.append(flow)
        return packet

    def _size(self) -> int:
        return sum(map(size_of, self._queues.values()))

    def _steal(self) -> None:
        length = len if self._limit.in_packets else size_of
        flow = max(self._queues, key=lambda flow: length(self._queues[flow]))
        queue = self._queues[flow]
        self._log.dropped(queue.pop() if self._drop == "tail" else queue.popleft(), OVERFLOW)
        if not queue:
            self._round.remove(flow)


def size_of(queue: deque[Arrival]) -> int:
    return sum(packet.size for packet in queue)


def run(
    arrivals: Sequence[Arrival], rate_bps: int, limit: Limit, drop: str = "tail"
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind SFQ."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, SfqQueue(log, limit, drop), log)


def main() -> None:
    parser = argparse.ArgumentParser(description="SFQ after McKenney 1990, without collisions.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--limit", default=Limit(), type=parse_limit, help="e.g. 100p or 64kB")
    parser.add_argument("--drop", default="tail", choices=("head", "tail"))
    args = parser.parse_args()
    outcomes = run(read_arrivals(args.arrivals), args.rate, args.limit, args.drop)
    write_outcomes(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
