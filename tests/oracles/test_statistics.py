"""The oracle of the statistics: scipy still gives the table that the code's test reads."""

from __future__ import annotations

import pytest

import statistics_scipy as oracle


def rows(text: str) -> list[tuple[str, str, list[float]]]:
    lines = [line.split(",") for line in text.splitlines()[1:]]
    return [(what, of, [float(value) for value in result.split()]) for what, of, result in lines]


def test_the_table_is_what_scipy_computes() -> None:
    pytest.importorskip("scipy", reason="scipy, which computes the table anew, is not installed")
    kept = rows(oracle.TABLE.read_text(encoding="utf-8"))
    anew = rows(oracle.table())
    assert [row[:2] for row in kept] == [row[:2] for row in anew]
    for (what, of, theirs), (_, _, ours) in zip(kept, anew, strict=True):
        assert theirs == pytest.approx(ours, rel=1e-8, abs=1e-12), (what, of)


def test_holm_rejects_the_published_three_of_fifteen() -> None:
    """Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57, 1995, section 4.1."""
    ps = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    ps += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert sum(p < 0.05 for p in oracle.holm(ps)) == 3
