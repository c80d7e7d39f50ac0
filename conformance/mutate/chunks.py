"""Operators on chunks: pieces of one message, whose whole no event states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.core.json_values import cut_at, put_at
from conformance.editing.chunks import (
    chunk_layout,
    finish_places,
    message_at,
    message_places,
    plain_places,
    repeats_role,
    usage_places,
    write_chunk,
)
from conformance.editing.deltas import delta_places, find_deltas, joined_text
from conformance.editing.edits import double_piece, double_stream, drop_piece
from conformance.editing.layout import Delta, TextKind
from conformance.editing.operator import Edit, OperatorTable
from conformance.editing.stream import Stream
from conformance.mutate.texts import ENOUGH, long_runs, make_cumulative

_NO_WHOLE: Final = "no chunk states the whole text, so this is another good stream"


CHUNKS: Final = OperatorTable()


def _only_deltas(stream: Stream, kind: TextKind) -> list[Delta]:
    """Deltas of a kind in chunks that hold no text of another kind, no role and no end."""
    every, free = find_deltas(stream), set(plain_places(stream))
    if not repeats_role(stream):
        free -= {n for n in free if message_at(stream, n, "role")}
    kinds: dict[int, set[str]] = {}
    for each in every:
        kinds.setdefault(each.place, set()).add(each.kind)
    return [each for each in every if kinds[each.place] == {kind} and each.place in free]


def _text_chunks(stream: Stream) -> list[int]:
    kinds: tuple[TextKind, ...] = ("thinking", "text")
    return [each.place for kind in kinds for each in _only_deltas(stream, kind)]


def _first_role(stream: Stream) -> list[int]:
    return [n for n in message_places(stream) if message_at(stream, n, "role")][:1]


@CHUNKS.edit("X1-no-role", _first_role)
def _drop_roles(stream: Stream, _site: int) -> Stream:
    """No chunk has the role."""
    for place in message_places(stream):
        stream = stream.without_value(place, (*chunk_layout(stream).message, "role"))
    return stream


@CHUNKS.edit("X1-role-late", _first_role)
def _delay_role(stream: Stream, site: int) -> Stream | None:
    """The role comes after the first text."""
    following = next((n for n in _text_chunks(stream) if n > site), None)
    if following is None or site in delta_places(stream) or repeats_role(stream):
        return None
    return stream.move(site, following + 1)


@CHUNKS.edit("X3-role-again", _text_chunks)
def _repeat_role(stream: Stream, site: int) -> Stream:
    """A later chunk repeats the role."""
    return stream.with_value(site, (*chunk_layout(stream).message, "role"), "assistant")


def _long_runs(stream: Stream) -> list[int]:
    return long_runs(stream) if stream.layout.chunk else []


def _freely_empty(places: Callable[[Stream], list[int]]) -> Callable[[Stream], list[int]]:
    """Places in streams where an absent text may be null, as empty or left out."""

    def found(stream: Stream) -> list[int]:
        layout = stream.layout.chunk
        return places(stream) if layout and layout.free_empty_texts else []

    return found


@CHUNKS.edit("X10-flip-flop", _freely_empty(_text_chunks), "pass", most=1)
def _add_empty_texts(stream: Stream, _site: int) -> Stream:
    """Each chunk has an empty text of the other kind."""
    layout = chunk_layout(stream)
    for each in (*_only_deltas(stream, "thinking"), *_only_deltas(stream, "text")):
        key = layout.text if each.kind == "thinking" else layout.thinking[0]
        if message_at(stream, each.place, key) is None:
            stream = stream.with_value(each.place, (*layout.message, key), "")
    return stream


def _thinking_boundaries(stream: Stream) -> list[int]:
    """Places of the first text after thinking, where thinking is right before it."""
    thoughts = {(each.place + 1, each.choice) for each in _only_deltas(stream, "thinking")}
    texts = _only_deltas(stream, "text")
    return [each.place for each in texts if (each.place, each.choice) in thoughts]


def _separate_boundaries(stream: Stream) -> list[int]:
    """As `_thinking_boundaries`, where thinking has a separate field."""
    return [n for n in _thinking_boundaries(stream) if _thinking_key(stream, n - 1)]


def _thinking_key(stream: Stream, place: int) -> str:
    """The key whose string is the thinking of a chunk; empty where there is none."""
    message = message_at(stream, place) or {}
    found = (key for key in chunk_layout(stream).thinking if isinstance(message.get(key), str))
    return next((key for key in found if message[key]), "")


@CHUNKS.edit("X11-combined", _separate_boundaries)
def _combine_chunks(stream: Stream, site: int) -> Stream:
    """The last thinking and the first text share a chunk."""
    layout = chunk_layout(stream)
    text = message_at(stream, site, layout.text)
    message = {**message_at(stream, site - 1), layout.text: text}
    return stream.with_value(site, layout.message, message).without(site - 1)


def _add_after_finish(kind: TextKind, text: str) -> Edit:
    def edit(stream: Stream, site: int) -> Stream:
        layout = chunk_layout(stream)
        path = next((each.paths[0] for each in find_deltas(stream, kind)), ())
        key = path[-1] if len(path) == len(layout.message) + 1 else layout.text
        return stream.insert(site + 1, write_chunk(stream, site, {str(key): text}))

    return edit


def _last_finish(stream: Stream) -> list[int]:
    return finish_places(stream)[-1:]


def _speaking_finish(stream: Stream) -> list[int]:
    """The last finish of a stream that says something."""
    return _last_finish(stream) if find_deltas(stream, "text", "thinking") else []


def _has_thinking(stream: Stream) -> list[int]:
    return [0] if _only_deltas(stream, "thinking") else []


@CHUNKS.edit(
    "X14-no-thinking",
    _has_thinking,
    "either",
    "a model may answer without thinking; a scenario that asks for it says more",
)
def _drop_thinking(stream: Stream, _site: int) -> Stream:
    """All thinking is lost."""
    return stream.without(*(each.place for each in _only_deltas(stream, "thinking")))


def _repeat_finish(stream: Stream, site: int) -> Stream:
    layout = chunk_layout(stream)
    role = message_at(stream, site, "role")
    payload = cut_at(stream.pieces[site].payload, layout.usage)
    again = put_at(payload, layout.message, {"role": role} if role else {})
    return stream.insert(site + 1, stream.pieces[site].with_payload(again))


@CHUNKS.edit("U3-finish-otherwise", _last_finish)
def _finish_otherwise(stream: Stream, site: int) -> Stream:
    """A choice finishes once more, for another reason."""
    again, path = _repeat_finish(stream, site), chunk_layout(stream).finish
    other = "stop" if stream.value_at(site, *path) == "length" else "length"
    return again.with_value(site + 1, path, other)


@CHUNKS.edit("U4-no-finish", _last_finish)
def _drop_finishes(stream: Stream, _site: int) -> Stream:
    """A choice does not finish."""
    for place in finish_places(stream):
        stream = stream.with_value(place, chunk_layout(stream).finish, None)
    return stream


@CHUNKS.edit("U10-unknown-reason", finish_places)
def _misname_reason(stream: Stream, site: int) -> Stream:
    """The finish reason is no known one."""
    return stream.with_value(site, chunk_layout(stream).finish, "eos_token")


def _counted_answer(stream: Stream) -> list[int]:
    """The last chunk that counts tokens, of an answer that has text."""
    return usage_places(stream)[-1:] if find_deltas(stream) else []


@CHUNKS.edit("U13-nothing-counted", _counted_answer)
def _count_nothing(stream: Stream, site: int) -> Stream:
    """Usage counts nothing."""
    path = chunk_layout(stream).usage
    counts = stream.value_at(site, *path)
    nothing = (
        {key: 0 if isinstance(n, int) else n for key, n in counts.items()}
        if isinstance(counts, dict)
        else 0
    )
    return stream.with_value(site, path, nothing)


def _later_chunks(stream: Stream) -> list[int]:
    return [n for n in plain_places(stream) if n > min(message_places(stream))]


def _only_thinking(stream: Stream) -> list[int]:
    is_enough = len(joined_text(stream, "thinking")) >= ENOUGH and not find_deltas(stream, "text")
    return finish_places(stream)[:1] if is_enough else []


@CHUNKS.edit("E2-cut-thinking-as-text", _only_thinking)
def _send_as_text(stream: Stream, site: int) -> Stream:
    """Thinking that was cut off is sent again as text."""
    message = {chunk_layout(stream).text: joined_text(stream, "thinking")}
    return stream.insert(site, write_chunk(stream, site, message))


def _thinking_chunks(stream: Stream) -> list[int]:
    """Chunks whose thinking is in a separate field."""
    return [n for n in message_places(stream) if _thinking_key(stream, n)]


@CHUNKS.edit(
    "N2-renamed-field",
    lambda stream: _thinking_chunks(stream)[:1],
    "either",
    "an unknown field says nothing, and a model may answer without thinking",
)
def _rename_thinking(stream: Stream, _site: int) -> Stream:
    """Thinking is in an unknown field."""
    for place in _thinking_chunks(stream):
        known = _thinking_key(stream, place)
        message = message_at(stream, place)
        renamed = {("thoughts" if key == known else key): message[key] for key in message}
        stream = stream.with_value(place, chunk_layout(stream).message, renamed)
    return stream


def _textless_chunks(stream: Stream) -> list[int]:
    """Chunks whose text is absent, null or empty, and which say something else."""
    found = [n for n in plain_places(stream) if message_at(stream, n)]
    return [n for n in found if not message_at(stream, n, chunk_layout(stream).text)]


def _with_text_key(stream: Stream) -> list[int]:
    key = chunk_layout(stream).text if stream.layout.chunk else ""
    return [n for n in _textless_chunks(stream) if key in message_at(stream, n)]


def _spell_no_text(value: str | None) -> Edit:
    """Another way to say that a chunk has no visible text."""

    def edit(stream: Stream, site: int) -> Stream:
        layout = chunk_layout(stream)
        return stream.with_value(site, (*layout.message, layout.text), value)

    return edit


@CHUNKS.edit("N3-content-absent", _freely_empty(_with_text_key), "pass")
def _drop_text_key(stream: Stream, site: int) -> Stream:
    """Content is left out where there is none."""
    layout = chunk_layout(stream)
    return stream.without_value(site, (*layout.message, layout.text))


def _visible_chunks(stream: Stream) -> list[int]:
    return delta_places(stream, "text") if stream.layout.chunk else []


def _mistype_text(stream: Stream, site: int) -> Stream:
    layout = chunk_layout(stream)
    key = _thinking_key(stream, site) or layout.text
    return stream.with_value(site, (*layout.message, key), 7)


CHUNKS.add("U3-finish-twice", "A choice finishes twice.")(_last_finish, _repeat_finish)
CHUNKS.add("X5-text-after-finish", "Text comes after the finish.")(
    _speaking_finish, _add_after_finish("text", "More.")
)
CHUNKS.add("X5-thinking-after-finish", "Thinking comes after the finish.")(
    _speaking_finish, _add_after_finish("thinking", "Hm.")
)
CHUNKS.add(
    "X6-doubled-chunk", "A chunk with text or thinking is sent twice.", "either", reason=_NO_WHOLE
)(_text_chunks, double_piece)
CHUNKS.add("X14-lost-chunk", "A chunk with text or thinking is lost.", "either", _NO_WHOLE)(
    _text_chunks, drop_piece
)
CHUNKS.add("X7-running-total", "Deltas repeat the whole text so far.")(_long_runs, make_cumulative)
CHUNKS.add("X8-two-streams", "The stream is sent twice.")(_first_role, double_stream)
CHUNKS.add("N3-content-null", "Content is null where there is none.", "pass")(
    _freely_empty(_textless_chunks), _spell_no_text(None)
)
CHUNKS.add("N3-content-empty", "Content is empty where there is none.", "pass")(
    _textless_chunks, _spell_no_text("")
)
CHUNKS.add("N9-text-is-number", "A text of a delta is a number.")(_thinking_chunks, _mistype_text)
CHUNKS.add("N9-content-is-number", "The content of a delta is a number.")(
    _visible_chunks, _mistype_text
)
CHUNKS.add("X15-thinking-after-text", "Thinking comes after the first text.")(
    _thinking_boundaries, lambda stream, site: stream.move(site - 1, site + 1)
)
CHUNKS.add("U12-empty-delta", "A chunk with an empty delta comes in between.", "pass")(
    _later_chunks, lambda stream, site: stream.insert(site, write_chunk(stream, site, {}))
)
