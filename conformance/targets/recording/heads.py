"""Heads of messages: what is passed on, and how it is spelled.

https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.targets.server_body import decodable

Headers = tuple[tuple[str, str], ...]

_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def decoded(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers as text, as they were spelled."""
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs)


def end_to_end(headers: Headers) -> Headers:
    """Without those that speak of one connection only."""
    named = {
        token.strip().lower()
        for name, value in headers
        if name.lower() == "connection"
        for token in value.split(",")
    }
    drop = _HOP_BY_HOP | named
    return tuple((name, value) for name, value in headers if name.lower() not in drop)


def without(headers: Headers, *names: str) -> Headers:
    return tuple((name, value) for name, value in headers if name.lower() not in names)


def value_of(headers: Headers, name: str) -> str | None:
    """The last header of that name, in any case."""
    return next((v for n, v in reversed(headers) if n.lower() == name), None)


def has_token(headers: Headers, name: str, token: str) -> bool:
    """Whether a comma-separated header lists the token."""
    return any(
        token == one.strip().lower()
        for found, value in headers
        if found.lower() == name
        for one in value.split(",")
    )


def readable_encodings(headers: Headers) -> Headers:
    """Asks for no encoding but those that can be recorded decoded."""
    asked = value_of(headers, "accept-encoding")
    tokens = [one.strip() for one in (asked or "").split(",")]
    readable = decodable() | {"identity"}
    kept = [one for one in tokens if one.split(";")[0].strip().lower() in readable]
    spelled = ", ".join(kept) or "identity"
    return (*without(headers, "accept-encoding"), ("accept-encoding", spelled))


def request_bytes(method: str, target: str, headers: Headers) -> bytes:
    return _head(f"{method} {target} HTTP/1.1", headers)


def response_bytes(status: int, reason: str, headers: Headers) -> bytes:
    return _head(f"HTTP/1.1 {status} {reason}", headers)


def _head(first: str, headers: Headers) -> bytes:
    lines = (first, *(f"{name}: {value}" for name, value in headers), "", "")
    return "\r\n".join(lines).encode("latin-1")
