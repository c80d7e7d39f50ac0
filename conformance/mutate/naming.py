"""Operators on names and forms of fields, and variations that must stay without a finding."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from conformance.core.json_values import cut_at, put_at, text_at, value_at
from conformance.dialects.openai_chat.fields import STRING_CARRIERS
from conformance.mutate.chunks import CHOICE, DELTA, chunks, plain, repeats_role, with_choice
from conformance.mutate.operator import Operator
from conformance.mutate.stream import Stream
from conformance.mutate.texts import CHAT, RESPONSES, Delta, deltas, rewritten

_C: Final = (CHAT,)
_R: Final = (RESPONSES,)


def _thinking_field(stream: Stream, place: int) -> str:
    delta = stream.value_at(place, *DELTA)
    return next((name for name in STRING_CARRIERS if text_at(delta, name)), "")


def _carried(stream: Stream) -> list[int]:
    """Chunks whose thinking stands in reasoning_content or reasoning."""
    known = ("reasoning_content", "reasoning")
    return [n for n in with_choice(stream) if _thinking_field(stream, n) in known]


def _mirrored(stream: Stream, site: int) -> Stream:
    name = _thinking_field(stream, site)
    other = "reasoning" if name == "reasoning_content" else "reasoning_content"
    payload = stream.pieces[site].payload
    return stream.changed(site, put_at(payload, (*DELTA, other), value_at(payload, *DELTA, name)))


def _renamed(stream: Stream, _site: int) -> Stream:
    for place in _carried(stream):
        payload = stream.pieces[place].payload
        delta = value_at(payload, *DELTA)
        name = _thinking_field(stream, place)
        moved = {("thoughts" if key == name else key): value for key, value in delta.items()}
        stream = stream.changed(place, put_at(payload, DELTA, moved))
    return stream


def _any_carried(stream: Stream) -> list[int]:
    return _carried(stream)[:1]


def _content(value: Any) -> Callable[[Stream, int], Stream]:
    """Another way to say that a chunk has no visible text."""

    def edit(stream: Stream, site: int) -> Stream:
        payload = stream.pieces[site].payload
        path = (*DELTA, "content")
        return stream.changed(site, put_at(payload, path, value))

    return edit


def _without_content(stream: Stream, site: int) -> Stream:
    return stream.changed(site, cut_at(stream.pieces[site].payload, (*DELTA, "content")))


def _no_text(stream: Stream) -> list[int]:
    """Chunks whose content is absent, null or empty, and which say something else."""
    found = [n for n in plain(stream) if not stream.value_at(n, *DELTA, "content")]
    return [n for n in found if stream.value_at(n, *DELTA)]


def _says_no_text(stream: Stream) -> list[int]:
    return [n for n in _no_text(stream) if "content" in stream.value_at(n, *DELTA)]


def _objects(stream: Stream) -> list[int]:
    return [n for n, piece in stream.events() if isinstance(piece.payload, dict)]


def _unknown_key(stream: Stream, site: int) -> Stream:
    payload = {**stream.pieces[site].payload, "x_vendor": {"note": "unknown", "n": 1}}
    if value_at(payload, *DELTA):
        payload = put_at(payload, (*DELTA, "x_vendor"), "unknown")
    return stream.changed(site, payload)


def _events(stream: Stream) -> list[int]:
    """Events between the first and the last one."""
    found = [n for n, piece in stream.events() if piece.kind == "event"]
    return found[1:]


def _inserted(payload: dict[str, Any], name: str = "") -> Callable[[Stream, int], Stream]:
    """An unknown event before another one, written and numbered as it is."""

    def edit(stream: Stream, site: int) -> Stream:
        sample = stream.pieces[site]
        numbered = {} if sample.number is None else {"sequence_number": sample.number}
        new = sample.saying({**payload, **numbered})
        new = new.named(name or new.type) if sample.name or name else new
        return stream.inserted(site, new)

    return edit


def _splittable(stream: Stream) -> list[int]:
    """Numbers of deltas of two characters or more that can be sent in two."""
    every = deltas(stream)
    free = set(plain(stream)) if stream.dialect == CHAT else None
    return [
        n
        for n, each in enumerate(every)
        if len(each.text) > 1
        and _alone(every, each)
        and (free is None or (each.place in free and not _first(stream, each)))
        and not stream.is_body
    ]


def _alone(every: list[Delta], delta: Delta) -> bool:
    return sum(each.place == delta.place for each in every) == 1


def _first(stream: Stream, delta: Delta) -> bool:
    """Whether a chunk does what is done once: give the role, name a call."""
    payload = stream.pieces[delta.place].payload
    has_role = bool(value_at(payload, *DELTA, "role")) and not repeats_role(stream)
    return has_role or bool(value_at(payload, *DELTA, "tool_calls", 0, "id"))


def _split(stream: Stream, site: int) -> Stream:
    delta = deltas(stream)[site]
    half = len(delta.text) // 2
    piece = stream.pieces[delta.place]
    texts = (delta.text[:half], delta.text[half:])
    return stream.swapped(delta.place, *(piece.saying(delta.payload(piece, t)) for t in texts))


def _mergeable(stream: Stream) -> list[int]:
    """Numbers of deltas whose successor differs in its text only, and in what is volatile."""
    every, free = deltas(stream), set(_splittable(stream))
    return [
        n
        for n, (one, two) in enumerate(pairwise(every))
        if {n, n + 1} <= free
        and one.place + 1 == two.place
        and one.group == two.group
        and one.paths == two.paths
        and "<" not in one.text + two.text
    ]


def _merged(stream: Stream, site: int) -> Stream:
    one, two = deltas(stream)[site : site + 2]
    return rewritten(stream, [(one, one.text + two.text)]).dropped(two.place)


def _delta_sites(stream: Stream) -> list[int]:
    return _splittable(stream)


def _empty(stream: Stream, site: int) -> Stream:
    """An empty delta before another one of the same text."""
    delta = deltas(stream)[site]
    piece = stream.pieces[delta.place]
    return stream.inserted(delta.place, piece.saying(delta.payload(piece, "")))


def _typed_wrong(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    name = _thinking_field(stream, site) or "content"
    return stream.changed(site, put_at(payload, (*DELTA, name), 7))


def _without(*path: str | int) -> Callable[[Stream, int], Stream]:
    return lambda stream, site: stream.changed(site, cut_at(stream.pieces[site].payload, path))


def _having(*path: str | int) -> Callable[[Stream], list[int]]:
    return lambda s: [n for n in chunks(s) if s.value_at(n, *path) is not None]


def _key(name: str) -> Callable[[Stream], list[int]]:
    """Streamed choices with the key, whatever it holds."""
    return lambda s: [n for n in with_choice(s) if name in (s.value_at(n, *CHOICE) or {})]


def _other_object(stream: Stream, site: int) -> Stream:
    return stream.changed(site, {**stream.pieces[site].payload, "object": "chat.completion"})


def _streamed(stream: Stream) -> list[int]:
    return [n for n in with_choice(stream) if stream.value_at(n, "object")]


def _raw(stream: Stream) -> list[int]:
    return stream.typed("response.reasoning_text.delta")[:1]


def _raw_renamed(stream: Stream, _site: int) -> Stream:
    for place in stream.typed("response.reasoning_text.delta", "response.reasoning_text.done"):
        piece = stream.pieces[place]
        kind = piece.type.replace("reasoning_text", "reasoning")
        stream = stream.changed(place, {**piece.payload, "type": kind})
    return stream


NAMING: Final = (
    Operator("N1-mirrored", "Thinking stands in two fields.", _carried, _mirrored, _C),
    Operator(
        "N2-renamed-field",
        "Thinking stands in a field that nobody knows.",
        _any_carried,
        _renamed,
        _C,
        must="either",
        reason="an unknown field says nothing, and a model may answer without thinking",
    ),
    Operator(
        "N3-content-null",
        "Content is null where there is none.",
        _no_text,
        _content(None),
        _C,
        must="pass",
    ),
    Operator(
        "N3-content-empty",
        "Content is empty where there is none.",
        _no_text,
        _content(""),
        _C,
        must="pass",
    ),
    Operator(
        "N3-content-absent",
        "Content is left out where there is none.",
        _says_no_text,
        _without_content,
        _C,
        must="pass",
    ),
    Operator(
        "N4-unknown-key",
        "An event has a key that nobody knows.",
        _objects,
        _unknown_key,
        must="pass",
    ),
    Operator(
        "N5-unknown-event",
        "An event of an unknown type comes in between.",
        _events,
        _inserted({"type": "response.vendor_note", "note": "unknown"}),
        _R,
        must="pass",
    ),
    Operator(
        "N5-ping",
        "A ping event comes in between.",
        _events,
        _inserted({"type": "ping"}, "ping"),
        must="pass",
    ),
    Operator("N6-empty-delta", "A delta has no text.", _delta_sites, _empty, must="pass"),
    Operator("N7-split-delta", "A delta comes in two.", _splittable, _split, must="pass"),
    Operator("N8-merged-deltas", "Two deltas come as one.", _mergeable, _merged, must="pass"),
    Operator("N9-text-is-number", "A text of a delta is a number.", _carried, _typed_wrong, _C),
    Operator(
        "N9-content-is-number",
        "The content of a delta is a number.",
        lambda s: [e.place for e in deltas(s, "text")],
        _typed_wrong,
        _C,
    ),
    Operator("N10-no-id", "A chunk has no id.", _having("id"), _without("id"), _C, most=1),
    Operator(
        "N10-no-model", "A chunk has no model.", _having("model"), _without("model"), _C, most=1
    ),
    Operator(
        "N10-no-created",
        "A chunk has no time stamp.",
        _having("created"),
        _without("created"),
        _C,
        most=1,
    ),
    Operator("N10-no-delta", "A choice has no delta.", with_choice, _without(*DELTA), _C, most=1),
    Operator(
        "N10-no-object",
        "A chunk does not say what it is.",
        _streamed,
        _without("object"),
        _C,
        most=1,
    ),
    Operator(
        "N10-no-finish-key",
        "A choice has no finish_reason, not even null.",
        lambda s: [n for n in _key("finish_reason")(s) if n in plain(s)],
        _without(*CHOICE, "finish_reason"),
        _C,
        most=1,
    ),
    Operator(
        "N11-other-object",
        "A chunk calls itself a completion.",
        _streamed,
        _other_object,
        _C,
        most=1,
    ),
    Operator("N12-raw-renamed", "Raw thinking comes under another name.", _raw, _raw_renamed, _R),
)
