"""Which rules and profiles judged: by name, and by a digest of their files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.core.errors import ConformanceError
from conformance.judging.result import JudgedCall, Report, StreamResult
from conformance.profiles.lookup import find


def call_object(report: Report) -> dict[str, Any] | None:
    """The call that made the report; None if unknown."""
    call = report.call
    return None if call is None else _call_fields(call, report)


def _call_fields(call: JudgedCall, report: Report) -> dict[str, Any]:
    judged = {rule.rpartition("/")[0] for stream in report.streams for rule in stream.verdicts}
    suites = ((name, file) for name, file in sorted(call.suites.items()) if name in judged)
    return {
        "tool": {"name": "reasoning-conformance", "version": __version__},
        "started": call.started,
        "seconds": call.seconds,
        "command": call.command,
        "target": call.target or None,
        "rules": {
            "as_of": call.rules_as_of,
            "suites": [{"id": name, "sha256": _files_digest([file])} for name, file in suites],
        },
        "profiles": list(_profile_objects(report.streams)),
    }


def _profile_objects(streams: Iterable[StreamResult]) -> Iterator[dict[str, Any]]:
    for dialect, name in sorted({(stream.dialect, stream.profile) for stream in streams}):
        try:
            files = find(name, dialect).file.split(" over ")
        except ConformanceError:  # it came from a file or folder of the user's
            files = []
        yield {"dialect": dialect, "name": name, "sha256": _files_digest(files)}


def _files_digest(files: Iterable[str]) -> str | None:
    """Of the files as they are now; None where one cannot be read."""
    digest = sha256()
    read = 0
    for file in files:
        try:
            digest.update(Path(file).read_bytes())
        except (OSError, ValueError):
            return None
        read += 1
    return digest.hexdigest() if read else None
