"""Ollama's native API: a chat becomes a plan; which models are there, and what they can do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.datastructures import Headers

from .ask import prompted
from .defects import Scene
from .fields import Fields, typed
from .ollama_request import GenerateRequest, OllamaRequest, ask_of, asked_once, wanted_effort
from .ollama_stream import GenerateBody, GenerateStream, OllamaBody, OllamaStream
from .plan import Plan
from .projection import projected
from .refusal import Refusal
from .service import Service

_LATEST = ":latest"


def plan(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to answer. Raises Refusal."""
    del headers
    request = typed(fields, OllamaRequest)
    check_model(service, request.model)
    ask = ask_of(request, wanted_effort(request, can_think=service.model.markers is not None))
    prompt = prompted(service.model, ask)
    scene = Scene("ollama", thinks=ask.thinks, streams=request.streams)
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    wires = projected(begin, OllamaStream(request.model, service.stamp))
    return Plan(wires, None if request.streams else OllamaBody(), scene, framing="lines")


def completion_plan(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to complete a prompt. Raises Refusal."""
    del headers
    request = typed(fields, GenerateRequest)
    check_model(service, request.model)
    can_think = service.model.markers is not None
    ask = asked_once(request, wanted_effort(request, can_think=can_think))
    prompt = prompted(service.model, ask)
    scene = Scene("ollama-generate", thinks=ask.thinks, streams=request.streams)
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    wires = projected(begin, GenerateStream(request.model, service.stamp))
    return Plan(wires, None if request.streams else GenerateBody(), scene, framing="lines")


def tags(service: Service) -> dict[str, Any]:
    """All models, of which there is one."""
    at = datetime.fromtimestamp(service.started, UTC).isoformat().replace("+00:00", "Z")
    named = {"name": service.model_id, "model": service.model_id, "modified_at": at}
    return {"models": [{**named, "size": 0, "digest": "", "details": {"format": "safetensors"}}]}


def shown(service: Service, fields: Fields) -> dict[str, Any]:
    """What one model can do. Raises Refusal for one that is not served."""
    check_model(service, str(fields.get("model", "")))
    thinks = ["thinking"] if service.model.markers is not None else []
    return {"capabilities": ["completion", "tools", *thinks], "model_info": {}, "details": {}}


def check_model(service: Service, named: str) -> None:
    """Raises Refusal unless that is the model that is served; `:latest` may stand behind it."""
    if named.removesuffix(_LATEST) != service.model_id:
        raise Refusal(f"model '{named}' not found", status=404)
