"""What every API asks of the engine, once its own words are translated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .effort import Effort
from .engine import Limits, Prompt, PromptError, PromptTooLong
from .fields import stops
from .refusal import Refusal
from .service import Service
from .settings import Model
from .turns import Turn


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """A conversation, the tools that are offered, whether to think, and where to end."""

    messages: tuple[Turn, ...]
    tools: tuple[Mapping[str, Any], ...]
    thinks: bool
    limits: Limits


_SAMPLING: Final = ("temperature", "top_p", "seed", "stop")


def engine_request(
    messages: Iterable[Turn],
    tools: Iterable[Mapping[str, Any]],
    wanted: Effort,
    sampling: Any,
    most: int | None,
) -> EngineRequest:
    """What the engine is to do; `sampling` is what holds those fields, `most` counts tokens."""
    temperature, top_p, seed, stop = (getattr(sampling, name, None) for name in _SAMPLING)
    limits = Limits(
        max_tokens=most,
        thinking_budget=wanted.budget,
        temperature=temperature or 0.0,
        top_p=top_p or 1.0,
        seed=seed,
        stop=stops(stop),
    )
    return EngineRequest(tuple(messages), tuple(tools), wanted.thinks, limits)


def prompted(model: Model, ask: EngineRequest) -> Prompt:
    """The prompt of a conversation. Raises Refusal where the model cannot take it."""
    try:
        return model.prompt(ask.messages, tools=ask.tools, thinking=ask.thinks)
    except PromptTooLong as err:
        raise Refusal(str(err), param="messages", code="context_length_exceeded") from err
    except PromptError as err:
        raise Refusal(str(err), param="messages") from err


def check_model(service: Service, named: str) -> None:
    """Raises Refusal unless that is the model that is served."""
    if named != service.model_id:
        raise Refusal(
            f"the model {named!r} does not exist; this server has {service.model_id!r}",
            status=404,
            param="model",
            code="model_not_found",
        )
