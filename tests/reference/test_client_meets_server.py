"""The two halves of the reference implementation, in process: a tool round in every API.

They share no code either, so that what the one seals and the other carries back is a test of both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from starlette.types import ASGIApp

from reference_impl.client import Reader, Reading
from reference_impl.client.apis import APIS, request
from reference_impl.client.ask import MARKERS, Ask
from reference_impl.client.calculator import TOOL
from reference_impl.client.defects import DEFECTS, HONEST, Defect
from reference_impl.client.likeness import Policy
from reference_impl.client.turn import Answer, Turn, result_turn, text_turn
from reference_impl.client.wire import Api
from reference_impl.server.app import application
from reference_impl.server.service import Service
from tests.reference.actor import ARGUMENTS, TEXT, THOUGHT, Actor
from tests.reference.driving import ask_blocking

# These refuse a turn with calls that comes back without what was signed.
SIGNED: tuple[Api, ...] = ("gemini",)
QUESTION = text_turn("user", "What is 2 + 3?")


def asked(
    app: ASGIApp,
    api: Api,
    turns: tuple[Turn, ...],
    defect: Defect = HONEST,
    history: Policy = "send-back",
) -> tuple[Answer, Turn]:
    """What the client makes of the server's answer."""
    ask = Ask("actor", turns, "high", tools=(TOOL,), history=history, include_thinking=True)
    sent = defect.request(request(api, defect.ask(ask)))
    came = ask_blocking(app, f"{APIS[api].base}{sent.path}", sent.json, tuple(sent.headers.items()))
    reader = Reader(api, Reading(MARKERS), status=came.status)
    events = [event for chunk in came.chunks for event in reader.feed(chunk.data)]
    answer = Answer().take([*events, *reader.close(came.end)])
    return answer, answer.turn(reader.echo)


@pytest.fixture
def app() -> ASGIApp:
    return application(Service(Actor()))


def rounds() -> Iterator[tuple[Api, Policy]]:
    for api in (each for each, form in APIS.items() if form.takes_tools):
        yield api, "send-back"
        if api not in SIGNED:
            yield api, "never"
            yield api, "by-model"


@pytest.mark.parametrize(("api", "history"), list(rounds()))
def test_a_tool_round_ends_in_an_answer(api: Api, history: Policy, app: ASGIApp) -> None:
    first, turn = asked(app, api, (QUESTION,))
    # Neither the Gemini API nor Ollama has a reason of its own for calls.
    reason = "stop" if api in ("gemini", "ollama") else "tool_calls"
    assert (first.how, first.reason) == ("completed", reason)
    assert turn.thinking == "".join(THOUGHT)
    called = [(call.name, json.loads(call.arguments)) for call in turn.calls]
    assert called == [("calculator", json.loads(arguments)) for arguments in ARGUMENTS]
    turns = (QUESTION, turn, *(result_turn(call.id, "5") for call in turn.calls))
    second, last = asked(app, api, turns, history=history)
    assert (second.how, second.reason, second.error) == ("completed", "stop", None)
    assert last.text == "".join(TEXT)


@pytest.mark.parametrize("api", ["responses", "messages", "bedrock", "interactions", *SIGNED])
def test_an_altered_seal_is_refused(api: Api, app: ASGIApp) -> None:
    _, turn = asked(app, api, (QUESTION,))
    turns = (QUESTION, turn, result_turn(turn.calls[0].id, "5"))
    answer, _ = asked(app, api, turns, DEFECTS["signature-altered"])
    assert answer.how == "failed"
    assert answer.error is not None
    assert answer.error["status"] == 400


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_an_effort_that_nobody_knows_is_refused(api: Api, app: ASGIApp) -> None:
    answer, _ = asked(app, api, (QUESTION,), DEFECTS["effort-unknown"])
    assert answer.how == "failed"
