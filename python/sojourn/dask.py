"""The runs of a study on a Dask cluster: `sojourn study X --dask ADDRESS`, and `sojourn.study(X, client=...)`.

One process reads the study, gives out the runs in batches of a few seconds, and writes what comes back: bytes of files, which do not
depend on who made them. Workers read and write no file of the study. A run counts once its bytes are there, so whatever
happens to workers, scheduler or network, the worst is that runs are made again.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import os
import queue
import threading
import time
import uuid
import warnings
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sojourn import _core
from sojourn.errors import (
    ForeignResultsError,
    MissingLibraryError,
    ResultsIOError,
    RunFailedError,
    SojournError,
    WrongTypeError,
)

if TYPE_CHECKING:
    from distributed import Client as _Client
    from distributed import Future as _Future

__all__ = ["command", "connect", "drive", "study"]

LOCAL: Final = "local"
"""What stands for a cluster that is started here."""

SECONDS: Final = 2.0
"""What a batch should take: long enough that giving it out costs nothing, short enough to lose it."""

MOST: Final = 200
"""Runs of a batch, at most."""

PATIENCE: Final = 120.0
"""Seconds without a scheduler after which a study ends."""

DEATHS: Final = 3
"""How often Dask may give up a run whose workers died; each time, several have."""

Made: TypeAlias = tuple[int, int, float, bytes | None, str, str]
"""A run: point, replication, seconds, its bytes; or the kind of failure and its text."""


# On a worker.

_stops: dict[str, _core.Stop] = {}
_slots: dict[str, threading.BoundedSemaphore] = {}
_lock = threading.Lock()


def make(
    token: str, version: str, at_a_time: int, points: list[tuple[int, str, list[int]]]
) -> tuple[str, list[Made]]:
    """Makes the runs of a batch on a worker: the worker's version, and the runs; none if the version is another."""
    if version != version_here():
        return version_here(), []
    with _lock:
        stop = _stops.setdefault(token, _core.Stop())
        slots = _slots.setdefault(token, threading.BoundedSemaphore(at_a_time))
    made: list[Made] = []
    for point, text, replications in points:
        try:
            task = _core.Task(text)
        except ForeignResultsError:
            raise
        except SojournError as error:
            return version, [*made, (point, replications[0], 0.0, None, "user", str(error))]
        for replication in replications:
            # More threads than the limit of memory allows wait for each other.
            with slots:
                begun = time.perf_counter()
                try:
                    data = task.run(replication, stop)
                except KeyboardInterrupt:
                    return version, made
                except SojournError as error:
                    kind = "bug" if isinstance(error, RunFailedError) else "user"
                    made.append((point, replication, 0.0, None, kind, str(error)))
                    continue
                made.append((point, replication, time.perf_counter() - begun, data, "", ""))
    return version, made


def stop(token: str) -> None:
    """Ends the runs of a study on a worker."""
    with _lock:
        _stops.setdefault(token, _core.Stop()).set()


def version_here() -> str:
    """The version of this process."""
    return _core.__version__


# Beside the results.


@dataclass
class _Batch:
    """Runs that a worker makes one after the other."""

    runs: list[tuple[int, int]]
    key: str
    future: _Future[Any] | None = None


@dataclass
class _Driver:
    """Gives out the runs of a plan, and takes what comes back."""

    plan: _core.Plan
    client: _Client
    reconnect: Callable[[], _Client] | None
    progress: Callable[[int, int], object] | None
    token: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    left: deque[tuple[int, int]] = field(default_factory=deque)
    alone: set[tuple[int, int]] = field(default_factory=set)
    """Runs that are given out alone, as workers died of their batch."""
    flying: dict[str, _Batch] = field(default_factory=dict)
    done: queue.Queue[_Batch] = field(default_factory=queue.Queue)
    deaths: Counter[tuple[int, int]] = field(default_factory=Counter)
    troubles: Counter[tuple[int, int]] = field(default_factory=Counter)
    seconds: float | None = None
    """What a run takes, of the last ones."""
    threads: int = 0
    looked: float = -math.inf
    alive: float = field(default_factory=time.monotonic)
    """When there was a worker."""
    known: set[str] = field(default_factory=set)
    """Workers that have been asked for their version."""
    number: Iterator[int] = field(default_factory=itertools.count)
    waited: bool = False
    lost: bool = False
    """Whether the scheduler was there and is not."""

    def round(self) -> None:
        """Has the runs of a round made."""
        self.left = deque(self.plan.jobs())
        while (self.left or self.flying) and not self.plan.stopped:
            self._look()
            self._fill()
            try:
                batch = self.done.get(timeout=0.05)
            except queue.Empty:
                continue
            if self.flying.pop(batch.key, None) is not None:
                self._take(batch)

    def _look(self) -> None:
        """Looks after scheduler and workers now and then."""
        if self.client.status == "closed":
            self._again()
        now = time.monotonic()
        if self.client.status == "connecting":
            if not self.lost:
                self.lost = True
                self.plan.say(f"the scheduler is lost; trying again for {PATIENCE:.0f} s")
            self.alive = now
            return
        if self.lost:
            self.lost = False
            self.plan.say("connected to the scheduler again")
        # At the beginning workers join often.
        if now - self.looked < (0.2 if self.threads == 0 else 2.0):
            return
        self.looked = now
        threads = threads_of(self.client)
        self.threads = sum(threads.values())
        _check_versions(self.client, threads.keys() - self.known)
        self.known = set(threads)
        if self.threads:
            self.alive = now
            self.waited = False
            self.plan.set_threads(self.threads)
        elif now - self.alive > 5 and not self.waited:
            self.waited = True
            self.plan.say(
                "the cluster has no worker; the study goes on when one joins: dask worker ADDRESS"
            )

    def _again(self) -> None:
        """Connects to the scheduler again; all that was given out is given out again."""
        self.left.extendleft(
            run for batch in reversed(self.flying.values()) for run in reversed(batch.runs)
        )
        self.flying.clear()
        if self.reconnect is None:
            raise ResultsIOError(
                "the client was closed, or lost its scheduler; finished runs are kept: call study again with a new client"
            )
        begun = time.monotonic()
        while True:
            try:
                self.client = self.reconnect()
                return
            except OSError as error:
                if self.plan.stopped:
                    return
                if time.monotonic() - begun > PATIENCE:
                    raise ResultsIOError(
                        f"no scheduler answers any more; finished runs are kept: repeat the command when it runs ({error})"
                    ) from error

    def _fill(self) -> None:
        """Gives out batches: a few more than there are threads, so that none has to wait."""
        while self.left and len(self.flying) < 2 * max(1, self.threads):
            batch = self._next()
            self.flying[batch.key] = batch
            points = [
                (point, self.plan.task(point), [replication for _, replication in runs])
                for point, runs in itertools.groupby(batch.runs, key=lambda run: run[0])
            ]
            try:
                batch.future = self.client.submit(
                    make,
                    self.token,
                    version_here(),
                    self.plan.at_a_time,
                    points,
                    key=batch.key,
                    pure=False,
                    retries=2,
                )
            except (OSError, RuntimeError, ValueError):
                if self.client.status == "running":
                    raise
                self._back(batch.runs)
                del self.flying[batch.key]
                return
            batch.future.add_done_callback(lambda _, batch=batch: self.done.put(batch))

    def _next(self) -> _Batch:
        size = 1
        if self.seconds is not None:
            size = min(int(SECONDS / max(self.seconds, 1e-6)), MOST)
            # At the end, every thread has its share.
            size = min(size, math.ceil(len(self.left) / (2 * max(1, self.threads))))
        runs = [self.left.popleft()]
        while (
            len(runs) < size and self.left and not self.alone.intersection((runs[0], self.left[0]))
        ):
            runs.append(self.left.popleft())
        # The dashboard groups tasks by what is before the first "-".
        study = self.plan.name.replace("-", "_")
        point = self.plan.point_name(runs[0][0])
        more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
        key = f"{study}-{point}, replication {runs[0][1]}{more}-{self.token}{next(self.number)}"
        return _Batch(runs, key)

    def _back(self, runs: list[tuple[int, int]]) -> None:
        """Has runs given out again, first of all."""
        self.left.extendleft(reversed(runs))

    def _take(self, batch: _Batch) -> None:
        """Takes what came back."""
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

        assert batch.future is not None
        try:
            version, made = batch.future.result(timeout=60)
        except KilledWorker as error:
            self._died(batch, str(error))
            return
        except (CancelledError, CommClosedError, TimeoutError):
            # The scheduler is gone, or another one.
            self._back(batch.runs)
            return
        except SojournError:
            raise
        except Exception as error:
            self._troubled(batch, error)
            return
        finally:
            batch.future = None
        if version != version_here():
            raise _refusal({"a worker that joined": version})
        self._accept(batch, made)

    def _accept(self, batch: _Batch, made: list[Made]) -> None:
        for point, replication, wall, data, kind, text in made:
            if data is None:
                self.plan.fail(point, replication, text, kind)
                continue
            self.plan.accept(data, wall)
            self.seconds = wall if self.seconds is None else 0.7 * self.seconds + 0.3 * wall
        if self.progress is not None:
            self.progress(*self.plan.counts)
        there = {run[:2] for run in made}
        self._back([run for run in batch.runs if run not in there])

    def _died(self, batch: _Batch, error: str) -> None:
        """Takes note that Dask gave a batch up, since several workers died that had it."""
        self.alone.update(batch.runs)
        if len(batch.runs) == 1:
            run = batch.runs[0]
            self.deaths[run] += 1
            if self.deaths[run] >= DEATHS:
                name = self.plan.point_name(run[0])
                self.plan.fail(
                    *run,
                    f"replication {run[1]} of {name} was given up: its workers died each time, most likely for want of memory; "
                    f"the other runs are kept: use workers with more memory or fewer threads ({error})",
                    "lost",
                )
                return
        self._back(batch.runs)

    def _troubled(self, batch: _Batch, error: Exception) -> None:
        """Takes note that a batch failed by something else than its runs."""
        if isinstance(error, ImportError):
            raise _absence("a worker", error) from error
        self.troubles[batch.runs[0]] += 1
        if self.troubles[batch.runs[0]] >= DEATHS:
            raise ResultsIOError(
                f"the cluster cannot make runs: {type(error).__name__}: {error}; finished runs are kept"
            ) from error
        self._back(batch.runs)

    def stop(self) -> None:
        """Takes back what is given out, and ends runs under way; does not wait for it."""
        futures = [batch.future for batch in self.flying.values() if batch.future is not None]
        self.flying.clear()
        if not futures or self.client.status != "running":
            return

        def end() -> None:
            # The process may end meanwhile.
            with contextlib.suppress(Exception):
                self.client.cancel(futures, force=True)
                self.client.run(stop, self.token, on_error="ignore")

        thread = threading.Thread(target=end, daemon=True)
        thread.start()
        thread.join(0.4)


def drive(
    plan: _core.Plan,
    client: _Client,
    *,
    reconnect: Callable[[], _Client] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Has the workers of a client make the runs of a plan.

    `reconnect` makes another client when this one has lost its scheduler.
    """
    driver = _Driver(plan, client, reconnect, progress)
    _check_scheduler(client)
    try:
        driver.round()
        while not plan.stopped and plan.go_on():
            driver.round()
    finally:
        driver.stop()
        if driver.client is not client:
            driver.client.close()


def threads_of(client: _Client) -> dict[str, int]:
    """For each worker, how many threads it has; no worker while the scheduler does not answer."""
    if client.status != "running":
        return {}
    try:
        return dict(client.nthreads())
    except (OSError, TimeoutError):
        return {}


def _asking() -> Callable[[], tuple[str, str]]:
    """A function that asks a process for its version; its text is sent along, since that process may not have Sojourn."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(ASK, scope)
    asking: Callable[[], tuple[str, str]] = scope["ask"]
    return asking


ASK: Final = """
def ask():
    try:
        from sojourn import dask
        return "version", dask.version_here()
    except ImportError as error:
        return "absent", str(error)
"""


def _check_scheduler(client: _Client) -> None:
    """Refuses a scheduler that cannot read what it is to hand on."""
    try:
        said, text = client.run_on_scheduler(_asking())
    except (OSError, TimeoutError):
        return
    if said == "absent":
        raise _absence("the scheduler", text)


def _check_versions(client: _Client, workers: Collection[str]) -> None:
    """Refuses workers with another version, or without any."""
    if not workers:
        return
    answers: dict[str, object] = client.run(_asking(), workers=list(workers), on_error="return")
    others: dict[str, str] = {}
    for worker, answer in answers.items():
        # A worker that has gone gives an error.
        if not isinstance(answer, tuple):
            continue
        said, text = answer
        if said == "absent":
            raise _absence(f"the worker {worker}", text)
        if text != version_here():
            others[f"the worker {worker}"] = text
    if others:
        raise _refusal(others)


def _absence(who: str, error: object) -> MissingLibraryError:
    return MissingLibraryError(
        f"{who} cannot import Sojourn: {error}; install it on the scheduler and on every worker: pip install 'sojourn[dask]=={version_here()}'"
    )


def _refusal(others: dict[str, str]) -> ForeignResultsError:
    who, version = next(iter(others.items()))
    more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
    return ForeignResultsError(
        f"{who}{more} has Sojourn {version}, this is Sojourn {version_here()}: the bits can differ; install the same version on every machine"
    )


@contextlib.contextmanager
def connect(address: str, workers: int | None = None) -> Iterator[_Client]:
    """A client of the scheduler at an address; `local` starts a cluster here, with a process per core or `workers` of them."""
    distributed = _library()
    if address == LOCAL:
        with (
            _without_advice(),
            distributed.LocalCluster(
                n_workers=workers or _cores(),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client
        return
    client = _client(address)
    try:
        yield client
    finally:
        client.close(timeout=0.3)


@contextlib.contextmanager
def _without_advice() -> Iterator[None]:
    """Without the remarks of Dask on slow disks: nothing is written there."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Creating scratch directories")
        yield


def _client(address: str) -> _Client:
    distributed = _library()

    def begin(self: Any, *given: Any, **options: Any) -> None:
        try:
            distributed.Client.__init__(self, *given, **options)
        except BaseException:
            self.status = "closed"
            raise

    # A client that never reached a scheduler waits for it when it is deleted, unless it counts as closed. The class is not
    # written as one: mypy would name it in this module, where it is only while Dask is installed.
    kind = type("Client", (distributed.Client,), {"__init__": begin})
    try:
        client: _Client = kind(address, timeout=10, set_as_default=False)
    except (OSError, TypeError, ValueError, TimeoutError) as error:
        raise ResultsIOError(
            f"{address!r}: no Dask scheduler answers there: {error}; start one with: dask scheduler; or use --dask local"
        ) from error
    return client


def check(client: object) -> None:
    """Refuses what cannot drive a cluster."""
    wanted = 'a distributed.Client, the address of a scheduler or "local" is wanted'
    if isinstance(client, str):
        return
    if not (hasattr(client, "submit") and hasattr(client, "scheduler_info")):
        raise WrongTypeError(f"client: {client!r} is given, but {wanted}", key="client")
    if client.asynchronous:  # type: ignore[attr-defined]
        raise WrongTypeError(
            f"client: an asynchronous client is given, but {wanted}: make it without asynchronous=True",
            key="client",
        )
    if client.status != "running":  # type: ignore[attr-defined]
        raise WrongTypeError(
            f"client: its status is {client.status!r}, but one that is running is wanted",  # type: ignore[attr-defined]
            key="client",
        )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _library() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingLibraryError("Dask is needed for this: pip install 'sojourn[dask]'") from error
    return distributed


def study(
    plan: _core.Plan,
    client: _Client | str,
    workers: int | None,
    progress: Callable[[int, int], object] | None,
) -> _core.Results:
    """Has a cluster make the runs of a plan, and gives the results; `sojourn.study` calls it for `client`."""
    try:
        if isinstance(client, str):
            with connect(client, workers) as connected:
                again = None if client == LOCAL else (lambda: _client(client))
                drive(plan, connected, reconnect=again, progress=progress)
        else:
            drive(plan, client, progress=progress)
    except BaseException:
        # Says how long the finished runs took, and lets the directory go.
        with contextlib.suppress(BaseException):
            plan.results()
        raise
    return plan.results()


def command(plan: _core.Plan, address: str, workers: int | None) -> None:
    """Has a cluster make the runs of a plan; the command calls it for `--dask`."""
    # What Dask logs of a lost scheduler looks final; it is said in other words.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with connect(address, workers) as client:
        if client.dashboard_link and address == LOCAL:
            plan.say(f"Dask's dashboard, while this runs: {client.dashboard_link}")
        again = None if address == LOCAL else (lambda: _client(address))
        drive(plan, client, reconnect=again)
