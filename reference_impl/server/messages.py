"""Messages: a request becomes a plan."""

from __future__ import annotations

from starlette.datastructures import Headers

from .ask import check_model, prompted
from .defects import Scene
from .fields import Fields, typed
from .messages_body import MessagesBody
from .messages_request import MessagesRequest, ask_of, wanted_effort
from .messages_stream import Display, MessagesShape, MessagesStream
from .plan import Plan
from .projection import projected
from .service import Service
from .settings import Settings


def plan(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to answer. Raises Refusal."""
    del headers
    request = typed(fields, MessagesRequest)
    check_model(service, request.model)
    signature, redaction = service.seal("signature"), service.seal("redaction")
    ask = ask_of(request, wanted_effort(request), signature, redaction)
    prompt = prompted(service.model, ask)
    display = _display(service.settings, request)
    shape = MessagesShape(service.model_id, signature, redaction, display)
    scene = Scene("messages", thinks=ask.thinks, streams=bool(request.stream))
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    wires = projected(begin, MessagesStream(shape, service.stamp))
    return Plan(wires, None if request.stream else MessagesBody(), scene)


def _display(settings: Settings, request: MessagesRequest) -> Display:
    if settings.messages_thinking == "redacted":
        return "redacted"
    return "omitted" if request.omits_thinking else "shown"
