"""What is compared between the two hops of an application, one function for each rule.

Rule 1: all that its models said stands against all that the interface was sent: an answer of the
        application holds several calls of a model.
Rule 2: of an answer that broke off, or that the user stopped, what was sent must be a beginning of
        what was said.
Rule 3: thinking that a provider sends twice, itself and as a summary, may be sent on either way.
Rule 4: data that is never displayed is kept if the interface gets it, wherever it stands, or if a
        later request to the provider has it. Of several values of one block the last one counts.
        A protocol without a place for it is judged by later requests alone.
Rule 5: where the interface has titles for calls and no names, only their number is compared. Where
        it does not tell parts of thinking apart, there may be fewer of them, and white space more.
Rule 6: calls that the provider carries out itself may be sent on; no application has to. Where only
        some are, the order is compared without calls.
Rule 7: an application that is said to hide thinking sends none of it, in whatever field.
Rule 8: a text that no model said is told by `hop/text`, and has no place in the order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Exchange, Request
from conformance.dialects.base import Dialect, Reading
from conformance.evidence.said import EventPlace, OpaqueValue, SaidContent, SaidPart
from conformance.evidence.thinking_due import thinking_due
from conformance.judging import hop_rules as rules
from conformance.judging.transcript import WHOLE_ENDS, Transcript
from conformance.rules.forms.texts import difference
from conformance.rules.model import Rule

_STOPPED: Final = frozenset({"abort", "cancelled"})
_TOLD: Final = frozenset({"error", "interrupted"})  # reasons that say that an answer broke off
_UNHEARD: Final = frozenset({"client-closed", "open"})  # ends of which the sender knows nothing
_TELLING: Final = 12  # characters that no other text has by chance


class ReadAnswer(Struct, frozen=True):
    """An exchange, the way in which it is read, and what it said; semantic events are kept.

    `other` is the answer in another reading that holds, too.
    """

    dialect: Dialect
    reading: Reading
    transcript: Transcript
    source: tuple[str, int] = ("", 1)  # its file, and its number there
    other: ReadAnswer | None = None

    @property
    def exchange(self) -> Exchange:
        return self.transcript.exchange

    @property
    def is_whole(self) -> bool:
        return self.transcript.ending in WHOLE_ENDS


class ApplicationHops(Struct, frozen=True):
    """Both sides. `behind` are the provider's answers in turn, `shown` is the application's.

    `said` is the content of the one, `sent` of the other; `strings` are those of the application's
    payloads, by path, each with its event. `later` are the provider's requests in the turns that
    carry this one on. `hides`: the application is said to show no thinking.
    `has_no_place`: the profile says so of opaque data.
    """

    behind: tuple[ReadAnswer, ...]
    shown: ReadAnswer
    said: SaidContent
    sent: SaidContent
    strings: Mapping[str, Sequence[tuple[int, str]]]
    later: Sequence[Request] = ()
    hides: bool = False
    has_no_place: bool = False

    @property
    def is_stopped(self) -> bool:
        """Whether the user stopped the answer, or the application gave up listening."""
        finishes = set(self.shown.transcript.finishes)
        return bool(_STOPPED & finishes) or self.shown.exchange.end in _UNHEARD

    @property
    def broke_off(self) -> bool:
        """Whether the last answer of the provider is not all there."""
        return not self.behind[-1].is_whole

    @property
    def was_heard(self) -> bool:
        """Whether all that the provider sent was recorded."""
        return all(each.exchange.end not in _UNHEARD for each in self.behind)

    @property
    def are_whole(self) -> bool:
        is_stopped = self.is_stopped or not self.was_heard
        return not (self.broke_off or is_stopped) and self.shown.is_whole


class HopDifference(Struct, frozen=True):
    """Where both sides part: the event of the provider, and that of the application."""

    message: str
    said: EventPlace
    sent: EventPlace


Compared = HopDifference | bool | str
"""A difference; True where both are alike, False where there was nothing to compare, a text where
nothing can be: it says why."""


def _texts(hops: ApplicationHops, said: Sequence[SaidPart], sent: Sequence[SaidPart]) -> Compared:
    wanted, got = ("".join(each.text for each in side) for side in (said, sent))
    if not hops.are_whole:
        wanted = wanted[: len(got)]
    if not hops.was_heard:
        got = got[: len(wanted)]
    if wanted == got:
        return bool(wanted)
    at, had, has = difference(wanted, got)
    return HopDifference(
        f"expected {had}, got {has} at character {at}",
        hops.said.place_of(said, at),
        hops.sent.place_of(sent, at),
    )


def _text(hops: ApplicationHops) -> Compared:
    return _texts(hops, hops.said.of("text"), hops.sent.of("text"))


def _thinking(hops: ApplicationHops) -> Compared:
    return False if hops.hides else _texts(hops, _due(hops), hops.sent.of("thinking"))


def _due(hops: ApplicationHops) -> Sequence[SaidPart]:
    is_parted = hops.shown.dialect.tells_parts
    return thinking_due(hops.said, hops.sent, is_parted=is_parted)


def _thinking_parts(hops: ApplicationHops) -> Compared:
    said, sent = _due(hops), hops.sent.of("thinking")
    begun = [each for each in hops.sent.parts if each.kind == "thinking"]
    if hops.hides or not begun:
        return False
    is_joined = len(sent) < len(said) and not hops.shown.dialect.tells_parts
    if hops.are_whole and sent and len(said) != len(sent) and not is_joined:
        message = f"expected {len(said)} parts of thinking, got {len(sent)}"
        at = min(len(said), len(sent))
        return _beside(hops, message, said[at:], sent[at:])
    most = hops.said.thoughts
    if len(begun) > most:
        spare = [each for each in begun if not each.pieces]
        message = f"expected {most} parts of thinking, got {len(begun)}"
        return _beside(hops, message, (), spare)
    return True


def _thinking_apart(hops: ApplicationHops) -> Compared:
    """Thinking and what stands beside it overlap only where the provider's do."""
    if hops.hides or overlap(hops.said):
        return False
    if (pair := overlap(hops.sent)) is not None:
        one, two = pair
        message = f"expected the end of {one.kind} before {two.kind} begins, got it later"
        at = next((each for each in hops.said.spoken if each.kind == two.kind), None)
        return HopDifference(message, at.first if at else hops.said.last, two.first)
    return any(each.kind == "thinking" and each.end for each in hops.sent.spoken)


def overlap(content: SaidContent) -> tuple[SaidPart, SaidPart] | None:
    """Two parts of which one begins before the other has ended, and one is thinking.

    Thinking itself and a summary are of one item, and may come at once.
    """
    for one, two in pairwise(content.spoken):
        is_summarised = one.kind == two.kind and one.channel != two.channel
        if "thinking" not in (one.kind, two.kind) or one.end is None or is_summarised:
            continue
        begins = two.start if two.kind == "thinking" else two.first
        if one.end.answer == begins.answer and one.end.number > begins.number:
            return one, two
    return None


def _order(hops: ApplicationHops) -> Compared:
    words = "".join(each.text for each in hops.said.of("text"))
    own = [each for each in hops.sent.parts if each.kind != "text" or _is_of(words, each.text)]
    said, sent = hops.said.order, SaidContent(own).order
    both = {kind for kind, _ in said} & {kind for kind, _ in sent}
    calls = hops.said.of("tool")
    if any(each.is_hosted for each in calls) and len(calls) != len(hops.sent.of("tool")):
        both.discard("tool")
    said, sent = ([each for each in side if each[0] in both] for side in (said, sent))
    wanted, got = ([kind for kind, _ in _merged(side)] for side in (said, sent))
    if not hops.are_whole:
        wanted = wanted[: len(got)]
    if wanted == got:
        return len(wanted) > 1
    at = _first_other(wanted, got)
    message = f"expected {', '.join(wanted)}, got {', '.join(got)}"
    return _beside(hops, message, _merged(said)[at:], _merged(sent)[at:])


def _is_of(words: str, text: str) -> bool:
    """Whether a text begins or ends with what stands in the model's."""
    shown = text.strip()
    return shown[:_TELLING] in words or shown[-_TELLING:] in words


def _merged(kinds: Sequence[tuple[Any, EventPlace]]) -> list[tuple[Any, EventPlace]]:
    before = (None, *(kind for kind, _ in kinds))
    return [each for each, last in zip(kinds, before, strict=False) if each[0] != last]


def _opaque(hops: ApplicationHops) -> Compared:
    if hops.hides or not hops.are_whole:
        return False
    values = [each for each in _last_values(hops.said.opaque) if each.data]
    if values and hops.has_no_place:
        return f"this release of {hops.shown.dialect.name} {rules.NO_PLACE}"
    if values and not hops.shown.dialect.carries_opaque and not hops.later:
        why = "no later request shows whether they are kept"
        return f"{hops.shown.dialect.name} {rules.NO_PLACE}, and {why}"
    kept = list(_kept_strings(hops)) if values else []
    for value in values:
        if not any(value.data in each for each in kept):
            message = f"expected the provider's {value.kind} data, got it nowhere"
            return HopDifference(message, value.place, hops.sent.last)
    return bool(values)


def _returned(hops: ApplicationHops) -> Compared:
    """What the model sealed before it called a tool stands in the request with the result."""
    found = False
    for number, (answer, later) in enumerate(pairwise(hops.behind)):
        request = later.exchange.request
        if request is None or request.json is None or not answer.transcript.own_tools:
            continue
        text = json.dumps(request.json, ensure_ascii=False)
        for value in _last_values([e for e in hops.said.opaque if e.owner[0] == number]):
            found = True
            if value.data and value.data not in text:
                message = f"expected the {value.kind} data in the next request, got it nowhere"
                return HopDifference(message, value.place, hops.sent.last)
    return found


def _last_values(values: Sequence[OpaqueValue]) -> Iterator[OpaqueValue]:
    yield from {(each.owner, each.kind): each for each in values}.values()


def _kept_strings(hops: ApplicationHops) -> Iterator[str]:
    yield from (each.data for each in hops.sent.opaque)
    for pieces in hops.strings.values():
        yield from (piece for _, piece in pieces)
    for request in (*(answer.exchange.request for answer in hops.behind), *hops.later):
        if request is not None and request.json is not None:
            yield json.dumps(request.json, ensure_ascii=False)


def _tools(hops: ApplicationHops) -> Compared:
    said, sent = hops.said.of("tool"), hops.sent.of("tool")
    if not hops.are_whole:
        sent = sent[:-1]  # the last call may lack some of its arguments
    named = _call if hops.shown.dialect.names_tools else (lambda _: "a call")
    got = [named(each) for each in sent]
    if _are_sent(said, [named(each) for each in said], got, in_part=not hops.are_whole):
        return bool(got)
    said = [each for each in said if not each.is_hosted or named(each) in got]
    wanted = [named(each) for each in said]
    at = _first_other(wanted, got)
    had, has = (side[at] if at < len(side) else "none" for side in (wanted, got))
    return _beside(hops, f"expected {had}, got {has} as call {at}", said[at:], sent[at:])


def _are_sent(
    said: Sequence[SaidPart], wanted: Sequence[str], got: Sequence[str], *, in_part: bool
) -> bool:
    """Whether the calls that were sent are those that were said, some hosted ones left out."""
    reached = {0}  # how many of the sent calls are accounted for
    for call, name in zip(said, wanted, strict=True):
        if in_part and len(got) in reached:
            break
        onward = {at + 1 for at in reached if at < len(got) and got[at] == name}
        reached = onward | reached if call.is_hosted else onward
    return len(got) in reached


def _call(part: SaidPart) -> str:
    name, arguments = part.call
    try:
        return f"{name}({json.dumps(json.loads(arguments), sort_keys=True)})"
    except (ValueError, RecursionError):
        return f"{name}({arguments})"


def _failure(hops: ApplicationHops) -> Compared:
    if not hops.broke_off or hops.is_stopped or not hops.was_heard:
        return False
    if not hops.shown.is_whole:
        return True
    how, came = hops.behind[-1].transcript.ending, hops.shown.transcript.ending
    message = f"expected an answer that was {how} upstream to fail, got {came}"
    return HopDifference(message, hops.said.last, hops.sent.last)


def _failure_told(hops: ApplicationHops) -> Compared:
    # Where the application hung up, it was stopped: that has to be told as well.
    hung_up = hops.behind[-1].exchange.end == "client-closed"
    if not hops.broke_off or hops.is_stopped or hops.shown.is_whole:
        return False
    # Of an answer that never ended another rule tells.
    if not (hops.was_heard or hung_up) or hops.shown.exchange.end == "idle-timeout":
        return False
    if hops.sent.errors or _TOLD & set(hops.shown.transcript.finishes):
        return True
    message = f"expected an error, got none: {hops.behind[-1].transcript.ending} upstream"
    return HopDifference(message, hops.said.last, hops.sent.last)


def _answer_whole(hops: ApplicationHops) -> Compared:
    if hops.broke_off or hops.is_stopped or not hops.was_heard:
        return False
    last = hops.behind[-1].transcript
    if last.ending == "length" and not (last.text or last.tools):
        return False  # the limit left nothing to be shown: it may be told as an error
    if hops.shown.is_whole:
        return True
    message = f"expected a whole answer, got one that {hops.shown.transcript.ending}"
    return HopDifference(message, hops.said.last, (*hops.sent.errors, hops.sent.last)[0])


def _hidden(hops: ApplicationHops) -> Compared:
    if not hops.hides:
        return False
    for part in hops.said.of("thinking"):
        if (place := _shows(hops, part.text.strip())) is not None:
            message = "expected no thinking, got its text"
            return HopDifference(message, part.first, place)
    return bool(hops.said.of("thinking") or hops.said.opaque)


def _shows(hops: ApplicationHops, thought: str) -> EventPlace | None:
    """Where a thought stands in any field of the application's events."""
    if len(thought) < _TELLING:
        return None
    for pieces in hops.strings.values():
        whole = "".join(piece for _, piece in pieces)
        if (at := whole.find(thought)) >= 0:
            for number, piece in pieces:
                if at < len(piece):
                    return EventPlace(0, number)
                at -= len(piece)
    return None


def _first_other(one: Sequence[Any], other: Sequence[Any]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _beside(
    hops: ApplicationHops, message: str, said: Sequence[Any], sent: Sequence[Any]
) -> HopDifference:
    """The difference at the first of either, or at the end of that side."""
    places = (
        (side[0].first if isinstance(side[0], SaidPart) else side[0][1]) if side else last
        for side, last in ((said, hops.said.last), (sent, hops.sent.last))
    )
    return HopDifference(message, *places)


COMPARISONS: Final[Sequence[tuple[Rule, Callable[[ApplicationHops], Compared]]]] = (
    (rules.TEXT, _text),
    (rules.TOOLS, _tools),
    (rules.THINKING, _thinking),
    (rules.THINKING_PARTS, _thinking_parts),
    (rules.THINKING_APART, _thinking_apart),
    (rules.ORDER, _order),
    (rules.OPAQUE, _opaque),
    (rules.RETURNED, _returned),
    (rules.HIDDEN, _hidden),
    (rules.FAILURE, _failure),
    (rules.FAILURE_TOLD, _failure_told),
    (rules.ANSWER_WHOLE, _answer_whole),
)
"""By rule, in the order in which they are judged."""
