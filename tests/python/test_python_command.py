"""The command of the wheel and the plain binary: the same numbers as the package, and figure files."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sojourn

OPTIONS = {
    "rate": "5Mbps",
    "rtt": "20ms",
    "buffer": "40p",
    "duration": "4s",
    "warmup": "1s",
    "replications": "3",
    "seed": "7",
}
QUEUES = ("droptail", "codel target=3ms", "drr each=(codel)")
FLOWS = ("2*reno", "cbr 1Mbps")


def one_line(*more: str) -> list[str]:
    arguments = ["dumbbell", *more]
    for option, value in OPTIONS.items():
        arguments += [f"--{option}", value]
    for queue in QUEUES:
        arguments += ["--queue", queue]
    for flow in FLOWS:
        arguments += ["--flow", flow]
    return arguments


def the_same_in_python() -> sojourn.Results:
    scenario = sojourn.dumbbell(
        rate="5Mbps",
        rtt="20ms",
        buffer="40p",
        duration="4s",
        warmup="1s",
        replications=3,
        seed=7,
        flows=FLOWS,
    )
    return sojourn.compare(scenario, QUEUES)


def run(program: Sequence[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        program, cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )


def succeed(program: Sequence[str | Path], cwd: Path) -> str:
    result = run(program, cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


def wheel(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sojourn", *arguments]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result directory with a report."""
    directory = tmp_path_factory.mktemp("module")
    succeed(wheel(*one_line("--out", "results")), directory)
    succeed(wheel("report", "results"), directory)
    return directory / "results"


def test_the_binary_and_the_wheel_print_the_same(command: Path, tmp_path: Path) -> None:
    for form in ("table", "json", "csv"):
        arguments = one_line("--format", form)
        assert succeed([command, *arguments], tmp_path) == succeed(wheel(*arguments), tmp_path)


def test_the_command_and_python_give_the_same_tables(command: Path, tmp_path: Path) -> None:
    succeed([command, *one_line("--out", "results")], tmp_path)
    of_command = sojourn.read(tmp_path / "results")
    of_python = the_same_in_python()
    for kind in ("runs", "queues", "flows", "transfers", "media", "series"):
        assert getattr(of_command, kind).to_dicts() == getattr(of_python, kind).to_dicts()


def test_python_prints_what_the_command_prints(
    command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only the command fits its text to a width.
    monkeypatch.delenv("COLUMNS")
    printed = succeed([command, *one_line()], tmp_path)
    assert str(the_same_in_python()).strip() == printed.strip()


def test_the_formats_hold_the_same_numbers(command: Path, tmp_path: Path) -> None:
    document = json.loads(succeed([command, *one_line("--format", "json")], tmp_path))
    text = succeed([command, *one_line("--format", "csv")], tmp_path)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in document["results"]]
    assert {row["queue"] for row in rows} == {row["levels"]["queue"] for row in document["results"]}


def test_list_and_show_are_what_python_gets(command: Path, tmp_path: Path) -> None:
    for family in (
        "queues",
        "flows",
        "sources",
        "congestion",
        "topologies",
        "metrics",
        "figures",
        "studies",
    ):
        listed = json.loads(succeed([command, "list", family, "--format", "json"], tmp_path))
        ours = getattr(sojourn, f"list_{family}")()
        # Classes that other tests of this process have named are listed, too.
        assert [(entry["name"], entry["aliases"]) for entry in listed] == [
            (row["name"], row["aliases"]) for row in ours if ":" not in row["name"]
        ]
    for name in ("codel", "reno", "cbr", "rrul", "sojourn_s_mean"):
        shown = json.loads(succeed([command, "show", name, "--format", "json"], tmp_path))
        assert shown == sojourn.show(name)
    if not any(":" in row["name"] for row in sojourn.list_queues()):
        assert json.loads(succeed([command, "schema"], tmp_path)) == sojourn.schema()


def test_replay_is_what_python_gets(command: Path, tmp_path: Path) -> None:
    rows = [(i * 700_000, 1500 if i % 3 else 300, i % 2, 0) for i in range(200)]
    text = "\n".join(["time_ns,bytes,flow,ecn", *(",".join(map(str, row)) for row in rows), ""])
    (tmp_path / "arrivals.csv").write_text(text)
    queue = "codel target=2ms interval=20ms limit=50p"
    arguments = ["replay", "arrivals.csv", "--queue", queue, "--rate", "10Mbps"]
    printed = list(csv.DictReader(io.StringIO(succeed([command, *arguments], tmp_path))))
    table = sojourn.replay(rows, queue=queue, rate="10Mbps").to_dicts()
    assert printed == [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in table
    ]
    assert {row["verdict"] for row in printed} == {"sent", "dropped"}


def test_a_mistake_ends_with_status_2_and_writes_nothing(command: Path, tmp_path: Path) -> None:
    for program in ([command], wheel()):
        result = run(
            [*program, "dumbbell", "--rate", "10", "--flow", "reno", "--out", "r"], tmp_path
        )
        assert result.returncode == 2
        assert "--rate" in result.stderr
        assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_the_plain_binary_names_the_wheel_when_asked_for_images(
    command: Path, results: Path
) -> None:
    before = sorted(results.rglob("*"))
    result = run([command, "report", results, "--images", "svg"], results)
    assert result.returncode == 2
    assert "Python package" in result.stderr
    assert sorted(results.rglob("*")) == before


def test_the_wheels_command_draws_every_figure(results: Path) -> None:
    pytest.importorskip("vl_convert")
    output = succeed(wheel("report", str(results), "--images", "svg,png,svg,pdf"), results)
    assert "report.html" in output
    figures = results / "figures"
    specs = {path.name.removesuffix(".vl.json") for path in figures.glob("*.vl.json")}
    assert specs
    starts = {"svg": b"<svg", "png": b"\x89PNG\r\n", "pdf": b"%PDF-"}
    for kind, start in starts.items():
        drawn = {path.stem: path.read_bytes() for path in figures.glob(f"*.{kind}")}
        # PDF is for paper, which is white.
        wanted = {name for name in specs if not (kind == "pdf" and name.endswith(".dark"))}
        assert set(drawn) == wanted
        assert all(content.startswith(start) for content in drawn.values())
    assert not list(figures.glob(".*"))


def test_a_figure_of_python_is_that_of_the_report(results: Path, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    loaded = sojourn.read(results)
    for name, figure in loaded.figures.items():
        spec = json.loads((results / "figures" / f"{name}.vl.json").read_text())
        assert figure.to_dict() == spec
        bundle: dict[str, Any] = figure._repr_mimebundle_()
        assert bundle["application/vnd.vegalite.v6+json"] == spec
        assert bundle["image/svg+xml"].startswith("<svg")
        for suffix in ("json", "svg"):
            figure.save(tmp_path / f"{name}.{suffix}")
            assert (tmp_path / f"{name}.{suffix}").stat().st_size > 0
    with pytest.raises(sojourn.BadValueError, match=r"'gif'; allowed: svg, png, pdf"):
        next(iter(loaded.figures.values())).save(tmp_path / "figure.gif")


def test_a_notebook_shows_every_number_that_the_terminal_shows(results: Path) -> None:
    loaded = sojourn.read(results)
    shown = loaded._repr_html_()
    assert shown.count("<table>") == len(loaded.summary_tables)
    for cell in str(loaded).split():
        if "." in cell and cell.replace(".", "").isdigit():
            assert cell in shown


def test_python_writes_the_report_of_the_command(results: Path, tmp_path: Path) -> None:
    path = sojourn.read(results).report(tmp_path / "again")
    assert path.read_text() == (results / "report.html").read_text()


def test_an_interrupt_ends_the_wheels_command_with_status_130(tmp_path: Path) -> None:
    arguments = one_line("--set", "run.replications=100000", "--out", "results")
    child = subprocess.Popen(wheel(*arguments), cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    runs = tmp_path / "results" / "runs"
    while not (runs.is_dir() and any(runs.glob("*.parquet"))):
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "Traceback" not in said


def test_an_implementation_that_stops_reading_does_not_end_the_check_of_vectors() -> None:
    for _ in range(5):
        asked = subprocess.run(
            wheel("vectors", "check", "--queue", "red", "--exec", "echo unsupported"),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert asked.returncode in (0, 1, 2), asked
        assert asked.stdout or asked.stderr


def test_a_closed_pipe_ends_the_wheels_command_quietly() -> None:
    child = subprocess.Popen(wheel("schema"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == b""
    child.wait(timeout=60)
    child.stderr.close()


@pytest.mark.skipif(sys.platform != "linux", reason="paths are bytes on Linux alone")
def test_a_path_that_is_not_utf_8_is_a_path_and_no_traceback(tmp_path: Path) -> None:
    name = b"lab-\xff.toml"
    text = sojourn.dumbbell(rate="5Mbps", flows=["reno"], duration="2s", warmup="1s").to_toml()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text(text, encoding="utf-8")
    for arguments in (
        [b"run", name, b"--out", b"out-\xfe"],
        [b"report", b"out-\xfe"],
        [b"rerun", b"out-\xfe"],
        [b"study", name],
    ):
        program = [*map(os.fsencode, wheel()), *arguments]
        ended = subprocess.run(program, cwd=tmp_path, capture_output=True, check=False)
        assert ended.returncode == 0, ended.stderr
    for arguments in ([b"run", b"no-\xff.toml"], [b"study", b"no-\xff"], [b"show", b"\xff"]):
        program = [*map(os.fsencode, wheel()), *arguments]
        ended = subprocess.run(program, cwd=tmp_path, capture_output=True, check=False)
        assert ended.returncode == 2
        assert b"Traceback" not in ended.stderr


def test_a_rerun_in_python_is_that_of_the_command(tmp_path: Path) -> None:
    scenario = sojourn.dumbbell(rate="5Mbps", flows=["reno"], duration="2s", replications=2)
    out = tmp_path / "out"
    sojourn.run(scenario, out=out)
    again = sojourn.rerun(out)
    assert (again.same, again.runs, again.differing, again.absent) == (True, 2, [], 0)
    said = succeed(wheel("rerun", "out"), tmp_path)
    assert said == f"same bits: {again.files} of {again.files} tables (2 runs, as in out)\n"
    altered = out / "flows" / "p000-r01.parquet"
    altered.write_bytes(altered.read_bytes()[:-9])
    again = sojourn.rerun(out, out=tmp_path / "again")
    assert (again.same, again.differing) == (False, [altered])
    with pytest.raises(sojourn.ForeignResultsError, match="altered"):
        sojourn.read(out)
    with pytest.warns(UserWarning, match="p000-r01.parquet: the file was altered"):
        sojourn.run(scenario, out=out)
    assert sojourn.rerun(out).same
