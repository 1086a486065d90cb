"""Runs of classes of Python in several processes: the same bits as in one."""

from __future__ import annotations

from pathlib import Path

from plugins import command, module

STUDY = """
flows = ["my_module:Aimd", "cubic"]
[study]
title = "Classes of Python beside CoDel"
[run]
duration = "3s"
warmup = "1s"
replications = 3
[topology]
rate = "10Mbps"
rtt = "20ms"
[[experiment]]
name = "mine"
[[experiment.factor]]
name = "queue"
[[experiment.factor.values]]
label = "Mine"
set = { "topology.queue" = "my_module:Mine" }
[[experiment.factor.values]]
label = "Mine, strict"
set = { "topology.queue" = "my_module:Mine target=1ms share=0.5" }
[[experiment.factor.values]]
label = "CoDel"
set = { "topology.queue" = "codel" }
"""


def content(results: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(results)): path.read_bytes()
        for path in sorted(results.rglob("*.parquet"))
    }


def test_one_two_and_four_processes_give_the_same_bits(tmp_path: Path) -> None:
    module(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    made = {}
    for threads in (1, 2, 4):
        out = tmp_path / f"results-{threads}"
        done = command(
            tmp_path, "study", "study.toml", "--out", str(out), "--threads", str(threads)
        )
        assert done.returncode == 0, done.stderr
        made[threads] = content(out)
    assert len(made[1]) > 9
    assert made[1] == made[2] == made[4]


def test_a_class_that_raises_in_another_process_says_so(tmp_path: Path) -> None:
    module(
        tmp_path,
        """
        from sojourn.plugin import Aqm

        class Mine(Aqm):
            def on_enqueue(self, now):
                if now > 2:
                    raise ValueError("too late")
        """,
    )
    text = STUDY.replace("my_module:Aimd", "reno").replace(" target=1ms share=0.5", " limit=50p")
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    done = command(tmp_path, "study", "study.toml", "--threads", "2")
    assert done.returncode == 2, done.stderr
    assert "ValueError: too late" in done.stderr
    assert "at simulated time 2" in done.stderr
