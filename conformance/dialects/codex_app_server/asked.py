"""The requests of an app server's client, as far as the answers have to agree with them.

Rule 1: a response with an id that no request has, while one of the client's waits, answers nothing.
        Both sides may count from the same number.
Rule 2: a turn has the id that the response to turn/start gave it, whichever came first.
Rule 3: the first message of the user's in a turn holds the texts of its input, as far as those are
        compared.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from conformance.core.spelling import one_spelling
from conformance.dialects.json_edge import mapping, objects, string

_START: Final = "turn/start"
_MOST: Final = 4096  # requests that wait, and threads
_MOST_TEXT: Final = 4096  # characters of an input that are looked for
_SIDES: Final = 2  # that may each wait for a response with the same id


class _AskedTurn(Struct):
    """A turn that a thread was asked for."""

    text: str = ""
    answered: str = ""  # its id by the response
    started: str = ""  # and by the notification


class AskedTurns:
    """Requests that wait, and the latest turn that each thread was asked for."""

    def __init__(self) -> None:
        self._waiting: dict[str | int, list[tuple[bool, str]]] = {}
        self._of_client = 0
        self._turns: dict[str, _AskedTurn] = {}
        self._asked: dict[str, str] = {}  # threads whose input is still to come back, with it

    def ask(self, method: str, fields: dict[str, Any], *, by_client: bool) -> None:
        number = fields.get("id")
        if not isinstance(number, str | int) or len(self._waiting) >= _MOST:
            return
        waiting = self._waiting.setdefault(number, [])
        if len(waiting) >= _SIDES:
            return
        params = mapping(fields.get("params"))
        thread = string(params.get("threadId")) if method == _START else ""
        waiting.append((by_client, thread))
        self._of_client += by_client
        if thread and len(self._turns) < _MOST:
            self._turns[thread] = _AskedTurn()
            self._asked[thread] = _text(params.get("input"))[:_MOST_TEXT]

    def respond(self, fields: dict[str, Any]) -> dict[str, bool]:
        """How a response fits the requests and turns so far."""
        number = fields.get("id")
        number = number if isinstance(number, str | int) else ""
        waiting = self._waiting.get(number)
        if not waiting:
            return {"request_known": False} if self._of_client else {}
        by_client, thread = waiting.pop()
        if not waiting:
            self._waiting.pop(number)
        self._of_client -= by_client
        turn = self._turns.get(thread)
        name = string(mapping(mapping(fields.get("result")).get("turn")).get("id"))
        if turn is None or not name:
            return {"request_known": True}
        turn.answered = name
        return {"request_known": True, **_agreed(turn)}

    def start(self, thread: str, name: str) -> dict[str, bool]:
        """How a turn that starts fits the one that was requested."""
        turn = self._turns.get(thread)
        if turn is None or turn.started:
            return {}
        turn.started = name
        return _agreed(turn)

    def hear(self, thread: str, item: dict[str, Any]) -> dict[str, bool]:
        """How a message of the user fits the input of its turn."""
        asked = self._asked.pop(thread, "")
        return {"as_asked": asked in _text(item.get("content"))} if asked else {}


def _agreed(turn: _AskedTurn) -> dict[str, bool]:
    are_both = turn.answered and turn.started
    return {"as_answered": turn.answered == turn.started} if are_both else {}


def _text(parts: Any) -> str:
    return one_spelling("".join(string(each.get("text")) for each in objects(parts)))
