"""Describes a file that is not the answer of a model, by its bytes alone.

Users who save a server's output also save its error pages, and need to know that before anything
is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, Final

from conformance.core.json_values import NOT_JSON, decode_json, value_at
from conformance.core.lines import BOM

_LOOKED_AT: Final = 65_536  # bytes
_LONGEST: Final = 120  # characters of a quotation
_FIRST_BYTES: Final = (
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"\xfd7zXZ\x00", "packed by xz: unpack it first"),
    (b"BZh", "packed by bzip2: unpack it first"),
    (b"\x1f\x8b\x08", "packed twice by gzip: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed twice by zstd: unpack it first"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF-", "a PDF document"),
    (b"SQLite format 3\x00", "a SQLite database"),
)
_TAR: Final = (257, b"ustar")
_HTML: Final = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|h1)\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"<(title|h1)[^>]{0,200}>([^<]{1,400})</\1", re.IGNORECASE)
_DATA: Final = re.compile(rb"(?m)^data:[ ]?([^\r\n]*)")
_ERRORS: Final = ("error", "errors", "detail", "message", "fault")
_WORDS: Final = ("message", "detail", "reason", "msg", "error_description", "title")
_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")


def described_content(data: bytes) -> str | None:
    """A description of bytes that are certainly not an answer: `an HTML page: 502 ...`."""
    begun = data[:_LOOKED_AT].removeprefix(BOM)
    for first, description in _FIRST_BYTES:
        if begun.startswith(first):
            return description
    at, mark = _TAR
    if begun[at : at + len(mark)] == mark:
        return "a tar archive: unpack it first"
    head = begun.lstrip()
    if head.startswith(b"<"):
        return _markup_kind(head)
    return _error_answer(data, head) or _text_kind(head)


def _markup_kind(head: bytes) -> str | None:
    text = head.decode("utf-8", "replace")
    if _HTML.match(head):
        title = _TITLE.search(text)
        return f"an HTML page: {_shortened(unescape(title[2]))}" if title else "an HTML page"
    return "an XML document" if head.startswith(b"<?xml") else None


def _error_answer(data: bytes, head: bytes) -> str | None:
    """The words of an error that came in the place of an answer: a body, or the first event."""
    value = _first_value(data, head)
    if not isinstance(value, dict):
        return None
    words = next(_error_words(value), None)
    return f"an error answer: {words}" if words else None


def _first_value(data: bytes, head: bytes) -> Any:
    if head.startswith((b"{", b"[")):
        value = decode_json(data.decode("utf-8", "replace"))
        return value[0] if isinstance(value, list) and value else value
    event = _DATA.search(head) if head.startswith(_FIELDS) else None
    return NOT_JSON if event is None else decode_json(event[1].decode("utf-8", "replace"))


def _error_words(value: dict[str, Any]) -> Iterator[str]:
    for key in _ERRORS:
        found = value.get(key)
        found = found[0] if isinstance(found, list) and found else found
        if isinstance(found, str) and found.strip():
            yield _shortened(found)
        elif isinstance(found, dict):
            texts = (value_at(found, word) for word in _WORDS)
            yield from (
                _shortened(text) for text in texts if isinstance(text, str) and text.strip()
            )


def _text_kind(head: bytes) -> str | None:
    """Text that cannot be a stream; None if it may be one, or is not text."""
    if not head or head.startswith((b"{", b"[", *_FIELDS)) or b"\x00" in head:
        return None
    try:
        line = head.split(b"\n", 1)[0][:1024].decode("utf-8")
    except UnicodeDecodeError:
        return None
    return f"text, and no stream: {_shortened(line)!r}"


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
