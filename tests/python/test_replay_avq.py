"""`sojourn replay` against the oracle of AVQ, packet by packet, over random arrival processes."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

import avq_paper
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import DROPPED, Limit, arrival, parse_rate

SPECS = {
    "avq": avq_paper.Settings(),
    "avq limit=20kB alpha=0.5 ecn=true": avq_paper.Settings(
        alpha=0.5, limit=Limit(size=20_000), ecn=True
    ),
    "avq limit=30p gamma=0.9 avpkt=500B": avq_paper.Settings(
        gamma=0.9, packet=500, limit=Limit(packets=30)
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_avq_agrees_with_its_source(command: Path, tmp_path: Path, spec: str, seed: int) -> None:
    rows, rate = process(seed, flows=3)
    oracle = avq_paper.run(rows, parse_rate(rate), SPECS[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)


DATA = sojourn_binary.ROOT / "tests" / "data" / "ns2-2.35"


@pytest.mark.parametrize("traffic", ["cbr", "pareto"])
def test_avq_drops_the_packets_that_ns2_drops(command: Path, tmp_path: Path, traffic: str) -> None:
    with gzip.open(DATA / f"vq-{traffic}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        trace = list(csv.DictReader(file))
    rows = [
        arrival(i, int(row["time_ns"]), int(row["bytes"]), int(row["flow"]))
        for i, row in enumerate(trace)
    ]
    ours = sojourn_binary.replay(command, rows, "avq dialect=ns2 limit=25p", "1.5Mbps", tmp_path)
    dropped = [row["dropped"] == "1" for row in trace]
    assert sum(dropped) > 1000
    assert [row.verdict == DROPPED for row in ours] == dropped
