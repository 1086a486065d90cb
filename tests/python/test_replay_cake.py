"""`sojourn replay` with CAKE against its oracle and against Linux, packet by packet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import cake_linux
import linux_cake
import sojourn_binary
from replay_cases import SEEDS, agree, process
from replay_io import parse_rate


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shaped", [True, False], ids=["shaped", "link"])
def test_cake_agrees_with_linux_as_described(
    sojourn: Path, tmp_path: Path, shaped: bool, seed: int
) -> None:
    rows, link = process(seed, flows=5)
    bps = parse_rate(link)
    bandwidth = bps * 3 // 5 if shaped else None
    limit = 60_000 if seed % 2 else 400_000
    oracle = cake_linux.run(rows, bps, bandwidth, limit, seed)
    spec = f"cake tins=besteffort isolation=flows limit={limit}B"
    if bandwidth is not None:
        spec += f" bandwidth={bandwidth}bps"
    agree(
        sojourn_binary.replay(sojourn, rows, spec, link, tmp_path, seed),
        oracle,
        seed,
        reasons=False,
    )


DSCPS = (0, 8, 46, 26, 48, 2, 4, 16)
HOSTS = ((0, 0), (0, 1), (0, 2), (1, 0), (2, 2), (1, 1), (0, 0), (3, 0))
ISOLATIONS = (
    "flowblind",
    "srchost",
    "dsthost",
    "hosts",
    "dual-srchost",
    "dual-dsthost",
    "triple-isolate",
)
MANY = range(len(DSCPS))
KINDS = cake_linux.Kinds(dict(enumerate(DSCPS)), dict(enumerate(HOSTS)), MANY)
COLUMNS = {flow: (DSCPS[flow], *HOSTS[flow]) for flow in MANY}


def agrees_in_kinds(
    sojourn: Path, scratch: Path, tins: str, isolation: str, shaped: bool, seed: int
) -> None:
    rows, link = process(seed, flows=len(MANY))
    bps = parse_rate(link)
    bandwidth = bps * 3 // 5 if shaped else None
    # Every flow has a number of its own here, as in the file, whether it has packets or not.
    present = sorted({row.flow for row in rows})
    kinds = cake_linux.Kinds(KINDS.dscps, KINDS.hosts, present)
    limit = 60_000 if seed % 2 else 400_000
    oracle = cake_linux.run(
        rows, bps, bandwidth, limit, seed, tins=tins, isolation=isolation, kinds=kinds
    )
    spec = f"cake tins={tins} isolation={isolation} limit={limit}B"
    if bandwidth is not None:
        spec += f" bandwidth={bandwidth}bps"
    found = sojourn_binary.replay(sojourn, rows, spec, link, scratch, seed, COLUMNS)
    agree(found, oracle, seed, reasons=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tins", ["precedence", "diffserv3", "diffserv4", "diffserv8"])
def test_tins_agree_with_linux_as_described(
    sojourn: Path, tmp_path: Path, tins: str, seed: int
) -> None:
    agrees_in_kinds(sojourn, tmp_path, tins, "flows", seed % 3 != 0, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_host_isolation_agrees_with_linux_as_described(
    sojourn: Path, tmp_path: Path, isolation: str, seed: int
) -> None:
    agrees_in_kinds(sojourn, tmp_path, "besteffort", isolation, seed % 3 != 0, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_tins_and_triple_isolation_agree_together(sojourn: Path, tmp_path: Path, seed: int) -> None:
    agrees_in_kinds(sojourn, tmp_path, "diffserv4", "triple-isolate", seed % 2 == 0, seed)


@pytest.mark.parametrize("name", linux_cake.TRACES)
def test_cake_decides_as_linux(sojourn: Path, tmp_path: Path, name: str) -> None:
    arrivals, waits = linux_cake.load(name)
    rows = sojourn_binary.replay(sojourn, arrivals, linux_cake.SPEC, linux_cake.LINK, tmp_path)
    assert linux_cake.differing(name, arrivals, waits, rows) == []


def test_four_flows_get_what_they_get_in_linux(sojourn: Path, tmp_path: Path) -> None:
    arrivals, delivered = linux_cake.four_flows()
    rows = sojourn_binary.replay(sojourn, arrivals, linux_cake.SPEC, linux_cake.LINK, tmp_path)
    assert linux_cake.deliveries(rows) == delivered
