"""`sojourn replay` against the oracle of DualPI2, packet by packet, over random arrival processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import dualpi2_linux
import dualpi2_rfc9332
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import Limit, parse_rate

SPECS = {
    "dualpi2": dualpi2_rfc9332.Settings(),
    "dualpi2 limit=100p c_protection=30 coupling=3": dualpi2_rfc9332.Settings(
        limit=Limit(packets=100), classic_percent=30, k=3.0
    ),
    "dualpi2 schedule=time_shift tshift=20ms limit=100kB th_len=0 range=0s": dualpi2_rfc9332.Settings(
        tshift=20 * dualpi2_rfc9332.MS, limit=Limit(size=100_000), th_len=0, range=0
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", SPECS)
def test_dualpi2_agrees_with_its_source(
    command: Path, tmp_path: Path, spec: str, seed: int
) -> None:
    rows, rate = process(seed, flows=4)
    # Odd flows are Scalable.
    rows = [replace(row, ecn=1) if row.flow % 2 else row for row in rows]
    oracle = dualpi2_rfc9332.run(rows, parse_rate(rate), SPECS[spec], seed)
    agree(sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed), oracle, seed)


LINUX = {
    "": dualpi2_linux.Settings(),
    "limit=80p min_th=5ms c_protection=30 coupling=3": dualpi2_linux.Settings(
        limit=80, step_ns=5_000_000, classic_percent=30, k=3
    ),
    "drop_early=true th_len=4": dualpi2_linux.Settings(drop_early=True, min_qlen_step=4),
    "ect=any memory_limit=300kB": dualpi2_linux.Settings(any_ect=True, memory_limit=300_000),
    "drop_early=true ect=any drop_overload=false limit=200p": dualpi2_linux.Settings(
        drop_early=True, any_ect=True, drop_overload=False, limit=200
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", LINUX)
def test_dualpi2_agrees_with_linux_as_described(
    command: Path, tmp_path: Path, spec: str, seed: int
) -> None:
    rows, rate = process(seed, flows=5)
    rows = [replace(row, ecn=row.flow % 3) for row in rows]
    oracle = dualpi2_linux.run(rows, parse_rate(rate), LINUX[spec], seed)
    queue = f"dualpi2 dialect=linux {spec}"
    agree(sojourn_binary.replay(command, rows, queue, rate, tmp_path, seed), oracle, seed)
