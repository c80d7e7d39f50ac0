"""The plan of a request, in no API's terms: what the engine does, and how it is answered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from .defects import Scene, ServerDefect, hooked
from .effort import Effort
from .engine import Limits, Model, Prompt, PromptError, PromptTooLong
from .fields import stops
from .projection import AnswerBody, Projection, projected
from .refusal import Refusal
from .service import Service
from .turns import Turn
from .wire import Wire


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
    """Return the request to the engine; `sampling` holds those fields, `most` counts tokens."""
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


Framing = Literal["events", "lines", "array", "messages"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The events to send, and what makes a body of them; `whole` is None for a stream.

    The generation behind `wires` begins with the first and ends when they are closed. `scene` is
    what a defect may know of the request. `framing` says whether each is a server-sent event, a
    line of JSON, an element of an array, or a binary message. `event_lines`: events are named in a
    line of their own, if the API names them.
    """

    wires: AsyncGenerator[Wire, None]
    whole: AnswerBody | None
    scene: Scene
    event_lines: bool = True
    framing: Framing = "events"

    def faulty_wires(self, defect: ServerDefect | None) -> AsyncGenerator[Wire, None]:
        """The events to send, with the fault that a defect has there."""
        if defect is None or defect.wires is None:
            return self.wires
        return hooked(self.wires, defect.wires, self.scene)


def planned(
    service: Service,
    ask: EngineRequest,
    stream: Projection,
    whole: AnswerBody,
    scene: Scene,
    *,
    framing: Framing = "events",
) -> Plan:
    """The plan of one generation. Raises Refusal where the model cannot take the conversation."""
    prompt = prompted(service.model, ask)
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    wires = projected(begin, stream)
    return Plan(wires, None if scene.streams else whole, scene, framing=framing)
