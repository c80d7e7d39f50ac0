"""The Gemini API: a request to generateContent becomes a plan."""

from __future__ import annotations

from .ask import check_model, prompted
from .defects import Scene
from .fields import Fields, typed
from .gemini_request import GeminiRequest, ask_of, camel, check_signatures, wanted_effort
from .gemini_stream import SIGNATURE, GeminiBody, GeminiStream
from .plan import Framing, Plan
from .projection import projected
from .service import Service


def plan(service: Service, fields: Fields, model: str, *, streams: bool, has_events: bool) -> Plan:
    """How to answer; without `has_events` a stream is one array. Raises Refusal."""
    request = typed(camel(fields), GeminiRequest)
    check_model(service, model)
    check_signatures(request, SIGNATURE)
    ask = ask_of(request, wanted_effort(request))
    prompt = prompted(service.model, ask)
    scene = Scene("gemini", thinks=ask.thinks, streams=streams)
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    stream = GeminiStream(model, service.stamp, thinks=ask.thinks, shows=request.shows_thoughts)
    framing: Framing = "events" if has_events else "array"
    return Plan(projected(begin, stream), None if streams else GeminiBody(), scene, framing=framing)
