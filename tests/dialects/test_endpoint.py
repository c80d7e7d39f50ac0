"""Paths that say what other APIs say in the body: the model, and whether a stream is asked for."""

from __future__ import annotations

import pytest

from conformance.dialects.endpoint import Endpoint

NAMED = Endpoint(
    "named", "/models/{model}:generate", stream_path="/models/{model}:streamGenerate?alt=sse"
)
PLAIN = Endpoint("plain", "/chat")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1/models/think-1:generate", {"model": "think-1", "stream": False}),
        ("/models/think-1:streamGenerate?alt=sse&key=x", {"model": "think-1", "stream": True}),
        ("/models/think-1:streamGenerate", {"model": "think-1", "stream": True}),
        ("/models/family%2Fthink:generate/", {"model": "family/think", "stream": False}),
        ("/models/v1:0:generate", {"model": "v1:0", "stream": False}),
        ("/models/think-1:countTokens", {}),
    ],
)
def test_path_shows_the_model_and_a_stream(path: str, expected: dict[str, object]) -> None:
    assert NAMED.stated(path) == expected
    assert NAMED.serves(path) is bool(expected)


def test_a_body_is_sent_without_what_the_path_says() -> None:
    body = {"model": "family/think", "stream": True, "contents": []}
    path, rest = NAMED.address(body)
    assert path == "/models/family%2Fthink:streamGenerate?alt=sse"
    assert rest == {"contents": []}
    assert NAMED.stated(path) == {"model": "family/think", "stream": True}


def test_a_body_without_a_model_is_sent_to_the_one_that_is_asked() -> None:
    assert NAMED.address({"contents": []}, "think-1")[0] == "/models/think-1:generate"


def test_a_plain_path_says_nothing() -> None:
    body = {"model": "think-1", "stream": True}
    assert PLAIN.stated("/v1/chat") == {}
    assert PLAIN.address(body) == ("/chat", body)
