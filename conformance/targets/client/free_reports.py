"""What a client may report otherwise than it was sent, and be right.

Some servers repeat the finish next to the usage, and clients show one. Chunks of Gemini may state a
reason on the way, be it the one that means none, and clients show what each chunk states. Clients
with one view of thinking do not name its channel, raw or summary. A call that ends at the limit of
tokens, in the middle of its arguments, is none that anybody can carry out, and many clients report
it nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.core.events import Event
from conformance.judging.client_calls import parsed_arguments
from conformance.judging.transcript import Transcript

_FINISH: Final = "finish"
_THINKING: Final = "thinking.delta"
_CHANNEL: Final = "channel"
_CALL: Final = "tool.end"
Reported = Sequence[Mapping[str, Any]]


def finished_once(sent: Transcript, reported: Reported) -> tuple[Transcript, Reported]:
    """Both sides with each finish once, where the client reported fewer than were sent."""
    again = _repeated(
        (each.type if each.layer == "semantic" else "", each.data) for each in sent.events
    )
    shown = _repeated((str(each["type"]), each) for each in reported)
    if len(shown) >= len(again):
        return sent, reported
    own = [each for at, each in enumerate(sent.events) if at not in again]
    return replace(sent, events=own), [each for at, each in enumerate(reported) if at not in shown]


def without_early_finishes(sent: Transcript, reported: Reported) -> Reported:
    """The last finish of each choice, where a client reported more of them than were sent."""
    last = {each.get("choice", 0): at for at, each in enumerate(reported) if _is_finish(each)}
    if sum(map(_is_finish, reported)) <= len(sent.finishes):
        return reported
    return [e for at, e in enumerate(reported) if not _is_finish(e) or at in last.values()]


def _is_finish(event: Mapping[str, Any]) -> bool:
    return bool(event["type"] == _FINISH)


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


def without_cut_calls(sent: Transcript, reported: Reported) -> Transcript:
    """Return the transcript without calls of invalid JSON, where the client reports fewer."""
    calls = [each for each in sent.events if _is_own_call(each)]
    cut = [each for each in calls if _is_cut(each.data)]
    reported_calls = sum(each["type"] == _CALL for each in reported)
    if not cut or reported_calls != len(calls) - len(cut):
        return sent
    return replace(sent, events=[each for each in sent.events if each not in cut])


def _is_cut(call: Mapping[str, Any]) -> bool:
    return not call.get("arguments") or isinstance(parsed_arguments(call), str)


def _is_own_call(event: Event) -> bool:
    is_call = event.layer == "semantic" and event.type == _CALL
    return is_call and not event.data.get("hosted")


def in_one_channel(sent: Transcript, reported: Reported) -> tuple[Transcript, Reported]:
    """Both sides in one channel, where the client names none; else as they are.

    What was sent in one channel lends it to the client's report; what was sent in two is raw then.
    """
    thought = [each for each in reported if each["type"] == _THINKING]
    if not thought or any(_CHANNEL in each for each in thought):
        return sent, reported
    channels = {each.data.get(_CHANNEL) for each in sent.events if _is_thinking(each)}
    lent = channels.pop() if len(channels) == 1 else "raw"
    filled = [{**each, _CHANNEL: lent} if each["type"] == _THINKING else each for each in reported]
    own = [_in_channel(each, lent) if _is_thinking(each) else each for each in sent.events]
    return replace(sent, events=own), filled


def _is_thinking(event: Event) -> bool:
    return event.layer == "semantic" and event.type == _THINKING


def _in_channel(event: Event, channel: Any) -> Event:
    return replace(event, data={**event.data, _CHANNEL: channel})
