"""Mutants of the suites of LM Studio's chat."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Step, typed
from tests.authoring.lmstudio_streams import event
from tests.authoring.mutant import Mutant
from tests.authoring.turns import asks, in_body, not_in_body

_BASES: Final = "lmstudio.chat/lmstudio"
THINKS, CALLS, APART = "thinking-then-text", "thinking-then-call", "calls-named-apart"
ERROR, LOADED, BODY = "error-in-text", "loaded", "body"
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
    _of_wire("event-name-agrees", THINKS, edits.rename(typed("message.delta"), "message")),
    _of_wire("event-lines", THINKS, edits.rename(typed("message.delta"), "")),
    _of_wire("event-typed", THINKS, _removed("prompt_processing.progress", "type")),
    _of_wire("start-first", THINKS, edits.move(typed("chat.start"), by=1)),
    _of_wire("start-once", THINKS, edits.duplicate(typed("chat.start"))),
    _of_wire("start-fields", THINKS, _removed("chat.start", "model_instance_id")),
    _of_wire("load-lifecycle", LOADED, edits.drop(typed("model_load.end"))),
    _of_wire("prompt-lifecycle", THINKS, edits.drop(typed("prompt_processing.end"))),
    # Percent.
    _of_wire("progress-within", THINKS, _changed("prompt_processing.progress", "progress", 50)),
    # A block ends once the next one goes on.
    _of_wire("block-lifecycle", THINKS, edits.move(typed("reasoning.end"), by=1)),
    # A second thought behind the answer.
    _of_wire(
        "thinking-before-text",
        THINKS,
        edits.insert(event({"type": "reasoning.start"}), ENDED),
        edits.insert(event({"type": "reasoning.delta", "content": "So"}), ENDED),
        edits.insert(event({"type": "reasoning.end"}), ENDED),
        _changed("chat.end", "result.output.0.content", lambda said: f"{said}So"),
    ),
    # An empty view of thinking: the result lists none.
    _of_wire(
        "thinking-not-empty",
        THINKS,
        edits.drop_all(typed("reasoning.delta")),
        _listed_without("reasoning"),
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
    _of_wire("call-named", CALLS, _removed("tool_call.success", "output")),
    _of_wire("failure-says-why", APART, _removed("tool_call.failure", "reason")),
    # An error as another API has it.
    _of_wire("error-says-why", ERROR, _changed("error", "error", "the model was unloaded")),
    _of_wire("end-present", THINKS, edits.drop(ENDED)),
    _of_wire("end-after-error", ERROR, edits.drop(ENDED)),
    _of_wire("end-once", THINKS, edits.duplicate(ENDED)),
    _of_wire(
        "end-last",
        THINKS,
        edits.insert(event({"type": "prompt_processing.end"}), ENDED, after=True),
        edits.insert(event({"type": "prompt_processing.start"}), ENDED, after=True),
    ),
    _of_wire("result-fields", THINKS, _removed("chat.end", "result.model_instance_id")),
    # What strips thinking from the result, and not from the stream; and so on.
    _of_wire("result-states-thinking", THINKS, _listed_without("reasoning")),
    _of_wire("result-states-text", CALLS, _listed_without("message")),
    _of_wire("result-states-calls", APART, _listed_without("invalid_tool_call")),
    _of_wire("response-named", THINKS, _changed("chat.end", "result.response_id", "chatcmpl-1")),
    _of_wire("answer-counted", THINKS, _removed("chat.end", "result.stats.total_output_tokens")),
    _of_wire(
        "thinking-count-true",
        THINKS,
        _changed("chat.end", "result.stats.reasoning_output_tokens", 0),
    ),
    _of_wire(
        "thinking-within-output",
        THINKS,
        _changed("chat.end", "result.stats.reasoning_output_tokens", 39),
    ),
    _of_wire("body-fields", BODY, not_in_body("model_instance_id")),
    # What a gateway that translates Responses left as it was.
    _of_wire("item-known", BODY, in_body("output.1.type", "output_text")),
    Mutant(
        "effort/lmstudio/known",
        f"{_BASES}/{THINKS}",
        turns={1: asks("reasoning", {"effort": "medium"})},
    ),
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
    Mutant(
        "history/lmstudio/previous-named",
        f"{_BASES}/next-turn",
        turns={2: asks("previous_response_id", "thread_1")},
    ),
)
