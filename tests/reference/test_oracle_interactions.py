"""Google's own client reads interactions of the reference server, and of a replay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from google import genai
from google.genai import types

from conformance.targets.replay import serving
from tests.reference.replays import replayed
from tests.reference.server_process import CALCULATE, KEY, MODEL, SCHEMA

pytestmark = pytest.mark.slow

ASK = "What is 2 + 2?"
SHOWN = {"thinking_summaries": "auto", "seed": 0}
TOOL = {"type": "function", "name": "calculator", "description": "Adds.", "parameters": SCHEMA}
REPLAYED = [
    "thought-then-text",
    "no-summary",
    "code-between-thoughts",
    "thought-then-calls",
    "incomplete",
]


def connected(url: str) -> genai.Client:
    options = types.HttpOptions(base_url=url, api_version="v1beta")
    return genai.Client(api_key=KEY, http_options=options)


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Any]:
    connection = connected(url)
    yield connection.interactions  # noqa: PT022 - who lets the connection go closes it


def joined(events: Iterable[Any]) -> dict[str, Any]:
    """What the client gives, put together: texts, calls, signatures, the status, the tokens."""
    answer: dict[str, Any] = {
        "thinking": "",
        "text": "",
        "calls": [],
        "signed": [],
        "arguments": "",
    }
    for event in events:
        match event.event_type:
            case "step.start" if event.step.type == "function_call":
                answer["calls"].append((event.step.id, event.step.name))
            case "step.delta":
                _add(answer, event.delta)
            case "interaction.completed":
                answer["status"] = event.interaction.status
                answer["usage"] = event.interaction.usage
    return answer


def _add(said: dict[str, Any], delta: Any) -> None:
    match delta.type:
        case "thought_summary":
            said["thinking"] += delta.content.text
        case "thought_signature":
            said["signed"].append(delta.signature)
        case "text":
            said["text"] += delta.text
        case "arguments_delta":
            said["arguments"] += delta.arguments


def whole(interaction: Any) -> dict[str, Any]:
    thoughts = [step for step in interaction.steps if step.type == "thought"]
    outputs = [step for step in interaction.steps if step.type == "model_output"]
    return {
        "thinking": "".join(part.text for step in thoughts for part in step.summary or ()),
        "text": "".join(part.text for step in outputs for part in step.content),
        "status": interaction.status,
    }


def test_thoughts_and_text_are_read_the_same_from_stream_and_body(client: Any) -> None:
    asked: Any = {"model": MODEL, "input": ASK, "generation_config": SHOWN}
    answer = joined(client.create(**asked, stream=True))
    body = whole(client.create(**asked))
    assert {key: answer[key] for key in body} == body
    assert answer["thinking"]
    assert answer["signed"]
    assert answer["text"] == "2 + 2 = 4."
    assert answer["status"] == "completed"
    assert answer["usage"].total_thought_tokens > 0


def test_summaries_that_are_not_asked_for_do_not_come(client: Any) -> None:
    answer = joined(client.create(model=MODEL, input=ASK, stream=True))
    assert answer["thinking"] == ""
    assert answer["signed"]


@pytest.mark.slow
def test_a_tool_turn_comes_back_with_its_thought(client: Any) -> None:
    asked = {"type": "user_input", "content": [{"type": "text", "text": CALCULATE}]}
    wanted: Any = {"model": MODEL, "generation_config": SHOWN, "tools": [TOOL], "store": False}
    answer = joined(client.create(input=[asked], stream=True, **wanted))
    assert answer["status"] == "requires_action"
    called = client.create(input=[asked], **wanted)
    (call,) = [step for step in called.steps if step.type == "function_call"]
    assert not called.id  # nothing is stored
    steps = [step.model_dump(exclude_none=True) for step in called.steps]
    result = {"type": "function_result", "call_id": call.id, "name": call.name, "result": "5"}
    assert "5" in whole(client.create(input=[asked, *steps, result], **wanted))["text"]

    # A thought whose signature was changed is refused.
    steps[0]["signature"] = "Y2hhbmdlZA=="
    with pytest.raises(Exception, match="signature of a thought"):
        client.create(input=[asked, *steps, result], **wanted)


def test_a_refusal_is_an_error_of_the_client(client: Any) -> None:
    with pytest.raises(Exception, match="no-such-model"):
        client.create(model="no-such-model", input=ASK)


@pytest.mark.parametrize("name", REPLAYED)
def test_a_replay_reads_as_the_recording_is_read(name: str) -> None:
    ours = replayed("gemini.interactions", f"gemini/{name}")
    with serving([ours.path]) as replay:
        connection: Any = connected(replay.url)
        answer = joined(connection.interactions.create(**ours.asked, stream=True))
    assert answer["thinking"] == ours.text("thinking.delta")
    assert answer["text"] == ours.text("text.delta")
    calls = ours.calls()
    assert answer["calls"] == [(each["id"], each["name"]) for each in calls]
    assert answer["arguments"] == "".join(each["arguments"] for each in calls)
    assert answer["signed"] == [e.data["data"] for e in ours.events if e.type == "thinking.opaque"]
