"""Sojourn: a laboratory for queues.

    import sojourn

    scenario = sojourn.dumbbell(
        rate="10Mbps", rtt="40ms", buffer="100p", flows=["4*reno", "cbr 2Mbps"], duration="60s"
    )
    results = sojourn.compare(scenario, ["codel", "drr"])
    print(results)

`run` takes a scenario as a `Scenario`, a dict or the path of a TOML file; `study` takes the file of a study. Results are
Arrow tables: `polars.DataFrame(results.queues)`.
"""

from __future__ import annotations

from sojourn._core import PROFILE, Table, __version__
from sojourn.errors import (
    BadValueError,
    ContradictionError,
    FileSyntaxError,
    ForeignResultsError,
    MissingKeyError,
    ResultsIOError,
    RunFailedError,
    SojournError,
    UnknownKeyError,
    UnknownNameError,
    UnreachableError,
    WrongTypeError,
)
from sojourn.results import (
    Figure,
    Rerun,
    Results,
    compare,
    list_queues,
    read,
    replay,
    rerun,
    run,
    schema,
    show,
    study,
    trace_analyse,
)
from sojourn.scenario import Scenario, chain, dumbbell, graph, load, parking_lot

__all__ = [
    "PROFILE",
    "BadValueError",
    "ContradictionError",
    "Figure",
    "FileSyntaxError",
    "ForeignResultsError",
    "MissingKeyError",
    "Rerun",
    "Results",
    "ResultsIOError",
    "RunFailedError",
    "Scenario",
    "SojournError",
    "Table",
    "UnknownKeyError",
    "UnknownNameError",
    "UnreachableError",
    "WrongTypeError",
    "__version__",
    "chain",
    "compare",
    "dumbbell",
    "graph",
    "list_queues",
    "load",
    "parking_lot",
    "read",
    "replay",
    "rerun",
    "run",
    "schema",
    "show",
    "study",
    "trace_analyse",
]
