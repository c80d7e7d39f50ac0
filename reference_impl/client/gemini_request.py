"""Gemini API requests: a signature goes back on the part on which it came, and no part is joined.

A thought that is nothing but a signature belongs to the piece behind it; the last one in a turn
stood on an empty text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from . import effort
from .ask import Ask
from .gemini import CODE
from .history import HistoryForm, Results
from .payload import compact, decode, object_of, objects_of, present, text_of
from .turn import Called, Piece, Thought, Turn, Words, answered, said

_SAMPLING: Final = {"top_p": "topP", "stop": "stopSequences"}
_SPELLED: Final = {
    "thought_signature": "thoughtSignature",
    "function_call": "functionCall",
    "function_response": "functionResponse",
}


def body(ask: Ask) -> dict[str, Any]:
    """The JSON of a request; the path names the model."""
    config = {**ask.sampled(_SAMPLING), **effort.gemini(ask)}
    if ask.max_tokens is not None:
        config["maxOutputTokens"] = ask.max_tokens
    declared = [dict(each["function"]) for each in ask.tools]
    system = [{"text": ask.instructions}] if ask.instructions else []
    return {
        "contents": list(_contents(ask)),
        **present(
            generationConfig=config,
            systemInstruction=present(parts=system),
            tools=[{"functionDeclarations": declared}] if declared else [],
        ),
    }


def _contents(ask: Ask) -> Iterator[dict[str, Any]]:
    """All results of one turn are in one content, and so do all calls of an answer."""
    results = Results()
    for is_tool, turns in ask.rounds():
        if is_tool:
            parts = [_response(results.called(turn), turn.text) for turn in turns]
            yield {"role": "user", "parts": parts}
        for turn in () if is_tool else turns:
            results.expect(turn)
            pieces = turn.pieces if ask.sends_thinking("gemini") else turn.spoken
            parts = list(_parts(pieces)) if turn.role == "assistant" else [{"text": turn.text}]
            if parts:
                yield {"role": "model" if turn.role == "assistant" else "user", "parts": parts}


def _response(call: Called, text: str) -> dict[str, Any]:
    named = {"id": call.known_id} if call.known_id else {}
    return {"functionResponse": {**named, "name": call.name, "response": {"result": text}}}


def _parts(pieces: Sequence[Piece]) -> Iterator[dict[str, Any]]:
    signed: dict[str, str] = {}
    for piece in pieces:
        if isinstance(piece, Thought) and piece.signature:
            if signed:
                yield {"text": "", **signed}
            signed = {"thoughtSignature": piece.signature}
        if part := _part(piece):
            yield {**part, **signed}
            signed = {}
    if signed:
        yield {"text": "", **signed}


def _part(piece: Piece) -> dict[str, Any]:
    """The part that a piece was; none for a signature alone."""
    if isinstance(piece, Thought):
        return {"text": piece.text, "thought": True} if piece.text else {}
    if isinstance(piece, Words):
        return {"text": piece.text}
    arguments = object_of(decode(piece.arguments))
    if piece.name == CODE and not piece.known_id:
        return {"executableCode": arguments}
    named = {"id": piece.known_id} if piece.known_id else {}
    return {"functionCall": {**named, "name": piece.name, "args": arguments}}


def _is_answer(entry: Mapping[str, Any]) -> bool:
    return entry.get("role") == "model"


def _answer(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    parts = [_spelled(part) for entry in entries for part in objects_of(entry.get("parts"))]
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


def _given(entry: Mapping[str, Any]) -> list[Turn] | None:
    if "parts" not in entry:
        return None
    parts = [_spelled(part) for part in objects_of(entry.get("parts"))]
    results = [object_of(part["functionResponse"]) for part in parts if "functionResponse" in part]
    outcomes = [
        answered(text_of(each.get("id") or each.get("name")), _result_text(each))
        for each in results
    ]
    text = "".join(text_of(part.get("text")) for part in parts)
    return [*outcomes, said("user", text)] if text else outcomes


def _result_text(result: Mapping[str, Any]) -> str:
    response = object_of(result.get("response"))
    return text_of(response.get("result") or response.get("output")) or compact(response)


def _spelled(part: Mapping[str, Any]) -> dict[str, Any]:
    """Requests may be written with underscores, answers never are."""
    return {_SPELLED.get(key, key): value for key, value in part.items()}


HISTORY: Final = HistoryForm(_is_answer, _answer, _given)
