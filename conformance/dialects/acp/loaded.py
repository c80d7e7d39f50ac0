"""What the turns of a session said, and whether it is told again where the session is loaded.

Rule 1: of a turn that ended by itself its last message counts: what stands behind the last thought
        and the last call. White space does not count, nor does a message of few characters.
Rule 2: a command of the agent's own (`/help`) is no part of the conversation.
Rule 3: the messages are looked for in their order; there may be more.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from conformance.core.spelling import one_spelling
from conformance.dialects.json_edge import mapping, objects, string

_MESSAGE: Final = "agent_message_chunk"
_ENDS_MESSAGE: Final = frozenset({"agent_thought_chunk", "tool_call"})
_LEAST: Final = 8  # characters, spelled
_MOST: Final = 4 * 1024 * 1024  # characters of all sessions; beyond, none is compared


class LoadedSessions:
    """Remembers last messages, and compares them with what is replayed."""

    def __init__(self) -> None:
        self._current: dict[str, list[str]] = defaultdict(list)
        self._said: dict[str, list[str]] = defaultdict(list)
        self._replayed: dict[str, list[str]] = defaultdict(list)
        self._commands: set[str] = set()
        self._size = 0

    def prompt(self, session: str, prompt: Any) -> None:
        """A turn begins."""
        self._current[session] = []
        first = next(iter(objects(prompt)), {})
        if string(first.get("text")).lstrip().startswith("/"):
            self._commands.add(session)
        else:
            self._commands.discard(session)

    def take(self, session: str, update: dict[str, Any], *, is_replayed: bool) -> None:
        """An update of a turn, or of one that is replayed."""
        kind = string(update.get("sessionUpdate"))
        if kind == _MESSAGE and self._size <= _MOST:
            text = string(mapping(update.get("content")).get("text"))
            self._size += len(text)
            (self._replayed if is_replayed else self._current)[session].append(text)
        elif kind in _ENDS_MESSAGE and not is_replayed:
            self._current[session] = []

    def stop(self, session: str, reason: str) -> None:
        """A turn ends."""
        message = "".join(self._current.pop(session, ()))
        is_long = len(one_spelling(message)) >= _LEAST
        if reason == "end_turn" and session not in self._commands and is_long:
            self._said[session].append(message)

    def load(self, session: str) -> None:
        """A session is asked for."""
        self._replayed[session] = []

    def loaded(self, session: str) -> dict[str, Any] | None:
        """What came of it; None where nothing can be compared."""
        said = self._said.get(session)
        replayed = one_spelling("".join(self._replayed.pop(session, ())))
        if not said or self._size > _MOST:
            return None
        at = 0
        for message in said:
            spelled = one_spelling(message)
            found = replayed.find(spelled, at)
            if found < 0:
                return {"sessionId": session, "lost": message}
            at = found + len(spelled)
        return {"sessionId": session, "lost": ""}
