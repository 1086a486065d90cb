"""`sojourn replay` with SFB against the oracle, packet by packet."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import decision_cases
import sfb_paper
from replay_io import Limit, parse_span
from sfb_paper import LINUX, Settings

SPECS = {
    "sfb": Settings(),
    "sfb increment=0.2 decrement=0.05 buckets=4 bin_size=6p hold=2ms boxtime=20ms limit=40p ecn=true": (
        Settings(
            d1=0.2,
            d2=0.05,
            bins=4,
            bin_size=6,
            hold_ps=parse_span("2ms"),
            boxtime_ps=parse_span("20ms"),
            limit=Limit(packets=40),
            ecn=True,
        )
    ),
    "sfb levels=3 increment=0.3 hold=none buckets=5 bin_size=3p rehash=200ms warmup=50ms": Settings(
        levels=3,
        d1=0.3,
        hold_ps=-1,
        bins=5,
        bin_size=3,
        rehash_ps=parse_span("200ms"),
        warmup_ps=parse_span("50ms"),
    ),
    "sfb dialect=linux": LINUX,
    (
        "sfb dialect=linux increment=0.05 decrement=0.01 bin_size=6p max=9p limit=20p "
        "rehash=300ms warmup=100ms levels=3 buckets=4 penalty_rate=50 penalty_burst=3p"
    ): replace(
        LINUX,
        d1=0.05,
        d2=0.01,
        bin_size=6,
        max=9,
        limit=Limit(packets=20),
        rehash_ps=parse_span("300ms"),
        warmup_ps=parse_span("100ms"),
        levels=3,
        bins=4,
        penalty_rate=50,
        penalty_burst=3,
    ),
}


@pytest.mark.parametrize("seed", decision_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_sfb_agrees_with_the_oracle(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    settings = SPECS[spec]
    decision_cases.agree(
        command,
        tmp_path,
        spec,
        lambda rows, rate, seed: sfb_paper.run(rows, rate, settings, seed),
        seed,
        flows=5,
    )
