"""Operators on markers: in visible text, around marked thinking, and inside thinking."""

from __future__ import annotations

from typing import Final

from conformance.editing.chunks import message_places, plain_places
from conformance.editing.deltas import (
    find_deltas,
    joined_text,
    replace_strings,
    restate_delta,
    restate_in_parts,
    rewrite_deltas,
)
from conformance.editing.layout import Delta, TextKind
from conformance.editing.operator import Edit, OperatorTable
from conformance.editing.stream import Stream

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


MARKERS: Final = OperatorTable()


def _is_marked(stream: Stream) -> bool:
    return joined_text(stream, "text").lstrip().startswith(_OPEN)


def _unmarked_texts(stream: Stream) -> list[int]:
    """Numbers of the text deltas of a stream that does not mark its thinking."""
    return [] if _is_marked(stream) else list(range(len(find_deltas(stream, "text"))))


def _thinking_deltas(stream: Stream) -> list[int]:
    return list(range(len(find_deltas(stream, "thinking"))))


def _add_around(kind: TextKind, before: str, after: str) -> Edit:
    """Text around one delta of a kind, stated everywhere."""

    def edit(stream: Stream, site: int) -> Stream:
        delta = find_deltas(stream, kind)[site]
        return restate_delta(stream, delta, f"{before}{delta.text}{after}")

    return edit


@MARKERS.edit("B1-split-marker", _unmarked_texts)
def _leak_in_two(stream: Stream, site: int) -> Stream | None:
    """A marker leaks, cut in two."""
    delta = find_deltas(stream, "text")[site]
    if stream.is_body or delta.place in _single_chunks(stream):
        return None
    # The marker is cut at a place that depends on the site.
    cut = 1 + site % (len(_OPEN) - 1)
    return restate_in_parts(stream, delta, _OPEN[:cut], _OPEN[cut:] + delta.text)


def _single_chunks(stream: Stream) -> set[int]:
    """Chunks that cannot be sent twice: they carry the role or finish."""
    found = message_places(stream)
    return {*found} - {*plain_places(stream)} | {*found[:1]}


def _marked_stream(stream: Stream) -> list[int]:
    return [0] if _is_marked(stream) else []


def _answered_stream(stream: Stream) -> list[int]:
    """Streams with marked thinking and text after it."""
    text = joined_text(stream, "text")
    return [0] if _is_marked(stream) and text.partition(_CLOSE)[2] else []


def _respell_marker(stream: Stream, marker: str, new: str) -> Stream | None:
    """Another spelling, or nothing, in place of the marker, wherever the deltas cut it."""
    texts = find_deltas(stream, "text")
    start = "".join(each.text for each in texts).find(marker)
    if start < 0:
        return None
    stop, at, edits = start + len(marker), 0, list[tuple[Delta, str]]()
    for each in texts:
        end = at + len(each.text)
        if at < stop and start < end:
            left, right = each.text[: max(0, start - at)], each.text[max(0, stop - at) :]
            edits.append((each, left + (new if at <= start < end else "") + right))
        at = end
    return rewrite_deltas(stream, edits)


def _add_to_marker(new: str) -> Edit:
    """More around the open marker, wherever the text is stated."""

    def edit(stream: Stream, _site: int) -> Stream | None:
        edited = _respell_marker(stream, _OPEN, new)
        if edited is None:
            return None
        whole, changed = joined_text(stream, "text"), joined_text(edited, "text")
        for place, piece in stream.events():
            if edited.pieces[place] == piece:
                again = replace_strings(piece.payload, whole, changed)
                edited = edited if again == piece.payload else edited.with_payload(place, again)
        return edited

    return edit


def _remove_marker(marker: str) -> Edit:
    return lambda stream, _site: _respell_marker(stream, marker, "")


@MARKERS.edit(
    "B10-no-markers",
    _marked_stream,
    "either",
    "thinking without its markers is text, and nothing on the wire says otherwise",
)
def _drop_both(stream: Stream, _site: int) -> Stream | None:
    """Both markers were removed from marked thinking."""
    opened = _respell_marker(stream, _OPEN, "")
    return _respell_marker(opened, _CLOSE, "") if opened is not None else None


@MARKERS.edit("B8-second-block", _answered_stream)
def _append_block(stream: Stream, _site: int) -> Stream:
    """More marked thinking follows the text."""
    last = find_deltas(stream, "text")[-1]
    return rewrite_deltas(stream, [(last, f"{last.text}<think>Let me add this.</think> Done.")])


@MARKERS.edit("B11-marker-in-thinking", _thinking_deltas, "pass")
def _spell_in_thinking(stream: Stream, site: int) -> Stream:
    """The thinking speaks of a marker."""
    delta = find_deltas(stream, "thinking")[site]
    return restate_delta(stream, delta, f"{delta.text} The tag is spelled {_OPEN}.")


for _name, _says, _before, _after in (
    ("B2-pair-in-text", "A pair of markers leaks.", "<think>hm</think>", ""),
    ("B3-glued-marker", "A marker leaks, glued to text.", "", _CLOSE),
    ("B4-other-family", "Markers of another family leak.", "[THINK]", ""),
    ("B5-channel-header", "A channel header leaks.", "<|channel|>final", ""),
    ("B13-call-markup", "A tool call is left in the text.", "", '<tool_call>{"name":"look"}'),
    ("B16-terminator", "What ends a message is left in the text.", "", "<|close|>message<|sep|>"),
    (
        "B17-bare-channel",
        "Names of channels are left in the text.",
        "",
        "assistantfinal",
    ),
):
    MARKERS.add(_name, _says)(_unmarked_texts, _add_around("text", _before, _after))
MARKERS.add("B12-open-marker-in-thinking", "The thinking begins with its marker.")(
    lambda stream: _thinking_deltas(stream)[:1], _add_around("thinking", f"{_OPEN}\n", "")
)
MARKERS.add("B14-call-in-thinking", "A call is left in the thinking.")(
    _thinking_deltas, _add_around("thinking", "", '\n<tool_call>\n{"name":"look"}\n</tool_call>')
)
MARKERS.add("B15-opening-word", "The name of the channel opens the text.")(
    lambda stream: _unmarked_texts(stream)[:1], _add_around("text", "thought\n", "")
)
MARKERS.add("B12-close-marker-in-thinking", "The thinking ends with its marker.")(
    lambda stream: _thinking_deltas(stream)[-1:], _add_around("thinking", "", f"\n{_CLOSE}\n\n")
)
MARKERS.add("B6-no-open-marker", "Marked thinking lost its open marker.")(
    _marked_stream, _remove_marker(_OPEN)
)
MARKERS.add("B7-no-close-marker", "Marked thinking lost its close marker.")(
    _marked_stream, _remove_marker(_CLOSE)
)
MARKERS.add("B9-empty-block", "Marked thinking is preceded by an empty pair of markers.", "pass")(
    _marked_stream, _add_to_marker("<think></think>\n<think>")
)
MARKERS.add("B9-white-space", "White space surrounds the markers.", "pass")(
    _marked_stream, _add_to_marker("\n <think>\n")
)
