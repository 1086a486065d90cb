"""The package `sojourn`: scenarios, runs, tables, errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import sojourn
from sojourn import errors
from sojourn import scenario as scenarios

SCENARIO = """\
name = "two queues"

[run]
duration = "4s"
warmup = "1s"
replications = 3
seed = 7

[topology]
kind = "dumbbell"
rate = "5Mbps"
rtt = "20ms"
buffer = "40p"
queue = "codel"

[[flows]]
kind = "reno"
count = 2

[[flows]]
kind = "cbr"
rate = "1Mbps"
"""


def small(**changes: Any) -> sojourn.Scenario:
    keywords: dict[str, Any] = {
        "name": "two queues",
        "rate": "5Mbps",
        "rtt": "20ms",
        "buffer": "40p",
        "queue": "codel",
        "flows": ["2*reno", "cbr 1Mbps"],
        "duration": "4s",
        "warmup": "1s",
        "replications": 3,
        "seed": 7,
    }
    return sojourn.dumbbell(**{**keywords, **changes})


def part(scenario: Mapping[str, Any], key: str) -> dict[str, Any]:
    table: dict[str, Any] = scenario[key]
    return table


@pytest.fixture(scope="module")
def results() -> sojourn.Results:
    return sojourn.compare(small(), ["droptail", "codel"])


# Scenarios.


def test_a_builder_a_dict_and_a_file_run_the_same(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO)
    as_dict = {
        "name": "two queues",
        "run": {"duration": "4s", "warmup": "1s", "replications": 3, "seed": 7},
        "topology": {
            "kind": "dumbbell",
            "rate": "5Mbps",
            "rtt": "20ms",
            "buffer": "40p",
            "queue": "codel",
        },
        "flows": ["2*reno", "cbr 1Mbps"],
    }
    built = sojourn.run(small()).queues.to_dicts()
    assert built == sojourn.run(as_dict).queues.to_dicts()
    assert built == sojourn.run(file).queues.to_dicts()


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_a_file_whose_name_is_not_utf_8_runs(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"a\xff.toml")
    file.write_text('flows = ["reno"]\n[run]\nduration = "2s"\nreplications = 1\n')
    results = sojourn.run(file)
    assert results.manifest["name"] == "a\N{REPLACEMENT CHARACTER}"


def test_a_scenario_survives_the_way_through_toml(tmp_path: Path) -> None:
    file = tmp_path / "again.toml"
    file.write_text(small().to_toml())
    assert sojourn.load(file).resolve() == small().resolve()


def test_with_returns_a_copy_that_differs_in_one_place() -> None:
    before = small()
    after = before.with_("topology.rate", "6Mbps").with_("run.replications", 2)
    assert part(before, "topology")["rate"] == "5Mbps"
    assert part(after, "topology")["rate"] == "6Mbps"
    assert part(after, "run")["replications"] == 2
    nested = before.with_("topology.queue", {"kind": "codel", "target": "7ms"})
    assert "7ms" in json.dumps(nested.resolve()["topology"])


def test_a_scenario_does_not_change_with_what_it_gave_away() -> None:
    first = small()
    part(first, "topology")["rate"] = "1bps"
    part(first.to_dict(), "topology")["rate"] = "1bps"
    assert first == small()
    assert hash(first) == hash(small())


@pytest.mark.parametrize("kind", ["dumbbell", "parking_lot", "chain", "graph"])
def test_the_keywords_of_a_builder_are_the_keys_of_the_schema(kind: str) -> None:
    types = {
        "dumbbell": scenarios.Dumbbell,
        "parking_lot": scenarios.ParkingLot,
        "chain": scenarios.Chain,
        "graph": scenarios.Graph,
    }
    keywords = set(get_type_hints(types[kind]))
    resolved = {
        "dumbbell": lambda: sojourn.dumbbell(flows=["reno"]),
        "parking_lot": lambda: sojourn.parking_lot(flows=["reno"]),
        "chain": lambda: sojourn.chain(flows=["reno"]),
        "graph": lambda: sojourn.graph(
            links=[{"from": "a", "to": "b"}], flows=[{"kind": "reno", "from": "a", "to": "b"}]
        ),
    }[kind]().resolve()
    # A key that has no value unless it is given is not in a resolved scenario.
    declared = {*part(resolved, "run"), *part(resolved, "topology")} - {"kind"}
    assert declared <= keywords
    for key in sorted(keywords - declared):
        refused = key
        try:
            given: dict[str, Any] = {"flows": ["reno"], key: "?"}
            if kind == "graph":
                given["links"] = [{"from": "a", "to": "b"}]
            getattr(sojourn, kind)(**given).resolve()
        except errors.UnknownKeyError:
            pytest.fail(f"{kind} has no key {refused}")
        except (TypeError, ValueError, LookupError):
            continue


def test_a_text_for_a_list_is_refused() -> None:
    with pytest.raises(TypeError, match=r"flows: a list is wanted, such as \['reno'\]"):
        sojourn.dumbbell(flows="reno")
    with pytest.raises(TypeError, match="queues: a list is wanted"):
        sojourn.compare(small(), "codel")


def test_a_value_of_no_use_is_refused_by_its_place() -> None:
    with pytest.raises(TypeError, match=r"run\.seed: a text, a number, a table or a list"):
        sojourn.Scenario({"run": {"seed": object()}})


# Results.


def test_compared_queues_see_the_same_traffic(results: sojourn.Results) -> None:
    rows = [row for row in results.flows.to_dicts() if row["kind"] == "cbr"]
    sent: dict[str, list[int]] = {}
    for row in rows:
        sent.setdefault(row["factor_queue"], []).append(row["sent_packets"])
    droptail, codel = sent.values()
    assert droptail == codel
    assert len(droptail) == 3


def test_results_do_not_change_with_the_number_of_threads() -> None:
    one, two = (sojourn.run(small(), threads=threads) for threads in (1, 2))
    for kind in ("runs", "queues", "flows"):
        assert getattr(one, kind).to_dicts() == getattr(two, kind).to_dicts()


def test_a_single_replication_is_repeated_exactly(results: sojourn.Results) -> None:
    del results
    all_of_them = sojourn.run(small()).queues.to_dicts()
    third = sojourn.run(small(), replication=2).queues.to_dicts()
    expected = [row for row in all_of_them if row["replication"] == 2]
    assert [drop(row, "run_id") for row in third] == [drop(row, "run_id") for row in expected]


def test_the_seed_decides() -> None:
    first, again, other = (sojourn.run(small(), seed=seed) for seed in (7, 7, 8))
    assert first.queues.to_dicts() == again.queues.to_dicts()
    assert first.queues.to_dicts() != other.queues.to_dicts()


def test_a_directory_is_written_read_and_not_run_again(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    out = tmp_path / "results"
    written = sojourn.run(small(), out=out)
    again = sojourn.run(small(), out=out, progress=lambda *counts: told.append(counts))
    assert told == [(3, 3)]
    for kind in ("runs", "queues", "flows", "transfers", "media", "series"):
        rows = getattr(written, kind).to_dicts()
        assert rows == getattr(again, kind).to_dicts()
        assert rows == getattr(sojourn.read(out), kind).to_dicts()
    with pytest.raises(errors.ForeignResultsError):
        sojourn.run(small(rate="6Mbps"), out=out)
    assert len(sojourn.run(small(rate="6Mbps"), out=out, fresh=True).runs) == 3


def test_transfers_of_a_workload_are_a_table(tmp_path: Path) -> None:
    scenario = small(flows=["workload sizes=(exponential mean=10kB) load=40%", "reno"])
    results = sojourn.run(scenario, out=tmp_path / "results")
    rows = results.transfers.to_dicts()
    assert len(rows) > 100
    assert {row["transfer"] for row in rows} == {"flow"}
    done = [row for row in rows if row["completed_ps"] is not None]
    assert all(row["slowdown"] >= 1 for row in done)
    assert all(
        abs(row["fct_s"] - (row["completed_ps"] - row["asked_ps"]) * 1e-12) < 1e-12 for row in done
    )
    assert any("completion-times" in name for name in results.summary_tables)
    assert sojourn.read(tmp_path / "results").transfers.to_dicts() == rows


def test_media_of_rtp_is_a_table(tmp_path: Path) -> None:
    scenario = small(flows=["rtp", "rtp source=(video rate=1Mbps)", "reno"])
    results = sojourn.run(scenario, out=tmp_path / "results")
    rows = results.media.to_dicts()
    assert len(rows) == 2 * len(results.runs)
    voice = [row for row in rows if row["flow"] == "rtp-1"]
    assert all(row["codec_bpl"] == 4.3 and not row["frames"] for row in voice)
    assert all(row["frames"] and row["codec_ie"] is None for row in rows if row not in voice)
    assert all(row["expected_packets"] > 0 for row in rows)
    scores = [row["mos"] for row in results.flows.to_dicts() if row["flow"] == "rtp-1"]
    assert all(1 <= score <= 4.41 for score in scores)
    assert sojourn.read(tmp_path / "results").media.to_dicts() == rows


def test_receivers_of_a_group_are_a_table(tmp_path: Path) -> None:
    scenario = sojourn.chain(
        hops=2,
        duration="2s",
        warmup="0s",
        deterministic=True,
        flows=[{"kind": "cbr", "rate": "1Mbps", "from": "n0", "to": "news"}],
        groups=[{"name": "news"}],
        members=[{"group": "news", "node": "n1"}, {"group": "news", "node": "n2", "join": "1s"}],
    )
    results = sojourn.run(scenario, out=tmp_path / "results")
    rows = results.receivers.to_dicts()
    assert [row["flow"] for row in rows] == ["cbr-1 at n1", "cbr-1 at n2"]
    assert [row["member_ps"] for row in rows] == [2_000_000_000_000, 1_000_000_000_000]
    assert rows[0]["delivered_packets"] > 1.9 * rows[1]["delivered_packets"] > 0
    assert sojourn.read(tmp_path / "results").receivers.to_dicts() == rows


def test_progress_counts_every_run() -> None:
    told: list[tuple[int, int]] = []
    sojourn.run(small(), progress=lambda *counts: told.append(counts))
    assert told[-1] == (3, 3)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_progress_is_printed_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    sojourn.run(small(), progress=True)
    captured = capsys.readouterr()
    assert captured.err.endswith("3 of 3 runs\n")
    assert captured.out == ""


def test_what_progress_raises_stops_the_run() -> None:
    def fail(done: int, total: int) -> None:
        raise ZeroDivisionError(f"{done} of {total}")

    with pytest.raises(ZeroDivisionError):
        sojourn.run(small(), progress=fail)


# The GIL and signals.


def test_other_threads_go_on_during_a_run() -> None:
    ticks = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = ticks
        sojourn.run(small(duration="120s"), replications=4, threads=1)
        during = ticks - before
    finally:
        stop.set()
        thread.join()
    assert during >= 5


def test_an_interrupt_stops_a_run() -> None:
    program = (
        "import sojourn\n"
        "scenario = sojourn.dumbbell(rate='100Mbps', flows=['4*reno'], duration='100s')\n"
        "def tell(done, total):\n"
        "    print(done, flush=True)\n"
        "try:\n"
        "    sojourn.run(scenario, replications=100000, threads=1, progress=tell)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "0\n"
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=60)
    assert output.endswith("interrupted\n")
    assert child.returncode == 0


def test_an_interrupt_stops_a_run_of_200_hours_and_keeps_the_finished_one(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        'flows = ["4*cubic"]\n[run]\nwarmup = "0s"\nstart_spread = "10ms"\nreplications = 1\n'
        '[[experiment]]\nname = "e"\n[[experiment.factor]]\nname = "time"\npath = "run.duration"\n'
        'values = ["1s", "200h"]\n'
    )
    program = (
        "import sojourn\n"
        "def tell(done, total):\n"
        "    print(done, flush=True)\n"
        "try:\n"
        "    sojourn.study('study.toml', threads=1, progress=tell, out='out')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert child.stdout is not None
    assert [child.stdout.readline() for _ in range(2)] == ["0\n", "1\n"]
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=60)
    assert time.monotonic() - sent < 10
    assert output.endswith("interrupted\n")
    assert child.returncode == 0
    assert len(list((tmp_path / "out" / "runs").glob("*.parquet"))) == 1


def test_what_needs_too_much_memory_is_refused() -> None:
    with pytest.raises(sojourn.BadValueError, match=r"1000000 flows .*limits\.memory"):
        sojourn.run(sojourn.dumbbell(flows=["1000000*reno"]))


# Replay.


def test_replay_takes_tuples_or_a_file(tmp_path: Path) -> None:
    arrivals = [(0, 1500, 1, 0), (1000, 1500, 1, 0), (2000, 1500, 2, 0), (3000, 500, 2, 2)]
    file = tmp_path / "arrivals.csv"
    lines = ["time_ns,bytes,flow,ecn", *(",".join(map(str, row)) for row in arrivals)]
    file.write_text("\n".join(lines) + "\n")
    table = sojourn.replay(iter(arrivals), queue="droptail limit=2p", rate="10Mbps")
    assert (
        table.to_dicts()
        == sojourn.replay(file, queue="droptail limit=2p", rate="10Mbps").to_dicts()
    )
    assert table["verdict"] == ["sent", "sent", "sent", "dropped"]
    assert table["departure_ns"] == [0, 1_200_000, 2_400_000, None]
    assert table["sojourn_ns"] == [0, 1_199_000, 2_398_000, None]


def test_replay_says_which_argument_is_wrong() -> None:
    with pytest.raises(errors.BadValueError, match="rate"):
        sojourn.replay([], queue="droptail", rate="10")
    with pytest.raises(errors.SojournError, match="codel"):
        sojourn.replay([(0, 1, 1, 0)], queue="codle", rate="1Mbps")


# What can be named.


def test_the_schema_is_a_json_schema() -> None:
    schema = sojourn.schema()
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert {"run", "topology", "flows", "study", "experiment"} <= set(schema["properties"])


# Errors.


@pytest.mark.parametrize(
    ("path", "value", "kind", "builtin"),
    [
        ("topology.qeue", "codel", errors.UnknownKeyError, KeyError),
        ("topology.rate", "10", errors.BadValueError, ValueError),
        ("topology.rate", "fast", errors.BadValueError, ValueError),
        ("topology.queue", "codle", errors.UnknownNameError, LookupError),
        ("topology.rate", {"value": 1}, errors.WrongTypeError, TypeError),
        ("run.warmup", "5s", errors.ContradictionError, ValueError),
    ],
)
def test_every_mistake_has_a_class_of_its_own(
    path: str, value: Any, kind: type[Exception], builtin: type[Exception]
) -> None:
    with pytest.raises(errors.SojournError) as caught:
        small().with_(path, value)
    assert type(caught.value) is kind
    assert isinstance(caught.value, builtin)


def test_an_error_knows_its_place_and_what_was_meant(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(SCENARIO.replace("buffer =", "bufer ="))
    with pytest.raises(errors.UnknownKeyError) as caught:
        sojourn.run(file)
    assert caught.value.nearest == "buffer"
    assert "bufer" in str(caught.value)
    assert str(caught.value) == caught.value.args[0]


def test_a_file_that_is_not_there_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        sojourn.load(tmp_path / "nowhere.toml")
    with pytest.raises(errors.SojournError):
        sojourn.read(tmp_path / "nowhere")


def test_every_class_of_error_is_exported() -> None:
    for name in errors.__all__:
        assert getattr(sojourn, name) is getattr(errors, name)
        assert name in sojourn.__all__


# The package.


def test_the_version_is_the_commands(command: Path) -> None:
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["sojourn", sojourn.__version__]


def test_importing_the_package_imports_no_data_library() -> None:
    program = "import sojourn, sys; print(*sys.modules)"
    names = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    optional = {
        "numpy",
        "pandas",
        "polars",
        "pyarrow",
        "duckdb",
        "vl_convert",
        "altair",
        "narwhals",
    }
    assert not optional & set(names)


def drop(row: dict[str, Any], *columns: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in columns}


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("seed", -1, ValueError),
        ("seed", 2**64, ValueError),
        ("threads", 0, ValueError),
        ("threads", -1, ValueError),
        ("replications", 0, ValueError),
        ("replication", 1.5, TypeError),
    ],
)
def test_numbers_that_cannot_be_are_refused_by_name(
    name: str, value: float, kind: type[Exception]
) -> None:
    scenario = sojourn.dumbbell(flows=["reno"], rate="1Mbps", duration="2s", warmup="0s")
    with pytest.raises(kind, match=name) as caught:
        sojourn.run(scenario, **{name: value})  # type: ignore[arg-type]
    assert isinstance(caught.value, errors.SojournError)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ((float("nan"), 100, 0, 0), "time_ns"),
        ((0, 100.5, 0, 0), "bytes"),
        ((0, 100, 0), "3 values"),
    ],
)
def test_arrivals_that_cannot_be_are_refused_by_row(row: tuple[float, ...], said: str) -> None:
    with pytest.raises(errors.BadValueError, match=r"arrivals\[1\]") as caught:
        sojourn.replay([(0, 100, 0, 0), row], queue="droptail", rate="1Mbps")  # type: ignore[list-item]
    assert said in str(caught.value)
