"""Every kind of file that holds recorded streams, in the order in which they are tried.

Kinds with characteristic first bytes come first, then those known by name; one JSON value is an
answer if no other kind takes it. Rows of `conformance.yaml` and kinds of other distributions come
after ours, and are loaded only then.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec.structs import replace

from conformance.cassette.content import described_content
from conformance.cassette.importers import (
    ForeignFile,
    ImportedRecording,
    Importer,
    NothingJudgedError,
)
from conformance.cassette.importers.answer_lists import ANSWERS
from conformance.cassette.importers.bodies import ANSWER, EVENTS, LINES, MESSAGES, PAYLOADS, TEXT
from conformance.cassette.importers.chunk_lists import ARRAY, TIMED, WRAPPED
from conformance.cassette.importers.curl_head import IMPORTER as CURL_HEAD
from conformance.cassette.importers.curl_trace import IMPORTER as CURL_TRACE
from conformance.cassette.importers.message_lines import IMPORTER as MESSAGE_LINES
from conformance.cassette.importers.mitmproxy import IMPORTER as MITMPROXY
from conformance.cassette.importers.ogx import IMPORTER as OGX
from conformance.cassette.importers.recorders.batches import BATCHES
from conformance.cassette.importers.recorders.reading import importer_of
from conformance.cassette.importers.recorders.table import ROWS
from conformance.cassette.importers.session_logs import SESSION_LOGS
from conformance.cassette.importers.telemetry import IMPORTER as TELEMETRY
from conformance.cassette.read import read
from conformance.core.errors import CassetteError

_HEADER: Final = b'{"cassette":'
_CERTAIN: Final = (".sse", ".ndjson", ".eventstream", ".eventstream.bin")


def _is_cassette(file: ForeignFile) -> bool:
    """By its name, or by its first line where the name leaves it open. Raises CassetteError."""
    if is_named(file.name):
        return file.name.endswith(CASSETTE.suffixes[0])
    return file.head.lstrip().replace(b" ", b"").startswith(_HEADER)


def _read_cassette(file: ForeignFile) -> ImportedRecording | None:
    return ImportedRecording(read(file.path)) if _is_cassette(file) else None


CASSETTE: Final = Importer(
    "cassette",
    (".cassette.jsonl", ""),
    _is_cassette,
    _read_cassette,
    says="a cassette: exchanges with requests, chunks and times, exact to the byte",
    trusted="as the header says",
    keeps="request, head, times",
)
RECORDERS: Final = tuple(map(importer_of, ROWS))
"""Files of other people's recorders, each by its row."""
_RESULTS: Final = tuple(map(importer_of, BATCHES))  # before lines that may be payloads of a stream
OWN: Final = (
    *(
        CASSETTE,
        CURL_TRACE,
        CURL_HEAD,
        EVENTS,
        *SESSION_LOGS,
        *_RESULTS,
        TELEMETRY,
        MESSAGE_LINES,
        TIMED,
        WRAPPED,
        LINES,
        PAYLOADS,
        MESSAGES,
    ),
    *(OGX, *RECORDERS, ANSWERS, ARRAY, MITMPROXY, TEXT),
)
"""Our own kinds except the last resort."""


def is_named(name: str) -> bool:
    """Whether a name (in lower case, without `.gz`) says by itself that a file holds streams."""
    return name.endswith((CASSETTE.suffixes[0], *_CERTAIN))


def read_file(file: ForeignFile) -> ImportedRecording:
    """What the first kind makes of the file that takes it. Raises CassetteError.

    Where none takes it, that is the fault of the first that called it broken. A recorder of ours
    that finds nothing to judge leaves the file to the rows of users, who know its shape better.
    """
    fault: CassetteError | None = None
    _ = file.data  # once, and its first bytes with it
    for kind in _candidate_kinds(file):
        if kind is ANSWER and fault is not None:
            break  # it would take broken files, too
        if kind in OWN and isinstance(fault, NothingJudgedError):
            continue
        try:
            found = kind.read(file)
        except CassetteError as err:
            if kind in OWN and isinstance(err, NothingJudgedError):
                fault = err
            elif kind in OWN and _is_of(kind, file):
                raise  # any later kind would know less about it
            else:
                fault = fault or err
            continue
        if found is not None:
            return replace(found, kind=kind.name)
    raise fault or _unknown_kind(file)


class Recognition(Enum):
    """What a look into a file says of it."""

    NO = "no recording"
    OF_NO_API = "a recording without an answer of an API that is judged"
    YES = "a recording"


def known_as(file: ForeignFile) -> Recognition:
    """What the kinds that are looked for in folders make of a file. Raises nothing.

    A file on which our own code fails is taken for a recording: who reads it says so.
    """
    found = Recognition.NO
    try:
        for kind in _candidate_kinds(file, in_folders=True):
            if kind.in_folders:
                try:
                    if kind.recognises(file):
                        return Recognition.YES
                except NothingJudgedError:
                    found = Recognition.OF_NO_API
    except CassetteError:
        return found
    except Exception:  # noqa: BLE001  # as above
        return Recognition.YES
    return found


def _is_of(kind: Importer, file: ForeignFile) -> bool:
    try:
        return kind.recognises(file)
    except NothingJudgedError:
        return True


def all_kinds() -> tuple[Importer, ...]:
    """Ours, then those of other distributions."""
    from conformance.cassette.importers.registry import load_importers  # noqa: PLC0415  # 20 ms that few files need

    return (*OWN, ANSWER, *_own_rows(), *load_importers())


def _candidate_kinds(file: ForeignFile, *, in_folders: bool = False) -> Iterator[Importer]:
    yield from (kind for kind in OWN if kind.may_read(file))
    if in_folders:
        yield ANSWER  # loading foreign kinds costs 20 ms, so only if no other kind knows the file
    from conformance.cassette.importers.registry import load_importers  # noqa: PLC0415  # as above

    others = (*_own_rows(), *load_importers())
    yield from (kind for kind in others if kind.may_read(file))
    yield ANSWER


def _own_rows() -> tuple[Importer, ...]:
    from conformance.cassette.importers.recorders.own_rows import own_importers  # noqa: PLC0415  # YAML

    return own_importers()


def _unknown_kind(file: ForeignFile) -> CassetteError:
    of_name = [kind for kind in all_kinds() if file.name.endswith(_own_suffixes(kind))]
    if expected := " or ".join(kind.expects for kind in of_name if kind.expects):
        return file.error(f"expected {expected}", line=1)
    if (found := described_content(file.data)) is not None:
        error = file.error(f"no answer of a model, but {found}")
        error.hint = "conformance list files says what is read"
        return error
    names = dict.fromkeys(suffix for kind in all_kinds() for suffix in _own_suffixes(kind))
    known = ", ".join(names)
    unknown = file.error(f"unknown kind of recording, expected {known}")
    unknown.hint = "conformance list files says what is read"
    return unknown


def _own_suffixes(kind: Importer) -> tuple[str, ...]:
    return tuple(suffix for suffix in kind.suffixes if suffix)
