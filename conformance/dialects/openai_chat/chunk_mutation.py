"""Operators on chunks of `openai.chat`: their keys, ids, numbers, usage and missing choices."""

from __future__ import annotations

from typing import Final

from conformance.core.json_values import Path, value_at
from conformance.editing.chunks import (
    chunk_places,
    finish_places,
    message_places,
    plain_places,
    usage_places,
)
from conformance.editing.edits import (
    drop_value,
    later_with,
    prolong_text,
    raise_value,
    request_body,
    set_value,
)
from conformance.editing.operator import OperatorTable, Sites
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

CHOICE: Final = ("choices", 0)
DELTA: Final = (*CHOICE, "delta")
FINISH: Final = (*CHOICE, "finish_reason")
TOOLS: Final = (*DELTA, "tool_calls")


OPERATORS: Final = OperatorTable()


def tool_places(stream: Stream) -> list[int]:
    """Places of chunks with a fragment of a tool call."""
    return [n for n in chunk_places(stream) if stream.list_at(n, *TOOLS)]


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


def _chunks_with(*path: str | int) -> Sites:
    return lambda stream: [n for n in chunk_places(stream) if stream.value_at(n, *path) is not None]


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


def _lacks_key(name: str, says: str, sites: Sites, path: Path) -> None:
    OPERATORS.add(f"N10-no-{name}", says, most=1)(sites, drop_value(*path))


OPERATORS.add("U5-no-usage", "Usage that was asked for is lost.")(_requested_usage, _drop_usage)
OPERATORS.add(
    "U5-less-usage",
    "Usage that nobody asked for is lost.",
    "either",
    reason="nobody asked for usage, so a stream without it is a good stream",
)(_unrequested_usage, _drop_usage)
_lacks_key("id", "A chunk has no id.", _chunks_with("id"), ("id",))
_lacks_key("model", "A chunk has no model.", _chunks_with("model"), ("model",))
_lacks_key("created", "A chunk has no time stamp.", _chunks_with("created"), ("created",))
_lacks_key("delta", "A choice has no delta.", message_places, DELTA)
_lacks_key("object", "A chunk does not say what it is.", _streamed_objects, ("object",))
_lacks_key("finish-key", "A choice has no finish_reason, not even null.", _with_finish_key, FINISH)
OPERATORS.add("N11-other-object", "A chunk calls itself a completion.", most=1)(
    _streamed_objects, set_value("chat.completion", "object")
)
OPERATORS.add("I4-chunk-id-off", "One chunk has another id.")(
    later_with("id"), prolong_text("x", "id")
)
OPERATORS.add("I7-created-off", "One chunk has another time stamp.")(
    _later_stamps, raise_value("created", change=60)
)
OPERATORS.add("I8-no-choice-index", "A choice has no index.")(
    plain_places, drop_value(*CHOICE, "index")
)
OPERATORS.add("U6-usage-first", "Usage comes before the finish.")(
    _usage_alone, lambda stream, site: stream.move(site, plain_places(stream)[0] + 1)
)
