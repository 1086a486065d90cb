"""`sojourn replay` with COBALT against the oracle, packet by packet."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import cobalt_cake
import decision_cases
from cobalt_cake import Settings
from replay_io import Limit

NS3 = Settings(
    ns3=True,
    ecn=False,
    mtu=None,
    limit=Limit(size=1_500_000),
    blue_threshold_ns=400_000_000,
)
SPECS = {
    "cobalt": Settings(),
    "cobalt target=2ms interval=20ms mtu=300B increment=0.125 decrement=0.015625 limit=40p": (
        Settings(
            target_ns=2_000_000,
            interval_ns=20_000_000,
            mtu=300,
            increment=1 << 29,
            decrement=1 << 26,
            limit=Limit(packets=40),
        )
    ),
    "cobalt target=1ms interval=10ms mtu=none limit=60kB ecn=false": Settings(
        target_ns=1_000_000,
        interval_ns=10_000_000,
        mtu=None,
        limit=Limit(size=60_000),
        ecn=False,
    ),
    "cobalt dialect=ns3": NS3,
    (
        "cobalt dialect=ns3 ecn=true target=2ms interval=20ms limit=30p blue_threshold=15ms "
        "ce_threshold=8ms increment=0.125 decrement=0.015625"
    ): replace(
        NS3,
        ecn=True,
        target_ns=2_000_000,
        interval_ns=20_000_000,
        limit=Limit(packets=30),
        blue_threshold_ns=15_000_000,
        ce_threshold_ns=8_000_000,
        increment=1 << 29,
        decrement=1 << 26,
    ),
}


@pytest.mark.parametrize("seed", decision_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_cobalt_agrees_with_the_oracle(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    settings = SPECS[spec]
    decision_cases.agree(
        command,
        tmp_path,
        spec,
        lambda rows, rate, seed: cobalt_cake.run(rows, rate, settings, seed),
        seed,
    )
