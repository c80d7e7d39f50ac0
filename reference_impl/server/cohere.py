"""Cohere's Chat, version 2: a request becomes a plan."""

from __future__ import annotations

from starlette.datastructures import Headers

from .ask import check_model, prompted
from .cohere_request import CohereRequest, ask_of, wanted_effort
from .cohere_stream import CohereBody, CohereStream
from .defects import Scene
from .fields import Fields, typed
from .plan import Plan
from .projection import projected
from .service import Service


def plan(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to answer. Raises Refusal."""
    del headers
    request = typed(fields, CohereRequest)
    check_model(service, request.model)
    ask = ask_of(request, wanted_effort(request))
    prompt = prompted(service.model, ask)
    scene = Scene("cohere", thinks=ask.thinks, streams=request.stream)
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    wires = projected(begin, CohereStream(service.stamp))
    return Plan(wires, None if request.stream else CohereBody(), scene)
