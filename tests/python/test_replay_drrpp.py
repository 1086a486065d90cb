"""`sojourn replay` of drrpp against the oracle of FQ-CoDel with a CoDel that never acts.

The paper's own text has no public pseudo-code; with every flow latency-critical the reading that
is implemented has the lists and credits of RFC 8290.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import fq_codel_rfc8290
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import PS_PER_S, parse_limit, parse_rate


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("limit", "quantum"), [("1000p", 1500), ("40p", 1250), ("30kB", 300)])
def test_drrpp_with_all_flows_critical_is_fq_codel_without_codel(
    sojourn: Path, tmp_path: Path, limit: str, quantum: int, seed: int
) -> None:
    rows, rate = process(seed, flows=5)
    never = 10**6 * PS_PER_S
    oracle = fq_codel_rfc8290.run(
        rows, parse_rate(rate), never, never, parse_limit(limit), quantum, ecn=False, batch=1
    )
    spec = f"drrpp critical=all limit={limit} quantum={quantum}B"
    agree(sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path), oracle, seed, reasons=False)
