"""The command `sojourn`, as the wheel installs it: the same function as the plain binary, plus figure files."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn import _core


def main() -> int:
    """Runs the command with the arguments of the process."""
    # As in any other command: Ctrl-C and a closed pipe end it, without a traceback. Only `vectors` has to live on when a pipe is
    # closed: the implementations that it asks may end before they have read everything.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE") and sys.argv[1:2] != ["vectors"]:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)

    from sojourn import _core

    # Results alone go to standard output. What a class of the user's prints does not get between them.
    sys.stdout = sys.stderr
    return _core.main(sys.argv, _draw, _cluster)


def _draw(
    results: str | os.PathLike[str], formats: list[str], width: float | None = None
) -> list[str]:
    """Draws the figures of a result directory, or writes its tables as a spreadsheet; the command calls it when `--images` or `--xlsx` is given."""
    # What draws them takes a while to import, and most commands draw nothing.
    from sojourn import figures, spreadsheet

    if formats == ["xlsx"]:
        return [str(spreadsheet.write(results))]

    return [str(file) for file in figures.draw(results, formats, width)]


def _cluster(plan: _core.Plan, address: str, workers: int | None) -> None:
    """Has a Dask cluster make the runs of a study; the command calls it when `--dask` is given."""
    from sojourn import dask

    dask.command(plan, address, workers)


if __name__ == "__main__":
    sys.exit(main())
