"""An agent as a process: its environment, what it leaves behind, what of it is kept."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from conformance.core.errors import UsageError
from conformance.core.events import Request
from conformance.dialects import AGENT_PROTOCOL
from conformance.targets.agent import AgentTarget
from conformance.targets.agent.environment import agent_environment
from conformance.targets.server import FetchedAnswer, NoAnswerError
from conformance.wire.faults import ExchangeLimits

PROMPT = Request(json={"prompt": [{"type": "text", "text": "Hi"}]})
# Answers every request alike, which is enough for a handshake and a turn.
ANSWERS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = {"protocolVersion": 1, "sessionId": "s", "stopReason": "end_turn"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
SLOW = """
import time
time.sleep(0.3)
print('{"type": "thread.started", "thread_id": "t"}', flush=True)
time.sleep(60)
"""
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open(sys.argv[1], "w").write(str(child.pid))
"""


def script(folder: Path, code: str) -> str:
    path = folder / "agent.py"
    path.write_text(code, encoding="utf-8")
    return str(path)


async def fetched(words: list[str], times: int = 1) -> list[FetchedAnswer]:
    limits = ExchangeLimits(timeout=60, idle=30)
    agent = AgentTarget(
        [sys.executable, *words], AGENT_PROTOCOL, url="http://127.0.0.1:1", model="m", limits=limits
    )
    async with agent as target:
        return [await target.fetch(PROMPT) for _ in range(times)]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_a_turn_holds_the_lines_of_both_sides(tmp_path: Path) -> None:
    first, second = asyncio.run(fetched([script(tmp_path, ANSWERS)], times=2))
    assert [len(each.exchange.body.splitlines()) for each in (first, second)] == [6, 4]
    assert first.exchange.end == "eof"
    assert (first.fault, second.fault) == ("", "")
    assert b"initialize" not in second.exchange.body


@pytest.mark.parametrize(
    ("first", "last", "message"),
    [
        ("of turn 1", "", "ended with exit status 3$"),
        ("of turn 1", "of turn 2", "exit status 3; stderr ends: of turn 2$"),
    ],
)
def test_turns_explain_themselves(first: str, last: str, message: str, tmp_path: Path) -> None:
    turns = f"""
prompts = 0
def prompted():
    global prompts
    prompts += 1
    sys.stderr.write("{first}" if prompts == 1 else "{last}")
    sys.stderr.flush()
    if prompts == 2: sys.exit(3)
    time.sleep(0.3)
"""
    called = '        if asked.get("method") == "session/prompt": prompted()\n'
    code = ANSWERS.replace("import json, sys", f"import json, sys, time\n{turns}").replace(
        "        result =", f"        {called.strip()}\n        result ="
    )
    with pytest.raises(NoAnswerError, match=message):
        asyncio.run(fetched([script(tmp_path, code)], times=2))


def test_an_agent_that_ends_after_a_turn_is_started_again(tmp_path: Path) -> None:
    code = ANSWERS + '        if asked["method"] == "session/prompt": break\n'
    first, second = asyncio.run(fetched([script(tmp_path, code)], times=2))
    assert (first.fault, second.fault) == ("", "")
    assert b"initialize" in second.exchange.body


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_children_of_an_agent_end_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    words = [script(tmp_path, PARENT + ANSWERS), str(pid_file)]
    asyncio.run(fetched(words))
    pid = int(pid_file.read_text(encoding="utf-8"))
    until = time.monotonic() + 60
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_running(pid)


def test_no_process_and_folder_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    named = "import os; open(sys.argv[1], 'w').write(str(os.getpid()))"
    agent = script(tmp_path, ANSWERS.replace("import json, sys", f"import json, sys\n{named}"))
    asyncio.run(fetched([agent, str(tmp_path / "pid")]))
    with pytest.raises(ChildProcessError):  # it ended, and was waited for
        os.waitpid(int((tmp_path / "pid").read_text()), os.WNOHANG)
    assert {path.name for path in tmp_path.iterdir()} == {"agent.py", "pid"}


def test_environment_names_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENROUTER_API_KEY")
    for name in (*keys, "SOME_SETTING"):
        monkeypatch.setenv(name, "of the user")
    given = agent_environment("http://127.0.0.1:9000", "m-1", tmp_path)
    assert "of the user" not in given.values()
    assert given["OPENAI_BASE_URL"] == "http://127.0.0.1:9000/v1"
    assert given["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9000"
    assert (given["COPILOT_MODEL"], given["OPENAI_MODEL"]) == ("m-1", "m-1")
    settings = Path(given["CODEX_HOME"], "config.toml").read_text(encoding="utf-8")
    assert 'model = "m-1"' in settings
    assert 'base_url = "http://127.0.0.1:9000/v1"' in settings
    assert given["PATH"] == os.environ["PATH"]


def test_agent_gets_named_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SETTING", "on")
    given = agent_environment("http://127.0.0.1:9000", "m-1", tmp_path, ["SOME_SETTING"])
    assert given["SOME_SETTING"] == "on"


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "CODEX_HOME", "CODEX_API_KEY"]
)
def test_no_model_is_passed_on(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "of the user")
    with pytest.raises(UsageError, match=f"--pass {name}: the agent is to ask the played model"):
        agent_environment("http://127.0.0.1:9000", "m-1", tmp_path, [name])


@pytest.mark.parametrize("held", ["None", "subprocess.DEVNULL"])
def test_who_holds_the_output_open_does_not_hide_the_end(held: str, tmp_path: Path) -> None:
    code = f"""
import subprocess, sys
sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
subprocess.Popen(sleep, stdin=subprocess.DEVNULL, stdout={held}, start_new_session=True)
print('{{"type": "thread.started", "thread_id": "t"}}', flush=True)
sys.stderr.write("last words")
sys.exit(3)
"""
    limits = ExchangeLimits(timeout=60, idle=60)
    agent = AgentTarget(
        [sys.executable, script(tmp_path, code)],
        AGENT_PROTOCOL,
        url="http://127.0.0.1:1",
        model="m",
        limits=limits,
    )

    async def asked() -> None:
        async with agent as target:
            await target.fetch(PROMPT)

    text = "the agent ended with exit status 3; stderr ends: last words"
    with pytest.raises(NoAnswerError, match=text):
        asyncio.run(asked())
    assert len(agent.left) == 1


async def test_all_lines_of_an_agent_that_ended_are_read(tmp_path: Path) -> None:
    """Also where they fill the pipe, and somebody else writes behind them."""
    code = r"""
import os, subprocess, sys
loud = "import time\nwhile True: print('[]', flush=True); time.sleep(0.01)"
line = '{"type": "item.started", "item": {"id": "i", "text": "%s"}}' % ("x" * 1000)
for _ in range(300): print(line)
sys.stdout.flush()
subprocess.Popen([sys.executable, "-c", loud], stdin=subprocess.DEVNULL, start_new_session=True)
"""
    limits = ExchangeLimits(timeout=60, idle=60)
    words = [sys.executable, script(tmp_path, code)]
    agent = AgentTarget(words, "codex.exec", url="http://127.0.0.1:1", model="m", limits=limits)
    async with agent as target:
        got = await target.fetch(PROMPT)
    assert got.exchange.body.count(b"item.started") == 300


def happened() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


async def test_silent_agent_is_not_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.targets.agent.target._MOMENT", 0.05)
    limits = ExchangeLimits(timeout=120, idle=60)
    words = [sys.executable, script(tmp_path, SLOW)]
    agent = AgentTarget(words, "codex.exec", url="http://127.0.0.1:1", model="m", limits=limits)
    async with agent as target:
        answer = await target.fetch(PROMPT, stops=happened())
    assert b"thread.started" in answer.exchange.body
    assert answer.exchange.end == "client-closed"


def test_an_agent_that_never_begins_is_reported_as_silent(tmp_path: Path) -> None:
    async def asked() -> None:
        limits = ExchangeLimits(timeout=60, idle=0.3)
        words = [sys.executable, script(tmp_path, "import time; time.sleep(60)")]
        agent = AgentTarget(words, "codex.exec", url="http://127.0.0.1:1", model="m", limits=limits)
        async with agent as target:
            await target.fetch(PROMPT, stops=happened())

    with pytest.raises(NoAnswerError) as silent:
        asyncio.run(asked())
    assert silent.value.end == "idle-timeout"
