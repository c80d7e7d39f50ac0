"""Bytes and suites in, verdicts and findings out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from conformance.judging.checker import YAML_SUFFIXES, Checker
from conformance.judging.exchange_input import GivenChunk
from conformance.judging.result import Finding, Report, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.suites import load_suites
from conformance.recordings.check import check_paths, check_recording
from conformance.recordings.choices import CheckChoices

__all__ = [
    "CheckChoices",
    "Checker",
    "Finding",
    "Report",
    "Rulebook",
    "StreamResult",
    "check_cassette",
    "check_chunks",
    "check_paths",
    "check_recording",
    "load_suites",
]


def check_chunks(
    chunks: Iterable[GivenChunk],
    *,
    dialect: str,
    profile: str | None = None,
    request: Mapping[str, Any] | None = None,
    keep: bool = False,
    suites: Sequence[str] = (),
) -> Report:
    """Judges one response body as it arrives, in bounded memory.

    `chunks` are the bytes of an event stream or of a JSON body, `request` is the decoded JSON
    that was asked. With `keep` the report has `events`. Raises UsageError for unknown names.
    Files of the user's own are read at every call: who judges many streams by them holds a
    `Checker`.
    """
    own = bool(suites) or (profile or "").endswith(YAML_SUFFIXES)
    checker = (
        Checker(dialect, profile, suites=suites) if own else _shipped_checker(dialect, profile)
    )
    return Report((checker.check(chunks, request=request, keep=keep),))


@lru_cache(maxsize=64)
def _shipped_checker(dialect: str, profile: str | None) -> Checker:
    return Checker(dialect, profile)


def check_cassette(
    path: Path | str,
    *,
    dialect: str | None = None,
    profile: str | None = None,
    suites: Sequence[str] = (),
    folders: Sequence[Path] = (),
) -> Report:
    """Judges every exchange of one recording. Raises CassetteError where it cannot be read."""
    return check_paths([path], dialect=dialect, profile=profile, suites=suites, folders=folders)
