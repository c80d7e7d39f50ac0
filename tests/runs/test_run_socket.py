"""`conformance run --url ws://...`: scenarios over WebSockets, judged by the rules of Responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_sockets

from conformance.cli import main
from tests.cassette.sockets import answer
from tests.reference.server_process import KEY
from tests.reference.server_process import server as reference


@contextmanager
def answering(*, cut: bool = False) -> Iterator[str]:
    """The URL of a server that gives the shipped answer to whatever is asked, or half of it."""

    def talk(connection: ServerConnection) -> None:
        for number, message in enumerate(connection):
            assert json.loads(message)["type"] == "response.create"
            assert "stream" not in json.loads(message)
            events = answer(f"resp_{number}")
            for _, event in events[:9] if cut else events:
                connection.send(json.dumps(event))
            if cut:
                return

    with serve_sockets(talk, "127.0.0.1", 0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/v1/responses"
        finally:
            server.shutdown()
            thread.join()


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    common = ["--profile", "strict", "--format", "json"]
    code = main(["run", *common, *arguments])
    return code, json.loads(capsys.readouterr().out or "null")


def test_an_answer_is_judged_and_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with answering() as url:
        options = ("--url", url, "--model", "m", "--scenario", "think", "--save", str(tmp_path))
        code, report = ran(capsys, *options)
    assert code in (0, 1)
    verdicts = {
        rule for each in report["streams"] for rule, v in each["verdicts"].items() if v == "PASS"
    }
    assert "wire/responses/terminal-present" in verdicts or len(verdicts) > 50
    assert not {f["rule"] for each in report["streams"] for f in each["findings"]} & verdicts
    (kept,) = tmp_path.glob("openai.responses/think.cassette.jsonl")
    assert main(["check", "--profile", "strict", str(kept)]) == 0


def test_a_close_without_a_last_event_is_a_cut(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(cut=True) as url:
        code, report = ran(capsys, "--url", url, "--model", "m", "--scenario", "think")
    found = {f["rule"] for each in report["streams"] for f in each["findings"]}
    assert code == 1
    assert {"scenario/ending", "wire/responses/terminal-present"} <= found


def test_other_apis_are_not_spoken_over_websockets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--url", "ws://127.0.0.1:1", "--api", "chat"]) == 2
    assert "chat is not spoken over WebSockets" in capsys.readouterr().err


def test_nobody_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--url", "ws://127.0.0.1:1/v1/responses", "--model", "m"]) == 3
    assert "nothing listens there" in capsys.readouterr().err


@pytest.mark.slow
def test_the_reference_server_conforms(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFERENCE_KEY", KEY)
    with reference() as url:
        options = ("--url", f"{url.replace('http', 'ws', 1)}/v1", "--api-key-env", "REFERENCE_KEY")
        code, report = ran(capsys, *options)
    assert code == 0
    assert sum(each["view"] == "wire" for each in report["streams"]) > 20
