"""The engine: functions in Rust, wrapped by the modules of this package."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Final, final

__all__ = [
    "PROFILE",
    "GymFleet",
    "GymPolicy",
    "Packet",
    "Plan",
    "Random",
    "Results",
    "Stop",
    "Table",
    "Task",
    "__version__",
    "check",
    "check_properties",
    "draw",
    "listing",
    "main",
    "nearest",
    "plan",
    "read",
    "read_toml",
    "replay",
    "rerun",
    "resolve",
    "run",
    "schema",
    "set_values",
    "sheets",
    "show",
    "study",
    "to_toml",
    "trace_analyse",
    "work",
]

__version__: Final[str]
PROFILE: Final[str]

@final
class Table:
    """A table of results, behind `sojourn.Table`."""

    @property
    def column_names(self) -> list[str]: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def schema_names(self) -> list[tuple[str, str]]: ...
    def rows(self, start: int, count: int) -> Table: ...
    def column(self, name: str) -> list[Any] | None: ...
    def to_dicts(self) -> list[dict[str, Any]]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Packet:
    """A packet that a scheduler of Python keeps."""

    @property
    def size(self) -> int:
        """Bytes on the wire."""
    @property
    def flow(self) -> int:
        """Number of its flow."""
    @property
    def ecn(self) -> int:
        """ECN codepoint, 0 to 3."""
    @property
    def dscp(self) -> int:
        """DSCP, 0 to 63."""
    @property
    def arrived(self) -> float:
        """When it arrived, in seconds."""
    @property
    def number(self) -> int:
        """Its number among the arrivals at this queue, from 0."""

@final
class Random:
    """A random stream. `random()` is uniform in [0, 1)."""

    # Takes none: what is called by a slot has no signature of its own.
    def __call__(self, *args: Any, **kwargs: Any) -> float: ...
    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, each as likely."""
    def exponential(self, mean: float) -> float:
        """Exponential, with this mean."""
    def normal(self) -> float:
        """Standard normal: mean 0, standard deviation 1."""

@final
class Results:
    """The results of a study, a comparison or a single scenario, in memory."""

    def table(self, kind: str) -> Table: ...
    def manifest(self) -> str: ...
    def summary(self) -> str: ...
    def tables(self) -> list[tuple[str, str, str]]: ...
    def figures(self) -> list[tuple[str, str]]: ...
    def report(self, directory: str) -> PathLike[str]: ...
    def text(self, width: int | None = None) -> str: ...

@final
class Plan:
    """A study whose runs are made elsewhere: which, and what becomes of them."""

    @property
    def name(self) -> str: ...
    @property
    def at_a_time(self) -> int: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def counts(self) -> tuple[int, int]: ...
    def jobs(self) -> list[tuple[int, int]]: ...
    def point_name(self, point: int) -> str: ...
    def task(self, point: int) -> str: ...
    def set_threads(self, threads: int) -> None: ...
    def accept(self, data: bytes, wall_s: float) -> bool: ...
    def fail(self, point: int, replication: int, message: str, kind: str) -> None: ...
    def go_on(self) -> bool: ...
    def say(self, text: str) -> None: ...
    def results(self) -> Results: ...

@final
class Stop:
    """Ends runs under way, in a process that makes runs for another one."""

    def __new__(cls) -> Stop: ...
    def set(self) -> None: ...

@final
class Task:
    """A point of a study, in a process that makes runs for another one."""

    def __new__(cls, text: str) -> Task: ...
    def run(self, replication: int, stop: Stop) -> bytes: ...

@final
class GymFleet:
    """Environments that advance together, each a run in steps. Arrays come in and go out as bytes."""

    def __new__(
        cls,
        component: str,
        scenarios: list[tuple[str, str]],
        number: int,
        threads: int,
        form: str,
        weights: list[float],
    ) -> GymFleet: ...
    @property
    def observation_names(self) -> list[str]: ...
    @property
    def fact_names(self) -> list[str]: ...
    def reset(
        self, seeds: list[int | None]
    ) -> tuple[bytearray, bytearray, bytearray, bytearray]: ...
    def step(self, actions: bytes) -> tuple[bytearray, bytearray, bytearray, bytearray]: ...

@final
class GymPolicy:
    """A policy, evaluated as a component evaluates it."""

    def __new__(cls, text: str) -> GymPolicy: ...
    @property
    def component(self) -> str: ...
    @property
    def inputs(self) -> int: ...
    def to_json(self) -> str: ...
    def act(self, observations: bytes) -> bytearray: ...

def plan(
    given: str,
    overrides: list[tuple[str, str, str]],
    *,
    only: list[str],
    out: str | None,
    fresh: bool,
) -> Plan: ...
def main(
    arguments: list[str],
    images: Callable[[PathLike[str], list[str], float | None], list[str]],
    cluster: Callable[[Plan, str, int | None], None],
) -> int: ...
def sheets(directory: PathLike[str]) -> str: ...
def set_values(json: str, name: str, values: list[tuple[str, str]]) -> str: ...
def check_properties(
    algorithm: str,
    *,
    kind: str | None,
    skip: list[str],
    progress: Callable[[int, int], object] | None,
) -> tuple[str, str]:
    """The properties of an algorithm with their verdicts: as JSON, and as the command prints them."""

def check(json: str, name: str, arguments: list[tuple[str, str]]) -> None: ...
def nearest(given: str, names: list[str]) -> str | None: ...
def draw(json: str, name: str) -> str: ...
def resolve(json: str, name: str) -> str: ...
def to_toml(json: str, name: str) -> str: ...
def read_toml(path: str) -> str: ...
def listing(name: str) -> str: ...
def show(name: str) -> str: ...
def schema() -> str: ...
def run(
    json: str,
    name: str,
    queues: list[str],
    *,
    replications: int | None,
    replication: int | None,
    seed: int | None,
    out: str | None,
    fresh: bool,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> Results: ...
def study(
    given: str,
    overrides: list[tuple[str, str, str]],
    *,
    only: list[str],
    out: str | None,
    fresh: bool,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> Results: ...
def read(path: str) -> Results: ...
def rerun(
    directory: str,
    *,
    out: str | None,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> tuple[bool, int, int, list[PathLike[str]], int, str | None]: ...
def replay(
    path: str | None,
    text: str,
    *,
    queue: str,
    rate: str,
    dialect: str | None,
    seed: int,
) -> Table: ...
def trace_analyse(
    path: str,
    *,
    format: str | None,
    lenient: bool,
    step: str,
    start: str | None,
    stop: str | None,
    rates: list[str],
    horizon: str,
    receiver: str | None,
    tunnels: str,
) -> tuple[list[tuple[str, Table]], int, list[str]]: ...
def work() -> None: ...
