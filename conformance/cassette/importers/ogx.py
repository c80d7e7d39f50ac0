"""Recordings of OGX (once Llama Stack): a request, and the objects its SDK made of the answer.

`{"test_id", "request": {"method", "url", "headers", "body", "endpoint"}, "response": {"body",
"is_streaming"}, "id_normalization_mapping"}` (llamastack/llama-stack, `api_recorder.py`). A body is
one object, or one per event: `{"__type__", "__data__"}`, and lines of SSE where the Messages API
was passed through (its requests have a `payload`). Headers, framing, chunks and times were not
kept, ids and times are made up, and a key that the wire did not have may be null.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from conformance.cassette.header import Cassette, Header
from conformance.cassette.json_parts import Part, elements, part
from conformance.cassette.payloads import Payload, layout_of, reframe
from conformance.cassette.positions import Layout
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Chunk, Exchange, Request, Response

_DIALECTS: Final = {
    "/chat/completions": "openai.chat",
    "/responses": "openai.responses",
    "/messages": "anthropic.messages",
}
_JSON: Final = (("content-type", "application/json"),)
_KEPT: Final = "OGX keeps objects of an SDK: no headers, framing or times, ids of its own"
# How a recording begins; files of 2025 have no test_id.
_HEAD: Final = re.compile(
    rb'\s*\{\s*(?:"test_id"\s*:\s*(?:null|"(?:[^"\\]|\\.)*+")\s*,\s*)?"request"\s*:\s*\{'
)


class _Where(msgspec.Struct):
    endpoint: Any = None
    url: Any = None


class _Head(msgspec.Struct):
    request: _Where


class _Body(NamedTuple):
    """A rebuilt body, where it stands, and what the reader should know of it."""

    data: bytes
    layout: Layout
    notes: tuple[str, ...] = ()


def is_recording(value: Any) -> bool:
    """Whether a JSON value has the shape of a recording."""
    if not isinstance(value, dict):
        return False
    request, response = value.get("request"), value.get("response")
    if not (isinstance(request, dict) and isinstance(response, dict)):
        return False
    return "url" in request and "body" in response and "is_streaming" in response


def begins_like_one(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a recording."""
    return _HEAD.match(head) is not None


def is_an_answer(data: bytes) -> bool:
    """Whether a file that begins like a recording is one of an API that is judged, or is broken.

    Lists of models, embeddings and results of tools are recorded, too.
    """
    try:
        request = msgspec.json.decode(data, type=_Head).request
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    return _dialect(_endpoint(request.endpoint, request.url)) is not None


def recording(file: str, data: bytes, value: Any, dialect: str | None) -> tuple[Cassette, Layout]:
    """The recording as one exchange, and where its body stands. `value` is `data` decoded.

    Raises CassetteError if it is of an API that is not judged.
    """
    asked, answer = value["request"], value["response"]
    endpoint = _endpoint(asked.get("endpoint"), asked.get("url"))
    spoken = dialect or _dialect(endpoint)
    if spoken is None:
        message = f"a recording of {endpoint!r}, which no dialect describes"
        raise CassetteError(message, place=Place(file))
    raised = answer.get("is_exception") is True
    body = _body(data, answer, whole=not raised)
    exchange = Exchange(
        request=_request(asked, endpoint),
        response=_head(answer),
        chunks=(Chunk(body.data),) if body.data else (),
        end="protocol-error" if raised else "eof",
        dialect=spoken,
    )
    notes = (_KEPT, *body.notes, *([_raised(answer)] if raised else []))
    head = part(data, "request").line
    return Cassette(_header(value, dialect), (exchange,), notes=notes), _headed(body.layout, head)


def _endpoint(endpoint: Any, url: Any) -> str:
    """The path that was asked; `url` is put together by the recorder and may hold `/v1` twice."""
    if isinstance(endpoint, str) and endpoint:
        return endpoint
    try:
        return urlsplit(url).path if isinstance(url, str) else ""
    except ValueError:
        return ""


def _dialect(endpoint: str) -> str | None:
    return next((name for end, name in _DIALECTS.items() if endpoint.endswith(end)), None)


def _request(asked: dict[str, Any], endpoint: str) -> Request:
    body = asked.get("body", asked.get("payload"))
    if isinstance(body, dict) and isinstance(body.get("extra_body"), dict):
        body = {**body, **body["extra_body"]}  # as the SDK sends it
        del body["extra_body"]
    method = asked.get("method")
    return Request(method if isinstance(method, str) else "POST", endpoint, (), body)


def _head(answer: dict[str, Any]) -> Response:
    status = answer.get("status")
    known = status if isinstance(status, int) and not isinstance(status, bool) else None
    return Response(known, "", () if isinstance(answer["body"], list) else _JSON)


def _body(data: bytes, answer: dict[str, Any], *, whole: bool) -> _Body:
    kept = answer["body"]
    if kept is None or kept == []:
        return _Body(b"", Layout(1))
    if not isinstance(kept, list):
        path = ("__data__",) if isinstance(kept, dict) and "__data__" in kept else ()
        one = part(data, "response", "body", *path)
        return _Body(one.compact, Layout(one.line, (0,), (one.line,)))
    parts = elements(data, "response", "body")
    if all(isinstance(each, str) for each in kept):
        return _lines(parts, kept)
    rebuilt = reframe([_payload(*each) for each in zip(parts, kept, strict=True)], whole=whole)
    return _Body(rebuilt.body, rebuilt.layout, rebuilt.notes)


def _lines(parts: Sequence[Part], kept: Sequence[str]) -> _Body:
    lines = [line.encode() + b"\n" for line in kept]
    layout = layout_of(lines, [each.line for each in parts])
    return _Body(b"".join(lines), layout)


def _payload(element: Part, value: Any) -> Payload:
    if not (isinstance(value, dict) and "__data__" in value):
        return Payload.of(element.line, element.compact, value)
    inner = part(element.raw, "__data__")
    return Payload.of(element.line + inner.line - 1, inner.compact, value["__data__"])


def _raised(answer: dict[str, Any]) -> str:
    kept = answer["body"]
    before = f"after {len(kept)} events" if isinstance(kept, list) and kept else "before any event"
    return f"the stream ended in an exception, {before}; OGX replays the exception alone"


def _headed(layout: Layout, line: int) -> Layout:
    return Layout(line, layout.offsets, layout.lines)


def _header(value: dict[str, Any], dialect: str | None) -> Header:
    test = value.get("test_id")
    known = "test_id" in value and (test is None or isinstance(test, str))
    return Header(
        origin="imported",
        fidelity="events",
        dialect=dialect,
        recorder={"name": "ogx"},
        extra={"test_id": test} if known else {},
    )
