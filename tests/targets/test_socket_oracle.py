"""A recorded session over a WebSocket is read by the official client."""

from __future__ import annotations

import json
from pathlib import Path

import openai
import pytest

from conformance.targets.replay import serving
from tests.targets.test_replay_sockets import messages_of

pytestmark = pytest.mark.slow

SHIPPED = Path(__file__).parents[2] / "cassettes/openai.responses/socket"


@pytest.mark.filterwarnings("ignore:connect.. must be used as a context manager")  # openai 3.57.0
def test_the_official_client_reads_the_shipped_session() -> None:
    (path,) = SHIPPED.iterdir()
    messages, answers = messages_of(path), []
    with (
        serving([path]) as server,
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="none") as client,
        client.responses.connect() as connection,
    ):
        for each in messages:
            if each.side == "client":
                connection.send(json.loads(each.data))
            else:
                data = connection.recv_bytes()
                assert data == each.data
                event = connection.parse_event(data)
                if event.type == "response.completed":
                    answers.append(event.response.output_text)
        connection.close()
        server.settle()
        assert [each.outcome for each in server.seen] == ["complete"]
    assert answers == ["2 + 2 = 4.", "3 + 4 = 7.", "", "2 + 3 = 5."]
