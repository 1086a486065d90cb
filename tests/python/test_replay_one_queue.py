"""`sojourn replay` of a scheduler around one queue: it leaves the AQM inside as it is alone.

The AQM learns when the link becomes idle, which is after its last packet was sent and not when it left.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracles"))

import replay_cases
import sojourn_binary
from replay_io import DROPPED

# Nothing is drawn: the random streams of an AQM alone and of one in a scheduler have other names.
ALONE = {
    "red limit=30p min=2p max=9p probability=0 weight=0.05",
    "red dialect=linux limit=30000B min=2000B max=6000B probability=0 weight=0.0625",
    "red dialect=ns2 limit=30p min=2p max=9p gentle=false probability=0 weight=0.05",
    "rio limit=30p min_in=3p max_in=9p probability_in=0 weight=0.05 min_out=2p max_out=6p probability_out=0",
    "codel target=2ms interval=20ms limit=30p",
    "droptail limit=12p",
}
AROUND = {
    "prio bands=1 each=({})",
    "tbf rate=100Gbps burst=1MB latency=none limit=none each=({})",
    "tsw committed=100Gbps green=10 each=({})",
    "police rate=100Gbps burst=1MB each=({})",
}


@pytest.mark.parametrize("around", sorted(AROUND))
@pytest.mark.parametrize("queue", sorted(ALONE))
def test_a_scheduler_around_one_queue_leaves_it_as_it_is_alone(
    command: Path, tmp_path: Path, queue: str, around: str
) -> None:
    drops = 0
    for seed in replay_cases.SEEDS:
        rows, rate = replay_cases.process(seed, flows=3)
        spec = queue.replace("rio ", "rio tag=flow ")
        alone = sojourn_binary.replay(command, rows, spec, rate, tmp_path, seed)
        inside = sojourn_binary.replay(command, rows, around.format(spec), rate, tmp_path, seed)
        assert inside == alone, f"seed {seed}"
        drops += sum(row.verdict == DROPPED for row in alone)
    assert drops > 100, drops
