"""What a store can hold: turns on disk in every form, and what a client writes there itself.

Rule 1: a client restores of a turn what the turn's message says, whoever stored it.
Rule 2: how a client stores is its own business, but for one whose profile promises `stores-flat`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Chunk, Exchange, Response
from conformance.judging import harness
from conformance.judging.result import StreamResult
from conformance.targets.client.adapter import Told
from conformance.targets.client.gathering import Gathering
from conformance.targets.client.judging import ClientLedger, Judging, error, result
from conformance.targets.client.protocol import EXTRACT, RESTORE, STORE
from conformance.targets.client.station import Station
from conformance.targets.client.visit import Tally

_THINKING: Final = "2 plus 2 is 4."
_TEXT: Final = "4."
# One turn in the three forms in which it has been written to disk.
STORED: Final[tuple[Mapping[str, Any], ...]] = (
    {"thought": _TEXT},
    {"thought": {"text": _TEXT, "reasoning_content": _THINKING}},
    {"thought": _TEXT, "reasoning_content": _THINKING},
)
# Turns to be stored: with thinking, without, and with thinking that is empty.
TURNS: Final[tuple[Mapping[str, Any], ...]] = (
    {"role": "assistant", "content": _TEXT, "reasoning_content": _THINKING},
    {"role": "assistant", "content": _TEXT},
    {"role": "assistant", "content": _TEXT, "reasoning_content": ""},
)
FLAT: Final = "stores-flat"
DIALECT: Final = "openai.chat"  # of messages that are stored
_WHERE: Final = "stored/turn/client"
_SHOWN: Final = 80  # characters of a value in a message


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
            yield result(judging, place, ClientLedger(), (note,))
            continue
        made = _restored(judging, stored, told, number)
        gathered.add("restore", made)
        yield result(judging, place, gathered.whole())


def store(station: Station, judging: Judging, tally: Tally) -> Iterator[StreamResult]:
    """What a client writes of a turn, and what it reads of that."""
    if STORE not in station.about.ops:
        return
    for number, message in enumerate(TURNS, 1):
        told = station.store(message)
        tally.count(STORE, judging.dialect.name, told)
        place = Exchange(number=number, scenario="stored", role=f"turn-{number}")
        if told.how == "skipped":
            note = f"not run: the client skips it: {told.why}"
            yield result(judging, place, ClientLedger(), (note,))
        elif told.stored is None:
            yield result(judging, place, error(_WHERE, told))
        else:
            made = _kept(judging, message, told.stored)
            if RESTORE in station.about.ops:
                _read_back(made, station, message, told)
            yield result(judging, place, made)


def _kept(judging: Judging, message: Mapping[str, Any], stored: Mapping[str, Any]) -> ClientLedger:
    """Rule 2."""
    made = ClientLedger()
    if FLAT not in judging.profile.promises:
        return made
    inner = stored.get("args")
    args = inner if isinstance(inner, Mapping) else stored
    thinking = message.get("reasoning_content") or None
    wrong = [
        f"{key} {json.dumps(args.get(key))[:_SHOWN]}"
        for key, text in (("thought", message["content"]), ("reasoning_content", thinking))
        if text is not None and args.get(key) != text
    ]
    found = harness.finding(harness.STORED_FLAT, _WHERE, "the texts themselves", "; ".join(wrong))
    made.state(harness.STORED_FLAT, found if wrong else None)
    if thinking is None:
        held = f"reasoning_content {json.dumps(args.get('reasoning_content'))[:_SHOWN]}"
        found = harness.finding(harness.STORED_LEAN, _WHERE, "no reasoning_content", held)
        made.state(harness.STORED_LEAN, found if "reasoning_content" in args else None)
    return made


def _read_back(
    made: ClientLedger, station: Station, message: Mapping[str, Any], kept: Told
) -> None:
    """Rule 1: told as the message itself is told, so that what is told wrongly is no matter."""
    assert kept.stored is not None
    told = station.restore(kept.stored)
    if told.how != "told":
        made.complete(error(_WHERE, told))
        return
    expected, got = _texts(_whole(station, message)), _texts(told.events)
    wrong = [f"{kind} {got[kind]!r}" for kind in expected if expected[kind] != got[kind]]
    found = harness.finding(harness.RESTORES, _WHERE, f"{expected}", "; ".join(wrong))
    made.state(harness.RESTORES, found if wrong else None)


def _whole(station: Station, message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The events of the message as the client tells them, or as anybody would."""
    if EXTRACT in station.about.ops:
        told = station.extract(DIALECT, message)
        if told.how == "told":
            return told.events
    thinking, text = message.get("reasoning_content") or "", message["content"]
    events = [{"type": "thinking.delta", "text": thinking}, {"type": "text.delta", "text": text}]
    return [event for event in events if event["type"] in station.about.events]


def _texts(events: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What was told, by kind: how it was cut is the client's business."""
    return {
        kind: "".join(str(event.get("text", "")) for event in events if event["type"] == kind)
        for kind in ("thinking.delta", "text.delta")
    }


def _restored(judging: Judging, stored: Mapping[str, Any], told: Told, number: int) -> ClientLedger:
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
