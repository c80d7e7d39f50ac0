"""Writes the table of docs/files.md: every kind of file that is read, of which recorder.

python -m tests.authoring.file_table
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.cassette.importers import Importer
from conformance.cassette.importers.bodies import ANSWER
from conformance.cassette.own_kinds import OWN

PAGE: Final = Path(__file__).parents[2] / "docs" / "files.md"
_HEAD: Final = (
    "| kind | names of files | what it is | `fidelity` of its bytes | also known |",
    "|---|---|---|---|---|",
)


def table() -> str:
    return "\n".join((*_HEAD, *map(_row, (*OWN, ANSWER)), ""))


def page(text: str) -> str:
    """The page with the table as it is now, in the place of the one that begins as it does."""
    before, _, rest = text.partition(_HEAD[0])
    lines = rest.splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if n and not line.startswith("|"))
    return before + table() + "".join(lines[end:])


def _row(kind: Importer) -> str:
    names = ", ".join(f"`{each}`" if each else "any name" for each in kind.suffixes)
    return f"| `{kind.name}` | {names} | {kind.says} | {kind.trusted} | {kind.keeps} |"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
