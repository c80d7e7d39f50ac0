"""Operators on the life of choices and their texts in `openai.chat`."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import put_at, value_at
from conformance.dialects.openai_chat.fields import STRING_CARRIERS
from conformance.mutate.chunks import DELTA, finishes, plain, repeats_role, said, with_choice
from conformance.mutate.lifecycle import cumulative, is_long_run
from conformance.mutate.operator import Operator
from conformance.mutate.stream import Stream
from conformance.mutate.texts import CHAT, Delta, deltas, groups

ONLY: Final = (CHAT,)
_WHOLE_IS_UNKNOWN: Final = "no chunk states the whole text, so this is another good stream"


def _pure(stream: Stream, kind: str) -> list[Delta]:
    """Deltas of a kind in chunks that hold no text of another kind, no role and no end."""
    every, free = deltas(stream), set(plain(stream))
    kinds: dict[int, set[str]] = {}
    for each in every:
        kinds.setdefault(each.place, set()).add(each.kind)
    return [
        each
        for each in every
        if kinds[each.place] == {kind} and each.place in free and not _opens(stream, each.place)
    ]


def _opens(stream: Stream, place: int) -> bool:
    has_role = bool(stream.value_at(place, *DELTA, "role"))
    return has_role and not repeats_role(stream)


def _said(stream: Stream) -> list[int]:
    return [each.place for kind in ("thinking", "text") for each in _pure(stream, kind)]


def _drop(stream: Stream, site: int) -> Stream:
    return stream.dropped(site)


def _twice(stream: Stream, site: int) -> Stream:
    return stream.inserted(site + 1, stream.pieces[site])


def _first_role(stream: Stream) -> list[int]:
    found = [n for n in with_choice(stream) if stream.value_at(n, *DELTA, "role")]
    return found[:1]


def _no_roles(stream: Stream, _site: int) -> Stream:
    for place in with_choice(stream):
        payload = stream.pieces[place].payload
        delta = {k: v for k, v in value_at(payload, *DELTA).items() if k != "role"}
        stream = stream.changed(place, put_at(payload, DELTA, delta))
    return stream


def _role_late(stream: Stream, site: int) -> Stream | None:
    """The role comes after the first chunk that says something."""
    following = next((n for n in _said(stream) if n > site), None)
    if following is None or any(each.place == site for each in deltas(stream)):
        return None
    return stream.moved(site, following + 1)


def _role_again(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, put_at(payload, (*DELTA, "role"), "assistant"))


def _long(stream: Stream) -> list[int]:
    return [n for n, group in enumerate(groups(stream, "thinking", "text")) if is_long_run(group)]


def _two_cycles(stream: Stream, _site: int) -> Stream:
    return stream.with_pieces([*stream.pieces, *stream.pieces])


def _other(kind: str) -> str:
    return "content" if kind == "thinking" else "reasoning_content"


def _flip_flop(stream: Stream, _site: int) -> Stream:
    """Every chunk with thinking has empty text, and the other way round."""
    for each in (*_pure(stream, "thinking"), *_pure(stream, "text")):
        payload = stream.pieces[each.place].payload
        if value_at(payload, *DELTA, _other(each.kind)) is None:
            payload = put_at(payload, (*DELTA, _other(each.kind)), "")
            stream = stream.changed(each.place, payload)
    return stream


def _boundary(stream: Stream) -> list[int]:
    """Places of the first text after thinking, where thinking stands right before it."""
    thoughts = {(each.place + 1, each.group[0]) for each in _pure(stream, "thinking")}
    texts = _pure(stream, "text")
    return [each.place for each in texts if (each.place, each.group[0]) in thoughts]


def _separate(stream: Stream) -> list[int]:
    """As `_boundary`, where thinking has a field of its own."""
    fields = [stream.value_at(n - 1, *DELTA) for n in _boundary(stream)]
    carried = [any(delta.get(name) for name in STRING_CARRIERS) for delta in fields]
    return [n for n, own in zip(_boundary(stream), carried, strict=True) if own]


def _combined(stream: Stream, site: int) -> Stream:
    thought = stream.value_at(site - 1, *DELTA)
    payload = stream.pieces[site].payload
    merged = {**thought, "content": value_at(payload, *DELTA, "content")}
    return stream.changed(site, put_at(payload, DELTA, merged)).dropped(site - 1)


def _thinking_after_text(stream: Stream, site: int) -> Stream:
    return stream.moved(site - 1, site + 1)


def _after_finish(kind: str, text: str) -> Any:
    def edit(stream: Stream, site: int) -> Stream:
        sample = next((each for each in deltas(stream) if each.kind == kind), None)
        name = sample.paths[0][-1] if sample is not None and len(sample.paths[0]) == 4 else None
        delta = {name if isinstance(name, str) else "content": text}
        return stream.inserted(site + 1, said(stream, site, delta))

    return edit


def _shown_after(stream: Stream) -> list[int]:
    """The last finish of a stream that says something."""
    return finishes(stream)[-1:] if deltas(stream, "text", "thinking") else []


def _lost_thinking(stream: Stream, _site: int) -> Stream:
    return stream.dropped(*(each.place for each in _pure(stream, "thinking")))


def _thinks(stream: Stream) -> list[int]:
    return [0] if _pure(stream, "thinking") else []


CHAT_LIFECYCLE: Final = (
    Operator("X1-no-role", "No chunk has the role.", _first_role, _no_roles, ONLY),
    Operator("X1-role-late", "The role comes after the first text.", _first_role, _role_late, ONLY),
    Operator("X3-role-again", "A later chunk repeats the role.", _said, _role_again, ONLY),
    Operator(
        "X5-text-after-finish",
        "Text comes after the finish.",
        _shown_after,
        _after_finish("text", "More."),
        ONLY,
    ),
    Operator(
        "X5-thinking-after-finish",
        "Thinking comes after the finish.",
        _shown_after,
        _after_finish("thinking", "Hm."),
        ONLY,
    ),
    Operator(
        "X6-doubled-chunk",
        "A chunk with text or thinking is sent twice.",
        _said,
        _twice,
        ONLY,
        must="either",
        reason=_WHOLE_IS_UNKNOWN,
    ),
    Operator(
        "X14-lost-chunk",
        "A chunk with text or thinking is lost.",
        _said,
        _drop,
        ONLY,
        must="either",
        reason=_WHOLE_IS_UNKNOWN,
    ),
    Operator(
        "X14-no-thinking",
        "All thinking is lost.",
        _thinks,
        _lost_thinking,
        ONLY,
        must="either",
        reason="a model may answer without thinking; a scenario that asks for it says more",
    ),
    Operator("X7-running-total", "Deltas repeat the whole text so far.", _long, cumulative, ONLY),
    Operator("X8-two-streams", "The stream is sent twice.", _first_role, _two_cycles, ONLY),
    Operator(
        "X10-flip-flop",
        "Each chunk has an empty text of the other kind.",
        _said,
        _flip_flop,
        ONLY,
        must="pass",
        most=1,
    ),
    Operator(
        "X11-combined",
        "The last thinking and the first text share a chunk.",
        _separate,
        _combined,
        ONLY,
    ),
    Operator(
        "X15-thinking-after-text",
        "Thinking comes after the first text.",
        _boundary,
        _thinking_after_text,
        ONLY,
    ),
)
