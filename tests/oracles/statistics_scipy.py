#!/usr/bin/env python3
"""The statistics of comparisons by scipy: an oracle apart from the code.

scipy gives the distributions, the t tests, Pearson's correlation and the equivalence of two one-sided t tests. Holm's
procedure is by its definition (S. Holm, Scandinavian Journal of Statistics 6(2), 1979). The intervals on a logarithmic or
logit scale are by the delta method.

Run as a program, with scipy, it writes the table that the code's test reads: what is computed, of what, and the result.
Numbers are separated by blanks, and lists of them by semicolons.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "data" / "statistics.csv"

Values = Sequence[float]


def text(*lists: Values) -> str:
    return ";".join(" ".join(repr(float(value)) for value in values) for values in lists)


def distributions() -> Iterator[tuple[str, str, Values]]:
    from scipy import stats

    for freedom in (1, 2, 2.7, 4, 9.3, 29, 250.5):
        for share in (0.001, 0.025, 0.3, 0.95, 0.975, 0.995):
            found = stats.t.ppf(share, freedom)
            yield "t_quantile", text([share, freedom]), [found]
            yield "chi_squared_quantile", text([share, freedom]), [stats.chi2.ppf(share, freedom)]
        for t in (0.1, 1.0, 2.5, 7.0, 40.0):
            yield "t_above", text([t, freedom]), [stats.t.sf(t, freedom)]


def interval(values: Values, low: float, high: float) -> Values:
    """The delta method's interval on the scale of the ends; of two values, Student's within them."""
    import numpy
    from scipy import special, stats

    data = numpy.array(values)
    mean, error = data.mean(), stats.sem(data)
    reach = stats.t.ppf(0.975, len(data) - 1) * error
    if math.isinf(low) or len(values) == 2:
        return [max(mean - reach, low), min(mean + reach, high)]
    if math.isinf(high):
        scaled = reach / (mean - low)
        return [low + (mean - low) * math.exp(sign * scaled) for sign in (-1, 1)]
    share = (mean - low) / (high - low)
    scaled = reach / (high - low) / (share * (1 - share))
    return [
        low + (high - low) * special.expit(special.logit(share) + sign * scaled) for sign in (-1, 1)
    ]


def intervals(draws: random.Random) -> Iterator[tuple[str, str, Values]]:
    for count in (2, 3, 5, 10, 30):
        for low, high in ((-math.inf, math.inf), (0.0, math.inf), (0.0, 1.0), (0.25, 1.0)):
            values = [round(draws.uniform(0.5, 0.999), 4) for _ in range(count)]
            yield "interval", text(values, [low, high]), interval(values, low, high)


def holm(ps: Values) -> Values:
    order = sorted(range(len(ps)), key=lambda at: ps[at])
    adjusted, greatest = [0.0] * len(ps), 0.0
    for rank, at in enumerate(order):
        greatest = max(greatest, min(1.0, (len(ps) - rank) * ps[at]))
        adjusted[at] = greatest
    return adjusted


def comparisons(draws: random.Random) -> Iterator[tuple[str, str, Values]]:
    from scipy import stats

    for count in (3, 4, 5, 8, 20):
        for shared in (0.0, 1.0, 4.0):
            common = [draws.gauss(0, shared) for _ in range(count)]
            a = [round(10 + c + draws.gauss(0, 1), 4) for c in common]
            b = [round(9 + c + draws.gauss(0, 2), 4) for c in common]
            r, two_sided = stats.pearsonr(a, b)
            paired = r < -0.3 or (r > 0 and two_sided / 2 < 0.05)
            test = stats.ttest_rel(a, b) if paired else stats.ttest_ind(a, b, equal_var=False)
            low, high = test.confidence_interval(0.95)
            difference = float(sum(a) / count - sum(b) / count)
            error = difference / test.statistic
            margin = 1.5
            equivalence = max(
                stats.t.sf((difference + margin) / error, test.df),
                stats.t.cdf((difference - margin) / error, test.df),
            )
            expected = [float(paired), r, difference, low, high, test.pvalue, equivalence]
            yield "difference", text(a, b, [margin]), expected
    for count in (1, 2, 5, 12):
        ps = [round(draws.random() ** 3, 5) for _ in range(count)]
        yield "holm", text(ps), holm(ps)


def table() -> str:
    """The table, to 13 digits."""
    draws = random.Random(47)
    lines = ["what,of,result"]
    for rows in (distributions(), intervals(draws), comparisons(draws)):
        for what, of, result in rows:
            lines.append(f"{what},{of}," + " ".join(f"{float(value):.13g}" for value in result))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
