"""Clients that show thinking in one view, and do not say whether it is raw or a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.core.events import Event
from conformance.judging.transcript import Transcript

_THINKING: Final = "thinking.delta"
_CHANNEL: Final = "channel"
Told = Sequence[Mapping[str, Any]]


def in_one_channel(sent: Transcript, told: Told) -> tuple[Transcript, Told]:
    """Both sides in one channel, where the client names none; else as they are.

    What was sent in one channel lends it to the client's report; what was sent in two is raw then.
    """
    thought = [each for each in told if each["type"] == _THINKING]
    if not thought or any(_CHANNEL in each for each in thought):
        return sent, told
    channels = {each.data.get(_CHANNEL) for each in sent.events if _is_thinking(each)}
    lent = channels.pop() if len(channels) == 1 else "raw"
    filled = [{**each, _CHANNEL: lent} if each["type"] == _THINKING else each for each in told]
    own = [_in_channel(each, lent) if _is_thinking(each) else each for each in sent.events]
    return replace(sent, events=own), filled


def _is_thinking(event: Event) -> bool:
    return event.layer == "semantic" and event.type == _THINKING


def _in_channel(event: Event, channel: Any) -> Event:
    return replace(event, data={**event.data, _CHANNEL: channel})
