"""`sojourn replay` of wfq against its oracle."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import sojourn_binary
import wfq_papers
from replay_cases import SEEDS, agree, process
from replay_io import DROPPED, Limit, parse_limit, parse_rate


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("clock", "limit", "weights"),
    [
        ("gps", "1000p", "1"),
        ("gps", "30kB", "3:1:2"),
        ("self", "1000p", "1"),
        ("self", "30p", "7:3:1"),
    ],
)
def test_wfq_agrees_with_the_papers(
    sojourn: Path, tmp_path: Path, clock: str, limit: str, weights: str, seed: int
) -> None:
    rows, rate = process(seed, flows=5)
    oracle = wfq_papers.run(
        rows, parse_rate(rate), parse_limit(limit), clock, [int(w) for w in weights.split(":")]
    )
    spec = f"wfq clock={clock} limit={limit} weights={weights}"
    agree(sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path), oracle, seed, reasons=False)


def test_the_processes_make_wfq_drop() -> None:
    drops = 0
    for seed in SEEDS[::3]:
        rows, rate = process(seed, flows=5)
        outcomes = wfq_papers.run(rows, parse_rate(rate), Limit(packets=30), "self")
        drops += any(row.verdict == DROPPED for row in outcomes)
    assert drops >= len(SEEDS[::3]) // 2
