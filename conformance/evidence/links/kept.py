"""What a request sends to a server that keeps the answer which the request names.

Rule 1: `turn.named` has the `id` of that answer, or of its conversation, and `stored: false` if its
request said so and the two did not come over WebSockets: a connection keeps its last answer for
itself.
Rule 2: `turn.result` has the `id` of each result for a call of that answer, in the order of the
calls, then of each one whose call is not in the request. A call of a tool that no client offered
needs none, nor has an answer that ended at its limit any: their calls count as answered. A
reference may stand for any call. Where a conversation is named, results may be for calls of earlier
answers, some of them unrecorded: they count if the latest one made calls.
Rule 3: `turn.again` has the `place` of each entry that repeats that answer, and its own `id`.
Rule 4: where the request names the answer, and not only its conversation, there is `turn.resumed`;
`turn.moved` has the conversation that the request names, `to`, where the answer is of another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from conformance.core.events import UPGRADED, Event, Exchange
from conformance.core.json_values import value_at
from conformance.dialects.history_calls import REFERENCES
from conformance.dialects.json_edge import string
from conformance.evidence.links.answers import AnswerTurn
from conformance.evidence.links.requests import RepeatedTalk

NAMED: Final = "turn.named"
RESULT: Final = "turn.result"
AGAIN: Final = "turn.again"
RESUMED: Final = "turn.resumed"
MOVED: Final = "turn.moved"
KEPT: Final = frozenset({NAMED, RESULT, AGAIN, RESUMED, MOVED})


def kept_events(
    answer: AnswerTurn,
    talk: RepeatedTalk,
    again: Iterable[int],
    request: Iterable[Event],
    offered: AbstractSet[str],
    *,
    older: AbstractSet[str],
    by_id: bool,
) -> Iterator[Event]:
    """The events for one answer; `again` are the entries that repeat it, `offered` the tools.

    `older` are the calls of the answers before it.
    """
    is_unstored = _forbids(answer.exchange) and not _is_of_socket(talk.exchange)
    stored = {"stored": False} if is_unstored else {}
    yield Event(NAMED, {"id": next(iter(answer.ids), answer.thread), **stored}, 0, "wire")
    if by_id:
        yield Event(RESUMED, {"id": talk.named or answer.ids[0]}, 0, "wire")
        if "" != talk.thread != answer.thread != "":
            yield Event(MOVED, {"to": talk.thread}, 0, "wire")
    names = _results(answer, request, offered) if by_id or answer.calls else ()
    for name in (each for each in names if each not in older):
        yield Event(RESULT, {"id": name}, 0, "wire")
    for place in again:
        entry = talk.entries[place]
        own = string(value_at(entry, "id")) if isinstance(entry, dict) else ""
        yield Event(AGAIN, {"place": f"{talk.form.key}.{place}", "id": own}, 0, "wire")


def _results(answer: AnswerTurn, request: Iterable[Event], offered: AbstractSet[str]) -> list[str]:
    """Rule 2."""
    events = list(request)
    results = [event.data for event in events if event.type == "request.result"]
    given = {each["id"] for each in results}
    made = [
        call.id
        for call in answer.calls
        if call.id in given or answer.is_short or call.name not in offered
    ]
    if any(event.data.get("kind") in REFERENCES for event in events):
        return made
    others = (each["id"] for each in results if "asked" not in each)
    return [*made, *(name for name in dict.fromkeys(others) if name not in made)]


def _forbids(exchange: Exchange) -> bool:
    return exchange.request is not None and value_at(exchange.request.json, "store") is False


def _is_of_socket(exchange: Exchange) -> bool:
    return exchange.response is not None and exchange.response.status == UPGRADED
