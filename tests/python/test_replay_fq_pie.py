"""`sojourn replay` of fq_pie against its oracle."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import fq_pie_draft
import sojourn_binary
from pie_rfc8033 import EARLY, MS, OVERFLOW, Settings
from replay_cases import SEEDS, agree, process
from replay_io import MARKED, Limit, parse_limit, parse_rate

SPECS = {
    "limit=10240p": Settings(),
    "limit=60p target=5ms tupdate=5ms burst=20ms ecn=true": Settings(
        qdelay_ref=5 * MS, t_update=5 * MS, max_burst=20 * MS, ecn=True
    ),
    "limit=60kB quantum=300B derandomize=true cap=true": Settings(derandomize=True, cap=True),
    "limit=1000p dq_rate_estimator=true quantum=1250B": Settings(dq_rate=True),
}


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_fq_pie_agrees_with_the_draft(sojourn: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = process(seed, flows=5)
    words = dict(word.split("=") for word in spec.split())
    quantum = int(words.get("quantum", "1514B")[:-1])
    limit = parse_limit(words["limit"])
    oracle = fq_pie_draft.run(rows, parse_rate(rate), SPECS[spec], limit, quantum, seed)
    queue = f"fq_pie buckets=none {spec}"
    agree(sojourn_binary.replay(sojourn, rows, queue, rate, tmp_path, seed), oracle, seed)


def test_the_processes_make_fq_pie_drop_mark_and_overflow() -> None:
    marks = drops = overflows = 0
    for seed in SEEDS:
        rows, rate = process(seed, flows=5)
        settings = Settings(qdelay_ref=5 * MS, t_update=5 * MS, max_burst=20 * MS, ecn=True)
        outcomes = fq_pie_draft.run(rows, parse_rate(rate), settings, Limit(packets=60), seed=seed)
        marks += any(row.verdict == MARKED for row in outcomes)
        drops += any(row.reason == EARLY and row.departure_ps is None for row in outcomes)
        overflows += any(row.reason == OVERFLOW for row in outcomes)
    assert min(marks, drops, overflows) >= len(SEEDS) // 6
