"""`sojourn replay` against the oracle of RIO, packet by packet, on the same draws."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import replay_cases
import rio_clark_fang
from replay_io import DROPPED, parse_rate
from rio_clark_fang import NS2, Curve, Settings

TIGHT = "min_in=6p max_in=14p probability_in=0.1 min_out=2p max_out=9p probability_out=0.3"
INSIDE, OUTSIDE = Curve(6, 14, 0.1), Curve(2, 9, 0.3)

SPECS = {
    "rio tag=flow": Settings(),
    f"rio tag=flow {TIGHT} weight=0.05 limit=30p": Settings(
        w_q=0.05, limit=30, inside=INSIDE, outside=OUTSIDE
    ),
    f"rio tag=flow {TIGHT} weight=0.05 limit=30p coupled=false wait=true ecn=true": Settings(
        coupled=False, wait=True, ecn=True, w_q=0.05, limit=30, inside=INSIDE, outside=OUTSIDE
    ),
    "rio dialect=ns2 tag=flow": NS2,
    f"rio dialect=ns2 tag=flow {TIGHT} weight=0.05 limit=16p": Settings(
        ns2=True, wait=True, w_q=0.05, limit=16, inside=INSIDE, outside=OUTSIDE
    ),
    f"rio dialect=ns2 tag=flow {TIGHT} weight=0.5 limit=12p wait=false": Settings(
        ns2=True, w_q=0.5, limit=12, inside=INSIDE, outside=OUTSIDE
    ),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_rio_agrees_with_its_oracle(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = replay_cases.process(seed, flows=3)
    oracle = rio_clark_fang.run(rows, parse_rate(rate), SPECS[spec], seed)
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)


@pytest.mark.parametrize("spec", SPECS)
def test_the_processes_make_rio_drop_both_kinds(spec: str) -> None:
    kinds = set()
    for seed in replay_cases.SEEDS:
        rows, rate = replay_cases.process(seed, flows=3)
        for row in rio_clark_fang.run(rows, parse_rate(rate), SPECS[spec], seed):
            if row.verdict == DROPPED and row.reason != rio_clark_fang.OVERFLOW:
                kinds.add(row.arrival.flow == 0)
    assert True in kinds, kinds
    assert False in kinds or spec in ("rio tag=flow", "rio dialect=ns2 tag=flow"), kinds
