"""Operators on usage, finish reasons and terminators."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import cut_at, put_at, value_at
from conformance.mutate.chunks import (
    CHOICE,
    finishes,
    plain,
    said,
    usages,
    with_choice,
    without_choices,
)
from conformance.mutate.lifecycle import terminal
from conformance.mutate.operator import Operator
from conformance.mutate.stream import Stream
from conformance.mutate.texts import CHAT, RESPONSES, deltas

_C: Final = (CHAT,)
_R: Final = (RESPONSES,)
_REASON: Final = (*CHOICE, "finish_reason")


def _ended(stream: Stream) -> list[int]:
    """The last event before the terminator, where the stream came to its end."""
    last = terminal(stream) or finishes(stream)
    return last[-1:] if not stream.is_body else []


def _done(stream: Stream) -> list[int]:
    return stream.sentinels()[-1:]


def _drop(stream: Stream, site: int) -> Stream:
    return stream.dropped(site)


def _done_again(stream: Stream, site: int) -> Stream:
    return stream.inserted(site + 1, stream.pieces[site])


def _done_added(stream: Stream, site: int) -> Stream | None:
    if stream.sentinels():
        return None
    return stream.inserted(len(stream.pieces), stream.pieces[site].sentinel())


def _streamed(stream: Stream) -> list[int]:
    return [] if stream.is_body else finishes(stream)[-1:]


def _finish_again(stream: Stream, site: int) -> Stream:
    payload = cut_at(stream.pieces[site].payload, ("usage",))
    again = put_at(
        put_at(payload, (*CHOICE, "delta"), _role_of(payload)), _REASON, value_at(payload, *_REASON)
    )
    return stream.inserted(site + 1, stream.pieces[site].saying(again))


def _role_of(payload: Any) -> dict[str, Any]:
    role = value_at(payload, *CHOICE, "delta", "role")
    return {"role": role} if role else {}


def _no_finish(stream: Stream, _site: int) -> Stream:
    for place in finishes(stream):
        payload = stream.pieces[place].payload
        stream = stream.changed(place, put_at(payload, _REASON, None))
    return stream


def _no_usage(stream: Stream, _site: int) -> Stream:
    for place in reversed(usages(stream)):
        payload = cut_at(stream.pieces[place].payload, ("usage",))
        empty = not value_at(payload, "choices")
        stream = stream.dropped(place) if empty else stream.changed(place, payload)
    return stream


def _asked_for_usage(stream: Stream) -> list[int]:
    request = stream.exchange.request
    asked = value_at(request.json if request else None, "stream_options", "include_usage") is True
    return usages(stream)[:1] if asked else []


def _unasked_usage(stream: Stream) -> list[int]:
    return [] if _asked_for_usage(stream) or stream.is_body else usages(stream)[:1]


def _closed_with_usage(stream: Stream) -> list[int]:
    return [
        n
        for n in stream.typed("response.completed", "response.incomplete")
        if stream.value_at(n, "response", "usage")
    ]


def _response_without_usage(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, put_at(payload, ("response", "usage"), None))


def _early_usage(stream: Stream) -> list[int]:
    """Usage in a chunk of its own after the finish."""
    ends = finishes(stream)
    found = [n for n in usages(stream) if not stream.value_at(n, "choices")]
    return [n for n in found if ends and plain(stream) and n > ends[0]]


def _usage_first(stream: Stream, site: int) -> Stream:
    return stream.moved(site, plain(stream)[0] + 1)


def _counts(stream: Stream) -> list[int]:
    """Events with usage that counts reasoning tokens beside streamed thinking."""
    if not deltas(stream, "thinking"):
        return []
    return [n for n, piece in stream.events() if _detail_way(piece.payload)]


def _detail_way(payload: Any) -> tuple[str, ...] | None:
    ways: tuple[tuple[str, ...], ...] = (
        ("usage", "completion_tokens_details", "reasoning_tokens"),
        ("usage", "reasoning_tokens"),
        ("response", "usage", "output_tokens_details", "reasoning_tokens"),
    )
    return next((way for way in ways if value_at(payload, *way)), None)


def _counted(change: int | None) -> Any:
    def edit(stream: Stream, site: int) -> Stream:
        payload = stream.pieces[site].payload
        way = _detail_way(payload)
        assert way is not None
        tokens = 0 if change is None else value_at(payload, *way) + change
        return stream.changed(site, put_at(payload, way, tokens))

    return edit


def _delta_like(stream: Stream) -> list[int]:
    """The last event, where a stream of deltas can be followed by one more."""
    return [len(stream.pieces)] if deltas(stream) and _ended(stream) else []


def _after_the_end(stream: Stream, site: int) -> Stream:
    return stream.inserted(site, stream.pieces[deltas(stream)[-1].place])


def _status(stream: Stream) -> list[int]:
    found = terminal(stream)
    return [n for n in found if stream.text_at(n, "response", "status")]


def _in_progress(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, put_at(payload, ("response", "status"), "in_progress"))


def _reasons(stream: Stream) -> list[int]:
    return [] if stream.is_body else finishes(stream)


def _unknown_reason(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, put_at(payload, _REASON, "eos_token"))


def _empty_after(stream: Stream, site: int) -> Stream:
    return stream.inserted(site + 1, without_choices(stream, site))


def _empty_before(stream: Stream, site: int) -> Stream:
    return stream.inserted(site, without_choices(stream, site))


def _padding(stream: Stream, site: int) -> Stream:
    return stream.inserted(site, said(stream, site, {}))


OUTCOME: Final = (
    Operator("U1-done-twice", "The [DONE] line comes twice.", _done, _done_again),
    Operator("U1-done-added", "A [DONE] line follows the closing event.", _ended, _done_added, _R),
    Operator("U2-no-done", "The [DONE] line is lost.", _done, _drop),
    Operator("U3-finish-twice", "A choice finishes twice.", _streamed, _finish_again, _C),
    Operator("U4-no-finish", "A choice does not finish.", _streamed, _no_finish, _C),
    Operator("U5-no-usage", "Usage that was asked for is lost.", _asked_for_usage, _no_usage, _C),
    Operator(
        "U5-less-usage",
        "Usage that nobody asked for is lost.",
        _unasked_usage,
        _no_usage,
        _C,
        must="either",
        reason="nobody asked for usage, so a stream without it is a good stream",
    ),
    Operator(
        "U5-response-without-usage",
        "The closing response has no usage.",
        _closed_with_usage,
        _response_without_usage,
        _R,
    ),
    Operator("U6-usage-first", "Usage comes before the finish.", _early_usage, _usage_first, _C),
    Operator(
        "U7-thinking-not-counted", "Usage counts no reasoning tokens.", _counts, _counted(None)
    ),
    Operator(
        "U7-thinking-overcounted",
        "Usage counts more reasoning than output tokens.",
        _counts,
        _counted(100_000),
    ),
    Operator("U8-after-the-end", "A delta comes after the end.", _delta_like, _after_the_end),
    Operator(
        "U9-misstated-status",
        "The closing response says it is in progress.",
        _status,
        _in_progress,
        _R,
    ),
    Operator(
        "U10-unknown-reason", "The finish reason is no known one.", _reasons, _unknown_reason, _C
    ),
    Operator(
        "U11-empty-choices-before",
        "A chunk without choices comes before the finish.",
        lambda s: plain(s)[1:],
        _empty_before,
        _C,
    ),
    Operator(
        "U11-empty-choices-after",
        "A chunk without choices comes after the finish.",
        _streamed,
        _empty_after,
        _C,
        must="pass",
    ),
    Operator(
        "U12-empty-delta",
        "A chunk with an empty delta comes in between.",
        lambda s: [n for n in plain(s) if n > min(with_choice(s))],
        _padding,
        _C,
        must="pass",
    ),
)
