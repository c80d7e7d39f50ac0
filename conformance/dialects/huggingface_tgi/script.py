"""Scripted answers of Text Generation Inference, whose thinking is between tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import value_at
from conformance.dialects.script import Script, ScriptedAnswer, ScriptedEvent, pieces_of
from conformance.dialects.wishes import WishForm

_END: Final = "</s>"


def _stream_events(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    # Prompts offer no tools: where others call one, it answers.
    spoken = pieces_of(answer.text) if answer.calls else answer.text_pieces()
    texts = [*_thought_pieces(answer, request), *spoken]
    tokens = [_token(number, text) for number, text in enumerate(texts, 1)]
    if answer.is_finished and answer.word != "length":
        tokens.append(_token(len(tokens) + 1, _END, is_special=True))
    if answer.is_finished:
        counted = {"generated_tokens": len(tokens), "input_length": answer.tokens[0]}
        ended = {**_details(answer), **counted}
        tokens[-1] |= {"generated_text": "".join(texts), "details": ended}
    yield from (("", token) for token in tokens)
    if answer.word == "error":
        yield "", _error_body(answer.error, is_refusal=False)


def _whole_body(answer: ScriptedAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    text = "".join((*_thought_pieces(answer, request), answer.text))
    if answer.word == "no-finish":
        return {"generated_text": text}
    return {"generated_text": text, "details": {**_details(answer), "prefill": [], "tokens": []}}


def _thought_pieces(answer: ScriptedAnswer, request: Mapping[str, Any]) -> list[str]:
    """None where a grammar is requested: all of the text keeps to it."""
    is_bound = value_at(request, "parameters", "grammar") is not None
    thought = "" if is_bound else answer.thinking
    return ["<think>", *pieces_of(thought), "</think>"] if thought else []


def _details(answer: ScriptedAnswer) -> dict[str, Any]:
    reason = "length" if answer.word == "length" else "eos_token"
    return {"finish_reason": reason, "generated_tokens": answer.tokens[1], "seed": None}


def _token(number: int, text: str, *, is_special: bool = False) -> dict[str, Any]:
    token = {"id": 900 + number, "text": text, "logprob": -0.25, "special": is_special}
    return {"index": number, "token": token, "generated_text": None, "details": None}


def _error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    return {"error": message, "error_type": "validation" if is_refusal else "generation"}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    _error_body,
    WishForm(("parameters.grammar.value",), choice=(), stops="parameters.stop"),
)
