"""A link behind a queue that may hold packets back, and Linux's arithmetic of rates, for the oracles of shapers.

The transmitter asks the queue for a packet when it becomes free, when a packet arrives while it is free, and at the time
that the queue names when it has packets and gives none. As in ``replay_io.drive``, what is due at t precedes an arrival
at t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from replay_io import PS_PER_NS, Arrival, Link, Log, Outcome, Queue


class Shaper(Queue, Protocol):
    """A queue that says when it may give the next packet."""

    def ready_ps(self) -> int: ...


def drive(arrivals: Sequence[Arrival], rate_bps: int, queue: Shaper, log: Log) -> list[Outcome]:
    """Run the arrivals through the queue and the link until the queue has drained."""
    link = Link(rate_bps)
    held_until: int | None = None

    def serve(now_ps: int) -> int | None:
        packet = queue.dequeue(now_ps)
        if packet is None:
            link.idle()
            if len(queue) == 0:
                return None
            assert queue.ready_ps() > now_ps, "a queue that may give a packet gives none"
            return queue.ready_ps()
        log.departed(packet, now_ps)
        link.start(now_ps, packet.size)
        return None

    def due() -> int | None:
        return link.free_at_ps if link.busy else held_until

    for packet in arrivals:
        while (time := due()) is not None and time <= packet.time_ps:
            held_until = serve(time)
        queue.enqueue(packet, packet.time_ps)
        if not link.busy and len(queue) > 0:
            held_until = serve(packet.time_ps)
    while (time := due()) is not None:
        held_until = serve(time)
    assert len(queue) == 0, "the link went idle with packets queued"
    return log.outcomes()


class LinuxRate:
    """Nanoseconds of a number of bytes at a rate, as psched_l2t_ns: a product and a shift in place of a division."""

    def __init__(self, rate_bps: int) -> None:
        rate = rate_bps // 8
        factor = 10**9
        self._shift = 0
        while True:
            # The kernel keeps 32 bits of the quotient.
            self._mult = factor // rate & 0xFFFFFFFF
            if self._mult >> 31 or factor >> 63:
                break
            factor <<= 1
            self._shift += 1

    def ns(self, size: int) -> int:
        return size * self._mult >> self._shift


def ns(time_ps: int) -> int:
    """The kernel's clock."""
    return time_ps // PS_PER_NS


def worst_excess(outcomes: Sequence[Outcome], rate_bps: int) -> int:
    """The most bits, times 10^12, by which any run of departures exceeds what the rate gives from its first to its last.

    At most 8 * 10^12 burst for a link that is shaped to the rate with this burst.
    """
    sent = sorted(
        (row.departure_ps, row.arrival.size) for row in outcomes if row.departure_ps is not None
    )
    worst = level = last = 0
    for time, size in sent:
        level = max(0, level - (time - last) * rate_bps) + size * 8 * 10**12
        last = time
        worst = max(worst, level)
    return worst
