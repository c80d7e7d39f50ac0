"""Mutation of `openai.chat`: where its chunks hold what, and operators on chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import Path, cut_at, list_at, text_at, value_at
from conformance.dialects.openai_chat import message_mutation
from conformance.dialects.openai_chat.fields import DETAIL_TEXT, STRING_CARRIERS
from conformance.dialects.openai_chat.message_mutation import (
    CARRIERS,
    CHOICE,
    DELTA,
    FINISH,
    TOOLS,
    opaque_data,
    tool_places,
)
from conformance.editing.chunks import (
    chunk_places,
    finish_places,
    message_places,
    plain_places,
    usage_places,
)
from conformance.editing.edits import request_body
from conformance.editing.layout import ChunkLayout, Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream


def _chunk_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    for number in range(len(list_at(piece.payload, "choices"))):
        delta_path = ("choices", number, "delta")
        found: dict[tuple[TextKind, str, int], list[Path]] = {}
        for kind, path, tool in _text_paths(value_at(piece.payload, *delta_path)):
            text = text_at(piece.payload, *delta_path, *path)
            found.setdefault((kind, text, tool), []).append((*delta_path, *path))
        choice = value_at(piece.payload, "choices", number, "index")
        for (kind, text, tool), paths in found.items():
            yield Delta(place, tuple(paths), kind, (choice, kind, tool), text, choice)


def _text_paths(delta: Any) -> Iterator[tuple[TextKind, Path, int]]:
    """Kind, path and number of the tool call of every text that a delta may hold."""
    for name in STRING_CARRIERS:
        yield "thinking", (name,), -1
    for n, detail in enumerate(list_at(delta, "reasoning_details")):
        field = DETAIL_TEXT.get(text_at(detail, "type"))
        if field is not None:
            yield "thinking", ("reasoning_details", n, field), -1
    yield "text", ("content",), -1
    for n, part in enumerate(list_at(delta, "content")):
        yield "text", ("content", n, "text"), -1
        for m in range(len(list_at(part, "thinking"))):
            yield "thinking", ("content", n, "thinking", m, "text"), -1
    yield "refusal", ("refusal",), -1
    for n, tool in enumerate(list_at(delta, "tool_calls")):
        index = value_at(tool, "index")
        number = index if isinstance(index, int) else n
        yield "arguments", ("tool_calls", n, "function", "arguments"), number


def _unfinished(payload: Any, delta: Mapping[str, Any]) -> Any:
    choice = {**value_at(payload, *CHOICE), "delta": delta}
    if "finish_reason" in choice:
        choice["finish_reason"] = None
    return {**cut_at(payload, ("usage",)), "choices": [choice]}


OPERATORS: Final = OperatorTable()


def _drop_usage(stream: Stream, _site: int) -> Stream:
    for place in reversed(usage_places(stream)):
        bare = stream.without_value(place, ("usage",))
        stream = bare if stream.value_at(place, "choices") else stream.without(place)
    return stream


def _requested_usage(stream: Stream) -> list[int]:
    wanted = value_at(request_body(stream), "stream_options", "include_usage")
    return usage_places(stream)[:1] if wanted is True else []


def _unrequested_usage(stream: Stream) -> list[int]:
    return [] if _requested_usage(stream) else usage_places(stream)[:1]


def _usage_alone(stream: Stream) -> list[int]:
    """Usage in a chunk of its own after the finish."""
    ends = finish_places(stream) if plain_places(stream) else []
    found = [n for n in usage_places(stream) if not stream.value_at(n, "choices")]
    return [n for n in found if ends and n > ends[0]]


def _without_choices(stream: Stream, place: int) -> Piece:
    """A chunk as the one at a place is written, with no choice."""
    emptied = stream.without_value(place, ("usage",)).with_value(place, ("choices",), [])
    return emptied.pieces[place]


@OPERATORS.edit("U11-empty-choices-before", lambda stream: plain_places(stream)[1:])
def _empty_before(stream: Stream, site: int) -> Stream:
    """A chunk without choices comes before the finish."""
    return stream.insert(site, _without_choices(stream, site))


@OPERATORS.edit("U11-empty-choices-after", lambda stream: finish_places(stream)[-1:], "pass")
def _empty_after(stream: Stream, site: int) -> Stream:
    """A chunk without choices comes after the finish."""
    return stream.insert(site + 1, _without_choices(stream, site))


def _streamed_objects(stream: Stream) -> list[int]:
    return [n for n in message_places(stream) if stream.value_at(n, "object")]


def _with_finish_key(stream: Stream) -> list[int]:
    """Chunks that do not finish and have the key all the same."""
    found = plain_places(stream)
    return [n for n in found if FINISH[-1] in (stream.value_at(n, *CHOICE) or {})]


def _later_stamps(stream: Stream) -> list[int]:
    return [n for n in chunk_places(stream) if stream.value_at(n, "created")][1:]


def _tool_streams(stream: Stream) -> list[int]:
    return [0] if tool_places(stream) else []


@OPERATORS.edit("I9-tools-from-one", _tool_streams)
def _number_from_one(stream: Stream, _site: int) -> Stream:
    """Tool calls are numbered from 1."""
    for place in tool_places(stream):
        calls = stream.list_at(place, *TOOLS)
        raised = [{**call, "index": (value_at(call, "index") or 0) + 1} for call in calls]
        stream = stream.with_value(place, TOOLS, raised)
    return stream


OPERATORS.add("U5-no-usage", "Usage that was asked for is lost.")(_requested_usage, _drop_usage)
OPERATORS.add(
    "U5-less-usage",
    "Usage that nobody asked for is lost.",
    "either",
    reason="nobody asked for usage, so a stream without it is a good stream",
)(_unrequested_usage, _drop_usage)
OPERATORS.add("U6-usage-first", "Usage comes before the finish.")(
    _usage_alone, lambda stream, site: stream.move(site, plain_places(stream)[0] + 1)
)

MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_chunk_deltas,
        error=lambda message, code: {
            "error": {"message": message, "code": code, "type": "server_error"}
        },
        sentinel="[DONE]",
        reasoning_tokens=(
            ("usage", "completion_tokens_details", "reasoning_tokens"),
            ("usage", "reasoning_tokens"),
        ),
        elements={
            "chat.choice": CHOICE,
            "chat.message": (*CHOICE, "message"),
            "chat.tool": (*DELTA, "tool_calls", 0),
            "chat.detail": (*DELTA, "reasoning_details", 0),
            "models.entry": ("data", 0),
        },
        opaque=lambda piece: opaque_data(value_at(piece.payload, *DELTA)),
        chunk=ChunkLayout(
            holder=("choices",),
            message=DELTA,
            finish=FINISH,
            usage=("usage",),
            text="content",
            thinking=CARRIERS,
            unfinished=_unfinished,
            once=(("role",), ("tool_calls", 0, "id")),
        ),
    ),
    (
        *OPERATORS,
        *operator_rows(__file__, {**vars(message_mutation), **globals()}),
        *message_mutation.OPERATORS,
    ),
)
