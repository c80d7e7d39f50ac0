"""Mutation of `vercel.ui`: where its parts hold what, operators on starts, ends, ids and steps."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import value_at
from conformance.dialects.vercel_ui.wire_keys import PARTS
from conformance.editing.edits import first_of, places_of, set_value, with_upstream
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_LONG_TRY: Final = 16  # characters from which on no model says so again

OPERATORS: Final = OperatorTable()


def _error_part(message: str, _code: str) -> dict[str, Any]:
    return {"type": "error", "errorText": message}


_LAYOUT: Final = PARTS.layout(
    error=_error_part,
    error_ends=False,
    text_keys=("id", "toolCallId"),
    sentinel="[DONE]",
    refuses=frozenset({"ping"}),
)


def _ends_in_step(stream: Stream) -> list[int]:
    """Ends of reasoning after which a text or a call begins in the same step."""
    found = []
    for place in stream.typed("reasoning-end"):
        closing = next((n for n in stream.typed("finish-step") if n > place), place)
        if any(place < n < closing for n in stream.typed("text-start", "tool-input-start")):
            found.append(place)
    return found


@OPERATORS.edit("X19-late-end", _ends_in_step)
def _end_with_step(stream: Stream, site: int) -> Stream:
    """Reasoning ends when the step is over, after text and calls."""
    closing = next(n for n in stream.typed("finish-step") if n > site)
    return stream.move(site, closing - 1)


@OPERATORS.edit("E1-error-only", places_of("reasoning-delta", "text-delta"))
def _end_with_error(stream: Stream, site: int) -> Stream:
    """The stream ends with an error, and says no more."""
    error = stream.pieces[site].with_payload(_error_part("An error occurred.", ""))
    return stream.with_pieces([*stream.pieces[:site], error])


@OPERATORS.edit("N11-step-repeated", with_upstream(first_of(places_of("finish-step"))))
def _repeat_step(stream: Stream, site: int) -> Stream:
    """A step is sent twice, with ids of its own."""
    begun = stream.typed("start-step")[0]
    again = [_renamed(piece) for piece in stream.pieces[begun : site + 1]]
    pieces = stream.pieces
    return stream.with_pieces([*pieces[: site + 1], *again, *pieces[site + 1 :]])


@OPERATORS.edit("X27-try-left", first_of(places_of("text-start", "reasoning-start")))
def _leave_try(stream: Stream, site: int) -> Stream | None:
    """The text of a try that broke off stays next to the next try, in a separate step."""
    begun = stream.pieces[site]
    kind = begun.type.removesuffix("-start")
    streamed = "".join(
        stream.text_at(n, "delta")
        for n in stream.typed(f"{kind}-delta")
        if stream.value_at(n, "id") == stream.value_at(site, "id")
    )
    cut = streamed[: len(streamed) * 2 // 3].rsplit(" ", 1)[0]
    steps = stream.typed("start-step")
    if len(cut) < _LONG_TRY or not cut[-1].isalnum() or not steps or steps[-1] > site:
        return None
    named = {"id": "try"}
    pieces = [
        {"type": f"{kind}-start", **named},
        {"type": f"{kind}-delta", **named, "delta": f"{cut} "},
        {"type": f"{kind}-end", **named},
        {"type": "finish-step"},
        {"type": "start-step"},
    ]
    left = [begun.with_payload(each) for each in pieces]
    return stream.with_pieces([*stream.pieces[:site], *left, *stream.pieces[site:]])


def _renamed(piece: Piece) -> Piece:
    payload = piece.payload
    keys = [key for key in ("id", "toolCallId") if value_at(payload, key) is not None]
    return piece.with_payload({**payload, **{key: f"{payload[key]}-again" for key in keys}})


@OPERATORS.edit("E6-failure-as-success", with_upstream(places_of("error")))
def _sell_as_success(stream: Stream, site: int) -> Stream:
    """What broke off upstream ends as a success."""
    shortened = stream.with_pieces([*stream.pieces[:site], *stream.pieces[site + 1 :]])
    (finish,) = shortened.typed("finish")
    return shortened.with_value(finish, ("finishReason",), "stop")


for _name, _text in (
    ("E9-stack-shown", "refused at post (/srv/chat/index.js:10:2)"),
    ("E9-path-shown", "cannot read /home/chat/settings.json"),
    ("E9-address-shown", "cannot reach http://10.0.0.7:8000/v1/messages"),
    ("E9-prompt-shown", 'refused: {"system": "You help."}'),
):
    OPERATORS.add(_name, "An error shows what is nobody's business.")(
        places_of("error"), set_value(_text, "errorText")
    )

MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__, globals())))
