#!/usr/bin/env python3
"""What a receiver report says of a source, by the definitions of RFC 3550: an oracle apart from the implementation.

Source: RFC 3550 sections 6.4.1 and appendix A.3 and A.8, by what the quantities mean and not by the
code of the appendices. Numbers are whole here and are cut to 16 bits only where they are written, so
that nothing has to guess whether they have wrapped; the jitter is a float.

What is computed, for a file that a test of the implementation reads (tests/data/rtcp/reception.csv):
packets of a source whose numbers and timestamps wrap; some are lost, some are late, some
come twice, with delays that vary; and every so often what a report says then.

Run as a program, it writes the file.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass, field

CLOCK = 8000
STEP = 160
PACKETS = 400


@dataclass
class Source:
    """The packets of one source as they arrive."""

    first: int | None = None
    highest: int = 0
    received: int = 0
    jitter: float = 0.0
    transit: int | None = None
    before: tuple[int, int] = (0, 0)

    def arrives(self, number: int, timestamp: int, at: int) -> None:
        if self.first is None:
            self.first = self.highest = number
        self.highest = max(self.highest, number)
        self.received += 1
        transit = at - timestamp
        if self.transit is not None:
            self.jitter += (abs(transit - self.transit) - self.jitter) / 16
        self.transit = transit

    def expected(self) -> int:
        return 0 if self.first is None else self.highest - self.first + 1

    def report(self) -> tuple[int, int, int, float]:
        """Fraction lost of the interval in 256ths, packets lost, the highest number, the jitter."""
        expected = self.expected() - self.before[0]
        received = self.received - self.before[1]
        self.before = (self.expected(), self.received)
        lost = expected - received
        fraction = 0 if expected == 0 or lost < 0 else min(255, 256 * lost // expected)
        return fraction, self.expected() - self.received, self.highest, self.jitter


@dataclass
class Case:
    seed: int
    loss: float
    jitter: int
    rows: list[str] = field(default_factory=list)

    def run(self) -> None:
        rng = random.Random(self.seed)
        # Numbers and timestamps wrap on the way; the first cycle is that of the first number.
        start = 65_536 - rng.randrange(50, 300)
        offset = (1 << 32) - rng.randrange(1000, 40_000)
        arrivals = []
        for n in range(PACKETS):
            if n > 0 and rng.random() < self.loss:
                continue
            copies = 2 if rng.random() < 0.02 else 1
            for _ in range(copies):
                at = STEP * n + 4000 + rng.randrange(self.jitter + 1)
                arrivals.append((at, n))
        # The first packet is the first that arrives: what came before it would be of no known cycle.
        arrivals = [(0, 0), *sorted(one for one in arrivals if one[1] > 0)]
        source = Source()
        for count, (at, n) in enumerate(arrivals):
            source.arrives(start + n, offset + STEP * n, offset + at)
            number = (start + n) % (1 << 16)
            timestamp = (offset + STEP * n) % (1 << 32)
            arrival = (offset + at) % (1 << 32)
            self.rows.append(f"packet,{number},{timestamp},{arrival},\n")
            if count % 37 == 36:
                fraction, lost, highest, jitter = source.report()
                self.rows.append(f"report,{fraction},{lost},{highest},{jitter:.4f}\n")


CASES = ((1, 0.0, 0), (2, 0.05, 100), (3, 0.3, 700), (4, 0.9, 400))

HEADER = """\
# Packets of a source and what reports say of them, by the definitions of RFC 3550 section 6.4.1; written by
# tests/oracles/rtp_reception_rfc3550.py. Rows: case, its name; packet, number, timestamp, arrival on its clock;
# report, fraction lost in 256ths, packets lost, extended highest number, jitter.
what,a,b,c,d
"""


def text() -> str:
    parts = [HEADER]
    for seed, loss, jitter in CASES:
        case = Case(seed, loss, jitter)
        case.run()
        parts.append(f"case,{seed},,,\n")
        parts.extend(case.rows)
    return "".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("-o", "--output", help="file to write; standard output unless given")
    args = parser.parse_args()
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(text())
    else:
        sys.stdout.write(text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
