"""Planted faults: an oracle's module with its text edited, and whether random arrivals expose it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path

import arrivals as processes
import compare
from replay_io import Arrival, Outcome

Case = tuple[list[Arrival], int]
Run = Callable[[types.ModuleType, list[Arrival], int], list[Outcome]]


def cases(flows: int, packets: int = 3000) -> list[Case]:
    """Every process at several rates and at loads from 0.8 to 3."""
    found = []
    for seed, load in enumerate((0.8, 1.0, 1.2, 1.6, 2.0, 3.0)):
        for name, process in processes.PROCESSES.items():
            rates = (
                (10_000_000, 1_000_000) if name == "grid" else (10_000_000, 1_000_000, 7_300_001)
            )
            rate = rates[seed % len(rates)]
            found.append((process(seed, rate, load, packets, flows), rate))
    return found


def faulty(module: types.ModuleType, edits: Sequence[tuple[str, str]]) -> types.ModuleType:
    """The oracle's module with its text edited; each edit applies exactly once."""
    assert module.__file__ is not None
    text = Path(module.__file__).read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, f"{text.count(old)} places for {old!r}"
        text = text.replace(old, new)
    copy = types.ModuleType(f"{module.__name__}_faulty")
    copy.__dict__["__file__"] = module.__file__
    sys.modules[copy.__name__] = copy
    try:
        exec(compile(text, copy.__name__, "exec"), copy.__dict__)
    finally:
        del sys.modules[copy.__name__]
    return copy


def exposed(
    run: Run, module: types.ModuleType, edits: Sequence[tuple[str, str]], found: Sequence[Case]
) -> bool:
    """Whether the edited oracle and its original differ on one of the cases."""
    fault = faulty(module, edits)
    for rows, rate in found:
        try:
            ours = run(fault, rows, rate)
        except (AssertionError, IndexError, KeyError, StopIteration):
            return True
        theirs = run(module, rows, rate)
        if compare.compare(compare.rows_of(ours), compare.rows_of(theirs)) is not None:
            return True
    return False
