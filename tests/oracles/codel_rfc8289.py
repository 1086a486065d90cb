#!/usr/bin/env python3
"""CoDel as the pseudo-code of RFC 8289 runs it: an oracle apart from the implementation.

Source: RFC 8289 (January 2018), section 5: 5.4 enqueue, 5.5 dequeue, 5.6 control_law and
dodequeue. Names follow it. What it says where readings differ:

* Sojourn is below target when it is strictly smaller; the interval is over when now is at or
  after first_above_time; a drop is due when now is at or after drop_next.
* Too small to drop from: bytes() <= maxpacket, tested in dodequeue after the packet has been taken
  off the queue, so it counts what remains behind the packet in hand.
* In the dropping state count grows with every drop, before the next packet is looked at, whether
  or not that packet ends the state. (Earlier drafts count only when the state goes on. The place in
  the RFC was checked in its text.)
* drop_next moves on from its own value, not from now, except on entry.
* Resume: count starts at count - lastcount if that exceeds 1 and now - drop_next is strictly below
  16 intervals, else at 1. No drop before has the values 0 for all three.
* An empty queue resets first_above_time and leaves the dropping state. The link asks for a packet
  at the instant it becomes free, so that happens then. (It cannot be seen in the result of a
  plain FIFO: the next packet to arrive is dequeued at once with a sojourn of 0, which does the
  same.)
* maxpacket is 512 in the RFC's listing with the advice to use the interface MTU; here it is a
  parameter, 1500 bytes unless given.

Not in the RFC's pseudo-code, and how it is done here:

* limit: an arrival that would exceed it is dropped, state untouched (the RFC leaves the buffer's
  end to queue_t).
* ECN (--ecn): where the pseudo-code drops a packet that is ECN-capable (codepoint not 0), it is
  marked and sent instead. In the dropping state count grows and drop_next moves on as for a drop,
  and no further packet is taken; on entry no further packet is taken either. A packet that already
  carries CE counts as marked.

The control law is evaluated in floating point and rounded to a picosecond in one place.
"""

from __future__ import annotations

import argparse
import math
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
    parse_size,
    parse_span,
    read_arrivals,
    write_outcomes,
)

OVERFLOW = "limit"
DELAY = "codel"


class CoDelQueue:
    def __init__(
        self,
        log: Log,
        target_ps: int,
        interval_ps: int,
        limit: Limit,
        maxpacket: int = 1500,
        ecn: bool = False,
    ) -> None:
        self._log = log
        self._target = target_ps
        self._interval = interval_ps
        self._limit = limit
        self._maxpacket = maxpacket
        self._ecn = ecn
        self._fifo: deque[tuple[Arrival, int]] = deque()
        self._bytes = 0
        # None: the sojourn was below target when last looked at.
        self._first_above_time: int | None = None
        self._drop_next = 0
        self._count = 0
        self._lastcount = 0
        self._dropping = False

    def __len__(self) -> int:
        return len(self._fifo)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        if not self._limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERFLOW)
            return
        self._fifo.append((packet, now_ps))
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        packet, ok_to_drop = self._dodequeue(now_ps)
        if self._dropping:
            if not ok_to_drop:
                self._dropping = False
            while self._dropping and now_ps >= self._drop_next:
                assert packet is not None
                self._count += 1
                if self._mark(packet):
                    self._drop_next = self._control_law(self._drop_next)
                    break
                self._log.dropped(packet, DELAY)
                packet, ok_to_drop = self._dodequeue(now_ps)
                if not ok_to_drop:
                    self._dropping = False
                else:
                    self._drop_next = self._control_law(self._drop_next)
        elif ok_to_drop:
            assert packet is not None
            if not self._mark(packet):
                self._log.dropped(packet, DELAY)
                packet, _ = self._dodequeue(now_ps)
            self._dropping = True
            delta = self._count - self._lastcount
            self._count = 1
            if delta > 1 and now_ps - self._drop_next < 16 * self._interval:
                self._count = delta
            self._drop_next = self._control_law(now_ps)
            self._lastcount = self._count
        return packet

    def _dodequeue(self, now_ps: int) -> tuple[Arrival | None, bool]:
        """The next packet, and whether the sojourn has been above target for an interval."""
        if not self._fifo:
            self._first_above_time = None
            return None, False
        packet, arrived = self._fifo.popleft()
        self._bytes -= packet.size
        if now_ps - arrived < self._target or self._left_behind() <= self._maxpacket:
            self._first_above_time = None
            return packet, False
        if self._first_above_time is None:
            self._first_above_time = now_ps + self._interval
            return packet, False
        return packet, now_ps >= self._first_above_time

    def _left_behind(self) -> int:
        return self._bytes

    def _control_law(self, t_ps: int) -> int:
        return t_ps + round(self._interval / math.sqrt(self._count))

    def _mark(self, packet: Arrival) -> bool:
        if not self._ecn or packet.ecn == 0:
            return False
        self._log.marked(packet, DELAY)
        return True


def run(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    target_ps: int,
    interval_ps: int,
    limit: Limit,
    maxpacket: int = 1500,
    ecn: bool = False,
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a CoDel queue."""
    log = Log(arrivals)
    queue = CoDelQueue(log, target_ps, interval_ps, limit, maxpacket, ecn)
    return drive(arrivals, rate_bps, queue, log)


def main() -> None:
    parser = argparse.ArgumentParser(description="CoDel by the pseudo-code of RFC 8289.")
    parser.add_argument("arrivals", help="CSV with the columns time_ns,bytes,flow,ecn")
    parser.add_argument("--rate", required=True, type=parse_rate, help="link rate, e.g. 10Mbps")
    parser.add_argument("--target", default=parse_span("5ms"), type=parse_span)
    parser.add_argument("--interval", default=parse_span("100ms"), type=parse_span)
    parser.add_argument("--limit", default=Limit(packets=1000), type=parse_limit)
    parser.add_argument("--maxpacket", default=1500, type=parse_size)
    parser.add_argument("--ecn", action="store_true", help="mark ECN-capable packets")
    args = parser.parse_args()
    outcomes = run(
        read_arrivals(args.arrivals),
        args.rate,
        args.target,
        args.interval,
        args.limit,
        args.maxpacket,
        args.ecn,
    )
    write_outcomes(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
