"""Mutants of what a client sends: levels, budgets and roles that are not those of its user."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.mutant import Mutant, Reported
from tests.authoring.turns import asks

RESPONSES_NEVER: Final = "openai.responses/never-sends-back/next-turn"
MESSAGES_NEVER: Final = "anthropic.messages/never-sends-back/next-turn"
ROUND: Final = "anthropic.messages/anthropic/tool-round"
PARTS: Final = "openai.responses/client/summary-four-parts"
CONTENT: Final = "messages.1.content"
WIRE: Final = "thinking/client/agrees-with-wire"


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


EFFORT: Final = ()
HISTORY: Final = (
    Mutant(
        "history/responses/never-sent", RESPONSES_NEVER, turns={2: asks("input", _with_reasoning)}
    ),
    Mutant("history/messages/first-in-content", ROUND, turns={2: asks(CONTENT, _behind)}),
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
