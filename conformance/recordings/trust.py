"""Which recordings the user trusts: what they state of themselves then counts, unasked.

Rule 1: trusted is what lies below a path that the user names (`--trust`, `trust:` in the file
`conformance.yaml` of the folder where the user is), and what ships with the package.
Rule 2: links are followed first: it counts where a file really lies.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from conformance.cassette.pipes import is_pipe
from conformance.core import shipped
from conformance.core.errors import Place, UsageError
from conformance.rules.project_document import project_entries


def is_trusted(path: Path, trusted: Iterable[Path]) -> bool:
    """Whether a file ships with the package, or lies at or below one of these resolved paths.

    What came through a pipe lies nowhere.
    """
    if is_pipe(path):
        return False
    where = path.resolve()
    return any(map(where.is_relative_to, (_shipped_folder(), *trusted)))


def trusted_paths(named: Iterable[Path | str], folder: Path = Path()) -> tuple[Path, ...]:
    """The paths, resolved; relative ones lie below `folder`.

    Raises UsageError for one that is not there.
    """
    found = tuple(folder / each for each in named)
    for path in found:
        if not path.exists():
            raise UsageError("trusted, but no such file or folder", place=Place(str(path)))
    return tuple(path.resolve() for path in found)


def configured_trust(folder: Path) -> tuple[Path, ...]:
    """What `conformance.yaml` in a folder names under `trust`; nothing where there is no such file.

    Raises SpecError for a mistake in it, UsageError for a path that is not there.
    """
    node = project_entries(folder).get("trust")
    if node is None:
        return ()
    nodes = node.sequence() if node.kind == "sequence" else (node,)
    return trusted_paths((each.string() for each in nodes), folder)


@cache
def _shipped_folder() -> Path:
    return shipped.cassettes().resolve()
