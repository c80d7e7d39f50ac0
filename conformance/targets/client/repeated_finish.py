"""A finish that is sent again: some servers repeat it beside the usage, and clients show one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.judging.transcript import Transcript

_FINISH: Final = "finish"
Told = Sequence[Mapping[str, Any]]


def finished_once(sent: Transcript, told: Told) -> tuple[Transcript, Told]:
    """Both sides with each finish once, where the client reported fewer than were sent."""
    again = _repeated(
        (each.type if each.layer == "semantic" else "", each.data) for each in sent.events
    )
    shown = _repeated((str(each["type"]), each) for each in told)
    if len(shown) >= len(again):
        return sent, told
    own = [each for at, each in enumerate(sent.events) if at not in again]
    return replace(sent, events=own), [each for at, each in enumerate(told) if at not in shown]


def _repeated(events: Iterable[tuple[str, Mapping[str, Any]]]) -> set[int]:
    """The places of what says no more than a finish before it."""
    seen: set[tuple[Any, Any]] = set()
    found: set[int] = set()
    for at, (kind, data) in enumerate(events):
        if kind != _FINISH:
            continue
        key = (data.get("choice", 0), data.get("reason"))
        if key in seen:
            found.add(at)
        seen.add(key)
    return found
