"""Whether the next request of a client has the turns before: every word and every call.

Rule 1: the words of the user before the answer are in the request, and no entry of the model is
        the last one.
Rule 2: the answer goes back with its text, once, and with its calls as the model wrote them. A call
        whose arguments were cut, and are no JSON, may go back in another form, or not at all.
Rule 3: what was thought is none of the text that goes back.
Rule 4: white space between words, and how turns are cut into entries, are free. Of an answer with
        several choices, or a refusal, and where the server keeps the history, nothing is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Exchange
from conformance.core.excerpts import beginning
from conformance.core.spelling import one_spelling
from conformance.dialects.base import Dialect
from conformance.dialects.history_calls import goes_on_from_kept
from conformance.dialects.turns import HistoryEntry, Speaker, history_call
from conformance.evidence.hop_calls import value_of
from conformance.evidence.links.requests import RepeatedTalk
from conformance.judging.transcript import Transcript
from conformance.targets.client.client_judge import HarnessFault

_TELLING: Final = 8  # characters without which a text may stand anywhere
_SHOWN: Final = 60


def whole_talk(exchange: Exchange, dialect: Dialect) -> RepeatedTalk | None:
    """The history of a request; None where it repeats nothing, or the server keeps it."""
    talk = RepeatedTalk.of(exchange, dialect)
    return None if talk is None or goes_on_from_kept(dialect.name, talk.body) else talk


def talk_fault(
    given: Sequence[Mapping[str, Any]],
    sent: Transcript,
    talk: RepeatedTalk,
    *,
    is_inline: bool,
) -> HarnessFault | None:
    """What `talk` loses or alters of an answer, `sent`, and of the entries `given` before it.

    `is_inline`: the server sends thinking in the text, between markers, and may want it back so.
    """
    before = [talk.form.read(entry) for entry in given]
    return (
        _lost_words(before, talk.said)
        or _altered_calls(before, sent, talk.said)
        or (_altered_text(before, sent, talk.said, is_inline) if _is_plain(sent) else None)
    )


def _is_plain(sent: Transcript) -> bool:
    return sent.choices <= 1 and "refusal.delta" not in sent.types


def _lost_words(before: Sequence[HistoryEntry], now: Sequence[HistoryEntry]) -> HarnessFault | None:
    """Rule 1."""
    kept = _words(now, "user")
    for each in before:
        if each.by == "user" and one_spelling(each.text) not in kept:
            return f"the words of the user before the answer, {_short(each.text)}", "none of it"
    if now and now[-1].by == "model":
        return "what came after the answer as the last of the request", "an entry of the model"
    return None


def _altered_calls(
    before: Sequence[HistoryEntry], sent: Transcript, now: Sequence[HistoryEntry]
) -> HarnessFault | None:
    """Rule 2, of calls."""
    made = [
        history_call(each.get("id"), each.get("name"), each.get("arguments"))
        for each in sent.own_tools
    ]
    cut = [call for call in made if call.arguments and value_of(call.arguments) is None]
    wanted = Counter(call.shown for call in made if call not in cut)
    left = _called(now) - _called(before)
    for call in cut:
        left -= Counter([shown for shown in left if shown.startswith(f"{call.name}(")][:1])
    lost, other = list((wanted - left).elements()), list((left - wanted).elements())
    if lost:
        return f"the call {lost[0]} to go back", other[0] if other else "it nowhere"
    return (f"the call {other[0]} once", "it more than once") if other and made else None


def _altered_text(
    before: Sequence[HistoryEntry],
    sent: Transcript,
    now: Sequence[HistoryEntry],
    is_inline: bool,  # as of `talk_fault`
) -> HarnessFault | None:
    """Rules 2 and 3, of texts."""
    shown = "".join(sent.text)
    thought = "" if is_inline else one_spelling("".join(sent.thinking))
    had, text = _words(before, "model"), one_spelling(shown)
    got = _words(now, "model")
    if len(thought) >= _TELLING and thought in got and thought not in had + text:
        return "the text of the answer alone", "its thinking in the text, too"
    if text and text not in got:
        return f"the text of the answer, {_short(shown)}", "another one or none"
    if len(text) >= _TELLING and got.count(text) > (had + text).count(text):
        return f"the text of the answer once, {_short(shown)}", "it more than once"
    return None


def _called(entries: Iterable[HistoryEntry]) -> Counter[str]:
    return Counter(call.shown for each in entries for call in each.calls)


def _words(entries: Iterable[HistoryEntry], by: Speaker) -> str:
    return "".join(one_spelling(each.text) for each in entries if each.by == by)


def _short(text: str) -> str:
    return repr(beginning(text, _SHOWN, "..."))
