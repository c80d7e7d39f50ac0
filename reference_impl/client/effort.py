"""How hard to think: one list of levels, and what each API calls them.

    level    chat, responses   messages, adaptive   messages, budget in tokens
    low      low               low                  2,048
    medium   medium            medium               8,192
    high     high              high                 16,384
    max      high              max                  16,384

`off` sends nothing. Claude models from 4.6 on think adaptively, older ones within a budget.
This is the reference; likeness.py has what others do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .ask import Ask
from .likeness import SUMMARIES

MOST_TOKENS: Final = 4_096
# So many tokens are left for the answer beside a budget.
LEAST_ANSWER: Final = 1_024
_CLAUDE: Final = re.compile(r"claude-(?:opus|sonnet|haiku)-(\d+)(?:[.-](\d{1,2})(?!\d))?")
_ADAPTIVE_SINCE: Final = (4, 6)
_WITH_BUDGET: Final = re.compile(r"gemini-2")
# Families that are hosted for others -> the field in which they take a level.
_HOSTED: Final = {"gpt-oss": "reasoning_effort", "qwen": "reasoning_config"}


def chat(ask: Ask) -> dict[str, Any]:
    return {"reasoning_effort": _level_of_ask(ask)} if ask.thinks else {}


def responses(ask: Ask) -> dict[str, Any]:
    """Fields of a Responses request. A summary goes beside effort, or is asked for by name."""
    wanted = _summary_of_ask(ask)
    reasoning = {"effort": _level_of_ask(ask)} if ask.thinks else {}
    if wanted in SUMMARIES:
        reasoning["summary"] = wanted
    return {"reasoning": reasoning} if reasoning else {}


def messages(ask: Ask, max_tokens: int) -> dict[str, Any]:
    """Fields of a Messages request, its `max_tokens` among them."""
    if not ask.thinks:
        return {"max_tokens": max_tokens}
    if is_adaptive(ask.model):
        adaptive = {"thinking": {"type": "adaptive"}, "output_config": {"effort": ask.effort}}
        return {"max_tokens": max_tokens, **adaptive}
    budget = ask.like.budgets[ask.effort]
    if ask.like.fits_budget:
        budget = min(budget, max_tokens - 1)
    else:
        max_tokens = max(max_tokens, budget + LEAST_ANSWER)
    thinking: Mapping[str, Any] = {"type": "enabled", "budget_tokens": budget}
    return {"max_tokens": max_tokens, "thinking": thinking}


def ollama(ask: Ask) -> dict[str, Any]:
    """Fields of a request to Ollama, which knows every level."""
    return {"think": ask.effort} if ask.thinks else {}


def gemini(ask: Ask) -> dict[str, Any]:
    """The `thinkingConfig` of a Gemini request: a level from Gemini 3 on, a budget before."""
    thinking: dict[str, Any] = {"includeThoughts": True} if _is_shown(ask) else {}
    if ask.thinks and _WITH_BUDGET.search(ask.model):
        thinking["thinkingBudget"] = ask.like.budgets[ask.effort]
    elif ask.thinks:
        thinking["thinkingLevel"] = _level_of_ask(ask)
    return {"thinkingConfig": thinking} if thinking else {}


def interactions(ask: Ask) -> dict[str, Any]:
    """The `generation_config` of a request to the Interactions API."""
    thinking: dict[str, Any] = {"thinking_summaries": "auto"} if _is_shown(ask) else {}
    return {**thinking, "thinking_level": _level_of_ask(ask)} if ask.thinks else thinking


def cohere(ask: Ask) -> dict[str, Any]:
    """Fields of a request to Cohere, which takes a budget."""
    budget = ask.like.budgets.get(ask.effort)
    return {"thinking": {"type": "enabled", "token_budget": budget}} if ask.thinks else {}


@dataclass(frozen=True, slots=True)
class ConverseEffort:
    """The effort in Converse, at three places; `fields` are those that the model itself defines."""

    max_tokens: int
    level: str
    fields: Mapping[str, Any]


def converse(ask: Ask) -> ConverseEffort:
    """The effort of a Converse request, in the words of the model that is hosted."""
    most = ask.max_tokens or MOST_TOKENS
    own = next((field for family, field in _HOSTED.items() if family in ask.model), "")
    if own:
        return ConverseEffort(most, "", {own: _level_of_ask(ask)} if ask.thinks else {})
    wanted = messages(ask, most)
    thinking = {"thinking": wanted["thinking"]} if "thinking" in wanted else {}
    level = wanted.get("output_config", {}).get("effort", "")
    return ConverseEffort(wanted["max_tokens"], level, thinking)


def _is_shown(ask: Ask) -> bool:
    """Whether thinking is to be shown that an API hides unless it is asked for."""
    return ask.include_thinking or _summary_of_ask(ask) in SUMMARIES


def _summary_of_ask(ask: Ask) -> str | None:
    return ask.summary or (ask.like.summary if ask.thinks else None)


def is_adaptive(model: str) -> bool:
    """Whether a model takes a level rather than a budget."""
    found = _CLAUDE.search(model)
    return found is not None and (int(found[1]), int(found[2] or 0)) >= _ADAPTIVE_SINCE


def _level_of_ask(ask: Ask) -> str:
    return "high" if ask.effort == "max" and ask.like.clamps_max else ask.effort
