"""The rows of a board: summaries in a folder, each held against the recordings next to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from conformance.board.summary import KINDS, SUFFIX, RunSummary, read_summary
from conformance.board.verifying import held_against, recordings_folder
from conformance.core.errors import Place, UsageError

_MOST_ROWS: Final = 1000
State = Literal["agrees", "differs", "other rules", "not here"]


class BoardRow(Struct, frozen=True):
    """One saved run on the board.

    `summary` is what its recordings give, `state` and `lines` say how far the file agrees; where
    they lie elsewhere nothing was judged, and it is the file. `folder` holds them, by its name
    next to the page.
    `before` is the run of the same target that came last before this one.
    """

    summary: RunSummary
    state: State
    folder: str
    lines: tuple[str, ...] = ()
    before: RunSummary | None = None

    @property
    def anchor(self) -> str:
        """What an address of the row ends with; of nothing but what a name may have."""
        about = self.summary.run
        return "-".join(filter(None, (about.kind, about.name, about.version, about.date)))


def read_rows(folder: Path) -> list[BoardRow]:
    """Every run of a board: by kind and name, the newest of a target first.

    Raises UsageError for a folder without any, SpecError for what is not a summary.
    """
    files = sorted(folder.glob(f"*{SUFFIX}"))[: _MOST_ROWS + 1]
    if not 0 < len(files) <= _MOST_ROWS:
        message = f"expected 1 to {_MOST_ROWS} files *{SUFFIX}, found {len(files)}"
        raise UsageError(message, place=Place(str(folder)))
    found = sorted(((file, read_summary(file)) for file in files), key=lambda each: _age(each[1]))
    rows: list[BoardRow] = []
    last: dict[tuple[str, str], RunSummary] = {}
    for file, summary in found:
        target = summary.run.kind, summary.run.name
        rows.append(_row(file, summary, last.get(target)))
        last[target] = rows[-1].summary
    rows.reverse()
    return sorted(rows, key=lambda row: _target_order(row.summary))


def newest_rows(rows: Sequence[BoardRow]) -> list[BoardRow]:
    found = {(row.summary.run.kind, row.summary.run.name): row for row in reversed(rows)}
    return [row for row in rows if row in found.values()]


def _age(summary: RunSummary) -> tuple[str, str]:
    return summary.run.date, summary.run.version


def _target_order(summary: RunSummary) -> tuple[int, str]:
    return KINDS.index(summary.run.kind), summary.run.name.lower()


def _row(file: Path, summary: RunSummary, before: RunSummary | None) -> BoardRow:
    folder = recordings_folder(file)
    if file.is_symlink() or folder.is_symlink():
        raise UsageError("a board holds files, not links to others", place=Place(str(file)))
    if not folder.is_dir():
        return BoardRow(summary, "not here", "", before=before)
    lines, found = held_against(summary, folder)
    return BoardRow(found or summary, _state_of(lines), folder.name, tuple(lines), before)


def _state_of(lines: Sequence[str]) -> State:
    if not lines:
        return "agrees"
    if any(line.startswith("recording ") for line in lines):
        return "differs"
    by_others = any(line.startswith(("rules: ", "tool: ")) for line in lines)
    return "other rules" if by_others else "differs"
