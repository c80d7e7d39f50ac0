"""Which shipped cassettes show a property of all streams that does not depend on a rule."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

from conformance.core.shipped import cassettes

_ONE_IN = 6


def of_every_kind() -> list[Path]:
    """Every cassette that conforms, and a sixth of the mutants.

    The names decide, so a new mutant adds itself or nothing. Every mutant is judged elsewhere:
    here two that differ in one edit of one base would show the same twice.
    """
    paths = sorted(cassettes().rglob("*.cassette.jsonl"))
    return [path for path in paths if "mutants" not in path.parts or _is_drawn(path)]


def of_every_folder(number: int = 0) -> list[Path]:
    """One cassette of each folder, or the next: all dialects and bodies, mutants of each suite."""
    every = cassettes().rglob("*.cassette.jsonl")
    folders = sorted({path.parent for path in every})
    ordered = (sorted(each.glob("*.cassette.jsonl")) for each in folders)
    return [path for paths in ordered for path in paths[number : number + 1]]


def _is_drawn(path: Path) -> bool:
    return crc32(path.relative_to(cassettes()).as_posix().encode()) % _ONE_IN == 0
