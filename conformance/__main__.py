"""The command, also as `python -m conformance`: ends quietly wherever it is interrupted."""

from __future__ import annotations

import gc
import signal
import sys
from typing import Final

_INTERRUPTED: Final = 130
# Objects to come before garbage is looked for among them: more than one short check makes.
_GARBAGE: Final = 200_000


def main() -> int:
    """Run the command line. Ctrl-C at any moment, while modules are imported too, is one word."""
    # Modules and compiled rules stay, and one recording leaves little: looking takes a tenth.
    gc.set_threshold(_GARBAGE)
    try:
        from conformance.cli import main as run  # noqa: PLC0415  # this takes most of the start

        return run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever presses twice means the same
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED
    finally:
        gc.freeze()  # the process ends: taking rules apart once more took a quarter of a short call


if __name__ == "__main__":
    sys.exit(main())
