"""Every notebook runs from top to bottom, and the numbers stored in it are those of today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import generated

NOTEBOOKS = sorted((generated.ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_computes(notebook: Path) -> None:
    for library in ("nbclient", "ipykernel", "altair", "polars", "vl_convert"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    script = generated.ROOT / ".ci" / "notebooks.py"
    checked = subprocess.run(
        [sys.executable, script, "--check", notebook.stem],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_there_are_four_notebooks() -> None:
    assert len(NOTEBOOKS) >= 4
