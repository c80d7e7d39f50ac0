"""Where the message and its blocks of thinking begin for users of a client, as its likeness has it.

Rule 1: where the message starts with its text, its start waits for the first text.
Rule 2: where thinking starts once, what the wire did not announce goes on in the first block of its
choice; what is announced is a block of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .defects import Defect
from .event import Event
from .likeness import Likeness

Reports = Callable[[Event], Iterator[Event]]


def reports(like: Likeness, defect: Defect) -> Reports:
    """Return the reports of the events of one answer, in order, with the edits of a defect."""
    rules: list[Callable[[Event], Iterable[Event]]] = []
    if like.message_with_text:
        rules.append(_Messages().report)
    if like.starts_once:
        rules.append(_Blocks().report)
    rules.append(defect.events())

    def report(event: Event) -> Iterator[Event]:
        events: Iterable[Event] = (event,)
        for rule in rules:
            events = [made for each in events for made in rule(each)]
        yield from events

    return report


class _Messages:
    def __init__(self) -> None:
        self._waiting: dict[int, Event] = {}

    def report(self, event: Event) -> Iterator[Event]:
        """The event, after the start of its message where that has waited for it."""
        if event.type == "message.start":
            self._waiting[event.choice] = event
            return
        if event.type == "text.start" and event.choice in self._waiting:
            yield self._waiting.pop(event.choice)
        yield event


class _Blocks:
    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self._same: dict[int, int] = {}

    def report(self, event: Event) -> Iterator[Event]:
        """The event, in the block where it is reported; none for a start that is one too many."""
        block: int = event.data.get("block", -1)
        if event.type == "thinking.start" and not event.data["explicit"]:
            first = self._same[block] = self._first.setdefault(event.choice, block)
            if first != block:
                return
        if block in self._same:
            event = Event(event.type, {**event.data, "block": self._same[block]}, event.choice)
        yield event
