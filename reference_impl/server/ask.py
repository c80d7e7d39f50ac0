"""What every API asks of the engine, once its own words are translated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .engine import Limits, Prompt, PromptError, PromptTooLong
from .refusal import Refusal
from .service import Service
from .settings import Model
from .turns import Turn


@dataclass(frozen=True, slots=True)
class Ask:
    """A conversation, the tools that are offered, whether to think, and where to end."""

    messages: tuple[Turn, ...]
    tools: tuple[Mapping[str, Any], ...]
    thinks: bool
    limits: Limits


def prompted(model: Model, ask: Ask) -> Prompt:
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
