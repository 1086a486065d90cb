"""What the tests of the package and of the command share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sojourn_binary


@pytest.fixture(scope="session")
def command() -> Path:
    """The plain binary."""
    try:
        return sojourn_binary.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium of the system, without a window."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = os.environ.get("SOJOURN_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium on PATH; set SOJOURN_CHROMIUM, or run: apt-get install chromium")
    with api.sync_playwright() as playwright:
        # A container runs as root, where Chromium's sandbox does not start.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colours and one width, whatever the terminal."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    os.environ.pop("FORCE_COLOR", None)
