"""`sojourn replay` with BLUE against the oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import blue_paper
import decision_cases
from replay_io import Limit, parse_span

HOLD = parse_span("10ms")
SPECS = {
    "blue": blue_paper.Settings(),
    "blue limit=30p hold_up=10ms hold_down=10ms ecn=true": blue_paper.Settings(
        limit=Limit(packets=30), freeze_up_ps=HOLD, freeze_down_ps=HOLD, ecn=True
    ),
    "blue limit=40kB threshold=25kB hold_up=10ms hold_down=10ms increment=0.1 decrement=0.01": (
        blue_paper.Settings(
            limit=Limit(size=40_000),
            threshold=Limit(size=25_000),
            freeze_up_ps=HOLD,
            freeze_down_ps=HOLD,
            d1=0.1,
            d2=0.01,
        )
    ),
    "blue increment=1 decrement=0.25 hold_up=0s hold_down=0s limit=5p": blue_paper.Settings(
        d1=1.0, d2=0.25, freeze_up_ps=0, freeze_down_ps=0, limit=Limit(packets=5)
    ),
    "blue dialect=ns2 increment=0.02 hold_up=20ms hold_down=10ms ecn=true": blue_paper.Settings(
        ns2=True,
        limit=Limit(packets=50),
        d1=0.02,
        d2=0.00025,
        freeze_up_ps=parse_span("20ms"),
        freeze_down_ps=HOLD,
        ecn=True,
    ),
    "blue dialect=ns2 growth=double hold_up=10ms decrement=0.05 limit=20p": blue_paper.Settings(
        ns2=True,
        limit=Limit(packets=20),
        d1=0.0025,
        d2=0.05,
        freeze_up_ps=HOLD,
        algorithm_up=2,
    ),
}


@pytest.mark.parametrize("seed", decision_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_blue_agrees_with_its_paper(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    settings = SPECS[spec]
    decision_cases.agree(
        command,
        tmp_path,
        spec,
        lambda rows, rate, seed: blue_paper.run(rows, rate, settings, seed),
        seed,
    )
