"""Which answer a turn of a request brings back.

Rule 1: evidence in this order: the id of the answer that the request names; ids of calls and of
messages; the same text and calls; the same position in the history and partly the same text. After
the same whole history a text may be altered, and have half of its characters or its beginning.
Rule 2: of several candidates, one that an id in the same run names counts first, then those with
the same whole history, then those with the same last entry before them, then those with the same
calls, then those that another entry of the same run can only be of. The candidates left after that
are all returned: if they differ in what a rule compares, it is unknown which one came back.
Rule 3: an id that several answers or several calls of a request share proves nothing by itself: the
call has to be the same, and of a message its text or its history. A short text proves nothing by
itself either: its question has to be the same. Equal calls without a known id prove nothing beyond
one file: who asks a model the same again gets the same calls.
Rule 4: an entry without evidence of its own (thinking, most often) belongs to the next entry in
the same run of the model's entries, else to the one before it; one with calls to no answer without.
Rule 5: one answer comes back in one run, unless ids prove otherwise, or the same thinking: of two
turns with one text alone the later one is an answer that was not recorded.
Rule 6: a turn is misplaced if it stands before the turn of an earlier answer that was the last one
in its own request; or if it is whole and ends the request, and a question that it did not get
stands between it and what it answered. The first misplaced turn of a request explains the others.
Rule 7: a question is asked twice if all before its second copy is what was answered, word for word.
Rule 8: two answers are rivals if both were given to what stands before the run that holds them, by
one model under the same instructions.
The memory is one line for each answer and key, and only the newest few per key: a very frequent
text identifies nothing.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final

from msgspec.structs import replace

from conformance.core.spelling import one_spelling
from conformance.dialects.turns import HistoryCall, HistoryEntry
from conformance.evidence.links.answers import AnswerTurn
from conformance.evidence.links.assignment import (
    AnswerPlace,
    Candidates,
    LinkAssignment,
    TurnLink,
)
from conformance.evidence.links.keys import Key, answer_keys, content_keys
from conformance.evidence.links.requests import RepeatedTalk

MOST_ALIKE: Final = 8  # answers of one key that are remembered
MOST_KEYS: Final = 1_000_000
BY_ID: Final = "the id of the answer"
ALTERED: Final = "the same place, and much of the text"
LONG: Final = 40  # characters of a text that identifies an answer by itself
_MARK: Final = 3  # characters that say that a text goes on
_SHARED: Final = 8  # characters that an altered text has to share


class LinkFinder:
    """Remembers answers of one dialect and hop, and finds them again in later requests."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, deque[AnswerPlace]] = OrderedDict()
        self._keys: dict[int, tuple[Key, ...]] = {}  # of each answer, by its number

    def remember(self, turn: AnswerTurn, asked: RepeatedTalk | None) -> None:
        """An answer, and the request that it answers."""
        has_talk = asked is not None and bool(asked.entries)
        before = asked.before[-1] if asked is not None and has_talk else b""
        last = asked.outlines[-1] if asked is not None and has_talk else b""
        spoken = asked.model_outlines if asked is not None else ()
        last_turn = next(filter(None, reversed(spoken)), b"")
        answer = AnswerPlace(turn, before, last, last_turn, asked.agent if asked else b"")
        keys = tuple(dict.fromkeys(answer_keys(answer.turn, answer.last)))
        if thread := turn.thread or (asked.thread if asked is not None else ""):
            keys = (*keys, ("thread", thread))
        for key in keys:
            known = self._known.get(key)
            if known is None:
                known = self._known[key] = deque(maxlen=MOST_ALIKE)
                if len(self._known) > MOST_KEYS:
                    self._known.popitem(last=False)
            known.appendleft(answer)
        self._keys[turn.number] = keys

    def forget(self, number: int) -> None:
        """Drops an answer, where it is known."""
        for key in self._keys.pop(number, ()):
            known = self._known.get(key, ())
            left = [each for each in known if each.turn.number != number]
            if left:
                self._known[key] = deque(left, maxlen=MOST_ALIKE)
            else:
                self._known.pop(key, None)

    def links(self, talk: RepeatedTalk, named: str = "") -> list[TurnLink]:
        """What the request brings back; `named` is the id of the answer that it says it follows."""
        found = LinkAssignment(talk)
        unnamed: dict[bytes, list[Candidates]] = {}
        for run in talk.runs():
            given = _agreed([self._candidates(talk, run, place) for place in run])
            for at, place in enumerate(run):
                if talk.is_unnamed(place):  # of a copy only the first shows whose it is
                    first = unnamed.setdefault(talk.content((place,)), given[at])
                    given[at] = given[at] or first
            found.take_run(run, given)
        links = found.links()
        stated = self._stated(talk, named)
        return [*(replace(each, again=_entries_of(each, links)) for each in stated), *links]

    def older(self, talk: RepeatedTalk) -> list[TurnLink]:
        """The answers of the conversation that the request names, but for the newest."""
        known = self._look(("thread", talk.thread))[1:] if talk.thread else ()
        turns = (each.turn for each in known)
        return [
            TurnLink((t,), "the conversation", (), is_current=False, is_older=True) for t in turns
        ]

    def _stated(self, talk: RepeatedTalk, named: str) -> list[TurnLink]:
        for evidence, key in (
            (BY_ID, ("id", named)),
            ("the conversation", ("thread", talk.thread)),
        ):
            if key[1] and (answers := self._look(key)):
                newest, is_sure = (answers[0].turn,), len(answers) == 1
                return [TurnLink(newest, evidence, (), is_current=True, is_sure=is_sure)]
        return []

    def _look(self, key: Key) -> tuple[AnswerPlace, ...]:
        return tuple(self._known.get(key, ()))

    def _candidates(self, talk: RepeatedTalk, run: range, place: int) -> list[Candidates]:
        """Several where one entry holds calls of several answers."""
        said = talk.said[place]
        if found := list(self._by_ids(talk, run, said)):
            return found
        by_text = self._by_text(talk, run, said) or self._by_place(talk, run, said)
        return [by_text] if by_text else []

    def _by_ids(self, talk: RepeatedTalk, run: range, said: HistoryEntry) -> Iterable[Candidates]:
        met: dict[tuple[int, ...], Candidates] = {}
        for call in said.calls:
            known = self._look(("call", call.id)) if call.id else ()
            if len(known) > 1 or talk.call_counts[call.id] > 1:
                known = _those(known, partial(_has_call, call))
            if known:
                found = Candidates(f"call {call.id}", _likeliest(talk, run, known), by_id=True)
                met.setdefault(found.key, found)
        if not met and said.id and (known := self._of_message(talk, run, said)):
            found = Candidates(f"message {said.id}", _likeliest(talk, run, known), by_id=True)
            met[found.key] = found
        return met.values()

    def _of_message(
        self, talk: RepeatedTalk, run: range, said: HistoryEntry
    ) -> tuple[AnswerPlace, ...]:
        """The answers with a message of that id; of several, those that rule 3 leaves."""
        known = self._look(("id", said.id))
        if len(known) < 2:
            return known
        text = one_spelling(said.text)
        return _near(talk, run, known) or _those(known, lambda each: text in each.turn.texts)

    def _by_text(self, talk: RepeatedTalk, run: range, said: HistoryEntry) -> Candidates | None:
        text = one_spelling(said.text or said.thought)
        for key in content_keys(text, said.calls):
            known = self._look(key)
            if not known:
                continue
            near = _near(talk, run, known)
            if near or len(text) >= LONG:
                what = "the same calls" if said.calls else "the same text"
                found = _likeliest(talk, run, near or known)
                is_sure = _answers_same(talk, run, found) and len(text) >= LONG
                return Candidates(what, found, is_sure=is_sure, alike=known)
        return None

    def _by_place(self, talk: RepeatedTalk, run: range, said: HistoryEntry) -> Candidates | None:
        """Rule 1, at its end: the text was altered, and not joined with what went on with it."""
        if run.start == 0:
            return None
        known = self._look(("last", talk.outlines[run.start - 1]))
        if said.calls:  # without ids an altered call is known by what else is as it was
            if any(map(self._look, content_keys("", said.calls))):
                return None
            known = _those(known, lambda each: each.before == talk.before[run.start])
            near = _those(known, lambda each: _resembles(each.turn, said))
        else:
            text = one_spelling(said.text)
            known = _those(known, lambda each: not each.turn.calls)
            near = _those(known, lambda each: _shares(each.turn, text))
            if not near:
                known = _those(known, lambda each: each.before == talk.before[run.start])
                near = _those(known, lambda each: _is_altered(each.turn, text))
                return Candidates(ALTERED, near, is_sure=False) if len(near) == 1 else None
        if not near:
            return None
        return Candidates("the same place", _likeliest(talk, run, near), is_sure=False)


def _entries_of(named: TurnLink, links: Iterable[TurnLink]) -> tuple[int, ...]:
    number = named.answers[0].number
    found = (each.entries for each in links if [a.number for a in each.answers] == [number])
    return tuple(place for entries in found for place in entries)


def _has_call(call: HistoryCall, answer: AnswerPlace) -> bool:
    return any(each[1:] == call[1:] for each in answer.turn.calls)


def _those(
    known: Iterable[AnswerPlace], fits: Callable[[AnswerPlace], bool]
) -> tuple[AnswerPlace, ...]:
    return tuple(each for each in known if fits(each))


def _near(talk: RepeatedTalk, run: range, known: Sequence[AnswerPlace]) -> tuple[AnswerPlace, ...]:
    """The candidates with the same history, else those with the same last entry before them."""
    before = _those(known, lambda each: each.before == talk.before[run.start])
    if before or run.start == 0:
        return before
    return _those(known, lambda each: each.last == talk.outlines[run.start - 1])


def _likeliest(
    talk: RepeatedTalk, run: range, known: Sequence[AnswerPlace]
) -> tuple[AnswerPlace, ...]:
    """Rule 2."""
    if len(known) == 1:
        return tuple(known)
    stated = _those(known, lambda each: each.turn.number == talk.exchange.after)
    return stated or _near(talk, run, known) or tuple(known)


def _agreed(run: Sequence[list[Candidates]]) -> list[list[Candidates]]:
    """Rule 2, at its end, for the entries of one run."""
    single = [each for own in run for each in own if len(each.answers) == 1]
    sure, named = ({e.key[0] for e in single if e.by_id or not ids} for ids in (False, True))
    left = [[_among(_named(each, named), sure) for each in own] for own in run]
    return [list({each.key: each for each in own}.values()) for own in left]


def _named(found: Candidates, named: AbstractSet[int]) -> Candidates:
    """Those that ids of the same run name, whatever history they had: answers may be mixed up."""
    left = _those(found.alike, lambda each: each.turn.number in named)
    return found._replace(answers=left) if left else found


def _among(found: Candidates, sure: AbstractSet[int]) -> Candidates:
    left = _those(found.answers, lambda each: each.turn.number in sure)
    return found._replace(answers=left) if left else found


def _answers_same(talk: RepeatedTalk, run: range, found: Sequence[AnswerPlace]) -> bool:
    """Whether the whole history of each answer is what precedes the run."""
    return run.start > 0 and all(each.before == talk.before[run.start] for each in found)


def _resembles(turn: AnswerTurn, said: HistoryEntry) -> bool:
    """Whether calls without ids repeat those of an answer, or are as many, and share something."""
    if any(call.id for call in said.calls):
        return False
    made, back = ({call[1:] for call in calls} for calls in (turn.calls, said.calls))
    if made == back and len(said.calls) >= len(turn.calls):
        return True
    if len(turn.calls) != len(said.calls):
        return False
    pairs = zip(turn.calls, said.calls, strict=True)
    return all(one.name == two.name or one.arguments == two.arguments != "{}" for one, two in pairs)


def _is_altered(turn: AnswerTurn, text: str) -> bool:
    """Whether the beginnings and ends that two texts share are half of them, or one is cut off.

    What stopped at a limit may have gone on in another request.
    """
    said = turn.text
    begun = _shared_beginning(said, text)
    ended = _shared_beginning(said[begun:][::-1], text[begun:][::-1])
    is_cut = begun >= _SHARED and len(text) - begun <= _MARK
    return not turn.is_short and (
        is_cut or (begun + ended) * 2 >= max(len(said), len(text), _SHARED)
    )


def _shared_beginning(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, pair in pairs if pair[0] != pair[1]), min(len(one), len(other)))


def _shares(turn: AnswerTurn, text: str) -> bool:
    """Whether one text holds the other; a longer one goes on with what stopped at a limit."""
    said = turn.text
    if min(len(said), len(text)) < _SHARED:
        return False
    return text in said or (said in text and not turn.is_short)
