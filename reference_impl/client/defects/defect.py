"""A defect, and the five places where it may hook in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..apis import Request
from ..ask import Ask
from ..event import Event

BytesEdit = Callable[[bytes], bytes]
EventEdit = Callable[[Event], Iterable[Event]]
AskEdit = Callable[[Ask], Ask]
RequestEdit = Callable[[Request], Request]
Record = dict[str, Any]
RecordEdit = Callable[[Record], Record]


def _left_unchanged(value: Any) -> Any:
    return value


def _every_event() -> EventEdit:
    return lambda event: (event,)


@dataclass(frozen=True, slots=True)
class Defect:
    """One fault. `rules` are the full ids of all rules that find it, cascades included.

    Three ids are in no suite, only a harness run can judge them: `harness/ending` (which end is
    told of a stream that broke off), `harness/next-request` (what would be sent against what was
    asked for) and `harness/restores` (what is read of what was stored).

    `events` makes a door for one stream, so that a defect may remember what went through.
    """

    name: str
    says: str
    rules: tuple[str, ...]
    bytes: BytesEdit = _left_unchanged
    events: Callable[[], EventEdit] = _every_event
    ask: AskEdit = _left_unchanged
    request: RequestEdit = _left_unchanged
    store: RecordEdit = _left_unchanged
