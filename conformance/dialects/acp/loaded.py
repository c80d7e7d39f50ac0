"""The last message of each turn, and whether the agent replays it when a session is loaded.

Rule 1: of a turn that ended by itself its last message counts: the text after the last thought and
        the last call. White space does not count, nor does a message of few characters.
Rule 2: a command of the agent's own (`/help`) is no part of the conversation.
Rule 3: the messages are looked for in their order; a replay may hold more.
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
_OF_SESSION: Final = 64  # characters that a turn or a load counts as, in addition to its text


class LoadedSessions:
    """Remembers the last message of each turn, and looks for it in what is replayed."""

    def __init__(self) -> None:
        self._growing: dict[str, list[str]] = defaultdict(list)
        self._messages: dict[str, list[str]] = defaultdict(list)
        self._replayed: dict[str, list[str]] = defaultdict(list)
        self._commands: set[str] = set()
        self._size = 0

    def begin_turn(self, session: str, prompt: Any) -> None:
        self._size += _OF_SESSION
        if self._size > _MOST:
            return
        self._growing[session] = []
        first = next(iter(objects(prompt)), {})
        if string(first.get("text")).lstrip().startswith("/"):
            self._commands.add(session)
        else:
            self._commands.discard(session)

    def add_update(self, session: str, update: dict[str, Any], *, is_replayed: bool) -> None:
        kind = string(update.get("sessionUpdate"))
        if kind == _MESSAGE and self._size <= _MOST:
            text = string(mapping(update.get("content")).get("text"))
            self._size += len(text) + 1
            (self._replayed if is_replayed else self._growing)[session].append(text)
        elif kind in _ENDS_MESSAGE and not is_replayed:
            self._growing.pop(session, None)

    def end_turn(self, session: str, reason: str) -> None:
        message = "".join(self._growing.pop(session, ()))
        is_long = len(one_spelling(message)) >= _LEAST
        if reason == "end_turn" and session not in self._commands and is_long:
            self._messages[session].append(message)

    def begin_load(self, session: str) -> None:
        self._size += _OF_SESSION
        self._replayed.pop(session, None)

    def end_load(self, session: str) -> dict[str, Any] | None:
        """The session with the first message that its replay lacks; None without a comparison."""
        messages = self._messages.get(session)
        replayed = one_spelling("".join(self._replayed.pop(session, ())))
        if not messages or self._size > _MOST:
            return None
        at = 0
        for message in messages:
            spelled = one_spelling(message)
            found = replayed.find(spelled, at)
            if found < 0:
                return {"sessionId": session, "lost": message}
            at = found + len(spelled)
        return {"sessionId": session, "lost": ""}
