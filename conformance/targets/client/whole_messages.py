"""Whole messages and turns on disk: cases of clients that need no stream.

Rule 1: a client may read any of several places of thinking, unless its profile promises
`extracts-in-order`; most servers mirror one thought, so no recording needs more. The order is the
dialect's, then that of the blocks, joined by newlines. The same text in two places is one thought,
reported once.
Rule 2: a client restores the content of a turn's message, whichever client stored it.
Rule 3: a client may store a turn in any form, unless its profile promises `stores-flat`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Chunk, Exchange, Response
from conformance.core.excerpts import beginning
from conformance.dialects import required
from conformance.dialects.base import Dialect
from conformance.dialects.client_cases import ScatteredThinking, StoredTurns
from conformance.judging import harness
from conformance.judging.result import StreamResult
from conformance.targets.client.adapter import AdapterAnswer, joined_text
from conformance.targets.client.case_results import CaseSeries, GatheredReplays
from conformance.targets.client.client_judge import (
    ClientJudge,
    ClientLedger,
    client_place,
    no_answer,
    stream_result,
)
from conformance.targets.client.protocol import EXTRACT, RESTORE, STORE
from conformance.targets.client.replay_endpoint import ReplayEndpoint

IN_ORDER: Final = "extracts-in-order"
EXTRACTED: Final = "extracted"
FLAT: Final = "stores-flat"
STORED: Final = "stored"
_WHERE: Final = "stored/turn/client"
_SHOWN: Final = 80  # characters of a value in a message
_DELTAS: Final = ("thinking.delta", "text.delta")


def judge_extraction(cases: CaseSeries) -> Iterator[StreamResult]:
    """Judge how a client reads thinking in several places of one message."""
    about, judging = cases.endpoint.about, cases.judging
    if EXTRACT not in about.ops or "thinking.delta" not in about.events:
        return
    if IN_ORDER not in judging.profile.promises:
        made = ClientLedger()
        why = f"the profile says promises.{IN_ORDER} is not promised"
        made.withdraw([harness.IN_ORDER.id], why, "profile")
        yield stream_result(judging, Exchange(number=1, scenario=EXTRACTED), made)
        return
    known = required(judging.dialect.client, cases.dialect, "cases of clients")
    for number, whole in enumerate(known.scattered, 1):
        answered = cases.endpoint.ask(EXTRACT, dialect=cases.dialect, message=whole.message)
        cases.count_case(EXTRACT, answered)
        place = Exchange(number=number, scenario=EXTRACTED, role=whole.name)
        yield cases.result(place, answered, _judge_extracted(whole, answered, client_place(place)))


def _judge_extracted(whole: ScatteredThinking, answered: AdapterAnswer, where: str) -> ClientLedger:
    """Rule 1."""
    if answered.how != "told":
        return no_answer(where, answered)
    made = ClientLedger()
    got = joined_text(answered.events, "thinking.delta")
    wrong = (repr(whole.thinking), repr(got)) if got != whole.thinking else None
    made.state_harness_rule(harness.IN_ORDER, where, wrong, answered.events)
    return made


def stored_turns(dialect: Dialect) -> StoredTurns:
    """The forms of turns on disk; an error of a dialect that has none."""
    cases = dialect.client
    return required(cases.stored if cases else None, dialect.name, "turns to store")


def judge_restoring(cases: CaseSeries) -> Iterator[StreamResult]:
    """Judge how a client restores stored turns, in every form."""
    if RESTORE not in cases.endpoint.about.ops:
        return
    turns = stored_turns(cases.judging.dialect)
    for number, stored in enumerate(turns.forms, 1):
        answered = cases.endpoint.ask(RESTORE, stored=stored)
        cases.count_case(RESTORE, answered)
        place = Exchange(number=number, scenario=STORED, role=f"form-{number}")
        if answered.how == "told":
            body = json.dumps(turns.body(stored)).encode()
            head = Response(200, "1.1", (("content-type", "application/json"),))
            chunks = (Chunk(body, 0.0),)
            whole = Exchange(number=number, response=head, chunks=chunks, scenario=STORED)
            made = cases.judging.judge_message(cases.judging.read_sent(whole), answered)
        else:
            made = no_answer(f"stored/form-{number}", answered)
        gathered = GatheredReplays([("restore", made)])
        yield cases.result(place, answered, gathered.combined_verdicts())


def judge_storing(cases: CaseSeries) -> Iterator[StreamResult]:
    """Judge how a client stores a turn, and how it reads it again."""
    endpoint, judging = cases.endpoint, cases.judging
    if STORE not in endpoint.about.ops:
        return
    turns = stored_turns(judging.dialect)
    for number, message in enumerate(turns.turns, 1):
        answered = endpoint.ask(STORE, message=message)
        cases.count_case(STORE, answered)
        place = Exchange(number=number, scenario=STORED, role=f"turn-{number}")
        if answered.stored is None:
            made = no_answer(_WHERE, answered)
        else:
            made = _judge_stored(judging, turns, message, answered.stored)
            if RESTORE in endpoint.about.ops:
                _read_back(made, cases, turns, message, answered.stored)
        yield cases.result(place, answered, made)


def _judge_stored(
    judging: ClientJudge,
    keys: StoredTurns,
    message: Mapping[str, Any],
    stored: Mapping[str, Any],
) -> ClientLedger:
    """Rule 3."""
    made = ClientLedger()
    if FLAT not in judging.profile.promises:
        return made
    inner = stored.get("args")
    args = inner if isinstance(inner, Mapping) else stored
    thinking = message.get(keys.thinking_key) or None
    expected = ((keys.stored_text_key, message[keys.text_key]), (keys.thinking_key, thinking))
    held = {key: f"{key} {beginning(json.dumps(args.get(key)), _SHOWN, '')}" for key, _ in expected}
    wrong = [held[key] for key, text in expected if text is not None and args.get(key) != text]
    fault = ("the texts themselves", "; ".join(wrong)) if wrong else None
    made.state_harness_rule(harness.STORED_FLAT, _WHERE, fault)
    if thinking is None:
        key = keys.thinking_key
        fault = (f"no {key}", held[key]) if key in args else None
        made.state_harness_rule(harness.STORED_LEAN, _WHERE, fault)
    return made


def _read_back(
    made: ClientLedger,
    cases: CaseSeries,
    keys: StoredTurns,
    message: Mapping[str, Any],
    stored: Mapping[str, Any],
) -> None:
    """Rule 2: reported as the message itself is, so wrong reports do not matter."""
    answered = cases.endpoint.ask(RESTORE, stored=stored)
    if answered.how != "told":
        made.fill_open(no_answer(_WHERE, answered))
        return
    events = _message_events(cases.endpoint, cases.dialect, keys, message)
    expected, got = ({d: joined_text(of, d) for d in _DELTAS} for of in (events, answered.events))
    wrong = [f"{kind} {got[kind]!r}" for kind in expected if expected[kind] != got[kind]]
    fault = (f"{expected}", "; ".join(wrong)) if wrong else None
    made.state_harness_rule(harness.RESTORES, _WHERE, fault)


def _message_events(
    endpoint: ReplayEndpoint, dialect: str, keys: StoredTurns, message: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]]:
    """The events of the message as the client shows them, or as anybody would."""
    if EXTRACT in endpoint.about.ops:
        answered = endpoint.ask(EXTRACT, dialect=dialect, message=message)
        if answered.how == "told":
            return answered.events
    texts = (message.get(keys.thinking_key) or "", message[keys.text_key])
    events = [{"type": kind, "text": text} for kind, text in zip(_DELTAS, texts, strict=True)]
    return [event for event in events if event["type"] in endpoint.about.events]
