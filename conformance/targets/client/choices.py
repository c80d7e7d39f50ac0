"""What a user can choose, and what a store can hold: cases that need no recording."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.check import StreamResult, harness
from conformance.events import Chunk, Exchange, Request, Response
from conformance.targets.client.adapter import Told
from conformance.targets.client.asking import HELLO, OPT_IN
from conformance.targets.client.gathering import Gathering
from conformance.targets.client.judging import Judging, Verdicts, asked, error, result
from conformance.targets.client.protocol import NEXT_REQUEST, RESTORE
from conformance.targets.client.station import Station
from conformance.targets.client.visit import Tally

EFFORTS: Final = ("low", "medium", "high", "max")
SUMMARIES: Final = ("auto", "concise", "detailed")
_TRUE: Final = frozenset({"1", "true", "yes"})
# Where a level of effort may stand in a request, and where a summary.
_EFFORT_AT: Final = ("reasoning_effort", "reasoning.effort", "output_config.effort", "thinking")
_THINKING: Final = "2 plus 2 is 4."
_TEXT: Final = "4."
# One turn in the three forms in which it has been written to disk.
STORED: Final[tuple[Mapping[str, Any], ...]] = (
    {"thought": _TEXT},
    {"thought": {"text": _TEXT, "reasoning_content": _THINKING}},
    {"thought": _TEXT, "reasoning_content": _THINKING},
)


@dataclass(frozen=True, slots=True)
class Choice:
    """An option that is chosen, and the paths of the request where it may stand."""

    name: str
    options: Mapping[str, Any]
    at: tuple[str, ...] = ()
    header: str = ""

    def stands_in(self, request: Request) -> bool:
        """Whether the request holds it in any form."""
        if self.header:
            values = [v for name, v in request.headers if name.lower() == self.header]
            return any(value.strip().lower() in _TRUE for value in values)
        return any(_at(request.json, path) is not None for path in self.at)


def choices(dialect: str) -> Iterator[Choice]:
    """Everything that the API of a dialect lets a user choose."""
    for level in EFFORTS:
        yield Choice(f"effort-{level}", {"effort": level}, _EFFORT_AT)
    if dialect == "openai.responses":
        for kind in SUMMARIES:
            # Without effort some servers neither think nor summarise.
            options = {"effort": "low", "summary": kind}
            yield Choice(f"summary-{kind}", options, ("reasoning.summary",))
    if dialect == "openai.chat":
        yield Choice("opt-in", {"include_thinking": True}, header=OPT_IN)


def choose(station: Station, judging: Judging, tally: Tally) -> Iterator[StreamResult]:
    """The requests that a client would send for every choice, judged."""
    if NEXT_REQUEST not in station.about.ops:
        return
    dialect = judging.dialect.name
    for number, choice in enumerate(choices(dialect), 1):
        said = {"model": "m", "messages": [dict(HELLO)], "options": dict(choice.options)}
        told = station.next_request(dialect, said)
        tally.count(NEXT_REQUEST, dialect, told)
        where = f"choices/{choice.name}/{number}/client"
        place = Exchange(number=number, scenario="choices", role=choice.name, dialect=dialect)
        if told.how == "skipped":
            note = f"not run: the client skips it: {told.why}"
            yield result(judging, place, Verdicts(), (note,))
        elif told.request is None:
            yield result(judging, place, error(where, told))
        else:
            yield result(judging, place, _chosen(judging, choice, told.request, where))


def _chosen(judging: Judging, choice: Choice, request: Request, where: str) -> Verdicts:
    made = judging.requests([asked(request, 1, "", _EMPTY)])
    found = None
    if not choice.stands_in(request):
        expected = choice.header or " or ".join(choice.at)
        found = harness.finding(harness.NEXT_REQUEST, where, expected, "none of it")
    made.state(harness.NEXT_REQUEST, found)
    return made


def restore(station: Station, judging: Judging, tally: Tally) -> Iterator[StreamResult]:
    """What a client makes of turns that were stored, in every form."""
    if RESTORE not in station.about.ops:
        return
    for number, stored in enumerate(STORED, 1):
        told = station.restore(stored)
        tally.count(RESTORE, judging.dialect.name, told)
        place = Exchange(number=number, scenario="stored", role=f"form-{number}")
        gathered = Gathering()
        if told.how == "skipped":
            note = f"not run: the client skips it: {told.why}"
            yield result(judging, place, Verdicts(), (note,))
            continue
        made = _restored(judging, stored, told, number)
        gathered.add("restore", made)
        yield result(judging, place, gathered.whole())


def _restored(judging: Judging, stored: Mapping[str, Any], told: Told, number: int) -> Verdicts:
    if told.how != "told":
        return error(f"stored/form-{number}", told)
    return judging.message(_body(stored, number), told)


def _body(stored: Mapping[str, Any], number: int) -> Exchange:
    """A chat completion that says what was stored."""
    thought = stored["thought"]
    inner = thought if isinstance(thought, Mapping) else {**stored, "text": thought}
    message = {"role": "assistant", "content": inner["text"]}
    if "reasoning_content" in inner:
        message["reasoning_content"] = inner["reasoning_content"]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
    head = Response(200, "1.1", (("content-type", "application/json"),))
    return Exchange(number=number, response=head, chunks=(Chunk(body, 0.0),), scenario="stored")


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


_EMPTY: Final = Exchange(response=Response(200, "1.1", ()))
