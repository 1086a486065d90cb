"""Sojourn: a laboratory for queues.

    import sojourn

    scenario = sojourn.dumbbell(
        rate="10Mbps", rtt="40ms", buffer="100p", flows=["4*reno", "cbr 2Mbps"], duration="60s"
    )
    results = sojourn.compare(scenario, ["codel", "drr"])
    print(results)

`run` takes a scenario as a `Scenario`, a dict or the path of a TOML file. `study` takes the name of a study or its file: `list_studies()`
lists them. Results are tables that polars, pandas and Altair take: `polars.DataFrame(results.queues)`.
"""

from __future__ import annotations

from sojourn._core import PROFILE, __version__
from sojourn.catalogue import (
    Listing,
    list_congestion,
    list_figures,
    list_flows,
    list_metrics,
    list_queues,
    list_sources,
    list_studies,
    list_topologies,
    schema,
    show,
)
from sojourn.checks import Check, Property, check
from sojourn.errors import (
    BadValueError,
    ContradictionError,
    FileSyntaxError,
    ForeignResultsError,
    MissingKeyError,
    MissingLibraryError,
    PluginError,
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
    read,
    replay,
    rerun,
    run,
    study,
    trace_analyse,
)
from sojourn.scenario import Drawing, Scenario, chain, dumbbell, graph, load, parking_lot
from sojourn.table import Named, Table

__all__ = [
    "PROFILE",
    "BadValueError",
    "Check",
    "ContradictionError",
    "Drawing",
    "Figure",
    "FileSyntaxError",
    "ForeignResultsError",
    "Listing",
    "MissingKeyError",
    "MissingLibraryError",
    "Named",
    "PluginError",
    "Property",
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
    "check",
    "compare",
    "dumbbell",
    "graph",
    "list_congestion",
    "list_figures",
    "list_flows",
    "list_metrics",
    "list_queues",
    "list_sources",
    "list_studies",
    "list_topologies",
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
