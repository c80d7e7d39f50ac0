"""One report over many files, with those that were passed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from conformance.cassette.search import FoundFiles
from conformance.judging.result import Report, StreamResult

_MOST_SUFFIXES: Final = 5


def files_report(
    files: FoundFiles, found: Sequence[list[StreamResult] | str | None], notes: tuple[str, ...]
) -> Report:
    """What was judged, in the order of the files; None stands for one that is none of ours."""
    pairs = zip(files.recordings, found, strict=True)
    passed_over = (*files.passed_over, *(path for path, each in pairs if each is None))
    return Report(
        tuple(chain.from_iterable(each for each in found if isinstance(each, list))),
        tuple(each for each in found if isinstance(each, str)),
        (*notes, *((_note_of(passed_over),) if passed_over else ())),
        passed_over=tuple(str(path) for path in passed_over),
    )


def _note_of(passed_over: Sequence[Path]) -> str:
    kinds = Counter(path.suffix.lower() or "without a suffix" for path in passed_over)
    ordered = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
    most = ", ".join(f"{number} {kind}" for kind, number in ordered[:_MOST_SUFFIXES])
    more = ", ..." if len(kinds) > _MOST_SUFFIXES else ""
    files = "1 file was" if len(passed_over) == 1 else f"{len(passed_over)} files were"
    within = "it" if len(passed_over) == 1 else "them"
    return f"{files} passed over, for no recording is known in {within}: {most}{more}"
