#!/usr/bin/env python3
"""Traffic of fractional Gaussian noise by circulant embedding: an oracle apart from the code.

Sources: R. B. Davies and D. S. Harte, "Tests for Hurst effect", Biometrika 74(1), 1987, as in J. Beran,
"Statistics for Long-Memory Processes", 1994, section 12.4.2, and in lecture notes on simulating it:

* g(k) = (|k + 1|^2H - 2 |k|^2H + |k - 1|^2H) / 2, the circulant row c = g(0) ... g(N), g(N - 1) ... g(1).
* l = transform of c. W(0) and W(N) are normal with variance l / 2N, W(k) = sqrt(l / 4N) (U + i V) for
  0 < k < N, and W(2N - k) its conjugate. X = transform of W, its first N values.

Here the transforms are sums by their definition, in O(N^2). The draws come in the order of k, U before V.

A slot offers mean (1 + deviation X) bytes, evenly over its time; a packet leaves when its last byte has
come; a negative amount is owed. Run as a program it writes the table that the code's test reads.
"""

from __future__ import annotations

import math
from pathlib import Path

from streams import Stream

TABLE = Path(__file__).resolve().parent.parent / "data" / "fgn_times.csv"
NAME = "flow/fgn-1"
# Hurst parameter, deviation, slots of a block.
CASES = ((0.8, 0.3, 16), (0.6, 1.0, 8), (0.95, 2.0, 32))
RATE_BPS, SLOT_S, SIZE, PACKETS = 4_000_000, 0.005, 1000, 60


def autocovariance(hurst: float, lag: int) -> float:
    def power(x: int) -> float:
        return math.pow(abs(x), 2 * hurst)

    return (power(lag + 1) - 2 * power(lag) + power(lag - 1)) / 2


def eigenvalues(hurst: float, slots: int) -> list[float]:
    whole = 2 * slots
    row = [autocovariance(hurst, min(i, whole - i)) for i in range(whole)]
    return [
        sum(c * math.cos(2 * math.pi * j * k / whole) for j, c in enumerate(row))
        for k in range(whole)
    ]


def normal(draws: Stream) -> float:
    """Box and Muller; the first uniform is above 0."""
    above_zero = 1 - draws.uniform()
    return math.sqrt(-2 * math.log(above_zero)) * math.cos(2 * math.pi * draws.uniform())


def noise(hurst: float, slots: int, draws: Stream) -> list[float]:
    """The standard values of one block."""
    whole = 2 * slots
    scale = [math.sqrt(max(value, 0.0) / whole) for value in eigenvalues(hurst, slots)]
    cosine, sine = [0.0] * whole, [0.0] * whole
    for k in range(slots + 1):
        if k in (0, slots):
            cosine[k] = scale[k] * normal(draws)
            continue
        u, v = normal(draws), normal(draws)
        # The two conjugates together: 2 Re(W e^-iwt) / sqrt 2.
        cosine[k], sine[k] = math.sqrt(2) * scale[k] * u, math.sqrt(2) * scale[k] * v
    return [
        sum(
            cosine[k] * math.cos(2 * math.pi * j * k / whole)
            + sine[k] * math.sin(2 * math.pi * j * k / whole)
            for k in range(slots + 1)
        )
        for j in range(slots)
    ]


def times_ns(hurst: float, deviation: float, slots: int, packets: int = PACKETS) -> list[int]:
    """When the first packets leave."""
    draws = Stream(1, 0, NAME)
    mean = RATE_BPS * SLOT_S / 8
    times: list[int] = []
    credit, begins = 0.0, 0.0
    block: list[float] = []
    while True:
        if not block:
            block = noise(hurst, slots, draws)
        amount = mean * (1 + deviation * block.pop(0))
        before, credit = credit, credit + amount
        sent = 0
        while credit >= SIZE * (sent + 1):
            sent += 1
            times.append(round(1e9 * (begins + SLOT_S * (SIZE * sent - before) / amount)))
            if len(times) == packets:
                return times
        credit -= SIZE * sent
        begins += SLOT_S


def table() -> str:
    rows = ["hurst,deviation,block,time_ns"]
    for hurst, deviation, slots in CASES:
        rows += [f"{hurst},{deviation},{slots},{t}" for t in times_ns(hurst, deviation, slots)]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
