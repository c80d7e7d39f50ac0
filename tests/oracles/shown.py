"""What an official client shows of a stream, as one value that two streams are compared by."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

Event = Mapping[str, Any]
Reader = Callable[[bytes], Iterable[Event]]
"""The events that a client shows of the bytes of one answer; it raises what the client raises."""

_JOINED: Final = ("thinking.delta", "text.delta", "refusal.delta")
_UNSEEN: Final = ("thinking.opaque",)  # nobody is shown it, and it has rules of its own


class Shown(Struct, frozen=True):
    """Texts joined by their kind, all else as it came; `raised` is what ended the reading."""

    said: tuple[tuple[str, str], ...]
    raised: str = ""


def shown_by(reader: Reader, body: bytes) -> Shown:
    """What the client shows of these bytes, up to where it raises, if it does."""
    texts: dict[str, str] = {}
    others: list[tuple[str, str]] = []
    raised = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # pydantic, of what a client got
            for event in reader(body):
                if event["type"] in _JOINED:
                    kind = f"{event['type']} of choice {event.get('choice', 0)}"
                    texts[kind] = texts.get(kind, "") + event["text"]
                elif event["type"] not in _UNSEEN:
                    others.append((event["type"], repr({**event})))
    except Exception as error:  # noqa: BLE001  # whatever a client raises is how it refuses
        raised = f"{type(error).__name__}: {error}"[:300]
    return Shown((*texts.items(), *others), raised)
