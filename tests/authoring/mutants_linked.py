"""Mutants of talks that no scenario arranged: what goes back is lost, altered or moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.authoring.mutant import Mutant
from tests.authoring.pieces import opaque
from tests.authoring.turns import asks, asks_not

GOOGLE: Final = "openai.chat/google/talk"
OPENROUTER: Final = "openai.chat/openrouter/talk"
STRICT: Final = "openai.chat/strict/talk"
MESSAGES: Final = "anthropic.messages/anthropic/talk"
PRESERVED: Final = "anthropic.messages/anthropic/preserved-talk"
CONVERSE: Final = "bedrock.converse/claude/talk"
INTERACTIONS: Final = "gemini.interactions/gemini/next-turn"
STATELESS: Final = "openai.responses/openai/stateless-talk"
STORED: Final = "openai.responses/openai/stored-talk"
TWO_THOUGHTS: Final = "openai.responses/openai/two-thoughts-talk"
_SIGNED: Final = "messages.1.tool_calls.0.extra_content.google.thought_signature"
_OTHER: Final = opaque("ebb", 40)[::-1]


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
    Mutant(
        "history/chat/kept-with-calls",
        "openai.chat/moonshot/talk",
        turns={2: asks_not("messages.1.reasoning_content")},
    ),
    Mutant(
        "history/chat/kept-in-loop",
        "openai.chat/dashscope/talk",
        turns={2: asks_not("messages.1.reasoning_content")},
    ),
    Mutant(
        "history/chat/signed-calls",
        GOOGLE,
        turns={2: asks(_SIGNED, _OTHER)},
    ),
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
        "history/chat/opaque-unchanged",
        STRICT,
        turns={2: asks("messages.1.reasoning_opaque", _OTHER)},
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
    # The client keeps the ids of items and loses what was sealed.
    Mutant(
        "history/responses/sealed-or-left-out",
        STATELESS,
        turns={3: asks_not("input.1.encrypted_content")},
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
    # A client keeps messages and calls, and knows no other items.
    Mutant("history/responses/kept-with-calls", STORED, turns={2: asks_not("input.1")}),
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
