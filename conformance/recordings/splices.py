"""Two answers in what should be one exchange: where the second begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.core.events import Event

_LAST: Final = frozenset(
    {
        *("response.completed", "response.incomplete", "response.failed"),
        *("message_stop", "[DONE]"),
    }
)
_ONCE: Final = frozenset({"response.created", "message_start"})
_FIRST: Final = _ONCE | {"chat.chunk"}


def splice(events: Iterable[Event]) -> int | None:
    """Number of the frame in which a second answer begins; None if there is one answer only.

    An answer begins with its first wire event, also where the one before never ended, and in Chat
    Completions where another id brings a role or a text after the finish.
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
        if event.type == "chat.chunk":
            shown = str(event.data.get("id"))
        if event.type == "chat.choice" and finished not in ("", shown) and _says_something(event):
            return event.number
        ended = ended or event.type in _LAST
    return None


def _says_something(event: Event) -> bool:
    delta = event.data.get("delta")
    return isinstance(delta, dict) and any(delta.get(key) for key in ("role", "content"))
