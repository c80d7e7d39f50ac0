"""Interactions requests: every step goes back as it came, thoughts with their signatures.

Nothing is left to the server's store. What the server called by itself stays out, for its results
are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from . import effort
from .ask import Ask
from .history import HistoryForm, Results
from .interactions import CALL, HOSTED_CALLS
from .payload import compact, decode, object_of, objects_of, present, text_of
from .turn import Called, Piece, Thought, Turn, Words, answered, said

_SAMPLING: Final = {"stop": "stop_sequences"}
_HOSTED: Final = frozenset(name.removesuffix("_call") for name in HOSTED_CALLS)
_ANSWERED: Final = HOSTED_CALLS | {"thought", "model_output", CALL}


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request."""
    config = {**ask.sampled(_SAMPLING), **effort.interactions(ask)}
    if ask.max_tokens is not None:
        config["max_output_tokens"] = ask.max_tokens
    return {
        "model": ask.model,
        "input": list(_steps(ask)),
        "stream": True,
        **present(
            generation_config=config,
            system_instruction=ask.instructions,
            tools=[{"type": "function", **each["function"]} for each in ask.tools],
        ),
    }


def _steps(ask: Ask) -> Iterator[dict[str, Any]]:
    results = Results()
    for turn in ask.turns:
        if turn.role == "tool":
            call = results.called(turn)
            named = {"call_id": call.id or turn.call_id, "name": call.name}
            yield {"type": "function_result", **named, "result": turn.text}
        elif turn.role == "user":
            yield {"type": "user_input", "content": _texts(turn.text)}
        elif turn.role == "assistant":
            results.expect(turn)
            pieces = turn.pieces if ask.sends_thinking("interactions") else turn.spoken
            yield from filter(None, map(_step, pieces))


def _step(piece: Piece) -> dict[str, Any]:
    """The step that a piece was; none for what cannot go back."""
    if isinstance(piece, Words):
        return {"type": "model_output", "content": _texts(piece.text)}
    if isinstance(piece, Called):
        if piece.name in _HOSTED:
            return {}
        arguments = object_of(decode(piece.arguments))
        return {"type": CALL, "id": piece.id, "name": piece.name, "arguments": arguments}
    return _thought(piece) if piece.signature else {}


def _thought(thought: Thought) -> dict[str, Any]:
    summary = [part for text in thought.parts or (thought.raw,) for part in _texts(text)]
    fields = {"summary": summary} if summary else {}
    return {"type": "thought", "signature": thought.signature, **fields}


def _texts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}] if text else []


def _is_answer(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") in _ANSWERED or isinstance(entry.get("steps"), list)


def _answer(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An interaction of these steps; one that is whole is its own message."""
    return {"steps": [step for entry in entries for step in entry.get("steps", (entry,))]}


def _given(entry: Mapping[str, Any]) -> list[Turn] | None:
    if entry.get("type") == "function_result":
        result = entry.get("result")
        return [answered(text_of(entry.get("call_id")), text_of(result) or compact(result))]
    if entry.get("type") != "user_input":
        return None
    parts = objects_of(entry.get("content"))
    text = text_of(entry.get("content")) or "".join(text_of(part.get("text")) for part in parts)
    return [said("user", text)]


HISTORY: Final = HistoryForm(_is_answer, _answer, _given)
