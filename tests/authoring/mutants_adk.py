"""Mutants of the suite of ADK's events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.authoring import edits
from tests.authoring.adk import Run, content, thought
from tests.authoring.adk_streams import DOWN
from tests.authoring.edits import Step, Where
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Fields, Message, at

_BASES: Final = "google.adk/adk"
THINKS, ROUND = "thinking-then-text", "tool-round"
PARTS: Final = "content.parts"

Parts = list[Fields]


def _fragment(message: Message) -> bool:
    return at(message.payload, "partial") is True


def _whole(message: Message) -> bool:
    return at(message.payload, "partial") is False


def _holding(key: str, where: Where) -> Where:
    """Such events in which a part has something under the key."""
    return lambda message: where(message) and any(key in part for part in _parts(message))


def _parts(message: Message) -> Parts:
    return at(message.payload, PARTS) or []


THOUGHT: Final = _holding("thought", _fragment)
RESULT: Final = _holding("functionResponse", lambda _message: True)
SIGNED: Final = _holding("functionCall", _whole)


def _of_wire(rule: str, base: str, *steps: Step, also: tuple[str, ...] = ()) -> Mutant:
    return Mutant(f"wire/adk/{rule}", f"{_BASES}/{base}", steps, also=also)


def _changed(where: Where, path: str, value: Any, nth: int = 0) -> Step:
    return edits.change(where, path, value, nth)


def _other_parts(change: Callable[[Parts], Parts], where: Where = _whole, nth: int = 0) -> Step:
    return edits.change(where, PARTS, change, nth)


def _unmarked(parts: Parts) -> Parts:
    return [{key: value for key, value in part.items() if key != "thought"} for part in parts]


def _said_twice(parts: Parts) -> Parts:
    return [part if "thought" in part else {"text": part["text"] * 2} for part in parts]


def _as_failure(parts: Parts) -> Parts:
    return [{**part, "text": DOWN} if "thought" not in part else part for part in parts]


def _before(where: Where, **fields: Any) -> Step:
    """One more fragment before another event."""
    more = Run().event("0b7c2f4e-0000-4000-8000-000000000001", partial=True, **fields)
    return edits.insert(Message(more), where)


MUTANTS: Final = (
    _of_wire(
        "answer-present",
        THINKS,
        lambda _pieces: [b"data: [DONE]\n\n"],
        also=("wire/adk/event-known",),
    ),
    Mutant(
        "wire/adk/whole-keeps-thoughts",
        f"{_BASES}/{THINKS}",
        (_other_parts(_unmarked),),
        also=("wire/adk/whole-keeps-text",),
        name="wire/adk/whole-unmarked",
    ),
    # The aggregate was taken for one more fragment, and joined once more.
    _of_wire("whole-keeps-text", THINKS, _other_parts(_said_twice)),
    _of_wire(
        "carries",
        THINKS,
        _changed(THOUGHT, "content", "The keeper"),
        also=("wire/adk/fragment-says-something", "wire/adk/whole-keeps-thoughts"),
    ),
    _of_wire("fragment-says-something", THINKS, _before(_whole)),
    _of_wire("part-known", ROUND, _other_parts(lambda parts: [*parts, {"reasoning": "So."}])),
    _of_wire("thought-not-empty", THINKS, _before(THOUGHT, **content(thought("")))),
    _of_wire(
        "signature-readable",
        ROUND,
        _changed(SIGNED, f"{PARTS}.1.thoughtSignature", "sealed, not shown"),
    ),
    _of_wire("call-named", ROUND, edits.remove(SIGNED, f"{PARTS}.1.functionCall.name")),
    _of_wire(
        "call-arguments",
        ROUND,
        _changed(SIGNED, f"{PARTS}.1.functionCall.args", '{"line": "noon"}'),
    ),
    _of_wire("call-answered", ROUND, edits.drop(RESULT)),
    _of_wire(
        "result-asked",
        ROUND,
        _changed(RESULT, f"{PARTS}.0.functionResponse.id", "adk-other"),
    ),
    _of_wire("error-not-text", "no-thinking", edits.drop_all(_fragment), _other_parts(_as_failure)),
)
