"""Messages of WebSockets: what a client asks, and a shipped stream as a server would send it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.cassette import read
from conformance.core.events import Side

Payload = dict[str, Any]
Talk = list[tuple[Side, Payload]]

_SHIPPED: Final = Path(__file__).parents[2] / "cassettes/openai.responses/demo"
LIMIT: Final[Payload] = {
    "type": "error",
    "status": 400,
    "error": {
        "type": "invalid_request_error",
        "code": "websocket_connection_limit_reached",
        "message": "Responses websocket connection limit reached (60 minutes).",
    },
}
NOT_FOUND: Final[Payload] = {
    "type": "error",
    "status": 400,
    "error": {
        "code": "previous_response_not_found",
        "message": "There is no such response.",
        "param": "previous_response_id",
    },
}
REALTIME: Final[Sequence[Payload]] = (
    {"type": "session.created", "event_id": "e1", "session": {"type": "realtime"}},
    {
        "type": "response.created",
        "event_id": "e2",
        "response": {"id": "resp_1", "object": "realtime.response", "output": []},
    },
    {"type": "response.output_audio.delta", "event_id": "e3", "response_id": "r", "delta": "AA"},
)


def _shipped_events() -> list[Payload]:
    (file,) = _SHIPPED.glob("*.cassette.jsonl")
    (exchange,) = read(file).exchanges
    lines = exchange.body.decode().splitlines()
    data = (line.removeprefix("data: ") for line in lines if line.startswith("data: {"))
    return [json.loads(each) for each in data]


def answer(name: str = "resp_1", lane: str | None = None) -> Talk:
    """A whole response of that id, on a lane or on the nameless one."""
    found: Talk = []
    for event in _shipped_events():
        extra = {"stream_id": lane} if lane is not None else {}
        whole = {"response": {**event["response"], "id": name}} if "response" in event else {}
        found.append(("server", {**event, **whole, **extra}))
    return found


def asked(lane: str | None = None, **more: Any) -> tuple[Side, Payload]:
    body = {"model": "m", "input": "Hi", "reasoning": {"effort": "low", "summary": "auto"}}
    extra = {"stream_id": lane} if lane is not None else {}
    return "client", {"type": "response.create", **body, **extra, **more}


def in_turn() -> Talk:
    """Two responses, one after the other; the second one carries the first one on."""
    second = asked(previous_response_id="resp_1")
    return [asked(), *answer(), second, *answer("resp_2")]


def at_once() -> Talk:
    """Two responses whose events take turns."""
    pairs = zip(answer("resp_1", "a"), answer("resp_2", "b"), strict=True)
    return [asked("a"), asked("b"), *(each for pair in pairs for each in pair)]


def cassette_text(
    talk: Iterable[tuple[Side, Payload | str]], *, end: str = "eof", ms: float = 1.5, **head: Any
) -> str:
    """The talk as a cassette; a text stands for what holds no JSON."""
    request = {"method": "GET", "path": "/v1/responses", "server": "wss://api.example.test"}
    lines: list[Any] = [
        {"cassette": "1.0", "origin": "live", "fidelity": "bytes"},
        {"request": {**request, **head}, "exchange": 1},
        {"response": {"status": 101, "http": "1.1"}, "ms": 10.0},
        *(
            {"from": side, "ms": ms, "text": each if isinstance(each, str) else json.dumps(each)}
            for side, each in talk
        ),
        {"end": end, "ms": 1.0},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)
