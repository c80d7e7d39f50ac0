"""Mutants of ends that contradict each other: an error, and a success beside it or after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tests.authoring import chat_streams, edits, ollama_streams
from tests.authoring.claude import line
from tests.authoring.draft import JSON_BODY, Draft
from tests.authoring.edits import Pieces, Where, having, typed
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_chat import ONE_TOOL, SAID
from tests.authoring.mutants_claude import ENDING, RESULT, RETRIED
from tests.authoring.mutants_codex import COMMAND, RUN
from tests.authoring.mutants_codex_server import OVER, sent
from tests.authoring.mutants_wire import TEXT
from tests.authoring.pieces import Fields, Line, Message, Piece, at, compact
from tests.authoring.responses import counted
from tests.authoring.turns import asks, in_body

FAULT: Final = {"message": "The model is overloaded.", "type": "server_error", "code": 503}
COMMAND_RUN: Final = "codex.app-server/codex/command-run"
NOTED: Final = "codex.app-server/codex/raw-then-message"
STEERED: Final = "codex.app-server/codex/both-directions"
CALL: Final = "choices.0.delta.tool_calls.0.function"
CALLED: Final = edits.delta("tool_calls")
FAILED: Final = typed("response.failed")
COMPLETED: Final = typed("response.completed")
SAID_IN_BODY: Final = "choices.0.message.content"
OVER_TEXT: Final = "openai.responses/demo/summary"


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
COMMAND_OVER: Final = sent("item/completed", "commandExecution")
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
        "wire/responses/success-without-error",
        OVER_TEXT,
        (edits.change(typed("response.completed"), "response.error", FAULT),),
    ),
    Mutant(
        "wire/responses/success-without-error",
        "openai.responses/deepseek/raw-body",
        (in_body("error", FAULT),),
        name="wire/responses/success-without-error-in-body",
    ),
    Mutant(
        "wire/gemini/error-alone",
        "gemini.generate/gemini/error-in-text",
        (edits.change(_with_error, "candidates", GEMINI_ERROR["candidates"]),),
    ),
    Mutant("wire/ollama/error-alone", "ollama.chat/ollama/error-in-text", (_error_in_line,)),
    Mutant(
        "wire/cohere/success-without-error",
        "cohere.v2/cohere/thinking-then-text",
        (edits.change(typed("message-end"), "delta.error", "the generation broke off"),),
    ),
    Mutant(
        "wire/interactions/success-without-errors",
        "gemini.interactions/gemini/thought-then-text",
        (
            edits.change(
                having("interaction.usage"), "interaction.errors", [{"message": "it broke off"}]
            ),
        ),
    ),
    Mutant(
        "wire/codex-app-server/success-without-error",
        NOTED,
        (edits.change(OVER, "params.turn.error", {"message": "Overloaded."}),),
    ),
    Mutant(
        "wire/codex-app-server/failure-final",
        "codex.app-server/codex/turn-failed",
        (
            edits.change(OVER, "params.turn.status", "completed"),
            edits.change(OVER, "params.turn.error", None),
        ),
    ),
    Mutant(
        "wire/codex-app-server/result-or-error",
        STEERED,
        (edits.change(having("result"), "error", {"code": -32603, "message": "No."}),),
    ),
    Mutant(
        "wire/codex-app-server/item-outcome",
        COMMAND_RUN,
        (edits.change(COMMAND_OVER, "params.item.exitCode", None),),
    ),
    Mutant("wire/codex-exec/item-outcome", RUN, (edits.change(COMMAND, "item.exit_code", None),)),
    Mutant(
        "wire/codex-exec/item-type-agrees",
        RUN,
        (
            edits.change(COMMAND, "item.text", "Moss."),
            edits.change(COMMAND, "item.type", "agent_message"),
        ),
    ),
    Mutant(
        "wire/acp/result-or-error",
        "acp/agent/both-directions",
        (edits.change(ENDED, "error", {"code": -32603, "message": "Internal error"}),),
    ),
    Mutant(
        "wire/stream-json/error-last", RETRIED, (edits.insert(_error_event("msg_02"), ENDING, -1),)
    ),
    Mutant(
        "wire/stream-json/result-says-text",
        "claude.stream-json/claude-code/thinking-then-text",
        (edits.change(RESULT, "result", ""),),
    ),
    Mutant(
        "wire/codex-exec/item-outcome",
        RUN,
        (edits.change(COMMAND, "item.status", "failed"),),
        name="wire/codex-exec/item-outcome-failed-well",
    ),
    Mutant(
        "wire/codex-exec/success-without-error",
        RUN,
        (edits.change(typed("turn.completed"), "error", FAULT),),
    ),
    Mutant(
        "wire/responses/complete-without-details",
        OVER_TEXT,
        (edits.change(COMPLETED, "response.incomplete_details", {"reason": "max_output_tokens"}),),
    ),
    Mutant(
        "wire/messages/body-without-error",
        "anthropic.messages/anthropic/body",
        (in_body("error", FAULT),),
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
    Mutant("thinking/answer/said", "openai.chat/deepseek/body", (in_body(SAID_IN_BODY, ""),)),
    # Half of the answer comes from somewhere else, or through a proxy that reads it wrongly.
    Mutant("wire/chat/same-model", TEXT, (edits.change(SAID, "model", "think-0"),)),
    Mutant(
        "wire/responses/same-model",
        OVER_TEXT,
        (edits.change(typed("response.completed"), "response.model", "think-0"),),
    ),
    Mutant(
        "wire/gemini/same-model",
        "gemini.generate/gemini/thinking-then-text",
        (edits.change(having("modelVersion"), "modelVersion", "gemini-0", -1),),
    ),
    Mutant(
        "wire/ollama/same-model",
        "ollama.chat/ollama/thinking-then-text",
        (edits.change(having("done_reason"), "model", "think-0"),),
    ),
    Mutant("wire/json/keys-unique", TEXT, (edits.raw(SAID, b'"index":0', b'"index":1,"index":0'),)),
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
    Mutant(
        "thinking/stream/decoded-once",
        TEXT,
        (edits.change(SAID, "choices.0.delta.content", lambda said: f"{said} cafÃ©"),),
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
    Mutant(
        "wire/calls/arguments-there",
        ONE_TOOL,
        (edits.change(CALLED, f"{CALL}.arguments", ""),),
        turns={1: asks("tools.0.function.parameters.required", ["city"])},
    ),
    Mutant(
        "wire/calls/arguments-fit",
        ONE_TOOL,
        (edits.change(CALLED, f"{CALL}.arguments", '{"city":7}'),),
    ),
    Mutant("wire/calls/tool-offered", ONE_TOOL, (edits.change(CALLED, f"{CALL}.name", "weather"),)),
    Mutant(
        "wire/ui-message/input-agrees",
        "vercel.ui/ai-sdk/tool-in-two-steps",
        (edits.change(typed("tool-input-available"), "input", {"to": "nowhere"}),),
    ),
    Mutant(
        "wire/ui-message/output-there",
        "vercel.ui/ai-sdk/tool-in-two-steps",
        (edits.remove(typed("tool-output-available"), "output"),),
    ),
    Mutant(
        "wire/ui-message/output-fields",
        "vercel.ui/ai-sdk/tool-in-two-steps",
        (edits.retype(typed("tool-output-available"), "tool-output-error"),),
    ),
    Mutant(
        "wire/ui-message/output-once",
        "vercel.ui/ai-sdk/tool-in-two-steps",
        (edits.duplicate(typed("tool-output-available")),),
    ),
    Mutant(
        "wire/ui-message/call-answered",
        "vercel.ui/ai-sdk/tool-in-two-steps",
        (edits.drop(typed("tool-output-available")),),
    ),
    Mutant(
        "wire/ui-message/input-there",
        "vercel.ui/ai-sdk/tool-in-two-steps",
        (edits.remove(typed("tool-input-available"), "input"),),
    ),
    Mutant(
        "wire/agui/result-once",
        "agui/agent/tool-and-snapshot",
        (edits.duplicate(typed("TOOL_CALL_RESULT")),),
    ),
    Mutant(
        "wire/agui/result-of-call",
        "agui/agent/tool-and-snapshot",
        (edits.change(typed("TOOL_CALL_RESULT"), "toolCallId", "nobody"),),
    ),
    Mutant(
        "wire/agui/event-fields",
        "agui/agent/tool-and-snapshot",
        (edits.remove(typed("TOOL_CALL_START"), "toolCallName"),),
        name="wire/agui/event-fields-of-a-call",
    ),
    Mutant(
        "wire/stream-json/result-of-call",
        "claude.stream-json/claude-code/tool-loop",
        (edits.change(typed("user"), "message.content.0.tool_use_id", "toolu_9"),),
    ),
    Mutant(
        "wire/stream-json/call-answered",
        "claude.stream-json/claude-code/tool-loop",
        (edits.drop(typed("user")),),
    ),
    Mutant(
        "wire/acp/call-ended",
        "acp/agent/both-directions",
        (
            edits.change(
                having("params.update.toolCallId"), "params.update.status", "in_progress", -1
            ),
        ),
    ),
)
