"""Whether a request asks for thinking or not, by whichever key of whichever API.

Gateways translate: `reasoning_effort` of one API is `thinking.type` of another, and servers of one
API take the keys of several. So the paths of all of them are one table.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from conformance.core.json_values import value_at

_BUDGETS: Final = (
    "thinking.budget_tokens",
    "thinking.token_budget",
    "thinking_budget",
    "reasoning.max_tokens",
    "generationConfig.thinkingConfig.thinkingBudget",
    "additionalModelRequestFields.thinking.budget_tokens",
)
_SWITCHES: Final = (
    "reasoning_effort",
    "completion_args.reasoning_effort",
    "reasoning",
    "reasoning.effort",
    "reasoning.enabled",
    "thinking",
    "thinking.type",
    "output_config.effort",
    "think",
    "enable_thinking",
    "chat_template_kwargs.enable_thinking",
    "chat_template_kwargs.thinking",
    "chat_template_kwargs.reasoning_effort",
    "prompt_mode",
    "generationConfig.thinkingConfig.thinkingLevel",
    "generation_config.thinking_level",
    "additionalModelRequestFields.thinking.type",
    "additionalModelRequestFields.output_config.effort",
    "additionalModelRequestFields.reasoningConfig.type",
    "additionalModelRequestFields.reasoning_config.type",
    "additionalModelRequestFields.reasoning_config",
    "additionalModelRequestFields.reasoning_effort",
)
_SHOWING: Final = (
    "reasoning.summary",
    "include_reasoning",
    "include_thinking",
    "generationConfig.thinkingConfig.includeThoughts",
    "generation_config.thinking_summaries",
)
"""These ask to show thinking: who sends one says at least that there is to be some."""
_OFF: Final = (False, 0, "none", "off", "disabled", "false")
_LEAST: Final = "minimal"
_RANKS: Final = ("low", "medium", "high", "xhigh", "max")
_LEVELS: Final = frozenset({"thinking", "think", "reasoning", "low", "medium", "high", "xhigh"})

Stance = Literal["on", "off", "either"]
"""What is requested; `either` is so little that another API may have no word for it but off."""


class RequestedEffort(Struct, frozen=True):
    """Where a request says it, what it says, and what that comes to."""

    path: str
    value: Any
    stance: Stance


def requested_effort(body: Any) -> RequestedEffort | None:
    """What a body asks for; None where it leaves that to the model."""
    return _first_stated(body, (*_SWITCHES, *_BUDGETS))


def passed_effort(body: Any) -> RequestedEffort | None:
    """As `requested_effort`, where a wish to see thinking counts, too."""
    return requested_effort(body) or _first_stated(body, _SHOWING)


def is_raised(wanted: RequestedEffort, got: RequestedEffort) -> bool:
    """Whether one key holds a higher level; a lower one may be the highest that a model has."""
    return wanted.path == got.path and 0 < _rank(wanted) < _rank(got)


def _rank(effort: RequestedEffort) -> int:
    """The place of a level among the named ones; 0 for anything else."""
    return _RANKS.index(effort.value) + 1 if effort.value in _RANKS else 0


def thinking_budget(body: Any) -> int:
    """The tokens of thinking that a body allows; 0 where it names none."""
    stated = (value_at(body, *path.split(".")) for path in _BUDGETS)
    return max((each for each in stated if type(each) is int and each > 0), default=0)


def is_named_for_effort(model: Any, instead_of: Any) -> bool:
    """Whether a model's name asks for thinking that the name it was given for did not."""
    replaced, named = (_words(each) for each in (instead_of, model))
    return bool((named - replaced) & _LEVELS)


def _words(name: Any) -> set[str]:
    text = name.lower() if isinstance(name, str) else ""
    return set("".join(each if each.isalnum() else " " for each in text).split())


def _first_stated(body: Any, paths: tuple[str, ...]) -> RequestedEffort | None:
    """An off counts before everything else: it is there to take back the rest."""
    values = ((path, value_at(body, *path.split("."))) for path in paths)
    stated = [
        RequestedEffort(path, each, _stance(each)) for path, each in values if _is_stated(each)
    ]
    return next((each for each in stated if each.stance == "off"), next(iter(stated), None))


def _is_stated(value: Any) -> bool:
    return value is not None and value != "" and not isinstance(value, dict | list)


def _stance(value: Any) -> Stance:
    word = value.lower() if isinstance(value, str) else value
    return "off" if word in _OFF else "either" if word == _LEAST else "on"
