#!/usr/bin/env python3
"""A token bucket that delays what does not conform, as RFC 2215 defines it and as Linux runs it: an oracle.

Source: S. Shenker and J. Wroclawski, RFC 2215 (1997), section 3.6: a flow conforms to a token bucket of rate r and depth b
if in every period T it sends at most rT + b, and to a peak rate p with packets of at most M bytes if it sends at most
pT + M. A shaper holds the packet at the head back until it conforms. Written with the time at which a bucket is full in
place of a count of tokens: the level at t is b - r (full - t).

Linux (sch_tbf.c): the buckets hold nanoseconds. A byte costs as psched_l2t_ns has it, time is read in whole nanoseconds,
and a packet above the depth of a bucket is dropped when it arrives, as it is here.

With a limit, what arrives beyond it is dropped.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Sequence
from fractions import Fraction

from replay_io import (
    PS_PER_NS,
    PS_PER_S,
    Arrival,
    Limit,
    Log,
    Outcome,
    parse_limit,
    parse_rate,
    parse_size,
    read_arrivals,
    write_outcomes,
)
from shaper import LinuxRate, drive, ns

OVERFLOW = "limit"


class Bucket:
    """Exact; times are in picoseconds."""

    def __init__(self, rate_bps: int, depth: int) -> None:
        self._per_byte = Fraction(8 * PS_PER_S, rate_bps)
        self._depth = depth * self._per_byte
        self._full = Fraction(0)

    def conforms_at(self, size: int) -> int:
        """The earliest time, in whole picoseconds, at which a packet of this size is in the bucket."""
        return -(-(self._full + size * self._per_byte - self._depth) // 1)

    def take(self, size: int, now_ps: int) -> None:
        self._full = max(self._full, Fraction(now_ps)) + size * self._per_byte


class LinuxBucket:
    """Tokens are nanoseconds."""

    def __init__(self, rate_bps: int, depth: int) -> None:
        self._rate = LinuxRate(rate_bps)
        self._depth = self._rate.ns(depth)
        self._tokens = self._depth
        self._checked = 0

    def conforms_at(self, size: int) -> int:
        missing = self._rate.ns(size) - self._tokens
        return (self._checked + missing) * PS_PER_NS

    def take(self, size: int, now_ps: int) -> None:
        elapsed = ns(now_ps) - self._checked
        self._tokens = min(self._tokens + elapsed, self._depth) - self._rate.ns(size)
        self._checked = ns(now_ps)


class TbfQueue:
    def __init__(
        self,
        log: Log,
        rate_bps: int,
        burst: int,
        limit: Limit,
        peak_bps: int | None = None,
        mtu: int = 1514,
        linux: bool = False,
    ) -> None:
        kind = LinuxBucket if linux else Bucket
        self._log = log
        self._buckets = [kind(rate_bps, burst)]
        self._largest = burst
        if peak_bps is not None:
            self._buckets.append(kind(peak_bps, mtu))
            self._largest = min(burst, mtu)
        self._limit = limit
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        admitted = self._limit.admits(len(self._fifo) + 1, self._bytes + packet.size)
        if packet.size > self._largest or not admitted:
            self._log.dropped(packet, OVERFLOW)
            return
        self._fifo.append(packet)
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo or self.ready_ps() > now_ps:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        for bucket in self._buckets:
            bucket.take(packet.size, now_ps)
        return packet

    def ready_ps(self) -> int:
        return max(bucket.conforms_at(self._fifo[0].size) for bucket in self._buckets)


def run(
    arrivals: Sequence[Arrival],
    link_bps: int,
    rate_bps: int,
    burst: int,
    limit: Limit,
    peak_bps: int | None = None,
    mtu: int = 1514,
    linux: bool = False,
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a token bucket filter."""
    log = Log(arrivals)
    queue = TbfQueue(log, rate_bps, burst, limit, peak_bps, mtu, linux)
    return drive(arrivals, link_bps, queue, log)


def main() -> None:
    parser = argparse.ArgumentParser(description="A token bucket filter by RFC 2215.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--link", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--rate", required=True, type=parse_rate)
    parser.add_argument("--burst", required=True, type=parse_size)
    parser.add_argument("--limit", default=Limit(), type=parse_limit, help="e.g. 100p or 64kB")
    args = parser.parse_args()
    outcomes = run(read_arrivals(args.arrivals), args.link, args.rate, args.burst, args.limit)
    write_outcomes(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
