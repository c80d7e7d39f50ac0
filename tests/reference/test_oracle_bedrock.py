"""boto3 reads what the reference server sends, and what a replay sends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import unquote

import boto3
import botocore
import botocore.eventstream
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.binary import MessageParser, encode_message
from conformance.targets.replay import serving
from tests.reference.replays import Replayed, replayed
from tests.reference.server_process import CALCULATE, KEY, MODEL, SCHEMA, server

pytestmark = pytest.mark.slow

ASK: list[Any] = [{"role": "user", "content": [{"text": "What is 2 + 2?"}]}]
THINKS: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
SPEC = {"name": "calculator", "description": "Adds.", "inputSchema": {"json": SCHEMA}}
TOOLS: dict[str, Any] = {"tools": [{"toolSpec": SPEC}]}
REPLAYED = [
    "claude/thinking-then-text",
    "claude/cut-inside-messages",
    "claude/redacted",
    "claude/thinking-then-tools",
    "claude/length",
    "gpt-oss/empty-text-first",
]
NAMES = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=20)
HEADERS = st.dictionaries(NAMES, st.text(max_size=30), max_size=5)


@contextmanager
def client_at(url: str) -> Iterator[Any]:
    """The client with a bearer key: with its own word for one it insists on TLS."""
    config = Config(signature_version=botocore.UNSIGNED, retries={"total_max_attempts": 1})
    made = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config)

    def add_key(params: Any, **_: Any) -> None:
        params["headers"]["Authorization"] = f"Bearer {KEY}"

    made.meta.events.register("before-call.bedrock-runtime.*", add_key)
    with closing(made):
        yield made


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Any]:
    with client_at(url) as made:
        yield made


def blocks(events: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The blocks as a request has them, and how the message ended."""
    by_block: dict[int, list[dict[str, Any]]] = {}
    ended: dict[str, Any] = {}
    for event in events:
        ((kind, data),) = event.items()
        if kind in ("contentBlockStart", "contentBlockDelta"):
            by_block.setdefault(data["contentBlockIndex"], []).append(
                data.get("start") or data["delta"]
            )
        elif kind in ("messageStop", "metadata"):
            ended |= data
    return [whole(each) for each in by_block.values()], ended


def whole(said: list[dict[str, Any]]) -> dict[str, Any]:
    if "toolUse" in said[0]:
        arguments = "".join(each["toolUse"].get("input", "") for each in said)
        return {"toolUse": {**said[0]["toolUse"], "input": json.loads(arguments)}}
    if "text" in said[0]:
        return {"text": "".join(each["text"] for each in said)}
    parts = [each["reasoningContent"] for each in said]
    if "redactedContent" in parts[0]:
        return {"reasoningContent": parts[0]}
    text = "".join(part.get("text", "") for part in parts)
    signed = {"signature": parts[-1]["signature"]} if "signature" in parts[-1] else {}
    return {"reasoningContent": {"reasoningText": {"text": text, **signed}}}


def streamed(client: Any, **asked: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    with closing(client.converse_stream(modelId=MODEL, **asked)["stream"]) as stream:
        return blocks(stream)


def test_thinking_and_text_are_read_the_same_from_stream_and_body(client: Any) -> None:
    asked = {"messages": ASK, "additionalModelRequestFields": THINKS}
    content, ended = streamed(client, **asked)
    body = client.converse(modelId=MODEL, **asked)

    thought, spoken = body["output"]["message"]["content"]
    assert spoken == content[1] == {"text": "2 + 2 = 4."}
    theirs = content[0]["reasoningContent"]["reasoningText"]
    ours = thought["reasoningContent"]["reasoningText"]
    assert theirs["text"] == ours["text"]
    assert theirs["signature"]
    assert ours["signature"]
    assert ended["stopReason"] == body["stopReason"] == "end_turn"
    assert ended["usage"]["totalTokens"] == body["usage"]["totalTokens"]


def test_thinking_that_is_not_asked_for_does_not_come(client: Any) -> None:
    content, _ = streamed(client, messages=ASK)
    assert [list(each) for each in content] == [["text"]]


def test_a_tool_turn_goes_back_with_its_signature(client: Any) -> None:
    question = {"role": "user", "content": [{"text": CALCULATE}]}
    asked = {"toolConfig": TOOLS, "additionalModelRequestFields": THINKS}
    content, ended = streamed(client, messages=[question], **asked)
    assert ended["stopReason"] == "tool_use"

    answer = {"role": "assistant", "content": content}
    use = content[-1]["toolUse"]["toolUseId"]
    result = {"toolResult": {"toolUseId": use, "content": [{"text": "5"}]}}
    turns = [question, answer, {"role": "user", "content": [result]}]
    found, ended = streamed(client, messages=turns, **asked)
    assert "5" in found[-1]["text"]
    assert ended["stopReason"] == "end_turn"

    forged = json.loads(json.dumps(turns))
    forged[1]["content"][0]["reasoningContent"]["reasoningText"]["signature"] = "AAAA"
    with pytest.raises(ClientError, match="Invalid `signature`"):
        streamed(client, messages=forged, **asked)


@pytest.mark.slow
def test_redacted_thinking_goes_back_as_it_came() -> None:
    with server("--messages-thinking", "redacted") as url, client_at(url) as client:
        question = {"role": "user", "content": [{"text": CALCULATE}]}
        asked = {"toolConfig": TOOLS, "additionalModelRequestFields": THINKS}
        content, _ = streamed(client, messages=[question], **asked)
        assert isinstance(content[0]["reasoningContent"]["redactedContent"], bytes)
        use = content[-1]["toolUse"]["toolUseId"]
        result = {"toolResult": {"toolUseId": use, "content": [{"text": "5"}]}}
        answer = {"role": "assistant", "content": content}
        turns = [question, answer, {"role": "user", "content": [result]}]
        found, _ = streamed(client, messages=turns, **asked)
        assert "5" in found[-1]["text"]


def test_a_refusal_is_an_error_of_the_client(client: Any) -> None:
    with pytest.raises(ClientError, match="no-such-model"):
        client.converse(modelId="no-such-model", messages=ASK)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", REPLAYED)
def test_a_replay_reads_as_the_recording_is_read(name: str) -> None:
    ours = replayed("bedrock.converse", name, "lenient")
    content = content_of_replay(ours)
    theirs = [each["reasoningContent"] for each in content if "reasoningContent" in each]
    texts = [each["reasoningText"]["text"] for each in theirs if "reasoningText" in each]
    assert "".join(texts) == ours.text("thinking.delta")
    assert "".join(each.get("text", "") for each in content) == ours.text("text.delta")
    calls = [each["toolUse"] for each in content if "toolUse" in each]
    assert [(call["toolUseId"], call["name"], call["input"]) for call in calls] == [
        (each["id"], each["name"], json.loads(each["arguments"])) for each in ours.calls()
    ]


def content_of_replay(ours: Replayed) -> list[dict[str, Any]]:
    """What the client makes of it."""
    model = unquote(ours.request.path.split("/")[2])
    with serving([ours.path]) as replay, client_at(replay.url) as client:
        answer = client.converse_stream(modelId=model, **ours.asked)
        with closing(answer["stream"]) as stream:
            content, _ = blocks(stream)
    return content


def test_an_exception_is_raised_in_the_client() -> None:
    ours = replayed("bedrock.converse", "claude/exception-in-text", "lenient")
    with pytest.raises(EventStreamError, match="modelStreamErrorException"):
        content_of_replay(ours)


@given(st.lists(st.tuples(HEADERS, st.binary(max_size=60)), max_size=4), st.data())
def test_botocore_agrees(messages: list[tuple[dict[str, str], bytes]], data: st.DataObject) -> None:
    body = b"".join(encode_message(tuple(h.items()), payload) for h, payload in messages)
    if body and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(body) - 1))
        body = body[:at] + bytes((body[at] ^ data.draw(st.integers(1, 255)),)) + body[at + 1 :]
    size = data.draw(st.integers(1, 50))
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    parser = MessageParser()
    frames = [*(each for piece in pieces for each in parser.feed(piece)), *parser.close()]
    ours = []
    for frame in frames:
        if frame.kind == "binary":
            ours.append(dict(frame.headers))
        elif frame.event != "bad-utf8":
            break
    theirs, fault = read_by_botocore(pieces)
    assert ours == theirs
    has_fault = any(frame.kind == "ignored-binary" and frame.event in FAULTS for frame in frames)
    assert fault is has_fault


FAULTS = ("bad-prelude", "bad-checksum", "bad-headers", "too-long")


def read_by_botocore(pieces: list[bytes]) -> tuple[list[dict[str, Any]], bool]:
    """Headers of the messages that it gives, and whether it raised."""
    buffer = botocore.eventstream.EventStreamBuffer()
    found: list[dict[str, Any]] = []
    try:
        for piece in pieces:
            buffer.add_data(piece)
            # A list made first would lose the messages that came before a fault.
            found.extend(message.headers for message in buffer)
    except (botocore.eventstream.ParserError, UnicodeDecodeError):
        return found, True
    return found, False
