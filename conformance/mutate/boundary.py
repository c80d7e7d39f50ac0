"""Operators on boundaries: markers in visible text, and where thinking passes into text."""

from __future__ import annotations

from typing import Final

from conformance.mutate.chunks import plain, with_choice
from conformance.mutate.operator import Edit, Operator
from conformance.mutate.stream import Stream
from conformance.mutate.texts import CHAT, Delta, deltas, joined, rewritten
from conformance.mutate.told import told, told_as

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


def _texts(stream: Stream) -> list[int]:
    """Numbers of the text deltas of a stream that does not mark its thinking."""
    return [] if _is_marked(stream) else list(range(len(deltas(stream, "text"))))


def _is_marked(stream: Stream) -> bool:
    return joined(stream, "text").lstrip().startswith(_OPEN)


def _thoughts(stream: Stream) -> list[int]:
    return list(range(len(deltas(stream, "thinking"))))


def _leak(before: str, after: str = "") -> Edit:
    """Text around one delta of visible text, stated everywhere."""

    def edit(stream: Stream, site: int) -> Stream:
        delta = deltas(stream, "text")[site]
        return told(stream, delta, f"{before}{delta.text}{after}")

    return edit


def _split_marker(stream: Stream, site: int) -> Stream | None:
    """The marker is cut at a place that depends on the site."""
    delta = deltas(stream, "text")[site]
    if delta.place in _heads(stream):
        return None
    cut = 1 + site % (len(_OPEN) - 1)
    return told_as(stream, delta, _OPEN[:cut], _OPEN[cut:] + delta.text)


def _heads(stream: Stream) -> set[int]:
    """Chunks that cannot be sent twice: they carry the role or finish."""
    if stream.dialect != CHAT:
        return set()
    return set(with_choice(stream)) - set(plain(stream)) | {min(with_choice(stream), default=-1)}


def _marked(stream: Stream) -> list[int]:
    return [0] if _is_marked(stream) else []


def _without(marker: str, stream: Stream) -> Stream | None:
    """The marker taken out, wherever the deltas cut it."""
    return _respelled(stream, marker, "")


def _respelled(stream: Stream, marker: str, new: str) -> Stream | None:
    texts = deltas(stream, "text")
    whole = "".join(each.text for each in texts)
    start = whole.find(marker)
    if start < 0:
        return None
    stop, at, edits = start + len(marker), 0, list[tuple[Delta, str]]()
    for each in texts:
        end = at + len(each.text)
        if at < stop and start < end:
            left, right = each.text[: max(0, start - at)], each.text[max(0, stop - at) :]
            edits.append((each, left + (new if at <= start < end else "") + right))
        at = end
    return rewritten(stream, edits)


def _without_both(stream: Stream, _site: int) -> Stream | None:
    opened = _without(_OPEN, stream)
    return _without(_CLOSE, opened) if opened is not None else None


def _appended(text: str) -> Edit:
    def edit(stream: Stream, _site: int) -> Stream:
        last = deltas(stream, "text")[-1]
        return rewritten(stream, [(last, last.text + text)])

    return edit


def _answered(stream: Stream) -> list[int]:
    """Streams with marked thinking and text after it."""
    return [0] if _is_marked(stream) and joined(stream, "text").partition(_CLOSE)[2] else []


def _in_thinking(stream: Stream, site: int) -> Stream:
    delta = deltas(stream, "thinking")[site]
    return told(stream, delta, f"{delta.text} The tag is spelled {_OPEN}.")


BOUNDARY: Final = (
    Operator("B1-split-marker", "A marker leaks, cut in two.", _texts, _split_marker),
    Operator("B2-pair-in-text", "A pair of markers leaks.", _texts, _leak("<think>hm</think>")),
    Operator("B3-glued-marker", "A marker leaks, glued to text.", _texts, _leak("", _CLOSE)),
    Operator("B4-other-family", "Markers of another family leak.", _texts, _leak("[THINK]")),
    Operator("B5-harmony", "A channel header leaks.", _texts, _leak("<|channel|>final")),
    Operator(
        "B6-no-open-marker",
        "Marked thinking lost its open marker.",
        _marked,
        lambda stream, _: _without(_OPEN, stream),
    ),
    Operator(
        "B7-no-close-marker",
        "Marked thinking lost its close marker.",
        _marked,
        lambda stream, _: _without(_CLOSE, stream),
    ),
    Operator(
        "B8-second-block",
        "More marked thinking follows the text.",
        _answered,
        _appended("<think>Let me add this.</think> Done."),
    ),
    Operator(
        "B9-empty-block",
        "Marked thinking is preceded by an empty pair of markers.",
        _marked,
        lambda stream, _: _respelled(stream, _OPEN, "<think></think>\n<think>"),
        must="pass",
    ),
    Operator(
        "B9-white-space",
        "White space surrounds the markers.",
        _marked,
        lambda stream, _: _respelled(stream, _OPEN, "\n <think>\n"),
        must="pass",
    ),
    Operator(
        "B10-no-markers",
        "Both markers were removed from marked thinking.",
        _marked,
        _without_both,
        must="either",
        reason="thinking without its markers is text, and nothing on the wire says otherwise",
    ),
    Operator(
        "B11-marker-in-thinking",
        "The thinking speaks of a marker.",
        _thoughts,
        _in_thinking,
        must="pass",
    ),
)
