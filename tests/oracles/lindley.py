#!/usr/bin/env python3
"""A droptail FIFO by Lindley's recursion: an oracle in exact arithmetic.

For the packets that are accepted, W(k+1) = max(0, W(k) + S(k) - A(k)) with W the wait, S the
service time and A the gap to the next accepted arrival (Lindley 1952), here kept as departure
times: start(k+1) = max(arrival(k+1), start(k) + S(k)). An arrival is accepted if the packets that
have not started by then, itself included, are within the limit; a start at the arrival's own
instant counts as started. The packet in transmission does not count.

Service times are exact fractions of a picosecond, summed over the busy period and rounded down to
a picosecond to read the clock; an arrival at or after that instant begins a new sum.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from replay_io import (
    DROPPED,
    PS_PER_S,
    SENT,
    Arrival,
    Limit,
    Outcome,
    parse_limit,
    parse_rate,
    read_arrivals,
    write_outcomes,
)

OVERFLOW = "limit"


def run(arrivals: Sequence[Arrival], rate_bps: int, limit: Limit) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a droptail FIFO."""
    outcomes: list[Outcome] = []
    # Accepted packets in order: start of transmission and size; the first `started` have begun.
    starts: list[int] = []
    sizes: list[int] = []
    started = 0
    waiting_bytes = 0
    busy_since = 0
    busy_bits = 0
    for packet in arrivals:
        while started < len(starts) and starts[started] <= packet.time_ps:
            waiting_bytes -= sizes[started]
            started += 1
        waiting = len(starts) - started
        if not limit.admits(waiting + 1, waiting_bytes + packet.size):
            outcomes.append(Outcome(packet, DROPPED, OVERFLOW, None))
            continue
        free_at = busy_since + busy_bits * PS_PER_S // rate_bps
        if packet.time_ps >= free_at:
            busy_since = packet.time_ps
            busy_bits = 0
            free_at = packet.time_ps
        busy_bits += packet.size * 8
        starts.append(free_at)
        sizes.append(packet.size)
        waiting_bytes += packet.size
        outcomes.append(Outcome(packet, SENT, "", free_at))
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description="Droptail FIFO by Lindley's recursion.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--limit", default=Limit(), type=parse_limit, help="e.g. 100p or 64kB")
    args = parser.parse_args()
    write_outcomes(run(read_arrivals(args.arrivals), args.rate, args.limit), sys.stdout)


if __name__ == "__main__":
    main()
