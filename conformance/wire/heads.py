"""Heads of HTTP messages: which headers are passed on, and how a head is spelled.

https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from conformance.core.content_coding import readable_codings

Headers = tuple[tuple[str, str], ...]

CONNECTION_HEADERS: Final = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    }
)
# These describe the body: `connection` cannot make them hop-by-hop headers.
# https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1-8
_OF_BODIES: Final = frozenset({"content-encoding", "content-length", "content-type"})
_OF_PROXIES: Final = frozenset({"proxy-authenticate", "proxy-authorization"})
_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}


# Lines of plain headers, as one group of a pattern over bytes.
HEADER_LINES: Final = r"((?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t -~\x80-\xff]*+\r\n)*+)"
_FIELD: Final = re.compile(r"([^:]+):[ \t]*([^\r]*?)[ \t]*\r\n")


def header_fields(lines: bytes) -> Headers:
    """The headers in lines that `HEADER_LINES` matched, as they were spelled."""
    return tuple(_FIELD.findall(lines.decode("latin-1")))


def decode_headers(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers as text, as they were spelled."""
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs)


def lower_names(headers: Headers) -> Headers:
    return tuple((name.lower(), value) for name, value in headers)


def end_to_end(headers: Headers) -> Headers:
    """Without those that speak of one connection only."""
    named = set(_header_tokens(headers, "connection")) - _OF_BODIES
    drop = CONNECTION_HEADERS | _OF_PROXIES | named
    return without_headers(headers, *drop)


def without_headers(headers: Headers, *names: str) -> Headers:
    """`names` are in lower case."""
    return tuple((name, value) for name, value in headers if name.lower() not in names)


def header_value(headers: Headers, name: str) -> str | None:
    """The last header of that name, in any case."""
    return next((v for n, v in reversed(headers) if n.lower() == name), None)


def has_token(headers: Headers, name: str, token: str) -> bool:
    """Whether a comma-separated header lists the token."""
    return token in _header_tokens(headers, name)


def ask_for_readable(headers: Headers) -> Headers:
    """Asks for no encoding but those that can be recorded decoded."""
    codings = [one.strip() for one in (header_value(headers, "accept-encoding") or "").split(",")]
    readable = readable_codings() | {"identity"}
    kept = [one for one in codings if one.split(";")[0].strip().lower() in readable]
    spelled = ", ".join(kept) or "identity"
    return (*without_headers(headers, "accept-encoding"), ("accept-encoding", spelled))


def request_head(method: str, target: str, headers: Headers) -> bytes:
    return _head_bytes(f"{method} {target} HTTP/1.1", headers)


def response_head(
    status: int, headers: Headers, *, reason: str | None = None, version: str = "1.1"
) -> bytes:
    """`reason` None: the status's usual phrase."""
    phrase = _REASONS.get(status, "") if reason is None else reason
    return _head_bytes(f"HTTP/{version} {status} {phrase}", headers)


def json_response(status: int, body: bytes, *, keeps_alive: bool) -> bytes:
    """A whole answer of the toolkit's own."""
    headers: Headers = (
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
    )
    if not keeps_alive:
        headers = (*headers, ("connection", "close"))
    return response_head(status, headers) + body


def _header_tokens(headers: Headers, name: str) -> list[str]:
    return [
        token.strip().lower()
        for found, value in headers
        if found.lower() == name
        for token in value.split(",")
    ]


def _head_bytes(first: str, headers: Headers) -> bytes:
    lines = (first, *(f"{name}: {value}" for name, value in headers), "", "")
    return "\r\n".join(lines).encode("latin-1")
