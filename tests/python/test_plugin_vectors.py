"""CoDel as a class of Python on the conformance vectors: the decisions and states of ours, packet by packet."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins import command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "plugins"


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_codel_in_python_decides_as_ours(seed: str) -> None:
    done = command(
        EXAMPLES,
        *("vectors", "check", "--queue", "codel-rfc8289", "--seed", seed),
        *("--with", "my_codel:Codel"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(decisions and states)" in done.stdout
    assert "1 agree, 0 differ" in done.stdout


def test_another_target_is_told_apart() -> None:
    done = command(
        EXAMPLES,
        *("vectors", "check", "--queue", "codel-rfc8289", "--with", "my_codel:Codel target=4ms"),
    )
    assert done.returncode == 1, done.stderr
    assert "1 differ" in done.stdout
