"""What a run streamed, held against what its snapshots state.

Rule 1: a message is known by its `messageId`, a chunk without one continues the chunk before; a
        message that is still open is not compared.
Rule 2: a snapshot adds text where a message that was streamed has all of it there, and more that no
        message was streamed with; several messages may be one there.
Rule 3: it renames a message where none has its id, and one that was not streamed has its text.
Beyond MOST_MESSAGES messages or MOST_TEXT characters nothing is compared any more.

Calls and results:

Rule 4: a call that has begun, and a result that came, belong to the messages from then on.
Rule 5: a snapshot drops calls where it lacks one of them; of an earlier run it may forget them.
Beyond MOST_CALLS calls nothing is compared any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.dialects.json_edge import mapping, objects, string

MOST_MESSAGES: Final = 4096
MOST_TEXT: Final = 4 * 1024 * 1024
_MOST_WORK: Final = 16 * MOST_TEXT  # characters that snapshots are held against, all together
_MOST_JOINED: Final = 64  # messages that one of a snapshot may hold
_PIECES: Final = frozenset(
    {
        *("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK"),
        *("REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK"),
    }
)
_STARTS: Final = frozenset({"TEXT_MESSAGE_START", "REASONING_MESSAGE_START"})
_ENDS: Final = frozenset({"TEXT_MESSAGE_END", "REASONING_MESSAGE_END"})


class StreamedTexts:
    """The texts of the messages of a stream so far."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._open: set[str] = set()
        self._chunked = ""  # whose chunk came last: one without an id continues it
        self._size = self._work = 0

    def take(self, kind: str, fields: dict[str, Any]) -> None:
        name = string(fields.get("messageId"))
        if kind.endswith("_CHUNK"):
            name = self._chunked = name or self._chunked
        if not name or self._is_full:
            return
        if kind in _PIECES:
            piece = string(fields.get("delta"))
            self._size += len(piece)
            self._texts.setdefault(name, []).append(piece)
        elif kind in _STARTS:
            self._open.add(name)
        elif kind in _ENDS:
            self._open.discard(name)

    def text(self, name: str) -> str:
        """All that a message was streamed with; empty where that is not known."""
        return "" if self._is_full else "".join(self._texts.get(name, ()))

    @property
    def _is_full(self) -> bool:
        return self._size > MOST_TEXT or len(self._texts) + len(self._open) > MOST_MESSAGES

    def held_against(self, messages: Any) -> dict[str, bool]:
        """`adds_text` and `renames` of a snapshot, as far as there is something to compare."""
        self._work += self._size
        if self._is_full or self._work > _MOST_WORK:
            return {}
        stated = {string(each.get("id")): each.get("content") for each in objects(messages)}
        streamed = {
            name: text
            for name, pieces in self._texts.items()
            if name not in self._open and (text := "".join(pieces))
        }
        both = [(stated[name], text) for name, text in streamed.items() if name in stated]
        others = {text for name, text in stated.items() if name not in streamed and _is_text(text)}
        missing = [text for name, text in streamed.items() if name not in stated]
        found: dict[str, bool] = {}
        if both:
            every = sorted(streamed.values(), key=len, reverse=True)
            found["adds_text"] = any(_adds(stated, text, every) for stated, text in both)
        if both or missing:
            found["renames"] = any(text in others for text in missing)
        return found


def _adds(stated: Any, text: str, every: list[str]) -> bool:
    """Whether more is stated of a message than it or others were streamed with."""
    if not _is_text(stated) or text not in stated or len(every) > _MOST_JOINED:
        return False
    rest = stated
    for each in every:
        rest = rest.replace(each.strip(), "", 1)
    return bool(rest.strip())


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


MOST_CALLS: Final = 4096
_BEGINNINGS: Final = frozenset({"TOOL_CALL_START", "TOOL_CALL_CHUNK"})


class StreamedCalls:
    """The ids of a run's calls so far, and of those that have a result."""

    def __init__(self) -> None:
        self._begun: set[str] = set()
        self._answered: set[str] = set()

    def take(self, kind: str, fields: dict[str, Any]) -> None:
        name = string(fields.get("toolCallId"))
        if not name or self._is_full:
            return
        if kind in _BEGINNINGS:
            self._begun.add(name)
        elif kind == "TOOL_CALL_RESULT":
            self._answered.add(name)

    @property
    def _is_full(self) -> bool:
        return len(self._begun) + len(self._answered) > MOST_CALLS

    def held_against(self, messages: Any) -> dict[str, bool]:
        """`drops_calls` of a snapshot, where there is something to compare."""
        if self._is_full or not (self._begun or self._answered):
            return {}
        stated = {string(call.get("id")) for call in _stated_calls(messages)}
        results = {string(each.get("toolCallId")) for each in stated_results(messages)}
        return {"drops_calls": not (self._begun <= stated and self._answered <= results)}


def _stated_calls(messages: Any) -> Iterator[dict[str, Any]]:
    for message in objects(messages):
        yield from objects(message.get("toolCalls"))


def stated_results(messages: Any) -> Iterator[dict[str, Any]]:
    return (mapping(each) for each in objects(messages) if string(each.get("role")) == "tool")
