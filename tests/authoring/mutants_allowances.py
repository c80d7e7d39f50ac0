"""Mutants beside `allowance_streams`: what stands next to an allowance is still a fault."""

from __future__ import annotations

from typing import Final

from tests.authoring import converse as aws
from tests.authoring import edits
from tests.authoring.edits import delta, having, typed
from tests.authoring.gemini_streams import ARRAY
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Fields
from tests.authoring.turns import asks

CHAT: Final = "openai.chat/permits"
RESPONSES: Final = "openai.responses/permits"
GEMINI: Final = "gemini.generate/permits"
AGUI: Final = "agui/permits"
SPACED: Final = f"{CHAT}/permits-white-space-before-thinking"
NUMBERS: Final = f"{GEMINI}/permits-enums-as-numbers"
CITED: Final = "bedrock.converse/claude/permits-citations"
UNNUMBERED: Final = f"{RESPONSES}/permits-no-numbers-in-march-2025"
EARLIER: Final = f"{AGUI}/permits-snapshot-of-the-earlier-protocol"
RUN: Final = "agui/agent/tool-and-snapshot"
BARE: Final = f"{AGUI}/permits-call-without-arguments"
REASON: Final = "candidates.0.finishReason"
MAY_2025: Final = 1_746_057_600


def _without_reasoning(messages: list[Fields]) -> list[Fields]:
    return [each for each in messages if each["role"] != "reasoning"]


BILL: Final = "openai.chat/opencode-go/bill"

MUTANTS: Final = (
    # Nobody but OpenCode says anything behind the end.
    Mutant(
        "wire/chat/done-last",
        BILL,
        also=("wire/chat/chunk-fields", "wire/chat/chunk-object"),
        facts={"profile": "strict"},
        name="wire/chat/done-last-with-a-bill",
    ),
    Mutant(
        "wire/chat/chunk-object",
        "openai.chat/zai/chunks-without-object",
        also=(
            "wire/chat/finish-key",
            "wire/chat/role-once",
            "wire/chat/thinking-counted",
            "wire/chat/usage-apart",
        ),
        facts={"profile": "strict"},
        name="wire/chat/chunk-object-in-no-chunk",
    ),
    Mutant(
        "wire/chat/done-present",
        "openai.chat/cerebras/without-done",
        also=("wire/chat/finish-key",),
        facts={"profile": "strict"},
        name="wire/chat/done-present-at-no-end",
    ),
    # Asked for in a field of its own, the thinking stands in the text all the same.
    Mutant(
        "stripping/visible-text/no-markers",
        "openai.chat/groq/raw-by-default",
        turns={1: asks("reasoning_format", "parsed")},
        name="stripping/visible-text/no-markers-where-parsed",
    ),
    # The white space says a word, and so the answer has begun.
    Mutant(
        "thinking/stream/before-text",
        SPACED,
        (edits.change(delta("content"), "choices.0.delta.content", "\nSo"),),
        name="thinking/stream/before-text-after-a-word",
    ),
    Mutant(
        "wire/gemini/finish-stated",
        NUMBERS,
        (edits.change(having(REASON), REASON, 0),),
        name="wire/gemini/finish-stated-as-zero",
    ),
    Mutant("wire/gemini/enums-named", NUMBERS, facts={"path": ARRAY}),
    # Reasoning stands beside text, as a citation may.
    Mutant(
        "wire/converse-blocks/text-in-text",
        CITED,
        (
            edits.insert(
                aws.delta(1, reasoningContent={"text": "Hm."}), having("delta.citation"), after=True
            ),
        ),
        also=(
            "wire/converse-blocks/reasoning-in-reasoning",
            "wire/converse-blocks/signature-present",
        ),
        name="wire/converse-blocks/text-beside-reasoning",
    ),
    Mutant(
        "wire/responses/sequence-present",
        UNNUMBERED,
        (edits.change_all(having("response"), "response.created_at", MAY_2025),),
        name="wire/responses/sequence-present-in-may-2025",
    ),
    # An answer that names no model but gpt-oss thinks although nobody wants it to.
    Mutant(
        "effort/ollama/false-means-none",
        "ollama.chat/permits/permits-thinking-of-gpt-oss",
        turns={1: asks("model", "qwen3:8b")},
        name="effort/ollama/false-means-none-of-another-model",
    ),
    Mutant(
        "wire/agui/call-json",
        BARE,
        (edits.change(typed("TOOL_CALL_ARGS"), "delta", "{"),),
        name="wire/agui/call-json-begun",
    ),
    # The adapter's store knows no reasoning.
    Mutant(
        "wire/agui/snapshot-keeps-thinking",
        RUN,
        (edits.change(typed("MESSAGES_SNAPSHOT"), "messages", _without_reasoning),),
    ),
)
