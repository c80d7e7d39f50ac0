"""The content of an answer, collected while it is judged, to identify and compare it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct

from conformance.core.events import Event, Exchange
from conformance.core.spelling import one_spelling
from conformance.dialects.base import Dialect
from conformance.dialects.turns import HistoryCall, history_call
from conformance.evidence.links.gathering import GatheredEnd, LinkedRule, LinkGatherer, OwnEvents
from conformance.evidence.links.prefixes import BEFORE, TalkPrefix
from conformance.evidence.links.requests import RepeatedTalk
from conformance.evidence.links.returned import CALL, is_sound, made_call
from conformance.judging.offered_tools import OfferedTools
from conformance.rules.applies import Evidence

_BROKEN: Final = "the answer that comes back was broken"
_MOST_TEXT: Final = 16 * 1024 * 1024
_STARTS: Final = frozenset({"message.start", "thinking.start"})
_SPOKEN: Final = frozenset({"text.delta", "tool.end", "error", "cut", "finish", *_STARTS})


class AnswerTurn(Struct, frozen=True):
    """An answer by which a later request may go on.

    `ids` are those of the answer and its messages, `texts` what it showed, block by block, spelled.
    `broken` says why it is not whole, and is empty where it is. `is_short`: it ended at its limit.
    `sound` are the places of the calls that need no repair. `thread` is the conversation
    that the answer says it is of.
    """

    exchange: Exchange
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    calls: tuple[HistoryCall, ...]
    gathered: Mapping[str, GatheredEnd]
    broken: str = ""
    is_short: bool = False
    sound: frozenset[int] = frozenset()
    thread: str = ""

    @property
    def number(self) -> int:
        return self.exchange.number

    @property
    def text(self) -> str:
        """All that was shown, spelled."""
        return "".join(self.texts)


class AnswerListener:
    """Listens to the events of one answer, with adjacent deltas joined or not."""

    def __init__(self, exchange: Exchange, dialect: Dialect, rules: Sequence[LinkedRule]) -> None:
        self._exchange = exchange
        self._gatherer = LinkGatherer(rules, "answer", Evidence())
        self._types = self._gatherer.types
        self.own = OwnEvents(rules)
        self._texts: dict[int, list[str]] = {}
        self._size = 0
        self._calls: list[HistoryCall] = []
        self._sound: set[int] = set()
        self._ids: list[str] = []
        self._dialect = dialect
        self._request = dialect.request
        form = dialect.request
        # An id of the answer is of use where a request can name it.
        self._answer_id = form.answer_id if form is not None and form.previous else None
        turns = dialect.turns
        self._answer_thread = turns.answer_thread if turns is not None else None
        self._answer_name = turns.answer_name if turns is not None else None
        self._message_name = turns.message_name if turns is not None else None
        self._thread = ""
        self._broken = "" if exchange.end == "eof" else _BROKEN
        self._is_short = False

    def __call__(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.layer == "semantic":
                if event.type in _SPOKEN:
                    self._take_spoken(event)
            elif event.layer == "wire":
                self._take_names(event)
            if event.type in self._types:
                self._gatherer.take((event,))
            self.own.take(event)

    def _take_names(self, event: Event) -> None:
        if self._answer_thread is not None and not self._thread:
            self._thread = self._answer_thread(event)
        if self._answer_name is not None and (name := self._answer_name(event)):
            self._ids.append(name)
            self._answer_name = None
        if self._message_name is not None and (name := self._message_name(event)):
            self._ids.append(name)
        if self._answer_id is not None and (named := self._answer_id(event)):
            self._ids.append(named)
            self._answer_id = None

    def _take_spoken(self, event: Event) -> None:
        kind, data = event.type, event.data
        if kind == "text.delta":
            if not data.get("choice") and self._size <= _MOST_TEXT:
                self._size += len(data["text"])
                self._texts.setdefault(data.get("block", 0), []).append(data["text"])
        elif kind == "tool.end":
            if not data.get("choice") and not data.get("hosted"):
                self._take_call(event)
        elif kind in _STARTS:
            if isinstance(named := data.get("id"), str):
                self._ids.append(named)
        elif kind in ("error", "cut"):
            self._broken = _BROKEN
        elif kind == "finish":
            self._is_short = self._is_short or data.get("reason") == "length"

    def _take_call(self, event: Event) -> None:
        place, data = len(self._calls), event.data
        call = history_call(data.get("id"), data.get("name"), data.get("arguments"))
        self._calls.append(call)
        if CALL in self._types:
            fit = self._offered.fit(data) if self._offered is not None else None
            if is_sound(data.get("arguments"), fit):
                self._sound.add(place)
                self._gatherer.take((made_call(call, place, event.number),))

    @cached_property
    def _offered(self) -> OfferedTools | None:
        return OfferedTools.of(self._dialect, self._exchange.request)

    def take_request(self, talk: RepeatedTalk) -> None:
        """Adds what the model was given, where a rule compares that."""
        if BEFORE in self._types and self._request is not None:
            event = TalkPrefix.of(talk, self._request).before_answer()
            self._gatherer.take([event] if event is not None else ())

    def turn(self) -> AnswerTurn | None:
        """The content of the answer; None if it has nothing that could come back."""
        texts = tuple(one_spelling("".join(pieces)) for pieces in self._texts.values())
        if not (self._ids or self._calls or any(texts)):
            return None
        return AnswerTurn(
            self._exchange,
            tuple(dict.fromkeys(self._ids)),
            tuple(filter(None, texts)),
            tuple(self._calls),
            self._gatherer.ends,
            self._broken,
            self._is_short,
            frozenset(self._sound),
            self._thread,
        )
