"""`sojourn replay` against the oracles of PIE, packet by packet, over random arrival processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import pie_rfc8033
import pie_rfc8034
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_rate

RFC8033 = {
    "pie": pie_rfc8033.Settings(),
    "pie ecn=true limit=60p tupdate=5ms target=5ms": pie_rfc8033.Settings(
        ecn=True,
        limit=Limit(packets=60),
        t_update=5 * pie_rfc8033.MS,
        qdelay_ref=5 * pie_rfc8033.MS,
    ),
    "pie limit=60kB derandomize=true cap=true ecn=true": pie_rfc8033.Settings(
        limit=Limit(size=60_000), derandomize=True, cap=True, ecn=True
    ),
    "pie dq_rate_estimator=true derandomize=true cap=true": pie_rfc8033.Settings(
        dq_rate=True, derandomize=True, cap=True
    ),
}

RFC8034 = {
    "pie dialect=rfc8034": pie_rfc8034.Settings(),
    "pie dialect=rfc8034 limit=60p ecn=true": pie_rfc8034.Settings(
        limit=Limit(packets=60), ecn=True
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", RFC8033)
def test_pie_agrees_with_rfc8033(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = process(seed, flows=3)
    oracle = pie_rfc8033.run(rows, parse_rate(rate), RFC8033[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", RFC8034)
def test_docsis_pie_agrees_with_rfc8034(
    command: Path, tmp_path: Path, spec: str, seed: int
) -> None:
    rows, rate = process(seed, flows=3)
    oracle = pie_rfc8034.run(rows, parse_rate(rate), RFC8034[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)
