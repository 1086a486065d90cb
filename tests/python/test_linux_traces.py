"""`sojourn replay` against Linux 6.1's own decisions on the same arrivals, packet by packet.

Traces and their conversion: tests/data/linux-6.1/README.md and tests/oracles/linux_traces.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import linux_traces
import sojourn_binary
from replay_io import DROPPED

# The backlog that Linux spares is an MTU with its Ethernet header; at 1500 B the burst trace parts.
MTU = "mtu=1514B"
CODEL = f"codel dialect=linux target=5ms interval=100ms limit=1000p {MTU}"
DRR = "drr dialect=linux quantum=1514B classify=flow each=(droptail limit=17p) limit=none"

COBALT = "cobalt dialect=linux"

DROPTAIL_TRACES = {
    "udp_bfifo1_burst2.0_s1": "droptail limit=25000B",
    "udp_bfifo5_burst2.0_s1": "droptail limit=125000B",
}
CODEL_TRACES = {
    "udp_codel_burst2.0_s1": CODEL,
    "udp_codel_20_200_burst2.0_s1": (
        f"codel dialect=linux target=20ms interval=200ms limit=1000p {MTU}"
    ),
    "udp_codel_cbr1.2_s1": CODEL,
    "udp_codel_cbr2.0_s1": CODEL,
}
CODEL_ECN_TRACES = ("udp_codel_ecn_cbr1.2_s1", "udp_codel_ecn_cbr2.0_s1")


@pytest.fixture(scope="module")
def sojourn() -> Path:
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


def check(sojourn: Path, trace: linux_traces.Trace, queue: str, scratch: Path) -> None:
    rows = sojourn_binary.replay(sojourn, trace.arrivals, queue, linux_traces.RATE, scratch)
    divergence = linux_traces.first_divergence(trace, rows)
    assert divergence is None, f"{queue}\n{divergence}"


@pytest.mark.parametrize("name", DROPTAIL_TRACES)
def test_droptail_in_bytes_decides_as_bfifo(sojourn: Path, tmp_path: Path, name: str) -> None:
    trace = linux_traces.load(name, decides_on_arrival=True)
    check(sojourn, trace, DROPTAIL_TRACES[name], tmp_path)


@pytest.mark.parametrize("name", CODEL_TRACES)
def test_codel_decides_as_linux(sojourn: Path, tmp_path: Path, name: str) -> None:
    check(sojourn, linux_traces.load(name), CODEL_TRACES[name], tmp_path)


@pytest.mark.parametrize("name", CODEL_ECN_TRACES)
def test_codel_marks_as_linux(sojourn: Path, tmp_path: Path, name: str) -> None:
    check(sojourn, linux_traces.load(name, ecn=True), f"{CODEL} ecn=true", tmp_path)


def test_drr_decides_as_linux(sojourn: Path, tmp_path: Path) -> None:
    check(sojourn, linux_traces.load("udp_drr_cbr4flows_s1"), DRR, tmp_path)


def test_cobalt_decides_as_cakes_single_queue(sojourn: Path, tmp_path: Path) -> None:
    check(sojourn, linux_traces.load("udp_cake_burst2.0_s1"), COBALT, tmp_path)


def test_cobalt_parts_from_cake_for_one_signal_that_is_due_within_the_clocks_step(
    sojourn: Path, tmp_path: Path
) -> None:
    trace = linux_traces.load("udp_cake_cbr1.2_s1")
    rows = sojourn_binary.replay(sojourn, trace.arrivals, COBALT, linux_traces.RATE, tmp_path)
    pairs = [pair for pair in zip(trace.fates, rows, strict=True) if pair[0].comparable]
    wrong = [row.index for fate, row in pairs if fate.verdict != row.verdict]
    # The drop comes one packet late.
    assert wrong == [5183, 5184]
    assert sum(row.verdict == DROPPED for _, row in pairs) > 1600


def test_cobalt_decides_as_cake_until_the_buffer_overflows(sojourn: Path, tmp_path: Path) -> None:
    # 2304 bytes of memory a packet against 4 MiB; then BLUE draws, see crates/study/tests/lab/linux_spread.rs.
    trace = linux_traces.load("udp_cake_cbr2.0_s1")
    queue = f"{COBALT} limit=1820p"
    rows = sojourn_binary.replay(sojourn, trace.arrivals, queue, linux_traces.RATE, tmp_path)
    before = [row.verdict for row in rows[:2169]]
    assert before == [fate.verdict for fate in trace.fates[:2169]]
    assert before.count(DROPPED) > 100


def test_the_rfcs_codel_differs_from_linux_in_the_first_second(
    sojourn: Path, tmp_path: Path
) -> None:
    # The comparison can fail: another dialect drops another packet, by index 300 at the latest.
    trace = linux_traces.load("udp_codel_cbr2.0_s1")
    queue = CODEL.replace("dialect=linux", "dialect=rfc8289")
    rows = sojourn_binary.replay(sojourn, trace.arrivals, queue, linux_traces.RATE, tmp_path)
    assert any(
        fate.verdict != row.verdict for fate, row in zip(trace.fates[:300], rows, strict=False)
    )
