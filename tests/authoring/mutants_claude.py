"""Mutants of `wire/stream-json` and `wire/lines`."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.claude import line
from tests.authoring.edits import Where, typed
from tests.authoring.messages import delta
from tests.authoring.mutant import SAID_ONCE, Mutant
from tests.authoring.pieces import Line, Message, at

TEXT: Final = "claude.stream-json/claude-code/thinking-then-text"
TOOLS: Final = "claude.stream-json/claude-code/tool-loop"
REDACTED: Final = "claude.stream-json/claude-code/redacted"
FAILED: Final = "claude.stream-json/claude-code/api-error"
COMPLETED: Final = "claude.stream-json/claude-code/ended-as-completed"
WHOLE: Final = "claude.stream-json/claude-code/no-partial-messages"
RETRIED: Final = "claude.stream-json/claude-code/error-then-another-try"
DOCUMENTED: Final = "claude.stream-json/documented/thinking-then-text"
SUITE: Final = "wire/stream-json"
BLOCK: Final = "message.content.0"


def wrapping(kind: str, **fields: Any) -> Where:
    """Events of that type that a line wraps."""

    def where(message: Message) -> bool:
        event = at(message.payload, "event") or {}
        stated = all(at(event, path.replace("_of_", ".")) == v for path, v in fields.items())
        return bool(event.get("type") == kind and stated)

    return where


def stating(kind: str) -> Where:
    """Lines that state a block of that type."""
    return lambda message: bool(at(message.payload, f"{BLOCK}.type") == kind)


INIT: Final = typed("system")
RESULT: Final = typed("result")
BEGUN: Final = wrapping("message_start")
ENDING: Final = wrapping("message_delta")
OVER: Final = wrapping("message_stop")
START: Final = wrapping("content_block_start")
STOP: Final = wrapping("content_block_stop")
SPOKEN: Final = wrapping("content_block_delta", delta_of_type="text_delta")
INPUT: Final = wrapping("content_block_delta", delta_of_type="input_json_delta")
SIGNED: Final = wrapping("content_block_delta", delta_of_type="signature_delta")


def piece(index: int, kind: str, **fields: Any) -> Line:
    """A delta of the first message."""
    event = delta(index, kind, **fields)
    return Line(line("stream_event", event=event, api_message_id="msg_01"))


def _one_more(text: str) -> str:
    return f"{text} Hm."


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/carries",
        TEXT,
        (edits.change(SPOKEN, "event.delta", lambda said: {"type": said["type"], "txt": "So."}),),
        (f"{SUITE}/text-agrees",),
    ),
    # A library of the tool's prints to standard output.
    Mutant("wire/lines/line-is-json", TEXT, (edits.insert(b"Loading settings\n", BEGUN),)),
    Mutant(
        "wire/lines/last-line-whole",
        TEXT,
        (edits.drop(RESULT), edits.insert(b'{"type":"res', OVER, after=True)),
        (f"{SUITE}/result-present",),
    ),
    Mutant(
        "wire/lines/utf8",
        TEXT,
        (edits.raw(SPOKEN, b"Through", b"Thr\xc3ough"),),
        ("thinking/stream/characters-whole", f"{SUITE}/text-agrees"),
    ),
    Mutant("wire/lines/ends-cleanly", TEXT, facts={"end": "idle-timeout"}),
    Mutant(f"{SUITE}/result-present", TEXT, (edits.drop(RESULT),)),
    Mutant(f"{SUITE}/init-first", TEXT, (edits.drop(INIT),)),
    Mutant(
        f"{SUITE}/result-last",
        TEXT,
        (
            edits.insert(
                Line(line("user", message={"role": "user", "content": []})), RESULT, after=True
            ),
        ),
    ),
    Mutant(f"{SUITE}/result-fields", TEXT, (edits.remove(RESULT, "session_id"),)),
    Mutant(
        f"{SUITE}/thinking-within-output",
        TEXT,
        (edits.change(RESULT, "usage.output_tokens_details.thinking_tokens", 400),),
    ),
    Mutant(f"{SUITE}/failure-told", FAILED, (edits.change(RESULT, "is_error", False),)),
    Mutant(
        f"{SUITE}/message-started",
        TEXT,
        (edits.drop(BEGUN),),
        (f"{SUITE}/block-type-agrees", SAID_ONCE),
    ),
    # The call was tried again, and the message has the id of the first one.
    Mutant(f"{SUITE}/message-once", TEXT, (edits.duplicate(BEGUN),)),
    Mutant(f"{SUITE}/message-stopped", TEXT, (edits.drop(OVER),)),
    Mutant(f"{SUITE}/message-over", TEXT, (edits.duplicate(OVER),)),
    # The call broke off behind the text, and the stop of the message was made up.
    Mutant(f"{SUITE}/delta-present", TEXT, (edits.drop(ENDING),)),
    Mutant(f"{SUITE}/blocks-before-delta", TEXT, (edits.move(ENDING, by=-1),)),
    Mutant(f"{SUITE}/block-lifecycle", TEXT, (edits.duplicate(STOP, -1),)),
    Mutant(f"{SUITE}/block-stopped", TEXT, (edits.drop(STOP, -1),)),
    Mutant(f"{SUITE}/blocks-serial", TEXT, (edits.move(STOP, by=1),)),
    Mutant(
        f"{SUITE}/index-contiguous",
        REDACTED,
        tuple(
            edits.change_all(wrapping(kind, index=1), "event.index", 2)
            for kind in ("content_block_start", "content_block_delta", "content_block_stop")
        ),
    ),
    # A relay gives every delta to the block that it read last.
    Mutant(
        f"{SUITE}/text-in-text",
        TEXT,
        (edits.insert(piece(0, "text", text="Moss."), STOP),),
    ),
    Mutant(
        f"{SUITE}/thinking-in-thinking",
        TEXT,
        (edits.insert(piece(1, "thinking", thinking="Moss."), STOP, -1),),
    ),
    Mutant(
        f"{SUITE}/input-in-tool",
        TEXT,
        (edits.insert(piece(1, "input_json", partial_json="{}"), STOP, -1),),
    ),
    Mutant(f"{SUITE}/input-json", TOOLS, (edits.drop(INPUT, -1),)),
    # The call broke off in the thinking, and both stops were made up.
    Mutant(
        f"{SUITE}/signature-present",
        TEXT,
        (edits.drop(SIGNED),),
        (f"{SUITE}/signature-agrees",),
    ),
    # A wrapper takes any result for a failure.
    Mutant(f"{SUITE}/outcome-agrees", COMPLETED, (edits.change(RESULT, "is_error", True),)),
    Mutant(
        f"{SUITE}/outcome-agrees",
        COMPLETED,
        (edits.change(RESULT, "terminal_reason", "api_error"),),
        name=f"{SUITE}/outcome-agrees-success",
    ),
    Mutant(
        f"{SUITE}/redacted-agrees",
        REDACTED,
        (edits.change(stating("redacted_thinking"), f"{BLOCK}.data", ""),),
    ),
    Mutant(
        f"{SUITE}/redacted-data",
        REDACTED,
        (edits.remove(START, "event.content_block.data"),),
        (f"{SUITE}/redacted-agrees",),
    ),
    Mutant(f"{SUITE}/block-stated", TEXT, (edits.drop(stating("text")),)),
    Mutant(f"{SUITE}/stated-in-order", DOCUMENTED, (edits.move(typed("assistant"), by=-3),)),
    Mutant(
        f"{SUITE}/thinking-agrees",
        TEXT,
        (edits.change(stating("thinking"), f"{BLOCK}.thinking", _one_more),),
    ),
    Mutant(
        f"{SUITE}/text-agrees",
        TEXT,
        (edits.change(stating("text"), f"{BLOCK}.text", _one_more),),
        (f"{SUITE}/result-agrees",),
    ),
    Mutant(
        f"{SUITE}/signature-agrees",
        TEXT,
        (edits.change(stating("thinking"), f"{BLOCK}.signature", "another"),),
    ),
    Mutant(f"{SUITE}/session-agrees", TEXT, (edits.change(RESULT, "session_id", "session-2"),)),
    Mutant(f"{SUITE}/events-of-session", TEXT, (edits.change(SPOKEN, "session_id", "session-2"),)),
    Mutant(f"{SUITE}/line-fields", TEXT, (edits.remove(stating("text"), "message.model"),)),
    Mutant(
        f"{SUITE}/line-typed",
        TOOLS,
        (edits.remove(typed("user"), "type"),),
        (f"{SUITE}/call-answered",),
    ),
    Mutant(f"{SUITE}/line-once", TEXT, (edits.duplicate(stating("text")),)),
    # A relay gives the message an id of its own.
    Mutant(f"{SUITE}/message-id-agrees", TEXT, (edits.change(BEGUN, "event.message.id", "m"),)),
    Mutant(
        f"{SUITE}/call-id-agrees", TOOLS, (edits.change(stating("tool_use"), f"{BLOCK}.id", "t"),)
    ),
    Mutant(
        f"{SUITE}/call-name-agrees",
        TOOLS,
        (edits.change(stating("tool_use"), f"{BLOCK}.name", "other"),),
    ),
    Mutant(
        f"{SUITE}/block-type-agrees",
        REDACTED,
        (edits.change(stating("redacted_thinking"), f"{BLOCK}.type", "redacted"),),
    ),
    Mutant(
        f"{SUITE}/stop-reason-known",
        TEXT,
        (edits.change(ENDING, "event.delta.stop_reason", "stop"),),
    ),
    # What was said before a tool was called is told as the answer.
    Mutant(f"{SUITE}/result-agrees", TOOLS, (edits.change(RESULT, "result", "Let me look."),)),
    Mutant(
        f"{SUITE}/stated-fields", WHOLE, (edits.remove(stating("thinking"), f"{BLOCK}.signature"),)
    ),
)
