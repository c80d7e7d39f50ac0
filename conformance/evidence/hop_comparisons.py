"""The comparisons between the two hops of an application, one function for each rule.

Rule 1: all output of the models is compared with everything sent to the interface, because one
        answer of an application covers several calls of a model.
Rule 2: if an answer broke off, or the user stopped it, the text sent must be a beginning of the
        model's. If the listener hung up, the model may have sent more than was recorded, unless the
        toolkit played the provider.
Rule 3: thinking that a provider sends twice, raw and as a summary, may be sent on in either form.
Rule 4: `hop_opaque` states what becomes of data that is never displayed.
Rule 5: an interface that does not separate parts of thinking may show fewer of them, and more
        white space.
Rule 6: an application may send on calls that the provider carries out itself, but need not. If it
        sends only some, the order is compared without calls.
Rule 7: an application whose profile says that it hides thinking sends none of it, in any field.
Rule 8: where a protocol says that agents need not share thinking and calls, an answer that shows
        none of them lost none.
Rule 9: a text that no model sent is reported by `hop/text`, and has no place in the order.
Rule 10: a model may give its text as the argument of a call, which need not be shown then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from conformance.evidence.answering_calls import answering_call
from conformance.evidence.hop_calls import tools
from conformance.evidence.hop_ends import answer_whole, failure, failure_shown, reason_kept
from conformance.evidence.hop_opaque import opaque_kept, opaque_returned
from conformance.evidence.hop_sides import (
    TELLING,
    ApplicationHops,
    Compared,
    HopDifference,
    difference_at,
    first_other,
)
from conformance.evidence.hop_talk import talk_kept
from conformance.evidence.hop_tries import is_of, own_words
from conformance.evidence.side_content import EventPlace, SideContent, SidePart
from conformance.judging import hop_rules as rules
from conformance.judging.explained_difference import without_markers
from conformance.rules.about import Change
from conformance.rules.forms.texts import difference
from conformance.rules.model import Rule


def thinking_due(made: SideContent, sent: SideContent, *, is_parted: bool) -> Sequence[SidePart]:
    """The parts of thinking that `sent` should hold; `is_parted`: it separates them."""
    parts, got = made.of("thinking"), "".join(each.text for each in sent.of("thinking"))
    for channel in ("raw", "summary"):
        either = [each for each in parts if each.channel == channel]
        either = either if is_parted else _spaced(got, either)
        if either and "".join(each.text for each in either) == got:
            return either
    return parts if is_parted else _spaced(got, parts)


def _spaced(got: str, parts: Sequence[SidePart]) -> list[SidePart]:
    """The parts with the white space that `got` has around them, and they have not."""
    at, spaced = 0, []
    for part in parts:
        more = _space_at(got, at).removesuffix(_space_at(part.text, 0))
        spaced.append(replace(part, pieces=[(part.first, more), *part.pieces]))
        at += len(more) + len(part.text)
    if spaced:
        spaced[-1].pieces.append((parts[-1].pieces[-1][0], _space_at(got, at)))
    return spaced


def _space_at(text: str, at: int) -> str:
    """The white space that begins there."""
    rest = text[at:]
    return rest[: len(rest) - len(rest.lstrip())]


_AS_THOUGHT: Final = f"{rules.TEXT.id} reports it: the answer is shown as thinking"


def _texts(hops: ApplicationHops, made: Sequence[SidePart], sent: Sequence[SidePart]) -> Compared:
    found = _compared_texts(hops, made, sent)
    # The rest of a try, even a beginning, has its own rule.
    is_left = any(each.start.answer in hops.tries for each in made)
    if is_left and isinstance(found, HopDifference):
        return own_words(hops, made[0].kind) or False
    return found


def _compared_texts(
    hops: ApplicationHops, made: Sequence[SidePart], sent: Sequence[SidePart]
) -> Compared:
    wanted, got = ("".join(each.text for each in side) for side in (made, sent))
    if not hops.are_whole:
        wanted = wanted[: len(got)]
    if not hops.was_recorded and not (hops.is_played and got[len(wanted) :].strip()):
        got = got[: len(wanted)]
    if wanted == got:
        return bool(wanted)
    at, had, has = difference(wanted, got)
    return HopDifference(
        f"expected {had}, got {has} at character {at}",
        hops.made.place_of(made, at),
        hops.sent.place_of(sent, at),
        Change.of(wanted, got, at),
    )


def _text(hops: ApplicationHops) -> Compared:
    if answering_call(hops) is not None:
        return True
    found = _texts(hops, hops.made.of("text"), hops.sent.of("text"))
    if isinstance(found, HopDifference) and _is_in_text(hops):
        return replace(found, message=f"{found.message}; the thinking is in the text")
    return found


def _thinking(hops: ApplicationHops) -> Compared:
    if hops.hides or hops.need_not_show("thinking"):
        return False
    found = _texts(hops, _due(hops), hops.sent.of("thinking"))
    if isinstance(found, HopDifference) and _is_in_text(hops):
        return f"{rules.TEXT.id} reports it: all thinking is in the text"
    if isinstance(found, HopDifference) and _is_thought(hops):
        return _AS_THOUGHT
    return found


def _is_thought(hops: ApplicationHops) -> bool:
    """Whether the answer is shown as thinking, and nowhere as text."""
    made, sent, thought = (
        "".join(each.text for each in side).strip()
        for side in (hops.made.of("text"), hops.sent.of("text"), hops.sent.of("thinking"))
    )
    own = "".join(each.text for each in hops.made.of("thinking"))
    return len(made) >= TELLING and made in thought and made not in own and made not in sent


def _is_in_text(hops: ApplicationHops) -> bool:
    """Whether what was thought, with markers or none around it, is all that the text has more."""
    due, made = _due(hops), "".join(each.text for each in hops.made.of("text"))
    rest = "".join(each.text for each in hops.sent.of("text"))
    if not due or hops.sent.of("thinking") or not hops.are_whole:
        return False
    for thought in (each.text.strip() for each in due):
        before, found, after = rest.partition(thought)
        if not found or len(thought) < TELLING:
            return False
        rest = before + after
    return "".join(without_markers(rest).split()) == "".join(made.split())


def _due(hops: ApplicationHops) -> Sequence[SidePart]:
    is_parted = hops.shown.dialect.tells_parts
    return thinking_due(hops.made, hops.sent, is_parted=is_parted)


def _thinking_parts(hops: ApplicationHops) -> Compared:
    """A part that is lost, or comes again, has its own rule; an empty one has not."""
    made, sent = _due(hops), hops.sent.of("thinking")
    begun = [each for each in hops.sent.parts if each.kind == "thinking"]
    if hops.hides or not begun:
        return False
    # What was begun comes before what is only an end.
    empty = [each for each in begun if not each.pieces]
    most, spare = hops.made.thoughts, sorted(empty, key=lambda each: each.start == each.end)
    is_joined = len(sent) < len(made) and not hops.shown.dialect.tells_parts
    is_other = hops.are_whole and sent and len(made) != len(sent) and not is_joined
    if not is_other and len(begun) <= most:
        return True
    if _is_thought(hops):
        return _AS_THOUGHT
    if isinstance(_thinking(hops), HopDifference):
        if len(begun) <= most or len(spare) <= most - len(hops.made.of("thinking")):
            return f"what breaks {rules.THINKING.id} may be why"
    elif is_other:
        message = f"expected {len(made)} parts of thinking, got {len(sent)}"
        at = min(len(made), len(sent))
        return difference_at(hops, message, made[at:], sent[at:])
    message = f"expected {most} parts of thinking, got {len(begun)}"
    return difference_at(hops, message, (), spare)


def _thinking_apart(hops: ApplicationHops) -> Compared:
    """Thinking overlaps with other parts only where the provider's does."""
    if hops.hides or overlap(hops.made):
        return False
    if (pair := overlap(hops.sent)) is not None:
        one, two = pair
        message = f"expected the end of {one.kind} before {two.kind} begins, got it later"
        at = next((each for each in hops.made.spoken if each.kind == two.kind), None)
        return HopDifference(message, at.first if at else hops.made.last, two.first)
    return any(each.kind == "thinking" and each.end for each in hops.sent.spoken)


def overlap(content: SideContent) -> tuple[SidePart, SidePart] | None:
    """Two parts of which one begins before the other has ended, and one is thinking.

    Thinking itself and a summary are of one item, and may come at once. A call that whoever sends
    it carries out itself ends with its result, and thinking may go on while it runs.
    """
    for one, two in pairwise(content.spoken):
        is_summarised = one.kind == two.kind and one.channel != two.channel
        is_running = one.kind == "tool" and one.is_hosted
        if "thinking" not in (one.kind, two.kind) or one.end is None:
            continue
        if is_summarised or is_running:
            continue
        begins = two.start if two.kind == "thinking" else two.first
        if one.end.answer == begins.answer and one.end.number > begins.number:
            return one, two
    return None


def _order(hops: ApplicationHops) -> Compared:
    if any(each.start.answer in hops.tries for each in hops.made.spoken):
        return False  # the rest of a try has its own rule
    words = "".join(each.text for each in hops.made.of("text"))
    own = [each for each in hops.sent.parts if each.kind != "text" or is_of(words, each.text)]
    made, sent = hops.made.order, SideContent(own).order
    both = {kind for kind, _ in made} & {kind for kind, _ in sent}
    calls = hops.made.of("tool")
    if any(each.is_hosted for each in calls) and len(calls) != len(hops.sent.of("tool")):
        both.discard("tool")
    made, sent = ([each for each in side if each[0] in both] for side in (made, sent))
    wanted, got = ([kind for kind, _ in _merged(side)] for side in (made, sent))
    if not hops.are_whole:
        wanted = wanted[: len(got)]
    if wanted == got:
        return len(wanted) > 1
    if _is_thought(hops):
        return _AS_THOUGHT
    at = first_other(wanted, got)
    message = f"expected {', '.join(wanted)}, got {', '.join(got)}"
    return difference_at(hops, message, _merged(made)[at:], _merged(sent)[at:])


def _merged(kinds: Sequence[tuple[Any, EventPlace]]) -> list[tuple[Any, EventPlace]]:
    before = (None, *(kind for kind, _ in kinds))
    return [each for each, last in zip(kinds, before, strict=False) if each[0] != last]


def _hidden(hops: ApplicationHops) -> Compared:
    if not hops.hides:
        return False
    for part in hops.made.of("thinking"):
        if (place := _shows(hops, part.text.strip())) is not None:
            message = "expected no thinking, got its text"
            return HopDifference(message, part.first, place)
    return bool(hops.made.of("thinking") or hops.made.opaque)


def _shows(hops: ApplicationHops, thought: str) -> EventPlace | None:
    """Where a thought is in any field of the application's events."""
    if len(thought) < TELLING:
        return None
    for pieces in hops.strings.values():
        whole = "".join(piece for _, piece in pieces)
        if (at := whole.find(thought)) >= 0:
            for number, piece in pieces:
                if at < len(piece):
                    return EventPlace(0, number)
                at -= len(piece)
    return None


COMPARISONS: Final[Sequence[tuple[Rule, Callable[[ApplicationHops], Compared]]]] = (
    (rules.TEXT, _text),
    (rules.TOOLS, tools),
    (rules.THINKING, _thinking),
    (rules.THINKING_PARTS, _thinking_parts),
    (rules.THINKING_APART, _thinking_apart),
    (rules.ORDER, _order),
    (rules.OPAQUE, opaque_kept),
    (rules.RETURNED, opaque_returned),
    (rules.TALK_KEPT, talk_kept),
    (rules.HIDDEN, _hidden),
    (rules.FAILURE, failure),
    (rules.FAILURE_TOLD, failure_shown),
    (rules.ANSWER_WHOLE, answer_whole),
    (rules.REASON, reason_kept),
)
"""By rule, in the order in which they are judged."""
