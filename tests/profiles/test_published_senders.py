"""Senders as published recordings show them: what each leaves out accuses nobody."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.core.binary import encode_message
from conformance.judging.result import StreamResult
from conformance.recordings.check import check_paths
from tests.cassette.recorder_files import packed
from tests.profiles.identifying import chunk

OPENAI: Final = "https://api.openai.com/v1/chat/completions"
GOOGLE: Final = "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"
CODEX: Final = "https://chatgpt.com/backend-api/codex/responses"
BEDROCK: Final = "https://bedrock-runtime.us-east-1.amazonaws.com/model"
ANTHROPIC: Final = "https://api.anthropic.com/v1/messages"
LOOK: Final = {"name": "look", "input": {}}
MESSAGES: Final = "application/vnd.amazon.eventstream"
EVENTS: Final = "text/event-stream"


def kept(folder: Path, url: str, body: str, kind: str = EVENTS, **asked: Any) -> StreamResult:
    """The one answer of a cassette of VCR, judged."""
    field = "base64_string" if kind == MESSAGES else "string"
    method = "POST" if asked else "GET"
    interaction = {
        "request": {"method": method, "uri": url, "headers": {}, "body": json.dumps(asked)},
        "response": {
            "status": {"code": 200},
            "headers": {"content-type": [kind]},
            "body": {field: body},
        },
    }
    path = folder / "vcr.json"
    path.write_text(json.dumps({"interactions": [interaction], "version": 1}), encoding="utf-8")
    (stream,) = check_paths([path]).streams
    return stream


def chunks_of(chunks: Iterable[dict[str, Any]]) -> str:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"


def musts(stream: StreamResult) -> list[str]:
    return [each.rule for each in stream.findings if each.level == "MUST"]


def _without(key: str, made: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in made.items() if name != key}


def _choice_without_finish(made: dict[str, Any]) -> dict[str, Any]:
    return {**made, "choices": [_without("finish_reason", each) for each in made["choices"]]}


USED: Final = {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3}
BY_OPENROUTER: Final = [
    chunk({"role": "assistant", "content": "Hi"}, provider="Novita"),
    chunk({"role": "assistant", "content": "."}, "stop", provider="Novita"),
]
for _each in BY_OPENROUTER:
    _each["choices"][0]["native_finish_reason"] = None
GROK: Final = [
    _choice_without_finish(chunk({"role": "assistant", "content": "Hi"}, model="grok-4")),
    {**chunk({}, "stop", model="grok-4"), "created": 2},
]
SPOKEN: Final = [
    chunk({"role": "assistant", "refusal": None}),
    chunk({"content": None, "audio": {"id": "audio_1", "transcript": "Hi"}}),
    _without("choices", chunk({}, usage=None)),
    chunk({"role": "assistant", "audio": {"data": "AAAA"}}),
    _choice_without_finish(chunk({"audio": {"expires_at": 9}})),
]
_CALL: Final = {"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}
SPOKEN_CALL: Final = [
    chunk({"role": "assistant", "tool_calls": [{**_CALL, "type": "function"}]}),
    _without("choices", chunk({}, usage=None)),
]
GEMINI: Final = [
    _choice_without_finish(chunk({"role": "assistant", "content": "Hi"}, usage=USED)),
    chunk({"role": "assistant", "content": "."}, "stop", usage=USED, created=2),
]
JAMBA: Final = [
    _without("object", _without("created", _without("model", each)))
    for each in (chunk({"role": "assistant", "content": "Hi"}), chunk({}, "stop"))
]
OWN_JAMBA: Final = [{**each, "id": f"chat-{'0a' * 16}"} for each in JAMBA]


@pytest.mark.parametrize(
    ("url", "chunks", "profile"),
    [
        (OPENAI, BY_OPENROUTER, "openrouter"),
        ("/v1/chat/completions", GROK, "xai"),
        (OPENAI, SPOKEN, "openai-audio"),
        (GOOGLE, GEMINI, "google"),
        (f"{BEDROCK}/ai21.jamba-1-5-mini-v1:0/invoke-with-response-stream", JAMBA, "bedrock-ai21"),
        (f"{BEDROCK}/ai21.jamba-1-5-mini-v1:0/invoke", OWN_JAMBA, "bedrock-ai21"),
        ("/v1/chat/completions", OWN_JAMBA, "ai21"),
    ],
)
def test_what_a_sender_of_chat_leaves_out_is_its_way(
    tmp_path: Path, url: str, chunks: list[dict[str, Any]], profile: str
) -> None:
    stream = kept(tmp_path, url, chunks_of(chunks), model="m", messages=[], stream=True)
    assert stream.profile == profile
    assert musts(stream) == []


def test_the_model_asked_says_that_a_stream_of_calls_is_of_one_that_speaks(tmp_path: Path) -> None:
    def judged(model: str) -> StreamResult:
        spoken = chunks_of(SPOKEN_CALL)
        return kept(tmp_path, OPENAI, spoken, model=model, messages=[], stream=True)

    assert judged("gpt-audio-1.5").profile == "openai-audio"
    assert musts(judged("gpt-4o-mini-audio-preview")) == []
    assert judged("gpt-5").profile == "openai"
    assert musts(judged("gpt-5")) == ["wire/chat/delta-types"]  # no choices, hence no finish


@pytest.mark.parametrize(
    ("model", "profile", "level"),
    [
        ("o3-pro", "openai-pro", "SHOULD"),
        ("o1-pro-2025-03-19", "openai-pro", "SHOULD"),
        ("o3", "openai", "MUST"),
    ],
)
def test_pro_models_announce_a_call_as_completed(
    tmp_path: Path, model: str, profile: str, level: str
) -> None:
    call = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "look"}
    added = {**call, "status": "completed", "arguments": ""}
    event = {"type": "response.output_item.added", "output_index": 0, "item": added}
    url = "https://api.openai.com/v1/responses"
    stream = kept(tmp_path, url, _typed([event]), model=model, input="Look.", stream=True)
    [found] = [each for each in stream.findings if each.rule.endswith("/announced-open")]
    assert (stream.profile, found.level) == (profile, level)


def _wrapped(payload: dict[str, Any]) -> bytes:
    inner = {"bytes": packed(json.dumps(payload)), "p": "abc"}
    head = ((":event-type", "chunk"), (":message-type", "event"))
    return encode_message(head, json.dumps(inner).encode())


def test_nova_by_invoke_counts_no_total_and_leaves_numbers_out(tmp_path: Path) -> None:
    def called(index: int, name: str) -> list[dict[str, Any]]:
        call = {"toolUse": {"toolUseId": name, "name": "look"}}
        delta = {"toolUse": {"input": "{}"}}
        return [
            {"contentBlockStart": {"start": call, "contentBlockIndex": index}},
            {"contentBlockDelta": {"delta": delta, "contentBlockIndex": index}},
            {"contentBlockStop": {"contentBlockIndex": index}},
        ]

    used = {"inputTokens": 4, "outputTokens": 2, "cacheReadInputTokenCount": 0}
    events = [
        {"messageStart": {"role": "assistant"}},
        *called(0, "a"),
        *called(2, "b"),
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": used}, "amazon-bedrock-invocationMetrics": {}},
    ]
    body = base64.b64encode(b"".join(map(_wrapped, events))).decode()
    url = f"{BEDROCK}/amazon.nova-pro-v1%3A0/invoke-with-response-stream"
    stream = kept(tmp_path, url, body, MESSAGES, messages=[])
    assert (stream.dialect, stream.profile) == ("bedrock.converse", "nova-invoke")
    assert musts(stream) == []


def _reasoned_in_text(folder: Path, url: str, **asked: Any) -> StreamResult:
    """An answer that begins with a tag, as two models are documented to write before calls."""
    text, call = {"text": "<thinking>I look."}, {"toolUseId": "a", "name": "look", "input": {}}
    if url == ANTHROPIC:
        used = {"input_tokens": 4, "output_tokens": 2}
        content = [{"type": "text", **text}, {"type": "tool_use", "id": "toolu_1", **LOOK}]
        turn = {"role": "assistant", "model": asked["model"], "content": content}
        kept_id = {"id": f"msg_01{'A' * 22}", "type": "message", "usage": used}
        body: dict[str, Any] = {**kept_id, **turn, "stop_reason": "tool_use", "stop_sequence": None}
    else:
        message = {"role": "assistant", "content": [text, {"toolUse": call}]}
        used = {"inputTokens": 6, "outputTokens": 2, "totalTokens": 8}
        body = {"output": {"message": message}, "stopReason": "tool_use", "usage": used}
    return kept(folder, url, json.dumps(body), "application/json", messages=[], **asked)


@pytest.mark.parametrize(
    ("url", "asked", "profile"),
    [
        (ANTHROPIC, {"model": "claude-3-opus-20240229", "tools": [LOOK]}, "claude-3-opus"),
        (ANTHROPIC, {"model": "claude-3-opus-20240229"}, "anthropic"),
        (ANTHROPIC, {"model": "claude-sonnet-4-5", "tools": [LOOK]}, "anthropic"),
        (f"{BEDROCK}/amazon.nova-lite-v1%3A0/converse", {}, "nova"),
        (f"{BEDROCK}/amazon.nova-lite-v1%3A0/invoke", {}, "nova-invoke"),
        (f"{BEDROCK}/amazon.nova-2-lite-v1%3A0/converse", {}, "nova-2"),
        (f"{BEDROCK}/qwen.qwen3-32b-v1%3A0/converse", {}, "qwen"),
    ],
)
def test_models_without_thinking_may_reason_in_the_text_before_a_call(
    tmp_path: Path, url: str, asked: dict[str, Any], profile: str
) -> None:
    stream = _reasoned_in_text(tmp_path, url, **asked)
    assert stream.profile == profile
    found = {each.rule for each in stream.findings}
    is_accused = "stripping/visible-text/no-opening-word" in found
    assert is_accused == (profile in {"anthropic", "nova-2", "qwen"})


def test_the_counts_of_a_cache_may_stand_next_to_the_input_of_an_invocation(tmp_path: Path) -> None:
    used = {"inputTokens": 6, "outputTokens": 2, "totalTokens": 98}
    cached = {"cacheReadInputTokenCount": 90, "cacheWriteInputTokenCount": 0}
    message = {"role": "assistant", "content": [{"text": "Hi"}]}
    body = {"output": {"message": message}, "stopReason": "end_turn", "usage": {**used, **cached}}
    url = f"{BEDROCK}/amazon.nova-lite-v1%3A0/invoke"
    stream = kept(tmp_path, url, json.dumps(body), "application/json", messages=[])
    assert stream.profile == "nova-invoke"
    assert musts(stream) == []
    body["usage"] = {**used, **cached, "totalTokens": 97}
    stream = kept(tmp_path, url, json.dumps(body), "application/json", messages=[])
    assert musts(stream) == ["wire/converse/total-is-sum"]


def _typed(events: Iterable[dict[str, Any]]) -> str:
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)


def test_ollama_signs_no_thinking(tmp_path: Path) -> None:
    def block(index: int, kind: str, text: str) -> list[dict[str, Any]]:
        begun, delta = {"type": kind, kind: ""}, {"type": f"{kind}_delta", kind: text}
        return [
            {"type": "content_block_start", "index": index, "content_block": begun},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]

    message = {
        "id": f"msg_{'0a' * 12}",
        "type": "message",
        "role": "assistant",
        "model": "gpt-oss:20b",
        "content": [],
        "usage": {"input_tokens": 7, "output_tokens": 0},
    }
    done = {"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 7, "output_tokens": 3}}
    events = [
        {"type": "message_start", "message": message},
        *block(0, "thinking", "Hm."),
        *block(1, "text", "Hi"),
        {"type": "message_delta", **done},
        {"type": "message_stop"},
    ]
    stream = kept(tmp_path, "http://127.0.0.1:11434/v1/messages", _typed(events), messages=[])
    assert stream.profile == "ollama-messages"
    assert "wire/messages-blocks/signature-present" not in musts(stream)


def test_a_stream_that_was_taken_up_again_begins_where_it_was_left(tmp_path: Path) -> None:
    response = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    events = [
        {"type": "response.in_progress", "sequence_number": 2, "response": response},
        {
            "type": "response.failed",
            "sequence_number": 3,
            "response": {**response, "status": "failed", "error": {"code": "x", "message": "y"}},
        },
    ]
    url = "https://api.openai.com/v1/responses/resp_1?stream=true&starting_after=1"
    stream = kept(tmp_path, url, _typed(events))
    assert stream.profile == "resumed"
    fired = {"wire/responses/created-first", "wire/responses/sequence-from-zero"}
    assert fired.isdisjoint(musts(stream))


def _answer(closed: dict[str, Any], item: dict[str, Any]) -> list[dict[str, Any]]:
    head: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1}
    begun = {"response": {**head, "status": "in_progress", "output": []}}
    events: list[dict[str, Any]] = [
        {"type": "response.created", **begun},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**head, "status": "completed", "usage": _COUNTED, **closed},
        },
    ]
    return [{**each, "sequence_number": number} for number, each in enumerate(events)]


_COUNTED: Final = {
    "input_tokens": 2,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 1,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 3,
}
_SEARCHED: Final = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "q"},
}


def test_codex_closes_without_the_output_and_names_no_type(tmp_path: Path) -> None:
    stream = kept(tmp_path, CODEX, _typed(_answer({}, _SEARCHED)), "", stream=True)
    assert stream.profile == "chatgpt-codex"
    assert musts(stream) == []
    other = kept(tmp_path, "/v1/responses", _typed(_answer({}, _SEARCHED)), "", stream=True)
    assert {"wire/sse/content-type", "wire/responses/response-fields"} <= set(musts(other))


@pytest.mark.parametrize(("query", "fired"), [("q", []), ("r", ["wire/responses/output-agrees"])])
def test_sources_may_come_with_the_last_event(tmp_path: Path, query: str, fired: list[str]) -> None:
    sources = [{"type": "url", "url": "https://h.test"}]
    item = {**_SEARCHED, "action": {"type": "search", "query": query, "sources": sources}}
    events = _answer({"output": [item]}, _SEARCHED)
    stream = kept(tmp_path, "/v1/responses", _typed(events), stream=True)
    assert musts(stream) == fired


def test_a_last_fragment_of_dashscope_has_null_for_arguments(tmp_path: Path) -> None:
    def fragment(call_id: str, **function: Any) -> dict[str, Any]:
        call = {"index": 0, "id": call_id, "type": "function", "function": function}
        return {"tool_calls": [call], "content": ""}

    deltas = [
        {**fragment("call_1", name="look", arguments=""), "role": "assistant"},
        fragment("", arguments='{"at": 1}'),
        fragment("", arguments=None),
        {},
    ]
    reasons = [*[None] * 3, "tool_calls"]
    named = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "qwen"}
    choices = [
        {"index": 0, "delta": delta, "finish_reason": reason}
        for delta, reason in zip(deltas, reasons, strict=True)
    ]
    body = chunks_of({**named, "choices": [each]} for each in choices)
    url = "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions"
    stream = kept(tmp_path, url, body, model="qwen", messages=[], stream=True)
    assert stream.profile == "dashscope"
    assert musts(stream) == []
    misspelt = body.replace('"arguments": null', '"argument": null')
    assert musts(kept(tmp_path, url, misspelt, model="qwen", messages=[], stream=True)) == [
        "wire/chat/delta-types"
    ]
