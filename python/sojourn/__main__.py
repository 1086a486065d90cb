"""The command `sojourn`, as the wheel installs it: the same function as the plain binary, plus figure files."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command with the arguments of the process."""
    # As in any other command: Ctrl-C and a closed pipe end it, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)

    # Start-up counts: only the engine is imported, not the package's face.
    from sojourn import _core

    return _core.main(sys.argv)


if __name__ == "__main__":
    sys.exit(main())
