"""A policer with one or two token buckets in front of a FIFO: an oracle apart from the code.

Sources: RFC 2215 (S. Shenker, J. Wroclawski, 1997), section 3.6, for one bucket; RFC 2697 and RFC 2698 (J. Heinanen,
R. Guerin, 1999), section 3, color-blind mode; RFC 4115 (O. Aboul-Magd, S. Rabie, 2005), color-blind mode. Bytes and
times are fractions: nothing is rounded.

* One bucket: a packet of B bytes with B <= Tc is green and takes B from Tc; any other is red.
* RFC 2697: B <= Tc: green, Tc -= B. Else B <= Te: yellow, Te -= B. Else red. A token that arrives at the rate CIR goes
  to C while Tc < CBS, else to E while Te < EBS.
* RFC 2698: B > Tp: red. Else B > Tc: yellow, Tp -= B. Else green, Tp -= B, Tc -= B. C fills at CIR, P at PIR.
* RFC 4115: as RFC 2697, but E fills at EIR.

A bucket is not kept as a count of tokens: it is known by the time at which it will be full, if no packet comes. Of the
bucket E of RFC 2697 the clock runs only while C is full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from replay_io import PS_PER_S, Arrival, Limit, Log, Outcome, drive

GREEN, YELLOW, RED = "green", "yellow", "red"
PASS, MARK, DROP = "pass", "mark", "drop"
POLICED, OVERLIMIT = "policed", "overlimit"


@dataclass(frozen=True)
class Profile:
    """Rates in bits per second, bursts in bytes. `kind` is the RFC; the second rate is PIR or EIR."""

    kind: int
    rate: int
    burst: int
    second_rate: int = 0
    second_burst: int = 0
    yellow: str = PASS
    red: str = DROP


class Bucket:
    """Full at first."""

    def __init__(self, rate_bps: int, depth: int) -> None:
        self._per_byte = Fraction(8 * PS_PER_S, rate_bps)
        self._depth = depth
        self.full_at = Fraction(0)

    def conforms(self, size: int, clock: Fraction) -> bool:
        missing = max(Fraction(0), self.full_at - clock) / self._per_byte
        return missing + size <= self._depth

    def take(self, size: int, clock: Fraction) -> None:
        self.full_at = max(self.full_at, clock) + size * self._per_byte


class Meter:
    def __init__(self, profile: Profile) -> None:
        self._kind = profile.kind
        self._committed = Bucket(profile.rate, profile.burst)
        rate = profile.rate if profile.kind == 2697 else profile.second_rate
        # With one bucket nothing ever conforms to the second.
        self._second = Bucket(rate or 1, profile.second_burst if profile.kind != 2215 else 0)
        # How long C was full in all, and up to when that was counted.
        self._over = Fraction(0)
        self._seen = Fraction(0)

    def colour(self, size: int, now_ps: int) -> str:
        now = Fraction(now_ps)
        first = max(self._seen, self._committed.full_at)
        self._over += max(Fraction(0), now - first)
        self._seen = now
        second_clock = self._over if self._kind == 2697 else now
        committed = self._committed.conforms(size, now)
        second = self._second.conforms(size, second_clock)
        if self._kind == 2698:
            if not second:
                return RED
            self._second.take(size, second_clock)
            if not committed:
                return YELLOW
            self._committed.take(size, now)
            return GREEN
        if committed:
            self._committed.take(size, now)
            return GREEN
        if second:
            self._second.take(size, second_clock)
            return YELLOW
        return RED


class PolicedQueue:
    """A FIFO behind the policer."""

    def __init__(self, log: Log, profile: Profile, limit: Limit) -> None:
        self._log = log
        self._profile = profile
        self._meter = Meter(profile)
        self._limit = limit
        self._fifo: deque[Arrival] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._fifo)

    def enqueue(self, packet: Arrival, now_ps: int) -> None:
        colour = self._meter.colour(packet.size, now_ps)
        fates = {GREEN: PASS, YELLOW: self._profile.yellow, RED: self._profile.red}
        fate = fates[colour]
        if fate == DROP or (fate == MARK and packet.ecn == 0):
            self._log.dropped(packet, POLICED)
            return
        if not self._limit.admits(len(self._fifo) + 1, self._bytes + packet.size):
            self._log.dropped(packet, OVERLIMIT)
            return
        if fate == MARK:
            self._log.marked(packet, POLICED)
        self._fifo.append(packet)
        self._bytes += packet.size

    def dequeue(self, now_ps: int) -> Arrival | None:
        if not self._fifo:
            return None
        packet = self._fifo.popleft()
        self._bytes -= packet.size
        return packet


def run(
    arrivals: Sequence[Arrival], link_bps: int, profile: Profile, limit: Limit
) -> list[Outcome]:
    """What becomes of every arrival at a link of this rate behind a policer."""
    log = Log(arrivals)
    return drive(arrivals, link_bps, PolicedQueue(log, profile, limit), log)
