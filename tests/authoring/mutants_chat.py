"""Mutants of `wire/chat`: chunks, choices and the end."""

from __future__ import annotations

import json
from typing import Final

from tests.authoring import edits
from tests.authoring.chat import Server, counted
from tests.authoring.edits import delta, done, having
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_wire import CONTENT, FINGERPRINT, SIGNED, TEXT
from tests.authoring.pieces import Message, Piece, at, compact
from tests.authoring.turns import in_body, not_in_body

NO_USAGE: Final = "openai.chat/llamacpp/no-usage"
ONE_TOOL: Final = "openai.chat/groq/reasoning-then-tool"
TOOLS: Final = "openai.chat/deepseek/parallel-tools"
ENDED: Final = "choices.0.finish_reason"
FIRST: Final = having("choices.0.delta.role")
FINISH: Final = having(ENDED)
USAGE: Final = having("usage")
THOUGHT: Final = delta("reasoning_content")
SAID: Final = delta("content")
CALLED: Final = delta("tool_calls")
DETAIL: Final = delta("reasoning_details")
ANSWERED: Final = "usage.completion_tokens_details.reasoning_tokens"
TOOL: Final = "choices.0.delta.tool_calls.0"


def _signature(path: str) -> edits.Where:
    return having(f"choices.0.delta.reasoning_details.0.{path}")


def _without_choices(pieces: edits.Pieces) -> list[Piece]:
    (body,) = pieces
    assert isinstance(body, bytes)
    return [compact({**json.loads(body), "choices": [], "usage": None}).encode()]


def _second_call(message: Message) -> bool:
    return bool(at(message.payload, f"{TOOL}.index") == 1)


MUTANTS: Final = (
    # The form of a request's content.
    Mutant(
        "wire/chat/content-is-text",
        TEXT,
        (
            edits.change(
                SAID, "choices.0.delta.content", lambda said: [{"type": "text", "text": said}]
            ),
        ),
    ),
    Mutant(
        "wire/chat/content-parts",
        "openai.chat/mistral/thinking-parts",
        (
            edits.change(
                having("choices.0.delta.content.0.thinking"),
                "choices.0.delta.content.0.thinking.0.text",
                7,
            ),
        ),
    ),
    Mutant(
        "wire/chat/message-fields",
        "openai.chat/deepseek/body",
        (not_in_body("choices.0.message.role"),),
    ),
    Mutant("wire/chat/answer-present", "openai.chat/deepseek/body", (_without_choices,)),
    Mutant("wire/chat/chunk-fields", TEXT, (edits.remove(SAID, "model"),)),
    Mutant("wire/chat/chunk-object", TEXT, (edits.change(SAID, "object", "chat.completion"),)),
    Mutant("wire/chat/choice-fields", TEXT, (edits.remove(SAID, "choices.0.index"),)),
    Mutant("wire/chat/finish-key", TEXT, (edits.remove(SAID, ENDED),)),
    Mutant(
        "wire/chat/delta-types",
        TEXT,
        (edits.change(THOUGHT, "choices.0.delta.reasoning_content", [{"text": "Street lamps"}]),),
    ),
    Mutant(
        "wire/chat/delta-types",
        "openai.chat/deepseek/body",
        (in_body("choices.0.message.reasoning_content", lambda said: [{"text": said}]),),
        name="wire/chat/delta-types-of-a-body",
    ),
    Mutant(
        "wire/chat/delta-types",
        "openai.chat/zai/chunks-without-object",
        (edits.remove(SAID, "choices"),),
        name="wire/chat/delta-types-without-choices",
    ),
    # A gateway merges what two providers said under one index.
    Mutant(
        "wire/chat/choice-once",
        TEXT,
        (edits.change(THOUGHT, "choices", lambda one: [*one, *one]),),
    ),
    Mutant(
        "wire/chat/whole-calls-not-stopped",
        "openai.chat/openhands/text-blocks-beside-call",
        (in_body(ENDED, "stop"),),
    ),
    Mutant(
        "wire/chat/message-fields",
        "openai.chat/openhands/text-blocks-beside-call",
        (in_body("choices.0.message.tool_calls.0.function.arguments", None),),
        name="wire/chat/message-fields-arguments",
    ),
    Mutant(
        "wire/chat/usage-fields",
        TEXT,
        (edits.change(USAGE, ANSWERED, "eleven"),),
        ("wire/chat/thinking-counted",),
        name="wire/chat/usage-fields-reasoning",
    ),
    # Beside every delta the text so far.
    Mutant(
        "wire/chat/no-message",
        TEXT,
        (edits.change(SAID, "choices.0.message", {"role": "assistant", "content": "They are"}),),
    ),
    Mutant("wire/chat/usage-fields", TEXT, (edits.remove(USAGE, "usage.total_tokens"),)),
    Mutant("wire/chat/total-is-sum", TEXT, (edits.change(USAGE, "usage.total_tokens", 1),)),
    Mutant(
        "wire/chat/tool-ids-distinct",
        TOOLS,
        (edits.change(_second_call, f"{TOOL}.id", "call_0"),),
    ),
    Mutant("wire/chat/same-id", TEXT, (edits.change(SAID, "id", "chatcmpl-99"),)),
    Mutant("wire/chat/same-created", TEXT, (edits.change(SAID, "created", 1_795_176_001),)),
    Mutant("wire/chat/role-first", TEXT, (edits.remove(FIRST, "choices.0.delta.role"),)),
    Mutant("wire/chat/role-known", TEXT, (edits.change(FIRST, "choices.0.delta.role", "user"),)),
    # The parser of the server lost the call.
    Mutant("wire/chat/finished-calls-there", ONE_TOOL, (edits.drop(CALLED),)),
    Mutant("wire/chat/role-once", TEXT, (edits.change(SAID, "choices.0.delta.role", "assistant"),)),
    Mutant(
        "wire/chat/finish-present",
        NO_USAGE,
        (edits.change(FINISH, ENDED, None),),
    ),
    Mutant("wire/chat/finish-once", TEXT, (edits.duplicate(FINISH),)),
    Mutant("wire/chat/finish-known", TEXT, (edits.change(FINISH, ENDED, "eos"),)),
    Mutant("wire/chat/done-present", TEXT, (edits.drop(done),)),
    Mutant("wire/chat/done-once", TEXT, (edits.duplicate(done),)),
    Mutant("wire/chat/done-last", TEXT, (edits.move(USAGE, by=1),)),
    Mutant(
        "wire/chat/empty-choices-last",
        TEXT,
        (edits.insert(Server(extra=FINGERPRINT).chunk([]), FIRST),),
    ),
    Mutant(
        "wire/chat/empty-choices-outside",
        "openai.chat/azure/content-filter-first",
        (edits.insert(Server().chunk([]), SAID),),
    ),
    Mutant(
        "wire/chat/usage-last",
        TEXT,
        (edits.drop(USAGE), edits.change(SAID, "usage", counted((9, 20, 19)))),
    ),
    Mutant("wire/chat/usage-once", TEXT, (edits.duplicate(USAGE),)),
    # The extra chunk repeats a choice that says nothing.
    Mutant(
        "wire/chat/usage-apart",
        "openai.chat/openai/usage-asked",
        (edits.change(USAGE, "choices", [{"index": 0, "delta": {}, "finish_reason": None}]),),
    ),
    Mutant("wire/chat/usage-when-asked", "openai.chat/openai/usage-asked", (edits.drop(USAGE),)),
    Mutant("wire/chat/thinking-counted", TEXT, (edits.change(USAGE, ANSWERED, 0),)),
    Mutant("wire/chat/thinking-within-output", TEXT, (edits.change(USAGE, ANSWERED, 32),)),
    Mutant(
        "wire/chat/within-limit",
        "openai.chat/openai/limit-named",
        (
            edits.change(USAGE, "usage.completion_tokens", 65),
            edits.change(USAGE, "usage.total_tokens", 74),
        ),
    ),
    Mutant(
        "wire/chat/one-thinking-field",
        TEXT,
        (edits.change(THOUGHT, "choices.0.delta.reasoning", "Street lamps"),),
    ),
    # The last thinking and the first text share a chunk.
    Mutant(
        "wire/chat/thinking-apart-from-text",
        TEXT,
        (edits.change(THOUGHT, CONTENT, "They are", -1), edits.drop(SAID, 1)),
    ),
    Mutant(
        "wire/chat/opaque-before-text",
        "openai.chat/litellm/signed-blocks",
        (edits.move(having("choices.0.delta.thinking_blocks.0.signature"), by=2),),
    ),
    Mutant("wire/chat/detail-before-text", SIGNED, (edits.move(_signature("signature"), by=2),)),
    Mutant(
        "wire/chat/detail-agrees",
        SIGNED,
        (edits.change(DETAIL, "choices.0.delta.reasoning_details.0.text", "Street", 1),),
    ),
    Mutant(
        "wire/chat/detail-fields",
        SIGNED,
        (edits.change(_signature("signature"), "choices.0.delta.reasoning_details.0.type", None),),
    ),
    Mutant(
        "wire/chat/detail-index",
        SIGNED,
        (edits.remove(DETAIL, "choices.0.delta.reasoning_details.0.index"),),
    ),
    Mutant(
        "wire/chat/tool-index",
        ONE_TOOL,
        (edits.change(CALLED, f"{TOOL}.index", 1),),
    ),
    Mutant("wire/chat/tool-index-known", ONE_TOOL, (edits.remove(CALLED, f"{TOOL}.index"),)),
    Mutant(
        "wire/chat/tool-typed-once", TOOLS, (edits.change(CALLED, f"{TOOL}.type", "function", 1),)
    ),
    Mutant("wire/chat/tool-complete", TOOLS, (edits.change(CALLED, f"{TOOL}.function.name", ""),)),
    Mutant("wire/chat/tool-identified", TOOLS, (edits.remove(CALLED, f"{TOOL}.id"),)),
    # The same of a call that is one fragment: nothing follows it that could be early.
    Mutant(
        "wire/chat/tool-complete",
        ONE_TOOL,
        (edits.change(CALLED, f"{TOOL}.function.name", ""),),
        name="wire/chat/tool-complete-in-one-fragment",
    ),
    Mutant(
        "wire/chat/tool-identified",
        ONE_TOOL,
        (edits.remove(CALLED, f"{TOOL}.id"),),
        name="wire/chat/tool-identified-in-one-fragment",
    ),
    # What a gateway makes of a call that came as an object.
    Mutant(
        "wire/chat/tool-arguments-text",
        ONE_TOOL,
        (edits.change(CALLED, f"{TOOL}.function.arguments", {"city": "Oslo"}),),
    ),
    Mutant("wire/chat/finish-says-calls", ONE_TOOL, (edits.change(FINISH, ENDED, "stop"),)),
    Mutant("wire/chat/tool-named-once", TOOLS, (edits.change(CALLED, f"{TOOL}.id", "call_0", 1),)),
    Mutant("wire/chat/tool-arguments-json", TOOLS, (edits.drop(CALLED, -1),)),
)
