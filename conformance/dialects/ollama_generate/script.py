"""Scripted answers in Ollama's completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.ollama_script import error_body, scripted_head, scripted_last
from conformance.dialects.script import Script, ScriptedAnswer, ScriptedEvent, pieces_of
from conformance.dialects.wishes import WishForm


def _stream_events(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    for piece in pieces_of(answer.thinking):
        yield "", {**scripted_head(), "response": "", "thinking": piece}
    # Completions know no tools: where others call one, they answer.
    for piece in pieces_of(answer.text) if answer.calls else answer.text_pieces():
        yield "", {**scripted_head(), "response": piece}
    if answer.word == "error":
        yield "", error_body(answer.error, is_refusal=False)
    if answer.is_finished:
        yield "", {**scripted_head(), "response": "", **scripted_last(answer)}


def _whole_body(answer: ScriptedAnswer, _request: Mapping[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = {**scripted_head(), "response": answer.text}
    if answer.thinking:
        body["thinking"] = answer.thinking
    return {**body, **(scripted_last(answer) if answer.word != "no-finish" else {})}


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    error_body,
    WishForm(("format",), json="format", json_words=("json",), choice=(), stops="options.stop"),
)
