"""`sojourn replay` with GSP against the oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import gsp_draft
import replay_cases
from gsp_draft import Settings
from replay_io import Limit, parse_span

SPECS = {
    "gsp": Settings(),
    "gsp dialect=basic threshold=12kB limit=30kB interval=50ms": Settings(
        threshold=Limit(size=12_000),
        limit=Limit(size=30_000),
        interval_ps=parse_span("50ms"),
        adaptive=False,
    ),
    "gsp threshold=8p limit=25p interval=30ms tau=60ms max_time=500ms ecn=true": Settings(
        threshold=Limit(packets=8),
        limit=Limit(packets=25),
        interval_ps=parse_span("30ms"),
        tau_ps=parse_span("60ms"),
        max_time_ps=parse_span("500ms"),
        ecn=True,
    ),
    "gsp threshold=8p limit=10p interval=2ms tau=60ms": Settings(
        threshold=Limit(packets=8),
        limit=Limit(packets=10),
        interval_ps=parse_span("2ms"),
        tau_ps=parse_span("60ms"),
    ),
    "gsp threshold=3p limit=10p interval=10ms tau=300ms alpha=1.25 max_time=3s": Settings(
        threshold=Limit(packets=3),
        limit=Limit(packets=10),
        interval_ps=parse_span("10ms"),
        tau_ps=parse_span("300ms"),
        alpha=1.25,
        max_time_ps=parse_span("3s"),
    ),
}


@pytest.mark.parametrize("seed", replay_cases.SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_gsp_agrees_with_the_oracle(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    settings = SPECS[spec]
    replay_cases.replays_alike(
        command,
        tmp_path,
        spec,
        lambda rows, rate, _: gsp_draft.run(rows, rate, settings),
        seed,
    )
