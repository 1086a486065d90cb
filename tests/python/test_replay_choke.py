"""`sojourn replay` with CHOKe against the oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import choke_paper
import decision_cases
from choke_paper import Settings
from replay_io import Limit

SPECS = {
    "choke min=20p max=60p limit=100p": Settings(min_th=20, max_th=60, limit=Limit(packets=100)),
    "choke min=5p max=15p probability=0.1 weight=0.05 limit=30p ecn=true": Settings(
        min_th=5, max_th=15, max_p=0.1, w_q=0.05, limit=Limit(packets=30), ecn=True
    ),
    "choke min=3p max=9p weight=0.2 limit=12kB ecn=true harddrop=true avpkt=500B": Settings(
        min_th=3,
        max_th=9,
        w_q=0.2,
        limit=Limit(size=12_000),
        ecn=True,
        harddrop=True,
        avpkt=500,
    ),
    (
        "choke dialect=linux limit=83p min=8p max=25p weight=0.0625 probability=0.1 idle_decay=false"
    ): Settings(linux=True, limit=Limit(packets=83), min_th=8, max_th=25, wlog=4, max_p=0.1),
    (
        "choke dialect=linux limit=20p min=3p max=9p weight=0.125 probability=0.2 ecn=true "
        "idle_decay=false"
    ): Settings(
        linux=True, limit=Limit(packets=20), min_th=3, max_th=9, wlog=3, max_p=0.2, ecn=True
    ),
}


@pytest.mark.parametrize("seed", decision_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_choke_agrees_with_the_oracle(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    settings = SPECS[spec]
    decision_cases.agree(
        command,
        tmp_path,
        spec,
        lambda rows, rate, seed: choke_paper.run(rows, rate, settings, seed),
        seed,
        flows=5,
    )
