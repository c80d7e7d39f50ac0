"""What an application asks, or does not ask, and how the command names it."""

from __future__ import annotations

import asyncio
import re
import socket
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from conformance.cli import app
from conformance.core.errors import RemoteError, UsageError
from tests.fakes.application import HOSTED, Application, Message, Receive, Send
from tests.runs.test_run_application import ran


@pytest.mark.parametrize(
    ("status", "header", "came", "hint"),
    [
        (401, (), "answered HTTP 401", "-H 'NAME: VALUE'"),
        (404, (), "answered HTTP 404", "--app names"),
        (200, (), "answered HTTP 200", "point the base URL"),
        (302, (b"location", b"/in?k=1"), ": HTTP 302 redirects to /in", "--app names"),
        (200, (b"content-type", b"text/html"), ": a web page came, .*", "--app names"),
    ],
)
def test_an_application_that_asks_nothing_is_no_target(
    status: int, header: tuple[bytes, ...], came: str, hint: str, tmp_path: Path
) -> None:
    async def silent(_scope: Message, _receive: Receive, send: Send) -> None:
        headers = [header] if header else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    message = rf"the application ?{came}, and sent no request to port \d+ \({hint}"
    with pytest.raises(RemoteError, match=message):
        ran(silent, tmp_path)


def test_what_an_application_says_of_its_failure_is_reported(tmp_path: Path) -> None:
    async def broken(_scope: Message, _receive: Receive, send: Send) -> None:
        failure = b'data: {"type": "error", "errorText": "No such model."}\n\n'
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": failure})

    with pytest.raises(RemoteError, match=r"HTTP 200 with an error \(No such model\.\), and sent"):
        ran(broken, tmp_path)


async def strayed(upstream: str, path: str) -> None:
    """Asks for what nobody serves, looks the models up, and speaks TLS."""
    port = int(upstream.rpartition(":")[2])
    async with httpx.AsyncClient(base_url=upstream) as client:
        for _ in range(3):
            await client.post(path, json={"model": "m"})
        await client.get("/v1/models?key=none")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64))
    await reader.read()
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/v1/respond", "3 times POST /v1/respond (HTTP 404)"),
        ("/sk-proj-" + "a1B2" * 12, "3 times POST /"),
        ("/" + "x" * 4000, "characters) (HTTP 404)"),
    ],
)
def test_what_was_asked_in_place_of_a_model_is_named(path: str, shown: str, tmp_path: Path) -> None:
    class Astray:
        upstream = ""

        async def __call__(self, _scope: Message, _receive: Receive, send: Send) -> None:
            await strayed(self.upstream, path)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    with pytest.raises(RemoteError) as failed:
        ran(Astray(), tmp_path)
    message = failed.value.message
    assert "answered HTTP 200, and sent no request to port" in message
    assert shown in message
    assert "GET /v1/models (HTTP 200)" in message
    assert "what was refused (" in message
    assert "a1B2a1B2" not in message
    assert len(message) < 600


def test_paths_that_no_api_has_are_noted_where_the_run_goes_on(tmp_path: Path) -> None:
    class Embedding(Application):
        async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
            async with httpx.AsyncClient(base_url=self.upstream) as client:
                await client.post("/v1/embeddings", json={"input": "Hi"})
            await super().__call__(scope, receive, send)

    (note,) = (
        each
        for each in ran(Embedding(), tmp_path, scenarios=("app-parts",)).report.notes
        if "no API has" in each
    )
    assert note.endswith("3 times POST /v1/embeddings (HTTP 404)")


def test_command_names_an_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr(HOSTED, "upstream", f"http://127.0.0.1:{port}")
    given = ["--protocol", "vercel.ui", "--upstream-port", str(port), "--scenario", "app-answer"]
    result = CliRunner().invoke(
        app, ["run", "--asgi", "tests.fakes.application:HOSTED", *given, "--save", str(tmp_path)]
    )
    assert result.exit_code == 0, result.output
    assert (tmp_path / "vercel.ui" / "app-answer.cassette.jsonl").is_file()
    # What would exercise the rest must be something that an application can be asked.
    hints = re.findall(r"run scenario ([^)]*)\)", result.output)
    assert all(name.startswith("app-") for hint in hints for name in hint.split(" or "))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--app", "http://x"], "--app URL and --protocol NAME go together"),
        (["--app", "http://x", "--protocol", "chat"], "no application speaks 'chat'"),
        (
            ["--app", "http://x", "--protocol", "agui"],
            "--protocol NAME and --upstream-port N go together",
        ),
        (["--url", "http://x", "--protocol", "agui"], "--protocol NAME goes with --app"),
        (
            ["--app", "http://x", "--protocol", "agui", "--upstream-port", "1", "--soak", "1s"],
            "--soak and --protocol do not go together",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(given: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["run", *given])
    assert isinstance(result.exception, UsageError)
    assert message in result.exception.message
