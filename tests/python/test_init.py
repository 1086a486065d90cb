"""What `sojourn init` writes for an algorithm of the user's works, with its own tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plugins import command

ROOT = Path(__file__).resolve().parents[2]


def begun(folder: Path, option: str, name: str, *more: str) -> Path:
    done = command(folder, "init", option, name, *more)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == [name]
    return folder / name


@pytest.mark.parametrize(
    ("option", "name", "wanted"),
    [("--queue-python", "brisk", "brisk:Brisk"), ("--cc-python", "my_cc", "my_cc:MyCc")],
)
def test_a_folder_for_a_class_of_python_passes_its_own_tests(
    tmp_path: Path, option: str, name: str, wanted: str
) -> None:
    folder = begun(tmp_path, option, name)
    assert wanted in (folder / f"test_{name}.py").read_text(encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if "PYTEST" not in key}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^[23] passed", done.stdout, re.M), done.stdout
    studied = command(folder, "study", "study.toml", "--out", "results")
    assert studied.returncode == 0, studied.stderr
    audited = command(folder, "audit", "results")
    assert audited.returncode == 0, audited.stdout + audited.stderr


def test_a_crate_needs_the_sources_that_it_is_given(tmp_path: Path) -> None:
    for more, said in [((), "add --sojourn DIR"), (("--sojourn", "."), "no crates/sojourn in")]:
        done = command(tmp_path, "init", "--rust", "brisk-queues", *more)
        assert done.returncode == 2
        assert said in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_crate_compiles_against_this_checkout(tmp_path: Path) -> None:
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("no cargo on PATH")
    folder = begun(tmp_path, "--rust", "brisk-queues", "--sojourn", str(ROOT))
    manifest = folder / "Cargo.toml"
    own = (ROOT / "crates" / "sojourn").as_posix()
    assert manifest.read_text(encoding="utf-8").count(f'sojourn = {{ path = "{own}"') == 2
    shutil.copy(ROOT / "examples" / "own-algorithms" / "Cargo.lock", folder / "Cargo.lock")
    lock = (folder / "Cargo.lock").read_text(encoding="utf-8")
    (folder / "Cargo.lock").write_text(
        lock.replace('"own-algorithms"', '"brisk-queues"'), encoding="utf-8"
    )
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    done = subprocess.run(
        [cargo, "metadata", "--offline", "--format-version", "1", "--no-deps"],
        cwd=folder,
        env={**os.environ, "CARGO_TARGET_DIR": target},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if not os.environ.get("SOJOURN_SLOW"):
        pytest.skip("the manifest is sound; SOJOURN_SLOW=1 compiles the crate as well, in minutes")
    done = subprocess.run(
        [cargo, "check", "--offline", "--all-targets"],
        cwd=folder,
        env={**os.environ, "CARGO_TARGET_DIR": target},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text("kept\n", encoding="utf-8")
    for option in ("--queue-python", "--cc-python", "--rust"):
        done = command(tmp_path, "init", option, "mine")
        assert done.returncode == 2
        assert "already exists" in done.stderr
    for name in ("Mine", "random", "../up", "two words"):
        done = command(tmp_path, "init", "--queue-python", name)
        assert done.returncode == 2, done.stdout
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "mine.py"]
    assert (tmp_path / "mine" / "mine.py").read_text(encoding="utf-8") == "kept\n"


def test_the_how_to_shows_the_files_that_init_writes() -> None:
    page = (ROOT / "docs" / "how-to" / "bring-your-own-python.md").read_text(encoding="utf-8")
    for name in ("python-queue/my_queue.py", "python-control/my_control.py"):
        text = (ROOT / "examples" / name).read_text(encoding="utf-8")
        assert f"```python file={Path(name).name}\n{text}```" in page, name
