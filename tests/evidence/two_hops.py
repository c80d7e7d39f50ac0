"""Answers of an application and of its provider, made of what they say, and the rules they break.

Each is a list of events of its protocol, or of chunks; the envelopes around them are the same in
all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import open_recording
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.core.shipped import cassettes
from conformance.dialects import get
from conformance.dialects.script import CONTENT_TYPES
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.rules.verdicts import Verdict
from tests.authoring.opencode import run, step

Payload = dict[str, Any]
SIGNED: Final = cassettes() / "vercel.ui/ai-sdk/hops-signed.cassette.jsonl"
TOOLS: Final = {"server_tool_use": "web_search", "tool_use": "timetable"}
_LINES: Final = {
    "acp",
    "codex.exec",
    "codex.app-server",
    "claude.stream-json",
    "opal.rpc",
    "opencode.run",
}
_ITEMS: Final = (("r", "reasoning"), ("m", "agentMessage"))
_DONE: Final = "data: [DONE]\n\n"
_USAGE: Final = {"input_tokens": 1, "output_tokens": 1}


def hop_findings(shown: tuple[str, str], behind: tuple[str, str]) -> set[str]:
    """Rules over both hops that an application's answer breaks; each is a dialect and a body."""
    result = judged_hops(shown, behind)
    assert result.verdicts["hop/text"] in (Verdict.PASS, Verdict.FAIL)
    return broken_hops(result)


def broken_hops(result: StreamResult) -> set[str]:
    """The rules over both hops that fail."""
    return {each.rule for each in result.findings if each.rule.startswith("hop/")}


def judged_hops(
    shown: tuple[str, str | bytes],
    *upstreams: tuple[str, str | bytes],
    asked: Sequence[Any] = (),
    heads: Mapping[int, Response] = MappingProxyType({}),
    ends: Mapping[int, Ending] = MappingProxyType({}),
    is_played: bool = False,
) -> StreamResult:
    """What comes of an application's answer; `asked` are the bodies of the requests behind it.

    `heads` are those of exchanges, by their number, that are no streams; `ends` is how those ended
    that were not closed. `is_played`: a run recorded both hops.
    """
    recording = open_recording(SIGNED)
    app, upstream = recording.exchanges
    first = _exchange(app, 1, shown)
    exchanges = [replace(first, response=heads.get(1, first.response))]
    for number, answer in enumerate(upstreams, 2):
        request = asked[number - 2] if asked else None
        given = _exchange(upstream, number, answer)
        given = replace(given, response=heads.get(number, given.response))
        exchanges.append(replace(given, request=request and Request(json=request)))
    exchanges = [replace(each, end=ends.get(each.number, each.end)) for each in exchanges]
    header = recording.cassette.header
    if is_played:
        header = replace(header, extra={**header.extra, "run": {"target": "app", "steps": {}}})
    cassette = replace(recording.cassette, header=header, exchanges=tuple(exchanges))
    held = InMemory(recording.path, recording.kind, cassette)
    results = check_recording(held, Rulebook.load(()), CheckChoices(profile="strict"))
    assert all(Verdict.ERROR not in each.verdicts.values() for each in results)
    return results[0]


def _exchange(like: Exchange, number: int, answer: tuple[str, str | bytes]) -> Exchange:
    dialect, body = answer
    kind = CONTENT_TYPES[get(dialect).framing]
    head = None if dialect in _LINES else Response(headers=(("content-type", kind),))
    chunks = (Chunk(body.encode() if isinstance(body, str) else body),)
    return replace(
        like, number=number, request=None, response=head, chunks=chunks, dialect=dialect, end="eof"
    )


def sse(events: Sequence[Payload]) -> str:
    """A stream of events; those of Messages and Responses are named."""
    return "".join(
        (f"event: {each['type']}\n" if set("_.") & set(each.get("type", "")) else "")
        + f"data: {json.dumps(each)}\n\n"
        for each in events
    )


def vercel(*events: Payload, reason: str = "stop") -> tuple[str, str]:
    """An answer of one step in the UI message stream."""
    answer = [{"type": "start"}, {"type": "start-step"}, *events, {"type": "finish-step"}]
    return "vercel.ui", sse([*answer, {"type": "finish", "finishReason": reason}]) + _DONE


def vercel_part(kind: str, text: str) -> list[Payload]:
    """A whole part of text or reasoning."""
    part = {"id": f"{kind}-0"}
    return [
        {"type": f"{kind}-start", **part},
        {"type": f"{kind}-delta", **part, "delta": text},
        {"type": f"{kind}-end", **part},
    ]


def acp(*chunks: tuple[str, str]) -> tuple[str, str]:
    """A turn of an agent; a chunk is `thought` or `message`, and its text."""
    updates = [
        {"sessionUpdate": f"agent_{kind}_chunk", "content": {"type": "text", "text": text}}
        for kind, text in chunks
    ]
    notes: list[Payload] = [
        {"method": "session/update", "params": {"sessionId": "s", "update": each}}
        for each in updates
    ]
    lines = [*notes, {"id": 2, "result": {"stopReason": "end_turn"}}]
    return "acp", "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in lines)


def codex_exec(*items: tuple[str, str]) -> tuple[str, str]:
    """A turn of `codex exec`; an item is its type and its text."""
    lines: list[Payload] = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]
    for number, (kind, text) in enumerate(items):
        item = {"id": f"item_{number}", "type": kind, "text": text}
        lines.append({"type": "item.completed", "item": item})
    lines.append({"type": "turn.completed", "usage": _USAGE})
    return "codex.exec", "".join(json.dumps(each) + "\n" for each in lines)


def opencode_run(*parts: Payload) -> tuple[str, str]:
    """A run of opencode in one step."""
    return "opencode.run", "".join(each.encode().decode() for each in run(step(parts)))


def codex_server(raw: str, summary: str, text: str) -> tuple[str, str]:
    """A turn of the app server of Codex: one item of reasoning in both channels, and a message."""
    thought, message = ({"id": each, "type": kind} for each, kind in _ITEMS)
    notes: list[tuple[str, Payload]] = [
        ("turn/started", {"turn": {"id": "u"}}),
        ("item/started", {"item": thought}),
        ("item/reasoning/textDelta", {"itemId": "r", "contentIndex": 0, "delta": raw}),
        ("item/reasoning/summaryPartAdded", {"itemId": "r", "summaryIndex": 0}),
        ("item/reasoning/summaryTextDelta", {"itemId": "r", "summaryIndex": 0, "delta": summary}),
        ("item/completed", {"item": {**thought, "summary": [summary], "content": [raw]}}),
        ("item/started", {"item": message}),
        ("item/agentMessage/delta", {"itemId": "m", "delta": text}),
        ("item/completed", {"item": {**message, "text": text}}),
        ("turn/completed", {"turn": {"id": "u", "status": "completed"}}),
    ]
    lines = [{"method": name, "params": {"threadId": "t", **each}} for name, each in notes]
    return "codex.app-server", "".join(json.dumps(each) + "\n" for each in lines)


def chat(*deltas: Payload, reason: str = "stop") -> tuple[str, str]:
    """A stream of Chat Completions."""
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    last = {"index": 0, "delta": {}, "finish_reason": reason}
    choices = [{"index": 0, "delta": each, "finish_reason": None} for each in deltas]
    return "openai.chat", sse([{**chunk, "choices": [one]} for one in (*choices, last)]) + _DONE


def messages(*kinds: str) -> tuple[str, str]:
    """Blocks of Messages: a search of the server's own, a call of a tool, a text."""
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    events: list[Payload] = [{"type": "message_start", "message": {**message, "usage": _USAGE}}]
    for index, kind in enumerate(kinds):
        block: Payload = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "It sails."}
        if kind != "text":
            block = {"type": kind, "id": f"call-{index}", "name": TOOLS[kind], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": '{"q": "x"}'}
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": _USAGE})
    return "anthropic.messages", sse([*events, {"type": "message_stop"}])


def responses(summary: Sequence[str], text: str, raw: str = "") -> tuple[str, str]:
    """A response of one reasoning item, itself and the parts of its summary, and a message."""
    reasoning = {"id": "rs_1", "type": "reasoning", "summary": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    events: list[Payload] = [
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": reasoning},
    ]
    if raw:
        place: Payload = {"item_id": "rs_1", "output_index": 0, "content_index": 0}
        events.append({"type": "response.reasoning_text.delta", **place, "delta": raw})
    for index, each in enumerate(summary):
        place = {"item_id": "rs_1", "output_index": 0, "summary_index": index}
        part = {"type": "summary_text", "text": ""}
        name = "response.reasoning_summary"
        events += [
            {"type": f"{name}_part.added", **place, "part": part},
            {"type": f"{name}_text.delta", **place, "delta": each},
            {"type": f"{name}_text.done", **place, "text": each},
            {"type": f"{name}_part.done", **place, "part": {**part, "text": each}},
        ]
    place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    events += [
        {"type": "response.output_item.done", "output_index": 0, "item": reasoning},
        {"type": "response.output_item.added", "output_index": 1, "item": message},
        {"type": "response.output_text.delta", **place, "delta": text},
        {"type": "response.output_item.done", "output_index": 1, "item": message},
        {"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}},
    ]
    return "openai.responses", sse(events)
