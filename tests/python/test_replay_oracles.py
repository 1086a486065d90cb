"""`sojourn replay` against the oracles, packet by packet, over random arrival processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import arrivals as processes
import codel_rfc8289
import compare
import drr_paper
import lindley
import red_paper
import sojourn_binary
from replay_io import (
    DROPPED,
    MARKED,
    Arrival,
    Limit,
    Outcome,
    parse_limit,
    parse_rate,
    parse_span,
)

SEEDS = range(36)
PACKETS = 3000
LOADS = (0.8, 0.95, 1.05, 1.2, 1.5, 2.0, 3.0)
# The last one has no whole number of picoseconds to a byte.
RATES = ("10Mbps", "1Mbps", "7300001bps")

CODEL = "codel target=5ms interval=100ms limit=100p"
CODEL_MAXPACKET = 1500
DRR = "drr quantum=1500B limit=64kB classify=flow"
# What the paper leaves open, as the oracle names it: the end of the longest queue that loses its
# packet, and which of equally long queues is the longest.
DRR_DROP = "tail"
DRR_TIE = "first"
QUANTUM = 1500

RED = {
    "red": red_paper.Settings(),
    "red min=5p max=15p probability=0.1 gentle=true ecn=true limit=60p": red_paper.Settings(
        max_p=0.1, gentle=True, ecn=True, limit=Limit(packets=60)
    ),
    (
        "red min=4kB max=12kB queue_in_bytes=true byte_mode=true avpkt=1000B weight=0.02 "
        "ecn=true harddrop=true limit=20kB"
    ): red_paper.Settings(
        min_th=4000,
        max_th=12000,
        queue_in_bytes=True,
        byte_mode=True,
        avpkt=1000,
        w_q=0.02,
        ecn=True,
        harddrop=True,
        limit=Limit(size=20_000),
    ),
    "red wait=true weight=0.05 adaptive=true interval=50ms gentle=true": red_paper.Settings(
        wait=True, w_q=0.05, adaptive=True, interval_ps=parse_span("50ms"), gentle=True
    ),
    "red dialect=ared interval=100ms": red_paper.Settings(
        min_th=None,
        max_th=None,
        w_q=None,
        gentle=True,
        adaptive=True,
        interval_ps=parse_span("100ms"),
    ),
}


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


def process(seed: int, flows: int) -> tuple[list[Arrival], str]:
    """The arrivals of a seed and the rate they are meant for."""
    names = sorted(processes.PROCESSES)
    name = names[seed % len(names)]
    load = LOADS[seed % len(LOADS)]
    # The grid needs a service time in whole nanoseconds.
    rates = RATES[:2] if name == "grid" else RATES
    rate = rates[seed // len(names) % len(rates)]
    return processes.PROCESSES[name](seed, parse_rate(rate), load, PACKETS, flows), rate


def agree(rows: list[compare.Row], oracle: list[Outcome], seed: int) -> None:
    divergence = compare.compare(rows, compare.rows_of(oracle))
    assert divergence is None, f"seed {seed}: {divergence}"
    for row in rows:
        assert (row.reason != "") == (row.verdict in (DROPPED, MARKED)), f"seed {seed}: {row}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("limit", ["100p", "20kB"])
def test_droptail_agrees_with_lindley(sojourn: Path, tmp_path: Path, limit: str, seed: int) -> None:
    rows, rate = process(seed, flows=3)
    oracle = lindley.run(rows, parse_rate(rate), parse_limit(limit))
    ours = sojourn_binary.replay(sojourn, rows, f"droptail limit={limit}", rate, tmp_path)
    agree(ours, oracle, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ecn", [False, True], ids=["drop", "ecn"])
def test_codel_agrees_with_the_pseudo_code(
    sojourn: Path, tmp_path: Path, ecn: bool, seed: int
) -> None:
    rows, rate = process(seed, flows=1)
    oracle = codel_rfc8289.run(
        rows,
        parse_rate(rate),
        parse_span("5ms"),
        parse_span("100ms"),
        parse_limit("100p"),
        CODEL_MAXPACKET,
        ecn,
    )
    spec = f"{CODEL} ecn=true" if ecn else CODEL
    agree(sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path), oracle, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", RED)
def test_red_agrees_with_its_papers(sojourn: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = process(seed, flows=3)
    oracle = red_paper.run(rows, parse_rate(rate), RED[spec], seed)
    agree(sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path, seed), oracle, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_drr_agrees_with_the_paper(sojourn: Path, tmp_path: Path, seed: int) -> None:
    rows, rate = process(seed, flows=5)
    oracle = drr_paper.run(
        rows, parse_rate(rate), QUANTUM, parse_limit("64kB"), DRR_DROP, None, DRR_TIE
    )
    agree(sojourn_binary.replay(sojourn, rows, DRR, rate, tmp_path), oracle, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("quantum", [300, 1500, 4000])
def test_drr_keeps_within_the_papers_bound(
    sojourn: Path, tmp_path: Path, quantum: int, seed: int
) -> None:
    rows, rate = process(seed, flows=5)
    spec = f"drr quantum={quantum}B limit=64kB classify=flow"
    ours = sojourn_binary.replay(sojourn, rows, spec, rate, tmp_path)
    worst = drr_paper.worst_unfairness(compare.outcomes_of(rows, ours), quantum)
    if worst is not None:
        assert worst.lead < worst.bound, f"seed {seed}: {worst}"


def test_the_processes_make_every_discipline_drop_and_send() -> None:
    marks = codel_drops = drr_drops = tail_drops = sent = 0
    for seed in SEEDS:
        rows, rate = process(seed, flows=1)
        bps = parse_rate(rate)
        codel = codel_rfc8289.run(
            rows, bps, parse_span("5ms"), parse_span("100ms"), parse_limit("100p"), 1500, True
        )
        marks += any(row.verdict == MARKED for row in codel)
        codel_drops += any(row.reason == codel_rfc8289.DELAY for row in codel)
        sent += sum(row.verdict != DROPPED for row in codel)
        tail_drops += any(
            row.verdict == DROPPED for row in lindley.run(rows, bps, parse_limit("100p"))
        )
        flows, rate = process(seed, flows=5)
        drr = drr_paper.run(
            flows, parse_rate(rate), QUANTUM, parse_limit("64kB"), DRR_DROP, None, DRR_TIE
        )
        drr_drops += any(row.verdict == DROPPED for row in drr)
    assert min(marks, codel_drops, drr_drops, tail_drops) >= len(SEEDS) // 4
    assert sent > len(SEEDS) * PACKETS // 3
