"""A tool call as models write it between its markers: `{"name": ..., "arguments": {...}}`."""

from __future__ import annotations

import json
from typing import Final, NoReturn

ARGUMENTS: Final = ("arguments", "parameters")


def read_call(text: str) -> tuple[str, str] | None:
    """Name and arguments, those as the model wrote them; None if this is no call.

    Arguments must be a JSON object, or a string that holds one; without any they are `{}`.
    """
    try:
        members = _json_members(text)
        name = json.loads(members.get("name", "null"))
        arguments = next((members[key] for key in ARGUMENTS if key in members), "{}")
        value = _DECODER.decode(arguments)
        if isinstance(value, str):
            arguments, value = value, _DECODER.decode(value)
        if not isinstance(name, str) or not name or not isinstance(value, dict):
            return None
        (name + arguments).encode()  # half a surrogate pair could not be sent
    except (ValueError, RecursionError):
        return None
    return name, arguments


def _json_members(text: str) -> dict[str, str]:
    """The members of a JSON object, each value as its own text; ValueError if it is none."""
    at = _place_behind_mark(text, 0, "{")
    members: dict[str, str] = {}
    if text[at : at + 1] == "}":
        return _members_at_end(text, at + 1, members)
    while True:
        if text[at : at + 1] != '"':
            raise ValueError(f"expected a name at character {at}")
        key, at = _DECODER.raw_decode(text, at)
        start = _place_behind_mark(text, at, ":")
        _, at = _DECODER.raw_decode(text, start)
        members[key] = text[start:at]
        at = _skip_blanks(text, at)
        if text[at : at + 1] == "}":
            return _members_at_end(text, at + 1, members)
        at = _place_behind_mark(text, at, ",")


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in _SPACE:
        at += 1
    return at


def _place_behind_mark(text: str, at: int, mark: str) -> int:
    """The place of the next value behind `mark`."""
    at = _skip_blanks(text, at)
    if text[at : at + 1] != mark:
        raise ValueError(f"expected {mark!r} at character {at}")
    return _skip_blanks(text, at + 1)


def _members_at_end(text: str, at: int, members: dict[str, str]) -> dict[str, str]:
    if text[_skip_blanks(text, at) :]:
        raise ValueError("something follows the object")
    return members


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_SPACE: Final = frozenset(" \t\r\n")
_DECODER: Final[json.JSONDecoder] = json.JSONDecoder(parse_constant=_refuse_constant)
