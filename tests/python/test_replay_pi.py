"""`sojourn replay` against the oracle of PI, packet by packet, over random arrival processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import pi_paper
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_rate, parse_span

SPECS = {
    "pi": pi_paper.Settings(),
    "pi a=0.002 b=0.0019 qref=15p limit=40p ecn=true": pi_paper.Settings(
        a=0.002, b=0.0019, q_ref=15, limit=Limit(packets=40), ecn=True
    ),
    "pi a=0.002 b=0.0019 qref=15p limit=40kB queue_in_bytes=true tupdate=2ms": pi_paper.Settings(
        a=0.002,
        b=0.0019,
        q_ref=15,
        limit=Limit(size=40_000),
        queue_in_bytes=500,
        period_ps=parse_span("2ms"),
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_pi_agrees_with_its_source(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = process(seed, flows=3)
    oracle = pi_paper.run(rows, parse_rate(rate), SPECS[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)
