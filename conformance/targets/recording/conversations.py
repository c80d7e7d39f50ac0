"""Which conversation a request carries on: known by what it repeats.

Rule 1: a request that names an earlier response (`previous_response_id`) follows it.
Rule 2: a request whose history begins with all that an earlier request sent, and goes on with an
answer, follows that one; the longest such beginning counts.
Rule 3: where two exchanges fit alike, nothing is claimed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Request
from conformance.dialects import HISTORIES, SUPPORTED

_MOST: Final = 10_000
_FORMS: Final = tuple(each.request for each in SUPPORTED.values() if each.request)
_PREVIOUS: Final = tuple(form.previous for form in _FORMS if form.previous)
_ANSWER_IDS: Final = tuple(
    re.compile(form.answer_id_bytes) for form in _FORMS if form.answer_id_bytes
)


class ExchangePlace(Struct, frozen=True):
    """An exchange by the file that holds it and its number there."""

    file: str
    number: int


class Conversations:
    """Remembers what was asked and answered, the last 10,000 exchanges."""

    def __init__(self) -> None:
        self._turns: OrderedDict[bytes, list[ExchangePlace]] = OrderedDict()
        self._answered: OrderedDict[str, ExchangePlace] = OrderedDict()

    def preceding_exchange(self, request: Request) -> ExchangePlace | None:
        """The exchange that this request carries on; None if that is not known."""
        body = request.json
        if not isinstance(body, dict):
            return None
        for named in (body.get(key) for key in _PREVIOUS):
            if isinstance(named, str) and named in self._answered:
                return self._answered[named]
        history = _sent_history(body)
        digests = _history_digests(request.path, history)
        for length in range(len(history) - 1, 0, -1):
            turns = self._turns.get(digests[length], [])
            if turns and any(form.is_answer(history[length]) for form in _FORMS):
                return turns[0] if len(turns) == 1 else None
        return None

    def remember_request(self, request: Request, turn: ExchangePlace) -> None:
        """This exchange sent this history."""
        history = _sent_history(request.json)
        if history:
            digest = _history_digests(request.path, history)[-1]
            self._turns.setdefault(digest, []).append(turn)
            _forget_oldest(self._turns)

    def remember_answer(self, start: bytes, turn: ExchangePlace) -> None:
        """This exchange's body began like this: the id of a response stands there, if anywhere."""
        for match in filter(None, (pattern.search(start) for pattern in _ANSWER_IDS)):
            self._answered[match[1].decode()] = turn
            _forget_oldest(self._answered)


def _sent_history(body: Any) -> list[Any]:
    found = [body.get(key) for key in HISTORIES] if isinstance(body, dict) else []
    for one in found:
        if isinstance(one, str):
            return [{"role": "user", "content": one}]
        if isinstance(one, list):
            return one
    return []


def _history_digests(path: str, history: list[Any]) -> list[bytes]:
    """For each length from 0, a digest of the history's first items."""
    running = hashlib.sha256(path.encode("utf-8", "surrogatepass"))
    digests = [running.digest()]
    for item in history:
        text = json.dumps(item, sort_keys=True, separators=(",", ":"))
        running.update(text.encode() + b"\n")
        digests.append(running.digest())
    return digests


def _forget_oldest(memory: OrderedDict[Any, Any]) -> None:
    if len(memory) > _MOST:
        memory.popitem(last=False)
