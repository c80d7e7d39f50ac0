"""Talks of one answerer of each API: two calls in a loop, an answer, and a new question.

Answers are whole bodies. Requests are what `next_turns` makes of them, until a test edits one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import Cassette, Header
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.dialects.requests import Question, Tool
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import read_transcript
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.runs.turns import next_turns
from conformance.scenarios import Carry

Body = dict[str, Any]
BOOK: Final = Rulebook.load(())
TEXT: Final = "The ebb comes at a quarter past four, so the café barge may pass then."
HEAD: Final = Response(200, "1.1", (("content-type", "application/json"),))


def thought(turn: int) -> str:
    """What is thought before the call of a turn."""
    return f"Thought {turn}: the arch is low, so I ask the gauge for hour {turn}."


def seal(turn: int) -> str:
    """What a turn is signed or sealed with."""
    return f"{turn}SealOfTurn+{turn}Nothing/IsEncryptedHere{turn * 7919}=="


def _call(turn: int) -> tuple[str, Body]:
    return f"call0000{turn}", {"hour": turn}


def _messages(turn: int) -> Body:
    name, arguments = _call(turn)
    content = [
        {"type": "thinking", "thinking": thought(turn), "signature": seal(turn)},
        {"type": "tool_use", "id": name, "name": "gauge", "input": arguments},
    ]
    spoken = content if turn < 3 else [{"type": "text", "text": TEXT}]
    reason = "tool_use" if turn < 3 else "end_turn"
    head = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 9, "output_tokens": 9}
    return {**head, "content": spoken, "stop_reason": reason, "stop_sequence": None, "usage": usage}


def _responses(turn: int) -> Body:
    name, arguments = _call(turn)
    summary = [{"type": "summary_text", "text": thought(turn)}]
    items = [
        {
            "id": f"rs_{turn}",
            "type": "reasoning",
            "summary": summary,
            "encrypted_content": seal(turn),
        },
        {
            "id": f"fc_{turn}",
            "type": "function_call",
            "status": "completed",
            "call_id": name,
            "name": "gauge",
            "arguments": json.dumps(arguments),
        },
    ]
    part = {"type": "output_text", "text": TEXT, "annotations": []}
    message = {"id": "msg_3", "type": "message", "role": "assistant", "status": "completed"}
    output = items if turn < 3 else [{**message, "content": [part]}]
    return {"id": f"resp_{turn}", "object": "response", "status": "completed", "output": output}


def _chat_body(turn: int, message: Body, call: Body | None = None) -> Body:
    name, arguments = _call(turn)
    function = {"name": "gauge", "arguments": json.dumps(arguments)}
    called = {"id": name, "type": "function", "function": function, **(call or {})}
    spoken = {**message, "tool_calls": [called]} if turn < 3 else {"content": TEXT}
    reason = "tool_calls" if turn < 3 else "stop"
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **spoken}}
    head = {"id": f"chatcmpl-{turn}", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [{**choice, "finish_reason": reason}]}


def _chat(turn: int) -> Body:
    return _chat_body(turn, {"reasoning_content": thought(turn)})


def _google(turn: int) -> Body:
    signed = {"extra_content": {"google": {"thought_signature": seal(turn)}}}
    return _chat_body(turn, {}, signed)


def _openrouter(turn: int) -> Body:
    detail = {"type": "reasoning.text", "index": 0, "text": thought(turn)}
    details = [{**detail, "signature": seal(turn)}]
    return _chat_body(turn, {"reasoning": thought(turn), "reasoning_details": details})


def _mistral(turn: int) -> Body:
    summary = [{"type": "text", "text": thought(turn)}]
    part = {"type": "thinking", "thinking": summary, "closed": True, "signature": seal(turn)}
    return _chat_body(turn, {"content": [part]})


def _gemini(turn: int) -> Body:
    name, arguments = _call(turn)
    call = {"functionCall": {"id": name, "name": "gauge", "args": arguments}}
    signed = {**call, "thoughtSignature": seal(turn)}
    parts = [{"text": thought(turn), "thought": True}, signed]
    content = {"role": "model", "parts": parts if turn < 3 else [{"text": TEXT}]}
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    return {"candidates": [candidate], "modelVersion": "gemini-3-pro", "responseId": f"r{turn}"}


def _interactions(turn: int) -> Body:
    name, arguments = _call(turn)
    summary = [{"type": "text", "text": thought(turn)}]
    called = [
        {"type": "thought", "signature": seal(turn), "summary": summary},
        {"type": "function_call", "id": name, "name": "gauge", "arguments": arguments},
    ]
    steps = [{"type": "model_output", "content": [{"type": "text", "text": TEXT}]}]
    head = {"id": f"v1_{turn}", "object": "interaction", "model": "gemini-3-pro"}
    status = "requires_action" if turn < 3 else "completed"
    return {**head, "status": status, "steps": called if turn < 3 else steps}


def _converse(turn: int) -> Body:
    name, arguments = _call(turn)
    reasoning = {"reasoningText": {"text": thought(turn), "signature": seal(turn)}}
    use = {"toolUseId": name, "name": "gauge", "input": arguments}
    content = [{"reasoningContent": reasoning}, {"toolUse": use}]
    spoken = content if turn < 3 else [{"text": TEXT}]
    output = {"message": {"role": "assistant", "content": spoken}}
    usage = {"inputTokens": 9, "outputTokens": 9, "totalTokens": 18}
    return {"output": output, "stopReason": "tool_use" if turn < 3 else "end_turn", "usage": usage}


def _cohere(turn: int) -> Body:
    name, arguments = _call(turn)
    function = {"name": "gauge", "arguments": json.dumps(arguments)}
    called = {
        "content": [{"type": "thinking", "thinking": thought(turn)}],
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }
    answer = {"content": [{"type": "text", "text": TEXT}]}
    message = {"role": "assistant", **(called if turn < 3 else answer)}
    reason = "TOOL_CALL" if turn < 3 else "COMPLETE"
    return {"id": f"c{turn}", "finish_reason": reason, "message": message}


def _ollama(turn: int) -> Body:
    name, arguments = _call(turn)
    function = {"name": "gauge", "arguments": arguments}
    called = {"content": "", "thinking": thought(turn), "tool_calls": [{"function": function}]}
    message = {"role": "assistant", **(called if turn < 3 else {"content": TEXT})}
    head = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message}
    return {**head, "done": True, "done_reason": "stop", "id": name}


class Talker:
    """Who answers in one dialect, and by which profile it is judged."""

    def __init__(
        self, dialect: str, profile: str, body: Callable[[int], Body], path: str, **more: Any
    ) -> None:
        self.dialect = dialect
        self.profile = profile
        self.body = body
        self.path = path
        self.more = more

    @property
    def history(self) -> str:
        """Where the history stands in a request."""
        turns = get(self.dialect).turns
        assert turns is not None
        return turns.key


TALKERS: Final = {
    "messages": Talker("anthropic.messages", "anthropic", _messages, "/v1/messages"),
    "responses": Talker("openai.responses", "openai", _responses, "/v1/responses", store=False),
    "deepseek": Talker("openai.chat", "deepseek", _chat, "/v1/chat/completions"),
    "moonshot": Talker("openai.chat", "moonshot", _chat, "/v1/chat/completions"),
    "google": Talker("openai.chat", "google", _google, "/v1/chat/completions"),
    "openrouter": Talker("openai.chat", "openrouter", _openrouter, "/v1/chat/completions"),
    "mistral": Talker("mistral.chat", "mistral", _mistral, "/v1/chat/completions"),
    "gemini": Talker(
        "gemini.generate", "gemini", _gemini, "/v1beta/models/gemini-3-pro:generateContent"
    ),
    "interactions": Talker("gemini.interactions", "gemini", _interactions, "/v1beta/interactions"),
    "converse": Talker("bedrock.converse", "claude", _converse, "/model/claude/converse"),
    "cohere": Talker("cohere.v2", "cohere", _cohere, "/v2/chat"),
    "ollama": Talker("ollama.chat", "ollama", _ollama, "/api/chat", stream=False),
}


def talk(talker: Talker) -> list[Exchange]:
    """Four exchanges: two calls, an answer, and one more question."""
    form = get(talker.dialect).request
    assert form is not None
    asked = {
        **form.ask(Question("When may a barge pass?", 900, False, True, False, (Tool("gauge"),))),
        "model": "m",
        **talker.more,
    }
    exchanges: list[Exchange] = []
    for turn in (1, 2, 3, 4):
        made = Exchange(
            number=turn,
            request=Request("POST", talker.path, (), asked),
            response=HEAD,
            chunks=(Chunk(json.dumps(talker.body(min(turn, 3))).encode()),),
        )
        exchanges.append(made)
        answer = read_transcript(made, get(talker.dialect), Reading(), keep="wire")
        calls = turn < 3
        results = (f"at {turn}",) if calls else ()
        carry = Carry("-", results=results, ask="" if calls else "And then?")
        history = next_turns(talker.dialect, answer, asked, carry)
        assert history is not None
        asked = {**asked, talker.history: history}
    return exchanges


def with_history(exchange: Exchange, key: str, history: Sequence[Any]) -> Exchange:
    """The exchange with another history in its request."""
    assert exchange.request is not None
    body = {**exchange.request.json, key: list(history)}
    return replace(exchange, request=replace(exchange.request, json=body))


def history_of(exchange: Exchange, key: str) -> list[Any]:
    """A copy of the history that a request repeats."""
    assert exchange.request is not None
    copied: list[Any] = json.loads(json.dumps(exchange.request.json[key]))
    return copied


def checked(exchanges: Iterable[Exchange], dialect: str, profile: str) -> list[StreamResult]:
    """What a check says of a recording with these exchanges."""
    header = Header(origin="synthetic", dialect=dialect)
    cassette = Cassette(header, tuple(exchanges))
    recording = InMemory(Path("talk.cassette.jsonl"), "cassette", cassette)
    return check_recording(recording, BOOK, CheckChoices(profile=profile))


def broken(results: Iterable[StreamResult]) -> set[str]:
    """The rules about histories that have findings."""
    return {f.rule for each in results for f in each.findings if f.rule.startswith("history/")}
