"""Operators on blocks, signatures and outcomes of `anthropic.messages`."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import cut_at, put_at, text_at, value_at
from conformance.mutate.operator import Edit, Operator, Sites
from conformance.mutate.stream import Stream
from conformance.mutate.texts import MESSAGES, deltas

_ONLY: Final = (MESSAGES,)
_START: Final = "content_block_start"
_DELTA: Final = "content_block_delta"
_STOP: Final = "content_block_stop"
_SIGNATURE: Final = "signature_delta"


def _typed(*types: str) -> Sites:
    return lambda stream: stream.typed(*types)


def _signatures(stream: Stream) -> list[int]:
    found = stream.typed(_DELTA)
    return [n for n in found if stream.value_at(n, "delta", "type") == _SIGNATURE]


def _drop(stream: Stream, site: int) -> Stream:
    return stream.dropped(site)


def _twice(stream: Stream, site: int) -> Stream:
    return stream.inserted(site + 1, stream.pieces[site])


def _thought_before(stream: Stream) -> list[int]:
    """Signatures that a delta of thinking stands right before."""
    thoughts = {each.place for each in deltas(stream, "thinking")}
    return [n for n in _signatures(stream) if n - 1 in thoughts]


def _early(stream: Stream, site: int) -> Stream:
    return stream.moved(site, site - 1)


def _text_blocks(stream: Stream) -> list[int]:
    found = [each.place for each in deltas(stream, "text")]
    return found[:1] if _signatures(stream) else []


def _in_text(stream: Stream, site: int) -> Stream:
    """A signature comes in a block of text."""
    signature = stream.pieces[_signatures(stream)[0]].payload["delta"]
    payload = {**stream.pieces[site].payload, "delta": signature}
    return stream.inserted(site + 1, stream.pieces[site].saying(payload))


def _in_other(kind: str, field: str) -> Edit:
    """A delta of another kind than its block."""

    def edit(stream: Stream, site: int) -> Stream:
        payload = stream.pieces[site].payload
        return stream.changed(site, {**payload, "delta": {"type": kind, field: "Hm."}})

    return edit


def _places(kind: Any) -> Sites:
    return lambda stream: [each.place for each in deltas(stream, kind)]


def _index_off(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, {**payload, "index": payload["index"] + 1})


def _later(stream: Stream) -> list[int]:
    return stream.typed(_START)[1:]


def _index_reused(stream: Stream, site: int) -> Stream:
    index = stream.value_at(site, "index")
    for place in stream.typed(_START, _DELTA, _STOP):
        payload = stream.pieces[place].payload
        if place >= site and payload.get("index") == index:
            stream = stream.changed(place, {**payload, "index": 0})
    return stream


def _without(*path: str) -> Edit:
    return lambda stream, site: stream.changed(site, cut_at(stream.pieces[site].payload, path))


def _having(*path: str) -> Sites:
    return lambda stream: [n for n, p in stream.events() if value_at(p.payload, *path) is not None]


def _prefill(stream: Stream, site: int) -> Stream:
    """The block is announced with its first delta's text."""
    payload = stream.pieces[site].payload
    kind = text_at(payload, "content_block", "type")
    return stream.changed(site, put_at(payload, ("content_block", kind), "Hm, "))


def _starts_of(*kinds: str) -> Sites:
    def sites(stream: Stream) -> list[int]:
        found = stream.typed(_START)
        return [n for n in found if stream.value_at(n, "content_block", "type") in kinds]

    return sites


def _ended_late(stream: Stream) -> list[int]:
    """Ends of blocks that another block follows."""
    starts = stream.typed(_START)
    return [n for n in stream.typed(_STOP) if any(m > n for m in starts)]


def _end_late(stream: Stream, site: int) -> Stream:
    following = next(n for n in stream.typed(_START) if n > site)
    return stream.moved(site, following + 1)


def _reason(value: Any) -> Edit:
    def edit(stream: Stream, site: int) -> Stream:
        payload = stream.pieces[site].payload
        return stream.changed(site, put_at(payload, ("delta", "stop_reason"), value))

    return edit


def _streamed_usage(stream: Stream) -> list[int]:
    return [n for n in stream.typed("message_delta") if stream.value_at(n, "usage")]


def _sentinel(stream: Stream, site: int) -> Stream:
    return stream.inserted(site + 1, stream.pieces[site].sentinel())


_STOPPED: Final = ("delta", "stop_reason")

BLOCKS: Final = (
    Operator(
        "X4-block-overlap", "A block ends after the next one began.", _ended_late, _end_late, _ONLY
    ),
    Operator(
        "X9-prefilled-block",
        "A block is announced with text.",
        _starts_of("thinking", "text"),
        _prefill,
        _ONLY,
    ),
    Operator(
        "X16-other-kind",
        "A delta of text comes in a block of thinking.",
        _places("thinking"),
        _in_other("text_delta", "text"),
        _ONLY,
    ),
    Operator(
        "X16-thinking-in-text",
        "A delta of thinking comes in a block of text.",
        _places("text"),
        _in_other("thinking_delta", "thinking"),
        _ONLY,
    ),
    Operator(
        "I10-block-index-off", "A delta names another block.", _typed(_DELTA), _index_off, _ONLY
    ),
    Operator(
        "I10-block-index-reused",
        "A block takes the index of the first one.",
        _later,
        _index_reused,
        _ONLY,
    ),
    Operator(
        "I10-no-block-index",
        "An event of a block has no index.",
        _typed(_START, _DELTA, _STOP),
        _without("index"),
        _ONLY,
        most=4,
    ),
    Operator("S1-unsigned", "The signature of thinking is lost.", _signatures, _drop, _ONLY),
    Operator("S3-signed-twice", "Thinking is signed twice.", _signatures, _twice, _ONLY),
    Operator(
        "S4-signed-early",
        "The signature comes before the last thinking.",
        _thought_before,
        _early,
        _ONLY,
    ),
    Operator(
        "S2-signature-in-text",
        "A signature comes in a block of text.",
        _text_blocks,
        _in_text,
        _ONLY,
    ),
    Operator(
        "S5-no-redacted-data",
        "Redacted thinking has no data.",
        _starts_of("redacted_thinking"),
        _without("content_block", "data"),
        _ONLY,
    ),
    Operator(
        "U4-no-stop-reason",
        "The message stops for no reason.",
        _having(*_STOPPED),
        _reason(None),
        _ONLY,
    ),
    Operator(
        "U10-unknown-stop-reason",
        "The stop reason is no known one.",
        _having(*_STOPPED),
        _reason("eos"),
        _ONLY,
    ),
    Operator(
        "U5-delta-without-usage",
        "The message's delta has no usage.",
        _streamed_usage,
        _without("usage"),
        _ONLY,
    ),
    Operator(
        "U1-sentinel-added",
        "A [DONE] line follows the message.",
        _typed("message_stop"),
        _sentinel,
        _ONLY,
    ),
    Operator(
        "N10-no-message",
        "The start of a message has no message.",
        _typed("message_start"),
        _without("message"),
        _ONLY,
    ),
    Operator(
        "N10-no-block",
        "The start of a block has no block.",
        _typed(_START),
        _without("content_block"),
        _ONLY,
    ),
    Operator(
        "T5-nameless-use",
        "A tool use has no name.",
        _starts_of("tool_use"),
        _without("content_block", "name"),
        _ONLY,
    ),
)
