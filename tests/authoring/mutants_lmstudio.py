"""Mutants of the suites of LM Studio's chat."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Step, typed
from tests.authoring.lmstudio_streams import event
from tests.authoring.mutant import Mutant

_BASES: Final = "lmstudio.chat/lmstudio"
THINKS, APART = "thinking-then-text", "calls-named-apart"
ENDED: Final = typed("chat.end")


def _of_wire(rule: str, base: str, *steps: Step, also: tuple[str, ...] = ()) -> Mutant:
    every = tuple(f"wire/lmstudio/{each}" for each in also)
    return Mutant(f"wire/lmstudio/{rule}", f"{_BASES}/{base}", steps, also=every)


def _changed(kind: str, path: str, value: Any, nth: int = 0) -> Step:
    return edits.change(typed(kind), path, value, nth)


def _removed(kind: str, path: str) -> Step:
    return edits.remove(typed(kind), path)


def _listed_without(kind: str) -> Step:
    """The result leaves out what was streamed."""
    return _changed(
        "chat.end", "result.output", lambda items: [e for e in items if e["type"] != kind]
    )


def _with_thought(items: list[Any]) -> list[Any]:
    return [{"type": "reasoning", "content": "A word."}, *items]


MUTANTS: Final = (
    _of_wire("answer-present", THINKS, lambda _pieces: [b": nobody is here\n\n"]),
    # A second thought behind the answer.
    _of_wire(
        "thinking-before-text",
        THINKS,
        edits.insert(event({"type": "reasoning.start"}), ENDED),
        edits.insert(event({"type": "reasoning.delta", "content": "So"}), ENDED),
        edits.insert(event({"type": "reasoning.end"}), ENDED),
        _changed("chat.end", "result.output.0.content", lambda said: f"{said}So"),
    ),
    _of_wire(
        "carries",
        THINKS,
        _changed("message.delta", "text", "Low water"),
        _removed("message.delta", "content"),
        _changed(
            "chat.end", "result.output.1.content", lambda said: said.removeprefix("Low water")
        ),
    ),
    _of_wire(
        "end-last",
        THINKS,
        edits.insert(event({"type": "prompt_processing.end"}), ENDED, after=True),
        edits.insert(event({"type": "prompt_processing.start"}), ENDED, after=True),
    ),
    _of_wire("result-states-calls", APART, _listed_without("invalid_tool_call")),
    Mutant(
        "effort/lmstudio/off-means-none",
        f"{_BASES}/no-thinking",
        (
            edits.insert(event({"type": "reasoning.start"}), typed("message.start")),
            edits.insert(
                event({"type": "reasoning.delta", "content": "A word."}), typed("message.start")
            ),
            edits.insert(event({"type": "reasoning.end"}), typed("message.start")),
            _changed("chat.end", "result.output", _with_thought),
            _changed("chat.end", "result.stats.reasoning_output_tokens", 1),
        ),
    ),
)
