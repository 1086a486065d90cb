"""`sojourn replay` against the oracle of WRED, packet by packet, on the same draws."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import replay_cases
import wred_cisco
from replay_io import DROPPED, MARKED, parse_rate
from wred_cisco import Settings

PACKETS = "class=flow min=3p:6p:9p max=12p:14p:18p probability=0.2:0.1:0.3 limit=30p weight=0.03125"
BYTES = (
    "dialect=linux class=flow min=3kB:5kB:7kB max=9kB:12kB:16kB probability=0.2:0.1:0.3 "
    "limit=30kB weight=0.0625"
)
CISCO = Settings((3, 6, 9), (12, 14, 18), (0.2, 0.1, 0.3), limit=30, log_weight=5)
LINUX = Settings(
    (3000, 5000, 7000),
    (9000, 12_000, 16_000),
    (0.2, 0.1, 0.3),
    limit=30_000,
    log_weight=4,
    linux=True,
    harddrop=False,
)

SPECS = {
    "wred class=flow": Settings((20, 22, 24, 26), (40,), (0.1,), limit=64),
    f"wred {PACKETS}": CISCO,
    f"wred {PACKETS} ecn=true": Settings(**{**vars(CISCO), "ecn": True}),
    f"wred {PACKETS} ecn=true harddrop=false": Settings(
        **{**vars(CISCO), "ecn": True, "harddrop": False}
    ),
    f"wred {BYTES}": LINUX,
    f"wred {BYTES} ecn=true": Settings(**{**vars(LINUX), "ecn": True}),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_wred_agrees_with_its_oracle(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = replay_cases.process(seed, flows=4)
    oracle = wred_cisco.run(rows, parse_rate(rate), SPECS[spec], seed)
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)


@pytest.mark.parametrize("spec", SPECS)
def test_the_processes_make_several_classes_drop_at_random(spec: str) -> None:
    classes = set()
    for seed in replay_cases.SEEDS:
        rows, rate = replay_cases.process(seed, flows=4)
        for row in wred_cisco.run(rows, parse_rate(rate), SPECS[spec], seed):
            if row.verdict in (DROPPED, MARKED) and row.reason == wred_cisco.EARLY:
                classes.add(row.arrival.flow)
    assert len(classes) >= 3, classes
