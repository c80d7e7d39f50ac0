"""Google's own client reads what the reference server sends, and what a replay sends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx
import pytest
from google import genai
from google.genai import errors, types

from conformance.core.events import Request, Response
from conformance.judging.checker import Checker
from conformance.targets.replay import serving
from tests.reference.replays import replayed
from tests.reference.server_process import CALCULATE, KEY, MODEL, SCHEMA

pytestmark = pytest.mark.slow

ASK = "What is 2 + 2?"
SHOWN = types.ThinkingConfig(include_thoughts=True)
TOOL = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="calculator", description="Adds.", parameters_json_schema=SCHEMA
        )
    ]
)
REPLAYED = [
    "thinking-then-text",
    "thoughts-hidden",
    "thinking-then-tools",
    "code-execution",
    "length",
]


def connected(url: str) -> genai.Client:
    return genai.Client(
        api_key=KEY, http_options=types.HttpOptions(base_url=url, api_version="v1beta")
    )


@pytest.fixture(scope="module")
def client(url: str) -> genai.Client:
    return connected(url)


def config(**more: Any) -> types.GenerateContentConfig:
    return types.GenerateContentConfig(temperature=0, seed=0, **more)


def joined(chunks: Iterable[types.GenerateContentResponse]) -> dict[str, Any]:
    """What the client gives, put together: parts as they came, texts, calls, the reason."""
    answer: dict[str, Any] = {"parts": [], "thinking": "", "text": "", "calls": [], "reason": None}
    for chunk in chunks:
        for candidate in chunk.candidates or ():
            answer["reason"] = candidate.finish_reason or answer["reason"]
            for part in (candidate.content.parts if candidate.content else None) or ():
                answer["parts"].append(part)
                answer["thinking" if part.thought else "text"] += part.text or ""
                if part.function_call:
                    answer["calls"].append(part.function_call)
        answer["counts"] = chunk.usage_metadata
    return answer


def test_thinking_and_text_are_read_the_same_from_stream_and_body(client: genai.Client) -> None:
    asked: Any = {"model": MODEL, "contents": ASK, "config": config(thinking_config=SHOWN)}
    answer = joined(client.models.generate_content_stream(**asked))
    whole = joined([client.models.generate_content(**asked)])
    assert [whole[each] for each in ("thinking", "text", "reason")] == [
        answer[each] for each in ("thinking", "text", "reason")
    ]
    assert answer["thinking"]
    assert answer["text"] == "2 + 2 = 4."
    assert answer["reason"] is types.FinishReason.STOP
    assert answer["counts"].thoughts_token_count > 0


def test_thoughts_that_are_not_asked_for_do_not_come(client: genai.Client) -> None:
    answer = joined(client.models.generate_content_stream(model=MODEL, contents=ASK))
    assert answer["thinking"] == ""
    assert answer["text"]
    assert answer["counts"].thoughts_token_count > 0


def test_who_was_not_to_think_signs_no_text(client: genai.Client) -> None:
    off = config(thinking_config=types.ThinkingConfig(thinking_budget=0))
    answer = joined(client.models.generate_content_stream(model=MODEL, contents=ASK, config=off))
    assert answer["text"]
    assert not any(part.thought_signature for part in answer["parts"])
    assert not answer["counts"].thoughts_token_count


def test_a_tool_turn_comes_back_with_its_signature(client: genai.Client) -> None:
    asked = types.Content(role="user", parts=[types.Part(text=CALCULATE)])
    wanted = config(thinking_config=SHOWN, tools=[TOOL])
    stream = client.models.generate_content_stream(model=MODEL, contents=[asked], config=wanted)
    called = joined(stream)
    (call,) = called["calls"]
    given = types.Part.from_function_response(name=call.name, response={"result": "5"})
    turns: list[Any] = [
        asked,
        types.Content(role="model", parts=called["parts"]),
        types.Content(role="user", parts=[given]),
    ]
    answer = joined(
        client.models.generate_content_stream(model=MODEL, contents=turns, config=wanted)
    )
    assert "5" in answer["text"]

    # Without its signature the call is refused.
    bare = [types.Part(function_call=call)]
    turns[1] = types.Content(role="model", parts=bare)
    with pytest.raises(errors.ClientError, match="missing a thought_signature"):
        client.models.generate_content(model=MODEL, contents=turns, config=wanted)


def test_a_refusal_is_an_error_of_the_client(client: genai.Client) -> None:
    with pytest.raises(errors.ClientError, match="no-such-model"):
        client.models.generate_content(model="no-such-model", contents=ASK)


@pytest.mark.parametrize("query", ["?alt=sse", ""])
def test_streams_conform_as_events_and_as_an_array(url: str, query: str) -> None:
    path = f"/v1beta/models/{MODEL}:streamGenerateContent{query}"
    asked = {
        "contents": [{"role": "user", "parts": [{"text": ASK}]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    }
    given = httpx.post(f"{url}{path}", json=asked, headers={"x-goog-api-key": KEY}, timeout=60)
    checker = Checker("gemini.generate", "reference")
    head = Response(200, "1.1", (("content-type", given.headers["content-type"]),))
    request = Request(path=path, json=asked)
    result = checker.check([given.content], request=request, response=head)
    assert result.findings == ()
    assert "stripping/visible-text/no-thinking-body" in result.verdicts


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", REPLAYED)
def test_a_replay_reads_as_the_recording_is_read(name: str) -> None:
    ours = replayed("gemini.generate", f"gemini/{name}")
    with serving([ours.path]) as replay:
        raw = httpx.post(f"{replay.url}{ours.request.path}", json=ours.asked).content
        assert raw == b"".join(ours.chunks)
    answer = joined(read_by_client(raw))
    assert answer["thinking"] == ours.text("thinking.delta")
    assert answer["text"] == ours.text("text.delta")
    assert [call.name for call in answer["calls"]] == [each["name"] for each in ours.calls()]


def read_by_client(raw: bytes) -> list[types.GenerateContentResponse]:
    """What the client makes of a recorded stream, whatever it asked."""
    made = httpx.MockTransport(
        lambda _request: httpx.Response(
            200, content=raw, headers={"content-type": "text/event-stream"}
        )
    )
    options = types.HttpOptions(httpx_client=httpx.Client(transport=made))
    client = genai.Client(api_key=KEY, http_options=options)
    return [*client.models.generate_content_stream(model=MODEL, contents=ASK)]
