"""Mutants of talks that no scenario arranged: what goes back is lost, altered or moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.authoring.mutant import Mutant
from tests.authoring.turns import asks

GOOGLE: Final = "openai.chat/google/talk"
OPENROUTER: Final = "openai.chat/openrouter/talk"
MESSAGES: Final = "anthropic.messages/anthropic/talk"
PRESERVED: Final = "anthropic.messages/anthropic/preserved-talk"
CONVERSE: Final = "bedrock.converse/claude/talk"
INTERACTIONS: Final = "gemini.interactions/gemini/next-turn"
STATELESS: Final = "openai.responses/openai/stateless-talk"
STORED: Final = "openai.responses/openai/stored-talk"
TWO_THOUGHTS: Final = "openai.responses/openai/two-thoughts-talk"
_SIGNED: Final = "messages.1.tool_calls.0.extra_content.google.thought_signature"


def _cut(text: str) -> str:
    return text[:-8]


def _turned(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return calls[::-1]


def _changing_places(one: int, other: int) -> Callable[[list[Any]], list[Any]]:
    """Two elements of a list, each where the other one stood."""

    def edit(elements: list[Any]) -> list[Any]:
        made = [*elements]
        made[one], made[other] = elements[other], elements[one]
        return made

    return edit


MUTANTS: Final = (
    Mutant("history/chat/earlier-calls-signed", GOOGLE, turns={3: asks(_SIGNED, _cut)}),
    Mutant(
        "history/chat/signed-in-place", GOOGLE, turns={2: asks("messages.1.tool_calls", _turned)}
    ),
    Mutant(
        "history/chat/details-signed",
        OPENROUTER,
        turns={2: asks("messages.1.reasoning_details.0.signature", _cut)},
    ),
    Mutant(
        "history/chat/details-sealed",
        OPENROUTER,
        turns={2: asks("messages.1.reasoning_details.1.data", _cut)},
    ),
    Mutant(
        "history/chat/earlier-details-signed",
        OPENROUTER,
        turns={3: asks("messages.1.reasoning_details.0.signature", _cut)},
    ),
    Mutant(
        "history/chat/earlier-details-sealed",
        OPENROUTER,
        turns={3: asks("messages.1.reasoning_details.1.data", _cut)},
    ),
    Mutant(
        "history/messages/turn-signed",
        MESSAGES,
        turns={3: asks("messages.1.content.0.signature", _cut)},
    ),
    Mutant(
        "history/messages/turn-redacted",
        MESSAGES,
        turns={3: asks("messages.1.content.1.data", _cut)},
    ),
    Mutant(
        "history/converse/turn-signed",
        CONVERSE,
        turns={
            3: asks("messages.1.content.0.reasoningContent.reasoningText.signature", _cut),
        },
    ),
    Mutant(
        "history/interactions/turn-signed",
        INTERACTIONS,
        turns={2: asks("input.1.signature", _cut)},
    ),
    Mutant(
        "history/responses/turn-sealed",
        STATELESS,
        turns={3: asks("input.1.encrypted_content", _cut)},
    ),
    # The prompt names the day, and midnight came.
    Mutant(
        "history/messages/instructions-kept",
        PRESERVED,
        turns={2: asks("system", lambda text: text.replace("ninth", "tenth"))},
    ),
    # A server of tools answered at last.
    Mutant(
        "history/messages/tools-kept",
        PRESERVED,
        turns={3: asks("tools", lambda tools: [*tools, {**tools[0], "name": "read_tables"}])},
    ),
    # A store shortens old messages.
    Mutant(
        "history/messages/earlier-kept",
        PRESERVED,
        turns={3: asks("messages.0.content", lambda text: text[:20])},
    ),
    Mutant(
        "history/chat/details-text-unchanged",
        OPENROUTER,
        turns={2: asks("messages.1.reasoning_details.0.text", _cut)},
    ),
    Mutant(
        "history/responses/stored-sealed",
        STORED,
        turns={2: asks("input.1.encrypted_content", _cut)},
    ),
    # A store keeps redacted blocks apart, and puts them first.
    Mutant(
        "history/messages/blocks-in-order",
        MESSAGES,
        turns={2: asks("messages.1.content", _changing_places(0, 1))},
    ),
    Mutant(
        "history/converse/blocks-in-order",
        "bedrock.converse/claude/sealed-talk",
        turns={2: asks("messages.1.content", _changing_places(0, 1))},
    ),
    Mutant(
        "history/chat/details-in-order",
        OPENROUTER,
        turns={2: asks("messages.1.reasoning_details", _changing_places(0, 1))},
    ),
    Mutant(
        "history/responses/items-in-order",
        TWO_THOUGHTS,
        turns={2: asks("input", _changing_places(1, 2))},
    ),
)
