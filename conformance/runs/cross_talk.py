"""Cross-talk: parts of one answer in another one, recognised by content that only one can have.

Rule 1: a marker word that another request asked for, and that this request never mentioned, is
foreign anywhere.
Rule 2: an id is foreign if this answer has other ids of its kind too, while another answer has only
this one, or begins with it and this one does not, or has it in more frames. So a server with equal
ids in all answers, or one cached answer for two requests, is not a finding.
Rule 3: only ids that are meant to be unique count: the last part has eight letters and digits or
more, and no two answers taken alone share an id of that kind. Ids that the request itself names, as
a follow-up does, are never foreign.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Exchange
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.dialects.base import Dialect, Reading
from conformance.runs.step_requests import MARKER

MOST_ANSWERS: Final = 4096  # that are remembered
_MOST_WORDS: Final = 65_536
_MOST_IDS: Final = 1024  # of one answer
_UNIQUE: Final = re.compile(r"(?:.*[-_.:/])?(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[0-9A-Za-z]{8,}")
_LONGEST: Final = 200


class IdPlace(Struct, frozen=True):
    """An id in one answer: in how many frames, from which on, and whether first of its kind."""

    frames: int
    event: int
    is_first: bool


class AnswerSigns(Struct, frozen=True):
    """What one answer is known by. `request` names its request, `group` those of one scenario.

    `words` are those in its thinking and text, with the number of the frame that completes them;
    `named` are those words and ids that the request says itself; `ids` are by the keys that lead to
    them. `first_ms` says when the first thinking and text came, since the response head.
    """

    request: str
    group: str
    named: frozenset[str]
    words: Mapping[str, int]
    ids: Mapping[str, Mapping[str, IdPlace]]
    first_ms: Mapping[str, float] = {}
    is_alone: bool = False


class ForeignSign(Struct, frozen=True):
    """Something of the answer to `owner` in the answer to `holder`: a word, or an id of a kind."""

    holder: str
    owner: str
    value: str
    kind: str
    event: int

    @property
    def sentence(self) -> str:
        if not self.kind:
            return f"{self.value!r} is the word of request {self.owner!r}, not of {self.holder!r}"
        what = f"{self.kind} {self.value!r}"
        return f"{what} belongs to the answer to {self.owner!r}, not to {self.holder!r}"


class CrossTalkWatch:
    """Takes answers as they end; finds foreign content in them, and theirs in earlier ones.

    It remembers the last `MOST_ANSWERS` only.
    """

    def __init__(self) -> None:
        self._owners: dict[str, tuple[str, str]] = {}  # word -> request, group
        self._answers: dict[str, AnswerSigns] = {}
        self._holders: dict[tuple[str, str], dict[str, None]] = {}
        self._alone: dict[str, set[str]] = {}  # kind -> ids of answers that were taken alone
        self._repeated: set[str] = set()  # kinds that promise nothing
        self.foreign: dict[str, ForeignSign] = {}  # the first one by the request that holds it
        self.torn: dict[str, None] = {}  # requests whose answers others hold parts of

    def expect_word(self, word: str, request: str, group: str) -> None:
        """A request is given a word; called before its answer comes."""
        self._owners[word] = (request, group)
        if len(self._owners) > _MOST_WORDS:
            del self._owners[next(iter(self._owners))]

    def take(self, answer: AnswerSigns) -> list[ForeignSign]:
        """An answer is over: the foreign content in it, and its content in earlier ones."""
        found = sorted(self._foreign_words(answer), key=lambda each: each.event)
        self._learn_alone(answer)
        for other in self._sharing_answers(answer):
            found += foreign_ids(answer, other, self._repeated)
            found += foreign_ids(other, answer, self._repeated)
        self._remember(answer)
        for each in found:
            self.foreign.setdefault(each.holder, each)
            self.torn[each.owner] = None
        return found

    def settle(self, requests: Iterable[str]) -> None:
        """Forgets these requests: no more answers will be compared with theirs."""
        for each in requests:
            self.foreign.pop(each, None)
            self.torn.pop(each, None)
        for known in (self.foreign, self.torn):
            while len(known) > MOST_ANSWERS:
                del known[next(iter(known))]

    def is_telling(self, answer: AnswerSigns) -> bool:
        """Whether cross-talk would show: the answer says a word, or has ids of its own."""
        return bool(answer.words) or any(
            _counts(kind, each, answer, self._repeated)
            for kind, ids in answer.ids.items()
            for each in ids
        )

    def _foreign_words(self, answer: AnswerSigns) -> Iterator[ForeignSign]:
        for word, event in answer.words.items():
            owner, group = self._owners.get(word, ("", ""))
            if owner and group != answer.group and word not in answer.named:
                yield ForeignSign(answer.request, owner, word, "", event)

    def _learn_alone(self, answer: AnswerSigns) -> None:
        if not answer.is_alone:
            return
        for kind, ids in answer.ids.items():
            known = self._alone.setdefault(kind, set())
            own = {each for each in ids if each not in answer.named}
            if known & own:
                self._repeated.add(kind)
            if len(known) < MOST_ANSWERS:
                known |= own

    def _sharing_answers(self, answer: AnswerSigns) -> list[AnswerSigns]:
        """Earlier answers that have an id of this one."""
        names = dict.fromkeys(
            name
            for kind, ids in answer.ids.items()
            for each in ids
            if _counts(kind, each, answer, self._repeated)
            for name in self._holders.get((kind, each), ())
        )
        return [self._answers[name] for name in names]

    def _remember(self, answer: AnswerSigns) -> None:
        if len(self._answers) >= MOST_ANSWERS:
            self._forget(next(iter(self._answers.values())))
        self._answers[answer.request] = answer
        for kind, ids in answer.ids.items():
            for each in ids:
                self._holders.setdefault((kind, each), {})[answer.request] = None

    def _forget(self, answer: AnswerSigns) -> None:
        del self._answers[answer.request]
        for kind, ids in answer.ids.items():
            for each in ids:
                holders = self._holders[kind, each]
                holders.pop(answer.request, None)
                if not holders:
                    del self._holders[kind, each]


def foreign_ids(
    holder: AnswerSigns, owner: AnswerSigns, repeated: set[str]
) -> Iterator[ForeignSign]:
    """Ids of one answer that belong to the other; `repeated` are kinds that promise nothing."""
    if holder.group == owner.group:
        return
    for kind, own in holder.ids.items():
        theirs = owner.ids.get(kind, {})
        if own.keys() <= theirs.keys():
            continue
        is_theirs = theirs.keys() <= own.keys()
        for each in sorted(own.keys() & theirs.keys()):
            here, there = own[each], theirs[each]
            if not _counts(kind, each, holder, repeated):
                continue
            if is_theirs or (there.is_first, there.frames) > (here.is_first, here.frames):
                yield ForeignSign(holder.request, owner.request, each, kind, here.event)


def _counts(kind: str, value: str, answer: AnswerSigns, repeated: set[str]) -> bool:
    is_unique = kind not in repeated and _UNIQUE.fullmatch(value) is not None
    return is_unique and value not in answer.named


def answer_signs(
    exchange: Exchange,
    dialect: Dialect,
    reading: Reading,
    *,
    request: str,
    group: str,
    is_alone: bool,
) -> AnswerSigns:
    """Reads an answer for its words and ids."""
    request_body = exchange.request.json if exchange.request else None
    texts = _WordFinder()
    ids = _IdCollector(dialect.keys.free)
    first_ms: dict[str, float] = {}
    for _, ms, frame, events in dialect.trace(exchange, reading):
        if frame is None:
            continue
        for event in events:
            if event.layer == "semantic":
                texts.take(event.type, event.data, event.number)
                if ms is not None and frame.kind != "body" and event.data.get("text"):
                    first_ms.setdefault(event.type, ms)
        payload = decode_json(frame.data) if frame.data else NOT_JSON
        if payload is not NOT_JSON and events:
            ids.take(payload, events[0].number)
    body_text = json.dumps(request_body)
    places = ids.places()
    signs = chain(texts.found, *places.values())
    named = frozenset(each for each in signs if each in body_text)
    return AnswerSigns(request, group, named, texts.found, places, first_ms, is_alone)


class _WordFinder:
    """Looks for words in texts that come in pieces; each kind of text by itself."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        self._tails: dict[str, str] = {}

    def take(self, kind: str, data: Mapping[str, Any], event: int) -> None:
        piece = data.get("text") or data.get("arguments")
        if not isinstance(piece, str):
            return
        text = self._tails.get(kind, "") + piece
        for match in MARKER.finditer(text):
            self.found.setdefault(match[1], event)
        self._tails[kind] = text[-_LONGEST:]


class _IdCollector:
    """Ids of an answer, by the keys that lead to them; below the keys in `free` is free content."""

    def __init__(self, free: tuple[str, ...]) -> None:
        self._free = frozenset(free)
        self._frames: dict[str, Counter[str]] = {}
        self._first: dict[tuple[str, str], int] = {}

    def take(self, payload: Any, event: int) -> None:
        for kind, value in set(_id_values(payload, "", self._free)):
            if (kind, value) not in self._first and len(self._first) >= _MOST_IDS:
                continue
            self._first.setdefault((kind, value), event)
            self._frames.setdefault(kind, Counter())[value] += 1

    def places(self) -> dict[str, dict[str, IdPlace]]:
        return {
            kind: {
                value: IdPlace(number, self._first[kind, value], at == 0)
                for at, (value, number) in enumerate(
                    sorted(frames.items(), key=lambda each: self._first[kind, each[0]])
                )
            }
            for kind, frames in self._frames.items()
        }


def _id_values(value: Any, path: str, free: frozenset[str]) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for each in value:
            yield from _id_values(each, path, free)
    elif isinstance(value, dict):
        for key, below in value.items():
            if isinstance(below, str):
                if (key == "id" or key.endswith("_id")) and 0 < len(below) <= _LONGEST:
                    yield f"{path}{key}", below
            elif key not in free:
                yield from _id_values(below, f"{path}{key}.", free)
