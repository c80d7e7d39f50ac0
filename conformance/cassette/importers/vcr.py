"""Cassettes of vcrpy and its kin: interactions of a request and a response, bodies joined.

https://vcrpy.readthedocs.io: `interactions: [{request: {method, uri, headers, body}, response:
{status: {code, message}, headers, body: {string}}}]`. A body is text, `!!binary`, `base64_string`
or, from custom serialisers, `parsed_body`. Chunk boundaries and times were never there.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from conformance.cassette.positions import Layout
from conformance.cassette.yaml_tree import Scalar, plain
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Chunk, Exchange, Request, Response

_MAX_BODY: Final = 64 * 1024 * 1024
_ENCODINGS: Final = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": 15}
_GZIP_MAGIC: Final = b"\x1f\x8b"


class Interaction(NamedTuple):
    """One exchange, and the line of the file on which its body begins."""

    exchange: Exchange
    layout: Layout


def interactions(file: str, tree: Any, *, dialect: str | None = None) -> list[Interaction]:
    """Every interaction of the tree, numbered from 1. Raises CassetteError."""
    found = tree.get("interactions") if isinstance(tree, dict) else None
    if not isinstance(found, list) or not found:
        message = "expected a VCR cassette with `interactions`"
        raise CassetteError(message, place=Place(file, 1))
    return [_interaction(file, n, one, dialect) for n, one in enumerate(found, 1)]


def _interaction(file: str, number: int, tree: Any, dialect: str | None) -> Interaction:
    line = _first_line(tree)
    if not isinstance(tree, dict) or not isinstance(tree.get("response"), dict):
        raise CassetteError(f"interaction {number} has no response", place=Place(file, line))
    answer = tree["response"]
    headers = _headers(answer.get("headers"))
    source = answer.get("body", answer.get("content"))
    try:
        body, response_headers = _decoded(_body(answer, source), headers)
    except (ValueError, zlib.error) as err:
        message = f"the body of interaction {number} cannot be decoded: {err}"
        raise CassetteError(message, place=Place(file, _first_line(source) or line)) from err
    asked = tree.get("request")
    exchange = Exchange(
        number=number,
        request=_request(asked) if isinstance(asked, dict) else None,
        response=Response(_status(answer), "", response_headers),
        chunks=(Chunk(body),) if body else (),
        dialect=dialect,
    )
    return Interaction(exchange, Layout(line or 1, (0,), (_first_line(source) or line or 1,)))


def _request(tree: Mapping[str, Any]) -> Request:
    url = urlsplit(_text(tree.get("uri", tree.get("url"))))
    path = f"{url.path}?{url.query}" if url.query else url.path
    return Request(
        method=_text(tree.get("method")) or "POST",
        path=path,
        headers=_headers(tree.get("headers")),
        json=_json(tree),
    )


def _json(request: Mapping[str, Any]) -> Any:
    if "parsed_body" in request:
        return plain(request["parsed_body"])
    try:
        return json.loads(_body(request, request.get("body")) or b"null")
    except (ValueError, RecursionError):
        return None  # not JSON: the value has no other place for a request's body


def _body(owner: Mapping[str, Any], tree: Any) -> bytes:
    if isinstance(tree, dict):
        if "base64_string" in tree:
            return base64.b64decode(_text(tree["base64_string"]), validate=True)
        tree = tree.get("string")
    value = tree.value if isinstance(tree, Scalar) else None
    if isinstance(value, bytes):
        return value
    if value is None and "parsed_body" in owner:
        return json.dumps(plain(owner["parsed_body"]), ensure_ascii=False).encode()
    return b"" if value is None else str(value).encode("utf-8", "surrogatepass")


def _decoded(
    body: bytes, headers: tuple[tuple[str, str], ...]
) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """The body without content-encoding, and the headers that fit it.

    Some recorders keep the header over a body that they had decoded already.
    """
    coding = (Response(headers=headers).header("content-encoding") or "").strip().lower()
    if coding not in _ENCODINGS:
        return body, headers
    if coding == "deflate" or body.startswith(_GZIP_MAGIC):
        body = _inflated(body, _ENCODINGS[coding])
    dropped = ("content-encoding", "content-length")
    return body, tuple((k, v) for k, v in headers if k.lower() not in dropped)


def _inflated(body: bytes, wbits: int) -> bytes:
    inflater = zlib.decompressobj(wbits)
    inflated = inflater.decompress(body, _MAX_BODY)
    if inflater.unconsumed_tail:
        raise ValueError(f"it inflates to more than {_MAX_BODY:,} bytes")
    if not inflater.eof:
        raise ValueError("it is cut short")
    return inflated


def _headers(tree: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(tree, dict):
        return ()
    return tuple((name, _text(one)) for name, value in tree.items() for one in _each(value))


def _each(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else (value,)


def _status(answer: Mapping[str, Any]) -> int | None:
    status = answer.get("status", answer.get("status_code"))
    if isinstance(status, dict):
        status = status.get("code")
    value = status.value if isinstance(status, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(tree: Any) -> str:
    value = tree.value if isinstance(tree, Scalar) else None
    return "" if value is None else value.decode() if isinstance(value, bytes) else str(value)


def _first_line(tree: Any) -> int | None:
    """The line of the first scalar inside; trees are no deeper than the loader allows."""
    if isinstance(tree, Scalar):
        return tree.line
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return next((line for child in children if (line := _first_line(child))), None)
