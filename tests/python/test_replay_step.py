"""`sojourn replay` against the oracle of step and ramp marking, packet by packet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import sojourn_binary
import step_rfc9332
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_rate

US = 10**6

SPECS = {
    "step": step_rfc9332.Settings(by="packets", low=20, high=20),
    "step threshold=4p threshold_max=12p limit=60p": step_rfc9332.Settings(
        by="packets", low=4, high=12, limit=Limit(packets=60)
    ),
    "step threshold=9000B limit=60kB": step_rfc9332.Settings(
        by="bytes", low=9000, high=9000, limit=Limit(size=60_000)
    ),
    "step dialect=rfc9332": step_rfc9332.Settings(low=800 * US, high=1200 * US),
    "step dialect=linux target=5ms": step_rfc9332.Settings(low=5000 * US, high=5000 * US),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_step_agrees_with_its_source(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = process(seed, flows=4)
    # Odd flows are Scalable.
    rows = [replace(row, ecn=1) if row.flow % 2 else row for row in rows]
    oracle = step_rfc9332.run(rows, parse_rate(rate), SPECS[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)
