"""`sojourn replay` against the oracle of REM, packet by packet, over random arrival processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import rem_paper
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_rate, parse_span

SPECS = {
    "rem": rem_paper.Settings(),
    "rem gamma=0.02 phi=1.05 qref=10p limit=40p ecn=true": rem_paper.Settings(
        gamma=0.02, phi=1.05, target=10.0, limit=Limit(packets=40), ecn=True
    ),
    "rem gamma=0.01 avpkt=500B tupdate=5ms limit=30kB": rem_paper.Settings(
        gamma=0.01, packet=500, period_ps=parse_span("5ms"), limit=Limit(size=30_000)
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_rem_agrees_with_its_source(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = process(seed, flows=3)
    oracle = rem_paper.run(rows, parse_rate(rate), SPECS[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)
