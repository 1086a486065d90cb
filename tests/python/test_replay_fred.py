"""`sojourn replay` with FRED against the oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import fred_paper
import replay_cases
from fred_paper import Settings
from replay_io import Limit

SPECS = {
    "fred": Settings(),
    "fred min=4p max=9p probability=0.1 weight=0.05 limit=25p": Settings(
        min_th=4, max_th=9, max_p=0.1, w_q=0.05, limit=Limit(packets=25)
    ),
    "fred probability=0.1 weight=0.1 limit=24kB avpkt=500B min_q=4p": Settings(
        min_th=12, max_th=24, max_p=0.1, w_q=0.1, limit=Limit(size=24_000), avpkt=500, min_q=4
    ),
    "fred min=3p weight=0.2 limit=40p two_packets=true": Settings(
        min_th=3, max_th=6, w_q=0.2, limit=Limit(packets=40), two_packets=True
    ),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_fred_agrees_with_the_oracle(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    settings = SPECS[spec]
    replay_cases.replays_alike(
        command,
        tmp_path,
        spec,
        lambda rows, rate, seed: fred_paper.run(rows, rate, settings, seed),
        seed,
        flows=5,
    )
