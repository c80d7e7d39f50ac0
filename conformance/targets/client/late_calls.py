"""Moves calls to the finish of their choice, for comparisons.

Some APIs do not mark the end of a call, and some clients report calls only when the answer is
complete. If one side has this order, both the sent and the reported events are put into it. In an
answer without a finish, calls come after the texts of their choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.core.events import Event
from conformance.judging.transcript import Transcript

CALLS_AT_END: Final = "calls-at-end"
"""The feature of a client that shows calls only when the answer is whole."""
TEXTS: Final = frozenset(
    {"thinking.delta", "thinking.part", "thinking.opaque", "text.delta", "refusal.delta"}
)
_CALL: Final = "tool.end"
_Key = tuple[str, Any]  # an event's type, and the choice that it is of


def calls_at_finish(
    events: Sequence[Mapping[str, Any]], *, is_after_finish: bool
) -> Sequence[Mapping[str, Any]]:
    """What a client reported, with every call at the finish of its choice.

    A call that was reported after the finish stays there, unless `is_after_finish` permits that.
    """
    keys = [(str(each["type"]), each.get("choice", 0)) for each in events]
    return [events[at] for at, _ in _order(keys, is_after_finish=is_after_finish)]


def sent_late(sent: Transcript) -> Transcript:
    """Return the transcript with every call in the frame in which its choice finishes."""
    keys = [
        (each.type if each.layer == "semantic" else "", each.data.get("choice", 0))
        for each in sent.events
    ]
    moved = [
        _in_frame(sent.events[at], sent.events[frame])
        for at, frame in _order(keys, is_after_finish=True)
    ]
    return replace(sent, events=moved)


def _in_frame(event: Event, other: Event) -> Event:
    return event if event.number == other.number else replace(event, number=other.number)


def _order(keys: Sequence[_Key], *, is_after_finish: bool) -> list[tuple[int, int]]:
    """The places of the events in their new order, each with that of the event next to it."""
    texts = {choice: at for at, (kind, choice) in enumerate(keys) if kind in TEXTS}
    finishes = {choice: at for at, (kind, choice) in enumerate(keys) if kind == "finish"}

    def place(at: int) -> tuple[float, int]:
        kind, choice = keys[at]
        if kind != _CALL:
            return at, at
        next_to = finishes.get(choice, texts.get(choice, at))
        late = next_to - 0.5 if choice in finishes else next_to + 0.5
        return (late, next_to) if late > at or is_after_finish else (at, at)

    places = sorted((place(at), at) for at in range(len(keys)))
    return [(at, next_to) for (_, next_to), at in places]
