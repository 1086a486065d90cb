#!/usr/bin/env python3
"""RTCP's transmission interval as RFC 3550 appendix A.7 writes it: an oracle apart from the implementation.

Source: RFC 3550 (July 2003), appendix A.7: rtcp_interval, OnExpire, OnReceive. Names follow it.

The session is one in which everybody hears everybody at once, nobody sends media, and all packets
have one size (100 bytes, headers included), so that avg_rtcp_size stays what it is; RTCP has 1000
bytes per second. Members join together at time 0.

What is computed, for figures that a test of the implementation reads (tests/data/rtcp/a7.csv):

* interval: the times between reports of each member in the steady state;
* flash: reports sent within each number of seconds after the join, with reconsideration; flash_plain: without
  (the report goes when the first wait is over);
* bye: BYEs sent within each number of seconds after all members of a session left together.

Run as a program, it writes the figures.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

SIZE = 100.0
RTCP_BW = 1000.0
SECONDS = (2, 4, 10, 30, 60)


def rtcp_interval(
    members: int,
    senders: int,
    rtcp_bw: float,
    we_sent: bool,
    avg_rtcp_size: float,
    initial: bool,
    drand48: float,
) -> float:
    """The function of the same name."""
    rtcp_min_time = 5.0
    sender_fraction = 0.25
    rcvr_fraction = 1 - sender_fraction
    compensation = 2.71828 - 1.5
    if initial:
        rtcp_min_time /= 2
    n = members
    if senders <= members * sender_fraction:
        if we_sent:
            rtcp_bw *= sender_fraction
            n = senders
        else:
            rtcp_bw *= rcvr_fraction
            n -= senders
    t = avg_rtcp_size * n / rtcp_bw
    t = max(t, rtcp_min_time)
    return t * (drand48 + 0.5) / compensation


@dataclass
class Participant:
    tp: float = 0.0
    tn: float = 0.0
    initial: bool = True
    spoken: bool = False
    leaving: bool = False
    byes: int = 1


@dataclass
class Session:
    """A session whose members joined together at time 0."""

    members: int
    seed: int = 1
    reconsider: bool = True
    known: int = 0
    all: list[Participant] = field(default_factory=list)
    reports: list[tuple[float, int]] = field(default_factory=list)
    byes: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.all = [Participant() for _ in range(self.members)]
        self.queue: list[tuple[float, int]] = []
        for number, one in enumerate(self.all):
            one.tn = self.draw(one)
            heapq.heappush(self.queue, (one.tn, number))

    def draw(self, one: Participant) -> float:
        members = one.byes if one.leaving else self.known + (not one.spoken)
        return rtcp_interval(members, 0, RTCP_BW, False, SIZE, one.initial, self.random.random())

    def run(self, until: float) -> None:
        while self.queue and self.queue[0][0] < until:
            tc, number = heapq.heappop(self.queue)
            one = self.all[number]
            if self.reconsider:
                tn = one.tp + self.draw(one)
                if tn > tc:
                    heapq.heappush(self.queue, (tn, number))
                    continue
            if one.leaving:
                self.byes.append(tc)
                for other in self.all:
                    other.byes += 1
                continue
            self.reports.append((tc, number))
            one.tp = tc
            one.initial = False
            # Its own report makes nobody of it that it did not know.
            next_wait = self.draw(one)
            if not one.spoken:
                one.spoken = True
                self.known += 1
            heapq.heappush(self.queue, (tc + next_wait, number))

    def leave(self, tc: float) -> None:
        self.queue.clear()
        for number, one in enumerate(self.all):
            one.tp = tc
            one.initial = True
            one.leaving = True
            one.byes = 1
            heapq.heappush(self.queue, (tc + self.draw(one), number))


def wait_of(members: int) -> float:
    """The wait without chance of a receiver in a session without senders."""
    return max(5.0, SIZE * members / (0.75 * RTCP_BW))


def intervals(members: int, seed: int = 1) -> list[float]:
    """Times between reports in the steady state, in order of length."""
    wait = wait_of(members)
    rounds = max(40_000 / members, 8.0)
    session = Session(members, seed)
    session.run(wait * (rounds + 4.0))
    last: dict[int, float] = {}
    found = []
    for when, who in session.reports:
        before = last.get(who)
        if before is not None and before >= 4.0 * wait:
            found.append(when - before)
        last[who] = when
    return sorted(found)


def quantile(values: Sequence[float], share: float) -> float:
    return values[int(share * (len(values) - 1))]


def figures(seeds: int = 4) -> list[tuple[str, int, str, float]]:
    """Every row of the file."""
    rows: list[tuple[str, int, str, float]] = []
    for members in (2, 10, 100, 1000, 10_000):
        values = intervals(members)
        rows.append(("interval", members, "mean", sum(values) / len(values)))
        for share in (5, 25, 50, 75, 95):
            rows.append(("interval", members, f"p{share:02}", quantile(values, share / 100)))
    for members in (1000, 10_000):
        for what, reconsider in (("flash", True), ("flash_plain", False)):
            counts = dict.fromkeys(SECONDS, 0.0)
            for seed in range(seeds):
                session = Session(members, seed, reconsider)
                session.run(60.0)
                for second in SECONDS:
                    sent = sum(when < second for when, _ in session.reports)
                    counts[second] += sent / seeds
            rows += [(what, members, f"by{second}s", counts[second]) for second in SECONDS]
    counts = dict.fromkeys(SECONDS, 0.0)
    for seed in range(seeds):
        session = Session(1000, seed)
        session.run(600.0)
        session.leave(600.0)
        session.run(660.0)
        for second in SECONDS:
            counts[second] += sum(when < 600.0 + second for when in session.byes) / seeds
    rows += [("bye", 1000, f"by{second}s", counts[second]) for second in SECONDS]
    return rows


HEADER = """\
# RTCP in sessions of 2 to 10000 members by RFC 3550 appendix A.7, written by tests/oracles/rtcp_rfc3550.py:
# times between reports in the steady state (seconds), reports after a flash join, BYEs after a flash leave.
what,members,name,value
"""


def text(rows: Sequence[tuple[str, int, str, float]]) -> str:
    lines = (f"{what},{members},{name},{value:.6g}\n" for what, members, name, value in rows)
    return HEADER + "".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("-o", "--output", help="file to write; standard output unless given")
    args = parser.parse_args()
    rows = text(figures())
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(rows)
    else:
        sys.stdout.write(rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
