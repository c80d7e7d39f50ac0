"""Files that hold no answer: a finding, the error that came in its place, or no dialect of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cli import main


def events(*payloads: Any) -> str:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in payloads)


CHUNK: Final = {
    "id": "c1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "delta": {"role": "assistant", "content": "Hel"}, "finish_reason": None}
    ],
}
ERROR: Final = {"error": {"type": "overloaded", "message": "Come back later"}}
TEXT_COMPLETION: Final = {
    "id": "cmpl-1",
    "object": "text_completion",
    "created": 1,
    "choices": [{"index": 0, "text": "Hi", "finish_reason": "stop"}],
}
CLAUDE_COMPLETION: Final = {"type": "completion", "completion": " Hi", "stop_reason": None}
ANSWER_PRESENT: Final = {
    "openai.chat": "wire/chat/answer-present",
    "anthropic.messages": "wire/messages/answer-present",
    "openai.responses": "wire/responses/terminal-present",
    "ollama.chat": "wire/ollama/answer-present",
}

Run = Any


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Checks a text as an event stream; gives the exit code, and all that was printed."""

    def check(text: str, *options: str) -> tuple[int, str]:
        file = tmp_path / "a.sse"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SystemExit) as ended:
            raise SystemExit(main(["check", str(file), *options]))
        printed = capsys.readouterr()
        return int(str(ended.value.code)), printed.out + printed.err

    return check


@pytest.mark.parametrize("dialect", ANSWER_PRESENT)
@pytest.mark.parametrize(
    "text",
    [": hello\n\n: still there\n\n", events({"type": "ping"}), events({"foo": 1})],
    ids=["comments", "ping", "foreign"],
)
def test_a_stream_without_an_answer_is_a_finding(run: Run, dialect: str, text: str) -> None:
    code, printed = run(text, "--dialect", dialect)

    # Where the first event has no type, none is read: that is what was found.
    is_untyped = "foo" in text and dialect == "anthropic.messages"
    wanted = "wire/messages/event-typed" if is_untyped else ANSWER_PRESENT[dialect]
    assert code == 1
    assert f"FAIL MUST {wanted}" in printed


@pytest.mark.parametrize("dialect", ["openai.chat", "anthropic.messages"])
def test_an_error_alone_is_reported_and_proves_nothing(run: Run, dialect: str) -> None:
    code, printed = run(events(ERROR), "--dialect", dialect)

    assert code == 5
    assert "no answer came but an error: overloaded: Come back later" in printed


def test_an_answer_that_breaks_off_with_an_error_says_which(run: Run) -> None:
    code, printed = run(events(CHUNK, ERROR))

    assert code == 0
    assert "broke off with an error: overloaded: Come back later" in printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (": hello\n\n", "no known dialect is recognised"),
        (events({"type": "ping"}), "no known dialect is recognised"),
        (events({"foo": 1}), "no known dialect is recognised"),
        (events(TEXT_COMPLETION), "dialect openai.completions is not supported yet"),
        (
            events({"type": "ping"}, CLAUDE_COMPLETION),
            "dialect anthropic.complete is not supported yet",
        ),
    ],
    ids=["comments", "ping", "foreign", "text-completion", "claude-completion"],
)
def test_what_is_no_dialect_of_ours_is_refused(run: Run, text: str, message: str) -> None:
    code, printed = run(text)

    assert code == 2
    assert message in printed
