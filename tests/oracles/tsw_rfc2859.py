"""The time sliding window marker, with two and with three colours: an oracle apart from the code.

Sources: RFC 2859 (W. Fang, N. Seddigh, B. Nandy, "A Time Sliding Window Three Colour Marker", 2000),
sections 3 (estimator) and 4 (marker); Clark and Fang, IEEE/ACM ToN 6(4), 1998, section 3.3, as ns-2.35
(diffserv/dsPolicy.cc: TSW2CM, TSW3CM) carries it out.

* At first avg = CTR and t_front = 0. A packet of s bytes at t: avg = (avg win + s) / (t - t_front +
  win), t_front = t.
* avg <= CTR: green. CTR < avg <= PTR: yellow with (avg - CTR) / avg. avg > PTR: red with (avg - PTR) /
  avg, yellow with (PTR - CTR) / avg. Two colours: what is not green is red.

One draw for each packet above CTR: the lowest part of 0 to 1 is red, the next yellow, the rest green.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import rio_clark_fang
from replay_io import PS_PER_S, Arrival, Log, Outcome, drive
from streams import Stream

GREEN, YELLOW, RED = "green", "yellow", "red"
MARKER = "link/replay/queue/marker"
SCHEDULER = "link/replay/queue/scheduler"


@dataclass(frozen=True)
class Profile:
    # Bits per second, by flow; the last is that of all others.
    committed: tuple[int, ...]
    peak: tuple[int, ...] | None = None
    window_s: float = 1.0
    onset: float = 1.0


class Marker:
    def __init__(self, profile: Profile, draws: Stream) -> None:
        self._profile = profile
        self._draws = draws
        # Bytes per second and the time of the last packet, by flow.
        self._average: dict[int, float] = {}
        self._front_ps: dict[int, int] = {}

    def colour(self, packet: Arrival, now_ps: int) -> str:
        rates, win = self._profile, self._profile.window_s
        ctr = rates.committed[min(packet.flow, len(rates.committed) - 1)] / 8
        ptr = ctr if rates.peak is None else rates.peak[min(packet.flow, len(rates.peak) - 1)] / 8
        elapsed_s = (now_ps - self._front_ps.get(packet.flow, 0)) / PS_PER_S
        average = (self._average.get(packet.flow, ctr) * win + packet.size) / (elapsed_s + win)
        self._average[packet.flow] = average
        self._front_ps[packet.flow] = now_ps
        if average <= ctr * rates.onset:
            return GREEN
        draw = self._draws.uniform()
        red = max(0.0, (average - ptr) / average)
        yellow = (average - ctr) / average - red
        if draw < red:
            return RED
        return YELLOW if draw < red + yellow else GREEN


class MarkedRio:
    """RIO behind a marker: green packets are IN, for it those of flow 1, and all others those of flow 0."""

    def __init__(
        self, log: Log, rate_bps: int, profile: Profile, rio: rio_clark_fang.Settings, seed: int
    ) -> None:
        self._marker = Marker(profile, Stream(seed, 0, MARKER))
        draws = Stream(seed, 0, SCHEDULER)
        self._rio = rio_clark_fang.RioQueue(log, rate_bps, rio, draws)

    def __len__(self) -> int:
        return len(self._rio)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        colour = self._marker.colour(packet, now_ps)
        self._rio.enqueue(replace(packet, flow=int(colour == GREEN)), now_ps)

    def dequeue(self, now_ps: int) -> Arrival | None:
        return self._rio.dequeue(now_ps)


def run(
    arrivals: Sequence[Arrival],
    rate_bps: int,
    profile: Profile,
    rio: rio_clark_fang.Settings,
    seed: int = 1,
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate."""
    log = Log(arrivals)
    return drive(arrivals, rate_bps, MarkedRio(log, rate_bps, profile, rio, seed), log)
