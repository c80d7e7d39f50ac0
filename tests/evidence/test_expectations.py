"""What a run states in its recordings is judged; what a stranger states there harms nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.judging.result import Report
from conformance.linting import lint_paths
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Level, Verdict

CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
ENDING = "scenario/ending"
THINKING = "scenario/thinking"


def stream(*deltas: dict[str, Any], reason: str = "stop", usage: int | None = None) -> str:
    chunks = [
        {**CHUNK, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas
    ]
    chunks.append({**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if usage is not None:
        counts = {"prompt_tokens": 1, "completion_tokens": usage, "total_tokens": usage + 1}
        chunks.append({**CHUNK, "choices": [], "usage": counts})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def judged(folder: Path, run: Any, *bodies: tuple[str, str], status: int = 200) -> Report:
    head = {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict", "run": run}
    lines: list[dict[str, Any]] = [head]
    for number, (role, body) in enumerate(bodies, 1):
        request = {
            "method": "POST",
            "path": "/v1/chat/completions",
            "json": {"model": "m", "stream": True},
        }
        response = {"status": status, "headers": [["content-type", "text/event-stream"]]}
        lines += [
            {"request": request, "exchange": number, "scenario": "own", "role": role},
            {"response": response},
            {"text": body},
            {"end": "eof"},
        ]
    path = folder / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return check_paths([path], trust=[path])


def stated(target: str = "server", **step: Any) -> dict[str, Any]:
    return {"target": target, "deterministic": True, "steps": {"plain": step}}


THOUGHT = stream({"role": "assistant", "content": ""}, {"reasoning_content": "2"}, {"content": "4"})
PLAIN = stream({"role": "assistant", "content": ""}, {"content": "4"})


def test_how_many_requests_were_next_to_is_stated(tmp_path: Path) -> None:
    for jobs, extra, known in ((1, None, 0), (4, None, 3), (1, 1, 1), (4, 1, 4), ("x", 1, None)):
        step: dict[str, Any] = {} if extra is None else {"beside": extra}
        report = judged(tmp_path, {**stated(**step), "jobs": jobs}, ("plain", PLAIN))
        assert [(each.beside, each.framing) for each in report.streams] == [(known, "sse")]
    report = judged(tmp_path, stated(), ("plain", '{"object": "chat.completion", "choices": []}'))
    assert [each.beside for each in report.streams] == [None]


def counted(usage: int) -> str:
    return stream({"role": "assistant", "content": "4"}, usage=usage)


CUT = stream({"role": "assistant", "content": "4"}, reason="length")

ENDINGS: list[tuple[dict[str, Any], str, Verdict | None, Verdict | None]] = [
    # what is stated, body, verdict of the ending, verdict of thinking
    ({"ends": ["complete"]}, PLAIN, Verdict.PASS, None),
    ({"ends": ["length"]}, PLAIN, Verdict.FAIL, None),
    ({"ends": ["length"], "limit": 16}, PLAIN, Verdict.UNTESTABLE, None),
    ({"ends": ["length"], "limit": 16}, counted(15), Verdict.UNTESTABLE, None),
    ({"ends": ["length"], "limit": 16}, counted(16), Verdict.FAIL, None),
    ({"ends": ["length", "complete"]}, PLAIN, Verdict.PASS, None),
    ({"ends": ["complete"], "thinking": True}, PLAIN, Verdict.PASS, Verdict.FAIL),
    ({"ends": ["complete"], "thinking": True}, THOUGHT, Verdict.PASS, Verdict.PASS),
    ({"ends": ["complete"], "thinking": False}, THOUGHT, Verdict.PASS, Verdict.FAIL),
    ({"ends": ["complete"]}, CUT, Verdict.FAIL, None),
    ({"ends": ["complete"], "limit": 64}, CUT, Verdict.UNTESTABLE, None),
    ({"ends": ["complete"], "untestable": "busy"}, "", Verdict.UNTESTABLE, Verdict.UNTESTABLE),
    ({"ends": ["complete"]}, PLAIN[:60], Verdict.FAIL, None),
]


@pytest.mark.parametrize(("step", "body", "ending", "thinking"), ENDINGS)
def test_the_stated_ending_is_judged(
    step: dict[str, Any],
    body: str,
    ending: Verdict | None,
    thinking: Verdict | None,
    tmp_path: Path,
) -> None:
    verdicts = judged(tmp_path, stated(**step), ("plain", body)).verdicts
    assert verdicts.get(ENDING) is ending
    assert verdicts.get(THINKING) is thinking


def test_a_limit_that_was_not_used_up_excuses_nothing(tmp_path: Path) -> None:
    cut = stream({"role": "assistant", "content": "4"}, reason="length", usage=3)
    report = judged(tmp_path, stated(ends=["complete"], limit=64), ("plain", cut))
    assert report.verdicts[ENDING] is Verdict.FAIL


@pytest.mark.parametrize(
    ("ends", "level"),
    [(["refused"], Level.SHOULD), (["refused", "failed"], Level.MUST), (["length"], Level.MUST)],
)
def test_server_may_take_what_others_refuse(ends: list[str], level: Level, tmp_path: Path) -> None:
    report = judged(tmp_path, stated(ends=ends), ("plain", PLAIN))
    assert report.verdicts[ENDING] is Verdict.FAIL
    assert [each.level for each in report.findings if each.rule == ENDING] == [level]


def test_texts_are_compared_only_where_chance_does_not_decide(tmp_path: Path) -> None:
    steps = {"stream": {"ends": ["complete"]}, "body": {"ends": ["complete"]}}
    bodies = ("stream", THOUGHT), ("body", PLAIN)
    rule = "stripping/opt-in/stream-thinks-as-body"
    for steady, verdict in ((True, Verdict.FAIL), (False, Verdict.UNTESTABLE)):
        run = {"target": "server", "deterministic": steady, "steps": steps}
        assert judged(tmp_path, run, *bodies).verdicts[rule] is verdict


@pytest.mark.parametrize(
    "run",
    [
        5,
        [],
        "server",
        {},
        {"target": ["server"], "steps": 7, "deterministic": "no", "without": {}},
        {"target": "server", "steps": {"plain": []}},
        {"target": "server", "steps": {"plain": {"ends": "complete", "limit": "x"}}},
        {"target": "server", "without": [1], "steps": {"plain": {"ends": [1, None]}}},
        {"target": "gateway", "steps": {"plain": {"ends": ["complete"], "calls": True}}},
        {"target": "server", "steps": {"plain": {"ends": ["complete"], "thinking": "yes"}}},
    ],
    ids=repr,
)
def test_a_stranger_may_state_anything(run: Any, tmp_path: Path) -> None:
    report = judged(tmp_path, run, ("plain", PLAIN))
    assert report.errors == ()
    assert not [f for f in report.findings if f.rule.startswith("scenario/")]


def test_a_recording_of_no_run_is_judged_as_ever(tmp_path: Path) -> None:
    assert ENDING not in judged(tmp_path, None, ("plain", PLAIN)).verdicts


@pytest.mark.parametrize(("level", "verdict"), [("MAY", Verdict.FAIL), ("off", None)])
def test_profile_lowers_expectations(level: str, verdict: Verdict | None, tmp_path: Path) -> None:
    lines = [
        "profile: mine",
        "dialect: openai.chat",
        "overrides:",
        f"  scenario/ending: {{level: '{level}', because: It is slow., seen: once}}",
    ]
    own = tmp_path / "mine.yaml"
    own.write_text("\n".join(lines), encoding="utf-8")
    judged(tmp_path, stated(ends=["length"]), ("plain", PLAIN))
    report = check_paths([tmp_path / "own.cassette.jsonl"], profile=str(own))
    assert report.verdicts[ENDING] is (verdict or Verdict.NOT_APPLICABLE)
    levels = [finding.level for finding in report.findings if finding.rule == ENDING]
    assert levels == ([level] if verdict else [])
    assert lint_paths([own]) == []


def written(report: Report) -> set[tuple[str, str]]:
    """Who changed verdicts, and why."""
    return {(each.by, each.why) for stream in report.streams for each in stream.changes}


def test_an_answer_under_a_refusal_is_judged_as_one(tmp_path: Path) -> None:
    """The rule is the same in a run: the ending is a finding, and so is each fault of the body."""
    body = PLAIN.replace("data: [DONE]\n\n", "")
    for run in (None, stated(ends=["complete"])):
        found = {each.rule for each in judged(tmp_path, run, ("plain", body), status=500).findings}
        assert "wire/chat/done-present" in found
        assert (ENDING in found) is (run is not None)


def test_everybody_who_changes_a_verdict_leaves_a_name(tmp_path: Path) -> None:
    refused = judged(tmp_path, stated(ends=["refused"]), ("plain", "{}"), status=400)
    assert ("http status", "it was answered with HTTP 400") in written(refused)
    assert ("expectations", "") in written(refused)
    steps = {"stream": {"ends": ["complete"]}, "body": {"ends": ["complete"]}}
    run = {"target": "server", "deterministic": False, "steps": steps}
    random = written(judged(tmp_path, run, ("stream", THOUGHT), ("body", PLAIN)))
    assert ("randomness", "the target is not deterministic") in random
    assert ("own requests", "the scenario wrote the request") in random
    assert {by for by, _ in random} >= {"comparisons", "expectations"}


EMPTY = stream({"role": "assistant", "content": ""})
SAID = "thinking/answer/said"


def test_an_answer_that_was_to_come_and_is_empty_binds_a_run(tmp_path: Path) -> None:
    report = judged(tmp_path, stated(ends=["complete"]), ("plain", EMPTY))
    assert [(found.rule, found.level) for found in report.findings] == [(SAID, Level.MUST)]


@pytest.mark.parametrize("run", [None, stated(ends=["length"])])
def test_elsewhere_a_model_may_fall_silent(tmp_path: Path, run: Any) -> None:
    report = judged(tmp_path, run, ("plain", EMPTY))
    levels = {found.rule: found.level for found in report.findings}
    # Where another ending is expected, that is the finding.
    assert levels == ({SAID: Level.SHOULD} if run is None else {ENDING: Level.MUST})


def test_that_nothing_was_said_follows_from_what_broke_another_rule(tmp_path: Path) -> None:
    misspelt = stream({"role": "assistant", "content": [7]}, {"content": 7})
    report = judged(tmp_path, None, ("plain", misspelt))
    assert report.verdicts[SAID] is Verdict.NOT_APPLICABLE
    (stream_,) = report.streams
    assert "wire/chat/" in stream_.reasons[SAID]
