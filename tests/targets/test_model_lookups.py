"""Who looks its model up before it asks is told of it, by a played model and by a replay."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import httpx
import pytest

from conformance.cassette import Cassette, Header
from conformance.core.events import Exchange
from conformance.targets.gateway import serve_upstream
from conformance.targets.model_lookups import model_lookup
from conformance.targets.replay import ReplayOptions, ServedRequest, serving


@pytest.mark.parametrize(
    ("method", "path", "found"),
    [
        ("GET", "/v1/models", {"object": "list", "data": [{"id": "m"}]}),
        ("GET", "/v1/models/deepseek%2Fr1", {"id": "deepseek/r1", "object": "model"}),
        ("GET", "/api/v1/models/deepseek/r1", {"id": "deepseek/r1"}),
        ("GET", "/v1beta/models", {"models": [{"name": "models/m"}]}),
        ("GET", "/health", {"status": "ok"}),
        ("GET", "/api/tags", {"models": [{"model": "m"}]}),
        ("POST", "/api/show", {"capabilities": ["completion", "tools", "thinking"]}),
    ],
)
def test_a_model_is_found_in_the_form_of_the_api(method: str, path: str, found: Any) -> None:
    document = json.loads(json.dumps(model_lookup(method, path, "m")))
    for key, value in found.items():
        if isinstance(value, list) and isinstance(value[0], dict):
            assert value[0].items() <= document[key][0].items()
        else:
            assert document[key] == value


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/models"),
        ("GET", "/v1/embeddings"),
        ("GET", "/v1beta/models/m:streamGenerateContent"),
        ("GET", "/api/show"),
        ("GET", ""),
    ],
)
def test_what_is_no_look_up_has_no_answer(method: str, path: str) -> None:
    assert model_lookup(method, path, "m") is None


async def test_a_played_model_is_found_by_its_name_and_no_other_path_is_there() -> None:
    async with serve_upstream(0) as upstream:
        base = f"http://127.0.0.1:{upstream.port}"
        async with httpx.AsyncClient(base_url=base, verify=False) as client:
            asked = [
                await client.get("/v1/models/scripted"),
                await client.post("/api/show", json={"model": "scripted"}),
                await client.post("/v1/embeddings", json={}),
            ]
        assert not upstream.calls
        got = [each.status_code for each in asked]
    assert got == [200, 200, 404]


@pytest.mark.parametrize(("own_form", "status"), [(True, 200), (False, 404)])
def test_a_client_that_is_tried_finds_its_model(*, own_form: bool, status: int) -> None:
    cassette = Cassette(Header(dialect="openai.chat"), (Exchange(dialect="openai.chat"),))
    noted: list[ServedRequest] = []
    with serving(on_exchange=noted.append) as server:
        server.mount(cassette, name="x", options=ReplayOptions(own_form=own_form))
        request = urllib.request.Request(f"{server.base_url('x')}/v1/models/m")
        try:
            with urllib.request.urlopen(request) as answer:
                assert json.loads(answer.read())["id"] == "m"
                came = answer.status
        except urllib.error.HTTPError as error:
            came = error.code
        server.settle()
    (seen,) = noted
    assert came == status
    assert seen.exchange is None
    assert seen.outcome == ("complete" if own_form else "refused")
