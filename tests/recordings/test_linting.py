"""Recordings that prove something else than they seem to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import Cassette, Header, Redaction, write
from conformance.cli import main
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.shipped import cassettes
from conformance.judging.suites import load_suites
from conformance.recordings.lint_claims import claimed_word, thinking_field
from conformance.recordings.linting import lint_recordings, recording_paths, split_paths
from conformance.rules.lint import Problem

ROOT = Path(__file__).parent.parent.parent
STREAM = Response(200, "1.1", (("content-type", "text/event-stream"),))
BODY = Response(200, "1.1", (("content-type", "application/json"),))


def chunk(delta: dict[str, Any], finish: str | None = None, id_: str = "c1") -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "id": id_, "choices": [choice]}


def sse(*payloads: Any, done: bool = True) -> bytes:
    texts = [json.dumps(each) for each in payloads] + (["[DONE]"] if done else [])
    return "".join(f"data: {text}\n\n" for text in texts).encode()


THINKING = chunk({"role": "assistant", "reasoning_content": "Hm."})
TEXT = chunk({"content": "Yes."})
END = chunk({}, "stop")
PLAIN = sse(TEXT, END)
REQUEST = Request("POST", "/v1/chat/completions", json={"model": "m", "stream": True})


def saved(folder: Path, *exchanges: Exchange, name: str = "chat", **header: Any) -> Path:
    path = folder / f"{name}.cassette.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = {"origin": "live", "dialect": "openai.chat", "profile": "strict", **header}
    write(path, Cassette(Header(**fields), exchanges))
    return path


def exchange(body: bytes = PLAIN, **changes: Any) -> Exchange:
    fields = {"request": REQUEST, "response": STREAM, "chunks": (Chunk(body, 1.0),), **changes}
    return Exchange(**fields)


def reported(path: Path) -> list[str]:
    return [f"{each.place.line} {each.severity}: {each.message}" for each in linted(path)]


def linted(path: Path) -> list[Problem]:
    return lint_recordings([path]).problems


def test_a_plain_recording_is_clean(tmp_path: Path) -> None:
    assert reported(saved(tmp_path, exchange(), target={"name": "m", "version": "1"})) == []


def asking(**fields: Any) -> Request:
    return Request(json={"model": "m", "stream": True, **fields})


def headed(name: str, value: str) -> Request:
    return Request(headers=((name, value),), json={"stream": True})


SPLICED = sse(TEXT, END, chunk({"role": "assistant", "content": "Two."}, id_="c2"), done=False)
BROKEN = sse(TEXT, done=False) + b'data: {"id":"c1","cho\n\n' + sse(END)
FLAWS: list[tuple[dict[str, Any], str]] = [
    # what of the exchange is changed, what the lint says
    ({"request": asking(reasoning_effort="low")}, "3 warning: the request asks for thinking"),
    ({"request": headed("X-Include-Thinking", "true")}, "3 warning: the request asks for thinking"),
    ({"scenario": "think", "role": "plain"}, "None error: scenario 'think' names thinking"),
    ({"chunks": (Chunk(PLAIN + b'data: {"id":"c1","cho', 1.0),)}, "7 error: the last event is cut"),
    ({"chunks": (Chunk(sse(TEXT, TEXT)[:-20] + b"\n\n", 1.0),)}, "error: the last event is cut"),
    ({"chunks": (Chunk(BROKEN, 1.0),)}, "5 warning: event 2 breaks off inside its JSON"),
    ({"chunks": (Chunk(PLAIN + sse(TEXT), 1.0),)}, "7 error: a second answer begins"),
    ({"chunks": (Chunk(SPLICED, 1.0),)}, "6 error: a second answer begins"),
    ({"request": asking(stream=False)}, "3 error: the request does not ask for a stream"),
    ({"response": BODY, "chunks": (Chunk(b"{}", 1.0),)}, "3 error: the request asks for a stream"),
    ({"after": 7}, "3 error: `after` names exchange 7"),
    ({"chunks": (Chunk(PLAIN, 1.0), Chunk(b": x\n\n"))}, "error: 1 of 2 chunks have no time"),
    ({"chunks": (Chunk(PLAIN), Chunk(b": x\n\n"))}, "warning: a live recording without times"),
    ({"request": None}, "3 warning: no request is recorded"),
    ({"request": asking(user="jo-4711")}, "None error: the request holds an identifier in 'user'"),
    ({"request": headed("Authorization", "Bearer x")}, "a value of header 'authorization'"),
    ({"request": asking(m="jo@acme.org")}, "None warning: the request holds an e-mail address"),
    ({"request": asking(m="org-a1B2c3D4e5F6g7H8i9")}, "an account id (org-...)"),
]


@pytest.mark.parametrize(("changes", "message"), FLAWS)
def test_flaw_shows_its_line(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    found = [line for line in reported(saved(tmp_path, exchange(**changes))) if message in line]
    assert len(found) == 1, reported(saved(tmp_path, exchange(**changes)))


CLEAN: list[dict[str, Any]] = [
    {"request": asking(reasoning={"effort": "none"})},
    {"request": asking(thinking={"type": "disabled"}, reasoning_effort="high")},
    {"request": asking(reasoning_effort="low"), "chunks": (Chunk(sse(THINKING, TEXT, END), 1.0),)},
    {"scenario": "no thinking", "role": "plain"},
    # A missing blank line after a whole event is the server's habit, not a cut.
    {"chunks": (Chunk(PLAIN[:-1], 1.0),)},
    {"chunks": (Chunk(PLAIN + b'data: {"id":"c1","cho', 1.0),), "end": "reset"},
    {"request": asking(user="[redacted]", m="jo@example.com")},
    {"response": Response(429, "1.1", BODY.headers), "chunks": (Chunk(b'{"error":{}}', 1.0),)},
]


@pytest.mark.parametrize("changes", CLEAN)
def test_what_may_be_meant_is_no_flaw(changes: dict[str, Any], tmp_path: Path) -> None:
    path = saved(tmp_path, exchange(**changes))
    assert [line for line in reported(path) if "dialect" not in line] == []


def test_the_name_of_a_file_is_a_claim(tmp_path: Path) -> None:
    path = saved(tmp_path, exchange(), name="chat_thinking_low")
    assert reported(path) == [
        "None error: the file's name says 'thinking', but no thinking is in it"
    ]


def test_a_description_is_a_claim(tmp_path: Path) -> None:
    path = saved(tmp_path, exchange(), extra={"description": "Recorded: a chat that thinks"})
    assert reported(path) == ["None error: its description says 'thinks', but no thinking is in it"]


CREATED = {"type": "response.created", "response": {"id": "r1", "output": []}}
ITEM = {"type": "reasoning", "id": "rs1", "summary": []}
OPENED = {"type": "response.output_item.added", "output_index": 0, "item": ITEM}
CLOSED = {"type": "response.output_item.done", "output_index": 0, "item": ITEM}


def finished(status: str, reason: str | None = None) -> dict[str, Any]:
    details = {"reason": reason} if reason else None
    response = {"id": "r1", "status": status, "incomplete_details": details, "output": [ITEM]}
    return {"type": f"response.{status}", "response": response}


def responses(tmp_path: Path, *payloads: dict[str, Any], name: str = "a") -> list[str]:
    body = b"".join(
        f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in payloads
    )
    made = exchange(body, request=Request("POST", "/v1/responses", json={"stream": True}))
    path = saved(tmp_path, made, name=name, dialect="openai.responses")
    return [f"{each.code}: {each.message}" for each in linted(path)]


def test_an_empty_block_is_no_thinking_unless_the_limit_closed_it(tmp_path: Path) -> None:
    whole = (CREATED, OPENED, CLOSED, finished("completed"))
    assert [line.split(":")[0] for line in responses(tmp_path, *whole, name="thinking")] == [
        "thinking-claimed"
    ]
    short = (CREATED, OPENED, CLOSED, finished("incomplete", "max_output_tokens"))
    assert responses(tmp_path, *short, name="thinking-cut-short") == []


def test_a_second_answer_need_not_wait_for_the_end_of_the_first(tmp_path: Path) -> None:
    twice = (CREATED, OPENED, CREATED, OPENED, CLOSED, finished("completed"))
    [line] = responses(tmp_path, *twice)
    assert line == "second-answer: a second answer begins with event 3: record one to an exchange"


def test_what_broke_off_in_rebuilt_framing_the_recorder_broke(tmp_path: Path) -> None:
    broken = exchange(BROKEN, chunks=(Chunk(BROKEN),))
    path = saved(tmp_path, broken, origin="imported", fidelity="events")
    assert reported(path) == ["5 error: event 2 breaks off inside its JSON"]


def test_a_secret_in_the_header_is_reported(tmp_path: Path) -> None:
    path = saved(tmp_path, exchange(), extra={"description": f"with {KEY}"})
    assert [line.split(" (")[0] for line in reported(path)] == [
        "None error: the header holds a secret"
    ]


def test_recordings_are_counted_by_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path, exchange())
    (tmp_path / "b.sse").write_bytes(PLAIN)
    events = [{"data": json.dumps(each)} for each in (TEXT, END)]
    (tmp_path / "c.json").write_text(json.dumps({"events": events, "recorded_at": "now"}))
    assert lint_recordings([tmp_path]).kinds == {"cassette": 1, "sse": 1, "opal": 1}
    assert main(["lint", str(tmp_path)]) == 0
    assert "3 recordings: 1 cassette, 1 opal, 1 sse\n" in capsys.readouterr().out


def test_problem_is_shown_with_its_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(saved(tmp_path, exchange(), name="thinking"))]) == 2
    assert capsys.readouterr().out.splitlines()[0].endswith("is in it [thinking-claimed]")


def test_every_code_is_explained() -> None:
    page = (ROOT / "docs" / "recording.md").read_text(encoding="utf-8")
    sources = ("lint_recording", "linting", "lint_requests")
    code = re.compile(r'(?:_problem\(\s*|"(?:error|warning)", )"([a-z-]+)"')
    texts = [(ROOT / "conformance" / "recordings" / f"{name}.py").read_text() for name in sources]
    codes = {found for text in texts for found in code.findall(text)}
    assert len(codes) > 12
    assert [each for each in sorted(codes) if f"| `{each}` |" not in page] == []


def test_a_name_may_deny_what_was_requested(tmp_path: Path) -> None:
    silent = exchange(request=asking(reasoning_effort="low"))
    assert reported(saved(tmp_path, silent, name="thinking-not-shown")) == []


def test_every_exchange_of_a_claim_counts(tmp_path: Path) -> None:
    shown = exchange(sse(THINKING, TEXT, END), number=1, scenario="think", role="opted-in")
    hidden = exchange(number=2, scenario="think", role="plain")
    assert reported(saved(tmp_path, shown, hidden, name="thinking")) == []


KEY = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3"


def test_a_secret_is_reported_unless_it_was_counted_as_replaced(tmp_path: Path) -> None:
    body = sse(chunk({"content": f"key {KEY}"}), END)
    assert any("a secret (key.sk)" in line for line in reported(saved(tmp_path, exchange(body))))
    counted = (Redaction("key.sk", 1),)
    assert reported(saved(tmp_path, exchange(body), redactions=counted)) == []


def test_a_made_up_stream_names_nobody(tmp_path: Path) -> None:
    request = asking(user="jo-4711")
    assert reported(saved(tmp_path, exchange(request=request), origin="synthetic")) == []


def test_rebuilt_framing_may_have_a_clock(tmp_path: Path) -> None:
    """Programs write down payloads with their times."""
    assert reported(saved(tmp_path, exchange(), origin="imported", fidelity="events")) == []


def test_expect_names_rules_and_verdicts(tmp_path: Path) -> None:
    expect = {"wire/chat/done-onc": "FAIL", "wire/chat/done-once": "RED"}
    lines = reported(saved(tmp_path, exchange(), expect=expect))
    assert "did you mean 'wire/chat/done-once'?" in lines[0]
    assert "got 'RED'" in lines[1]
    assert "is in no folder 'mutants'" in lines[2]


def test_what_fails_on_purpose_is_looked_at_for_secrets_only(tmp_path: Path) -> None:
    expect = {"wire/chat/done-once": "FAIL"}
    body = PLAIN + b'data: {"id":"c1","cho'
    saved(tmp_path, exchange(body), name="mutants/thinking", expect=expect)
    assert linted(tmp_path) == []
    assert len(recording_paths([tmp_path])) == 1


def test_an_unreadable_recording_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "x.cassette.jsonl"
    path.write_text('{"cassette":"1.0"}\n{"request":\n', encoding="utf-8")
    (problem,) = linted(path)
    assert (problem.severity, problem.place.line) == ("error", 2)


def test_a_rule_that_nothing_exercises_is_reported(tmp_path: Path) -> None:
    saved(tmp_path, exchange())
    suites = load_suites(["wire/chat"])
    problems = lint_recordings([tmp_path], suites).problems
    idle = {each.message.split("'")[1] for each in problems}
    assert "wire/chat/done-once" not in idle
    assert "wire/chat/usage-once" in idle
    assert {each.severity for each in problems} == {"warning"}


def test_paths_are_sorted_out_by_what_they_hold(tmp_path: Path) -> None:
    path = saved(tmp_path / "rec", exchange())
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "a.yaml").write_text("suite: a\n")
    missing = tmp_path / "none.yaml"
    both = [tmp_path, rules, path, missing]
    assert split_paths(both) == ([tmp_path, rules, missing], [tmp_path, path])


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        lint_recordings([tmp_path / "none"])


NAMES = [
    ("chat_completions_thinking_low", "thinking"),
    ("o3 reasoning text", "reasoning"),
    ("text_noreasoning", ""),
    ("no-thinking", ""),
    ("stripped thinking", ""),
    ("rethink", ""),
    ("thinking-not-shown", ""),
]


@pytest.mark.parametrize(("name", "word"), NAMES)
def test_names_claim_by_whole_words(name: str, word: str) -> None:
    assert claimed_word(name) == word


@pytest.mark.parametrize("json", [None, [], "x", 1, {"reasoning": []}, {"thinking": {"type": 0}}])
def test_an_odd_request_asks_for_nothing(json: Any) -> None:
    assert thinking_field(Request(json=json)) == ""


@pytest.mark.every_run
def test_the_shipped_cassettes_are_clean() -> None:
    assert lint_recordings([cassettes()]).problems == []
