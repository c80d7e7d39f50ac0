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
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.client_judge import (
    ClientJudge,
    ClientLedger,
    no_answer,
    skipped_result,
    stream_result,
)
from conformance.targets.client.exchange_replays import CaseTally
from conformance.targets.client.gathered_replays import GatheredReplays
from conformance.targets.client.protocol import EXTRACT, RESTORE, STORE
from conformance.targets.client.replay_endpoint import ReplayEndpoint

FLAT: Final = "stores-flat"
_WHERE: Final = "stored/turn/client"
_SHOWN: Final = 80  # characters of a value in a message


def _turns(judging: ClientJudge) -> StoredTurns:
    cases = judging.dialect.client
    return required(cases.stored if cases else None, judging.dialect.name, "turns to store")


def judge_restoring(
    endpoint: ReplayEndpoint, judging: ClientJudge, tally: CaseTally
) -> Iterator[StreamResult]:
    """What a client makes of turns that were stored, in every form."""
    if RESTORE not in endpoint.about.ops:
        return
    for number, stored in enumerate(_turns(judging).forms, 1):
        answered = endpoint.restore_turn(stored)
        tally.count_case(RESTORE, judging.dialect.name, answered)
        place = Exchange(number=number, scenario="stored", role=f"form-{number}")
        gathered = GatheredReplays()
        if answered.how == "skipped":
            yield skipped_result(judging, place, answered)
            continue
        made = _judge_restored(judging, stored, answered, number)
        gathered.add_replay("restore", made)
        yield stream_result(judging, place, gathered.combined_verdicts())


def judge_storing(
    endpoint: ReplayEndpoint, judging: ClientJudge, tally: CaseTally
) -> Iterator[StreamResult]:
    """What a client writes of a turn, and what it reads of that."""
    if STORE not in endpoint.about.ops:
        return
    for number, message in enumerate(_turns(judging).turns, 1):
        answered = endpoint.store_message(message)
        tally.count_case(STORE, judging.dialect.name, answered)
        place = Exchange(number=number, scenario="stored", role=f"turn-{number}")
        if answered.how == "skipped":
            yield skipped_result(judging, place, answered)
        elif answered.stored is None:
            yield stream_result(judging, place, no_answer(_WHERE, answered))
        else:
            made = _judge_stored(judging, message, answered.stored)
            if RESTORE in endpoint.about.ops:
                _read_back(made, endpoint, judging, message, answered)
            yield stream_result(judging, place, made)


def _judge_stored(
    judging: ClientJudge, message: Mapping[str, Any], stored: Mapping[str, Any]
) -> ClientLedger:
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
    made.state_harness_rule(harness.STORED_FLAT, found if wrong else None)
    if thinking is None:
        held = f"{keys.thinking_key} {json.dumps(args.get(keys.thinking_key))[:_SHOWN]}"
        found = harness.client_finding(harness.STORED_LEAN, _WHERE, f"no {keys.thinking_key}", held)
        made.state_harness_rule(harness.STORED_LEAN, found if keys.thinking_key in args else None)
    return made


def _read_back(
    made: ClientLedger,
    endpoint: ReplayEndpoint,
    judging: ClientJudge,
    message: Mapping[str, Any],
    kept: AdapterAnswer,
) -> None:
    """Rule 1: told as the message itself is told, so that what is told wrongly is no matter."""
    assert kept.stored is not None
    answered = endpoint.restore_turn(kept.stored)
    if answered.how != "told":
        made.fill_open(no_answer(_WHERE, answered))
        return
    expected, got = (
        _texts_by_type(_message_events(endpoint, judging, message)),
        _texts_by_type(answered.events),
    )
    wrong = [f"{kind} {got[kind]!r}" for kind in expected if expected[kind] != got[kind]]
    found = harness.client_finding(harness.RESTORES, _WHERE, f"{expected}", "; ".join(wrong))
    made.state_harness_rule(harness.RESTORES, found if wrong else None)


def _message_events(
    endpoint: ReplayEndpoint, judging: ClientJudge, message: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]]:
    """The events of the message as the client tells them, or as anybody would."""
    if EXTRACT in endpoint.about.ops:
        answered = endpoint.extract_events(judging.dialect.name, message)
        if answered.how == "told":
            return answered.events
    keys = _turns(judging)
    thinking, text = message.get(keys.thinking_key) or "", message[keys.text_key]
    events = [{"type": "thinking.delta", "text": thinking}, {"type": "text.delta", "text": text}]
    return [event for event in events if event["type"] in endpoint.about.events]


def _texts_by_type(events: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What was told, by kind: how it was cut is the client's business."""
    return {
        kind: "".join(str(event.get("text", "")) for event in events if event["type"] == kind)
        for kind in ("thinking.delta", "text.delta")
    }


def _judge_restored(
    judging: ClientJudge, stored: Mapping[str, Any], answered: AdapterAnswer, number: int
) -> ClientLedger:
    if answered.how != "told":
        return no_answer(f"stored/form-{number}", answered)
    return judging.judge_message(_completion_of(judging, stored, number), answered)


def _completion_of(judging: ClientJudge, stored: Mapping[str, Any], number: int) -> Exchange:
    """A whole answer that says what was stored."""
    body = json.dumps(_turns(judging).body(stored)).encode()
    head = Response(200, "1.1", (("content-type", "application/json"),))
    return Exchange(number=number, response=head, chunks=(Chunk(body, 0.0),), scenario="stored")
