"""Requests that are refused: the right status, each API's own envelope, and nothing generated."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.server.app import application
from reference_impl.server.effort import LEVELS
from reference_impl.server.engine import Finish, PromptError, PromptTooLong, Start, TextDelta, Usage
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from tests.reference.driving import Answer, ask_blocking
from tests.reference.scenes import PATHS
from tests.reference.scripted_engine import ScriptedEngine

SAID = (Start(3), TextDelta("4"), Finish("stop", Usage(3, 2, 0)))
USER = {"role": "user", "content": "2 + 2?"}
GOOD: dict[str, dict[str, Any]] = {
    "chat": {"model": "scripted", "messages": [USER]},
    "responses": {"model": "scripted", "input": "2 + 2?"},
    "messages": {"model": "scripted", "messages": [USER], "max_tokens": 9},
}
APIS = tuple(GOOD)


def posted(
    api: str,
    fields: dict[str, Any] | bytes,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    headers: tuple[tuple[str, str], ...] = (),
    refuse: PromptError | None = None,
) -> Answer:
    engine = ScriptedEngine([SAID], refuse=refuse)
    answer = ask_blocking(application(Service(engine, settings)), PATHS[api], fields, headers)  # type: ignore[index]
    assert (answer.status == 200) is bool(engine.calls)
    return answer


def message(answer: Answer) -> str:
    """What the envelope of this API says; it has all the fields of that envelope."""
    envelope = answer.json
    if set(envelope) == {"message"}:  # Cohere's says no more
        return str(envelope["message"])
    error = envelope["error"]
    if isinstance(error, str):  # Ollama's says no more
        return error
    if envelope.get("type") == "error":
        assert set(error) == {"type", "message"}
    else:  # Gemini's Interactions say no more than the first two
        assert set(error) in ({"code", "message"}, {"type", "message", "param", "code"})
    text = error["message"]
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("api", APIS)
def test_good_request_is_answered(api: str) -> None:
    assert posted(api, GOOD[api]).status == 200


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b'{"model":', "not JSON"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'{"model": "\xff"}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 100_000, "not JSON"),
        (b"{}", "missing required field `model`"),
    ],
)
def test_broken_body_is_refused(api: str, body: bytes, reason: str) -> None:
    answer = posted(api, body)
    assert answer.status == 400
    assert reason in message(answer)


@pytest.mark.parametrize("api", APIS)
def test_unknown_model_is_not_found(api: str) -> None:
    answer = posted(api, {**GOOD[api], "model": "gpt-9"})
    assert answer.status == 404
    assert "'gpt-9'" in message(answer)


@pytest.mark.parametrize("api", APIS)
def test_body_over_the_limit_is_refused(api: str) -> None:
    settings = Settings(max_body=200)
    large = {**GOOD[api], "padding": "x" * 200}
    stated = (("content-length", str(len(json.dumps(large)))),)
    for headers in ((), stated):
        answer = posted(api, large, settings, headers)
        assert (answer.status, "over 200 bytes" in message(answer)) == (413, True)


@pytest.mark.parametrize("api", APIS)
def test_prompt_over_the_context_is_refused(api: str) -> None:
    answer = posted(api, GOOD[api], refuse=PromptTooLong(5000, 4096))
    assert answer.status == 400
    assert "5000 tokens" in message(answer)


@pytest.mark.parametrize("api", APIS)
def test_conversation_that_the_template_refuses_is_the_callers_fault(api: str) -> None:
    answer = posted(api, GOOD[api], refuse=PromptError("roles must alternate"))
    assert (answer.status, message(answer)) == (400, "roles must alternate")


WORDS = (
    *("model", "messages", "input", "role", "content", "type", "text", "tools", "tool_choice"),
    *("function", "name", "parameters", "arguments", "tool_calls", "id", "call_id", "output"),
    *("reasoning", "effort", "summary", "thinking", "budget_tokens", "signature", "system"),
    *("stream", "stop", "max_tokens", "temperature", "seed", "include", "instructions"),
    *("reasoning_effort", "stream_options", "chat_template_kwargs", "previous_response_id"),
)
"""Names of fields, on every level."""

CHAT_WRONG = [
    ({"n": 2}, "n"),
    ({"n": 0}, "n"),
    ({"logprobs": True}, "logprobs"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tool_choice": {"type": "function"}}, "tool_choice"),
    ({"response_format": {"type": "json_object"}}, "response_format.type"),
    ({"reasoning_effort": "enormous"}, "reasoning_effort"),
    ({"reasoning_effort": 3}, "reasoning_effort"),
    ({"messages": []}, "messages"),
    ({"messages": "hello"}, "messages"),
    ({"messages": [{"role": "nobody"}]}, "messages[0].role"),
    ({"messages": [{"role": "user"}]}, "messages[0]"),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        "messages[0].content[0].type",
    ),
    ({"max_tokens": 0}, "max_tokens"),
    ({"max_tokens": True}, "max_tokens"),
    ({"max_tokens": 10**30}, "max_tokens"),
    ({"temperature": 9}, "temperature"),
    ({"temperature": "hot"}, "temperature"),
    ({"top_p": 0}, "top_p"),
    ({"stop": [""]}, "stop[0]"),
    ({"stop": ["x"] * 17}, "stop"),
    ({"stream": "yes"}, "stream"),
    ({"stream_options": []}, "stream_options"),
    ({"tools": [{"type": "function"}]}, "tools[0]"),
    ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
]
RESPONSES_WRONG = [
    ({"input": 3}, "input"),
    ({"reasoning": {"effort": "enormous"}}, "reasoning.effort"),
    ({"reasoning": {"summary": "haiku"}}, "reasoning.summary"),
    ({"include": ["file_search_call.results"]}, "include"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"text": {"format": {"type": "json_schema"}}}, "text.format.type"),
    ({"background": True}, "background"),
    ({"conversation": "conv_1"}, "conversation"),
    ({"max_output_tokens": -1}, "max_output_tokens"),
    ({"previous_response_id": "resp_0"}, "previous_response_id"),
    ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
    ({"metadata": {"a": 1}}, "metadata[...]"),
]
MESSAGES_WRONG = [
    {"max_tokens": None},
    {"max_tokens": 0},
    {"messages": []},
    {"messages": [{"role": "system", "content": "x"}]},
    {"messages": [{"role": "user", "content": [{"type": "image"}]}]},
    {"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}]},
    {"thinking": {"type": "enabled"}},
    {"thinking": {"type": "enabled", "budget_tokens": 9}},
    {"thinking": {"type": "sometimes"}},
    {"thinking": {"type": "adaptive"}, "output_config": {"effort": "enormous"}},
    {"tool_choice": {"type": "any"}},
    {"tools": [{"name": "", "input_schema": {}}]},
    {"tools": [{"name": "bash", "input_schema": {}, "type": "bash_20250124"}]},
]


@pytest.mark.parametrize(
    ("api", "fields", "param"),
    [
        *(("chat", fields, param) for fields, param in CHAT_WRONG),
        *(("responses", fields, param) for fields, param in RESPONSES_WRONG),
    ],
)
def test_wrong_field_is_named(api: str, fields: dict[str, Any], param: str) -> None:
    answer = posted(api, {**GOOD[api], **fields})
    assert (answer.status, answer.json["error"]["param"]) == (400, param)
    assert message(answer)


@pytest.mark.parametrize("fields", MESSAGES_WRONG)
def test_wrong_field_of_messages_is_refused(fields: dict[str, Any]) -> None:
    answer = posted("messages", {**GOOD["messages"], **fields})
    assert answer.status == 400
    assert answer.json["error"]["type"] == "invalid_request_error"
    assert message(answer)


@pytest.mark.parametrize("api", APIS)
def test_fields_that_mean_nothing_here_are_accepted(api: str) -> None:
    assert posted(api, {**GOOD[api], "user": "me", "new_field": {"a": [1]}}).status == 200


@pytest.mark.parametrize("level", ["none", *LEVELS])
def test_known_levels_are_accepted(level: str) -> None:
    assert posted("chat", {**GOOD["chat"], "reasoning_effort": level}).status == 200
    responses = {**GOOD["responses"], "reasoning": {"effort": level}}
    assert posted("responses", responses).status == 200


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ((), 401),
        ((("authorization", "Bearer wrong"),), 401),
        ((("x-api-key", "s\u00e9cret"),), 401),
        ((("authorization", "Bearer secret"),), 200),
        ((("x-api-key", "secret"),), 200),
    ],
)
def test_key_is_asked_for(api: str, headers: Any, status: int) -> None:
    answer = posted(api, GOOD[api], Settings(api_key="secret"), headers)
    assert answer.status == status
    if status == 401:
        assert "secret" not in message(answer)


def got(path: str, settings: Settings = Settings(), **engine: Any) -> Answer:  # noqa: B008 - frozen
    return ask_blocking(application(Service(ScriptedEngine([], **engine), settings)), path)


def test_model_list_says_whether_models_think() -> None:
    (card,) = got("/v1/models").json["data"]
    assert (card["id"], card["supports_thinking"]) == ("scripted", True)
    assert card["thinking_levels"] == list(LEVELS)
    assert got("/v1/models/scripted").json == {
        **card,
        "created": got("/v1/models/scripted").json["created"],
    }


def test_model_without_markers_does_not_think() -> None:
    (card,) = got("/v1/models", markers=None).json["data"]
    assert (card["supports_thinking"], card["thinking_levels"]) == (False, [])


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/models/gpt-9", 404), ("/v3/chat", 404), ("/v1/messages/batches", 404)],
)
def test_unknown_place_is_not_found(path: str, status: int) -> None:
    answer = got(path)
    assert answer.status == status
    assert message(answer)


@pytest.mark.parametrize("path", PATHS.values())
def test_wrong_method_is_refused(path: str) -> None:
    answer = got(path)
    assert answer.status == 405
    assert message(answer)


def test_health_needs_no_key() -> None:
    settings = Settings(api_key="secret")
    assert got("/health", settings).json == {"status": "ok"}
    assert got("/v1/models", settings).status == 401


def test_model_can_be_called_something_else() -> None:
    answer = posted("chat", {**GOOD["chat"], "model": "tiny"}, Settings(model_name="tiny"))
    assert answer.json["model"] == "tiny"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("api", APIS)
@given(fields=st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=3))
def test_whatever_is_sent_gets_an_answer_or_a_refusal(api: str, fields: dict[str, Any]) -> None:
    answer = posted(api, {**GOOD[api], **fields})
    assert answer.status in (200, 400, 404)
    if answer.status != 200:
        assert message(answer)
