"""Streams of LangChain's events that keep the rules, in the server's envelope and bare."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, zip_longest
from typing import Any, Final

from tests.authoring.pieces import Fields, Line, Message, deltas, opaque

CALL: Final = "toolu_synthetic_1"
THOUGHT: Final = "The board says fog, and fog means half speed, so it is late."
TEXT: Final = "The ferry is some twenty minutes late."
SIGNED: Final[Fields] = {"signature": opaque("a signature")}
Events = list[Fields]
_ROOT: Final[tuple[str, ...]] = ()
Placed = tuple[tuple[str, ...], Fields]


def message(*blocks: Events, provider: str = "anthropic", reason: str = "end_turn") -> Events:
    """A message: its blocks start and say what they say, and all of them end with it."""
    start: Fields = {"event": "message-start", "role": "ai", "id": f"lc_run--{len(blocks)}"}
    start["metadata"] = {"provider": provider, "model": "think-1"}
    numbered = [[{**each, "index": at} for each in block] for at, block in enumerate(blocks)]
    counts: Fields = {"input_tokens": 31, "output_tokens": 30, "total_tokens": 61}
    counts["output_token_details"] = {"reasoning": 17 if len(blocks) > 1 else 0}
    key = "stop_reason" if provider == "anthropic" else "status"
    ended: Fields = {"event": "message-finish", "usage": counts}
    ended["metadata"] = {key: reason, "model_provider": provider}
    events = [each for block in numbered for each in block[:-1]]
    return [start, *events, *(block[-1] for block in numbered), ended]


def written(events: Events) -> list[Line]:
    """Events as a program writes them."""
    return [Line(each) for each in events]


def thought(words: str, extras: Fields | None = None) -> Events:
    events = [{"type": "reasoning-delta", "reasoning": each} for each in deltas(words, 3)]
    stated: Fields = {"reasoning": words, **({"extras": extras} if extras else {})}
    return _block({"type": "reasoning", "reasoning": ""}, events, stated)


def text(words: str) -> Events:
    events = [{"type": "text-delta", "text": each} for each in deltas(words, 3)]
    return _block({"type": "text", "text": ""}, events, {"text": words})


def call(*, so_far: bool = False) -> Events:
    """A call; `so_far`: each delta holds all of the arguments so far, as older servers send it."""
    named: Fields = {"id": CALL, "name": "read_board"}
    pieces = ['{"line": ', '"fog"}']
    fragments: Events = [{"type": "tool-call-delta", "args": each} for each in pieces]
    if so_far:
        so_fars = (pieces[0], "".join(pieces))
        fields = ({"type": "tool_call_chunk", **named, "args": each} for each in so_fars)
        fragments = [{"type": "block-delta", "fields": each} for each in fields]
    stated: Fields = {"type": "tool_call", **named, "args": {"line": "fog"}}
    return _block({"type": "tool_call_chunk", **named, "args": ""}, fragments, stated)


def call_of_claude() -> Events:
    """A call as LangGraph.js passes it on: under Anthropic's names, beside the whole so far."""
    named: Fields = {"id": CALL, "name": "read_board"}
    pieces = ["", '{"line": ', '"fog"}']
    events: Events = []
    for number, piece in enumerate(pieces, 1):
        sent: Fields = {"type": "input_json_delta", "index": 0, "input": piece}
        whole = {"type": "tool_call_chunk", **named, "args": "".join(pieces[:number])}
        events += [{"type": "block-delta", "fields": each} for each in (sent, whole)]
    stated: Fields = {"type": "input_json_delta", "input": pieces[-1], "args": "".join(pieces)}
    return _block({"type": "tool_use", **named, "input": ""}, events, stated)


def _block(content: Fields, said: Iterable[Fields], stated: Fields) -> Events:
    start: Fields = {"event": "content-block-start", "content": content}
    saying = ({"event": "content-block-delta", "delta": each} for each in said)
    return [start, *saying, {"event": "content-block-finish", "content": {**content, **stated}}]


def at_root(events: Events) -> list[Placed]:
    return [(_ROOT, each) for each in events]


def tool_result() -> list[Placed]:
    """What a tool gave, as the server repeats it among the messages."""
    block: Fields = {"type": "text", "text": "Fog since noon."}
    start: Fields = {"event": "message-start", "role": "tool", "id": "result-1"}
    events: Events = [
        {**start, "tool_call_id": CALL},
        {"event": "content-block-start", "index": 0, "content": {**block, "text": ""}},
        {"event": "content-block-delta", "index": 0, "content": block},
        {"event": "content-block-finish", "index": 0, "content": block},
        {"event": "message-finish", "metadata": {}},
    ]
    return [((f"tools:{CALL}",), each) for each in events]


def side_by_side() -> list[Placed]:
    """Two graphs in the graph, at once."""
    tide = message(thought("The tide turns at one.", extras=SIGNED), text("Low at one."))
    fog = message(thought(THOUGHT, extras=SIGNED), text(TEXT), provider="anthropic")
    placed = zip_longest(
        ((("tide:1",), each) for each in tide), ((("fog:2",), each) for each in fog)
    )
    return [each for pair in placed for each in pair if each is not None]


def run(said: Iterable[Placed], *, status: str = "completed", error: str = "") -> list[Message]:
    """A run in the envelope of the server."""
    why = error or ("It failed." if status == "failed" else "")
    state = {"messages": [{"type": "human", "content": "Is the ferry late?", "id": "human-1"}]}
    ended: Fields = {"event": status, "graph_name": "agent", **({"error": why} if why else {})}
    events: list[tuple[str, tuple[str, ...], Any]] = [
        ("lifecycle", _ROOT, {"event": "running", "graph_name": "agent"}),
        ("values", _ROOT, state),
        *(("messages", namespace, data) for namespace, data in said),
        ("lifecycle", _ROOT, ended),
    ]
    return [_event(*each, seq) for each, seq in zip(events, count(1), strict=False)]


def _event(method: str, namespace: tuple[str, ...], data: Any, seq: int) -> Message:
    params: Fields = {"namespace": list(namespace), "timestamp": 1764259200000 + seq, "data": data}
    fields: Fields = {"type": "event", "event_id": f"1764259200000-{seq}", "seq": seq}
    return Message({**fields, "method": method, "params": params}, method)
