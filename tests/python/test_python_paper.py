"""What a researcher hands in: figures at column width, spreadsheets, a manuscript."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import sojourn

ROOT = Path(__file__).resolve().parent.parent.parent


def succeed(program: Sequence[str | Path], cwd: Path) -> str:
    result = subprocess.run(
        program, cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def wheel(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sojourn", *arguments]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result directory with a report of two queues, with figures of several kinds."""
    directory = tmp_path_factory.mktemp("paper")
    line = "dumbbell --rate 5Mbps --rtt 20ms --duration 4s --warmup 1s --replications 3 --record backlog"
    line += " --queue codel --queue droptail --flow 2*reno --out results"
    succeed(wheel(*line.split()), directory)
    succeed(wheel("report", "results"), directory)
    return directory / "results"


def test_figures_at_the_width_of_a_column_have_embedded_fonts(results: Path) -> None:
    pytest.importorskip("vl_convert")
    if shutil.which("pdffonts") is None:
        pytest.skip("pdffonts (poppler-utils) is not installed")
    for width, points in (("ieee", 252.0), ("acm", 239.76), ("80mm", 226.77)):
        succeed(wheel("report", str(results), "--images", "pdf", "--width", width), results)
        for figure in (results / "figures").glob("*.pdf"):
            size = succeed(["pdfinfo", figure], results)
            found = re.search(r"Page size: +([0-9.]+) x", size)
            assert found
            assert float(found.group(1)) == pytest.approx(points, abs=0.6), figure.name
            # Behind two lines of head: name, type, encoding, embedded, subset...
            fonts = [line.split() for line in succeed(["pdffonts", figure], results).splitlines()]
            assert len(fonts) > 2
            assert all(font[-5] == "yes" for font in fonts[2:]), fonts


def test_a_spreadsheet_has_the_numbers_of_the_report_and_no_date(results: Path) -> None:
    pytest.importorskip("xlsxwriter")
    said = succeed(wheel("report", str(results), "--xlsx"), results)
    file = results / "tables.xlsx"
    assert said.endswith(f"XLSX:    {file}\n")
    before = file.read_bytes()
    succeed(wheel("report", str(results), "--xlsx"), results)
    assert file.read_bytes() == before
    loaded = sojourn.read(results)
    with zipfile.ZipFile(file) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
        assert len(sheets) == len(loaded.summary_tables)
        text = archive.read("xl/worksheets/sheet1.xml").decode()
        about = archive.read("docProps/core.xml").decode()
    table = json.loads((results / "summary.json").read_text())
    table = next(block for block in table["blocks"] if block["type"] == "table")
    cells = [cell for row in table["rows"] for cell in row if isinstance(cell, dict)]
    assert cells
    for cell in cells:
        assert f"<v>{cell['value']:.16G}</v>" in text
    assert 'state="frozen"' in text
    assert "1980-01-01T00:00:00Z" in about


def test_the_example_manuscript_builds_with_what_a_report_writes(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    paper = ROOT / "docs" / "paper"
    short = ["--set", "run.duration=12s", "--replications", "3"]
    succeed(wheel("study", str(paper / "study.toml"), *short, "--out", "results"), tmp_path)
    succeed(wheel("report", "results", "--latex", "--images", "pdf", "--width", "ieee"), tmp_path)
    shutil.copy(paper / "paper.tex", tmp_path)
    typeset = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(2):
        said = succeed(typeset, tmp_path)
    assert "Output written on paper.pdf (2 pages" in said or "(1 page" in said
    assert "undefined" not in said
    assert "Overfull" not in said
