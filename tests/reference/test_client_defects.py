"""Every named defect of the client is found by the rules that it lists, and by no other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache, partial

import pytest
from msgspec import structs

from conformance.core import shipped
from conformance.core.events import SEMANTIC_EVENTS, Exchange
from conformance.mutate import BaseRecording, open_base
from conformance.recordings.in_memory import InMemory
from reference_impl.client import Event, Reader
from reference_impl.client.apis import OPT_IN, Request, request
from reference_impl.client.ask import Ask
from reference_impl.client.defects import DEFECTS, HONEST, REPORT_DEFECTS, REQUEST_DEFECTS, Defect
from reference_impl.client.turn import Answer, Turn, result_turn, text_turn
from tests.reference.client_sides import APIS, case, reading
from tests.rulebooks import rulebook

# What no rule over a recording finds is found by comparing what the harness reports.
HARNESS = frozenset({"harness/ending", "harness/next-request", "harness/restores"})
# Asked only of a client whose profile promises it, so no defect lists it.
PROMISED = frozenset({"history/messages/always-carried"})
# Between them these streams show every defect to every rule that finds it.
STREAMS = (
    "anthropic.messages/anthropic/error-in-text",
    "anthropic.messages/anthropic/interleaved-thinking",
    "anthropic.messages/anthropic/max-tokens",
    "anthropic.messages/anthropic/redacted",
    "openai.chat/deepseek/body",
    "openai.chat/deepseek/parallel-tools",
    "openai.chat/llamacpp/split-characters",
    "openai.chat/openai/two-choices",
    "openai.chat/openrouter/signed-details",
    "openai.chat/reference/opt-in-through-gateway",
    "openai.responses/deepseek/raw-thinking",
    "openai.responses/demo/summary",
    "openai.responses/openai/refusal",
    "openai.responses/openai/summary-four-parts",
    "openai.responses/openai/third-turn",
)


@cache
def stream(name: str) -> BaseRecording:
    folder = shipped.cassettes()
    return open_base(folder / f"{name}.cassette.jsonl", folder)


def seen(one: BaseRecording, exchange: Exchange, dialect: str, defect: Defect) -> list[Event]:
    """What the client reports of an exchange."""
    profile = case(one.name, dialect, one.cassette.header.profile, exchange).profile
    reader, door = Reader(APIS[dialect], reading(profile)), defect.events()
    events = [event for chunk in exchange.chunks for event in reader.feed(defect.bytes(chunk.data))]
    events += reader.close(exchange.end)
    return [reported for event in events for reported in door(event)]


def watched(one: BaseRecording, defect: Defect) -> BaseRecording:
    """The recording as a client with that defect saw it."""
    exchanges = tuple(
        structs.replace(
            each.exchange,
            seen=tuple(event.plain() for event in seen(one, each.exchange, each.dialect, defect)),
        )
        for each in one.streams()
    )
    return _replaced(one, exchanges)


def _replaced(one: BaseRecording, exchanges: tuple[Exchange, ...]) -> BaseRecording:
    header = one.cassette.header
    implementation = {"name": "client", "events": sorted(SEMANTIC_EVENTS)}
    header = structs.replace(header, extra={**header.extra, "implementation": implementation})
    cassette = structs.replace(one.cassette, header=header, exchanges=exchanges)
    return structs.replace(one, recording=InMemory(one.recording.path, "cassette", cassette))


@pytest.mark.parametrize("name", STREAMS)
def test_an_honest_client_breaks_no_rule(name: str) -> None:
    assert watched(stream(name), HONEST).judge(rulebook()).failing == frozenset()


OF_RUNS = {
    "history/mistral/thinking-kept",
    "history/chat/details-sealed",
    "history/chat/details-signed",
    "history/chat/text-unchanged",
    "history/cohere/turn-unchanged",
    "history/converse/turn-signed",
    "history/gemini/turn-signed",
    "history/messages/turn-redacted",
    "history/ollama/turn-unchanged",
    "history/responses/turn-sealed",
}
"""Rules that only the conversations of a whole run reach; `tests/targets/test_client_run.py`."""
OF_BODIES = {"thinking/answer/said"}
"""What shows where all text of an answer came at once, and was lost; the replays of runs do not."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("defect", REPORT_DEFECTS, ids=lambda defect: str(defect.name))
def test_what_is_reported_wrongly_is_found_by_the_rules_listed(defect: Defect) -> None:
    found = [watched(stream(name), defect).judge(rulebook()).failing for name in STREAMS]
    reached = frozenset().union(*found) - OF_RUNS - OF_BODIES
    assert reached == set(defect.rules) - HARNESS - OF_RUNS


@pytest.mark.parametrize("defect", REPORT_DEFECTS, ids=lambda defect: str(defect.name))
def test_a_defect_is_noticed_somewhere_and_not_everywhere(defect: Defect) -> None:
    changed = [
        seen(one, each.exchange, each.dialect, defect)
        != seen(one, each.exchange, each.dialect, HONEST)
        for one in map(stream, STREAMS)
        for each in one.streams()
    ]
    assert any(changed)
    assert not all(changed) or defect.name == "text-start-on-role-chunk"


# -- what is sent ---------------------------------------------------------------------------------

CHAT = "openai.chat/deepseek/tool-round"
RESPONSES = "openai.responses/openai/tool-round"
USAGE = "stream_options"
SIGNED = "anthropic.messages/anthropic/tool-round"
REDACTED = "anthropic.messages/anthropic/redacted-round"
NEVER = "openai.chat/openhands/thinking-left-out"
NEXT_TURN = "anthropic.messages/reference-client/next-turn"
QUESTION = text_turn("user", "Does the ferry to the island sail today?")


def answer(name: str) -> Turn:
    """The first answer of a recording, as the client keeps it."""
    one = next(stream(name).streams())
    events = seen(stream(name), one.exchange, one.dialect, HONEST)
    return Answer().take(events).turn()


def follow_up(name: str) -> Ask:
    """What is asked after a tool round, with thinking twice in the history.

    The summary is asked for by name, as the recorded answer has one whatever the effort.
    """
    first = answer(name)
    result = result_turn(first.calls[0].id, "Sailings at nine and at five.")
    turns = (QUESTION, first, result)
    return Ask("m", turns, effort="medium", history="send-back", summary="auto")


def third_turn() -> Ask:
    """Two rounds, so that two reasoning items are in the input."""
    ask = follow_up(RESPONSES)
    thought = dataclasses.replace(ask.turns[1].thoughts[0], id="rs_other", encrypted="")
    earlier = Turn("assistant", (thought, *text_turn("assistant", "Yes.").pieces))
    return dataclasses.replace(ask, turns=(QUESTION, earlier, *ask.turns))


def next_turn(name: str) -> Ask:
    """Another question after an answer without calls."""
    turns = (QUESTION, answer(name), QUESTION)
    return Ask("m", turns, effort="medium", history="send-back", summary="auto")


def never(name: str) -> Ask:
    """Another question of a client that sends no thinking, after an answer of that recording."""
    first = answer(name)
    results = (result_turn(call.id, "Sailings at nine and at five.") for call in first.calls)
    return Ask("m", (QUESTION, first, *results, QUESTION), history="never", summary="auto")


def other_effort(name: str, model: str) -> Ask:
    """The same as a model is asked that takes a level where others take a budget."""
    return dataclasses.replace(follow_up(name), model=model)


def sent(name: str, ask: Ask, defect: Defect) -> Request:
    api = APIS[next(stream(name).streams()).dialect]
    return defect.request(request(api, defect.ask(ask)))


def judged(name: str, ask: Ask, defect: Defect) -> frozenset[str]:
    """The rules that fail where the last request of a recording is the client's."""
    one = stream(name)
    *before, last = one.cassette.exchanges
    assert last.request is not None
    # The answer is recorded, without the usage that the client asks for.
    json = {key: value for key, value in sent(name, ask, defect).json.items() if key != USAGE}
    asked = structs.replace(last.request, json=json)
    edited = structs.replace(
        one.cassette,
        exchanges=(
            *(_asked_of_model(each, json.get("model")) for each in before),
            structs.replace(last, request=asked),
        ),
    )
    return (
        structs.replace(one, recording=InMemory(one.recording.path, "cassette", edited))
        .judge(rulebook())
        .failing
    )


def _asked_of_model(exchange: Exchange, model: object) -> Exchange:
    """The exchange as this client asks for it: what another model thought need not go back."""
    if exchange.request is None or "model" not in exchange.request.json:
        return exchange
    request = structs.replace(exchange.request, json={**exchange.request.json, "model": model})
    return structs.replace(exchange, request=request)


ROUNDS = (
    *("bedrock.converse/claude/tool-round", "cohere.v2/cohere/tool-round"),
    *("gemini.generate/gemini/tool-round", "gemini.interactions/gemini/tool-round"),
    *("mistral.chat/mistral/tool-round", "ollama.chat/ollama/tool-round"),
)
NEXT_TURNS = (
    *(NEXT_TURN, "cohere.v2/cohere/next-turn"),
    *("gemini.generate/gemini/next-turn", "gemini.interactions/gemini/next-turn"),
)
# Recordings of clients that send no thinking -> an answer with thinking in the same API.
NEVERS = {
    NEVER: "openai.chat/deepseek/thinking-then-text",
    **{f"{name.partition('/')[0]}/never-sends-back/second-turn": name for name in ROUNDS},
}
SCENES: dict[str, Callable[[], Ask]] = {
    RESPONSES: third_turn,
    REDACTED: lambda: other_effort(REDACTED, "claude-opus-4-6"),
    **{name: partial(follow_up, name) for name in (CHAT, SIGNED, *ROUNDS)},
    **{name: partial(next_turn, name) for name in NEXT_TURNS},
    **{name: partial(never, answered_by) for name, answered_by in NEVERS.items()},
}


@pytest.mark.parametrize("name", SCENES)
def test_honest_requests_break_no_rule(name: str) -> None:
    assert judged(name, SCENES[name](), HONEST) == frozenset()


@pytest.mark.parametrize("defect", REQUEST_DEFECTS, ids=lambda defect: str(defect.name))
def test_what_is_sent_wrongly_is_found_by_the_rules_listed(defect: Defect) -> None:
    found = [judged(name, scene(), defect) for name, scene in SCENES.items()]
    reached = frozenset().union(*found) - PROMISED - OF_RUNS
    assert reached == set(defect.rules) - HARNESS - OF_RUNS


@pytest.mark.parametrize(
    ("name", "field"), [("effort-ignored", "reasoning_effort"), ("effort-unknown", "efforts")]
)
def test_effort_defects_change_nothing_but_the_effort(name: str, field: str) -> None:
    honest, broken = (sent(CHAT, follow_up(CHAT), each).json for each in (HONEST, DEFECTS[name]))
    changed = {key for key in {**honest, **broken} if honest.get(key) != broken.get(key)}
    assert changed == {"reasoning_effort"}
    assert field.startswith("reasoning") == ("reasoning_effort" not in broken)


def test_the_opt_in_is_lost_and_nothing_else() -> None:
    ask = dataclasses.replace(follow_up(CHAT), include_thinking=True)
    honest, broken = (sent(CHAT, ask, each) for each in (HONEST, DEFECTS["opt-in-not-sent"]))
    assert set(honest.headers) - set(broken.headers) == {OPT_IN}
    assert honest.json == broken.json


def test_an_altered_signature_is_the_only_difference() -> None:
    ask = Ask("claude-opus-4-5", (QUESTION, answer(MESSAGES), QUESTION))
    honest, broken = (
        request("messages", each.ask(ask)).json["messages"][1]["content"]
        for each in (HONEST, DEFECTS["signature-altered"])
    )
    assert honest[0]["signature"][:-1] == broken[0]["signature"][:-1]
    assert honest[0]["signature"] != broken[0]["signature"]
    assert {**honest[0], "signature": ""} == {**broken[0], "signature": ""}
    assert honest[1:] == broken[1:]


MESSAGES = "anthropic.messages/anthropic/thinking-then-tools"


def test_there_are_enough_defects_with_names_of_their_own() -> None:
    assert len(DEFECTS) == len(REPORT_DEFECTS) + len(REQUEST_DEFECTS) >= 12


def test_every_rule_listed_exists() -> None:
    known = {rule.id for rule in rulebook().rules} | HARNESS
    assert {rule for defect in DEFECTS.values() for rule in defect.rules} <= known


@pytest.mark.parametrize("defect", DEFECTS.values(), ids=lambda defect: str(defect.name))
def test_a_defect_says_what_it_does_and_who_finds_it(defect: Defect) -> None:
    assert defect.says.endswith(".")
    assert "\t" not in defect.says
    assert defect.rules
