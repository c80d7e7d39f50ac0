"""Requests of Ollama: thinking goes back in `thinking` of its own message.

A completion goes on from the `context` that the answer before it gave.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from . import effort
from .ask import Ask
from .history import HistoryForm, Results
from .payload import decode, object_of
from .turn import Called, Turn


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a chat request."""
    made = {**_common_fields(ask), "messages": list(_messages(ask))}
    if ask.tools:
        made["tools"] = [dict(tool) for tool in ask.tools]
    return made


def completion(ask: Ask) -> dict[str, Any]:
    """The JSON of a completion request: the last thing that was said, and the context before."""
    spoken = [turn for turn in ask.turns if turn.role != "system"]
    made = {**_common_fields(ask), "prompt": spoken[-1].text if spoken else ""}
    contexts = [turn.echo["context"] for turn in spoken if "context" in turn.echo]
    if contexts:
        made["context"] = contexts[-1]
    if ask.instructions:
        made["system"] = ask.instructions
    return made


def _common_fields(ask: Ask) -> dict[str, Any]:
    """What both have; a stream comes unless it is switched off."""
    options = {**ask.sampling}
    if ask.max_tokens is not None:
        options["num_predict"] = ask.max_tokens
    made = {"model": ask.model, "stream": True, **effort.ollama(ask)}
    return {**made, "options": options} if options else made


def _messages(ask: Ask) -> Iterator[dict[str, Any]]:
    results = Results()
    for turn in ask.turns:
        if turn.role == "tool":
            call = results.called(turn)
            named = {"tool_call_id": call.known_id} if call.known_id else {}
            yield {"role": "tool", "tool_name": call.name, "content": turn.text, **named}
        elif turn.role == "assistant":
            results.expect(turn)
            yield _answer(turn, sends=ask.sends_thinking("ollama"))
        else:
            yield {"role": turn.role, "content": turn.text}


def _answer(turn: Turn, *, sends: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if sends and turn.thinking:
        message["thinking"] = turn.thinking
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    return message


def _call(call: Called) -> dict[str, Any]:
    function = {"name": call.name, "arguments": object_of(decode(call.arguments))}
    named = {"id": call.known_id} if call.known_id else {}
    return {**named, "function": function}


COMPLETION: Final = HistoryForm(
    is_answer=lambda entry: "response" in entry,
    body=lambda entries: dict(entries[-1]),
    given=lambda _: None,
)
