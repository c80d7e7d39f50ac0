"""An agent on its standard streams between two halves of the toolkit."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Final, get_args

import pytest
from typer.testing import CliRunner

from conformance.cassette import read
from conformance.cli import app
from conformance.core.errors import UsageError
from conformance.dialects import AGENT_PROTOCOL
from conformance.judging.result import Report
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from conformance.runs import RunOptions, RunOutcome
from conformance.runs.application_run import run_application
from conformance.scenarios import load_scenarios
from conformance.targets.agent import AgentTarget
from conformance.targets.gateway import serve_upstream
from conformance.wire.faults import ExchangeLimits
from tests.fakes.acp_agent import AgentFault
from tests.plain_results import violated

SAMPLE: Final = [sys.executable, "-m", "tests.fakes.acp_agent"]
ACP: Final = "wire/acp"
# Each with the scenarios that show it.
FAULTS: Final[dict[AgentFault, tuple[str, set[str]]]] = {
    "answered-twice": ("app-answer", {f"{ACP}/answered-once"}),
    # The turn after it is asked in a session of its own: no other rule fails.
    "cancel-unanswered": ("app-stop", {"wire/lines/ends-cleanly"}),
    "cancelled-as-done": ("app-stop", {f"{ACP}/cancelled-told"}),
    "diagnostic": ("app-answer", {f"{ACP}/diagnostics-apart", "hop/text"}),
    "forgotten-signature": ("app-answer", {"hop/opaque"}),
    "late-update": ("app-answer", {f"{ACP}/silent-after-response"}),
    "log-line": ("app-answer", {"wire/lines/line-is-json"}),
    "lost-thoughts": ("app-answer", {"hop/thinking"}),
    "no-session": ("app-parts", {f"{ACP}/session-stated"}),
    "own-stop-reason": ("app-parts", {f"{ACP}/stop-reason-known"}),
    "stopped-words": ("app-stop", {"hop/text"}),
    "success-after-cut": ("app-cut-in-thinking", {"hop/failure-no-success"}),
    "thoughts-as-message": ("app-answer", {"hop/text"}),
}


def ran(
    words: list[str],
    folder: Path,
    *names: str,
    protocol: str = AGENT_PROTOCOL,
    idle: float = 10,
    profile: str = "strict",
) -> RunOutcome:
    options = RunOptions(model="think-1", profile=profile, save=folder)

    async def go() -> RunOutcome:
        async with serve_upstream(0) as upstream:
            url = f"http://127.0.0.1:{upstream.port}"
            limits = ExchangeLimits(timeout=30, idle=idle)
            agent = AgentTarget(words, protocol, url=url, model="think-1", limits=limits)
            async with agent as target:
                return await run_application(
                    target, protocol, load_scenarios(names), options, folder, upstream=upstream
                )

    return asyncio.run(go())


def fired(report: Report) -> set[str]:
    return {rule for rule, won in report.verdicts.items() if won is Verdict.PASS}


def test_a_right_agent_has_no_finding(tmp_path: Path) -> None:
    outcome = ran(SAMPLE, tmp_path)
    assert [(f.rule, f.message) for f in outcome.report.findings] == []
    assert outcome.unanswered == ()
    assert outcome.report.exit_code(strict=True) == 0
    passed = fired(outcome.report)
    hops = ("text", "tools", "thinking", "thinking-parts", "order", "opaque", "opaque-returned")
    ends = ("failure-no-success", "failure-told", "answer-whole")
    assert passed >= {f"hop/{each}" for each in (*hops, *ends)} | {f"{ACP}/cancelled-told"}
    places = [note for note in outcome.report.notes if "no place for signatures" in note]
    assert len(places) == 1
    assert check_paths([tmp_path], trust=[tmp_path]).verdicts == outcome.report.verdicts


def test_every_planted_fault_is_tried() -> None:
    assert set(FAULTS) == set(get_args(AgentFault))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_and_no_other(fault: AgentFault, tmp_path: Path) -> None:
    scenario, rules = FAULTS[fault]
    idle = 3 if fault == "cancel-unanswered" else 10
    assert violated(ran([*SAMPLE, fault], tmp_path, scenario, idle=idle).report) == rules


def test_both_hops_and_both_directions_are_in_one_recording(tmp_path: Path) -> None:
    ran(SAMPLE, tmp_path, "app-answer")
    (path,) = tmp_path.rglob("app-answer.cassette.jsonl")
    exchanges = read(path).exchanges
    assert [(each.hop, each.role) for each in exchanges] == [
        *(("app", "turn"), ("upstream", "turn"), ("app", "next-turn"), ("upstream", "next-turn"))
    ]
    lines = exchanges[0].body.splitlines()
    assert b'"method": "session/new"' in lines[0]
    assert b'"method": "session/prompt"' in lines[2]
    assert b'"stopReason": "end_turn"' in lines[-1]
    session = exchanges[2].request
    assert session is not None
    assert session.json["sessionId"] == "session-2"  # session-1 found out how it asks


def test_an_agent_without_a_calculator_is_asked_for_what_it_reads(tmp_path: Path) -> None:
    outcome = ran([*SAMPLE, "coding"], tmp_path, "app-tools")
    assert [(f.rule, f.message) for f in outcome.report.findings] == []
    assert "history/messages/signed-unchanged" in fired(outcome.report)
    (path,) = tmp_path.rglob("app-tools.cassette.jsonl")
    exchanges = read(path).exchanges
    asked = [each.request.json for each in exchanges if each.hop == "upstream" and each.request]
    assert [len(each["messages"]) for each in asked] == [1, 3, 5, 7, 9, 11]
    calls = [
        (block["name"], Path(block["input"]["path"]).name)
        for turn in asked[-1]["messages"]
        if turn["role"] == "assistant"
        for block in turn["content"]
        if block["type"] == "tool_use"
    ]
    assert calls == [("read_file", "notes.txt")] * 3


def test_the_profile_of_a_provider_may_be_named_after_an_agent(tmp_path: Path) -> None:
    outcome = ran(SAMPLE, tmp_path, "app-answer", profile="anthropic")
    profiles = {(each.dialect, each.profile) for each in outcome.report.streams}
    assert profiles == {("acp", "strict"), ("anthropic.messages", "anthropic")}
    assert check_paths([tmp_path], trust=[tmp_path]).verdicts == outcome.report.verdicts
    with pytest.raises(UsageError, match="no profile 'nobody' for acp"):
        ran(SAMPLE, tmp_path / "other", "app-answer", profile="nobody")


def test_news_of_a_session_that_was_left_is_none_of_the_turn(tmp_path: Path) -> None:
    outcome = ran([*SAMPLE, "news"], tmp_path, "app-answer", "app-parts")
    assert [(f.rule, f.message) for f in outcome.report.findings] == []


@pytest.mark.slow
def test_a_call_for_a_title_is_no_part_of_the_turn(tmp_path: Path) -> None:
    outcome = ran([*SAMPLE, "titles"], tmp_path, "app-answer", "app-parts", "app-failures")
    assert [(f.rule, f.message) for f in outcome.report.findings] == []
    (path,) = tmp_path.rglob("app-parts.cassette.jsonl")
    roles = [each.role for each in read(path).exchanges]
    assert roles == ["several", "side-call", "several"]


# A command that is asked by its words, as Codex and Claude Code are: a process a turn.
WORDED: Final = """
import json, os, sys, urllib.request
words = sys.argv[1:]
def line(kind, **more): print(json.dumps({"type": kind, **more}), flush=True)
url = os.environ["OPENAI_BASE_URL"] + "/responses"
body = {"model": "m", "input": words[-1], "stream": True}
asked = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
line("thread.started", thread_id=words[-2] if "resume" in words else "thread-1")
line("turn.started")
thought = text = ""
with urllib.request.urlopen(asked) as answer:
    for each in answer:
        if each.startswith(b"data: {"):
            event = json.loads(each[6:])
            thought += event.get("delta", "") if "reasoning" in event["type"] else ""
            text += event.get("delta", "") if "output_text.delta" in event["type"] else ""
line("item.completed", item={"id": "item_0", "type": "reasoning", "text": thought})
line("item.completed", item={"id": "item_1", "type": "agent_message", "text": text})
line("turn.completed", usage={"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1})
"""


@pytest.mark.slow
def test_a_command_is_asked_by_its_words(tmp_path: Path) -> None:
    script = tmp_path / "worded.py"
    script.write_text(WORDED, encoding="utf-8")
    words = [sys.executable, str(script)]
    outcome = ran(words, tmp_path / "kept", "app-answer", protocol="codex.exec")
    assert outcome.unanswered == ()
    assert "hop/text" not in violated(outcome.report)
    assert outcome.report.verdicts["hop/text"] is Verdict.PASS
    (path,) = tmp_path.rglob("app-answer.cassette.jsonl")
    (_, asked) = (each.request for each in read(path).exchanges if each.hop == "app")
    assert asked is not None
    assert asked.json["thread_id"] == "thread-1"


@pytest.fixture
def command() -> list[str]:
    bounds = ["--idle-timeout", "1", "--timeout", "20", "--max-bytes", "6000000"]
    return ["run", "--scenario", "app-answer", *bounds, "--agent"]


def test_the_command_needs_no_port_and_no_protocol(command: list[str], tmp_path: Path) -> None:
    given = [*command, " ".join(SAMPLE), "--save", str(tmp_path)]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "acp" / "app-answer.cassette.jsonl").is_file()


HOSTILE: Final = {
    "dies at once": (
        "import sys; sys.exit('no key is set')",
        "the agent ended with exit status 1; stderr ends: no key is set",
    ),
    "says nothing": ("import time; time.sleep(60)", "nothing came for 1 s"),
    "prints text": (
        "print('Welcome!')",
        "the agent ended with exit status 0; it wrote text that is not JSON: Welcome!",
    ),
    "never ends a line": (
        "import os\nwhile True: os.write(1, b'x' * 65536)",
        "a line of more than 4194304 bytes",
    ),
    "floods": (
        "import os\nwhile True: os.write(1, b'[%s]\\n' % (b'1,' * 500 + b'1'))",
        "it had not ended after 6000000 bytes",
    ),
    "floods stderr": (
        "import os\nfor _ in range(2000): os.write(2, b'x' * 65536)\nos.write(2, b'\\nthe end')",
        "the agent ended with exit status 0; stderr ends: the end",
    ),
    "refuses": (
        'input(); print(\'{"id": 0, "error": {"message": "log in"}}\', flush=True); input()',
        "the agent cannot be prompted: it refused initialize: log in",
    ),
    "asks without end": (
        'import os\nwhile True: os.write(1, b\'{"id": 1, "method": "x"}\\n\' * 1000)',
        "the agent does not read its input",
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", HOSTILE)
def test_other_service_is_named(kind: str, command: list[str], tmp_path: Path) -> None:
    script = tmp_path / "hostile.py"
    code, message = HOSTILE[kind]
    script.write_text(code, encoding="utf-8")
    result = CliRunner().invoke(app, [*command, f"{sys.executable} {script}"])
    assert result.exit_code != 0
    assert message in str(result.exception), (result.exception, result.output)


DYING: Final = """
import json, sys, os
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "session/prompt":
        import urllib.request
        url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode())).read()
        content = {"type": "text", "text": "Answer"}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        say(method="session/update", params={"sessionId": "s", "update": update})
        sys.exit("out of memory")
    say(id=asked["id"], result={"protocolVersion": 1, "sessionId": "s"})
"""


def test_an_agent_that_dies_in_a_turn_is_judged_by_what_it_said(tmp_path: Path) -> None:
    script = tmp_path / "dying.py"
    script.write_text(DYING, encoding="utf-8")
    outcome = ran([sys.executable, str(script)], tmp_path / "kept", "app-answer")
    assert f"{ACP}/prompt-answered" in violated(outcome.report)
    what = "acp app-answer/turn, app-answer/next-turn did not end by itself"
    why = "the agent ended with exit status 1; stderr ends: out of memory"
    assert f"{what}: {why}" in outcome.report.notes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--agent", "no-such-command"], "--agent 'no-such-command' cannot be started"),
        (["--agent", ""], "--agent needs a command"),
        (["--agent", "'"], "no command: no closing quotation"),
        (["--agent", "x", "--protocol", "agui"], "no agent speaks 'agui'"),
        (["--app", "http://x", "--protocol", "acp"], "no application speaks 'acp'"),
        (["--agent", "x", "--url", "http://x"], "expected one target"),
        (["--agent", "x", "--soak", "1s"], "--soak and --protocol do not go together"),
        (["--client", "x", "--agent", "x"], "--client and --agent do not go together"),
    ],
)
def test_options_that_do_not_fit_are_refused(given: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["run", *given])
    assert isinstance(result.exception, UsageError)
    assert message in result.exception.message
