"""Tests of the congestion control in my_control.py: python -m pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

import sojourn

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _beside_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


def test_it_has_the_properties_of_every_control() -> None:
    checked = sojourn.check("my_control:Careful")
    assert checked, checked.text


def run(flow: str) -> dict[str, float]:
    """The bottleneck under two flows."""
    scenario = sojourn.dumbbell(
        rate="20Mbps",
        rtt="40ms",
        buffer="200p",
        flows=[f"2*{flow}"],
        duration="30s",
        warmup="10s",
    )
    rows = sojourn.run(scenario, replications=1).queues.to_dicts()
    return next(row for row in rows if row["bottleneck"])


def test_it_uses_the_link() -> None:
    assert run("my_control:Careful")["utilization_ratio"] > 0.9


def test_it_keeps_the_wait_shorter_than_cubic() -> None:
    # This is what the example promises. Write here what yours promises.
    wait = run("my_control:Careful")["sojourn_s_mean"]
    assert wait < 0.8 * run("cubic")["sojourn_s_mean"]
