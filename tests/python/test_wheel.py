"""The wheel installs with pip in a clean environment, and its command runs there. `make wheel-test` builds it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

TIMEOUT_S = 300
# Where an environment has its programs.
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"
RUN = "dumbbell --rate 10Mbps --rtt 40ms --queue codel --flow 2*reno --duration 5s --replications 2"


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The newest wheel in the folder of SOJOURN_WHEEL."""
    folder = os.environ.get("SOJOURN_WHEEL")
    if folder is None:
        pytest.skip("SOJOURN_WHEEL names no folder with a wheel; `make wheel-test` builds one")
    wheels = sorted(Path(folder).glob("sojourn-*.whl"), key=lambda path: path.stat().st_mtime)
    assert wheels, f"no wheel in {folder}"
    return wheels[-1]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean environment with the wheel and nothing else: pip may ask no index."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    call(folder, "python", "-m", "pip", "install", "--quiet", "--no-index", str(wheel))
    return folder


def call(environment: Path, program: str, *arguments: str) -> str:
    """What a program of the environment prints; nothing of this repository is on its path."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [environment / SCRIPTS / program, *arguments],
        cwd=environment,
        env={**variables, "NO_COLOR": "1", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_of_the_wheel_runs_in_a_clean_environment(environment: Path) -> None:
    table = call(environment, "sojourn", *RUN.split())
    assert "Utilization (%)" in table
    assert "Means over 2 replications" in table


def test_the_package_of_the_wheel_needs_no_other(environment: Path) -> None:
    code = "import sojourn; print(len(sojourn.list_queues()) > 30, sojourn.__file__)"
    answer, place = call(environment, "python", "-c", code).split()
    assert answer == "True"
    assert Path(place).is_relative_to(environment)


def test_the_studies_and_pages_come_with_the_wheel(environment: Path) -> None:
    assert "rrul" in call(environment, "sojourn", "list", "studies")
    assert "Bufferbloat is high latency" in call(environment, "sojourn", "docs", "bufferbloat")
