"""What the tests of the package and of the command share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
