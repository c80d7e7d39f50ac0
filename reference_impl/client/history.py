"""Entries of a history in the form of one API, and which call a result answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .turn import Called, Turn

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryForm:
    """What is known of the entries of one API.

    `is_answer`: the model said it. `body` is the whole answer that such entries, one behind the
    other, would be. `given` are the turns of any other entry; None where it has no form of its own.
    """

    is_answer: Callable[[Entry], bool]
    body: Callable[[Sequence[Entry]], dict[str, Any]]
    given: Callable[[Entry], Iterable[Turn] | None]


class Results:
    """Which call a result answers: by its id, else by its name, else the next one in line.

    Some APIs give calls no ids, and want the name back. `expect` every turn of a history, and ask
    for the call of every result.
    """

    def __init__(self) -> None:
        self._open: list[Called] = []

    def expect(self, turn: Turn) -> None:
        """Note the calls of a turn; those before it are not answered any more."""
        self._open = list(turn.calls)

    def called(self, result: Turn) -> Called:
        """The call that a result answers; one of that name where nothing else is known."""
        by_id = (call for call in self._open if call.id == result.call_id)
        by_name = (call for call in self._open if call.name == result.call_id)
        call = next(by_id, None) or next(by_name, None) or next(iter(self._open), None)
        if call is None:
            return Called("", result.call_id, "")
        self._open.remove(call)
        return call
