"""`sojourn replay` with the token bucket filter against its oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import compare
import shaper
import sojourn_binary
import tbf_rfc2215
from replay_cases import SEEDS, agree, process
from replay_io import parse_limit, parse_rate


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dialect", ["rfc2215", "linux"])
@pytest.mark.parametrize("peak", [False, True], ids=["one bucket", "peak rate"])
def test_tbf_agrees_with_the_definition(
    sojourn: Path, tmp_path: Path, peak: bool, dialect: str, seed: int
) -> None:
    rows, link = process(seed, flows=2)
    bps = parse_rate(link)
    rate, peak_bps = bps * 3 // 7, bps * 5 // 7 if peak else None
    limit = "60p" if seed % 2 else "40kB"
    linux = dialect == "linux"
    oracle = tbf_rfc2215.run(rows, bps, rate, 4000, parse_limit(limit), peak_bps, 1500, linux)
    spec = f"tbf dialect={dialect} rate={rate}bps burst=4000B limit={limit}"
    if peak:
        spec += f" peakrate={peak_bps}bps mtu=1500B"
    ours = sojourn_binary.replay(sojourn, rows, spec, link, tmp_path)
    agree(ours, oracle, seed, reasons=False)
    # RFC 2215: at most rT + b in any period T, where times are cut to nanoseconds.
    excess = shaper.worst_excess(compare.outcomes_of(rows, ours), rate) - 4000 * 8 * 10**12
    assert excess <= rate * 1000 * (len(rows) if linux else 1)
