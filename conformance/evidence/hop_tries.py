"""Retried calls of a model, and what an application leaves of them on the screen.

Rule 1: a try is replaced by a later call with the same request and any answer, unless it called a
        tool: then the request lost the call (`hop_talk`). If requests were not recorded, a try is a
        call that broke off, and whose text begins the later answer.
Rule 2: if a try broke off, and it is unclear whether a later call continues it, the application may
        show its text or not. The same holds for words in place of the call that was demanded.
Rule 3: the text of a replaced try has to go before the answer is over, if the protocol can take it
        back; a text shown as often as other calls contain it is theirs. The same holds for a
        beginning of a try, however short, if only beginnings precede the rest.
Rule 4: text next to tries and their beginnings is the application's own if it neither begins nor
        ends like the text of any call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.core.excerpts import excerpt
from conformance.evidence.hop_sides import (
    TELLING,
    ApplicationHops,
    Compared,
    HopDifference,
    ReadAnswer,
)
from conformance.evidence.side_content import PartKind, SideContent, SidePart

_BORDER: Final = "\0"  # between the remaining parts of a text
_KINDS: Final[tuple[PartKind, ...]] = ("text", "thinking")


def replaced_tries(calls: Sequence[ReadAnswer]) -> frozenset[int]:
    """Rule 1: the places of answers that a later one replaces."""
    questions = [_question(each) for each in calls]
    return frozenset(
        place
        for place, answer in enumerate(calls)
        for later in range(place + 1, len(calls))
        if _is_retried(answer, calls[later], questions[place], questions[later])
    )


def broken_tries(calls: Sequence[ReadAnswer]) -> frozenset[int]:
    """Rule 2: the places of answers that were not what was requested, and are not the last."""
    return frozenset(
        n for n, each in enumerate(calls[:-1]) if not each.is_whole or _lacks_call(each)
    )


def _lacks_call(answer: ReadAnswer) -> bool:
    """Whether the request demands a call, and none came."""
    request, script = answer.exchange.request, answer.dialect.script
    if script is None or request is None or not isinstance(request.json, Mapping):
        return False
    return bool(script.wishes.read(request.json).call) and not answer.transcript.tools


def _question(answer: ReadAnswer) -> Mapping[str, Any] | None:
    """What a request asks, without its model and its numbers: a second try may change those."""
    request = answer.exchange.request
    if request is None or not isinstance(request.json, Mapping):
        return None
    skipped = (int, float, bool)
    return {k: v for k, v in request.json.items() if k != "model" and not isinstance(v, skipped)}


def _is_retried(
    answer: ReadAnswer,
    later: ReadAnswer,
    question: Mapping[str, Any] | None,
    later_question: Mapping[str, Any] | None,
) -> bool:
    if question is not None and later_question is not None:
        is_lost = answer.is_whole and bool(answer.transcript.own_tools)  # what was called
        return question == later_question and _has_content(later) and not is_lost
    if answer.is_whole:
        return False
    first, second = answer.transcript, later.transcript
    both = ((first.text, second.text), (first.thinking, second.thinking))
    begun = [("".join(one).strip(), "".join(two).lstrip()) for one, two in both]
    return any(one for one, _ in begun) and all(two.startswith(one) for one, two in begun)


def _has_content(answer: ReadAnswer) -> bool:
    content = answer.transcript
    return answer.is_whole or any((*content.text, *content.thinking, *content.tools))


def try_replaced(hops: ApplicationHops) -> Compared:
    """Rule 3."""
    replaced = replaced_tries(hops.calls)
    found = [_left_text(hops, replaced, kind) for kind in _KINDS if not _is_hidden(hops, kind)]
    left = next((each for each in found if each is not None), None)
    if left is not None and left.sent.number > hops.taken_back:
        return left
    return any(_parts_of_calls(hops.made, replaced, kind) for kind in _KINDS)


def without_tries(hops: ApplicationHops) -> ApplicationHops:
    """Both sides without the texts of tries that the interface does not show, kind by kind."""
    tries = replaced_tries(hops.calls) | broken_tries(hops.calls)
    if not tries:
        return hops
    unseen = {kind for kind in _KINDS if _left_text(hops, tries, kind) is None}
    calls = [each for each in hops.made.of("tool") if each.start.answer not in tries]
    if len(hops.sent.of("tool")) <= len(calls):
        unseen.add("tool")
    parts = [e for e in hops.made.parts if not (e.start.answer in tries and e.kind in unseen)]
    sealed = hops.made.opaque
    if "thinking" in unseen:
        sealed = [each for each in sealed if each.place.answer not in tries]
    return replace(hops, made=replace(hops.made, parts=parts, opaque=sealed), tries=tries)


def _is_hidden(hops: ApplicationHops, kind: PartKind) -> bool:
    return kind == "thinking" and hops.hides


def _left_text(
    hops: ApplicationHops, tries: frozenset[int], kind: PartKind
) -> HopDifference | None:
    parts = hops.sent.of(kind)
    shown = "".join(each.text for each in parts)
    others = frozenset(range(len(hops.calls))) - tries
    kept = _text_of(_parts_of_calls(hops.made, others, kind))
    every = _text_of(hops.made.of(kind))
    texts = {n: _text_of(_parts_of_calls(hops.made, frozenset({n}), kind)) for n in sorted(tries)}
    begun = _first_begun(shown, texts, kept)
    for number in sorted(tries):
        own = _parts_of_calls(hops.made, frozenset({number}), kind)
        text = _text_of(own).strip()
        # However short: there is nothing else that it could be.
        is_all = bool(shown.strip()) and text.startswith(shown.strip()) and not kept.strip()
        for piece in (text, *_begun_parts(parts, text), *_own_texts(own)):
            is_left = shown.count(piece) > kept.count(piece) if len(piece) >= TELLING else False
            if is_left or is_all or number == begun or (text and shown == every != kept):
                message = (
                    f"expected no {kind} of a try that was repeated, got it with that of the next"
                )
                place = hops.sent.place_of(parts, max(shown.find(piece), 0))
                return HopDifference(message, own[0].first, place)
    return None


def _first_begun(shown: str, tries: Mapping[int, str], kept: str) -> int | None:
    """The first of the tries whose beginnings, in sequence, precede the text that is kept."""
    begun, rest = None, shown.strip()
    if kept.strip().startswith(rest):
        return None
    for number, text in tries.items():
        same = _same_length(rest, text.strip())
        if same and begun is None:
            begun = number
        rest = rest[same:].lstrip()
    return begun if kept.strip().startswith(rest) else None


def own_words(hops: ApplicationHops, kind: PartKind) -> HopDifference | None:
    """Rule 4."""
    parts, made = hops.sent.of(kind), hops.made.of(kind)
    shown, words = _text_of(parts), _text_of(made)
    calls = sorted({each.start.answer for each in made})
    texts = {_text_of(_parts_of_calls(hops.made, frozenset({n}), kind)).strip() for n in calls}
    rest = shown
    for text in sorted(filter(None, texts), key=len, reverse=True):
        rest = rest.replace(text, _BORDER)
    for piece in map(str.strip, rest.split(_BORDER)):
        is_strange = len(piece) >= TELLING and not is_of(words, piece)
        if is_strange and not _are_beginnings(piece, texts):
            message = (
                f"expected only the {kind} of the model, got also {excerpt(piece, 0, TELLING)!r}"
            )
            place = hops.sent.place_of(parts, max(shown.find(piece), 0))
            return HopDifference(message, made[-1].first, place)
    return None


def _are_beginnings(piece: str, texts: Collection[str]) -> bool:
    """Whether it is beginnings of texts alone, one after another."""
    while piece and (same := max(_same_length(piece, text) for text in texts)):
        piece = piece[same:].lstrip()
    return not piece


def is_of(words: str, text: str) -> bool:
    """Whether the words hold the beginning or the end of a text."""
    shown = text.strip()
    return shown[:TELLING] in words or shown[-TELLING:] in words


def _begun_parts(parts: Sequence[SidePart], text: str) -> Iterator[str]:
    """Parts that were sent and are a beginning of a text."""
    begun = (each.text.strip() for each in parts)
    return (each for each in begun if len(each) >= TELLING and text.startswith(each))


def _own_texts(own: Sequence[SidePart]) -> Iterator[str]:
    """The texts of several parts: a protocol without parts may put white space between them."""
    return (each.text.strip() for each in own) if len(own) > 1 else iter(())


def _parts_of_calls(content: SideContent, calls: frozenset[int], kind: PartKind) -> list[SidePart]:
    return [each for each in content.of(kind) if each.start.answer in calls]


def _text_of(parts: Sequence[SidePart]) -> str:
    return "".join(each.text for each in parts)


def _same_length(one: str, other: str) -> int:
    """The length of the common beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
