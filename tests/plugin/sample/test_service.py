"""The server, tested without a port."""

from __future__ import annotations

from fastapi.testclient import TestClient
from service import app  # type: ignore[import-not-found]  # on the path of this project

from conformance import assert_conforms
from conformance.pytest_plugin.tracing import Tracer

QUESTION = {"role": "user", "content": "How many days are two weeks?"}
BODY = {"model": "sample", "stream": True, "messages": [QUESTION]}


def test_stream_conforms(conformance_trace: Tracer) -> None:
    with TestClient(app).stream("POST", "/v1/chat/completions", json=BODY) as response:
        trace = conformance_trace(response)
    assert trace.thinking == "Seven days make a week, two weeks are fourteen."
    assert trace.text == "Fourteen days."
    assert_conforms(trace, "wire/chat", "thinking")
