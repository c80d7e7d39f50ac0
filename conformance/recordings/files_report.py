"""One report over many files, with those that were skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from conformance.cassette.search import FoundFiles
from conformance.judging.result import Report, StreamResult

_MOST_SUFFIXES: Final = 5
_UNKNOWN: Final = "no recording is known in"
_OF_NO_API: Final = "no answer of an API that is judged is in"


def files_report(
    files: FoundFiles, found: Sequence[list[StreamResult] | str | None], notes: tuple[str, ...]
) -> Report:
    """What was judged, in the order of the files; None stands for one that is none of ours."""
    pairs = zip(files.recordings, found, strict=True)
    of_no_api = (*files.of_no_api, *(path for path, each in pairs if each is None))
    skipped = ((files.unknown, _UNKNOWN), (of_no_api, _OF_NO_API))
    return Report(
        tuple(chain.from_iterable(each for each in found if isinstance(each, list))),
        tuple(each for each in found if isinstance(each, str)),
        (*notes, *(_note_of(paths, why) for paths, why in skipped if paths)),
        passed_over=tuple(str(path) for paths, _ in skipped for path in paths),
    )


def _note_of(skipped: Sequence[Path], why: str) -> str:
    kinds = Counter(path.suffix.lower() or "without a suffix" for path in skipped)
    ordered = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
    most = ", ".join(f"{number} {kind}" for kind, number in ordered[:_MOST_SUFFIXES])
    more = ", ..." if len(kinds) > _MOST_SUFFIXES else ""
    files = "1 file was" if len(skipped) == 1 else f"{len(skipped):,} files were"
    within = "it" if len(skipped) == 1 else "them"
    return f"{files} skipped: {why} {within}: {most}{more}"
