"""Requests of a client and of the gateway behind it, and what is found between them."""

from __future__ import annotations

from typing import Any

from conformance.core.events import Exchange, Request
from conformance.dialects import ENDPOINTS
from conformance.evidence.comparable_requests import Found, Lost, comparable_request
from conformance.evidence.passed_requests import compared_requests

ASK = {"role": "user", "content": "Hi"}
BASE = {"model": "m", "messages": [ASK]}


def chat(**fields: Any) -> Exchange:
    return sent("openai.chat", {**BASE, **fields})


def messages(**fields: Any) -> Exchange:
    return sent("anthropic.messages", {**BASE, **fields})


def sent(api: str, body: Any) -> Exchange:
    path, rest = ENDPOINTS[api].address(body, "m")
    return Exchange(request=Request(path=f"/v1{path}", json=rest), dialect=api)


def found(asked: Exchange, passed: Exchange) -> dict[str, Found]:
    sides = comparable_request(asked), comparable_request(passed)
    assert sides[0] is not None
    assert sides[1] is not None
    compared = compared_requests(sides[0], sides[1])
    return {rule.id.removeprefix("scenario/asked-"): got for rule, got in compared}


def got(found: Found) -> Any:
    return found.got if isinstance(found, Lost) else found


def function(name: str = "f", *required: str, **more: Any) -> dict[str, Any]:
    known = {each: {"type": "string"} for each in ("a", "b")}
    schema = {"type": "object", "properties": known, "required": list(required), **more}
    return {"type": "function", "function": {"name": name, "parameters": schema}}
