"""Why a model stopped, and what every application's protocol says of it.

For every protocol, and every provider's API that says why it stopped: an answer that was cut at a
limit or by a filter, sold as finished, and the answers that say what is so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Final

import pytest

from conformance.core.events import Response
from conformance.dialects import SUPPORTED, get
from conformance.dialects.script import ScriptedAnswer, encode_stream
from conformance.evidence.hop_ends import FALSE_ENDS, MODEL_ENDS
from conformance.rules.verdicts import Verdict
from tests.evidence.two_hops import Payload, acp, broken_hops, chat, judged_hops, sse

RULE: Final = "hop/reason-kept"
TEXT: Final = "The ferry leaves at nine."
# The word of a limit, as the played provider says it, and what it says of a filter.
REASONS: Final = {
    "openai.chat": ("length", "content_filter"),
    "mistral.chat": ("length", "content_filter"),
    "openai.responses": ("max_output_tokens", "content_filter"),
    "anthropic.messages": ("max_tokens", "refusal"),
    "ollama.chat": ("length", None),
    "ollama.generate": ("length", None),
    "cohere.v2": ("MAX_TOKENS", None),
    "bedrock.converse": ("max_tokens", "guardrail_intervened"),
    "gemini.generate": ("MAX_TOKENS", "SAFETY"),
    "gemini.interactions": ("incomplete", None),
    "huggingface.tgi": ("length", None),
    "sglang.generate": ("length", None),
}
ENDED: Final = {"threadId": "t", "runId": "r"}


def _provider(dialect: str, word: str = "length", reason: str | None = None) -> tuple[str, bytes]:
    """A provider's answer; another reason than that of a limit stands in its place."""
    made = get(dialect)
    assert made.script is not None
    events = list(made.script.stream(ScriptedAnswer(word, 1, "", TEXT), {}))
    if reason is not None:
        of_limit = json.dumps(REASONS[dialect][0])
        events = [
            (name, json.loads(json.dumps(payload).replace(of_limit, json.dumps(reason))))
            for name, payload in events
        ]
    return dialect, b"".join(encode_stream(events, made.framing))


def _lines(*payloads: Payload) -> str:
    return "".join(json.dumps(each) + "\n" for each in payloads)


def _vercel(reason: str | None) -> str:
    stated = {} if reason is None else {"finishReason": reason}
    events: list[Payload] = [
        {"type": "start"},
        {"type": "start-step"},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": TEXT},
        {"type": "text-end", "id": "t"},
        {"type": "finish-step"},
        {"type": "finish", **stated},
    ]
    return sse(events) + "data: [DONE]\n\n"


def _acp(reason: str) -> str:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": TEXT}}
    note = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    ended = {"id": 2, "result": {"stopReason": reason}}
    return _lines(*({"jsonrpc": "2.0", **each} for each in (note, ended)))


def _claude(reason: str) -> str:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "usage": usage}
    content = [{"type": "text", "text": TEXT}]
    ended = {"subtype": "success", "is_error": False, "result": TEXT, "stop_reason": reason}
    lines: list[Payload] = [
        {"type": "system", "subtype": "init", "model": "m", "tools": []},
        {"type": "assistant", "message": {**message, "content": content}},
        {"type": "result", **ended, "usage": usage},
    ]
    return _lines(*({**each, "session_id": "s"} for each in lines))


def _agui(_: str) -> str:
    message = {"messageId": "m"}
    return sse(
        [
            {"type": "RUN_STARTED", **ENDED},
            {"type": "TEXT_MESSAGE_START", **message, "role": "assistant"},
            {"type": "TEXT_MESSAGE_CONTENT", **message, "delta": TEXT},
            {"type": "TEXT_MESSAGE_END", **message},
            {"type": "RUN_FINISHED", **ENDED},
        ]
    )


def _codex_exec(_: str) -> str:
    item = {"id": "item_0", "type": "agent_message", "text": TEXT}
    return _lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": item},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
    )


def _opencode(reason: str) -> str:
    message = {"sessionID": "s", "messageID": "m"}
    tokens = {"input": 1, "output": 1, "reasoning": 0}
    parts: list[Payload] = [
        {"type": "step-start"},
        {"type": "text", "text": TEXT, "time": {"start": 1, "end": 2}},
        {"type": "step-finish", "reason": reason, "tokens": tokens},
    ]
    return _lines(
        *(
            {
                "type": each["type"].replace("-", "_"),
                "timestamp": n,
                "sessionID": "s",
                "part": {"id": f"p{n}", **message, **each},
            }
            for n, each in enumerate(parts)
        )
    )


def _opencode_bus(reason: str) -> str:
    message = {"sessionID": "s", "messageID": "m"}
    tokens = {"input": 1, "output": 1, "reasoning": 0}
    info = {"id": "m", "sessionID": "s", "role": "assistant", "parentID": "q", "time": {}}
    parts: list[Payload] = [
        {"type": "step-start"},
        {"type": "text", "text": TEXT, "time": {"start": 1, "end": 2}},
        {"type": "step-finish", "reason": reason, "tokens": tokens},
    ]
    texts = [
        ("server.connected", {}),
        ("message.updated", {"info": info}),
        *(
            ("message.part.updated", {"part": {"id": f"p{n}", **message, **each}})
            for n, each in enumerate(parts)
        ),
        ("session.idle", {"sessionID": "s"}),
    ]
    return sse([{"type": kind, "properties": fields} for kind, fields in texts])


def _adk(reason: str) -> str:
    coded = {} if reason == "STOP" else {"errorCode": reason}
    content = {"parts": [{"text": TEXT}], "role": "model"}
    named = {"invocationId": "e-1", "author": "a", "id": "1", "actions": {}, "timestamp": 1.5}
    event = {"content": content, "usageMetadata": {"promptTokenCount": 1}, **named}
    return sse([{**event, "partial": True}, {**event, "finishReason": reason, **coded}])


def _langgraph(reason: str) -> str:
    about = {"response_metadata": {"stop_reason": reason}, "chunk_position": "last"}
    message = {"type": "AIMessageChunk", "id": "run-1", "content": TEXT, **about}
    data = json.dumps([message, {"langgraph_node": "model"}])
    return f"event: messages\ndata: {data}\n\n"


def _langchain_events(reason: str) -> str:
    block = {"index": 0, "content": {"type": "text", "text": TEXT}}
    events: list[Payload] = [
        {"event": "message-start", "role": "ai", "id": "run-1"},
        {"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}},
        {"event": "content-block-delta", "index": 0, "delta": {"type": "text-delta", "text": TEXT}},
        {"event": "content-block-finish", **block},
        {"event": "message-finish", "metadata": {"stop_reason": reason}},
    ]
    return sse(events)


def _codex_server(_: str) -> str:
    message = {"id": "m", "type": "agentMessage"}
    notes: list[tuple[str, Payload]] = [
        ("turn/started", {"turn": {"id": "u"}}),
        ("item/started", {"item": message}),
        ("item/agentMessage/delta", {"itemId": "m", "delta": TEXT}),
        ("item/completed", {"item": {**message, "text": TEXT}}),
        ("turn/completed", {"turn": {"id": "u", "status": "completed"}}),
    ]
    return _lines(*({"method": name, "params": {"threadId": "t", **p}} for name, p in notes))


def _opal(_: str) -> str:
    events: list[Payload] = [
        {"type": "agent_start"},
        {"type": "message_start"},
        {"type": "message_delta", "delta": TEXT},
        {"type": "turn_end", "message": TEXT},
        {"type": "agent_end", "usage": {"total_tokens": 2}},
    ]
    return _lines(
        *(
            {"jsonrpc": "2.0", "method": "agent/event", "params": {"session_id": "s", **each}}
            for each in events
        )
    )


def _copilot(_: str) -> str:
    events: list[tuple[str, Payload]] = [
        ("assistant.turn_start", {"turnId": "0"}),
        ("assistant.message_start", {"messageId": "m"}),
        ("assistant.message_delta", {"messageId": "m", "deltaContent": TEXT}),
        ("assistant.message", {"messageId": "m", "content": TEXT}),
        ("assistant.turn_end", {"turnId": "0"}),
        ("assistant.idle", {}),
    ]
    return _lines(*({"type": kind, "data": data} for kind, data in events))


def _gemini_cli(_: str) -> str:
    message = {"type": "message", "role": "assistant", "content": TEXT, "delta": True}
    begun = {"type": "init", "session_id": "s", "model": "m"}
    return _lines(begun, message, {"type": "result", "status": "success", "stats": {}})


def _a2a(_: str) -> str:
    named = {"taskId": "t", "contextId": "c"}
    status = {"kind": "status-update", **named, "status": {"state": "completed"}, "final": True}
    parts = [{"kind": "text", "text": TEXT}]
    made = {"kind": "artifact-update", **named, "artifact": {"artifactId": "a", "parts": parts}}
    events = ({"jsonrpc": "2.0", "id": 1, "result": each} for each in (made, status))
    return "".join(f"data: {json.dumps(each)}\n\n" for each in events)


# How each protocol says that an answer is finished, cut at a limit, and cut by a filter.
STATING: Final[Mapping[str, tuple[Callable[[Any], str], str, str, str]]] = {
    "vercel.ui": (_vercel, "stop", "length", "content-filter"),
    "acp": (_acp, "end_turn", "max_tokens", "refusal"),
    "claude.stream-json": (_claude, "end_turn", "max_tokens", "refusal"),
    "opencode.run": (_opencode, "stop", "length", "content-filter"),
    "opencode.serve": (_opencode_bus, "stop", "length", "content-filter"),
    "google.adk": (_adk, "STOP", "MAX_TOKENS", "SAFETY"),
    "langgraph": (_langgraph, "end_turn", "max_tokens", "refusal"),
    "langchain.events": (_langchain_events, "end_turn", "max_tokens", "refusal"),
}
SILENT: Final[Mapping[str, Callable[[str], str]]] = {
    "agui": _agui,
    "codex.exec": _codex_exec,
    "codex.app-server": _codex_server,
    "copilot.cli": _copilot,
    "gemini.cli": _gemini_cli,
    "google.a2a": _a2a,
    "opal.rpc": _opal,
}
FILTERED: Final = {dialect: word for dialect, (_, word) in REASONS.items() if word}


def test_every_api_that_is_played_says_why_it_stopped() -> None:
    scripted = {name for name, each in SUPPORTED.items() if each.script and each.tells_reasons}
    assert set(REASONS) == scripted


def test_every_protocol_is_one_that_says_why_or_one_that_does_not() -> None:
    protocols = {name for name, each in SUPPORTED.items() if each.is_application} | {"opal.rpc"}
    assert protocols == STATING.keys() | SILENT.keys()
    assert not any(get(name).tells_reasons for name in SILENT)


@pytest.mark.parametrize(("protocol", "dialect"), list(product(STATING, REASONS)))
def test_a_limit_is_not_sold_as_a_finish(protocol: str, dialect: str) -> None:
    write, stop, length, _ = STATING[protocol]
    upstream = _provider(dialect)
    result = judged_hops((protocol, write(stop)), upstream)
    assert broken_hops(result) == {RULE}
    result = judged_hops((protocol, write(length)), upstream)
    assert broken_hops(result) == set()
    assert result.verdicts[RULE] is Verdict.PASS


@pytest.mark.parametrize(("protocol", "dialect"), list(product(STATING, FILTERED)))
def test_what_a_filter_cut_is_not_sold_as_a_finish(protocol: str, dialect: str) -> None:
    write, stop, length, filtered = STATING[protocol]
    upstream = _provider(dialect, reason=FILTERED[dialect])
    assert broken_hops(judged_hops((protocol, write(stop)), upstream)) == {RULE}
    assert broken_hops(judged_hops((protocol, write(length)), upstream)) == {RULE}
    assert broken_hops(judged_hops((protocol, write(filtered)), upstream)) == set()


@pytest.mark.parametrize(("protocol", "dialect"), list(product(STATING, REASONS)))
def test_a_finish_is_not_sold_as_a_limit(protocol: str, dialect: str) -> None:
    write, stop, length, _ = STATING[protocol]
    upstream = _provider(dialect, "answer")
    assert broken_hops(judged_hops((protocol, write(length)), upstream)) == {RULE}
    result = judged_hops((protocol, write(stop)), upstream)
    assert broken_hops(result) == set()
    assert result.verdicts[RULE] is Verdict.PASS


@pytest.mark.parametrize(("protocol", "dialect"), list(product(STATING, REASONS)))
def test_what_is_shown_whole_was_not_taken_by_a_filter(protocol: str, dialect: str) -> None:
    write, _, _, filtered = STATING[protocol]
    result = judged_hops((protocol, write(filtered)), _provider(dialect, "answer"))
    assert broken_hops(result) == {RULE}


def test_a_filter_of_the_application_may_take_an_answer() -> None:
    blocked = _vercel("content-filter").replace(TEXT, "No.")
    result = judged_hops(("vercel.ui", blocked), _provider("openai.chat", "answer"))
    assert RULE not in broken_hops(result)


@pytest.mark.parametrize(("protocol", "dialect"), list(product(SILENT, REASONS)))
def test_a_protocol_without_a_word_for_it_is_not_blamed(protocol: str, dialect: str) -> None:
    result = judged_hops((protocol, SILENT[protocol]("")), _provider(dialect))
    assert broken_hops(result) == set()
    assert result.verdicts[RULE] is Verdict.NOT_APPLICABLE
    assert "no word for an answer that was cut" in result.reasons[RULE]


@pytest.mark.parametrize(("protocol", "dialect"), list(product([*STATING, *SILENT], REASONS)))
def test_a_cut_is_sold_as_a_finish_by_nobody(protocol: str, dialect: str) -> None:
    write, stop = STATING[protocol][:2] if protocol in STATING else (SILENT[protocol], "")
    made = get(dialect)
    assert made.script is not None
    events = list(made.script.stream(ScriptedAnswer("no-finish", 1, "", TEXT), {}))
    upstream = dialect, b"".join(encode_stream(events, made.framing))
    assert broken_hops(judged_hops((protocol, write(stop)), upstream)) == {"hop/failure-no-success"}


OTHER: Final = ("other", "error", None)


@pytest.mark.parametrize("reason", OTHER)
def test_what_is_not_stated_is_not_false(reason: str | None) -> None:
    result = judged_hops(("vercel.ui", _vercel(reason)), _provider("openai.chat"))
    assert RULE not in broken_hops(result)


def test_the_words_of_single_providers_say_what_they_mean() -> None:
    for word, meaning in MODEL_ENDS.items():
        upstream = _provider("openai.chat", reason=word)
        found = broken_hops(judged_hops(("vercel.ui", _vercel("stop")), upstream))
        assert found == ({RULE} if "stop" in FALSE_ENDS[meaning] else set()), word
    upstream = _provider("openai.chat", reason="a-word-that-nobody-documents")
    assert broken_hops(judged_hops(("vercel.ui", _vercel("stop")), upstream)) == set()


@pytest.mark.parametrize(("reason", "is_sold"), [("refusal", False), ("end_turn", True)])
def test_an_agent_that_ends_by_a_refusal_sells_nothing(reason: str, *, is_sold: bool) -> None:
    cut = chat({"content": TEXT})[1].split("\n\n")[0] + "\n\n"
    dialect, shown = acp(("message", TEXT))
    ended = shown.replace("end_turn", reason)
    found = judged_hops((dialect, ended), ("openai.chat", cut))
    assert (found.verdicts["hop/failure-no-success"] is Verdict.FAIL) is is_sold


@pytest.mark.parametrize(
    ("reason", "is_blamed"), [("length", False), ("content_filter", False), ("stop", True)]
)
def test_cut_answer_may_be_an_error(reason: str, *, is_blamed: bool) -> None:
    run = [
        {"type": "RUN_STARTED", **ENDED},
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": TEXT},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
        {"type": "RUN_ERROR", "message": "It was cut short.", "code": "short"},
    ]
    found = judged_hops(("agui", sse(run)), chat({"content": TEXT}, reason=reason))
    assert ("hop/answer-whole" in broken_hops(found)) is is_blamed


def test_a_status_of_failure_tells_the_user_though_nothing_stands_in_its_body() -> None:
    """Seen of a server of VoltAgent 2.10: the client of the AI SDK raises for every such status."""
    refused = ("openai.chat", json.dumps({"error": {"message": "no", "type": "invalid"}}))
    json_head = (("content-type", "application/json"),)
    heads = {1: Response(status=500), 2: Response(status=400, headers=json_head)}
    result = judged_hops(("vercel.ui", ""), refused, heads=heads)
    assert [each.rule for each in result.findings] == []
    assert result.verdicts["hop/failure-told"] is Verdict.PASS
    heads[1] = Response(status=200, headers=(("content-type", "text/event-stream"),))
    broken = {each.rule for each in judged_hops(("vercel.ui", ""), refused, heads=heads).findings}
    assert {"hop/failure-told", "wire/ui-message/answer-present"} & broken
