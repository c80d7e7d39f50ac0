"""Which files a user means: paths, patterns, folders, standard input, shipped recordings.

Rule 1: a path that is there is itself. A folder is searched for every file that is known by its
name or its first bytes; others are skipped, and who searches can count them.
Rule 2: `shipped:NAME` is a recording or a folder that ships with the package, and so is NAME where
no such path is there. Rule 3: `*`, `?` and `[` in a path that is not there make it a pattern.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from conformance.cassette.kinds import Recognition
from conformance.cassette.pipes import STDIN
from conformance.cassette.recording import is_named_recording, look_into
from conformance.cassette.source import plain_name
from conformance.core import shipped
from conformance.core.errors import CassetteError, HarnessError, Place, UsageError

MUTANTS: Final = "mutants"
SHIPPED: Final = "shipped:"
_SUFFIX: Final = ".cassette.jsonl"
_PATTERN: Final = frozenset("*?[")
_URLS: Final = ("http:/", "https:/")  # as a path has them
_MOST_FITTING: Final = 1_000_000
# Files that no program writes a stream into; they are neither looked at nor counted.
_OTHERS: Final = frozenset(
    {
        *(".md", ".rst", ".html", ".htm", ".css", ".js", ".mjs", ".ts", ".tsx", ".svg", ".png"),
        *(".jpg", ".jpeg", ".gif", ".pdf", ".webp", ".ico", ".woff2", ".py", ".pyc", ".pyi"),
        *(".sh", ".toml", ".cfg", ".ini", ".lock", ".go", ".rs", ".java", ".kt", ".c", ".h"),
        *(".cpp", ".ex", ".exs", ".rb", ".php", ".swift", ".cs", ".sql", ".xml", ".csv", ".whl"),
        *(".so", ".zip", ".tar", ".tgz"),
    }
)
_YAML: Final = (".yaml", ".yml")


class FoundFiles(NamedTuple):
    """Recordings, and the other files: of no known kind, or of APIs that are not judged."""

    recordings: tuple[Path, ...]
    unknown: tuple[Path, ...] = ()
    of_no_api: tuple[Path, ...] = ()
    searched: frozenset[Path] = frozenset()  # recordings that only their bytes made known


FileListener = Callable[[Path], None]


def _ignore_file(path: Path) -> None:
    """A search without a listener."""


def find_recordings(
    paths: Iterable[Path | str], on_file: FileListener = _ignore_file
) -> FoundFiles:
    """What users mean by these paths, in their order, without what was met before.

    `on_file` is called with each file that a search meets. Raises UsageError for a path that is not
    there, and CassetteError for a folder that cannot be searched.
    """
    found = [_found_at(named, on_file) for path in paths for named in named_paths(path)]
    return FoundFiles(
        tuple(path for each in found for path in each.recordings),
        tuple(path for each in found for path in each.unknown),
        tuple(path for each in found for path in each.of_no_api),
        frozenset().union(*(each.searched for each in found)),
    )


def named_paths(path: Path | str) -> list[Path]:
    """The files and folders that a path, pattern or shipped name stands for. Raises UsageError."""
    where, text = Path(path), str(path)
    if where == STDIN or (not text.startswith(SHIPPED) and os.path.lexists(where)):
        return [where]
    if text.startswith(SHIPPED):
        ours = _shipped_path(text.removeprefix(SHIPPED))
        if ours is None:
            hint = "conformance list cassettes names them"
            raise UsageError("no such recording ships", place=Place(text), hint=hint)
        return [ours]
    if not _PATTERN.isdisjoint(text):
        return _fitting_paths(text)
    ours = _shipped_path(text)
    if ours is None:
        if text.startswith(_URLS):
            message = "recordings are files; `conformance run --url` asks a server"
            raise UsageError(message, place=Place(text.replace("/", "//", 1)))
        raise UsageError("no such file or folder", place=Place(text))
    return [ours]


def named_path(path: Path | str) -> Path:
    """The file or folder that a path or shipped name stands for; a path that is not there stays.

    Raises UsageError for a `shipped:NAME` that does not ship.
    """
    where, text = Path(path), str(path)
    if text.startswith(SHIPPED):
        return named_paths(where)[0]
    ours = None if where == STDIN or os.path.lexists(where) else _shipped_path(text)
    return ours or where


def shipped_folders() -> Iterator[tuple[str, int]]:
    """The folders of shipped recordings, by name, and how many lie in each itself."""
    root = shipped.cassettes()
    held = Counter(path.parent for path in root.rglob(f"*{_SUFFIX}"))
    for folder, number in sorted(held.items()):
        yield folder.relative_to(root).as_posix(), number


def discover(folder: Path | str) -> tuple[Path, ...]:
    """The recordings below a folder, sorted; as `search_folder`."""
    return search_folder(folder).recordings


def search_folder(folder: Path | str, on_file: FileListener = _ignore_file) -> FoundFiles:
    """The recordings below a folder, sorted, and other files that may hold streams.

    Folders named `mutants` are skipped (their cassettes fail on purpose), unless that is what was
    asked for. Symbolic links are followed to files inside the folder only. In hidden folders only
    what is a recording by its name is found. Raises CassetteError.
    """
    root = Path(folder)
    if not root.is_dir():
        raise CassetteError("expected a folder", place=Place(str(root)))
    inside = root.resolve()
    named: list[Path] = []
    shown: dict[Recognition, list[Path]] = {each: [] for each in Recognition}
    for path, is_hidden in _files_below(root):
        on_file(path)
        if not _is_inside(path, inside):
            continue
        if is_named_recording(path):
            named.append(path)
        elif not is_hidden and not plain_name(path).endswith(tuple(_OTHERS)):
            shown[look_into(path)].append(path)
    unknown = (each for each in shown[Recognition.NO] if not plain_name(each).endswith(_YAML))
    return FoundFiles(
        tuple(sorted([*named, *shown[Recognition.YES]])),
        tuple(sorted(unknown)),
        tuple(sorted(shown[Recognition.OF_NO_API])),
        frozenset(shown[Recognition.YES]),
    )


def _found_at(path: Path, on_file: FileListener) -> FoundFiles:
    if not path.is_dir():
        return FoundFiles((path,))
    return search_folder(path, on_file)


def _fitting_paths(pattern: str) -> list[Path]:
    fitting = islice(glob.iglob(pattern, recursive=True), _MOST_FITTING)  # noqa: PTH207  # any root
    found = sorted(Path(each) for each in fitting)
    if not found:
        raise UsageError("no file fits", place=Place(pattern))
    return found


def _shipped_path(name: str) -> Path | None:
    """The shipped folder or recording of a name, with or without its suffix."""
    try:
        root = shipped.cassettes().resolve()
    except HarnessError:
        return None
    found = (root / each for each in (name, f"{name}{_SUFFIX}") if name.strip("/."))
    return next((each for each in found if each.exists() and _is_below(each, root)), None)


def _is_below(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root)


def _files_below(root: Path) -> Iterator[tuple[Path, bool]]:
    """Every file, and whether it or a folder above it is hidden."""
    for where, folders, names in os.walk(root):  # does not follow links to folders
        folders[:] = [name for name in folders if name != MUTANTS]
        above = Path(where).relative_to(root).parts
        is_hidden = any(part.startswith(".") for part in above)
        yield from ((Path(where, name), is_hidden or name.startswith(".")) for name in names)


def _is_inside(path: Path, root: Path) -> bool:
    if not path.is_file():
        return False
    return not path.is_symlink() or path.resolve().is_relative_to(root)
