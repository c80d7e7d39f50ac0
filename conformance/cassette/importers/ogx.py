"""Recordings of OGX (once Llama Stack): a request, and the objects its SDK made of the answer.

`{"test_id", "request": {"method", "url", "headers", "body", "endpoint"}, "response": {"body",
"is_streaming"}, "id_normalization_mapping"}` (llamastack/llama-stack, `api_recorder.py`). A body is
one object, or one per event: `{"__type__", "__data__"}`, and lines of SSE where the Messages API
was passed through (its requests have a `payload`). Headers, framing, chunks and times were not
kept, ids and times are made up, and a key that the wire did not have may be null. Nulls of
Ollama's SDK are left out: its server, in Go, writes none.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.payloads import (
    Payload,
    Rebuilt,
    TextPart,
    array_elements,
    join_frames,
    part,
    reframe,
)
from conformance.cassette.positions import Layout
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.dialects import dialect_at

_JSON: Final = (("content-type", "application/json"),)
_KEPT: Final = "OGX keeps objects of an SDK: no headers, framing or times, and its own ids"
# How a recording begins; files of 2025 have no test_id.
_HEAD: Final = re.compile(
    rb'\s*\{\s*(?:"test_id"\s*:\s*(?:null|"(?:[^"\\]|\\.)*+")\s*,\s*)?"request"\s*:\s*\{'
)


class _RequestTarget(msgspec.Struct):
    endpoint: Any = None
    url: Any = None


class _RecordingHead(msgspec.Struct):
    request: _RequestTarget


def _is_recording(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    request, response = value.get("request"), value.get("response")
    if not (isinstance(request, dict) and isinstance(response, dict)):
        return False
    return "url" in request and "body" in response and "is_streaming" in response


def _is_judged_recording(file: ForeignFile) -> bool:
    """Whether a file begins like a recording, and is one of an API that is judged, or is broken.

    Lists of models, embeddings and results of tools are recorded, too.
    """
    if not _HEAD.match(file.head):
        return False
    try:
        request = msgspec.json.decode(file.data, type=_RecordingHead).request
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    return dialect_at(_endpoint_path(request.endpoint, request.url)) is not None


def _read_recording(file: ForeignFile) -> ImportedRecording | None:
    """The recording as one exchange. Raises CassetteError if it is of an API that is not judged."""
    value = file.json
    if not _is_recording(value):
        return None
    request, answer = value["request"], value["response"]
    endpoint = _endpoint_path(request.get("endpoint"), request.get("url"))
    spoken = file.dialect or dialect_at(endpoint)
    if spoken is None:
        raise file.error(f"a recording of {endpoint!r}, which no dialect describes")
    raised = answer.get("is_exception") is True
    rebuilt = _rebuilt_body(file.data, answer, whole=not raised)
    exchange = Exchange(
        request=_request_of(request, endpoint),
        response=_response_head(answer),
        chunks=(Chunk(rebuilt.body),) if rebuilt.body else (),
        end="protocol-error" if raised else "eof",
        dialect=spoken,
    )
    notes = (_KEPT, *rebuilt.notes, *([_exception_note(answer)] if raised else []))
    cassette = Cassette(_recording_header(value, file.dialect), (exchange,), notes=notes)
    layout = replace(rebuilt.layout, head=part(file.data, "request").line)
    return ImportedRecording(cassette, (layout,))


def _endpoint_path(endpoint: Any, url: Any) -> str:
    """The path of the request; the recorder composes `url`, which may hold `/v1` twice."""
    if isinstance(endpoint, str) and endpoint:
        return endpoint
    try:
        return urlsplit(url).path if isinstance(url, str) else ""
    except ValueError:
        return ""


def _request_of(recorded: dict[str, Any], endpoint: str) -> Request:
    body = recorded.get("body", recorded.get("payload"))
    if isinstance(body, dict) and isinstance(body.get("extra_body"), dict):
        body = {**body, **body["extra_body"]}  # as the SDK sends it
        del body["extra_body"]
    method = recorded.get("method")
    return Request(method if isinstance(method, str) else "POST", endpoint, (), body)


def _response_head(answer: dict[str, Any]) -> Response:
    status = answer.get("status")
    known = status if isinstance(status, int) and not isinstance(status, bool) else None
    return Response(known, "", () if isinstance(answer["body"], list) else _JSON)


def _rebuilt_body(data: bytes, answer: dict[str, Any], *, whole: bool) -> Rebuilt:
    kept = answer["body"]
    if kept is None or kept == []:
        return Rebuilt(b"", Layout(1))
    if not isinstance(kept, list):
        path = ("__data__",) if isinstance(kept, dict) and "__data__" in kept else ()
        one = part(data, "response", "body", *path)
        text = _without_sdk_nulls(one.compact, kept)
        return Rebuilt(text, Layout(one.line, (0,), (one.line,)))
    parts = array_elements(data, "response", "body")
    if all(isinstance(each, str) for each in kept):
        lines = [line.encode() + b"\n" for line in kept]
        return join_frames(lines, [each.line for each in parts])
    return reframe([_payload_of(*each) for each in zip(parts, kept, strict=True)], whole=whole)


def _payload_of(element: TextPart, value: Any) -> Payload:
    if not (isinstance(value, dict) and "__data__" in value):
        return Payload.of(element.line, element.compact, value)
    inner = part(element.raw, "__data__")
    return Payload.of(
        element.line + inner.line - 1, _without_sdk_nulls(inner.compact, value), value["__data__"]
    )


def _without_sdk_nulls(text: bytes, kept: Any) -> bytes:
    """The text of an object without the nulls that an SDK added for missing fields."""
    kind = kept.get("__type__") if isinstance(kept, dict) else None
    if not (isinstance(kind, str) and kind.startswith("ollama.")):
        return text
    return msgspec.json.encode(_without_nulls(msgspec.json.decode(text)))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _without_nulls(each) for key, each in value.items() if each is not None}


def _exception_note(answer: dict[str, Any]) -> str:
    kept = answer["body"]
    before = f"after {len(kept)} events" if isinstance(kept, list) and kept else "before any event"
    return f"the stream ended in an exception, {before}; OGX replays the exception alone"


def _recording_header(value: dict[str, Any], dialect: str | None) -> Header:
    test = value.get("test_id")
    known = "test_id" in value and (test is None or isinstance(test, str))
    return Header(
        origin="imported",
        fidelity="events",
        dialect=dialect,
        recorder={"name": "ogx"},
        extra={"test_id": test} if known else {},
    )


IMPORTER: Final = Importer(
    "ogx",
    (".json",),
    _is_judged_recording,
    _read_recording,
    says="a recording of OGX (Llama Stack): a request, and objects of an SDK",
    trusted="`events`: objects of an SDK, ids and times made up",
    keeps="request",
)
