"""Whether an application sends its model the turn before as it was.

Rule 1: the text of the answer is in a request of the next turn, under any role, and once in the
        model's own turns; white space is free. Only in a run: elsewhere a history may be long
        enough to be cut.
Rule 2: a call that goes back under its id has the name and the arguments that the model wrote;
        defaults may stand next to them. A call that the model gave no id is known by its name. In a
        run the request that follows a call has it, or its name in one text more.
Rule 3: what was thought is none of the text of the model's own turns, unless the model sends both
        in one text.
Rule 4: where the provider keeps the history, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from conformance.core.excerpts import beginning
from conformance.core.json_values import all_texts
from conformance.core.spelling import one_spelling
from conformance.dialects.history_calls import goes_on_from_kept
from conformance.dialects.turns import HistoryCall, history_call
from conformance.evidence.hop_calls import alters, value_of
from conformance.evidence.hop_sides import TELLING, ApplicationHops, Compared, HopDifference
from conformance.evidence.links.requests import RepeatedTalk
from conformance.rules.about import Change

_SHOWN: Final = 60


def talk_kept(hops: ApplicationHops) -> Compared:
    if not hops.are_whole or hops.tries:
        return False
    turn, later = list(_talks(hops, in_turn=True)), list(_talks(hops, in_turn=False))
    if any(goes_on_from_kept(talk.exchange.dialect or "", talk.body) for talk in (*turn, *later)):
        return "the provider keeps the history"
    found, lost = [_altered_call(hops, [*turn, *later])], None
    if hops.is_played:
        lost = _lost_text(hops, later)
        found += [_lost_call(hops), lost, _mixed_text(hops, later), _doubled_text(hops, later)]
    if message := next(filter(None, found), ""):
        change = Change.LOST if message == lost else Change.NONE
        return HopDifference(message, hops.made.last, hops.sent.last, change)
    return any(each is not None for each in found)


def _talks(hops: ApplicationHops, *, in_turn: bool) -> Iterator[RepeatedTalk]:
    """The histories of the requests after the first one: of this turn, or of the next."""
    first = hops.calls[0]
    of_turn = [each.exchange.request for each in hops.calls[1:]]
    for request in of_turn if in_turn else hops.later:
        talk = RepeatedTalk.of(replace(first.exchange, request=request), first.dialect)
        if talk is not None:
            yield talk


def _altered_call(hops: ApplicationHops, talks: list[RepeatedTalk]) -> str | None:
    """Rule 2: what is wrong, empty where nothing is; None where no call comes back."""
    made = {call.id: call for answer in hops.calls for call in _calls(answer.transcript.own_tools)}
    sent_back = (call for talk in talks for entry in talk.said for call in entry.calls)
    pairs = [(made[back.id], back) for back in sent_back if back.id and back.id in made]
    for call, back in pairs:
        if _is_other(call, back):
            return f"expected {call.shown} to go back to the model, got {back.shown}"
    return "" if pairs else None


def _is_other(call: HistoryCall, back: HistoryCall) -> bool:
    """Arguments may have defaults besides what the model wrote; what is no JSON may be replaced."""
    wanted, has = value_of(call.arguments), value_of(back.arguments)
    return call.name != back.name or (wanted is not None and alters(wanted, has, ""))


def _lost_call(hops: ApplicationHops) -> str | None:
    """Rule 2, of the request right after a call; None where no call was made."""
    is_judged = False
    for answer, following in pairwise(hops.calls):
        before = RepeatedTalk.of(answer.exchange, answer.dialect)
        talk = RepeatedTalk.of(following.exchange, following.dialect)
        if before is None or talk is None:
            continue
        back = [call for entry in talk.said for call in entry.calls]
        had, has = ("".join(all_texts(list(each.entries))) for each in (before, talk))
        for call in _calls(answer.transcript.own_tools):
            is_judged = True
            alike = [each for each in back if each.name == call.name]
            is_back = bool(call.id) and any(each.id == call.id for each in back)
            if is_back or any(not _is_other(call, each) for each in alike):
                continue
            if alike and not call.id:
                return f"expected {call.shown} to go back to the model, got {alike[-1].shown}"
            if not alike and has.count(call.name) <= had.count(call.name):
                return f"expected {call.shown} to go back to the model, got it nowhere"
    return "" if is_judged else None


def _doubled_text(hops: ApplicationHops, later: list[RepeatedTalk]) -> str | None:
    """Rule 1: what the model said in all turns is not more in the next request than it was."""
    text = one_spelling("".join(hops.calls[-1].transcript.text))
    first = hops.calls[0]
    before = RepeatedTalk.of(first.exchange, first.dialect)
    if len(text) < TELLING or before is None or not later:
        return None
    made = one_spelling("".join(each for answer in hops.calls for each in answer.transcript.text))
    had = _own_text(before).count(text) + made.count(text)
    if any(_own_text(talk).count(text) > had for talk in later):
        return "expected the text of the answer once in the next request, got it more than once"
    return ""


def _own_text(talk: RepeatedTalk) -> str:
    return "".join(one_spelling(each.text) for each in talk.said if each.by == "model")


def _lost_text(hops: ApplicationHops, later: list[RepeatedTalk]) -> str | None:
    """Rule 1, as `_altered_call`; None where no text is long enough to be known again."""
    made = "".join(hops.calls[-1].transcript.text)
    text = one_spelling(made)
    if not later or len(text) < TELLING:
        return None
    if any(text in _everything(talk) for talk in later):
        return ""
    shown = beginning(made, _SHOWN, "...")
    return f"expected the answer before in the next turn's request, got no {shown!r}"


def _mixed_text(hops: ApplicationHops, later: list[RepeatedTalk]) -> str | None:
    """Rule 3, as `_altered_call`; None where no thinking is long enough to be known again."""
    last = hops.calls[-1].transcript
    text, thought = (one_spelling("".join(each)) for each in (last.text, last.thinking))
    is_inline = any(each.reading.markers for each in hops.calls)
    if len(thought) < TELLING or is_inline or thought in text:
        return None
    own = [one_spelling(each.text) for talk in later for each in talk.said if each.by == "model"]
    if any(thought in each for each in own):
        return "expected the text of the answer alone in the next request, got its thinking in it"
    return "" if own else None


def _everything(talk: RepeatedTalk) -> str:
    return "".join(map(one_spelling, all_texts(talk.body)))


def _calls(tools: Any) -> Iterator[HistoryCall]:
    for each in tools:
        yield history_call(each.get("id"), each.get("name"), each.get("arguments"))
