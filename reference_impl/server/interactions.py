"""The Interactions API: a request becomes a plan."""

from __future__ import annotations

from starlette.datastructures import Headers

from .ask import check_model, prompted
from .defects import Scene
from .fields import Fields, typed
from .interactions_request import InteractionRequest, ask_of, check_thoughts, wanted_effort
from .interactions_stream import SIGNATURE, InteractionBody, InteractionStream
from .plan import Plan
from .projection import projected
from .service import Service


def plan(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to answer. Raises Refusal."""
    del headers
    request = typed(fields, InteractionRequest)
    check_model(service, request.model)
    ask = ask_of(request, wanted_effort(request))
    check_thoughts(request, SIGNATURE)
    prompt = prompted(service.model, ask)
    scene = Scene("interactions", thinks=ask.thinks, streams=request.stream)
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    stream = InteractionStream(request.model, service.stamp, shows=request.shows_summaries)
    whole = None if request.stream else InteractionBody(stores=request.store)
    return Plan(projected(begin, stream), whole, scene)
