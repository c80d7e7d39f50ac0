"""How both hops of an application end: broken or complete, and why the model stopped.

Rule 1: a broken answer is not a success, and a complete one is not an error.
Rule 2: an application must not state a reason that contradicts the model's: `FALSE_ENDS`. Missing
        and undocumented reasons are not compared. An application may stop for reasons of its own,
        so a complete answer contradicts few of them: no filter took it where it is shown whole.
Rule 3: the calls of one answer continue until one of them waits for no result: its reason counts.
        If an application gave as many answers, each has its own; otherwise the last ones are
        compared. A call whose text the interface never shows (a title) does not end an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.evidence.hop_sides import TELLING, ApplicationHops, Compared, HopDifference
from conformance.evidence.side_content import EventPlace
from conformance.judging.hop_rules import NO_REASON
from conformance.judging.transcript import is_refusal

_BROKE_OFF: Final = frozenset({"error", "interrupted"})  # reasons that say that an answer broke off
_FATES: Final = {"cut": "was cut", "failed": "failed", "refused": "was refused"}

_CUT_SHORT: Final = frozenset({"length", "filtered"})
_REFUSES: Final = "filtered"  # the model ends without an answer

MODEL_ENDS: Final[Mapping[str, str]] = {
    "stop": "stop",
    "length": "limit",
    "content_filter": "filter",
    # Words of single providers, as their documents have them.
    "model_length": "limit",  # Mistral, its earlier versions
    "model_context_window_exceeded": "limit",  # Anthropic, Bedrock, Z.ai
    "sensitive": "filter",  # Z.ai
    "insufficient_system_resource": "failure",  # DeepSeek
    "network_error": "failure",  # Z.ai
}
"""What a reason of a model's answer says; those that are left out say nothing for certain."""
_WHOLE: Final = frozenset({"stop", "tool_calls"})
FALSE_ENDS: Final[Mapping[str, frozenset[str]]] = {
    "limit": _WHOLE | {"content_filter"},
    "filter": _WHOLE | {"length"},
    "failure": _WHOLE,
    "stop": frozenset({"length"}),
}
"""By what the model's reason says: the reasons that an application cannot state of it."""


class StatedEnd(Struct, frozen=True):
    """Why one answer ended, empty where nothing says so, where, and what came with it."""

    reason: str
    place: EventPlace
    text: str = ""
    calls: bool = False


def failure(hops: ApplicationHops) -> Compared:
    if not hops.broke_off or hops.is_stopped or not hops.was_recorded:
        return False
    if not hops.shown.is_whole or hops.shown.transcript.ending == _REFUSES:
        return True
    how, came = hops.calls[-1].transcript.ending, hops.shown.transcript.ending
    message = f"expected an answer that {_FATES[how]} upstream to fail, got {came}"
    return HopDifference(message, hops.made.last, hops.sent.last)


def failure_shown(hops: ApplicationHops) -> Compared:
    # Where the application hung up, it was stopped: the user has to learn that as well.
    hung_up = hops.calls[-1].exchange.end == "client-closed"
    if not hops.broke_off or hops.is_stopped or hops.shown.is_whole:
        return False
    # Another rule reports an answer that never ended.
    if not (hops.was_recorded or hung_up) or hops.shown.exchange.end == "idle-timeout":
        return False
    is_shown = hops.sent.errors or _BROKE_OFF & set(hops.shown.transcript.finishes)
    if is_shown or is_refusal(hops.shown.exchange):
        return True
    message = f"expected an error, got none: {hops.calls[-1].transcript.ending} upstream"
    return HopDifference(message, hops.made.last, hops.sent.last)


def answer_whole(hops: ApplicationHops) -> Compared:
    if hops.broke_off or hops.is_stopped or not hops.was_recorded:
        return False
    if hops.shown.is_whole:
        return True
    if _may_report_a_limit(hops):
        return False
    message = f"expected a whole answer, got one that {_FATES[hops.shown.transcript.ending]}"
    return HopDifference(message, hops.made.last, (*hops.sent.errors, hops.sent.last)[0])


def _may_report_a_limit(hops: ApplicationHops) -> bool:
    """Whether an answer was cut short, which only an error can say, or which left nothing else."""
    last = hops.calls[-1].transcript
    if last.ending not in _CUT_SHORT:
        return False
    return not (hops.shown.dialect.tells_reasons and (last.text or last.tools))


def reason_kept(hops: ApplicationHops) -> Compared:
    """Rules 2 and 3."""
    if hops.is_stopped or not hops.was_recorded or not hops.shown.is_whole:
        return False
    pairs = list(_paired_ends(hops))
    ended = [MODEL_ENDS.get(model.reason, "") for model, _ in pairs]
    if not hops.shown.dialect.tells_reasons:
        unsaid = any(each in ("limit", "filter", "failure") for each in ended)
        return f"{hops.shown.dialect.name} {NO_REASON}" if unsaid else False
    for why, (model, shown) in zip(ended, pairs, strict=True):
        if shown.reason in FALSE_ENDS.get(why, ()) or _is_filtered_whole(why, model, shown):
            message = f"expected {model.reason}, got {shown.reason}"
            return HopDifference(message, model.place, shown.place)
    return any(why and shown.reason for why, (_, shown) in zip(ended, pairs, strict=True))


def _is_filtered_whole(why: str, model: StatedEnd, shown: StatedEnd) -> bool:
    """Whether the application reports a filter, although it shows all that the model finished."""
    text = model.text.strip()
    is_shown = bool(text) and text in shown.text
    return why == "stop" and shown.reason == "content_filter" and is_shown


def _paired_ends(hops: ApplicationHops) -> Iterator[tuple[StatedEnd, StatedEnd]]:
    """Rule 3."""
    shown = list(_ends_of(0, hops.shown.transcript.events))
    calls = [
        end
        for number, answer in enumerate(hops.calls)
        if number not in hops.tries
        for end in _ends_of(number, answer.transcript.events)
    ]
    finals = [each for each in calls if not each.calls and each.reason != "tool_calls"]
    if len(shown) > 1 and len(finals) == len(shown):
        yield from zip(finals, shown, strict=True)
    elif shown and calls:
        text = "".join(each.text for each in hops.sent.of("text"))
        ends = (each for each in reversed(calls) if _is_shown(each, text))
        yield next(ends, calls[-1]), shown[-1]


def _is_shown(end: StatedEnd, text: str) -> bool:
    return end.calls or end.text.strip()[-TELLING:] in text


def _ends_of(number: int, events: Sequence[Event]) -> Iterator[StatedEnd]:
    """The end of each answer of an exchange."""
    by_answer: dict[int, list[Event]] = {}
    for event in events:
        if not event.data.get("choice"):
            by_answer.setdefault(event.answer, []).append(event)
    for own in by_answer.values():
        finish = next((each for each in reversed(own) if each.type == "finish"), None)
        yield StatedEnd(
            str(finish.data.get("reason")) if finish else "",
            EventPlace(number, (finish or own[-1]).number),
            "".join(each.data["text"] for each in own if each.type == "text.delta"),
            any(each.type == "tool.end" and not each.data.get("hosted") for each in own),
        )
