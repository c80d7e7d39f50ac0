"""Calls of a model in logs of inspect_ai: each sample has its events, some of which are calls.

A log is a document of JSON, or an archive (`.eval`) with a document for each sample. A long text
appears once, in `attachments` of its sample, and what requests repeat of a conversation in a pool,
`events_data.calls`: a call states ranges of it (inspect_ai, `log/_condense.py`, `event/_pool.py`).

Rule 1: a call without an answer is left out: it failed before one came, or was no call.
Rule 2: what calls refer to is put back, at most `MAX_IMPORT` bytes of it in a file.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from struct import Struct
from typing import IO, Any, Final

import msgspec

from conformance.cassette.importers import MAX_IMPORT, ForeignFile
from conformance.cassette.importers.recorders.entry import Entry
from conformance.cassette.importers.recorders.row import Recorder
from conformance.cassette.payloads import TextPart, array_elements
from conformance.cassette.source import zstd_module
from conformance.core.errors import CassetteError
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.core.lines import BOM

_ARCHIVE: Final = b"PK\x03\x04"
_SAMPLES: Final = "samples/"
_REFERENCES: Final = ("attachment://", "tc://")
_TOO_LARGE: Final = f"more than {MAX_IMPORT:,} bytes unpacked"
_BROKEN: Final = (LookupError, ValueError, RecursionError, msgspec.DecodeError)
_ZSTD: Final = 93  # of the ZIP specification; zipfile knows it since Python 3.14
_LENGTHS: Final = Struct("<26xHH")  # of the name and the extra field, in a local header


class SampleTexts:
    """What the calls of one sample refer to; `left` is how much of it may still be put back."""

    def __init__(self, sample: Mapping[str, Any], left: int) -> None:
        texts, data = sample.get("attachments"), sample.get("events_data")
        pool = data.get("calls") if isinstance(data, dict) else None
        self._texts = texts if isinstance(texts, dict) else {}
        self._pool = pool if isinstance(pool, list) else []
        self.left = left

    def call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Request and answer of a call, in full. Raises ValueError where they are too large."""
        request, ranges = call.get("request"), call.get("call_refs")
        if isinstance(request, dict) and isinstance(ranges, list):
            held = [each for pair in ranges for each in self._range(pair)]
            request = {**request, str(call.get("call_key") or "messages"): held}
        return {"request": self._full(request), "response": self._full(call.get("response"))}

    def _range(self, pair: Any) -> list[Any]:
        begin, end = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
        if not (isinstance(begin, int) and isinstance(end, int) and 0 <= begin <= end):
            raise ValueError("it names no range of the calls")
        found = self._pool[begin:end]
        self._take(sum(map(len, map(msgspec.json.encode, found))))
        return found

    def _full(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._full(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._full(each) for each in value]
        if isinstance(value, str) and value.startswith(_REFERENCES):
            found = self._texts.get(value.partition("://")[2])
            if isinstance(found, str):
                self._take(len(found))
                return found
        return value

    def _take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValueError(f"what it refers to is {_TOO_LARGE}")


def inspect_entries(file: ForeignFile, _row: Recorder) -> Iterator[Entry]:
    """The calls of all samples, in the order of the log."""
    left = MAX_IMPORT
    for sample in _samples(file):
        if isinstance(sample, str):
            yield Entry({}, fault=sample)
            continue
        try:
            value = decode_json(sample.raw.decode("utf-8", "replace"))
            events = list(array_elements(sample.raw, "events"))
        except _BROKEN:
            yield Entry({}, sample.line, fault="a sample without events of JSON")
            continue
        texts = SampleTexts(value if isinstance(value, dict) else {}, left)
        for event in events:
            yield from _call_entry(TextPart(sample.line + event.line - 1, event.raw), texts)
        left = texts.left


def _call_entry(event: TextPart, texts: SampleTexts) -> Iterator[Entry]:
    """The call that an event is, if it is one with an answer (rule 1)."""
    if b'"model"' not in event.raw:
        return
    value = decode_json(event.raw.decode("utf-8", "replace"))
    call = value.get("call") if isinstance(value, dict) else None
    if value is NOT_JSON or not isinstance(call, dict) or value.get("event") != "model":
        return
    if isinstance(call.get("response"), dict):
        try:
            yield Entry(texts.call(call), event.line)
        except ValueError as err:
            yield Entry({}, event.line, fault=str(err))


def _samples(file: ForeignFile) -> Iterator[TextPart | str]:
    """The documents of samples, or why one cannot be read."""
    if not file.data.startswith(_ARCHIVE):
        try:
            yield from array_elements(file.data.removeprefix(BOM), "samples")
        except _BROKEN:
            return
        return
    try:
        archive = zipfile.ZipFile(BytesIO(file.data))
    except (zipfile.BadZipFile, ValueError, OSError) as err:
        raise file.error(f"broken archive: {err}") from err
    left = MAX_IMPORT
    for member in archive.infolist():
        if not member.filename.startswith(_SAMPLES):
            continue
        try:
            with _opened(file, archive, member) as opened:
                data = opened.read(left + 1)
        except CassetteError:
            raise
        except Exception as err:  # noqa: BLE001  # zipfile, zlib and zstd raise what they like
            yield f"{member.filename[:80]} cannot be unpacked: {err}"
            continue
        if len(data) > left:
            yield f"{member.filename[:80]} and what is before it are {_TOO_LARGE}"
            return
        left -= len(data)
        yield TextPart(1, data)


def _opened(file: ForeignFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.compress_type != _ZSTD:
        return archive.open(member)
    name, extra = _LENGTHS.unpack_from(file.data, member.header_offset)
    start = member.header_offset + _LENGTHS.size + name + extra
    packed = BytesIO(file.data[start : start + member.compress_size])
    opened: IO[bytes] = zstd_module(file.path).open(packed, "rb")
    return opened
