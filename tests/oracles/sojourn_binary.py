"""Find and run the `sojourn` command for the tests that compare it with the oracles."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from compare import Row, parse_rows
from replay_io import Arrival, Kind, write_arrivals

ROOT = Path(__file__).resolve().parent.parent.parent
TIMEOUT_S = 120


def find() -> Path:
    """SOJOURN_BIN, else `sojourn` on PATH, else the release or debug build of this repository."""
    named = os.environ.get("SOJOURN_BIN")
    if named is not None:
        if not Path(named).is_file():
            raise FileNotFoundError(f"SOJOURN_BIN names {named!r}, which is not a file")
        return Path(named).resolve()
    found = shutil.which("sojourn")
    if found is not None:
        return Path(found)
    builds = [ROOT / "target" / profile / "sojourn" for profile in ("release", "debug")]
    for build in builds:
        if build.is_file():
            return build
    raise FileNotFoundError(
        "no sojourn command: SOJOURN_BIN is not set, none is on PATH, and there is no "
        "target/release/sojourn or target/debug/sojourn; build it with "
        "`cargo build --release -p sojourn-cli`"
    )


def replay(
    binary: Path,
    arrivals: Sequence[Arrival],
    queue: str,
    rate: str,
    scratch: Path,
    seed: int = 1,
    kinds: Mapping[int, Kind] | None = None,
) -> list[Row]:
    """The rows of `sojourn replay` on these arrivals."""
    path = scratch / "arrivals.csv"
    write_arrivals(arrivals, path, kinds)
    command = [str(binary), "replay", str(path), "--queue", queue, "--rate", rate]
    command += ["--seed", str(seed)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if result.returncode != 0:
        raise AssertionError(
            f"sojourn replay --queue {queue!r} --rate {rate} ended with status "
            f"{result.returncode}: {result.stderr.strip()}"
        )
    return parse_rows(result.stdout)
