"""The action for GitHub and the snippets of the documentation: they fit the schemas of their services, and their commands do what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import generated

ACTION = generated.ROOT / ".github" / "actions" / "suite" / "action.yml"
PAGE = generated.ROOT / "docs" / "how-to" / "run-a-suite.md"


def snippet(name: str) -> str:
    blocks = generated.blocks(PAGE.read_text(encoding="utf-8"))
    return next(block.body for block in blocks if block.file == name)


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ("github-actions", None),
        ("github-workflows", ".github/workflows/suite.yml"),
        ("gitlab-ci", ".gitlab-ci.yml"),
    ],
)
def test_the_action_and_the_snippets_fit_the_schemas_of_their_services(
    schema: str, name: str | None, tmp_path: Path
) -> None:
    file = ACTION
    if name is not None:
        file = tmp_path / "file.yml"
        file.write_text(snippet(name), encoding="utf-8")
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    checked = subprocess.run([*words, str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_the_workflow_gives_inputs_that_the_action_has() -> None:
    inputs = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]
    job = yaml.safe_load(snippet(".github/workflows/suite.yml"))["jobs"]["suite"]
    given = job["steps"][-1]["with"]
    required = {name for name, about in inputs.items() if about.get("required")}
    assert required <= set(given) <= set(inputs)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "suite.toml").write_text(snippet("mine/suite.toml"), encoding="utf-8")
    return tmp_path


def shell(text: str, project: Path, command: Path, more: dict[str, str]) -> int:
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
    return subprocess.run(
        words, cwd=project, env=os.environ | more | {"PATH": path}, check=False
    ).returncode


def act(project: Path, command: Path, **given: str) -> int:
    """Runs the action's step that runs the suite; what pip installs is here already."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    inputs = {name: about.get("default", "") for name, about in action["inputs"].items()} | given
    (step,) = (step for step in action["runs"]["steps"] if step["name"] == "Run the suite")
    marks = {f"${{{{ inputs.{name} }}}}": value for name, value in inputs.items()}
    return shell(
        step["run"], project, command, {key: marks[mark] for key, mark in step["env"].items()}
    )


def results(project: Path) -> Any:
    return json.loads((project / "suite.json").read_text(encoding="utf-8"))


def test_the_step_of_the_action_keeps_results_and_fails_where_a_value_became_worse(
    project: Path, command: Path
) -> None:
    suite = "mine/suite.toml"
    assert act(project, command, suite=suite, algorithm="--queue codel") == 0
    assert (project / "suite.xml").is_file()
    before = results(project)
    assert before["algorithm"] == "codel"
    # What was tested is slower by a target that is ten times as long.
    baseline = project / "before.json"
    baseline.write_text(json.dumps(before | {"algorithm": "codel target=50ms"}), encoding="utf-8")
    worse = {"suite": suite, "algorithm": "--queue 'codel target=50ms'"}
    assert act(project, command, baseline="before.json", **worse) == 1
    assert results(project)["algorithm"] == "codel target=50ms"
    assert act(project, command, **worse) == 0


def test_the_step_of_the_action_takes_several_algorithms(project: Path, command: Path) -> None:
    both = "--queue codel --queue 'pie target=10ms'"
    assert act(project, command, suite="mine/suite.toml", algorithm=both) == 0
    assert [one["algorithm"] for one in results(project)] == ["codel", "pie target=10ms"]


def test_the_script_for_gitlab_passes_on_its_own_baseline(project: Path, command: Path) -> None:
    job = yaml.safe_load(snippet(".gitlab-ci.yml"))["suite"]
    (line,) = job["script"]
    first = line.replace(" --baseline mine/baseline.json", "").replace(
        "suite.json", "mine/baseline.json"
    )
    assert first != line
    assert shell(first, project, command, {}) == 0
    assert shell(line, project, command, {}) == 0
    kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert all((project / name).is_file() for name in kept)
