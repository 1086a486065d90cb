"""Tests of the queue in my_queue.py: python -m pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

import sojourn

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _beside_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


def test_it_has_the_properties_of_every_queue() -> None:
    checked = sojourn.check("my_queue:Steep")
    assert checked, checked.text


def test_it_keeps_the_wait_shorter_than_a_plain_buffer() -> None:
    scenario = sojourn.dumbbell(
        rate="20Mbps", rtt="40ms", buffer="200p", flows=["4*cubic"], duration="10s", warmup="2s"
    )
    results = sojourn.compare(scenario, ["droptail", "my_queue:Steep"], replications=1)
    rows = [row for row in results.queues.to_dicts() if row["bottleneck"]]
    wait = {row["discipline"]: row["sojourn_s_mean"] for row in rows}
    assert wait["my_queue:Steep"] < wait["droptail"] / 2
