"""`sojourn replay` against the oracles of head drop, strict priority and weighted round robin."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import bands_textbook
import replay_cases
from replay_io import parse_rate


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
def test_head_drop_agrees(command: Path, tmp_path: Path, seed: int) -> None:
    rows, rate = replay_cases.process(seed, flows=3)
    oracle = bands_textbook.run_head_drop(rows, parse_rate(rate), 20)
    for spec in ("droptail limit=20p drop=head", "droptail dialect=linux_head limit=20p"):
        replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("bands", [1, 3, 8])
def test_strict_priority_agrees(command: Path, tmp_path: Path, bands: int, seed: int) -> None:
    rows, rate = replay_cases.process(seed, flows=5)
    oracle = bands_textbook.run_priority(rows, parse_rate(rate), bands, 15)
    spec = f"prio by=flow bands={bands} each=(droptail limit=15p)"
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("weights", [[1], [4, 2, 1]])
def test_weighted_round_robin_agrees(
    command: Path, tmp_path: Path, weights: list[int], interleaved: bool, seed: int
) -> None:
    rows, rate = replay_cases.process(seed, flows=5)
    oracle = bands_textbook.run_round_robin(rows, parse_rate(rate), weights, 15, interleaved)
    text = ":".join(map(str, weights))
    dialect = "interleaved" if interleaved else "plain"
    spec = f"wrr dialect={dialect} weights={text} each=(droptail limit=15p)"
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)
