"""Operators on messages of `openai.chat`: carriers of thinking, signatures, tool calls, history.

Where the request is edited, the response stays as it was recorded and does not fit it.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import cut_at, list_at, put_at, text_at, value_at
from conformance.editing.chunks import chunk_places, finish_places, message_places, plain_places
from conformance.editing.deltas import (
    are_whole,
    delta_groups,
    delta_places,
    find_deltas,
    rewrite_deltas,
)
from conformance.editing.edits import double_piece, drop_piece, request_body
from conformance.editing.operator import Edit, OperatorTable
from conformance.editing.stream import Stream

CHOICE: Final = ("choices", 0)
DELTA: Final = (*CHOICE, "delta")
FINISH: Final = (*CHOICE, "finish_reason")
TOOLS: Final = (*DELTA, "tool_calls")
CARRIERS: Final = ("reasoning_content", "reasoning")
_CALL: Final = (*TOOLS, 0)
_DETAIL: Final = (*DELTA, "reasoning_details", 0)
_OPAQUE_KEYS: Final = ("signature", "data")
_SIGNED_LISTS: Final = ("reasoning_details", "thinking_blocks")


OPERATORS: Final = OperatorTable()


def tool_places(stream: Stream) -> list[int]:
    """Places of chunks with a fragment of a tool call."""
    return [n for n in chunk_places(stream) if stream.list_at(n, *TOOLS)]


def opaque_data(delta: Any) -> str:
    """The first opaque data of a delta; empty where it has none."""
    blocks = [block for name in _SIGNED_LISTS for block in list_at(delta, name)]
    found = (text_at(block, key) for block in blocks for key in _OPAQUE_KEYS)
    return text_at(delta, "reasoning_opaque") or next(filter(None, found), "")


def _carrier_of(stream: Stream, place: int) -> str:
    return next((name for name in CARRIERS if stream.text_at(place, *DELTA, name)), "")


def _carried_thinking(stream: Stream) -> list[int]:
    return [n for n in message_places(stream) if _carrier_of(stream, n)]


@OPERATORS.edit("N1-mirrored", _carried_thinking)
def _mirror_thinking(stream: Stream, site: int) -> Stream:
    """Thinking is in two fields."""
    name = _carrier_of(stream, site)
    other = next(each for each in CARRIERS if each != name)
    return stream.with_value(site, (*DELTA, other), stream.value_at(site, *DELTA, name))


def _signed_chunks(stream: Stream) -> list[int]:
    return [n for n in message_places(stream) if opaque_data(stream.value_at(n, *DELTA))]


@OPERATORS.edit(
    "S1-no-signature",
    _signed_chunks,
    "either",
    "a stream without a signature is good; only the next request shows the loss",
)
def _drop_signature(stream: Stream, site: int) -> Stream:
    """A signature is lost."""
    delta = cut_at(stream.value_at(site, *DELTA), ("reasoning_opaque",))
    for name in _SIGNED_LISTS:
        for n in range(len(list_at(delta, name))):
            for key in _OPAQUE_KEYS:
                delta = cut_at(delta, (name, n, key))
    return stream.with_value(site, DELTA, delta)


def _first_text(stream: Stream) -> list[int]:
    """The first chunk of visible text that can be followed by another chunk."""
    free = set(plain_places(stream))
    if not find_deltas(stream, "thinking"):
        return []  # what its first text is, only the profile's markers tell
    return [n for n in delta_places(stream, "text") if n in free][:1]


def _thinking_chunks(stream: Stream) -> list[int]:
    """Thinking in chunks that can be followed by another chunk."""
    free = set(plain_places(stream))
    return [n for n in delta_places(stream, "thinking") if n in free]


def _unsigned_thinking(stream: Stream) -> list[int]:
    """Thinking that may still be signed."""
    return [] if _signed_chunks(stream) else _thinking_chunks(stream)


def _shown_details(stream: Stream) -> list[int]:
    """The first text, where details of the thinking before it have the index 0."""
    texts = _first_text(stream)
    shown = [n for n in _details(stream) if stream.value_at(n, *_DETAIL, "index") == 0]
    return texts if texts and shown and shown[0] < texts[0] else []


def _details(stream: Stream) -> list[int]:
    found = message_places(stream)
    return [n for n in found if stream.list_at(n, *DELTA, "reasoning_details")]


def _call_starts(stream: Stream) -> list[int]:
    return [n for n in tool_places(stream) if stream.value_at(n, *_CALL, "id")]


def _thinking_before_call(stream: Stream) -> list[int]:
    """The last thinking before the first call, where it is alone in its chunk."""
    calls = _call_starts(stream)[:1]
    return [n for n in delta_places(stream, "thinking")[-1:] if calls and n < calls[0]]


def _later_fragments(stream: Stream) -> list[int]:
    """Fragments that neither name a call nor are all of its arguments, which came whole."""
    starts = set(_call_starts(stream))
    every = delta_groups(stream, "arguments")
    groups = [group for group in every if len(group) > 1 and are_whole(group)]
    return sorted(each.place for group in groups for each in group if each.place not in starts)


def _if_it_breaks(edit: Edit) -> Edit:
    """Nothing where the arguments are JSON all the same: then they are those of another call."""

    def breaking(stream: Stream, site: int) -> Stream | None:
        edited = edit(stream, site)
        is_broken = edited and not all(map(are_whole, delta_groups(edited, "arguments")))
        return edited if is_broken else None

    return breaking


def _continued_calls(stream: Stream) -> list[int]:
    starts = _call_starts(stream)
    known = {stream.value_at(n, *_CALL, "index") for n in starts}
    later = [n for n in tool_places(stream) if n not in starts]
    return [n for n in later if stream.value_at(n, *_CALL, "index") in known]


@OPERATORS.edit("T4-named-again", _continued_calls)
def _repeat_id(stream: Stream, site: int) -> Stream:
    """A later fragment repeats the call's id."""
    index = stream.value_at(site, *_CALL, "index")
    starts = _call_starts(stream)
    first = next(n for n in starts if stream.value_at(n, *_CALL, "index") == index)
    return stream.with_value(site, (*_CALL, "id"), stream.value_at(first, *_CALL, "id"))


def _tool_finishes(stream: Stream) -> list[int]:
    """Finishes of calls that were free; one that the request forces ends with stop anyway."""
    body = request_body(stream)
    is_free = body is not None and value_at(body, "tool_choice") in (None, "auto")
    found = finish_places(stream)
    is_certain = is_free or len(found) > 1
    return [n for n in found if is_certain and stream.value_at(n, *FINISH) == "tool_calls"]


def _thoughtful_messages(stream: Stream) -> list[int]:
    """Earlier answers that are sent back with their thinking."""
    messages = list_at(request_body(stream), "messages")
    return [n for n, each in enumerate(messages) if text_at(each, "reasoning_content")]


@OPERATORS.edit("H3-lost-thinking", _thoughtful_messages)
def _lose_thinking(stream: Stream, site: int) -> Stream:
    """The thinking before a tool call is not sent back."""
    body = cut_at(request_body(stream), ("messages", site, "reasoning_content"))
    return stream.with_request(body)


@OPERATORS.edit("H4-thinking-in-content", _thoughtful_messages)
def _inline_thinking(stream: Stream, site: int) -> Stream:
    """Thinking is sent back inside the content."""
    body = request_body(stream)
    message = value_at(body, "messages", site)
    text = f"<think>{message['reasoning_content']}</think>{message.get('content') or ''}"
    bare = {**cut_at(message, ("reasoning_content",)), "content": text}
    return stream.with_request(put_at(body, ("messages", site), bare))


@OPERATORS.edit("B33-tail-flushed", lambda stream: finish_places(stream)[-1:])
def _flush_tail(stream: Stream, site: int) -> Stream | None:
    """All text is the last word of the thinking, which comes with the finish."""
    thoughts, texts = find_deltas(stream, "thinking"), find_deltas(stream, "text")
    thought = "".join(each.text for each in thoughts).rstrip()
    kept, space, tail = thought.rpartition(" ")
    if not texts or len(thoughts) < 2 or not space or not kept[-1].isalnum():
        return None
    first, rest = thoughts[0], {each.place for each in (*thoughts[1:], *texts)}
    if first.place in rest or site in rest:
        return None
    stream = rewrite_deltas(stream, [(first, kept)]).with_value(site, (*DELTA, "content"), tail)
    return stream.with_pieces([each for n, each in enumerate(stream.pieces) if n not in rest])


OPERATORS.add("T3-lost-fragment", "A fragment of the arguments is lost.")(
    _later_fragments, _if_it_breaks(drop_piece)
)
OPERATORS.add("T3-doubled-fragment", "A fragment of the arguments is sent twice.")(
    _later_fragments, _if_it_breaks(double_piece)
)
OPERATORS.add("T1-thinking-after-call", "Thinking comes after the tool call it led to.")(
    _thinking_before_call, lambda stream, site: stream.move(site, tool_places(stream)[-1] + 1)
)
