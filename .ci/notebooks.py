"""Runs the notebooks and writes their outputs: `make notebooks`; `--check` tells whether a number in them is out of date.

A notebook runs in a directory of its own, so that it leaves nothing behind. Charts are kept as SVG, which GitHub shows. `--check` compares the
numbers that cells print and show, not the drawing of charts and tables: that changes with the versions of polars and Altair.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
TIMEOUT_S = 120

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def notebooks() -> list[Path]:
    """Every notebook."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def run(path: Path) -> Any:
    """The notebook with the outputs that it has now.

    Raises `CellExecutionError` when a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    # Charts that need no script from elsewhere.
    setup = nbformat.v4.new_code_cell("import altair\n_ = altair.renderers.enable('svg')")
    notebook.cells.insert(0, setup)
    with tempfile.TemporaryDirectory() as scratch:
        client = NotebookClient(
            notebook,
            timeout=TIMEOUT_S,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": scratch}},
        )
        client.execute()
    del notebook.cells[0]
    for number, cell in enumerate(code_cells(notebook), 1):
        cell.execution_count = number
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
            if "data" in output:
                output.data = kept(output.data)
                output.metadata = {}
    return notebook


def code_cells(notebook: Any) -> list[Any]:
    """The cells with code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kept(data: dict[str, Any]) -> dict[str, Any]:
    """Of the forms of an output, those that are stored: a chart as SVG, everything else as HTML or text."""
    wanted = ("image/svg+xml",) if "image/svg+xml" in data else ("text/html", "text/plain")
    return {kind: data[kind] for kind in wanted if kind in data}


def numbers(notebook: Any) -> list[list[str]]:
    """The numbers in the texts of each cell's outputs."""
    return [
        [number for output in cell.outputs for number in NUMBER.findall(text_of(output))]
        for cell in code_cells(notebook)
    ]


def text_of(output: Any) -> str:
    """What an output says in plain text."""
    if output.output_type == "stream":
        return str(output.text)
    return str(output.get("data", {}).get("text/plain", ""))


def problems(path: Path) -> list[str]:
    """What is wrong with a notebook as it is stored."""
    stored = nbformat.read(path, as_version=4)
    try:
        now = run(path)
    except CellExecutionError as error:
        return [f"{path.name}: {error}"]
    cells = code_cells(stored)
    pairs = enumerate(zip(numbers(stored), numbers(now), strict=True), 1)
    found = [
        f"{path.name}: code cell {number}: stored {before}, now {after}; `make notebooks` writes it again"
        for number, (before, after) in pairs
        if before != after
    ]
    if not any("image/svg+xml" in output.get("data", {}) for c in cells for output in c.outputs):
        found.append(f"{path.name}: no chart is stored; `make notebooks` draws it")
    return found


def main() -> int:
    """Writes or checks the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell what is out of date")
    parser.add_argument(
        "names", nargs="*", help="notebooks by name, without .ipynb; all by default"
    )
    arguments = parser.parse_args()
    chosen = [NOTEBOOKS / f"{name}.ipynb" for name in arguments.names] or notebooks()
    if arguments.check:
        found = [problem for path in chosen for problem in problems(path)]
        print(*found, sep="\n", end="\n" if found else "")
        return 1 if found else 0
    for path in chosen:
        nbformat.write(run(path), path)
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
