"""How one request will be answered."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal

from .ask import EngineRequest, prompted
from .defects import Scene
from .projection import AnswerBody, Projection, projected
from .service import Service
from .wire import Wire

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
