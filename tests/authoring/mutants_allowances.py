"""Mutants beside `allowance_streams`: what stands next to an allowance is still a fault.

Those in `BESIDE` do not ship: the rule says nothing of their base, which the allowance is for.
"""

from __future__ import annotations

from typing import Final

from tests.authoring import converse as aws
from tests.authoring import edits
from tests.authoring.edits import having, typed
from tests.authoring.gemini_streams import ARRAY
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Fields
from tests.authoring.turns import asks

NUMBERS: Final = "gemini.generate/allowed/enums-as-numbers"
DEFAULTS: Final = "gemini.generate/allowed/default-values-of-enums"
CITED: Final = "bedrock.converse/claude/citations"
UNNUMBERED: Final = "openai.responses/allowed/no-numbers-in-march-2025"
CUT: Final = "anthropic.messages/allowed/call-cut-at-the-limit"
BARE: Final = "agui/allowed/call-without-arguments"
RUN: Final = "agui/agent/tool-and-snapshot"
RAW: Final = "openai.chat/groq/raw-by-default"
JUNE_2025: Final = 1_748_736_000
STRICT: Final = {"profile": "strict"}


def _without_reasoning(messages: list[Fields]) -> list[Fields]:
    return [each for each in messages if each["role"] != "reasoning"]


MUTANTS: Final = (
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
    # The adapter's store knows no reasoning.
    Mutant(
        "wire/agui/snapshot-keeps-thinking",
        RUN,
        (edits.change(typed("MESSAGES_SNAPSHOT"), "messages", _without_reasoning),),
    ),
)
BESIDE: Final = (
    Mutant("wire/gemini/enums-named", NUMBERS, facts={"path": ARRAY}),
    # Text that is cut stops, and so does a call that nothing cut.
    Mutant(
        "wire/messages-blocks/block-lifecycle",
        CUT,
        (edits.drop(typed("content_block_stop")),),
        also=("wire/messages-blocks/blocks-serial",),
    ),
    Mutant(
        "wire/messages-blocks/block-lifecycle",
        CUT,
        (edits.change(having("delta.stop_reason"), "delta.stop_reason", "tool_use"),),
        also=("wire/messages-blocks/input-json",),
        name="wire/messages-blocks/uncut-call-open",
    ),
    # A default value is no finish.
    Mutant(
        "wire/gemini/finish-stated",
        DEFAULTS,
        (
            edits.change_all(
                having("candidates.0.finishReason"),
                "candidates.0.finishReason",
                "FINISH_REASON_UNSPECIFIED",
            ),
        ),
    ),
    Mutant(
        "wire/responses/sequence-present",
        UNNUMBERED,
        (edits.change_all(having("response"), "response.created_at", JUNE_2025),),
    ),
    Mutant(
        "effort/ollama/false-means-none",
        "ollama.chat/allowed/thinking-of-gpt-oss",
        turns={1: asks("model", "qwen3:8b")},
    ),
    Mutant("wire/agui/call-json", BARE, (edits.change(typed("TOOL_CALL_ARGS"), "delta", "{"),)),
    # Nobody but OpenCode says anything behind the end.
    Mutant(
        "wire/chat/done-last",
        "openai.chat/opencode-go/bill",
        also=("wire/chat/chunk-fields", "wire/chat/chunk-object"),
        facts=STRICT,
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
        facts=STRICT,
    ),
    Mutant(
        "wire/chat/done-present",
        "openai.chat/cerebras/without-done",
        also=("wire/chat/finish-key",),
        facts=STRICT,
    ),
    # Asked for in a field of its own, the thinking stands in the text all the same.
    Mutant("stripping/visible-text/no-markers", RAW, turns={1: asks("reasoning_format", "parsed")}),
)
