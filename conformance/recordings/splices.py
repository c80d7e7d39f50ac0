"""Two answers in what should be one exchange: where the second begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.core.events import Event
from conformance.dialects import SUPPORTED

_BOUNDS: Final = tuple(dialect.bounds for dialect in SUPPORTED.values())
_FIRST: Final = frozenset[str]().union(*(bounds.first for bounds in _BOUNDS))
_ONCE: Final = frozenset[str]().union(*(bounds.once for bounds in _BOUNDS))
_LAST: Final = frozenset[str]().union(*(bounds.last for bounds in _BOUNDS))
_IDENTIFIED: Final = frozenset(bounds.identified for bounds in _BOUNDS)


def find_splice(events: Iterable[Event]) -> int | None:
    """Number of the frame in which a second answer begins; None if there is one answer only.

    An answer begins with its first wire event, also where the one before never ended, and where
    another id brings a role or a text after the finish.
    """
    begun, ended, shown, finished = False, False, "", ""
    for event in events:
        if event.layer == "semantic":
            finished = shown if event.type == "finish" else finished
        if event.layer != "wire":
            continue
        if (ended and event.type in _FIRST) or (begun and event.type in _ONCE):
            return event.number
        begun = begun or event.type in _ONCE
        if event.type in _IDENTIFIED:
            shown = str(event.data.get("id"))
        if finished not in ("", shown) and _speaks(event):
            return event.number
        ended = ended or event.type in _LAST
    return None


def _speaks(event: Event) -> bool:
    return any(bounds.speaks(event) for bounds in _BOUNDS)
