"""Scripted answers of SGLang's `/generate`, whose thinking is between tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import value_at
from conformance.dialects.script import Script, ScriptedAnswer, ScriptedEvent, pieces_of
from conformance.dialects.wishes import WishForm


def _stream_events(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    # Prompts offer no tools: where others call one, it answers.
    spoken = pieces_of(answer.text) if answer.calls else answer.text_pieces()
    texts = [*_thought_pieces(answer, request), *spoken]
    for number in range(1, len(texts) + 1):
        is_last = number == len(texts) and answer.is_finished
        yield "", _event(answer, texts[:number], is_last=is_last)
    if answer.word == "error":
        yield "", _error_body(answer.error, is_refusal=False)
    yield "", "[DONE]"


def _whole_body(answer: ScriptedAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    texts = [*_thought_pieces(answer, request), answer.text]
    return _event(answer, texts, is_last=answer.word != "no-finish")


def _thought_pieces(answer: ScriptedAnswer, request: Mapping[str, Any]) -> list[str]:
    """None where a grammar is requested: all of the text keeps to it."""
    is_bound = value_at(request, "sampling_params", "json_schema") is not None
    thought = "" if is_bound else answer.thinking
    return ["<think>", *pieces_of(thought), "</think>"] if thought else []


def _event(answer: ScriptedAnswer, texts: list[str], *, is_last: bool) -> dict[str, Any]:
    """The text so far, and as many output ids as tokens are counted."""
    given, output, _ = answer.tokens
    count = output if is_last else min(len(texts), output)
    about = {
        "id": f"scripted{answer.mark}",
        "finish_reason": _reason(answer, count) if is_last else None,
        "prompt_tokens": given,
        "completion_tokens": count,
    }
    return {"text": "".join(texts), "output_ids": list(range(900, 900 + count)), "meta_info": about}


def _reason(answer: ScriptedAnswer, count: int) -> dict[str, Any]:
    return {"type": "length", "length": count} if answer.word == "length" else {"type": "stop"}


def _error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    del is_refusal  # the status says who is at fault
    return {"error": {"message": message}}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    _error_body,
    WishForm(("sampling_params.json_schema",), choice=(), stops="sampling_params.stop"),
)
