"""Runs a part of the reference: python -m conformance.reference server | client ..."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

_EXTRA = 'pip install "reasoning-conformance[reference]"'


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the part; 2 where a package is missing that it needs."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__)
    parser.add_argument("part", choices=("server", "client"))
    parser.add_argument("options", nargs=argparse.REMAINDER, help="of the part; see PART --help")
    given = parser.parse_args(arguments)
    try:
        code: int = import_module(f".{given.part}.__main__", __package__).main(given.options)
    except ModuleNotFoundError as err:
        sys.stderr.write(f"error: the {given.part} needs {err.name}; {_EXTRA}\n")
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
