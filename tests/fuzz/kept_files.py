"""Recordings of other programs to edit: files of every importer, each read, located and judged."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from conformance.cassette import open_recording
from conformance.core.errors import UsageError
from conformance.core.shipped import cassettes
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from tests.cassette.recorder_files import FILES as RECORDED
from tests.cassette.saved_files import (
    CHUNK,
    LAST,
    SAVED,
    archive,
    as_event,
    entry,
    netstring,
    timed,
)
from tests.rulebooks import rulebook

NamedFile = tuple[str, bytes]
_STARTS: Final = 1718000000.5
_EVENTS: Final = as_event(CHUNK) + as_event(LAST) + as_event("[DONE]")
_URL: Final = "http://h/v1/chat/completions"
_ASKED: Final = {"model": "m", "messages": [{"role": "user", "content": "2 + 2?"}]}
_OGX: Final[dict[str, Any]] = {
    "test_id": "a.py::t",
    "request": {"method": "POST", "url": _URL, "endpoint": "/v1/chat/completions", "body": _ASKED},
    "response": {
        "body": [{"__type__": "C", "__data__": CHUNK}, {"__type__": "C", "__data__": LAST}],
        "is_streaming": True,
    },
}
_FLOW: Final[dict[str, Any]] = {
    "type": "http",
    "request": {"method": b"POST", "path": b"/v1/chat/completions", "headers": [], "content": b""},
    "response": {
        "status_code": 200,
        "http_version": b"HTTP/1.1",
        "headers": [[b"content-type", b"text/event-stream"]],
        "content": _EVENTS.encode(),
    },
}
_ANSWER: Final[dict[str, Any]] = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}],
}
_BODIES: Final = {
    "sse": (".sse", ("openai.chat", "openai.responses", "anthropic.messages", "ag-ui")),
    "ndjson": (".ndjson", ("ollama.chat",)),
    "binary": (".eventstream", ("bedrock.converse",)),
    "text": (".txt", ("harmony",)),
    "json": (".json", ("gemini.generate", "openai.chat", "openai.responses")),
}
"""Kinds that keep a body as it came: the ending of their names, the dialects of their bodies."""
_LARGEST: Final = 6_000  # bytes of a body


def _files(name: str, *contents: str | bytes) -> list[NamedFile]:
    return [(name, each if isinstance(each, bytes) else each.encode()) for each in contents]


def _saved(name: str, pattern: str) -> list[NamedFile]:
    return [(name, path.read_bytes()) for path in sorted(SAVED.glob(pattern))]


def _packed_entry() -> str:
    packed = base64.b64encode(gzip.compress(_EVENTS.encode(), mtime=0)).decode()
    return archive(entry(_URL, packed, encoding="base64"), entry("http://h/", "<p>"))


@cache
def _recorded() -> list[tuple[str, str, bytes]]:
    """Dialect, framing and body of small shipped answers."""
    paths = sorted(cassettes().rglob("*.cassette.jsonl"))
    exchanges = [each for path in paths for each in open_recording(path).exchanges]
    return [
        (each.dialect or "", "json" if each.body.startswith((b"{", b"[")) else "", each.body)
        for each in exchanges
        if 0 < len(each.body) <= _LARGEST
    ]


def _bodies(kind: str) -> list[NamedFile]:
    ending, dialects = _BODIES[kind]
    found = [
        (f"a{ending}", body)
        for dialect, form, body in _recorded()
        if dialect in dialects and (form == "json") == (kind in ("json", "ndjson"))
    ]
    assert found, kind
    return found


def kept_files(kind: str) -> list[NamedFile]:
    """Files of one importer, by its name."""
    stamps = [_STARTS, _STARTS + 1, _STARTS + 2]
    numbered = timed([1, 2, 3], json.dumps, "t_ms")
    objects = timed(stamps, lambda chunk: chunk).rpartition('{"ts"')[0]
    texts = [as_event(CHUNK), as_event("[DONE]")]
    payloads = [CHUNK, LAST]
    made: dict[str, list[NamedFile]] = {
        "curl-trace": _saved("a.trace", "trace*.txt"),
        "curl": _saved("a.http", "curl-i*.txt"),
        "timed-chunks": [
            *_files("a.jsonl", timed(stamps, as_event), numbered, objects),
            *_files("a.json", f"[{timed(stamps, as_event).strip().replace(chr(10), ',')}]"),
        ],
        "jsonl": _files("a.jsonl", *("\n".join(map(json.dumps, each)) for each in [payloads])),
        "ogx": _files("a.json", json.dumps(_OGX), json.dumps(_OGX, indent=2)),
        "chunk-array": _files("a.json", json.dumps(payloads), json.dumps(texts, indent=1)),
        "json-answers": _files("a.json", json.dumps([_ANSWER, _ANSWER], indent=1)),
        "mitmproxy": [*_saved("a.mitm", "flow.mitm"), *_files("a.flow", netstring(_FLOW))],
    }
    if kind in RECORDED:
        more = [*_saved("a.har", "flow.har"), *_files("a.har", _packed_entry())]
        written = [(name, text.encode()) for name, text in RECORDED[kind]]
        return [*written, *(more if kind == "har" else ())]
    return made[kind] if kind in made else _bodies(kind)


IMPORTED: Final = (
    *("curl-trace", "curl", "sse", "timed-chunks", "ndjson", "jsonl", "binary"),
    *("ogx", "chunk-array", "json-answers", "mitmproxy", "text", "json", *RECORDED),
)


def read_kept_file(name: str, data: bytes, source: Random, folder: Path) -> None:
    """Reads, locates and judges. Raises CassetteError, and what nobody documents."""
    path = folder / name
    path.write_bytes(data)
    recording = open_recording(path)
    for exchange in recording.exchanges:
        offsets = [-1, 0, source.randrange(len(exchange.body) + 1)]
        assert all(line >= 1 for line in recording.locate(exchange.number, offsets))
    try:
        check_recording(recording, rulebook(), CheckChoices())
    except UsageError:
        return  # it shows no dialect, or another than it says
