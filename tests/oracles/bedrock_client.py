"""boto3: the events of `converse_stream`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import cache
from io import BytesIO
from typing import Any

import boto3
import botocore
from botocore.awsrequest import AWSResponse
from botocore.config import Config

from tests.adapters.harness import Calls, Event, spoken, thinking


class _Raw(BytesIO):
    """What botocore asks of a connection of urllib3."""

    def stream(self, amt: int = 1024, **_: Any) -> Iterator[bytes]:
        while piece := self.read(amt):
            yield piece


@cache
def _client() -> Any:
    config = Config(signature_version=botocore.UNSIGNED, retries={"total_max_attempts": 1})
    return boto3.client(
        "bedrock-runtime", region_name="us-east-1", endpoint_url="http://fake", config=config
    )


def read_converse(body: bytes) -> Iterator[Event]:
    client, calls = _client(), Calls()
    head = {"content-type": "application/vnd.amazon.eventstream"}

    def answer(request: Any, **_: Any) -> AWSResponse:
        return AWSResponse(request.url, 200, head, _Raw(body))

    client.meta.events.register_first("before-send.bedrock-runtime", answer, unique_id="fake")
    try:
        asked = [{"role": "user", "content": [{"text": "Hi."}]}]
        with closing(client.converse_stream(modelId="m", messages=asked)["stream"]) as stream:
            for event in stream:
                ((kind, data),) = event.items()
                yield from read_event(kind, data, calls)
    finally:
        client.meta.events.unregister("before-send.bedrock-runtime", unique_id="fake")


def read_event(kind: str, data: Any, calls: Calls) -> Iterator[Event]:
    """What one event says."""
    match kind:
        case "contentBlockStart" if "toolUse" in data.get("start", {}):
            calls.add(0, data["contentBlockIndex"], data["start"]["toolUse"]["name"], None)
        case "contentBlockDelta":
            delta = data["delta"]
            yield from thinking(delta.get("reasoningContent", {}).get("text"))
            yield from spoken(delta.get("text"))
            if "toolUse" in delta:
                calls.add(0, data["contentBlockIndex"], None, delta["toolUse"]["input"])
        case "messageStop":
            yield from calls.ended(0)
            yield {"type": "finish", "reason": data["stopReason"]}
