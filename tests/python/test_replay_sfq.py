"""`sojourn replay` of sfq against its oracle and Linux 6.1's own decisions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import linux_rows
import linux_traces
import sfq_paper
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import DROPPED, Limit, parse_limit, parse_rate

OURS = "sfq buckets=none"
LINUX = f"{OURS} dialect=linux limit=127p quantum=1514B depth=127 flows=128"


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("limit", "drop"), [("30p", "tail"), ("20kB", "tail"), ("4p", "tail"), ("30p", "head")]
)
def test_sfq_agrees_with_the_paper(
    sojourn: Path, tmp_path: Path, limit: str, drop: str, seed: int
) -> None:
    rows, rate = process(seed, flows=5)
    oracle = sfq_paper.run(rows, parse_rate(rate), parse_limit(limit), drop)
    spec = f"{OURS} limit={limit} headdrop={str(drop == 'head').lower()}"
    agree(sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path), oracle, seed, reasons=False)


def test_the_processes_make_sfq_drop() -> None:
    drops = 0
    for seed in SEEDS:
        rows, rate = process(seed, flows=5)
        outcomes = sfq_paper.run(rows, parse_rate(rate), Limit(packets=30))
        drops += any(row.verdict == DROPPED for row in outcomes)
    assert drops >= len(SEEDS) // 2


def test_one_flow_decides_as_linux(sojourn: Path, tmp_path: Path) -> None:
    trace = linux_traces.load("udp_sfq_burst2.0_s1", decides_on_arrival=True)
    rows = sojourn_binary.replay(sojourn, trace.arrivals, LINUX, linux_traces.RATE, tmp_path)
    divergence = linux_traces.first_divergence(trace, rows)
    assert divergence is None, divergence


def test_four_flows_fare_as_in_linux_over_thirty_seconds(sojourn: Path, tmp_path: Path) -> None:
    linux_rows.check(sojourn, "udp_sfq_cbr4flows_s1", LINUX, tmp_path)
