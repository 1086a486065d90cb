"""A Dask cluster of plain processes that can be killed one by one, and the study that tests run on it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

STUDY = """\
flows = ["10*poisson 80kbps size=500B"]
[run]
duration = "{duration}"
replications = {replications}
{run}
[topology]
rate = "1Mbps"
rtt = "20ms"
[[experiment]]
name = "queues"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel", "pie"]
compare = true
[[table]]
id = "delay"
rows = ["queue"]
metrics = ["sojourn_s_mean"]
"""


def study(folder: Path, duration: str, replications: int, run: str = "") -> Path:
    """A study file: three queues."""
    file = folder / "study.toml"
    text = STUDY.format(duration=duration, replications=replications, run=run)
    file.write_text(text, encoding="utf-8")
    return file


def wait(condition: Callable[[], bool], what: str, seconds: float = 120) -> None:
    """Waits until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.005)


class Cluster:
    """A scheduler and workers, each a process of one thread without a nanny, so that what is killed stays dead."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.names: dict[int, str] = {}
        """Names of workers, by process."""
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.port = 0

    def start(self) -> None:
        """Starts the scheduler, again at the same port if there was one."""
        self.file.unlink(missing_ok=True)
        self.scheduler = self._run(
            "dask_scheduler", "--port", str(self.port), "--host", "127.0.0.1"
        )
        wait(self._is_written, "no scheduler")
        self.port = int(self.address.rsplit(":", 1)[1])

    def _is_written(self) -> bool:
        with contextlib.suppress(OSError, ValueError, KeyError):
            return bool(self.address)
        return False

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        return str(json.loads(self.file.read_text(encoding="utf-8"))["address"])

    def join(self, *preload: str) -> subprocess.Popen[bytes]:
        """Starts a worker."""
        more = [word for name in preload for word in ("--preload", name)]
        name = f"worker{len(self.names)}"
        worker = self._run("dask_worker", "--nthreads", "1", "--no-nanny", "--name", name, *more)
        self.workers.append(worker)
        self.names[worker.pid] = name
        return worker

    def _run(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard"]
        words += ["--scheduler-file", str(self.file), *arguments]
        env = os.environ | {"DASK_TEMPORARY_DIRECTORY": str(self.folder)}
        with (self.folder / "cluster.log").open("ab") as log:
            return subprocess.Popen(words, stdout=log, stderr=log, cwd=self.folder, env=env)

    def stop(self) -> None:
        """Ends what still runs."""
        for process in [*self.workers, self.scheduler]:
            if process is not None:
                kill(process)
        self.workers = []
        self.scheduler = None


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL, which nothing can catch."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster with a scheduler, for as long as it is used."""
    made = Cluster(folder)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def begin(study: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    """The command on a study, under way."""
    words = [sys.executable, "-m", "sojourn", "study", str(study), "--out", str(out), *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def runs(out: Path) -> int:
    """Runs that a directory holds."""
    return len(list((out / "checksums").glob("*.json")))


def content(out: Path) -> dict[str, bytes]:
    """What is in a result directory but wall times, and the command, which names the directory."""
    files = {
        str(file.relative_to(out)): file.read_bytes()
        for file in sorted(out.rglob("*"))
        if file.is_file() and not file.name.startswith(("timing", ".lock"))
    }
    for name in ("manifest.json", "summary.json", "source.toml"):
        if name in files:
            files[name] = files[name].replace(os.fsencode(out), b"OUT")
    manifest = json.loads(files["manifest.json"])
    # It is over the command, too.
    manifest.pop("checksum")
    files["manifest.json"] = json.dumps(manifest).encode()
    return files
