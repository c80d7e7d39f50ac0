"""The command, also as `python -m conformance`: ends quietly wherever it is interrupted."""

from __future__ import annotations

import signal
import sys
from typing import Final

_INTERRUPTED: Final = 130


def main() -> int:
    """Run the command line. Ctrl-C at any moment, while modules are imported too, is one word."""
    try:
        from conformance.cli import main as run  # noqa: PLC0415  # this takes most of the start

        return run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever presses twice means the same
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
