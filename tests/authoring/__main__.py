"""Writes every shipped cassette: `python -m tests.authoring [FOLDER]`, default `cassettes`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.authoring.catalogue import good, mutants
from tests.authoring.draft import RECORDED, SUFFIX, write


def main(folder: Path) -> None:
    """Writes all cassettes and removes those of the folder that nobody writes any more.

    What was recorded from a live server is left alone (`tests/reference/record.py` writes it).
    """
    written = {write(draft, folder) for draft in (*good(), *mutants())}
    for stale in set(folder.rglob(f"*{SUFFIX}")) - written:
        if not stale.name.startswith(RECORDED):
            stale.unlink()
    sys.stdout.write(f"{len(written)} cassettes in {folder}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "cassettes"))
