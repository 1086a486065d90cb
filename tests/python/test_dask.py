"""Studies on a Dask cluster: whatever happens to its processes, the bits are those of one machine."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn

pytest.importorskip(
    "distributed", reason="distributed is not installed: pip install 'sojourn[dask]'"
)

import daskcluster as dc


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def here(study: Path, out: Path) -> dict[str, bytes]:
    status, _, err = finished(dc.begin(study, out))
    assert status == 0, err
    return dc.content(out)


def test_killed_workers_a_late_one_and_a_new_scheduler_give_the_bits_of_one_machine(
    tmp_path: Path,
) -> None:
    study = dc.study(tmp_path, "60s", 20)
    out = tmp_path / "there"
    with dc.cluster(tmp_path) as cluster:
        first = cluster.join()
        process = dc.begin(study, out, "--dask", cluster.address)
        dc.wait(lambda: dc.runs(out) >= 2, "no runs")
        dc.kill(first)
        kept = dc.runs(out)
        assert kept < 60
        second = cluster.join()
        dc.wait(lambda: dc.runs(out) >= kept + 2, "no runs after a kill")
        assert cluster.scheduler is not None
        dc.kill(cluster.scheduler)
        dc.kill(second)
        assert dc.runs(out) < 60
        cluster.start()
        cluster.join()
        cluster.join()
        status, _, err = finished(process)
    assert status == 0, err
    assert dc.content(out) == here(study, tmp_path / "here")


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(tmp_path: Path) -> None:
    study = dc.study(tmp_path, "60s", 20)
    out = tmp_path / "there"
    with dc.cluster(tmp_path) as cluster:
        cluster.join()
        process = dc.begin(study, out, "--dask", cluster.address)
        dc.wait(lambda: dc.runs(out) >= 2, "no runs")
        process.send_signal(2)
        status, _, err = finished(process)
        assert status == 130
        assert "repeat the command to continue" in err
        kept = dc.runs(out)
        assert 2 <= kept < 60
        status, _, err = finished(dc.begin(study, out, "--dask", cluster.address))
    assert status == 0, err
    assert dc.content(out) == here(study, tmp_path / "here")


def test_decisions_on_warm_up_and_precision_are_those_of_one_machine(tmp_path: Path) -> None:
    rules = 'start_spread = "8s"\nprecision = "4%"\nmax_replications = 12\n'
    study = dc.study(tmp_path, "24s", 4, rules)
    status, _, err = finished(
        dc.begin(study, tmp_path / "there", "--dask", "local", "--threads", "2")
    )
    assert status == 0, err
    assert dc.content(tmp_path / "there") == here(study, tmp_path / "here")


PRELOAD = """\
import sojourn.dask

sojourn.dask.version_here = lambda: "0.0.1"
"""


def test_workers_of_another_version_are_refused_with_both_versions_even_late(
    tmp_path: Path,
) -> None:
    study = dc.study(tmp_path, "60s", 20)
    (tmp_path / "old.py").write_text(PRELOAD, encoding="utf-8")
    both = rf"has Sojourn 0\.0\.1, this is Sojourn {re.escape(sojourn.__version__)}"
    with dc.cluster(tmp_path) as cluster:
        old = cluster.join("old.py")
        dc.wait(lambda: "Registered to" in (tmp_path / "cluster.log").read_text(), "no worker")
        process = dc.begin(study, tmp_path / "early", "--dask", cluster.address)
        status, _, err = finished(process)
        assert status == 2
        assert re.search(both, err), err
        dc.kill(old)
        out = tmp_path / "late"
        good = cluster.join()
        process = dc.begin(study, out, "--dask", cluster.address)
        dc.wait(lambda: dc.runs(out) >= 2, "no runs")
        dc.kill(good)
        cluster.join("old.py")
        status, _, err = finished(process)
        assert status == 2
        assert re.search(both, err), err
    assert 2 <= dc.runs(out) < 60


IN_PYTHON = """\
import sys

import sojourn
from distributed import Client, LocalCluster

if __name__ == "__main__":
    told = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            there = sojourn.study(
                sys.argv[1], client=client, progress=lambda done, total: told.append((done, total))
            )
    here = sojourn.study(sys.argv[1])
    assert there.queues.to_dicts() == here.queues.to_dicts()
    assert str(there) == str(here)
    assert told[-1] == (6, 6)
"""


def test_a_client_in_python_gives_the_same_tables(tmp_path: Path) -> None:
    study = dc.study(tmp_path, "5s", 2, 'warmup = "1s"')
    script = tmp_path / "script.py"
    script.write_text(IN_PYTHON, encoding="utf-8")
    words = [sys.executable, str(script), str(study)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_a_scheduler_that_is_not_there_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    study = dc.study(tmp_path, "5s", 2)
    out = tmp_path / "out"
    process = dc.begin(study, out, "--dask", "tcp://127.0.0.1:9", "--threads", "2")
    status, _, err = finished(process)
    assert (status, "--threads" in err) == (2, True)
    status, _, err = finished(dc.begin(study, out, "--dask", "nonsense"))
    assert (status, "nonsense" in err) == (2, True)
    assert not out.exists()


def test_something_that_is_no_client_is_refused(tmp_path: Path) -> None:
    study = dc.study(tmp_path, "5s", 2)
    with pytest.raises(sojourn.WrongTypeError, match="client"):
        sojourn.study(study, client=7)


WITHOUT = """\
import sys

sys.modules["sojourn"] = None
"""


def test_a_worker_without_sojourn_is_named_and_a_late_one_loses_no_run(tmp_path: Path) -> None:
    study = dc.study(tmp_path, "200s", 20)
    (tmp_path / "without.py").write_text(WITHOUT, encoding="utf-8")
    with dc.cluster(tmp_path) as cluster:
        bare = cluster.join("without.py")
        dc.wait(lambda: "Registered to" in (tmp_path / "cluster.log").read_text(), "no worker")
        status, _, err = finished(dc.begin(study, tmp_path / "early", "--dask", cluster.address))
        assert status == 2
        assert re.search(r"the worker tcp://\S+ cannot import Sojourn", err), err
        dc.kill(bare)
        out = tmp_path / "late"
        cluster.join()
        process = dc.begin(study, out, "--dask", cluster.address)
        dc.wait(lambda: dc.runs(out) >= 2, "no runs")
        cluster.join("without.py")
        status, _, err = finished(process)
    # Most often it ends before it is asked, and the other worker makes all runs.
    assert status == 0 or "cannot import Sojourn" in err, err


def test_an_asynchronous_or_closed_client_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    from distributed import Client

    study = dc.study(tmp_path, "5s", 2)
    out = tmp_path / "out"

    async def asynchronous(address: str) -> None:
        async with Client(address, asynchronous=True) as client:
            sojourn.study(study, client=client, out=out)

    with dc.cluster(tmp_path) as cluster:
        closed = Client(cluster.address)
        closed.close()
        with pytest.raises(sojourn.WrongTypeError, match="closed"):
            sojourn.study(study, client=closed, out=out)
        with pytest.raises(sojourn.WrongTypeError, match="asynchronous"):
            asyncio.run(asynchronous(cluster.address))
    assert not out.exists()
