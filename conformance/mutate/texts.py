"""Where a stream's deltas hold thinking, text and arguments, alike for every dialect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from conformance.core.json_values import Path, list_at, put_at, text_at, value_at
from conformance.dialects.openai_chat.fields import STRING_CARRIERS
from conformance.dialects.openai_responses import vocabulary as responses
from conformance.mutate.stream import Piece, Stream

Kind = Literal["thinking", "text", "refusal", "arguments"]

CHAT: Final = "openai.chat"
RESPONSES: Final = "openai.responses"
MESSAGES: Final = "anthropic.messages"
_KINDS: Final[dict[str, Kind]] = {
    "raw": "thinking",
    "summary": "thinking",
    "text": "text",
    "refusal": "refusal",
    "arguments": "arguments",
}
# Type of a block's delta -> what it is, and the field that holds it.
_BLOCK_DELTAS: Final[dict[str, tuple[Kind, str]]] = {
    "thinking_delta": ("thinking", "thinking"),
    "text_delta": ("text", "text"),
    "input_json_delta": ("arguments", "partial_json"),
}
_DETAILS: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


@dataclass(frozen=True, slots=True)
class Delta:
    """One piece of text: `place` of its event, the `paths` that all hold it, what it adds to."""

    place: int
    paths: tuple[Path, ...]
    kind: Kind
    group: tuple[Any, ...]
    text: str

    def payload(self, piece: Piece, text: str) -> Any:
        """The event's payload with another text in every place that holds this one."""
        payload = piece.payload
        for path in self.paths:
            payload = put_at(payload, path, text)
        return payload


def deltas(stream: Stream, *kinds: Kind) -> list[Delta]:
    """Every delta that is not empty, in stream order; all kinds where none is named."""
    found = _READERS.get(stream.dialect, _none)
    every = (each for place, piece in stream.events() for each in found(place, piece))
    return [each for each in every if each.text and (not kinds or each.kind in kinds)]


def joined(stream: Stream, kind: Kind) -> str:
    """All text of a kind."""
    return "".join(each.text for each in deltas(stream, kind))


def groups(stream: Stream, *kinds: Kind) -> list[list[Delta]]:
    """Deltas that add to the same text, each group in stream order."""
    found: dict[tuple[Any, ...], list[Delta]] = {}
    for each in deltas(stream, *kinds):
        found.setdefault(each.group, []).append(each)
    return list(found.values())


def rewritten(stream: Stream, texts: list[tuple[Delta, str]]) -> Stream:
    """The stream with other texts in these deltas."""
    for delta, text in texts:
        stream = stream.changed(delta.place, delta.payload(stream.pieces[delta.place], text))
    return stream


def _none(_place: int, _piece: Piece) -> Iterator[Delta]:
    yield from ()


def _response_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    kind = responses.DELTAS.get(piece.type)
    if kind is not None:
        fields = ("output_index", "content_index", "summary_index")
        group = (piece.type, *(value_at(piece.payload, field) for field in fields))
        yield Delta(place, (("delta",),), _KINDS[kind], group, text_at(piece.payload, "delta"))


def _chat_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    for number in range(len(list_at(piece.payload, "choices"))):
        way = ("choices", number, "delta")
        found: dict[tuple[Kind, str, int], list[Path]] = {}
        for kind, path, tool in _chat_texts(value_at(piece.payload, *way)):
            text = text_at(piece.payload, *way, *path)
            found.setdefault((kind, text, tool), []).append((*way, *path))
        choice = value_at(piece.payload, "choices", number, "index")
        for (kind, text, tool), paths in found.items():
            yield Delta(place, tuple(paths), kind, (choice, kind, tool), text)


def _chat_texts(delta: Any) -> Iterator[tuple[Kind, Path, int]]:
    for name in STRING_CARRIERS:
        yield "thinking", (name,), -1
    for n, detail in enumerate(list_at(delta, "reasoning_details")):
        field = _DETAILS.get(text_at(detail, "type"))
        if field is not None:
            yield "thinking", ("reasoning_details", n, field), -1
    yield "text", ("content",), -1
    yield from _content_parts(list_at(delta, "content"))
    yield "refusal", ("refusal",), -1
    for n, tool in enumerate(list_at(delta, "tool_calls")):
        index = value_at(tool, "index")
        number = index if isinstance(index, int) else n
        yield "arguments", ("tool_calls", n, "function", "arguments"), number


def _content_parts(parts: list[Any]) -> Iterator[tuple[Kind, Path, int]]:
    for n, part in enumerate(parts):
        yield "text", ("content", n, "text"), -1
        for m in range(len(list_at(part, "thinking"))):
            yield "thinking", ("content", n, "thinking", m, "text"), -1


def _block_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    found = _BLOCK_DELTAS.get(text_at(piece.payload, "delta", "type"))
    if piece.type == "content_block_delta" and found is not None:
        kind, field = found
        group = (kind, value_at(piece.payload, "index"))
        text = text_at(piece.payload, "delta", field)
        yield Delta(place, (("delta", field),), kind, group, text)


_READERS: Final = {CHAT: _chat_deltas, RESPONSES: _response_deltas, MESSAGES: _block_deltas}
