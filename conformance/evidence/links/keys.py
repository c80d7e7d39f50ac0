"""Names by which answers are known again in later requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from conformance.core.spelling import one_spelling
from conformance.dialects.turns import HistoryCall
from conformance.evidence.links.answers import AnswerTurn
from conformance.evidence.links.requests import RepeatedTalk, digest

Key = tuple[str, str | bytes]
_MOST_TURNS: Final = 256  # latest entries of a history by which recordings are brought together


class LinkKeys(Struct, frozen=True):
    """What an answer is known by, and what its request repeats, as short names.

    Two recordings in one of which stands what the other repeats may be of one conversation.
    """

    said: tuple[bytes, ...]
    repeated: tuple[bytes, ...]
    carried: frozenset[int] = frozenset()  # entries whose answers are in the same recording

    @classmethod
    def of(
        cls,
        turn: AnswerTurn | None,
        talk: RepeatedTalk | None,
        named: str,
        carried: frozenset[int] = frozenset(),
    ) -> LinkKeys:
        """Of an exchange; `named` is the id of the answer that its request says it follows."""
        last = talk.outlines[-1] if talk is not None and talk.entries else b""
        said = list(answer_keys(turn, last)) if turn is not None else []
        threads = (turn.thread if turn is not None else "", talk.thread if talk is not None else "")
        said += (("thread", each) for each in dict.fromkeys(threads) if each)
        repeated = _repeated_keys(talk, named, carried) if talk is not None else ()
        return cls(_short(said), _short(repeated), carried)


def _short(keys: Iterable[Key]) -> tuple[bytes, ...]:
    return tuple(
        dict.fromkeys(
            digest(kind, name) if isinstance(name, str) else kind.encode() + name
            for kind, name in keys
        )
    )


def _repeated_keys(talk: RepeatedTalk, named: str, carried: frozenset[int]) -> Iterator[Key]:
    """What only other recordings can hold."""
    if named:
        yield "id", named
    if talk.thread:
        yield "thread", talk.thread
    for run in talk.runs():
        sought = [place for place in run[-_MOST_TURNS:] if place not in carried]
        if not sought or run.stop < len(talk.said) - _MOST_TURNS:
            continue
        if run.start:
            yield "last", talk.outlines[run.start - 1]
        for place in sought:
            said = talk.said[place]
            yield from (("call", call.id) for call in said.calls if call.id)
            if said.id:
                yield "id", said.id
            yield from content_keys(one_spelling(said.text or said.thought), said.calls)


def answer_keys(turn: AnswerTurn, last: bytes) -> Iterable[Key]:
    """Keys by which an answer is looked up; `last` is the entry before it."""
    yield from (("id", each) for each in turn.ids)
    yield from (("call", call.id) for call in turn.calls if call.id)
    yield from content_keys(turn.text, turn.calls)
    if len(turn.texts) > 1 or turn.calls:
        yield from (key for text in turn.texts for key in content_keys(text, ()))
    if len(turn.calls) > 1:
        yield from (key for call in turn.calls for key in content_keys("", (call,)))
    if last:
        yield ("last", last)


def content_keys(text: str, calls: Sequence[HistoryCall]) -> Iterable[Key]:
    """Keys of the visible content: all of it, then the calls alone."""
    spelled_calls = [f"{call.name}({call.arguments})" for call in calls]
    if text or calls:
        yield ("said", digest(text, *spelled_calls))
    if text and calls:
        yield ("said", digest("", *spelled_calls))
