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
from typing import Any, Final

from .ask import Ask
from .likeness import SUMMARIES

# So many tokens are left for the answer beside a budget.
LEAST_ANSWER: Final = 1_024
_CLAUDE: Final = re.compile(r"claude-(?:opus|sonnet|haiku)-(\d+)(?:[.-](\d{1,2})(?!\d))?")
_ADAPTIVE_SINCE: Final = (4, 6)


def chat(ask: Ask) -> dict[str, Any]:
    """Fields of a Chat Completions request."""
    return {"reasoning_effort": _level(ask)} if ask.thinks else {}


def responses(ask: Ask) -> dict[str, Any]:
    """Fields of a Responses request. A summary goes beside effort, or is asked for by name."""
    wanted = ask.summary or (ask.like.summary if ask.thinks else None)
    reasoning = {"effort": _level(ask)} if ask.thinks else {}
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


def is_adaptive(model: str) -> bool:
    """Whether a model takes a level rather than a budget."""
    found = _CLAUDE.search(model)
    return found is not None and (int(found[1]), int(found[2] or 0)) >= _ADAPTIVE_SINCE


def _level(ask: Ask) -> str:
    return "high" if ask.effort == "max" and ask.like.clamps_max else ask.effort
