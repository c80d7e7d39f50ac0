"""`chat` as a user runs it: what is shown, what is kept, how it ends."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reference_impl.client.__main__ import main
from reference_impl.client.calculator import calculate
from reference_impl.client.event import Event
from reference_impl.client.screen import Screen
from tests.reference.client_server import Script, SentRequest, playing

DONE = b"data: [DONE]\n\n"


def chunk(reason: str | None = None, **delta: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice]})}\n\n".encode()


ANSWER = Script((chunk(reasoning="2 plus 2."), chunk(content="4."), chunk("stop"), DONE))
CALL = {"id": "c1", "function": {"name": "calculator", "arguments": '{"expression":"2 + 2"}'}}
CALLING = Script((chunk(reasoning="I call."), chunk("tool_calls", tool_calls=[CALL]), DONE))


def chat(*scripts: Script, more: tuple[str, ...] = ()) -> tuple[int, list[SentRequest]]:
    with playing(*scripts) as played:
        options = ("--url", played.base_url, "--model", "m", *more)
        return main(["chat", *options, "What is 2 + 2?"]), played.asked


def test_thinking_stands_above_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = chat(ANSWER)
    assert code == 0
    assert capsys.readouterr().out == "[thinking]\n2 plus 2.\n[answer]\n4.\n"


def test_the_calculator_is_run_for_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    code, asked = chat(CALLING, ANSWER, more=("--tools",))
    assert code == 0
    assert 'calculator({"expression":"2 + 2"}) = 4\n' in capsys.readouterr().out
    first, second = asked
    assert first.json["tools"][0]["function"]["name"] == "calculator"
    assert second.json["messages"][1]["reasoning_content"] == "I call."
    assert second.json["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": "4"}


def test_a_model_that_calls_for_ever_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    code, asked = chat(CALLING, more=("--tools",))
    assert (code, len(asked)) == (1, 8)
    assert "no answer after 8 rounds" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        (Script((chunk(content="4"),)), 1, "the answer broke off: eof"),
        (Script((b'{"error":{"message":"busy","code":"b"}}',), 503), 1, "failed: busy (b)"),
        (Script((b"<html>",), 502), 1, "failed: HTTP 502: <html>"),
    ],
)
def test_what_is_no_answer_fails(
    script: Script, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chat(script)[0] == code
    assert message in capsys.readouterr().err


def test_nobody_there_is_another_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--url", "http://127.0.0.1:1", "--model", "m", "Hi"]) == 3
    assert capsys.readouterr().err.startswith("error: http://127.0.0.1:1/v1/chat/completions: ")


def test_a_conversation_goes_on_where_it_was_left(tmp_path: Path) -> None:
    store = str(tmp_path / "talk.jsonl")
    assert chat(ANSWER, more=("--store", store, "--system", "Be brief."))[0] == 0
    code, asked = chat(ANSWER, more=("--store", store, "--system", "Be brief."))
    assert code == 0
    roles = [message["role"] for message in asked[0].json["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert asked[0].json["messages"][2]["reasoning_content"] == "2 plus 2."
    assert len(Path(store).read_text().splitlines()) == 5


def test_an_answer_that_broke_off_is_not_kept(tmp_path: Path) -> None:
    store = tmp_path / "talk.jsonl"
    assert chat(Script((chunk(content="4"),)), more=("--store", str(store)))[0] == 1
    assert not store.exists()


def test_unreadable_store_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert chat(ANSWER, more=("--store", str(tmp_path)))[0] == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    _, asked = chat(ANSWER, more=("--api-key-env", "SOME_KEY"))
    assert asked[0].headers["authorization"] == "Bearer secret"


def test_a_key_that_is_not_there_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert chat(ANSWER, more=("--api-key-env", "NO_SUCH_KEY"))[0] == 2
    assert capsys.readouterr().err == "error: the environment variable NO_SUCH_KEY is not set\n"


def test_an_answer_cut_by_length_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert chat(Script((chunk("length", content="2 +"), DONE)))[0] == 0
    assert capsys.readouterr().err == "the answer was cut by length\n"


@pytest.mark.parametrize(
    "option", [("--timeout", "0"), ("--timeout", "nan"), ("--max-tokens", "-1")]
)
def test_numbers_are_above_zero(option: tuple[str, str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["chat", "--url", "http://127.0.0.1:1", "--model", "m", *option, "Hi"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_no_traceback() -> None:
    command = [sys.executable, "-m", "reference_impl.client", "harness"]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            command, input=b'{"cmd":"start"}\n', stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ended.returncode == 2
    assert ended.stderr == b"error: the output cannot be written: No space left on device\n"


def test_the_opt_in_shows_marked_thinking_as_thinking(capsys: pytest.CaptureFixture[str]) -> None:
    marked = Script((chunk(content="<think>2 plus 2.</think>4."), chunk("stop"), DONE))
    _, asked = chat(marked, more=("--include-thinking",))
    assert capsys.readouterr().out == "[thinking]\n2 plus 2.\n[answer]\n4.\n"
    assert asked[0].headers["x-include-thinking"] == "true"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(*events: Event) -> str:
    screen = Terminal()
    view = Screen(screen)
    for event in events:
        view.show(event)
    view.end()
    return screen.getvalue()


THOUGHT = Event("thinking.delta", {"block": 0, "channel": "raw", "text": "hm"})
TEXT = Event("text.delta", {"block": 1, "text": "4."})


def test_thinking_is_dimmed_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert shown(THOUGHT, TEXT) == "\x1b[2mhm\x1b[0m\n\x1b[0m4.\x1b[0m\n"


def test_parts_of_a_summary_stand_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    parts = ((0, "One"), (0, "."), (1, "Two."))
    fields = [
        {"block": 0, "channel": "summary", "part": part, "text": text} for part, text in parts
    ]
    deltas = [Event("thinking.delta", each) for each in fields]
    assert shown(THOUGHT, *deltas, TEXT) == "[thinking]\nhm\n\nOne.\n\nTwo.\n[answer]\n4.\n"


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown(THOUGHT, TEXT) == "[thinking]\nhm\n[answer]\n4.\n"


def test_a_model_cannot_command_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = "a\x1b[2Jb\r\x9bc\n\ud83e"
    written = shown(Event("text.delta", {"block": 0, "text": text}))
    assert written == "[answer]\na\ufffd[2Jb\ufffd\ufffdc\n\ufffd\n"


def test_opaque_data_and_other_choices_are_not_for_eyes() -> None:
    opaque = Event("thinking.opaque", {"kind": "encrypted", "data": "secret"})
    assert shown(opaque, Event("text.delta", {"block": 0, "text": "other"}, 1)) == ""


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2 + 2", "4"),
        ("-(3 - 5) * 4 / 2", "4"),
        ("0.1 + 0.2", "0.3"),
        ("1 / 0", "error: "),
        ("2 ** 9", "error: only numbers"),
        ("__import__('os')", "error: only numbers"),
        ("9" * 300, "error: expected an expression"),
        ("(" * 100, "error: "),
        ("", "error: "),
        ("True + 1", "error: only numbers"),
    ],
)
def test_the_calculator_works_out_sums_and_nothing_else(expression: str, result: str) -> None:
    assert calculate(json.dumps({"expression": expression})).startswith(result)


@pytest.mark.parametrize("arguments", ["", "7", "[]", '{"expression": 4}', "{"])
def test_the_calculator_says_what_it_wants(arguments: str) -> None:
    assert calculate(arguments).startswith("error: expected an expression")
