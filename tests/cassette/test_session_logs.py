"""Session logs of coding agents: the answers in them are judged, and nothing is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import discover, open_recording
from conformance.core.errors import CassetteError
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict

Line = dict[str, Any]
_SIGNATURE: Final = "c2lnbmF0dXJl"
THOUGHT: Final = {"type": "thinking", "thinking": "Two ferries.", "signature": _SIGNATURE}
CALL: Final = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "a"}}
OTHER_CALL: Final = {**CALL, "id": "toolu_2"}
TEXT: Final = {"type": "text", "text": "At nine."}


def claude(kind: str, **message: Any) -> Line:
    head = {"parentUuid": None, "isSidechain": False, "sessionId": "s", "version": "2.1.0"}
    return {**head, "type": kind, "message": message, "timestamp": "2026-11-01T09:00:00.000Z"}


def assistant_line(*blocks: Line, name: str = "msg_1", **more: Any) -> Line:
    fixed = {"type": "message", "role": "assistant", "model": "claude-x", "stop_reason": None}
    usage = {"usage": {"input_tokens": 9, "output_tokens": 2}}
    return claude("assistant", id=name, content=list(blocks), **{**fixed, **usage, **more})


def result(name: str) -> Line:
    block = {"type": "tool_result", "tool_use_id": name, "content": "9"}
    return claude("user", role="user", content=[block])


CLAUDE: Final = (
    {"type": "summary", "summary": "Ferries", "leafUuid": "u"},
    claude("user", role="user", content="When do they sail?"),
    assistant_line(THOUGHT),
    assistant_line(CALL),
    result("toolu_1"),  # a call is carried out before the answer is over
    assistant_line(OTHER_CALL, stop_reason="tool_use"),
    result("toolu_2"),
    assistant_line(TEXT, name="msg_2"),
    assistant_line(TEXT, name="api", model="<synthetic>"),
)


def codex(kind: str, **payload: Any) -> Line:
    return {"timestamp": "2026-11-01T09:00:00.000Z", "type": kind, "payload": payload}


def item(kind: str, **more: Any) -> Line:
    return codex("response_item", type=kind, **more)


SUMMARY: Final = [{"type": "summary_text", "text": "**Ferries**"}]
WORDS: Final = [{"type": "output_text", "text": "At nine."}]
CODEX: Final = (
    codex("session_meta", id="t", cwd="/w", cli_version="0.46.0"),
    codex("turn_context", model="gpt-5"),
    item("message", role="user", content=[{"type": "input_text", "text": "When?"}]),
    item("reasoning", summary=SUMMARY, content=None, encrypted_content="gAAA"),
    codex("event_msg", type="agent_reasoning", text="**Ferries**"),
    item("function_call", name="shell", arguments="{}", call_id="call_1"),
    item("function_call_output", call_id="call_1", output="9"),
    item("message", role="assistant", content=WORDS),
)


SUMMED_UP: Final = (  # as Codex 0.171.0 wrote it
    *CODEX[:4],
    item("compaction", id="cmp_1", encrypted_content="gAAB"),
    item("function_call", name="shell", arguments="{}", call_id="call_1"),
    codex("token_usage_record", response_id="r1"),
    item("function_call_output", call_id="call_1", output="9"),
    item("context_compaction", id="cmp_2", encrypted_content="gAAB"),
    item("message", role="assistant", content=WORDS),
    codex("token_usage_record", response_id="r2"),
    item("message", role="assistant", content=WORDS),
)


def qwen(kind: str, *parts: Line, **more: Any) -> Line:
    """A line of Qwen Code, which names its keys as Claude Code does."""
    head = {"uuid": "u", "parentUuid": None, "sessionId": "s", "cwd": "/w", "version": "0.21.13"}
    role = "model" if kind == "assistant" else "user"
    return {**head, "type": kind, "message": {"role": role, "parts": list(parts)}, **more}


_COUNTS: Final = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}
QWEN: Final = (
    qwen("user", {"text": "When?"}),
    qwen(
        "assistant",
        {"text": "Two ferries.", "thought": True},
        {"functionCall": {"id": "c", "name": "read", "args": {}}},
        model="qwen-x",
        usageMetadata=_COUNTS,
    ),
    qwen("tool_result", {"functionResponse": {"id": "c", "name": "read", "response": {}}}),
    {**qwen("system"), "subtype": "ui_telemetry"},
    qwen("assistant", {"text": "At nine."}, model="qwen-x"),
)


def copilot(kind: str, **data: Any) -> Line:
    return {"type": kind, "data": data, "id": "e", "timestamp": "2026-11-01T09:00:00.000Z"}


def copilot_turn(number: int, **message: Any) -> tuple[Line, ...]:
    """A question and its turn; turns are numbered anew after each question."""
    said = {"messageId": f"m{number}", "content": "At nine.", **message}
    return (
        copilot("user.message", content="When?"),
        copilot("assistant.turn_start", turnId="0"),
        copilot("assistant.message", **said),
        copilot("assistant.turn_end", turnId="0"),
    )


COPILOT: Final = (
    copilot("session.start", sessionId="s", producer="copilot-agent", copilotVersion="1.0.77"),
    *copilot_turn(1, reasoningText="Two ferries."),
    *copilot_turn(2),
)


def logged(folder: Path, *lines: Any) -> Path:
    path = folder / "log.jsonl"
    spelled = (each if isinstance(each, str) else json.dumps(each) for each in lines)
    path.write_text("\n".join(spelled) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("lines", "kind", "bodies"),
    [
        (CLAUDE, "claude-code-log", [["thinking", "tool_use", "tool_use"], ["text"]]),
        (CODEX, "codex-log", [["reasoning", "function_call"], ["message"]]),
        (
            SUMMED_UP,
            "codex-log",
            [
                ["reasoning", "compaction", "function_call"],
                ["context_compaction", "message"],
                ["message"],
            ],
        ),
    ],
)
def test_each_answer_is_one_body(
    tmp_path: Path, lines: tuple[Line, ...], kind: str, bodies: list[list[str]]
) -> None:
    path = logged(tmp_path, *lines)
    recording = open_recording(path)
    assert recording.kind == kind
    assert discover(tmp_path) == (path,)
    found = [json.loads(each.body) for each in recording.exchanges]
    items = [[part["type"] for part in body.get("content", body.get("output"))] for body in found]
    assert items == bodies
    assert found[0]["model"] in ("claude-x", "gpt-5")
    assert recording.header.recorder["version"] in ("2.1.0", "0.46.0")
    assert recording.locate(1, [0]) == [3 if kind == "claude-code-log" else 4]
    report = check_paths([tmp_path])
    assert {each.profile for each in report.streams} == {"session-log"}
    assert not [f for each in report.streams for f in each.findings]


def test_lines_of_a_session_that_is_resumed_count_once(tmp_path: Path) -> None:
    """Claude Code repeats lines as they were (#56196), or copies them into the next session."""
    named = [{**each, "uuid": f"u{at}"} for at, each in enumerate(CLAUDE)]
    copied = [{**each, "uuid": f"v{at}", "sessionId": "t"} for at, each in enumerate(CLAUDE)]
    recording = open_recording(logged(tmp_path, *named[:5], *named, *copied))
    found = [json.loads(each.body)["content"] for each in recording.exchanges]
    assert [[part["type"] for part in each] for each in found] == [
        ["thinking", "tool_use", "tool_use"],
        ["text"],
    ]


def test_each_answer_of_qwen_code_is_one_of_gemini(tmp_path: Path) -> None:
    recording = open_recording(logged(tmp_path, *QWEN))
    assert recording.kind == "qwen-code-log"
    found = [json.loads(each.body) for each in recording.exchanges]
    parts = [[*map(next, map(iter, each["candidates"][0]["content"]["parts"]))] for each in found]
    assert parts == [["text", "functionCall"], ["text"]]
    assert found[0]["usageMetadata"] == _COUNTS
    assert recording.header.recorder["version"] == "0.21.13"
    assert [recording.locate(number, [0]) for number in (1, 2)] == [[2], [5]]
    report = check_paths([tmp_path])
    assert [(each.dialect, each.profile) for each in report.streams] == [
        ("gemini.generate", "session-log")
    ] * 2
    assert not [f for each in report.streams for f in each.findings]


def test_each_question_to_copilot_begins_an_answer(tmp_path: Path) -> None:
    """A log has no event that says that the session is idle, and turns are numbered anew."""
    recording = open_recording(logged(tmp_path, *COPILOT))
    assert recording.kind == "copilot-log"
    assert [each.body.count(b"\n") for each in recording.exchanges] == [5, 4]
    assert recording.header.recorder["version"] == "1.0.77"
    body = recording.exchanges[1].body
    assert recording.locate(2, [0, body.index(b"At nine"), len(body) - 1]) == [6, 8, 9]
    report = check_paths([tmp_path])
    assert [(each.dialect, each.profile) for each in report.streams] == [
        ("copilot.cli", "session-log")
    ] * 2
    assert not [f for each in report.streams for f in each.findings]


def test_what_is_said_within_a_turn_of_copilot_belongs_to_it(tmp_path: Path) -> None:
    start, asked, begun, *rest = COPILOT[:5]
    lines = (start, asked, begun, copilot("user.message", content="Or later?"), *rest)
    assert len(open_recording(logged(tmp_path, *lines)).exchanges) == 1
    resumed = (start, asked, begun, copilot("session.resume"), *COPILOT[5:])
    assert len(open_recording(logged(tmp_path, *resumed)).exchanges) == 2


def test_what_copilot_wrote_to_standard_output_is_no_log(tmp_path: Path) -> None:
    idle = {**copilot("assistant.idle"), "ephemeral": True}
    path = logged(tmp_path, *COPILOT[:5], idle)
    assert open_recording(path).kind == "ndjson"
    [stream] = check_paths([path]).streams
    assert stream.dialect == "copilot.cli"


def test_a_signature_that_is_lost_is_found(tmp_path: Path) -> None:
    bare = {key: each for key, each in THOUGHT.items() if key != "signature"}
    [stream] = check_paths([logged(tmp_path, assistant_line(bare), assistant_line(TEXT))]).streams
    assert Verdict.FAIL in stream.verdicts.values()


def test_lines_that_cannot_be_read_cost_themselves(tmp_path: Path) -> None:
    recording = open_recording(logged(tmp_path, *CLAUDE, "[]", '{"type": "assistant", "mess'))
    assert len(recording.exchanges) == 2
    assert "lines that cannot be read were skipped: 2" in recording.notes


@pytest.mark.parametrize("lines", [CLAUDE[:2], CODEX[:3]])
def test_a_log_without_an_answer_says_so(tmp_path: Path, lines: tuple[Line, ...]) -> None:
    path = logged(tmp_path, *lines)
    with pytest.raises(CassetteError, match=r"a session log of .* without an answer"):
        open_recording(path)
    assert discover(tmp_path) == ()


def test_lines_that_claude_code_prints_are_none_of_a_log(tmp_path: Path) -> None:
    line: Line = {"type": "assistant", "session_id": "s", "message": {"content": []}}
    assert open_recording(logged(tmp_path, line, line)).kind == "ndjson"
