"""The server, tested without a port."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from service import app  # type: ignore[import-not-found]  # on the path of this project

from conformance import assert_conforms
from conformance.pytest_plugin.trace import Tracer

QUESTION = {"role": "user", "content": "How many days are two weeks?"}
ASKED = {"model": "sample", "stream": True, "messages": [QUESTION]}
THINKS = {"max_tokens": 2048, "thinking": {"type": "enabled", "budget_tokens": 1024}}


@pytest.mark.parametrize(
    ("path", "body", "suite"),
    [
        ("/v1/chat/completions", ASKED, "wire/chat"),
        ("/v1/messages", {**ASKED, **THINKS}, "wire/messages"),
    ],
)
def test_stream_conforms(
    conformance_trace: Tracer, path: str, body: dict[str, Any], suite: str
) -> None:
    with TestClient(app).stream("POST", path, json=body) as response:
        trace = conformance_trace(response)
    assert trace.thinking == "Seven days make a week, two weeks are fourteen."
    assert trace.text == "Fourteen days."
    assert_conforms(trace, suite, "thinking")
