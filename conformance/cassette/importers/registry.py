"""Importers of other distributions, loaded with the first file that is none of our kinds."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.recorders.batches import BATCHES
from conformance.cassette.importers.recorders.table import ROWS
from conformance.cassette.importers.session_logs import SESSION_LOGS
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Exchange

GROUP: Final = "conformance.importers"
_MOST_SHOWN: Final = 200  # characters of a stranger's error
_OWN_KINDS: Final = frozenset(
    {
        *("", "cassette", "curl-trace", "curl", "sse", "timed-chunks", "ndjson", "jsonl", "binary"),
        *(
            "ogx",
            "chunk-array",
            "json-answers",
            "wrapped-payloads",
            "mitmproxy",
            "text",
            "json",
            "messages",
            "otel",
            *(kind.name for kind in SESSION_LOGS),
            *(row.name for row in (*ROWS, *BATCHES)),
        ),
    }
)


class ImporterWarning(UserWarning):
    """An importer of another distribution is of no use; the check goes on without it."""


@cache
def load_importers() -> tuple[Importer, ...]:
    """Those of others by name."""
    found: list[Importer] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value)):
        try:
            found.append(_guarded_importer(entry, _checked_importer(entry.load(), found)))
        except (Exception, SystemExit) as err:  # noqa: BLE001  # a stranger's module may raise anything
            _warn_of_failure(entry, "cannot be loaded", err)
    return tuple(found)


def _checked_importer(importer: object, known: list[Importer]) -> Importer:
    if not isinstance(importer, Importer):
        raise TypeError(f"expected an Importer, got {type(importer).__name__}")
    if importer.name in _OWN_KINDS or any(importer.name == each.name for each in known):
        raise ValueError(f"its name {importer.name!r} is taken")
    return importer


def _guarded_importer(entry: EntryPoint, importer: Importer) -> Importer:
    """The importer of a stranger; its exceptions become our errors and warnings."""

    def recognises(file: ForeignFile) -> bool:
        try:
            return bool(importer.recognises(file))
        except CassetteError:
            return False
        except (Exception, SystemExit) as err:  # noqa: BLE001  # as above
            _warn_of_failure(entry, f"does not recognise {file.path}", err)
            return False

    def read(file: ForeignFile) -> ImportedRecording | None:
        try:
            found = importer.read(file)
            if found is not None:
                _check_types(found)
        except CassetteError:
            raise
        except (Exception, SystemExit) as err:
            raise file.error(f"{_importer_label(entry)} failed: {_one_line(err)}") from err
        return found

    return Importer(
        importer.name,
        tuple(importer.suffixes),
        recognises,
        read,
        importer.expects,
        importer.in_folders,
        importer.says,
        importer.trusted,
        importer.keeps,
    )


def _check_types(found: Any) -> None:
    """Refuses values that would break the judge later, where nothing names their distribution."""
    if not isinstance(found, ImportedRecording):
        raise TypeError(f"expected an ImportedRecording, got {type(found).__name__}")
    exchanges = found.cassette.exchanges
    if not all(isinstance(each, Exchange) for each in exchanges):
        raise TypeError("expected exchanges that are Exchange values")
    chunks: list[Any] = [chunk for each in exchanges for chunk in each.chunks]
    if not all(isinstance(each, Chunk) and isinstance(each.data, bytes) for each in chunks):
        raise TypeError("expected chunks of bytes")
    if found.layouts and len(found.layouts) != len(exchanges):
        raise ValueError("expected a layout for each exchange, or none")


def _warn_of_failure(entry: EntryPoint, what: str, err: BaseException) -> None:
    # Without a line of code after it the warning is one line on stderr.
    message = f"{_importer_label(entry)} {what}: {_one_line(err)}"
    warnings.warn_explicit(message, ImporterWarning, "conformance", 0)


def _importer_label(entry: EntryPoint) -> str:
    owner = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    return f"importer {entry.name!r} of {owner}"


def _one_line(err: BaseException) -> str:
    text = " ".join(f"{type(err).__name__}: {err}".split())
    return text[:_MOST_SHOWN]
