"""`sojourn replay` against the oracle of RED's variants, packet by packet, on the same draws."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import red_variants
import replay_cases
from red_variants import Settings
from replay_io import DROPPED, parse_rate

NS3 = Settings(ns=True, limit=25, gentle=True, wait=True, bandwidth=1_500_000)
QUICK = "weight=0.02 probability=0.1 limit=40p"

SPECS = {
    "red dialect=feng": Settings(feng=(3.0, 2.0)),
    f"red dialect=feng {QUICK} gentle=true": Settings(
        feng=(3.0, 2.0), w_q=0.02, max_p=0.1, limit=40, gentle=True
    ),
    "red dialect=rared min=5p max=15p weight=0.02": Settings(refined=True, w_q=0.02, gentle=True),
    f"red adaptive=true refined=true {QUICK}": Settings(
        refined=True, w_q=0.02, max_p=0.1, limit=40
    ),
    "red dialect=nlred": Settings(quadratic=True),
    f"red dialect=nlred {QUICK}": Settings(quadratic=True, w_q=0.02, max_p=0.1, limit=40),
    "red dialect=ns3_24": NS3,
    "red dialect=ns3-3.24 weight=0.05 min=2p max=8p wait=false gentle=false": Settings(
        ns=True, limit=25, bandwidth=1_500_000, w_q=0.05, min_th=2, max_th=8
    ),
    "red dialect=ns3 feng=true weight=0.05": Settings(
        **{**vars(NS3), "feng": (3.0, 2.0), "w_q": 0.05}
    ),
    "red dialect=ns3 nonlinear=true weight=0.05": Settings(
        **{**vars(NS3), "quadratic": True, "w_q": 0.05}
    ),
    (
        "red dialect=ns2 feng=true weight=0.05 min=5p max=15p limit=50p avpkt=500B "
        "queue_in_bytes=false byte_mode=false mark_p=none"
    ): Settings(
        ns=True,
        limit=50,
        gentle=True,
        wait=True,
        w_q=0.05,
        max_p=0.1,
        feng=(0.01, 0.9),
        resets=True,
    ),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_red_agrees_with_its_variants(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = replay_cases.process(seed, flows=3)
    oracle = red_variants.run(rows, parse_rate(rate), SPECS[spec], seed)
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)


@pytest.mark.parametrize("spec", SPECS)
def test_the_processes_make_every_variant_drop_at_random(spec: str) -> None:
    early = 0
    for seed in replay_cases.SEEDS:
        rows, rate = replay_cases.process(seed, flows=3)
        fates = red_variants.run(rows, parse_rate(rate), SPECS[spec], seed)
        early += any(row.verdict == DROPPED and row.reason == red_variants.EARLY for row in fates)
    assert early >= 3, early
