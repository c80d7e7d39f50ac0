"""How hard to think: one list of levels, and what each API calls them.

    level    chat, responses   messages, adaptive   messages, budget in tokens
    low      low               low                  2,048
    medium   medium            medium               8,192
    high     high              high                 16,384
    max      high              max                  16,384

`off` sends nothing. Claude models from 4.6 on think adaptively, older ones within a budget.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

LEVELS: Final = ("off", "low", "medium", "high", "max")
SUMMARIES: Final = ("auto", "concise", "detailed")
BUDGETS: Final = {"low": 2_048, "medium": 8_192, "high": 16_384, "max": 16_384}
# So many tokens are left for the answer beside a budget.
LEAST_ANSWER: Final = 1_024
_CLAUDE: Final = re.compile(r"claude-(?:opus|sonnet|haiku)-(\d+)(?:[.-](\d{1,2})(?!\d))?")
_ADAPTIVE_SINCE: Final = (4, 6)


def chat(level: str) -> dict[str, Any]:
    """Fields of a Chat Completions request."""
    return {} if level == "off" else {"reasoning_effort": _clamped(level)}


def responses(level: str, summary: str | None) -> dict[str, Any]:
    """Fields of a Responses request. A summary is asked for wherever thinking is, or by name."""
    wanted = summary or ("auto" if level != "off" else None)
    reasoning = {"effort": _clamped(level)} if level != "off" else {}
    if wanted in SUMMARIES:
        reasoning["summary"] = wanted
    return {"reasoning": reasoning} if reasoning else {}


def messages(level: str, model: str, max_tokens: int) -> dict[str, Any]:
    """Fields of a Messages request, its `max_tokens` among them."""
    if level == "off":
        return {"max_tokens": max_tokens}
    if is_adaptive(model):
        adaptive = {"thinking": {"type": "adaptive"}, "output_config": {"effort": level}}
        return {"max_tokens": max_tokens, **adaptive}
    budget = BUDGETS[level]
    thinking: Mapping[str, Any] = {"type": "enabled", "budget_tokens": budget}
    return {"max_tokens": max(max_tokens, budget + LEAST_ANSWER), "thinking": thinking}


def is_adaptive(model: str) -> bool:
    """Whether a model takes a level rather than a budget."""
    found = _CLAUDE.search(model)
    return found is not None and (int(found[1]), int(found[2] or 0)) >= _ADAPTIVE_SINCE


def _clamped(level: str) -> str:
    return "high" if level == "max" else level
