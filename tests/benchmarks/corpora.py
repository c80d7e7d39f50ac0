"""Streams to measure with, made from seeds: shapes, lengths and alphabets of real ones.

Conforming, unless said otherwise, for the profiles that `CORPORA` names. Four tokens in a hundred
hold something else than ASCII letters: quotes, escapes, other scripts; or as many as `others` says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any, Final

Fields = dict[str, Any]
Chunks = list[bytes]

EVENTS: Final = 100_000
OTHERS: Final = 0.04  # of the tokens hold quotes, escapes or other scripts
MANY_OTHERS: Final = 0.25
PARTS: Final = 40
ITEM: Final = "rs_" + "0a1b2c3d4e" * 5
USUAL: Final = (" the", " so", " answer", "ing", " is", " a", " number", ",", " of", " therefore")
OTHER: Final = (' "quoted"', "\n\n", " na\u00efve", "\u8c46\u8150", "\\(x\\)", " \U0001f600")
PADDING: Final = "Qx7PzK2mWd9RtYbL"


def tokens(source: Random, others: float = OTHERS) -> Iterator[str]:
    """Without the same one twice in a row, which is rare in what models say."""
    before = ""
    while True:
        token = source.choice(OTHER if source.random() < others else USUAL)
        if token != before:
            yield token
        before = token


def encoded(payload: Fields, name: str = "") -> bytes:
    data = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return (f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n").encode()


def spaced(frames: Iterable[bytes]) -> list[bytes]:
    """The same frames as `json.dumps` writes JSON: spaces after colons and commas, ASCII only."""
    return [_spaced(frame) for frame in frames]


def _spaced(frame: bytes) -> bytes:
    begin, end = frame.find(b"{"), frame.rfind(b"}") + 1
    if begin < 0:
        return frame
    data = json.dumps(json.loads(frame[begin:end]))
    return frame[:begin] + data.encode() + frame[end:]


def responses(events: int = EVENTS, parts: int = PARTS, others: float = OTHERS) -> list[bytes]:
    """Responses: a reasoning item of many summary parts, then a short message."""
    source = Random(1)
    numbered: list[Fields] = []
    head = {"id": "resp_" + "f" * 50, "object": "response", "created_at": 1, "model": "m-1"}
    numbered.append({"type": "response.created", "response": _begun(head)})
    numbered.append({"type": "response.in_progress", "response": _begun(head)})
    item: Fields = {"id": ITEM, "type": "reasoning", "summary": []}
    numbered.append({"type": "response.output_item.added", "output_index": 0, "item": item})
    per, texts = (events - 12) // parts - 4, []
    for index in range(parts):
        words = [t for t, _ in zip(tokens(source, others), range(per), strict=False)]
        texts.append("".join(words))
        numbered += _part(index, words)
    summary = [{"type": "summary_text", "text": text} for text in texts]
    done = {**item, "summary": summary}
    numbered.append({"type": "response.output_item.done", "output_index": 0, "item": done})
    message, closing = _message(["It", " is", " so", "."])
    numbered += message
    usage = {
        "input_tokens": 9,
        "output_tokens": events,
        "total_tokens": events + 9,
        "output_tokens_details": {"reasoning_tokens": events - 9},
    }
    ended = {**head, "status": "completed", "output": [done, closing], "usage": usage}
    numbered.append({"type": "response.completed", "response": ended})
    return [
        encoded({"type": each["type"], "sequence_number": number, **each}, each["type"])
        for number, each in enumerate(numbered)
    ]


def _begun(head: Fields) -> Fields:
    return {**head, "status": "in_progress", "output": []}


def _part(index: int, pieces: list[str]) -> Iterator[Fields]:
    stem = "response.reasoning_summary"
    place = {"item_id": ITEM, "output_index": 0, "summary_index": index}
    whole = {"type": "summary_text", "text": "".join(pieces)}
    yield {"type": f"{stem}_part.added", **place, "part": {**whole, "text": ""}}
    for text in pieces:
        pad = PADDING[: 16 - len(text) % 16]
        yield {"type": f"{stem}_text.delta", **place, "delta": text, "obfuscation": pad}
    yield {"type": f"{stem}_text.done", **place, "text": whole["text"]}
    yield {"type": f"{stem}_part.done", **place, "part": whole}


def _message(cuts: list[str]) -> tuple[list[Fields], Fields]:
    item: Fields = {"id": "msg_" + "e" * 50, "type": "message", "role": "assistant"}
    place = {"item_id": item["id"], "output_index": 1, "content_index": 0}
    part: Fields = {"type": "output_text", "text": "".join(cuts), "annotations": [], "logprobs": []}
    opened = {**item, "status": "in_progress", "content": []}
    closed = {**item, "status": "completed", "content": [part]}
    texts = "response.output_text"
    return [
        {"type": "response.output_item.added", "output_index": 1, "item": opened},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *({"type": f"{texts}.delta", **place, "delta": t, "logprobs": []} for t in cuts),
        {"type": f"{texts}.done", **place, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 1, "item": closed},
    ], closed


CHAT_HEAD: Final[Fields] = {
    "id": "chatcmpl-" + "B9xKq" * 6,
    "object": "chat.completion.chunk",
    "created": 1_795_176_000,
    "model": "m-2026-01-01",
    "system_fingerprint": "fp_0123456789",
}


def chat_chunk(delta: Fields, reason: str | None = None, *, padding: str = "") -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    pad = {"obfuscation": padding} if padding else {}
    return encoded({**CHAT_HEAD, "choices": [choice], "usage": None, **pad})


def chat_deltas(count: int, name: str, source: Random, others: float = OTHERS) -> Iterator[bytes]:
    """Deltas of text or of thinking, padded as a real system pads them."""
    for text, _ in zip(tokens(source, others), range(count), strict=False):
        yield chat_chunk({name: text}, padding=PADDING[: 16 - len(text) % 16])


def chat_end(output: int) -> list[bytes]:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": output,
        "total_tokens": output + 9,
        "completion_tokens_details": {"reasoning_tokens": output // 2},
    }
    return [
        chat_chunk({}, "stop", padding=PADDING),
        encoded({**CHAT_HEAD, "choices": [], "usage": usage}),
        b"data: [DONE]\n\n",
    ]


def chat(events: int = EVENTS, others: float = OTHERS) -> list[bytes]:
    """Chat Completions: long reasoning, then text."""
    source = Random(2)
    thinking = (events - 4) * 9 // 10
    return [
        chat_chunk({"role": "assistant", "content": ""}),
        *chat_deltas(thinking, "reasoning_content", source, others),
        *chat_deltas(events - 4 - thinking, "content", source, others),
        *chat_end(events),
    ]


def messages(events: int = EVENTS, others: float = OTHERS) -> list[bytes]:
    """Messages: a block of thinking with its signature, a block of text, pings."""
    source = Random(3)
    thinking = (events - 10) * 9 // 10
    message: Fields = {
        "id": "msg_01" + "A" * 22,
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    payloads: Iterable[Fields] = (
        {"type": "message_start", "message": message},
        *_block(0, "thinking", thinking, source, others),
        *_block(1, "text", events - 10 - thinking, source, others),
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": events}},
        {"type": "message_stop"},
    )
    return [encoded(payload, payload["type"]) for payload in payloads]


def _block(index: int, kind: str, count: int, source: Random, others: float) -> Iterator[Fields]:
    thinks = kind == "thinking"
    block = {"type": kind, kind: "", **({"signature": ""} if thinks else {})}
    yield {"type": "content_block_start", "index": index, "content_block": block}
    yield {"type": "ping"}
    for text, _ in zip(tokens(source, others), range(count), strict=False):
        delta = {"type": f"{kind}_delta", kind: text}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    if thinks:
        signed = {"type": "signature_delta", "signature": "RXVjQ2tnSUFC" * 20}
        yield {"type": "content_block_delta", "index": index, "delta": signed}
    yield {"type": "content_block_stop", "index": index}


def ollama(events: int = EVENTS, others: float = OTHERS) -> list[bytes]:
    """Ollama's own API: lines of thinking, then of text, each with the time it was made."""
    source, lines = Random(6), list[Fields]()
    for number, text in zip(range(events - 1), tokens(source, others), strict=False):
        at = f"2026-11-20T10:{number // 600 % 60:02}:{number % 600 / 10:04.1f}00417Z"
        thinks = number < events * 9 // 10
        fields = {"content": "", "thinking": text} if thinks else {"content": text}
        message = {"role": "assistant", **fields}
        lines.append({"model": "m-1", "created_at": at, "message": message, "done": False})
    counts = {"prompt_eval_count": 9, "eval_count": events}
    times = {"total_duration": 9, "load_duration": 1, "prompt_eval_duration": 2, "eval_duration": 6}
    last = {**lines[-1], "message": {"role": "assistant", "content": ""}, "done": True}
    lines.append({**last, "done_reason": "stop", **times, **counts})
    return [
        json.dumps(e, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for e in lines
    ]


Make = Callable[..., list[bytes]]
CORPORA: Final[Mapping[str, tuple[Make, str]]] = {
    "openai.responses": (responses, "openai"),
    "openai.chat": (chat, "openai"),
    "anthropic.messages": (messages, "anthropic"),
}
LONG: Final[Mapping[str, tuple[Make, str]]] = {**CORPORA, "ollama.chat": (ollama, "strict")}


def net(frames: Iterable[bytes]) -> Chunks:
    """Chunks of 1 to 4 KB, as a network gives them."""
    return cut(b"".join(frames), 1024, 4096)


def cut(stream: bytes, low: int, high: int) -> Chunks:
    source, chunks, start = Random(4), [], 0
    while start < len(stream):
        size = source.randint(low, high)
        chunks.append(stream[start : start + size])
        start += size
    return chunks
