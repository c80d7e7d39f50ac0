"""The official client of Agent2Agent reads every recording that keeps the rules.

It is no dependency: `pip install "a2a-sdk<1"` for streams up to 0.3, `a2a-sdk` for those since 1.0.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import open_recording
from conformance.core.shipped import cassettes

pytest.importorskip("a2a.client", reason="a2a-sdk is not installed")
httpx: Final = import_module("httpx")
client: Final = import_module("a2a.client")
types: Final = import_module("a2a.types")

pytestmark = pytest.mark.live

IS_OLD: Final = version("a2a-sdk").startswith("0.")
STREAMS: Final = sorted((cassettes() / "google.a2a").glob(f"*{'0.3' if IS_OLD else '1.0'}/*.jsonl"))
FAILING: Final = ("refused", "whole", "over-rest")  # errors, and what came otherwise


def asked() -> tuple[Any, Any]:
    """The card of an agent that streams, and what it is asked."""
    if IS_OLD:
        card = types.AgentCard(
            name="keeper",
            description="keeps",
            url="http://agent/",
            version="1",
            capabilities=types.AgentCapabilities(streaming=True),
            skills=[],
            default_input_modes=["text"],
            default_output_modes=["text"],
        )
        part = types.Part(root=types.TextPart(text="Hi"))
        return card, types.Message(role="user", message_id="m", parts=[part])
    interface = types.AgentInterface(
        url="http://agent/", protocol_binding="JSONRPC", protocol_version="1.0"
    )
    card = types.AgentCard(
        name="keeper",
        capabilities=types.AgentCapabilities(streaming=True),
        supported_interfaces=[interface],
    )
    message = types.Message(role="ROLE_USER", message_id="m", parts=[types.Part(text="Hi")])
    return card, types.SendMessageRequest(message=message)


async def events_of(body: bytes) -> int:
    """How many events the client gives of a stream."""

    def answer(_request: Any) -> Any:
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=headers, content=body)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as wire:
        factory = client.ClientFactory(client.ClientConfig(httpx_client=wire, streaming=True))
        card, message = asked()
        return len([event async for event in factory.create(card).send_message(message)])


@pytest.mark.parametrize("file", STREAMS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_the_client_reads_every_event(file: Path) -> None:
    if file.name.startswith(FAILING):
        pytest.skip("an error, or no stream of this transport")
    (exchange,) = open_recording(file).exchanges
    body = b"".join(chunk.data for chunk in exchange.chunks)
    assert asyncio.run(events_of(body)) == body.count(b"data: ")
