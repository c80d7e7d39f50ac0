r"""Whole answers in a JSON array: each is a separate exchange.

    [{"object": "chat.completion", ...}, {"object": "chat.completion", ...}]

Tests keep what parallel requests gave like this, and Text Generation Inference wraps a single
answer. Read as one array of chunks, whole answers would be events that no stream has.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.payloads import TextPart, array_elements
from conformance.cassette.positions import Layout, line_starts
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects.lone_event import is_whole_answer

_HEADERS: Final = (("content-type", "application/json"),)


def _holds_answers(file: ForeignFile) -> bool:
    if not file.head.lstrip().startswith(b"["):
        return False
    try:
        values = file.json
    except CassetteError:
        return False
    return bool(values) and all(is_whole_answer(each, file.dialect) for each in values)


def _read_answers(file: ForeignFile) -> ImportedRecording | None:
    if not _holds_answers(file):
        return None
    parts = tuple(array_elements(file.data))
    response = Response(headers=_HEADERS)
    exchanges = tuple(
        Exchange(number, response=response, chunks=(Chunk(each.raw),), dialect=file.dialect)
        for number, each in enumerate(parts, 1)
    )
    header = Header(origin="imported", fidelity="bytes", dialect=file.dialect)
    layouts = tuple(partial(_layout, each) for each in parts)
    return ImportedRecording(Cassette(header, exchanges), layouts)


def _layout(part: TextPart) -> Layout:
    """Where the lines of an answer are in the file."""
    found = line_starts(part.raw)
    return Layout(part.line, found.offsets, tuple(part.line - 1 + each for each in found.lines))


ANSWERS: Final = Importer(
    "json-answers",
    (".json", ""),
    _holds_answers,
    _read_answers,
    says="a JSON array of whole answers, each an exchange",
    trusted="`bytes`",
    keeps="nothing",
)
