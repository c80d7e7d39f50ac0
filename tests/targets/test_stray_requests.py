"""What a played model is asked beside its calls is named, counted and bounded."""

from __future__ import annotations

from conformance.targets.stray_requests import StrayRequests


def test_what_nobody_serves_comes_first() -> None:
    strays = StrayRequests()
    assert strays.sentence() == ""
    strays.note_request("GET", "/v1/models", 200)
    for _ in range(2):
        strays.note_request("POST", "/v2/chat", 404)
    assert strays.sentence() == "2 times POST /v2/chat (HTTP 404), GET /v1/models (HTTP 200)"
    assert strays.sentence(unknown=True) == "2 times POST /v2/chat (HTTP 404)"


def test_a_flood_of_paths_is_counted() -> None:
    strays = StrayRequests()
    for number in range(10_000):
        strays.note_request("GET", f"/{number}", 404)
    assert len(strays.unknown) == 50
    assert strays.sentence().endswith("GET /4 (HTTP 404) and 9995 more")
