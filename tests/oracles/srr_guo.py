#!/usr/bin/env python3
"""Smoothed round robin as Guo defines it, and as ns-2 runs it: an oracle.

Sources: G. Chuanxiong, "SRR: An O(1) Time-Complexity Packet Scheduler for Flows in Multi-Service
Packet Networks", SIGCOMM 2001 (IEEE/ACM ToN 12(6), 2004), by way of a review of it that restates
its definitions (P. Southerington, "The Smoothed Round-Robin Scheduler", 2005), since the paper itself was not available; and queue/srr.cc and queue/wss.h of ns-2.35, which the author of the paper
contributed. Written with the definitions in hand: the sequence is built by its recursion and kept,
the weight matrix is a list of flows for each column.

What the definitions fix:

* WSS of order 1 is (1); WSS of order k is WSS of order k - 1, then k, then WSS of order k - 1.
* The weight matrix has a row for each flow that is backlogged and a column for each bit of the
  greatest weight among them. With k columns, the term i of the WSS of order k stands for the
  column of value 2^(k - i).
* The terms are read from left to right and from the beginning again. For each the flows of its
  column are visited in turn: the flow gets a quantum and sends while its head packet is not larger
  than its deficit; what is left is kept. A flow that empties leaves the matrix and loses it.

Where the number of columns changes, ns-2's rule is used for both: the number of the next term
(from 1) is multiplied by 2^(new - old) when columns come, and divided by 2^(old - new), rounded
up and started anew at the end, when they go. It starts at 1 when the matrix becomes empty.

What they leave open, and what is done here:

* A flow that becomes backlogged joins the end of its columns. ns-2 puts it before the flow in turn
  in the column that is being visited.
* ns-2 starts with a visit of the flow that ends the idle time, in its column of the highest value,
  and only then reads the first term. Here the first term is read first.
* Here a flow whose last packet is taken leaves the matrix at once. In ns-2 it leaves when the
  transmission of that packet has ended, and a packet that arrives before finds it in its turn.
* Buffers are not the paper's subject: with a limit over all flows the longest queue gives up its
  last packet before the new one is let in (of equally long ones the one of the flow seen first),
  and a flow emptied so stays in the matrix until its turn. In ns-2 each queue has a limit in
  packets, with the packet in transmission, and drops what arrives beyond it.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Sequence
from functools import cache

from replay_io import (
    Arrival,
    Limit,
    Log,
    Outcome,
    drive,
    parse_limit,
    parse_rate,
    parse_size,
    read_arrivals,
    write_outcomes,
)

OVERFLOW = "limit"


@cache
def spread(order: int) -> tuple[int, ...]:
    """The weight spread sequence of an order."""
    if order == 0:
        return ()
    half = spread(order - 1)
    return (*half, order, *half)


class Flow:
    def __init__(self, rank: int, weight: int) -> None:
        if weight < 1:
            raise ValueError(f"a weight is at least 1, got {weight}")
        self.rank = rank
        self.weight = weight
        self.fifo: deque[Arrival] = deque()
        self.size = 0
        self.deficit = 0
        self.in_turn = False
        self.in_matrix = False


class SrrQueue:
    def __init__(
        self,
        log: Log,
        quantum: int,
        weights: Sequence[int],
        limit: Limit,
        assign: Sequence[int] | None = None,
        queue_limit: int | None = None,
        ns2: bool = False,
    ) -> None:
        self._log = log
        self._quantum = quantum
        self._weights = weights
        self._limit = limit
        self._assign = assign
        self._queue_limit = queue_limit
        self._ns2 = ns2
        self._flows: dict[int, Flow] = {}
        # Column c has the value 2^c.
        self._columns: list[list[Flow]] = []
        # The column that is being visited and the place of the flow in turn; None: read a term.
        self._visit: tuple[int, int] | None = None
        self._term = 1
        self._packets = 0
        self._bytes = 0
        # ns-2: the queue of the packet in transmission.
        self._sending: Flow | None = None

    def __len__(self) -> int:
        return self._packets

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        flow = self._flow_of(packet)
        if self._queue_limit is not None:
            held = len(flow.fifo) + (1 if flow is self._sending else 0)
            if held >= self._queue_limit:
                self._log.dropped(packet, OVERFLOW)
                return
        if not self._free_buffer(packet):
            self._log.dropped(packet, OVERFLOW)
            return
        if not flow.in_matrix:
            self._join(flow)
        flow.fifo.append(packet)
        flow.size += packet.size
        self._packets += 1
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        sent, self._sending = self._sending, None
        if sent is not None and not sent.fifo:
            self._leave(sent)
        while self._columns:
            if self._visit is None:
                self._read_term()
                continue
            column, place = self._visit
            if place == len(self._columns[column]):
                self._visit = None
                continue
            flow = self._columns[column][place]
            if not flow.fifo:
                self._leave(flow)
                continue
            if not flow.in_turn:
                flow.in_turn = True
                flow.deficit += self._quantum
            if flow.fifo[0].size > flow.deficit:
                flow.in_turn = False
                self._visit = (column, place + 1)
                continue
            packet = flow.fifo.popleft()
            flow.deficit -= packet.size
            flow.size -= packet.size
            self._packets -= 1
            self._bytes -= packet.size
            if self._ns2:
                self._sending = flow
            elif not flow.fifo:
                self._leave(flow)
            return packet
        return None

    def _flow_of(self, packet: Arrival) -> Flow:
        number = packet.flow
        if self._assign is not None:
            number = self._assign[number] if number < len(self._assign) else 0
        if number not in self._flows:
            weight = self._weights[min(number, len(self._weights) - 1)]
            self._flows[number] = Flow(len(self._flows), weight)
        return self._flows[number]

    def _read_term(self) -> None:
        order = len(self._columns)
        value = spread(order)[self._term - 1]
        self._term = self._term + 1 if self._term < 2**order - 1 else 1
        self._visit = (order - value, 0)

    def _join(self, flow: Flow) -> None:
        order = flow.weight.bit_length()
        first = not self._columns
        if not first and order > len(self._columns):
            self._term *= 2 ** (order - len(self._columns))
        while len(self._columns) < order:
            self._columns.append([])
        for column in range(order):
            if not flow.weight >> column & 1:
                continue
            if self._ns2 and self._visit is not None and self._visit[0] == column:
                place = self._visit[1]
                self._columns[column].insert(place, flow)
                self._visit = (column, place + 1)
            else:
                self._columns[column].append(flow)
        if self._ns2 and first:
            self._visit = (order - 1, 0)
        flow.in_matrix = True
        flow.in_turn = False
        flow.deficit = 0

    def _leave(self, flow: Flow) -> None:
        for column in self._columns:
            if flow in column:
                column.remove(flow)
        flow.in_matrix = False
        flow.in_turn = False
        flow.deficit = 0
        old = len(self._columns)
        while self._columns and not self._columns[-1]:
            self._columns.pop()
        order = len(self._columns)
        if order == 0:
            self._term = 1
            self._visit = None
        elif order < old:
            self._term = -(-self._term // 2 ** (old - order))
            if self._term > 2**order - 1:
                self._term = 1
        if self._visit is not None and self._visit[0] >= order:
            self._visit = None

    def _free_buffer(self, packet: Arrival) -> bool:
        if not self._limit.admits(1, packet.size):
            return False
        while not self._limit.admits(self._packets + 1, self._bytes + packet.size):
            flow = max(self._flows.values(), key=self._length)
            victim = flow.fifo.pop()
            flow.size -= victim.size
            self._packets -= 1
            self._bytes -= victim.size
            self._log.dropped(victim, OVERFLOW)
        return True

    def _length(self, flow: Flow) -> tuple[int, int]:
        return (len(flow.fifo) if self._limit.in_packets else flow.size), -flow.rank


def run(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    quantum: int,
    weights: Sequence[int],
    limit: Limit,
    assign: Sequence[int] | None = None,
    queue_limit: int | None = None,
    ns2: bool = False,
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind an SRR queue."""
    log = Log(arrivals)
    queue = SrrQueue(log, quantum, weights, limit, assign, queue_limit, ns2)
    return drive(arrivals, rate_bps, queue, log)


def main() -> None:
    parser = argparse.ArgumentParser(description="SRR by Guo.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--quantum", default=1500, type=parse_size)
    parser.add_argument("--weights", default="1", help="e.g. 4:2:1; the last is that of all others")
    parser.add_argument("--limit", default=Limit(), type=parse_limit, help="e.g. 100p or 64kB")
    args = parser.parse_args()
    weights = [int(weight) for weight in args.weights.split(":")]
    outcomes = run(read_arrivals(args.arrivals), args.rate, args.quantum, weights, args.limit)
    write_outcomes(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
