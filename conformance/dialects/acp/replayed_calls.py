"""A call of a session as it was, and as a replay has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.core.spelling import one_spelling
from conformance.dialects.json_edge import mapping, objects, string

_ENDED: Final = ("completed", "failed")
_MOST_RESULT: Final = 4096  # characters of a result that are compared
_ALIKE: Final = 40  # characters at the beginning of a result that was cut


class SessionCall(Struct):
    """The latest of what a call and its news say."""

    title: str = ""
    given: Any = None
    status: str = ""
    result: str = ""
    has_result: bool = False  # also one that is no text

    def take(self, update: dict[str, Any]) -> None:
        self.title = self.title or string(update.get("title"))
        self.given = update.get("rawInput") or self.given
        self.status = string(update.get("status")) or self.status
        content = list(objects(update.get("content")))
        texts = (string(mapping(each.get("content")).get("text")) for each in content)
        self.result = one_spelling("".join(texts))[:_MOST_RESULT] or self.result
        is_stated = bool(content) or update.get("rawOutput") is not None
        self.has_result = self.has_result or is_stated

    def likenesses(self) -> Iterator[tuple[str, object]]:
        """Signs by which a call may be one under another id."""
        if self.given:
            yield "given", msgspec.json.encode(self.given, order="sorted")
        if self.title:
            yield "title", self.title


def call_fault(made: Mapping[str, SessionCall], back: Mapping[str, SessionCall]) -> str:
    """What a replay does not have as it was; empty where it has every call."""
    renamed: dict[object, SessionCall] = {}
    for name, call in back.items():
        if name not in made:
            for sign in call.likenesses():
                renamed.setdefault(sign, call)
    for name, call in made.items():
        alike = (renamed[sign] for sign in call.likenesses() if sign in renamed)
        again = back.get(name) or next(alike, None)
        if again is None:
            return f"{call.title or name} is not there"
        if again.status != call.status and call.status in _ENDED:
            return f"{call.title or name} was {call.status}, and is {again.status or 'not ended'}"
        if _differs(call.given, again.given):
            return f"{call.title or name} is given something else"
        if call.has_result and not again.has_result:
            return f"{call.title or name} has no result"
        if call.result and again.result and not _is_same_result(call.result, again.result):
            return f"{call.title or name} has another result"
    return ""


def _differs(given: Any, again: Any) -> bool:
    """Whether what both state is another value; agents keep calls with other keys."""
    if isinstance(given, dict) and isinstance(again, dict):
        return any(_differs(given[key], again[key]) for key in given.keys() & again.keys())
    if isinstance(given, str) and isinstance(again, str):
        return given not in again and again not in given
    return type(given) is type(again) and bool(given != again)


def _is_same_result(one: str, other: str) -> bool:
    """Whether they are the same, in another frame or cut."""
    return one in other or other in one or one[:_ALIKE] == other[:_ALIKE] or _is_cut(one, other)


def _is_cut(one: str, other: str) -> bool:
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return shorter.rstrip(".…") in longer
