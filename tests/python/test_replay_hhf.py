"""`sojourn replay` against the oracle of the heavy-hitter filter, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import hhf_linux
import replay_cases
from hhf_linux import Settings
from replay_io import parse_rate

# Flows enough that chains of the table and counters are shared.
SPECS = {
    "hhf": (12, Settings()),
    "hhf admit_bytes=8kB evict_timeout=20ms limit=30p quantum=700B non_hh_weight=3": (
        12,
        Settings(admit_bytes=8000, evict_timeout_ms=20, limit=30, quantum=700, non_hh_weight=3),
    ),
    "hhf admit_bytes=1500B evict_timeout=30ms reset_timeout=100ms hh_limit=50 limit=60p": (
        400,
        Settings(
            admit_bytes=1500, evict_timeout_ms=30, reset_timeout_ms=100, hh_limit=50, limit=60
        ),
    ),
    "hhf admit_bytes=1B evict_timeout=50ms hh_limit=300 limit=60p": (
        1500,
        Settings(admit_bytes=1, evict_timeout_ms=50, hh_limit=300, limit=60),
    ),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_hhf_agrees_with_linux(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    flows, settings = SPECS[spec]
    rows, rate = replay_cases.process(seed, flows)
    # Flows that send nothing have no number in a replay.
    seen = {flow: number for number, flow in enumerate(sorted({row.flow for row in rows}))}
    rows = [type(row)(row.index, row.time_ps, row.size, seen[row.flow], row.ecn) for row in rows]
    oracle = hhf_linux.run(rows, parse_rate(rate), settings)
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)
