"""Generated streams in three dialects: long runs of deltas between the events around them.

A stream is a list of pieces; a piece is one frame's bytes, and `delta` pieces are those of a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

Fields = dict[str, Any]
DIALECTS: Final = ("openai.responses", "openai.chat", "anthropic.messages")
PROFILES: Final[Mapping[str, str]] = {
    "openai.responses": "openai",
    "openai.chat": "openai",
    "anthropic.messages": "anthropic",
}
WORDS: Final = (
    " so",
    " the",
    " answer",
    "is",
    ' "quoted"',
    "\n\n",
    " na\u00efve",
    "\u8c46\u8150",
    "\\n",
)
MARKER: Final = "</think>"


@dataclass(frozen=True, slots=True)
class Piece:
    """One frame: the payload's JSON text and the event's name, empty where it has none."""

    text: str
    name: str = ""
    is_delta: bool = False

    @property
    def payload(self) -> Fields:
        found: Fields = json.loads(self.text)
        return found

    def holding(self, payload: Fields) -> Piece:
        return replace(self, text=compact(payload))

    def encode(self) -> bytes:
        named = f"event: {self.name}\n" if self.name else ""
        return f"{named}data: {self.text}\n\n".encode()


def compact(value: Any, **options: Any) -> str:
    return json.dumps(value, **{"ensure_ascii": False, "separators": (",", ":"), **options})


def texts(count: int, source: Random, *, marker: bool = False) -> list[str]:
    """Texts of deltas; with `marker` one marker is spread over deltas somewhere."""
    found = [source.choice(WORDS) for _ in range(count)]
    if not marker:
        return found
    at = source.randrange(count)
    letters = list(MARKER)
    while letters and at < count:
        size = source.randint(1, len(letters))
        found[at] += "".join(letters[:size])
        del letters[:size]
        at += 1
    return found


def stream(dialect: str, thoughts: list[str], words: list[str], source: Random) -> list[Piece]:
    """A stream of thinking and text that conforms; details like padding are drawn."""
    return _STREAMS[dialect](thoughts, words, source)


def _padding(source: Random) -> Callable[[], Fields]:
    if source.random() < 0.5:
        return dict
    return lambda: {"obfuscation": "abcdefghijklmnop"[: source.randint(0, 16)]}


def _responses(thoughts: list[str], words: list[str], source: Random) -> list[Piece]:
    padded = _padding(source)
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m"}
    before: list[Fields] = [
        {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}},
        {
            "type": "response.in_progress",
            "response": {**head, "status": "in_progress", "output": []},
        },
    ]
    output, items = [], []
    for index, (kind, pieces) in enumerate((("reasoning", thoughts), ("message", words))):
        events, done = _item(index, kind, pieces, padded)
        items += events
        output.append(done)
    counts = {"input_tokens": 9, "output_tokens": 2000, "total_tokens": 2009}
    usage = {**counts, "output_tokens_details": {"reasoning_tokens": len(thoughts)}}
    ended = {**head, "status": "completed", "output": output, "usage": usage}
    last = {"type": "response.completed", "response": ended}
    return [_numbered(n, e) for n, e in enumerate([*before, *items, last])]


def _item(
    index: int, kind: str, pieces: list[str], padded: Callable[[], Fields]
) -> tuple[list[Fields], Fields]:
    whole, place = "".join(pieces), {"item_id": f"item_{index}", "output_index": index}
    is_summary = kind == "reasoning"
    part: Fields = {"type": "summary_text", "text": whole}
    if not is_summary:
        part = {"type": "output_text", "text": whole, "annotations": []}
    place["summary_index" if is_summary else "content_index"] = 0
    stem = "response.reasoning_summary" if is_summary else "response.content"
    texts = "response.reasoning_summary_text" if is_summary else "response.output_text"
    item: Fields = {"id": f"item_{index}", "type": kind}
    role = {"role": "assistant"}
    opened: Fields = (
        {"summary": []} if is_summary else {"status": "in_progress", **role, "content": []}
    )
    closed: Fields = (
        {"summary": [part]} if is_summary else {"status": "completed", **role, "content": [part]}
    )
    events = [
        {"type": "response.output_item.added", "output_index": index, "item": {**item, **opened}},
        {"type": f"{stem}_part.added", **place, "part": {**part, "text": ""}},
        *({"type": f"{texts}.delta", **place, "delta": text, **padded()} for text in pieces),
        {"type": f"{texts}.done", **place, "text": whole},
        {"type": f"{stem}_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": index, "item": {**item, **closed}},
    ]
    return events, {**item, **closed}


def _numbered(number: int, event: Fields) -> Piece:
    kind = event["type"]
    fields = {"type": kind, "sequence_number": number, **event}
    return Piece(compact(fields), kind, is_delta=kind.endswith(".delta"))


def _plain_thought(text: str) -> Fields:
    return {"reasoning_content": text}


def _detailed_thought(text: str) -> Fields:
    return {**_plain_thought(text), "reasoning_details": [{"type": "reasoning.text", "text": text}]}


def _blocked_thought(text: str) -> Fields:
    return {**_plain_thought(text), "thinking_blocks": [{"type": "thinking", "thinking": text}]}


def _chat(thoughts: list[str], words: list[str], source: Random) -> list[Piece]:
    padded = _padding(source)
    ways = (_plain_thought, _plain_thought, _detailed_thought, _blocked_thought)
    thought = source.choice(ways) if thoughts else _plain_thought
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: Fields, reason: str | None = None, *, pad: bool = True) -> Piece:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        fields = {**head, "choices": [choice], **(padded() if pad else {})}
        return Piece(compact(fields), is_delta=pad and not reason)

    details = {"reasoning_tokens": len(thoughts)}
    spent = {"prompt_tokens": 9, "completion_tokens": 2000, "total_tokens": 2009}
    counts = {**spent, "completion_tokens_details": details}
    return [
        chunk({"role": "assistant", "content": ""}, pad=False),
        *(chunk(thought(text)) for text in thoughts),
        *(chunk({"content": text}) for text in words),
        chunk({}, "stop", pad=False),
        Piece(compact({**head, "choices": [], "usage": counts})),
        Piece("[DONE]"),
    ]


def _messages(thoughts: list[str], words: list[str], source: Random) -> list[Piece]:  # noqa: ARG001  # one signature
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 9, "output_tokens": 1}
    events: list[Fields] = [
        {
            "type": "message_start",
            "message": {**start, "stop_reason": None, "stop_sequence": None, "usage": usage},
        },
        *_block(0, "thinking", thoughts),
        *_block(1, "text", words),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]
    return [Piece(compact(e), e["type"], e["type"] == "content_block_delta") for e in events]


def _block(index: int, kind: str, said: list[str]) -> Iterator[Fields]:
    empty = {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for text in said:
        yield {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": f"{kind}_delta", kind: text},
        }
    if kind == "thinking":
        delta = {"type": "signature_delta", "signature": "c2ln"}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


_STREAMS: Final = {
    "openai.responses": _responses,
    "openai.chat": _chat,
    "anthropic.messages": _messages,
}
