"""Bytes and suites in, verdicts and findings out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.core.events import Chunk, Exchange, Request
from conformance.dialects import get
from conformance.judging.fast.running import check_wire
from conformance.judging.result import Finding, Report, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.suites import load_suites
from conformance.judging.view import JudgeSetting
from conformance.recordings.check import (
    CheckChoices,
    check_paths,
    check_recording,
    choose_profile,
)

__all__ = [
    "CheckChoices",
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
    chunks: Iterable[bytes],
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
    """
    rulebook = Rulebook.load(suites)
    spoken = get(dialect)
    chosen, named = choose_profile(spoken, CheckChoices(profile=profile), None)
    setting = JudgeSetting(spoken, chosen, rulebook.bound(chosen), named=named, keep=keep)
    asked = Request(json=dict(request)) if request is not None else None
    exchange = Exchange(request=asked)
    return Report((check_wire(setting, exchange, map(Chunk, chunks), "eof").result,))


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
