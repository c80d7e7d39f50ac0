"""Mutants of ends that contradict each other: an error, and a success beside it or after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tests.authoring import chat_streams, edits, ollama_streams
from tests.authoring.claude import line
from tests.authoring.draft import JSON_BODY, Draft
from tests.authoring.edits import Pieces, Where, typed
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_chat import ONE_TOOL
from tests.authoring.mutants_claude import ENDING, RETRIED
from tests.authoring.pieces import Fields, Line, Message, Piece, at, compact
from tests.authoring.responses import counted

FAULT: Final = {"message": "The model is overloaded.", "type": "server_error", "code": 503}
CALL: Final = "choices.0.delta.tool_calls.0.function"
CALLED: Final = edits.delta("tool_calls")
FAILED: Final = typed("response.failed")
COMPLETED: Final = typed("response.completed")


def _with_error(message: Message) -> bool:
    return "error" in message.payload


def _finishes_with_error(pieces: Pieces) -> list[Piece]:
    """A choice that finishes well beside the error."""
    beside = {"index": 0, "delta": {"content": "At dusk."}, "finish_reason": "stop"}
    spot = edits.place(pieces, _with_error)
    failed = pieces[spot]
    assert isinstance(failed, Message)
    chunk = {"id": "chatcmpl-00", "object": "chat.completion.chunk", "created": 1_795_176_000}
    both = {**chunk, "model": "think-1", "choices": [beside], **failed.payload}
    return [*pieces[:spot], Message(both)]


def _goes_on(pieces: Pieces) -> list[Piece]:
    """Behind the error comes the chunk that came before it once more."""
    spot = edits.place(pieces, _with_error)
    return [*pieces, pieces[spot - 1]]


def _error_in_line(pieces: Pieces) -> list[Piece]:
    """The error stands in a line of the answer."""
    spot = edits.place(pieces, _with_error)
    failed, before = pieces[spot], pieces[spot - 1]
    assert isinstance(failed, Message)
    assert isinstance(before, Message)
    return [*pieces[:spot], Line({**before.payload, **failed.payload})]


def _succeeded(response: Fields) -> Fields:
    """A response that failed, told as one that is complete."""
    return {**response, "status": "completed", "error": None, "usage": counted((9, 0, 0))}


def _pieces_of(drafts: Iterable[Draft], name: str) -> list[Piece]:
    """What another answer was made of."""
    return next(list(draft.pieces) for draft in drafts if draft.name == name)


def _named_twice(pieces: Pieces) -> list[Piece]:
    """A proxy writes its own name of the model in front of the other."""
    (body,) = pieces
    assert isinstance(body, bytes)
    return [body.replace(b'"model":', b'"model":"think-0","model":', 1)]


def _ends_call(message: object) -> bool:
    return bool(at(getattr(message, "payload", None), "result.stopReason"))


def _error_event(message_id: str) -> Line:
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    return Line(line("stream_event", event=event, api_message_id=message_id))


ENDED: Final[Where] = _ends_call
GEMINI_ERROR: Final[Fields] = {
    "candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "So"}]}}]
}

MUTANTS: Final = (
    # The gateway asks another provider, and goes on with its answer.
    Mutant("wire/chat/error-last", "openai.chat/groq/error-in-the-middle", (_goes_on,)),
    Mutant(
        "wire/chat/error-last",
        "mistral.chat/mistral/error-in-thinking",
        (_goes_on,),
        name="wire/chat/error-last-of-mistral",
    ),
    Mutant(
        "wire/chat/error-without-success",
        "openai.chat/groq/error-in-the-middle",
        (_finishes_with_error,),
    ),
    Mutant(
        "wire/responses/error-last",
        "openai.responses/openai/error-then-failed",
        (
            edits.retype(FAILED, "response.completed"),
            edits.change(COMPLETED, "response", _succeeded),
        ),
    ),
    Mutant(
        "wire/gemini/error-alone",
        "gemini.generate/gemini/error-in-text",
        (edits.change(_with_error, "candidates", GEMINI_ERROR["candidates"]),),
    ),
    Mutant("wire/ollama/error-alone", "ollama.chat/ollama/error-in-text", (_error_in_line,)),
    Mutant(
        "wire/acp/result-or-error",
        "acp/agent/both-directions",
        (edits.change(ENDED, "error", {"code": -32603, "message": "Internal error"}),),
    ),
    Mutant(
        "wire/stream-json/error-last", RETRIED, (edits.insert(_error_event("msg_02"), ENDING, -1),)
    ),
    # What the status says, and what was asked.
    Mutant(
        "wire/http/error-status",
        "openai.chat/deepseek/body",
        (lambda _pieces: [compact({"error": FAULT}).encode()],),
    ),
    Mutant(
        "wire/http/streamed-as-asked",
        "openai.chat/deepseek/thinking-then-text",
        (lambda _pieces: _pieces_of(chat_streams.drafts(), "openai.chat/deepseek/body"),),
        facts={"content_type": JSON_BODY},
    ),
    Mutant(
        "wire/ollama/streamed-as-asked",
        "ollama.chat/ollama/thinking-then-text",
        (lambda _pieces: _pieces_of(ollama_streams.drafts(), "ollama.chat/ollama/body"),),
        facts={"content_type": JSON_BODY},
    ),
    Mutant(
        "wire/json/keys-unique",
        "acp/agent/thought-then-message",
        (edits.raw(ENDED, b'"id":', b'"id":7,"id":'),),
        name="wire/json/keys-unique-in-lines",
    ),
    Mutant(
        "wire/json/keys-unique",
        "openai.chat/deepseek/body",
        (_named_twice,),
        name="wire/json/keys-unique-in-body",
    ),
    # What comes of a call.
    Mutant(
        "wire/chat/tool-titled-once",
        ONE_TOOL,
        (
            edits.duplicate(CALLED),
            edits.remove(CALLED, "choices.0.delta.tool_calls.0.id", 1),
            edits.remove(CALLED, "choices.0.delta.tool_calls.0.type", 1),
            edits.change(CALLED, f"{CALL}.arguments", "", 1),
        ),
    ),
)
