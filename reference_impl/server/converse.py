"""Converse of Amazon Bedrock: a request becomes a plan. Model and stream are in the path."""

from __future__ import annotations

from starlette.datastructures import Headers

from .ask import check_model, prompted
from .converse_request import as_messages
from .converse_stream import ConverseBody, ConverseStream
from .defects import Scene
from .fields import Fields, typed
from .messages_request import MessagesRequest, ask_of, wanted_effort
from .messages_stream import MessagesShape, MessagesStream
from .plan import Plan
from .projection import projected
from .service import Service


def plan_stream(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to answer with a stream. Raises Refusal."""
    del headers
    return _planned(service, fields, streams=True)


def plan_body(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to answer in one piece. Raises Refusal."""
    del headers
    return _planned(service, fields, streams=False)


def _planned(service: Service, fields: Fields, *, streams: bool) -> Plan:
    model = str(fields.pop("model", ""))
    check_model(service, model)
    request = typed({**as_messages(fields), "model": model}, MessagesRequest)
    signature, redaction = service.seal("signature"), service.seal("redaction")
    ask = ask_of(request, wanted_effort(request), signature, redaction)
    prompt = prompted(service.model, ask)
    hides = service.settings.messages_thinking == "redacted"
    shape = MessagesShape(model, signature, redaction, "redacted" if hides else "shown")
    scene = Scene("bedrock", thinks=ask.thinks, streams=streams)
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    stream = ConverseStream(MessagesStream(shape, service.stamp), service.stamp)
    whole = None if streams else ConverseBody()
    return Plan(projected(begin, stream), whole, scene, framing="messages")
