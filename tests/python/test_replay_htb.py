"""`sojourn replay` with HTB against its oracle, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import htb_linux
import sojourn_binary
from htb_linux import Settings
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_rate


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rooted", [True, False], ids=["root", "no root"])
def test_htb_agrees_with_linux_as_described(
    sojourn: Path, tmp_path: Path, rooted: bool, seed: int
) -> None:
    rows, link = process(seed, flows=5)
    bps = parse_rate(link)
    shares = [(2, 12, 1), (3, 16, 0), (1, 8, 1), (2, 16, 1)]
    quantum = (None, 700, 1500)[seed % 3]
    classes = [Settings(bps * r // 20, bps * c // 20, p, quantum=quantum) for r, c, p in shares]
    root = Settings(bps * 16 // 20, bps * 16 // 20)
    oracle = htb_linux.run(rows, bps, classes, root if rooted else None, Limit(packets=30))
    texts = [f"{c.rate}bps/{c.ceil}bps@{c.prio}" for c in classes]
    spec = f"htb rate={root.rate}bps" if rooted else "htb rate=none"
    spec += f" classes={','.join(texts)} each=(droptail limit=30p)"
    if quantum is not None:
        spec += f" quantum={quantum}B"
    agree(sojourn_binary.replay(sojourn, rows, spec, link, tmp_path), oracle, seed, reasons=False)
