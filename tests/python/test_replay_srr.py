"""`sojourn replay` with SRR against its oracle and against ns-2, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import ns2_srr
import sojourn_binary
import srr_guo
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_limit, parse_rate

WEIGHTS = (5, 2, 9, 1, 3)


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("quantum", [300, 1500])
@pytest.mark.parametrize("limit", ["64kB", "100p"])
def test_srr_agrees_with_the_definitions(
    sojourn: Path, tmp_path: Path, limit: str, quantum: int, seed: int
) -> None:
    rows, rate = process(seed, flows=5)
    oracle = srr_guo.run(rows, parse_rate(rate), quantum, WEIGHTS, parse_limit(limit))
    spec = f"srr quantum={quantum}B weights=5:2:9:1:3 limit={limit}"
    agree(sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path), oracle, seed, reasons=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_srr_agrees_with_the_order_of_ns2(sojourn: Path, tmp_path: Path, seed: int) -> None:
    rows, rate = process(seed, flows=6)
    assign = (0, 1, 2, 1, 3)
    oracle = srr_guo.run(rows, parse_rate(rate), 1000, WEIGHTS, Limit(), assign, 20, True)
    spec = "srr dialect=ns2 assign=0:1:2:1:3 weights=5:2:9:1:3 queue_limit=20p"
    agree(sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path), oracle, seed, reasons=False)


def test_srr_decides_as_ns2(sojourn: Path, tmp_path: Path) -> None:
    arrivals, departures = ns2_srr.load()
    spec = "srr dialect=ns2 assign=0:1:2:1:3 weights=5:2:9:1 queue_limit=20p"
    rows = sojourn_binary.replay(sojourn, arrivals, spec, ns2_srr.RATE, tmp_path)
    assert ns2_srr.differing(departures, rows) == []
