"""Whole folders of recordings, asked for exchange by exchange."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conformance.cassette import Recording, discover, open_recording
from conformance.core.events import Exchange
from conformance.targets.replay import ReplayLimits, ReplayOptions, serving
from tests.targets.replay_wire import Client, request

SHIPPED = Path(__file__).parents[2] / "cassettes"
CAPTURES = os.environ.get("CONFORMANCE_CAPTURES")


SWITCHED = 101  # to a WebSocket: test_replay_sockets.py asks for those


def replayed(port: int, prefix: str, exchange: Exchange) -> tuple[int, bytes]:
    """The status and body that the recorded request gets."""
    asked = exchange.request
    connected = Client(port)
    try:
        if asked is None:
            connected.send(request(b"{}", path=f"{prefix}/v1/chat/completions"))
        else:
            body = b"" if asked.json is None else json.dumps(asked.json).encode()
            headers = [f"{k}: {v}" for k, v in asked.headers if k.lower() == "x-include-thinking"]
            path = prefix + asked.path
            connected.send(request(body, method=asked.method, path=path, headers=headers))
        got = connected.answer()
    finally:
        connected.close()
    return got.status, got.body


def check(recording: Recording) -> int:
    """Asks for every exchange, in its order; how many there were."""
    served = [each for each in recording.exchanges if each.hop != "upstream"]
    options = ReplayOptions.parse(chunking="seed:1")
    with serving([recording], options=options, limits=ReplayLimits(hold_s=0.05)) as server:
        (name,) = {address.name for address in server.unused()}
        for each in served:
            status = (each.response.status if each.response else None) or 200
            if each.end == "reset" or status == SWITCHED:
                continue
            body = b"".join(chunk.data for chunk in each.chunks)
            assert replayed(server.port, f"/c/{name}", each) == (status, body), each.number
    return len(served)


def test_every_shipped_exchange_answers_its_own_request() -> None:
    files = discover(SHIPPED)
    assert sum(check(open_recording(file)) for file in files) >= len(files) > 0


@pytest.mark.captures
@pytest.mark.skipif(not CAPTURES, reason="CONFORMANCE_CAPTURES names no folder")
def test_real_recordings_come_back_byte_by_byte() -> None:
    files = discover(str(CAPTURES))
    assert sum(check(open_recording(file)) for file in files) >= len(files) > 0
