"""The array job of the documentation, its commands as plain processes: one part is killed and submitted again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import daskcluster as dc
import generated

PAGE = generated.ROOT / "docs" / "how-to" / "run-on-many-machines.md"


def script(name: str) -> str:
    blocks = generated.blocks(PAGE.read_text(encoding="utf-8"))
    return next(block.body for block in blocks if block.file == name)


def test_an_array_job_with_a_part_that_was_killed_merges_to_the_whole(
    tmp_path: Path, command: Path
) -> None:
    dc.study(tmp_path, "120s", 20, 'warmup = "2s"')
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"

    def submit(name: str, task: int) -> subprocess.Popen[bytes]:
        slurm = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": "1", "PATH": path}
        # `exec` makes the last command the process itself, so that it is what is killed.
        text = script(name).replace("\nsojourn", "\nexec sojourn")
        return subprocess.Popen(["bash", "-ec", text], cwd=tmp_path, env=os.environ | slurm)

    tasks = {task: submit("study.sbatch", task) for task in range(1, 5)}
    third = tmp_path / "parts" / "3"
    dc.wait(lambda: dc.runs(third) >= 2, "no runs")
    dc.kill(tasks.pop(3))
    kept = dc.runs(third)
    assert 2 <= kept < 15
    assert not [task.wait() for task in tasks.values() if task.wait() != 0]
    assert submit("study.sbatch", 3).wait() == 0
    assert submit("merge.sh", 0).wait() == 0
    words = [str(command), "study", "study.toml", "--out", "whole"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    merged, whole = (dc.content(tmp_path / out) for out in ("results", "whole"))
    for files, out in ((merged, b"results"), (whole, b"whole")):
        for name in ("manifest.json", "source.toml", "summary.json"):
            files[name] = files[name].replace(b"--out " + out, b"--out DIR")
    assert merged == whole
