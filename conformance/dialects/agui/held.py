"""What a client of the protocol holds of the messages of a run when that is over.

That is what it is to send back with the next run: the text of each message, and what it was sealed
with.

Rule 1: a message is known by its id, and a sealed value by the message or call that it names; one
        that names none has no holder.
Rule 2: a snapshot's messages take the place of those with their ids, sealed values included. What
        it lacks goes, except reasoning where it holds none. What was not held before is the run's.
Of a run with more than MOST_HELD messages there are no events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from conformance.dialects.json_edge import objects, string
from conformance.dialects.turns import spoken

MOST_HELD: Final = 4096
_ROLES: Final = {"TEXT": "assistant", "REASONING": "reasoning", "TOOL": "call"}


class HeldMessages:
    """The messages and calls of one run, in the order in which they were first named.

    `known` are the ids of those that were there before.
    """

    def __init__(self, known: AbstractSet[str]) -> None:
        self._known = known
        self._roles: dict[str, str] = {}
        self._sealed: dict[str, str] = {}
        self._stated: dict[str, str] = {}  # of results, and of what a snapshot replaced
        self._is_full = False

    def take(self, kind: str, fields: dict[str, Any]) -> None:
        """One event of the run."""
        if kind == "REASONING_ENCRYPTED_VALUE":
            owner = string(fields.get("entityId"))
            if owner in self._roles:
                self._sealed[owner] = string(fields.get("encryptedValue"))
        elif kind == "MESSAGES_SNAPSHOT":
            self._replace(list(objects(fields.get("messages"))))
        elif kind == "TOOL_CALL_RESULT":
            self._add_result(fields)
        elif kind.endswith(("_START", "_CHUNK")) and kind != "STEP_START":
            self._name(kind.partition("_")[0], fields)

    def _name(self, kind: str, fields: dict[str, Any]) -> None:
        name = string(fields.get("toolCallId" if kind == "TOOL" else "messageId"))
        if name and kind in _ROLES:
            self._add(name, string(fields.get("role")) or _ROLES[kind])

    def _add_result(self, fields: dict[str, Any]) -> None:
        if name := string(fields.get("messageId")):
            self._add(name, "tool")
            self._stated[name] = spoken(fields.get("content"))

    def _add(self, name: str, role: str) -> None:
        self._is_full = self._is_full or len(self._roles) >= MOST_HELD
        if not self._is_full:
            self._roles.setdefault(name, role)

    def _replace(self, messages: list[dict[str, Any]]) -> None:
        calls = [call for each in messages for call in objects(each.get("toolCalls"))]
        stated = {string(each.get("id")): each for each in (*messages, *calls)}
        shows_thinking = any(each.get("role") == "reasoning" for each in messages)
        for each in messages:
            if (name := string(each.get("id"))) and name not in self._known:
                self._add(name, string(each.get("role")))
        for name, role in [*self._roles.items()]:
            if name in stated:
                self._sealed.pop(name, None)
                if sealed := string(stated[name].get("encryptedValue")):
                    self._sealed[name] = sealed
                self._stated[name] = spoken(stated[name].get("content"))
            elif role != "reasoning" or shows_thinking:
                self._roles.pop(name)
                self._sealed.pop(name, None)

    def events(self, streamed: Callable[[str], str]) -> Iterator[dict[str, str]]:
        """Each message with its `text` and what it is `sealed` with; `streamed` gives its text."""
        for name, role in () if self._is_full else self._roles.items():
            text = self._stated.get(name, streamed(name))
            data = {"id": name, "role": role, "text": text, "sealed": self._sealed.get(name, "")}
            yield {key: value for key, value in data.items() if value}
