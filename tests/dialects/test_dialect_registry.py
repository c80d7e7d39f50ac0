"""Dialects by name, and payloads by dialect, supported or not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from conformance import Checker, dialects
from conformance.core.errors import UsageError
from conformance.core.events import REQUEST_EVENTS, TURN_EVENTS, Frame, Request
from conformance.core.framing import Framing
from conformance.dialects import Endpoint, Reading
from conformance.dialects.neutral_knobs import neutral_knobs
from conformance.judging.rulebook import Rulebook
from conformance.judging.suites import shipped_suites
from conformance.profiles.lookup import find
from conformance.recordings.api import check_chunks
from conformance.rules.verdicts import Verdict

FRAME = Frame("event", "message", "", "", 0)
OF_SEVERAL_CALLS = {
    *("vercel.ui", "agui", "claude.stream-json", "codex.exec", "codex.app-server", "acp"),
    *("opal.rpc", "lmstudio.chat", "opencode.run", "opencode.serve", "google.adk", "langgraph"),
    *("mistral.conversations", "langchain.events", "copilot.cli", "google.a2a"),
}


def test_every_event_of_a_request_is_known_as_one() -> None:
    """Rules that look at requests are known by it: a client's next request is judged by them."""
    wire = {name for each in dialects.SUPPORTED.values() for name in each.vocabulary.wire}
    of_requests = {name for name in wire if name.partition(".")[0] == "request"}
    assert of_requests == REQUEST_EVENTS - TURN_EVENTS


@pytest.mark.parametrize("name", dialects.SUPPORTED)
def test_a_dialect_is_found_by_its_name(name: str) -> None:
    assert dialects.get(name).name == name
    assert dialects.get(name).vocabulary.dialect == name


def test_an_unknown_name_brings_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"'openai.chats' \(did you mean openai.chat\?\)"):
        dialects.get("openai.chats")


def test_events_inside_a_process_are_reported_from_a_wire() -> None:
    with pytest.raises(UsageError, match=r"OpenAI Agents SDK .* inside a process and are no wire"):
        dialects.get("openai-agents")


def test_a_dialect_without_a_reader_is_distinguished_from_a_wrong_name() -> None:
    with pytest.raises(UsageError, match=r"anthropic\.complete is not supported yet"):
        dialects.get("anthropic.complete")


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"object": "chat.completion.chunk", "choices": []}, "openai.chat"),
        ({"choices": [{"delta": {}}]}, "openai.chat"),
        ({"object": "chat.completion"}, "openai.chat"),
        ({"type": "response.created"}, "openai.responses"),
        ({"object": "response", "output": []}, "openai.responses"),
        ({"type": "message_start", "message": {}}, "anthropic.messages"),
        ({"type": "message", "content": [], "stop_reason": None}, "anthropic.messages"),
        ({"candidates": []}, "gemini.generate"),
        ({"event_type": "step.start", "index": 0}, "gemini.interactions"),
        ({"message": {"thinking": "a"}, "done": False}, "ollama.chat"),
        ({"response": "a", "done": False}, "ollama.generate"),
        ({"type": "content-delta"}, "cohere.v2"),
        ({"message": {"content": []}, "finish_reason": "COMPLETE"}, "cohere.v2"),
        ({"type": "reasoning.start"}, "lmstudio.chat"),
        ({"model_instance_id": "m", "output": []}, "lmstudio.chat"),
        (
            {"object": "chat.completion", "choices": [{"messages": [{"delta": {}}]}]},
            "azure.on-your-data",
        ),
        ({"output": {"choices": []}, "request_id": "r"}, "model-studio"),
        ({"output": {"text": "a"}, "request_id": "r"}, "model-studio"),
        ({"output": [], "request_id": "r"}, None),
        ({"response": "a", "p": "abc"}, "cloudflare.workers-ai"),
        (
            {"result": {"response": "a"}, "success": True, "errors": []},
            "cloudflare.workers-ai",
        ),
        ({"type": "message.output.delta", "content": "a"}, "mistral.conversations"),
        ({"conversation_id": "c", "outputs": []}, "mistral.conversations"),
        ({"contentBlockDelta": {}}, "bedrock.converse"),
        ({"output": {"message": {}}, "stopReason": "end_turn"}, "bedrock.converse"),
        ({"metadata": {"metrics": {"latencyMs": 1}}}, "bedrock.converse"),
        ({"metadata": {"purpose": "a request of ours"}}, None),
        ({"usageMetadata": {"totalTokenCount": 1}}, "gemini.generate"),
        ({"invocationId": "e-1", "author": "a", "usageMetadata": {}}, "google.adk"),
        ([{"invocationId": "e-1", "author": "a", "candidates": []}], "google.adk"),
        ({"author": "a", "content": {"parts": []}}, None),
        ([{"type": "AIMessageChunk", "content": "a"}, {"langgraph_node": "model"}], "langgraph"),
        ([{"type": "AIMessageChunk", "content": "a"}, {"run": "model"}], None),
        ({"run_id": "r-1", "attempt": 1}, None),
        ({"messages": [{"type": "ai", "content": "a", "response_metadata": {}}]}, None),
        ({"embeddings": [{"values": [0.5]}], "usageMetadata": {"totalTokenCount": 1}}, None),
        ({"choices": [{"index": 0, "delta": {}}]}, "openai.chat"),
        ({"type": "system", "subtype": "init"}, "claude.stream-json"),
        ({"type": "stream_event", "event": {"type": "ping"}}, "claude.stream-json"),
        ({"type": "result", "is_error": False}, "claude.stream-json"),
        ({"type": "thread.started", "thread_id": "t"}, "codex.exec"),
        ({"jsonrpc": "2.0", "method": "session/update", "params": {}}, "acp"),
        ({"method": "turn/started", "params": {"threadId": "t"}}, "codex.app-server"),
        (
            {"jsonrpc": "2.0", "method": "turn/started", "params": {"threadId": "t"}},
            "codex.app-server",
        ),
        ({"method": "agent/event", "params": {"type": "thinking_start"}}, "opal.rpc"),
        ({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}, "acp"),
        ({"jsonrpc": "2.0", "id": 2, "result": {}}, None),
        ({"type": "item.completed", "item": {"type": "reasoning"}}, "codex.exec"),
        (
            {"type": "step_start", "sessionID": "ses_1", "part": {"type": "step-start"}},
            "opencode.run",
        ),
        ({"type": "error", "timestamp": 1, "sessionID": "ses_1", "error": {}}, "opencode.run"),
        ({"type": "text", "part": {"type": "text", "text": "a"}}, None),
        ({"type": "assistant.reasoning_delta", "data": {}}, "copilot.cli"),
        ({"type": "session.idle", "data": {}}, None),
        ({"type": "init", "session_id": "s", "model": "m"}, "gemini.cli"),
        ({"type": "tool_use", "tool_name": "read", "tool_id": "t"}, "gemini.cli"),
        ({"type": "result", "status": "error", "stats": {}}, "gemini.cli"),
        ({"type": "message", "role": "assistant", "content": "a", "delta": True}, None),
        ({"type": "session.idle", "properties": {"sessionID": "ses_1"}}, "opencode.serve"),
        ({"payload": {"type": "server.connected", "properties": {}}}, "opencode.serve"),
        ({"type": "session.created", "session": {}}, "openai.realtime"),
        ({"output_messages": [{"role": "assistant", "parts": []}]}, "otel.genai"),
        ({"error_type": "TimeoutError", "response_model": "m"}, "otel.genai"),
        ({"error": "no token", "error_type": "validation"}, None),
        ({"result": {"kind": "task", "id": "t", "contextId": "c"}}, "google.a2a"),
        ({"kind": "artifact-update", "taskId": "t", "artifact": {}}, "google.a2a"),
        ({"result": {"message": {"messageId": "m", "role": "ROLE_AGENT"}}}, "google.a2a"),
        ({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}}, "google.a2a"),
        ({"result": {"message": {"role": "assistant", "content": "a"}}}, None),
        ({"jsonrpc": "2.0", "result": {"statusUpdate": {"taskId": "t"}}}, "google.a2a"),
        ({"kind": "task", "name": "a task of ours"}, None),
        ({"token": {"id": 1, "text": "a"}, "generated_text": None}, "huggingface.tgi"),
        ({"text": "a", "meta_info": {"finish_reason": None}}, "sglang.generate"),
        ({"text": "a", "meta_info": {}}, None),
        ({"choices": [{"index": 0, "text": "Hi"}]}, None),
        ({"choices": []}, None),
        ({"object": "text_completion", "choices": [{"text": "Hi"}]}, "openai.completions"),
        ({"object": "completion.chunk", "choices": [{"delta": {}}]}, "openai.completions"),
        ({"object": "thread.message.delta", "delta": {"content": []}}, "openai.assistants"),
        ({"object": "thread", "id": "thread_1"}, "openai.assistants"),
        ({"type": "completion", "completion": " Hi"}, "anthropic.complete"),
        ({"event": "content-block-delta", "index": 0}, "langchain.events"),
        ({"type": "run_item_stream_event", "data": {}}, "openai-agents"),
        ({"type": "thinking", "subtype": "completed", "session_id": "s"}, "cursor.cli"),
        ({"type": "completion", "finalText": "Hi", "session_id": "s"}, "droid.cli"),
        ({"type": "agent_start"}, "pi-agent"),
        ({"type": "message_update", "assistantMessageEvent": {"type": "text_start"}}, "pi-agent"),
        ({"type": "stream-start", "warnings": []}, "ai-sdk.model"),
        ({"type": "finish", "finishReason": {"unified": "stop"}}, "ai-sdk.model"),
        ({"type": "finish", "finishReason": "stop"}, None),
        ({"type": "tool-input-start", "id": "t", "toolName": "f"}, "ai-sdk.model"),
        ({"type": "tool-input-start", "toolCallId": "t", "toolName": "f"}, "vercel.ui"),
        ({"type": "message_start", "message": {"role": "user", "content": []}}, None),
        ({"type": "ping"}, None),
        ({"event": {}, "type": [], "method": {}, "params": {"type": {}}}, None),
        ({"error": {"message": "x"}}, None),
        ({"type": "error", "error": {}}, None),
        ({}, None),
        ([], None),
        (dialects.NOT_JSON, None),
        (7, None),
    ],
)
def test_a_payload_names_its_dialect(payload: Any, name: str | None) -> None:
    assert dialects.recognise(FRAME, payload) == name
    assert name is None or name in dialects.NAMES


@pytest.mark.parametrize(
    ("dialect", "history"), [("openai.chat", "messages"), ("openai.responses", "input")]
)
def test_a_request_is_unrolled_with_positions(dialect: str, history: str) -> None:
    body = {"model": "m", history: [{"role": "user"}, "odd"]}

    events = dialects.get(dialect).reader(Reading()).request(Request(json=body))

    assert [(event.type, event.number, event.layer) for event in events] == [
        ("request", 0, "wire"),
        ("request.item", 0, "wire"),
        ("request.item", 0, "wire"),
    ]
    assert [event.data for event in events] == [
        body,
        {"role": "user", "position": 0, "kind": "message"},
        {"value": "odd", "position": 1, "kind": "unknown", "last": True},
    ]


def test_a_bare_input_is_one_entry_of_the_user() -> None:
    request = Request(json={"input": "hi"})

    events = dialects.get("openai.responses").reader(Reading()).request(request)

    entry = {"role": "user", "content": "hi", "position": 0, "kind": "message", "last": True}
    assert events[1].data == entry


@pytest.mark.parametrize("dialect", dialects.SUPPORTED)
def test_an_unrecorded_request_gives_no_events(dialect: str) -> None:
    assert dialects.get(dialect).reader(Reading()).request(Request()) == []


def test_the_response_object_is_the_echo_of_the_request() -> None:
    reader = dialects.get("openai.responses").reader(Reading())
    response = {"id": "r", "reasoning": {"effort": "high"}}

    assert reader.echo(1) is None
    reader.read(FRAME, {"type": "response.created", "response": response}, 1)
    assert reader.echo(1) == response


def test_chat_completions_echo_nothing() -> None:
    reader = dialects.get("openai.chat").reader(Reading())
    reader.read(FRAME, {"choices": []}, 1)

    assert reader.echo(1) is None


def test_wire_elements_carry_the_choice_as_it_stands() -> None:
    delta = {"tool_calls": [{"id": "t"}], "reasoning_details": [{"type": "x"}]}
    element = {"index": "odd", "delta": delta}
    reader = dialects.get("openai.chat").reader(Reading())

    events = reader.read(FRAME, {"choices": [element]}, 3)

    wire = [(event.type, event.data) for event in events if event.layer == "wire"]
    assert wire == [
        ("chat.chunk", {"choices": [element]}),
        ("chat.choice", {**element, "choice": "odd"}),
        ("chat.tool", {"id": "t", "choice": "odd"}),
        ("chat.detail", {"type": "x", "choice": "odd"}),
    ]
    assert {event.data["choice"] for event in events if event.layer == "semantic"} == {0}
    assert {event.number for event in events} == {3}


def test_a_message_of_a_body_stands_for_itself_with_its_outcome() -> None:
    body = Frame("body", "", "", "", 0)
    message = {"role": "assistant", "content": "x"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    reader = dialects.get("openai.chat").reader(Reading())

    events = reader.read(body, {"choices": [choice]}, 1)

    assert events[1].type == "chat.message"
    assert events[1].data == {**message, "choice": 0, "finish_reason": "stop"}


def test_an_item_of_a_body_carries_its_output_index() -> None:
    body = Frame("body", "", "", "", 0)
    output = [{"type": "message"}, "odd"]
    reader = dialects.get("openai.responses").reader(Reading())

    events = reader.read(body, {"object": "response", "output": output}, 1)

    items = [event.data for event in events if event.type == "response.item"]
    assert items == [
        {"type": "message", "output_index": 0, "kind": "message"},
        {"value": "odd", "output_index": 1, "kind": ""},
    ]


def test_a_list_of_models_is_unrolled() -> None:
    models = [{"id": "m", "object": "model"}, {"id": "n", "object": "model"}]
    payload = {"object": "list", "data": models}
    reader = dialects.get("openai.chat").reader(Reading())

    events = reader.read(Frame("body", "message", "", "", 0), payload, 1)

    assert dialects.recognise(FRAME, payload) == "openai.chat"
    assert [(event.type, event.data) for event in events] == [
        ("models", payload),
        ("models.entry", models[0]),
        ("models.entry", models[1]),
    ]


@pytest.mark.parametrize(
    ("dialect", "payload"),
    [("openai.chat", {"object": "list", "data": []}), ("ollama.chat", {"models": []})],
)
def test_server_without_models_gets_no_question(dialect: str, payload: dict[str, Any]) -> None:
    """As `transformers serve` has none before it loads one; an empty list names no dialect."""
    request = Request(method="GET", path="/v1/models")
    found = Checker(dialect).check(
        [json.dumps(payload).encode()], request=request, response={"status": 200}
    )
    assert found.findings == ()
    assert dialects.recognise(FRAME, payload) is None


def test_knobs_of_neutral_suites_default_to_what_every_strict_profile_says() -> None:
    for dialect in dialects.SUPPORTED:
        knobs = find("strict", dialect).knobs
        stated = {name: knobs[name] for name in neutral_knobs() if name in knobs}
        if dialect == "anthropic.messages":
            # Its documentation tells of thinking between calls.
            assert stated.pop("interleaved") == "after_calls"
        if dialect in OF_SEVERAL_CALLS:
            # One message or run holds the answers of several calls of a model.
            assert stated.pop("interleaved") is True
        assert stated == {name: neutral_knobs()[name] for name in stated}


def test_neutral_suites_bind_without_any_knob_of_the_profile() -> None:
    strict = find("strict", "openai.chat")
    neutral = [suite for suite in shipped_suites() if not suite.dialects]
    bare = replace(strict, knobs={}, name="bare")
    assert Rulebook(neutral).bound(bare).off == {}


def test_who_is_only_listened_to_is_asked_nothing() -> None:
    listened_to = set(dialects.APPLICATIONS) - set(dialects.CALLABLE_APPLICATIONS)
    assert listened_to == {"copilot.cli", "gemini.cli", "langchain.events", "opencode.serve"}
    assert dialects.AGENTS.keys() <= set(dialects.CALLABLE_APPLICATIONS)


def test_what_a_dialect_lacks_is_reported_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"dialect a\.b has no scripted answers"):
        dialects.required(None, "a.b", "scripted answers")


def test_a_path_may_hold_the_name_of_a_model() -> None:
    endpoint = Endpoint("gemini", "/models/{model}:generateContent", base="/v1beta")
    assert endpoint.serves("/v1beta/models/gemini-3:generateContent?alt=sse")
    assert not endpoint.serves("/v1beta/models/gemini-3:countTokens")
    assert not endpoint.serves("/v1beta/models/a/b:generateContent")


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"inputs": "Hi", "parameters": {}}, "huggingface.tgi"),
        ({"text": "Hi"}, "sglang.generate"),
        ({"input_ids": [1, 2]}, "sglang.generate"),
        (None, "sglang.generate"),
    ],
)
def test_of_two_dialects_at_one_path_the_body_shows_which_is_asked(
    body: object, asked: str
) -> None:
    assert dialects.dialect_at("/generate", body) == asked


def test_the_first_api_of_cohere_is_not_that_of_sglang() -> None:
    assert dialects.dialect_at("/v1/generate", {"prompt": "Hi", "model": "command"}) is None


@pytest.mark.parametrize("framing", ["lines", "body"])
def test_rules_of_event_streams_apply_where_a_dialect_has_such_streams(framing: Framing) -> None:
    data = {"lines": b'{"done":true}\n{"done":true}\n', "body": b'{"done":true}'}[framing]
    report = check_chunks([data], dialect="ollama.chat", request={"model": "m"})
    verdicts = {r: v for r, v in report.verdicts.items() if r.startswith("wire/sse/")}
    assert verdicts.pop("wire/sse/ends-cleanly") is not Verdict.NOT_APPLICABLE
    assert set(verdicts.values()) == {Verdict.NOT_APPLICABLE}


def test_no_payload_of_one_dialect_owes_the_end_of_another() -> None:
    """Where a recorder kept payloads alone, any dialect's word adds the `[DONE]` at their end."""
    for name, dialect in dialects.SUPPORTED.items():
        strangers = [{}, {"text": "Hi"}, {"candidates": [{"finishReason": "STOP"}]}]
        assert not any(map(dialect.envelope.finishes, strangers)), name
