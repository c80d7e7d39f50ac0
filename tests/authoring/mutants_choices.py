"""Mutants of what a client sends: levels, budgets and roles that are not those of its user."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import choice_streams
from tests.authoring.mutant import Mutant, Reported
from tests.authoring.turns import asks, asks_not, both

CHAT: Final = f"openai.chat/{choice_streams.LEVELS}"
RESPONSES: Final = f"openai.responses/{choice_streams.LEVELS}"
MESSAGES: Final = f"anthropic.messages/{choice_streams.LEVELS}"
CHAT_TURN: Final = "openai.chat/reference-client/next-turn"
WANTS: Final = "openai.chat/openhands-sdk/wants-thinking"
WANTS_NONE: Final = "openai.chat/openhands-sdk/wants-none"
RESPONSES_TURN: Final = "openai.responses/reference-client/next-turn"
RESPONSES_NEVER: Final = "openai.responses/never-sends-back/next-turn"
MESSAGES_TURN: Final = "anthropic.messages/reference-client/next-turn"
MESSAGES_NEVER: Final = "anthropic.messages/never-sends-back/next-turn"
ROUND: Final = "anthropic.messages/anthropic/tool-round"
REDACTED: Final = "anthropic.messages/anthropic/redacted-round"
PARTS: Final = "openai.responses/client/summary-four-parts"
BUDGET: Final = "thinking.budget_tokens"
CONTENT: Final = "messages.1.content"
WIRE: Final = "thinking/client/agrees-with-wire"


def _swapped(text: str) -> str:
    """As long as it was, and another."""
    return text[::-1]


def _behind(content: list[Any]) -> list[Any]:
    """Text in front of the thinking."""
    return [{"type": "text", "text": "I will look."}, *content]


def _with_reasoning(entries: list[Any]) -> list[Any]:
    item = {"type": "reasoning", "id": "rs_01", "summary": []}
    return [*entries[:1], item, *entries[1:]]


def _with_thinking(content: list[Any]) -> list[Any]:
    block = {"type": "thinking", "thinking": "It sails.", "signature": "c3ludGhldGlj"}
    return [block, *content]


def _twice(kind: str) -> Any:
    def retold(report: Reported) -> Reported:
        places = [n for n, event in enumerate(report) if event["type"] == kind]
        return [*report[: places[1] + 1], *report[places[1] :]]

    return retold


def _without(kind: str) -> Any:
    def retold(report: Reported) -> Reported:
        places = [n for n, event in enumerate(report) if event["type"] == kind]
        return [*report[: places[1]], *report[places[1] + 1 :]]

    return retold


EFFORT: Final = (
    Mutant("effort/chat/sent", CHAT, turns={2: asks("reasoning_effort", "medium")}),
    Mutant("effort/chat/changed-level", CHAT, turns={4: asks("reasoning_effort", "low")}),
    Mutant("effort/chat/max-is-high", CHAT, turns={3: asks("reasoning_effort", "max")}),
    Mutant("effort/chat/off-is-silent", CHAT, turns={1: asks("reasoning_effort", "low")}),
    Mutant(
        "effort/chat/by-model",
        "openai.chat/opal/other-model",
        turns={1: asks("reasoning_effort", "low")},
    ),
    Mutant(
        "effort/chat/default-level",
        f"openai.chat/{choice_streams.DEFAULT_HIGH}",
        turns={1: asks("reasoning_effort", "medium")},
    ),
    Mutant(
        "effort/chat/default-off",
        f"openai.chat/{choice_streams.DEFAULT_OFF}",
        turns={1: asks("reasoning_effort", "low")},
    ),
    Mutant("effort/responses/sent", RESPONSES, turns={2: asks("reasoning.effort", "medium")}),
    Mutant("effort/responses/changed-level", RESPONSES, turns={4: asks("reasoning.effort", "low")}),
    Mutant("effort/responses/max-is-high", RESPONSES, turns={3: asks("reasoning.effort", "max")}),
    Mutant(
        "effort/responses/off-is-silent", RESPONSES, turns={1: asks("reasoning", {"effort": "low"})}
    ),
    Mutant(
        "effort/responses/by-model",
        "openai.responses/opal/other-model",
        turns={1: asks("reasoning", {"effort": "low"})},
    ),
    Mutant(
        "effort/responses/default-level",
        f"openai.responses/{choice_streams.DEFAULT_HIGH}",
        turns={1: asks("reasoning.effort", "medium")},
    ),
    Mutant(
        "effort/responses/default-off",
        f"openai.responses/{choice_streams.DEFAULT_OFF}",
        turns={1: asks("reasoning", {"effort": "low"})},
    ),
    Mutant("effort/responses/developer-role", RESPONSES, turns={2: asks("input.0.role", "system")}),
    Mutant("effort/responses/system-role", RESPONSES, turns={1: asks("input.0.role", "developer")}),
    Mutant(
        "summary/request/auto-beside-effort",
        RESPONSES,
        also=("summary/request/only-when-asked",),
        turns={2: asks_not("reasoning.summary")},
    ),
    Mutant("effort/messages/budget-below-max", MESSAGES, turns={2: asks("max_tokens", 2048)}),
    Mutant(
        "effort/messages/budget-least",
        MESSAGES,
        also=("effort/messages/budget-low",),
        turns={2: asks(BUDGET, 512)},
    ),
    Mutant("effort/messages/budget-low", MESSAGES, turns={2: asks(BUDGET, 1024)}),
    Mutant("effort/messages/budget-medium", MESSAGES, turns={3: asks(BUDGET, 2048)}),
    Mutant("effort/messages/budget-high", MESSAGES, turns={4: asks(BUDGET, 8192)}),
    Mutant(
        "effort/messages/budget-max",
        MESSAGES,
        turns={5: both(asks(BUDGET, 32768), asks("max_tokens", 65536))},
    ),
    Mutant(
        "effort/messages/adaptive",
        MESSAGES,
        turns={
            6: both(
                asks("thinking", {"type": "enabled", "budget_tokens": 16384}),
                asks("max_tokens", 20480),
            )
        },
    ),
    Mutant(
        "effort/messages/adaptive-level", MESSAGES, turns={6: asks("output_config.effort", "high")}
    ),
    Mutant(
        "effort/messages/changed-level", MESSAGES, turns={7: asks("output_config.effort", "low")}
    ),
    Mutant(
        "effort/messages/off-is-silent",
        MESSAGES,
        turns={1: asks("thinking", {"type": "enabled", "budget_tokens": 2048})},
    ),
    Mutant(
        "effort/messages/by-model",
        "anthropic.messages/opal/other-model",
        turns={1: asks("thinking", {"type": "enabled", "budget_tokens": 2048})},
    ),
)
HISTORY: Final = (
    Mutant(
        "history/chat/always-carried",
        CHAT_TURN,
        turns={2: asks_not("messages.1.reasoning_content")},
    ),
    Mutant(
        "history/chat/carried-by-model", WANTS, turns={2: asks_not("messages.1.reasoning_content")}
    ),
    Mutant(
        "history/chat/withheld-by-model",
        WANTS_NONE,
        turns={2: asks("messages.1.reasoning_content", "It sails.")},
    ),
    Mutant(
        "history/responses/summary-carried",
        RESPONSES_TURN,
        turns={2: asks_not("input.1.summary.1")},
    ),
    Mutant(
        "history/responses/never-sent", RESPONSES_NEVER, turns={2: asks("input", _with_reasoning)}
    ),
    Mutant(
        "history/messages/signed-unchanged",
        ROUND,
        turns={2: asks(f"{CONTENT}.0.signature", _swapped)},
    ),
    Mutant("history/messages/redacted-unchanged", REDACTED, turns={2: asks_not(f"{CONTENT}.0")}),
    Mutant(
        "history/messages/text-unchanged", ROUND, turns={2: asks(f"{CONTENT}.0.thinking", _swapped)}
    ),
    # The store of a client cuts long texts.
    Mutant(
        "history/messages/turn-unchanged",
        MESSAGES_TURN,
        turns={2: asks(f"{CONTENT}.0.thinking", lambda said: said[:40])},
    ),
    Mutant("history/messages/first-in-content", ROUND, turns={2: asks(CONTENT, _behind)}),
    Mutant(
        "history/messages/signature-present",
        ROUND,
        also=("history/messages/signed-unchanged",),
        turns={2: asks_not(f"{CONTENT}.0.signature")},
    ),
    Mutant("history/messages/text-present", ROUND, turns={2: asks_not(f"{CONTENT}.0.thinking")}),
    # The turn was aborted in its thinking, and what is left of it is sent.
    Mutant("history/messages/content-not-empty", MESSAGES_TURN, turns={2: asks(CONTENT, [])}),
    Mutant("history/messages/always-carried", MESSAGES_TURN, turns={2: asks_not(f"{CONTENT}.0")}),
    # It is other thinking than came, too.
    Mutant(
        "history/messages/never-sent",
        MESSAGES_NEVER,
        also=("history/messages/turn-signed", "history/messages/turn-unchanged"),
        turns={2: asks(CONTENT, _with_thinking)},
    ),
)
REPORTS: Final = (
    Mutant(
        "summary/client/parts-once",
        PARTS,
        also=(WIRE, "summary/client/parts-counted"),
        retold=_twice("thinking.part"),
    ),
    Mutant("summary/client/parts-counted", PARTS, also=(WIRE,), retold=_without("thinking.part")),
    Mutant("summary/client/text-agrees", PARTS, also=(WIRE,), retold=_without("thinking.delta")),
)
MUTANTS: Final = (*EFFORT, *HISTORY, *REPORTS)
