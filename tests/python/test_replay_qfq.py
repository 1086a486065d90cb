"""`sojourn replay` against the slow oracle of QFQ and QFQ+, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import qfq_papers
import replay_cases
from replay_io import Arrival, arrival, parse_rate

WEIGHTS = [[1], [9, 4, 4, 1], [1, 300, 40, 6, 1]]


def backlog(seed: int) -> list[Arrival]:
    """Two thousand packets of six flows within 20 ms, which then wait for the link."""
    rows, state = [], seed + 1
    for index in range(2000):
        state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        rows.append(arrival(index, index * 10_000, 40 + (state >> 33) % 1461, (state >> 50) % 6))
    return rows


@pytest.mark.parametrize("seed", replay_cases.SEEDS[:12])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("aggregate", "lmax"), [(0, 1514), (0, 512), (1, 512), (2, 1514), (8, 1514)]
)
def test_qfq_agrees_with_its_slow_oracle(
    command: Path, tmp_path: Path, aggregate: int, lmax: int, weights: list[int], seed: int
) -> None:
    rows, rate = replay_cases.process(seed, flows=7) if seed % 3 else (backlog(seed), "10Mbps")
    limit = 15 if seed % 3 else 300
    plus = aggregate > 0
    oracle = qfq_papers.run(rows, parse_rate(rate), weights, limit, plus, lmax, aggregate or 1)
    dialect = f"linux aggregate={aggregate}" if plus else "paper"
    text = ":".join(map(str, weights))
    spec = f"qfq dialect={dialect} weights={text} lmax={lmax}B each=(droptail limit={limit}p)"
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)
