"""What a store can hold: turns on disk in every form, and what a client writes there itself.

Rule 1: a client restores of a turn what the turn's message says, whoever stored it.
Rule 2: how a client stores is its own business, but for one whose profile promises `stores-flat`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects import required
from conformance.dialects.client_cases import StoredTurns
from conformance.judging import harness
from conformance.judging.result import StreamResult
from conformance.targets.client.adapter import Told
from conformance.targets.client.gathering import Gathering
from conformance.targets.client.judging import ClientLedger, Judging, error, result
from conformance.targets.client.protocol import EXTRACT, RESTORE, STORE
from conformance.targets.client.station import Station
from conformance.targets.client.visit import Tally

FLAT: Final = "stores-flat"
_WHERE: Final = "stored/turn/client"
_SHOWN: Final = 80  # characters of a value in a message


def _turns(judging: Judging) -> StoredTurns:
    cases = judging.dialect.client
    return required(cases.stored if cases else None, judging.dialect.name, "turns to store")


def restore(station: Station, judging: Judging, tally: Tally) -> Iterator[StreamResult]:
    """What a client makes of turns that were stored, in every form."""
    if RESTORE not in station.about.ops:
        return
    for number, stored in enumerate(_turns(judging).forms, 1):
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
    for number, message in enumerate(_turns(judging).turns, 1):
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
                _read_back(made, station, judging, message, told)
            yield result(judging, place, made)


def _kept(judging: Judging, message: Mapping[str, Any], stored: Mapping[str, Any]) -> ClientLedger:
    """Rule 2."""
    made = ClientLedger()
    if FLAT not in judging.profile.promises:
        return made
    inner = stored.get("args")
    args = inner if isinstance(inner, Mapping) else stored
    keys = _turns(judging)
    thinking = message.get(keys.thinking_key) or None
    expected = (
        (keys.stored_text_key, message[keys.text_key]),
        (keys.thinking_key, thinking),
    )
    wrong = [
        f"{key} {json.dumps(args.get(key))[:_SHOWN]}"
        for key, text in expected
        if text is not None and args.get(key) != text
    ]
    found = harness.client_finding(
        harness.STORED_FLAT, _WHERE, "the texts themselves", "; ".join(wrong)
    )
    made.state(harness.STORED_FLAT, found if wrong else None)
    if thinking is None:
        held = f"{keys.thinking_key} {json.dumps(args.get(keys.thinking_key))[:_SHOWN]}"
        found = harness.client_finding(harness.STORED_LEAN, _WHERE, f"no {keys.thinking_key}", held)
        made.state(harness.STORED_LEAN, found if keys.thinking_key in args else None)
    return made


def _read_back(
    made: ClientLedger, station: Station, judging: Judging, message: Mapping[str, Any], kept: Told
) -> None:
    """Rule 1: told as the message itself is told, so that what is told wrongly is no matter."""
    assert kept.stored is not None
    told = station.restore(kept.stored)
    if told.how != "told":
        made.complete(error(_WHERE, told))
        return
    expected, got = _texts(_whole(station, judging, message)), _texts(told.events)
    wrong = [f"{kind} {got[kind]!r}" for kind in expected if expected[kind] != got[kind]]
    found = harness.client_finding(harness.RESTORES, _WHERE, f"{expected}", "; ".join(wrong))
    made.state(harness.RESTORES, found if wrong else None)


def _whole(
    station: Station, judging: Judging, message: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]]:
    """The events of the message as the client tells them, or as anybody would."""
    if EXTRACT in station.about.ops:
        told = station.extract(judging.dialect.name, message)
        if told.how == "told":
            return told.events
    keys = _turns(judging)
    thinking, text = message.get(keys.thinking_key) or "", message[keys.text_key]
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
    return judging.message(_body(judging, stored, number), told)


def _body(judging: Judging, stored: Mapping[str, Any], number: int) -> Exchange:
    """A whole answer that says what was stored."""
    body = json.dumps(_turns(judging).body(stored)).encode()
    head = Response(200, "1.1", (("content-type", "application/json"),))
    return Exchange(number=number, response=head, chunks=(Chunk(body, 0.0),), scenario="stored")
