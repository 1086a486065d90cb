"""`sojourn replay` of Virtual Clock against its oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import replay_cases
import virtual_clock_zhang
from replay_io import DROPPED, PS_PER_S, Limit, parse_rate

# Arguments; limit, rates, interval of the monitoring clock, whether drops are charged.
CASES: dict[str, tuple[Limit, list[int], int | None, bool]] = {
    "rates=1Mbps": (Limit(packets=1000), [1_000_000], None, False),
    "rates=5Mbps:2Mbps:1Mbps limit=20p": (
        Limit(packets=20),
        [5_000_000, 2_000_000, 1_000_000],
        None,
        False,
    ),
    "rates=700kbps:3000001bps limit=15kB": (Limit(size=15_000), [700_000, 3_000_001], None, False),
    "clock=monitoring interval=50ms rates=500kbps:250kbps limit=20p": (
        Limit(packets=20),
        [500_000, 250_000],
        PS_PER_S // 20,
        False,
    ),
    "rates=5Mbps:2Mbps:1Mbps limit=20p charge_drops=true": (
        Limit(packets=20),
        [5_000_000, 2_000_000, 1_000_000],
        None,
        True,
    ),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("arguments", CASES)
def test_virtual_clock_agrees_with_zhang(
    command: Path, tmp_path: Path, arguments: str, seed: int
) -> None:
    rows, rate = replay_cases.process(seed, flows=5)
    oracle = virtual_clock_zhang.run(rows, parse_rate(rate), *CASES[arguments])
    spec = f"virtual_clock {arguments}"
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)


def test_the_processes_make_it_drop_what_waits_and_what_arrives() -> None:
    reasons = set()
    for seed in replay_cases.SEEDS:
        rows, rate = replay_cases.process(seed, flows=5)
        for case in list(CASES.values())[1:]:
            fates = virtual_clock_zhang.run(rows, parse_rate(rate), *case)
            reasons |= {row.reason for row in fates if row.verdict == DROPPED}
    assert reasons == {"overlimit", "evicted"}
