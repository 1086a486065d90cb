"""`sojourn replay` with GREEN against the oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import green_paper
import replay_cases
from green_paper import Settings
from replay_io import Limit, parse_span

SPECS = {
    "green": Settings(),
    "green rtt=20ms window=10ms limit=30p ecn=true": Settings(
        rtt_ps=parse_span("20ms"), window_ps=parse_span("10ms"), limit=Limit(packets=30), ecn=True
    ),
    "green rtt=50ms constant=0.93 window=100ms limit=20kB": Settings(
        rtt_ps=parse_span("50ms"), c=0.93, window_ps=parse_span("100ms"), limit=Limit(size=20_000)
    ),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_green_agrees_with_the_oracle(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    settings = SPECS[spec]
    replay_cases.replays_alike(
        command,
        tmp_path,
        spec,
        lambda rows, rate, seed: green_paper.run(rows, rate, settings, seed),
        seed,
        flows=5,
    )
