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


def written(one: Settings) -> str:
    """A class as `classes` has it."""
    text = f"{one.rate}bps/{one.ceil}bps"
    if one.children:
        return text + "{" + ",".join(map(written, one.children)) + "}"
    return f"{text}@{one.prio}[burst:{one.burst}B;cburst:{one.cburst}B;quantum:{one.quantum}B]"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rooted", [True, False], ids=["root", "no root"])
def test_trees_of_classes_agree_with_linux_as_described(
    sojourn: Path, tmp_path: Path, rooted: bool, seed: int
) -> None:
    rows, link = process(seed, flows=8)
    bps = parse_rate(link)

    def one(share: int, ceil: int, prio: int, *children: Settings) -> Settings:
        burst, quantum = (1600, 3000, 5000)[share % 3], (1000, 1514, 4000)[ceil % 3]
        if children:
            return Settings(bps * share // 20, bps * ceil // 20, children=children)
        return Settings(bps * share // 20, bps * ceil // 20, prio, burst, 2000, quantum)

    deep = one(4, 9, 0, one(1, 9, 1), one(1, 9, 1), one(2, 5, 0, one(1, 4, 0), one(1, 5, 1)))
    classes = [one(6, 16, 0, deep, one(2, 16, 1)), one(2, 12, 0, one(1, 12, 1), one(1, 3, 1))]
    classes.append(one(1, 16, 1))
    root = Settings(bps * 15 // 20, bps * 15 // 20)
    oracle = htb_linux.run(rows, bps, classes, root if rooted else None, Limit(packets=30))
    spec = f"htb rate={root.rate}bps" if rooted else "htb rate=none"
    spec += f" classes={','.join(map(written, classes))} each=(droptail limit=30p)"
    agree(sojourn_binary.replay(sojourn, rows, spec, link, tmp_path), oracle, seed, reasons=False)
