"""`sojourn replay` against the oracle of PI2, packet by packet, over random arrival processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import pi2_conext2016
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_rate

SPECS = {
    "pi2": pi2_conext2016.Settings(),
    "pi2 limit=60kB ecn=false": pi2_conext2016.Settings(limit=Limit(size=60_000), ecn=False),
    "pi2 dialect=rfc9332 limit=100p": pi2_conext2016.Settings(
        target=15 * pi2_conext2016.MS,
        period=15 * pi2_conext2016.MS,
        alpha=0.15,
        beta=3.0,
        limit=Limit(packets=100),
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_pi2_agrees_with_its_source(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = process(seed, flows=4)
    # Odd flows are Scalable.
    rows = [replace(row, ecn=1) if row.flow % 2 else row for row in rows]
    oracle = pi2_conext2016.run(rows, parse_rate(rate), SPECS[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)
