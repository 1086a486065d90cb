"""`sojourn replay` against the oracle of DualPI2, packet by packet, over random arrival processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import dualpi2_rfc9332
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_rate

SPECS = {
    "dualpi2": dualpi2_rfc9332.Settings(),
    "dualpi2 limit=100p c_protection=30 coupling=3": dualpi2_rfc9332.Settings(
        limit=Limit(packets=100), classic_percent=30, k=3.0
    ),
    "dualpi2 schedule=time_shift tshift=20ms limit=100kB th_len=0": dualpi2_rfc9332.Settings(
        tshift=20 * dualpi2_rfc9332.MS, limit=Limit(size=100_000), th_len=0
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_dualpi2_agrees_with_its_source(
    command: Path, tmp_path: Path, spec: str, seed: int
) -> None:
    rows, rate = process(seed, flows=4)
    # Odd flows are Scalable.
    rows = [replace(row, ecn=1) if row.flow % 2 else row for row in rows]
    oracle = dualpi2_rfc9332.run(rows, parse_rate(rate), SPECS[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)
