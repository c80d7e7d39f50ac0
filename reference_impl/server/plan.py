"""How one request will be answered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .ask import EngineRequest, prompted
from .defects import Scene
from .projection import Projection, projected
from .service import Service
from .wire import Wire

Framing = Literal["events", "lines", "array", "messages"]


class Whole(Protocol):
    """Puts the events of a stream together to one JSON body."""

    def add(self, wire: Wire) -> None: ...

    def body(self) -> tuple[int, Mapping[str, Any]]: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """The events to send, and what makes a body of them; `whole` is None for a stream.

    The generation behind `wires` begins with the first and ends when they are closed. `scene` is
    what a defect may know of the request. `framing` says whether each is a server-sent event, a
    line of JSON, an element of an array, or a binary message. `event_lines`: events are named in a
    line of their own, if the API names them.
    """

    wires: AsyncGenerator[Wire, None]
    whole: Whole | None
    scene: Scene
    event_lines: bool = True
    framing: Framing = "events"


def planned(
    service: Service,
    ask: EngineRequest,
    stream: Projection,
    whole: Whole,
    scene: Scene,
    *,
    framing: Framing = "events",
) -> Plan:
    """The plan of one generation. Raises Refusal where the model cannot take the conversation."""
    prompt = prompted(service.model, ask)
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    wires = projected(begin, stream)
    return Plan(wires, None if scene.streams else whole, scene, framing=framing)
