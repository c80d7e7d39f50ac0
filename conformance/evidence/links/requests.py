"""The history that a request repeats: its entries, their content, and the history up to each."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.core.events import Exchange
from conformance.core.json_values import value_at
from conformance.core.spelling import one_spelling
from conformance.dialects.base import Dialect
from conformance.dialects.endpoint import Endpoint
from conformance.dialects.given_before import given_to
from conformance.dialects.turns import HistoryEntry, HistoryForm, texts_within

_SIZE: Final = 16
_LONG: Final = 40  # characters of a text that no model writes twice


def digest(*parts: str) -> bytes:
    """A short name for texts."""
    made = hashlib.blake2b(digest_size=_SIZE)
    for part in parts:
        made.update(part.encode("utf-8", "surrogatepass"))
        made.update(b"\x00")
    return made.digest()


class RepeatedTalk(Struct, frozen=True, dict=True):
    """The history of one request; `agent` names the model and its instructions."""

    exchange: Exchange
    form: HistoryForm
    body: Any
    entries: Sequence[Any]
    said: Sequence[HistoryEntry]
    agent: bytes = b""

    @classmethod
    def of(cls, exchange: Exchange, dialect: Dialect) -> RepeatedTalk | None:
        """None where the request was not recorded, or the dialect's requests repeat nothing."""
        request, form = dialect.stated(exchange.request), dialect.turns
        if form is None or request is None or not isinstance(request.json, dict):
            return None
        entries = form.entries(request.json)
        agent = digest(given_to(request.json, dialect.request)) if dialect.request else b""
        said = [form.read(each) for each in entries]
        return cls(exchange, form, request.json, entries, said, agent)

    @cached_property
    def before(self) -> Sequence[bytes]:
        """For each number of entries, from 0, a name for all that they say."""
        made = hashlib.blake2b(digest_size=_SIZE)
        found = [made.digest()]
        for each in self.outlines:
            made.update(each)
            found.append(made.digest())
        return found

    @cached_property
    def outlines(self) -> Sequence[bytes]:
        """A name for what each entry shows; thinking, signatures and marks of caches aside."""
        return [_outline(each) for each in self.said]

    @cached_property
    def model_outlines(self) -> Sequence[bytes]:
        """A name for what the model says or calls in each entry, ids of calls included; or b""."""
        return [_model_outline(each) for each in self.said]

    @cached_property
    def call_counts(self) -> Counter[str]:
        """How often the history names each id of a call."""
        return Counter(call.id for each in self.said for call in each.calls)

    @cached_property
    def last_question(self) -> int:
        """The place of the last entry in which the user says something; -1 where there is none."""
        return max((n for n, each in enumerate(self.said) if each.by == "user"), default=-1)

    @cached_property
    def last_result(self) -> int:
        """The place of the last entry that brings a result; -1 where there is none."""
        return max((n for n, each in enumerate(self.said) if each.by == "tool"), default=-1)

    @property
    def thread(self) -> str:
        """What names the conversation; empty where nothing does."""
        return self._first_name(self.form.thread) or self._path_name

    @property
    def named(self) -> str:
        """The id of the answer that the request goes on from, where its history says so."""
        return self._first_name(self.form.named)

    @property
    def _path_name(self) -> str:
        request = self.exchange.request
        if not self.form.thread_path or request is None:
            return ""
        stated = Endpoint("", self.form.thread_path).stated(request.path.partition("#")[0])
        return str(stated.get("thread", ""))

    def _first_name(self, paths: Iterable[str]) -> str:
        found = (value_at(self.body, *path.split(".")) for path in paths)
        names = (each.get("id") if isinstance(each, dict) else each for each in found)
        return next((each for each in names if isinstance(each, str) and each), "")

    def runs(self) -> Iterator[range]:
        """Runs of adjacent entries of the model."""
        begun: int | None = None
        for place, each in enumerate(self.said):
            if each.by == "model":
                begun = place if begun is None else begun
            elif begun is not None:
                yield range(begun, place)
                begun = None
        if begun is not None:
            yield range(begun, len(self.said))

    def is_current(self, place: int) -> bool:
        """Whether nothing but results of calls came after an entry."""
        return self.last_question < place < self.last_result

    def doubled(self, places: Sequence[int]) -> list[int]:
        """Those of these entries that say word for word what one before them says.

        A run is compared with those before it only if an id recurs: a model may say the same again.
        """
        seen: set[bytes] = set()
        found = []
        for run in _adjacent(places):
            names = {place: self.content((place,)) for place in run}
            recurs = any(name in seen and self._is_single(place) for place, name in names.items())
            met = set(seen) if recurs else set()
            for place, name in names.items():
                if name in met and self.said[place].by == "model":
                    found.append(place)
                met.add(name)
            seen |= met
        return found

    def is_unnamed(self, place: int) -> bool:
        """Whether an entry makes calls without ids, and can be of one turn alone."""
        calls = self.said[place].calls
        return bool(calls) and not any(call.id for call in calls) and self._is_single(place)

    def is_copy(self, place: int, others: Iterable[int]) -> bool:
        """Whether an entry of the model is one of these once more."""
        content = self.content((place,))
        return self._is_single(place) and any(self.content((e,)) == content for e in others)

    def _is_single(self, place: int) -> bool:
        """Whether an entry can be of one turn alone: it has an id, or thinking, or a seal."""
        said = self.said[place]
        has_id = bool(said.id) or any(call.id for call in said.calls)
        return has_id or any(
            len(each) >= _LONG and each != said.text for each in texts_within(self.entries[place])
        )

    def content(self, places: Sequence[int]) -> bytes:
        """A hash of the entries as the request has them."""
        made = hashlib.blake2b(digest_size=_SIZE)
        for place in places:
            made.update(_encoded(self.entries[place]))
        return made.digest()


def _adjacent(places: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for place in places:
        if run and place != run[-1] + 1:
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _encoded(entry: Any) -> bytes:
    try:
        return msgspec.json.encode(entry)
    except (TypeError, ValueError, RecursionError):
        return repr(entry)[:1000].encode("utf-8", "replace")


def _model_outline(said: HistoryEntry) -> bytes:
    if said.by != "model" or not (said.text or said.calls):
        return b""
    return digest(_outline(said).hex(), *(call.id for call in said.calls))


def _outline(said: HistoryEntry) -> bytes:
    calls = (f"{call.name}({call.arguments})" for call in said.calls)
    return digest(said.by, one_spelling(said.text), *calls, *said.results)
