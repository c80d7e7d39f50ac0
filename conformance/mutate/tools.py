"""Operators on tool calls beside thinking."""

from __future__ import annotations

from typing import Final

from conformance.core.json_values import put_at, text_at, value_at
from conformance.mutate.chunks import DELTA, finishes
from conformance.mutate.chunks import tools as fragments
from conformance.mutate.lifecycle import ITEM_ADDED, items, of_item, terminal
from conformance.mutate.operator import Operator
from conformance.mutate.stream import Stream
from conformance.mutate.texts import CHAT, RESPONSES, deltas, groups, rewritten
from conformance.mutate.told import restated

_C: Final = (CHAT,)
_R: Final = (RESPONSES,)
_CALL: Final = (*DELTA, "tool_calls", 0)


def _named(stream: Stream) -> list[int]:
    return [n for n in fragments(stream) if stream.value_at(n, *_CALL, "id")]


def _call_before_thinking(stream: Stream) -> list[int]:
    """The last thinking before the first call, where it stands alone in its chunk."""
    calls = _named(stream)[:1]
    thoughts = [each.place for each in deltas(stream, "thinking")]
    return [n for n in thoughts[-1:] if calls and n < calls[0]]


def _thinking_after_call(stream: Stream, site: int) -> Stream:
    return stream.moved(site, fragments(stream)[-1] + 1)


def _item_before_call(stream: Stream) -> list[int]:
    """Reasoning items before a call that no message stands between."""
    calls = items(stream, ITEM_ADDED, "function_call")
    found = items(stream, ITEM_ADDED, "reasoning")
    return [n for n in found if calls and n < calls[-1] and terminal(stream)]


def _item_last(stream: Stream, site: int) -> Stream:
    places = of_item(stream, stream.value_at(site, "output_index"))
    moved = [stream.pieces[n] for n in places]
    rest = stream.dropped(*places)
    return rest.inserted(terminal(rest)[0], *moved)


def _marked_name(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    path = (*_CALL, "function", "name")
    return stream.changed(site, put_at(payload, path, f"{text_at(payload, *path)}<|channel|>"))


def _calls(stream: Stream) -> list[int]:
    return items(stream, ITEM_ADDED, "function_call")


def _marked_item_name(stream: Stream, site: int) -> Stream:
    """The name with a marker, wherever it stands."""
    name = stream.text_at(site, "item", "name")
    for place, piece in stream.events():
        payload = restated(piece.payload, name, f"{name}<|channel|>")
        if payload != piece.payload and place >= site:
            stream = stream.changed(place, payload)
    return stream


def _arguments(stream: Stream) -> list[int]:
    return [each.place for each in deltas(stream, "arguments")]


def _later_fragments(stream: Stream) -> list[int]:
    """Fragments that neither name a call nor are all of its arguments."""
    named = set(_named(stream))
    parts = [each for group in groups(stream, "arguments") if len(group) > 1 for each in group]
    return sorted(each.place for each in parts if each.place not in named)


def _drop(stream: Stream, site: int) -> Stream:
    return stream.dropped(site)


def _twice(stream: Stream, site: int) -> Stream:
    return stream.inserted(site + 1, stream.pieces[site])


def _broken(stream: Stream, site: int) -> Stream:
    delta = next(each for each in deltas(stream, "arguments") if each.place == site)
    return rewritten(stream, [(delta, delta.text[:-1])])


def _named_again(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    index = value_at(payload, *_CALL, "index")
    first = next(n for n in _named(stream) if stream.value_at(n, *_CALL, "index") == index)
    call_id = stream.value_at(first, *_CALL, "id")
    return stream.changed(site, put_at(payload, (*_CALL, "id"), call_id))


def _continued(stream: Stream) -> list[int]:
    named = {stream.value_at(n, *_CALL, "index") for n in _named(stream)}
    later = [n for n in fragments(stream) if n not in _named(stream)]
    return [n for n in later if stream.value_at(n, *_CALL, "index") in named]


def _nameless(stream: Stream, site: int) -> Stream:
    path = (*_CALL, "function", "name")
    return stream.changed(site, put_at(stream.pieces[site].payload, path, ""))


def _called(stream: Stream) -> list[int]:
    """Finishes that say a tool is called."""
    path = ("choices", 0, "finish_reason")
    return [n for n in finishes(stream) if stream.value_at(n, *path) == "tool_calls"]


def _stopped(stream: Stream, site: int) -> Stream:
    path = ("choices", 0, "finish_reason")
    return stream.changed(site, put_at(stream.pieces[site].payload, path, "stop"))


TOOLS: Final = (
    Operator(
        "T1-thinking-after-call",
        "Thinking comes after the tool call it led to.",
        _call_before_thinking,
        _thinking_after_call,
        _C,
    ),
    Operator(
        "T1-reasoning-after-call",
        "The reasoning item comes after the call.",
        _item_before_call,
        _item_last,
        _R,
    ),
    Operator("T2-marker-in-name", "A tool name holds a marker.", _named, _marked_name, _C),
    Operator(
        "T2-marker-in-item-name", "A tool name holds a marker.", _calls, _marked_item_name, _R
    ),
    Operator(
        "T3-lost-fragment", "A fragment of the arguments is lost.", _later_fragments, _drop, _C
    ),
    Operator(
        "T3-doubled-fragment",
        "A fragment of the arguments is sent twice.",
        _later_fragments,
        _twice,
        _C,
    ),
    Operator(
        "T3-broken-arguments",
        "The last character of the arguments is lost.",
        lambda s: _arguments(s)[-1:],
        _broken,
    ),
    Operator(
        "T4-named-again", "A later fragment repeats the call's id.", _continued, _named_again, _C
    ),
    Operator("T5-nameless", "A call has no name.", _named, _nameless, _C),
    Operator("T6-says-stop", "The finish of a tool call says stop.", _called, _stopped, _C),
)
