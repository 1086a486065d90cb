"""The oracle of fractional Gaussian noise against closed forms, and the table that the code's test reads."""

from __future__ import annotations

import math

import pytest

import fgn_davies_harte as fgn
from streams import Stream


@pytest.mark.parametrize("hurst", [0.3, 0.5, 0.7, 0.9])
def test_the_embedding_has_the_autocovariance_of_the_noise(hurst: float) -> None:
    """Cov(X_0, X_j) of the embedding is the inverse transform of the eigenvalues, none of them negative."""
    values = fgn.eigenvalues(hurst, 32)
    assert min(values) > -1e-12
    for lag in range(32):
        ours = sum(v * math.cos(2 * math.pi * k * lag / 64) for k, v in enumerate(values)) / 64
        assert abs(ours - fgn.autocovariance(hurst, lag)) < 1e-12
    assert abs(fgn.autocovariance(hurst, 1) - (2 ** (2 * hurst - 1) - 1)) < 1e-12


def test_sums_of_slots_vary_as_a_power_of_their_number() -> None:
    """Var(X_1 + ... + X_n) = n^2H: what self-similar means."""
    hurst, blocks = 0.8, 3000
    draws = Stream(2, 0, "test")
    sums = [[0.0] * blocks for _ in range(3)]
    for block in range(blocks):
        values = fgn.noise(hurst, 8, draws)
        for row, n in enumerate((1, 4, 8)):
            sums[row][block] = sum(values[:n])
    for row, n in enumerate((1, 4, 8)):
        variance = sum(s * s for s in sums[row]) / blocks
        # Standard error sqrt(2 / 3000).
        assert abs(variance / n ** (2 * hurst) - 1) < 0.1, (n, variance)


def test_the_table_is_what_the_oracle_writes() -> None:
    assert fgn.TABLE.read_text(encoding="utf-8") == fgn.table()
