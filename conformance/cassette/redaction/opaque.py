"""Finds opaque reasoning data and secret fields in the bytes of a body, without decoding it.

A body is any mix of SSE lines and JSON. Strings and braces are enough to know which key a string
belongs to, and in which object. Linear in the bytes, and nothing is looked at
where no known key occurs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

import jsonschema_rs
from msgspec import Struct

from conformance.cassette.redaction import secret_names
from conformance.cassette.redaction.credentials import Span, find_credentials
from conformance.cassette.redaction.secret_names import is_secret_name, is_secret_value, name_rule
from conformance.dialects import WIRE_KEYS

_OPAQUE: Final = tuple(key.encode() for key in sorted(WIRE_KEYS.opaque))
# Who somebody is. A tool may have an argument of that name, so these count near the root only.
_IDS: Final = (
    *(b"account_id", b"org_id", b"organization", b"organization_id", b"project_id"),
    *(b"safety_identifier", b"user", b"user_id"),
)
_NEAR_ROOT: Final = frozenset((b"", b"json", b"response", b"metadata", b"error"))
_RULES: Final = {
    **{key: f"opaque.{key.decode()}" for key in _OPAQUE},
    **{key: f"field.{key.decode()}" for key in _IDS},
}
# `data` is opaque only where the object's own type says so, on the wire or in a client's report.
_DATA_TYPES: Final = (b"redacted_thinking", b"reasoning.", b"thinking.opaque")
# Without one of these there is nothing to be found, or without one of the types.
SIGNS: Final = (
    *(f'"{re.escape(key.decode())}"' for key in _RULES),
    *(re.escape(name.decode()) for name in _DATA_TYPES),
    secret_names.FAST_SIGN,
)
# Without one of these there is nothing but opaque data. Somebody is hardly ever named: every other
# snapshot says `"user":null`.
_NAMED: Final = r'(?:[^\s"n]|"[^"]|""\s*[^\s,}]|n[^u]|nu[^l]|nul[^l]|null\s*[^\s,}])'
_FIELD_SIGNS: Final = (
    *(rf'"{re.escape(key.decode())}"\s*:\s*{_NAMED}' for key in _IDS),
    secret_names.FAST_SIGN,
)
# A string that the stream's end cut off is one, too: half a secret is a secret. Possessive, so that
# an open quote is never looked at twice.
_TOKEN: Final = re.compile(
    rb'"((?:[^"\\\r\n]|\\[^\r\n])*+)(?:"((?:(?!\n\r?\n)\s)*+:)?)?|[{}\[\],]|\n\r?\n'
)
_KEYS: Final = b"|".join(map(re.escape, (*(b'"%b"' % key for key in _RULES), *_DATA_TYPES)))
_TELLING_KEYS: Final = re.compile(_KEYS)
_TELLING: Final = re.compile(_KEYS + b"|" + secret_names.SIGN.encode())
# Names of parameters in a schema: what is under them says what a value must look like.
_SCHEMAS: Final = frozenset((b"properties", b"patternProperties", b"$defs", b"definitions"))
_BLANK_LINES: Final = (b"\n\n", b"\n\r\n")
_BLANK_LINE: Final = re.compile(rb"\n\r?\n")
_MAX_DEPTH: Final = 500


class _OpenObject(Struct):
    name: bytes = b""  # the key under which it stands; in a list, the list's
    key: bytes = b""
    type: bytes = b""
    data: list[tuple[int, int]] | None = None
    secret: bytes = b""  # the secret name under which it stands


def secret_spans(body: bytes) -> list[Span]:
    """Every non-empty value that must not be shown, in the order of the bytes."""
    walk = _JsonWalk()
    for start, stop in _telling_parts(body):
        for token in _TOKEN.finditer(body, start, stop):
            walk.take(token)
        walk.finish()
    return sorted(walk.found)


def _telling_parts(body: bytes) -> Iterator[tuple[int, int]]:
    """What lies between two blank lines, where a key or a type is in it that shows."""
    stop = 0
    telling = _TELLING if secret_names.may_have_names(body) else _TELLING_KEYS
    for sign in telling.finditer(body):
        if sign.start() >= stop:
            start = max(body.rfind(end, stop, sign.start()) for end in _BLANK_LINES)
            after = _BLANK_LINE.search(body, sign.end())
            stop, start = after.start() if after else len(body), max(start, stop)
            yield start, stop


def field_spans(body: bytes) -> list[Span]:
    """As `secret_spans`, without opaque data."""
    if not _field_validator().is_valid(body.decode("latin-1")):
        return []
    return [span for span in secret_spans(body) if not span.rule.startswith("opaque.")]


@cache
def _field_validator() -> jsonschema_rs.Validator:
    return secret_names.search_validator(*_FIELD_SIGNS)


def find_secrets(text: bytes) -> list[Span]:
    """Secret fields and credentials, but no opaque data; two may claim the same bytes."""
    return [*field_spans(text), *find_credentials(text)]


class _JsonWalk:
    """Which object we are in, and what was found so far."""

    __slots__ = ("_deeper", "_stack", "found")

    def __init__(self) -> None:
        self.found: list[Span] = []
        self._stack = [_OpenObject()]
        self._deeper = 0  # objects below the deepest one that is distinguished

    def take(self, token: re.Match[bytes]) -> None:
        mark = token[0]
        if mark[:1] == b'"':
            self._take_string(token)
        elif mark in (b"{", b"["):
            self._open_object()
        elif mark in (b"}", b"]"):
            self._close_object()
        elif mark == b",":
            self._stack[-1].key = b""
        else:  # a blank line ends the event, whatever was left open
            self.finish()

    def finish(self) -> None:
        """Leaves every object."""
        self._deeper = 0
        for _ in range(len(self._stack)):
            self._close_object()

    def _open_object(self) -> None:
        if len(self._stack) < _MAX_DEPTH:
            owner = self._stack[-1]
            secret = owner.secret or (owner.key if _names_secret(owner) else b"")
            self._stack.append(_OpenObject(owner.key or owner.name, secret=secret))
        else:
            self._deeper += 1

    def _close_object(self) -> None:
        if self._deeper:
            self._deeper -= 1
            return
        owner = self._stack.pop()
        self._stack = self._stack or [_OpenObject()]
        if owner.data and owner.type.startswith(_DATA_TYPES):
            self.found += [Span(start, stop, "opaque.data") for start, stop in owner.data]

    def _take_string(self, token: re.Match[bytes]) -> None:
        owner = self._stack[-1]
        if token[2]:
            owner.key = token[1]
            return
        start, stop = token.span(1)
        name = owner.key if _names_secret(owner) else owner.secret
        if name and stop > start and is_secret_value(name, token[1]):
            self.found.append(Span(start, stop, name_rule(name)))
        elif owner.key in _RULES and stop > start and _holds_opaque(owner):
            self.found.append(Span(start, stop, _RULES[owner.key]))
        elif owner.key == b"data" and stop > start:
            owner.data = owner.data or []
            owner.data.append((start, stop))
        elif owner.key == b"type":
            owner.type = token[1]
        owner.key = b""


def _names_secret(owner: _OpenObject) -> bool:
    return bool(owner.key) and owner.name not in _SCHEMAS and is_secret_name(owner.key)


def _holds_opaque(owner: _OpenObject) -> bool:
    return owner.key not in _IDS or owner.name in _NEAR_ROOT
