"""`sojourn replay` of fq_codel against its oracle and Linux 6.1's own decisions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))


import codel_rfc8289
import fq_codel_rfc8290
import linux_rows
import linux_traces
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import DROPPED, MARKED, Limit, parse_limit, parse_rate, parse_span

TARGET = parse_span("5ms")
INTERVAL = parse_span("100ms")

# Few flows of one number each: without a limit on queues none collide, whatever the hash.
OURS = "fq_codel buckets=none"
LINUX = f"{OURS} dialect=linux quantum=1514B target=5ms interval=100ms limit=10240p"


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("limit", "quantum", "ecn", "batch"),
    [
        ("10240p", 1514, True, 64),
        ("60p", 1250, True, 16),
        ("40kB", 300, False, 4),
        ("100p", 1250, False, 1),
    ],
)
def test_fq_codel_agrees_with_the_text(
    sojourn: Path, tmp_path: Path, limit: str, quantum: int, ecn: bool, batch: int, seed: int
) -> None:
    rows, rate = process(seed, flows=5)
    oracle = fq_codel_rfc8290.run(
        rows, parse_rate(rate), TARGET, INTERVAL, parse_limit(limit), quantum, ecn, batch
    )
    spec = (
        f"{OURS} limit={limit} quantum={quantum}B ecn={str(ecn).lower()} drop_batch={batch} "
        "mtu=1500B"
    )
    agree(sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path), oracle, seed, reasons=False)


def test_the_processes_make_fq_codel_drop_mark_and_overflow() -> None:
    marks = delays = overflows = 0
    for seed in SEEDS:
        rows, rate = process(seed, flows=5)
        outcomes = fq_codel_rfc8290.run(
            rows, parse_rate(rate), TARGET, INTERVAL, Limit(packets=60), 1250, True, 16
        )
        marks += any(row.verdict == MARKED for row in outcomes)
        delays += any(row.reason == codel_rfc8289.DELAY for row in outcomes)
        overflows += any(
            row.verdict == DROPPED and row.reason == fq_codel_rfc8290.OVERFLOW for row in outcomes
        )
    assert min(marks, delays, overflows) >= len(SEEDS) // 6


@pytest.mark.parametrize(
    "name", ["udp_fq_codel_burst2.0_s1", "udp_fq_codel_cbr1.2_s1", "udp_fq_codel_cbr2.0_s1"]
)
def test_one_flow_decides_as_linux(sojourn: Path, tmp_path: Path, name: str) -> None:
    check(sojourn, linux_traces.load(name), f"{LINUX} ecn=false", tmp_path)


@pytest.mark.parametrize("name", ["udp_fq_codel_ecn_cbr1.2_s1", "udp_fq_codel_ecn_cbr2.0_s1"])
def test_one_flow_marks_as_linux(sojourn: Path, tmp_path: Path, name: str) -> None:
    check(sojourn, linux_traces.load(name, ecn=True), f"{LINUX} ecn=true", tmp_path)


def check(sojourn: Path, trace: linux_traces.Trace, queue: str, scratch: Path) -> None:
    rows = sojourn_binary.replay(sojourn, trace.arrivals, queue, linux_traces.RATE, scratch)
    divergence = linux_traces.first_divergence(trace, rows)
    assert divergence is None, f"{queue}\n{divergence}"


def test_four_flows_decide_as_linux(sojourn: Path, tmp_path: Path) -> None:
    check(sojourn, linux_traces.load("udp_fq_codel_cbr4flows_s1"), f"{LINUX} ecn=false", tmp_path)


def test_four_flows_fare_as_in_linux_over_thirty_seconds(sojourn: Path, tmp_path: Path) -> None:
    linux_rows.check(sojourn, "udp_fq_codel_cbr4flows_s1", f"{LINUX} ecn=false", tmp_path)
