"""Finds opaque reasoning data and secret fields in the bytes of a body, without decoding it.

A body is any mix of SSE lines and JSON. Strings and braces are enough to know which key a string
belongs to, and in which object. Linear in the bytes, and nothing is looked at
where no known key occurs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_OPAQUE: Final = (
    b"encrypted_content",
    b"reasoning_opaque",
    b"signature",
    b"thoughtSignature",
    b"thought_signature",
)
_SECRET: Final = (
    b"access_token",
    b"api-key",
    b"api_key",
    b"apikey",
    b"authorization",
    b"Authorization",
    b"client_secret",
    b"password",
    b"refresh_token",
    b"x-api-key",
)
_RULES: Final = {
    **{key: f"opaque.{key.decode()}" for key in _OPAQUE},
    **{key: f"field.{key.decode().lower()}" for key in _SECRET},
}
# `data` is opaque only where the object's own type says so, on the wire or in a client's report.
_DATA_TYPES: Final = (b"redacted_thinking", b"reasoning.", b"thinking.opaque")
_HINT: Final = re.compile(b"|".join((*_RULES, *map(re.escape, _DATA_TYPES))))
# A string that the stream's end cut off is one, too: half a secret is a secret. Possessive, so that
# an open quote is never looked at twice.
_TOKEN: Final = re.compile(rb'"((?:[^"\\\r\n]|\\[^\r\n])*+)(?:"(\s*+:)?)?|[{}\[\],]|\n\r?\n')


class Span(NamedTuple):
    """The inside of one string, and the redaction rule that it falls under."""

    start: int
    stop: int
    rule: str


@dataclass(slots=True)
class _Object:
    key: bytes = b""
    type: bytes = b""
    data: list[tuple[int, int]] = field(default_factory=list)


def secret_spans(body: bytes) -> list[Span]:
    """Every non-empty value that must not be shown, in the order of the bytes."""
    return sorted(_spans(body)) if _HINT.search(body) else []


def _spans(body: bytes) -> Iterator[Span]:
    stack = [_Object()]
    for token in _TOKEN.finditer(body):
        mark = token[0]
        if token[2]:
            stack[-1].key = token[1]
        elif mark[:1] == b'"':
            if token[1]:
                yield from _value(stack[-1], token)
        elif mark in (b"{", b"["):
            stack.append(_Object())
        elif mark in (b"}", b"]"):
            yield from _data(stack.pop())
            stack = stack or [_Object()]
        elif mark == b",":
            stack[-1].key = b""
        else:  # a blank line ends the event, whatever was left open
            for owner in stack:
                yield from _data(owner)
            stack = [_Object()]
    for owner in stack:
        yield from _data(owner)


def _value(owner: _Object, token: re.Match[bytes]) -> Iterator[Span]:
    start, stop = token.span(1)
    if owner.key in _RULES:
        yield Span(start, stop, _RULES[owner.key])
    elif owner.key == b"data":
        owner.data.append((start, stop))
    elif owner.key == b"type":
        owner.type = token[1]
    owner.key = b""


def _data(owner: _Object) -> Iterator[Span]:
    if owner.type.startswith(_DATA_TYPES):
        for start, stop in owner.data:
            yield Span(start, stop, "opaque.data")
