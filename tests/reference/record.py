"""Records the reference server into cassettes: `python -m tests.reference.record [FOLDER]`.

Every cassette is what a real process sent over HTTP, with its chunks and times; opaque data is
replaced by stand-ins. FOLDER is `cassettes/` unless named.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx
from msgspec import structs
from websockets.sync.client import connect

from conformance import __version__
from conformance.cassette import Header, redact
from conformance.cassette import read as read_cassette
from conformance.cassette import write as write_cassette
from conformance.core.events import Chunk
from conformance.targets.recording import Origin, RecordingFolder, RecordingOptions, RecordingProxy
from conformance.wire.server import running_in_thread
from reference_impl.server.defects import Api
from tests.reference.driving import Answer, Headers
from tests.reference.scenes import COUNT, CUT, DIALECTS, OPT_IN, SCENES, Scene, cassette, play_to

ROOT: Final = Path(__file__).parents[2]
SUM: Final = "What is 2 + 2?"
SOCKET: Final = "openai.responses/socket/live-session.cassette.jsonl"


@dataclass(frozen=True, slots=True)
class Topic:
    """One cassette: what is asked, of a server started like this."""

    api: Api
    name: str
    scenes: tuple[Scene, ...]
    arguments: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return f"{DIALECTS[self.api]}/reference/{self.name}.cassette.jsonl"


def topics() -> Iterator[Topic]:
    yield from _chat()
    yield from _responses()
    yield from _messages()


def _chat() -> Iterator[Topic]:
    asked = {"messages": [{"role": "user", "content": SUM}]}
    streamed = {**asked, "stream": True, "stream_options": {"include_usage": True}}
    plain, opted_in = Scene("plain", streamed), Scene("opted-in", streamed, OPT_IN)
    whole = (Scene("stream", streamed, OPT_IN), Scene("body", asked, OPT_IN))
    yield Topic("chat", "live-opt-in", (plain, opted_in, *whole))
    yield Topic("chat", "live-tools", _of("chat", "tool-turn", "follow-up"))
    yield Topic("chat", "live-cut", _of("chat", "cut"))
    yield Topic("chat", "live-emoji", _of("chat", "opted-in"))
    yield Topic("chat", "live-prompt-opened", (opted_in,), ("--variant", "prompt-opened"))
    wrapped = ("--chat-reasoning", "wrap")
    cut = {**streamed, "messages": [{"role": "user", "content": COUNT}], "max_tokens": CUT}
    yield Topic("chat", "live-cut-thinking", (Scene("cut", cut, OPT_IN),), wrapped)


def _responses() -> Iterator[Topic]:
    asked: dict[str, Any] = {"input": SUM, "reasoning": {"effort": "high"}, "stream": True}
    summaries = [
        Scene(role, {**asked, "reasoning": {"effort": "high", "summary": style}})
        for role, style in (("summary", "concise"), ("detailed", "detailed"))
    ]
    yield Topic("responses", "live-summary", (Scene("no-summary", asked), *summaries))
    yield Topic("responses", "live-body", (Scene("body", {**asked, "stream": False}),))
    yield Topic("responses", "live-bracket", (Scene("stream", asked),), ("--variant", "bracket"))
    yield Topic("responses", "live-tools", _of("responses", "tool-turn", "follow-up"))
    yield Topic("responses", "live-cut", _of("responses", "cut"))
    asked_for = {"effort": "high", "summary": "concise"}
    cut = {**asked, "input": COUNT, "reasoning": asked_for, "max_output_tokens": CUT}
    yield Topic("responses", "live-cut-summary", (Scene("cut", cut),))


def _messages() -> Iterator[Topic]:
    asked = {
        "messages": [{"role": "user", "content": SUM}],
        "max_tokens": 2048,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    stream = Scene("stream", {**asked, "stream": True})
    yield Topic("messages", "live-think", (stream, Scene("body", asked)))
    yield Topic("messages", "live-tools", _of("messages", "tool-turn", "follow-up"))
    yield Topic("messages", "live-cut", _of("messages", "cut"))


def _of(api: Api, *roles: str) -> tuple[Scene, ...]:
    return tuple(scene for scene in SCENES[api]() if scene.role in roles)


@contextmanager
def server(arguments: Sequence[str]) -> Iterator[str]:
    """The URL of a server in a process of its own, one token at a time."""
    options = ["--port", "0", "--max-batch", "1", "--model-name", "tiny-think", *arguments]
    command = [sys.executable, "-m", "reference_impl.server", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("READY ").strip()
    finally:
        process.terminate()
        process.wait()


class Recorder:
    """Asks over HTTP and keeps chunks as they come, with milliseconds between them."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def ask(self, path: str, fields: Mapping[str, Any], headers: Headers) -> Answer:
        chunks: list[Chunk] = []
        before = time.perf_counter()
        async with self._client.stream(
            "POST", path, json=dict(fields), headers=dict(headers)
        ) as response:
            async for data in response.aiter_raw():
                now = time.perf_counter()
                chunks.append(Chunk(data, round((now - before) * 1000, 2)))
                before = now
        head = tuple(response.headers.items())
        return Answer(response.status_code, head, tuple(chunks))


async def record(topic: Topic, url: str, folder: Path) -> Path:
    """Writes one cassette and returns its path."""
    header = Header(
        origin="live",
        profile="reference",
        recorder={"name": "conformance", "version": __version__},
        recorded_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        target={"name": "reference", "version": __version__},
        licence="Apache-2.0",
    )
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client:
        played = await play_to(Recorder(client).ask, topic.api, topic.scenes, "tiny-think")
    held = cassette(topic.api, played, header, scenario=topic.name.removeprefix("live-"))
    path = folder / topic.path
    path.parent.mkdir(parents=True, exist_ok=True)
    write_cassette(path, redact(held), seal=True)
    return path


def record_socket(url: str, folder: Path) -> Path:
    """Writes what a client and the server said over one WebSocket, as the proxy recorded it.

    Two questions, the second of which carries on the first answer, then a tool turn.
    """
    path = folder / SOCKET
    with TemporaryDirectory() as taken:
        options = RecordingOptions(profile="reference")
        shelf = RecordingFolder(Path(taken), options)
        with running_in_thread(RecordingProxy(Origin.parse(url), shelf)) as proxy:
            _talk(f"{proxy.url.replace('http', 'ws', 1)}/v1/responses")
        (file,) = Path(taken).iterdir()
        held = read_cassette(file)
    target = {"name": "reference", "version": __version__}
    header = structs.replace(held.header, target=target, licence="Apache-2.0")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_cassette(path, structs.replace(held, header=header), seal=True)
    return path


def _talk(url: str) -> None:
    asked = {"type": "response.create", "model": "tiny-think", "reasoning": {"effort": "high"}}
    tools = [scene.fields["tools"] for scene in _of("responses", "tool-turn")]
    bodies: list[dict[str, Any]] = [
        {"input": SUM},
        {"input": "And 3 + 4?"},
        {"input": "Use the calculator: what is 2 + 3?", "tools": tools[0]},
    ]
    earlier: dict[str, Any] = {}
    with connect(url, proxy=None) as client:
        for body in bodies:
            client.send(json.dumps({**asked, **body, **earlier}))
            event: dict[str, Any] = {}
            while event.get("type") != "response.completed":
                event = json.loads(client.recv(60))
            earlier = {"previous_response_id": event["response"]["id"]}
        (call,) = [each for each in event["response"]["output"] if each["type"] == "function_call"]
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "5"}
        client.send(json.dumps({**asked, **bodies[-1], "input": [result], **earlier}))
        while json.loads(client.recv(60))["type"] != "response.completed":
            pass


def main(arguments: Sequence[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    folder = Path(given[0]) if given else ROOT / "cassettes"
    for started in dict.fromkeys(topic.arguments for topic in topics()):
        with server(started) as url:
            for topic in topics():
                if topic.arguments == started:
                    path = asyncio.run(record(topic, url, folder))
                    sys.stdout.write(f"{path}\n")
            if not started:
                sys.stdout.write(f"{record_socket(url, folder)}\n")


if __name__ == "__main__":
    main()
