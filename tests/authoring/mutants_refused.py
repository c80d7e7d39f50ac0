"""Mutants that an official client refuses, or of which it shows less, by a key of one event."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import delta, having, typed
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_acp import CALL, STOPPED

CALLS: Final = "openai.chat/groq/reasoning-then-tool"
SEARCH: Final = "openai.responses/openai/hosted-search"
ANSWER: Final = "openai.responses/demo/summary"
CALLED: Final = "openai.responses/openai/summary-then-call"
SOUP: Final = "gemini.generate/gemini/thinking-then-text"
CITED: Final = "bedrock.converse/claude/citations"
AGENT: Final = "acp/agent/both-directions"
TURN: Final = "acp/agent/thought-then-message"
CHUNKS: Final = "agui/agent/chunks"
ACTIVITY: Final = "agui/agent/shared-state"
SNAPSHOT: Final = "agui/agent/tool-and-snapshot"
APPROVED: Final = "vercel.ui/ai-sdk/call-approved"
SIGNED: Final = "vercel.ui/ai-sdk/thinking-signed"
TABLE: Final = "cohere.v2/cohere/plan-then-tool"
TEXT: Final = "cohere.v2/cohere/thinking-then-text"
CLAUDE_CALLS: Final = "anthropic.messages/anthropic/thinking-then-tools"
CLAUDE: Final = "anthropic.messages/anthropic/thinking-then-text"
LOCATION: Final = "delta.citation.location"

MUTANTS: Final = (
    Mutant(
        "wire/chat/tool-typed",
        CALLS,
        (edits.remove(delta("tool_calls"), "choices.0.delta.tool_calls.0.type"),),
    ),
    Mutant(
        "wire/responses-items/announced-with-id",
        SEARCH,
        (edits.remove(typed("response.output_item.added", "web_search_call"), "item.id"),),
    ),
    Mutant(
        "wire/responses-items/announced-with-call-id",
        CALLED,
        (edits.remove(typed("response.output_item.added", "function_call"), "item.call_id"),),
    ),
    Mutant(
        "wire/responses-items/content-listed",
        ANSWER,
        (edits.remove(typed("response.output_item.added", "message"), "item.content"),),
    ),
    Mutant(
        "wire/responses-items/arguments-begun",
        CALLED,
        (edits.remove(typed("response.output_item.added", "function_call"), "item.arguments"),),
    ),
    Mutant(
        "wire/messages-blocks/input-begun",
        CLAUDE_CALLS,
        (edits.remove(having("content_block.name"), "content_block.input"),),
    ),
    # A gateway that writes what it has not as null.
    Mutant(
        "wire/responses/response-fields",
        ANSWER,
        (edits.change(typed("response.in_progress"), "response.id", None),),
        name="wire/responses/response-fields-null",
    ),
    Mutant(
        "wire/gemini/index-is-number",
        SOUP,
        (edits.change(having("candidates"), "candidates.0.index", "first"),),
    ),
    Mutant(
        "wire/converse-blocks/citation-located",
        CITED,
        (edits.change(having(LOCATION), LOCATION, {}),),
    ),
    Mutant(
        "wire/converse/metrics-are-object",
        CITED,
        (edits.change(having("metrics"), "metrics", "210 ms"),),
    ),
    Mutant("wire/acp/response-identified", TURN, (edits.remove(STOPPED, "id"),)),
    Mutant("wire/acp/call-titled", AGENT, (edits.remove(CALL, "params.update.title"),)),
    Mutant(
        "wire/agui/chunk-named", CHUNKS, (edits.remove(typed("TEXT_MESSAGE_CHUNK"), "messageId"),)
    ),
    Mutant(
        "wire/agui/run-fields",
        ACTIVITY,
        (edits.remove(typed("ACTIVITY_SNAPSHOT"), "activityType"),),
        name="wire/agui/run-fields-of-an-activity",
    ),
    Mutant(
        "wire/agui/carries",
        SNAPSHOT,
        (
            edits.change(
                typed("MESSAGES_SNAPSHOT"),
                "messages.2.toolCalls.0.function.arguments",
                {"sky": "clear"},
            ),
        ),
        name="wire/agui/carries-arguments-of-a-snapshot",
    ),
    Mutant(
        "wire/ui-message/part-fields",
        APPROVED,
        (edits.remove(typed("tool-approval-request"), "toolCallId"),),
    ),
    Mutant(
        "wire/ui-message/metadata-by-provider",
        SIGNED,
        (edits.change(having("providerMetadata"), "providerMetadata.provider", "signed"),),
    ),
    Mutant(
        "wire/cohere/call-is-object",
        TABLE,
        (edits.change(typed("tool-call-start"), "delta.message", None),),
        name="wire/cohere/call-is-object-null",
    ),
    Mutant(
        "wire/cohere/carries",
        TEXT,
        (edits.change(typed("message-end"), "delta.usage.billed_units", "none"),),
        name="wire/cohere/carries-counts",
    ),
    Mutant(
        "wire/messages/start-fields",
        CLAUDE,
        (edits.change(typed("message_start"), "message", None),),
        name="wire/messages/start-fields-null",
    ),
)
