"""What the tests of the package and of the command share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "oracles"), str(ROOT / ".ci"), str(ROOT / "benches")]

import sojourn_binary


@pytest.fixture(scope="session")
def command() -> Path:
    """The plain binary."""
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colours and one width, whatever the terminal."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    os.environ.pop("FORCE_COLOR", None)
