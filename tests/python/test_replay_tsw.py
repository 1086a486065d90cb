"""`sojourn replay` of the TSW marker with RIO behind it against its oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import replay_cases
import rio_clark_fang
import tsw_rfc2859
from replay_io import DROPPED, parse_rate
from rio_clark_fang import Curve, Settings
from streams import Stream
from tsw_rfc2859 import Profile

TIGHT = "min_in=6p max_in=14p probability_in=0.1 min_out=2p max_out=9p probability_out=0.3"
RIO = Settings(w_q=0.05, limit=30, inside=Curve(6, 14, 0.1), outside=Curve(2, 9, 0.3))
EACH = f"each=(rio {TIGHT} weight=0.05 limit=30p)"

SPECS = {
    f"tsw {EACH}": Profile((1_000_000,)),
    f"tsw committed=2Mbps:300kbps window=100ms onset=1.33 {EACH}": Profile(
        (2_000_000, 300_000), window_s=0.1, onset=1.33
    ),
    # Yellow and red packets are both OUT.
    f"tsw committed=500kbps peak=1Mbps:2Mbps window=20ms yellow=0 {EACH}": Profile(
        (500_000,), (1_000_000, 2_000_000), window_s=0.02
    ),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_the_marker_agrees_with_its_oracle(
    command: Path, tmp_path: Path, spec: str, seed: int
) -> None:
    rows, rate = replay_cases.process(seed, flows=3)
    oracle = tsw_rfc2859.run(rows, parse_rate(rate), SPECS[spec], RIO, seed)
    replay_cases.agrees(command, rows, spec, rate, tmp_path, oracle, seed)


@pytest.mark.parametrize("spec", SPECS)
def test_the_processes_leave_the_profile_and_make_rio_drop(spec: str) -> None:
    colours, early = set(), 0
    for seed in replay_cases.SEEDS:
        rows, rate = replay_cases.process(seed, flows=3)
        draws = Stream(seed, 0, tsw_rfc2859.MARKER)
        marker = tsw_rfc2859.Marker(SPECS[spec], draws)
        colours |= {marker.colour(row, row.time_ps) for row in rows}
        fates = tsw_rfc2859.run(rows, parse_rate(rate), SPECS[spec], RIO, seed)
        early += any(r.verdict == DROPPED and r.reason == rio_clark_fang.EARLY for r in fates)
    assert {tsw_rfc2859.GREEN, tsw_rfc2859.RED} <= colours
    assert early >= 3, early
