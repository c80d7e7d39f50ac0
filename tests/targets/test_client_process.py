"""Adapters that hang, crash, flood or talk out of turn are reported as what they are."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from conformance.core.errors import AdapterError, HarnessError, UsageError
from conformance.targets.client import Adapter, AdapterBounds, AdapterFault
from conformance.targets.client.process import AdapterProcess
from tests.processes import has_ended

FAKE = str(Path(__file__).with_name("client_fake.py"))
BOUNDS = AdapterBounds(start=30, grace=0.2, line=1_000_000, case=3_000_000)
CASE: dict[str, Any] = {
    "cmd": "stream",
    "seq": "7",
    "dialect": "openai.chat",
    "base_url": "http://127.0.0.1:1/v1",
    "model": "m",
    "messages": [],
    "options": {},
    "deadline_ms": 1000,
}


def fake(mode: str) -> Adapter:
    return Adapter([sys.executable, FAKE, mode], BOUNDS)


@pytest.mark.parametrize(
    ("mode", "kind", "message"),
    [
        ("hangs", "hung", "no answer in time"),
        ("crashes", "crashed", "exit status 7; stderr ends: the last words"),
        ("floods", "flooding", "more than 3000000 bytes for one case"),
        ("long-line", "flooding", "a line of more than 1000000 bytes"),
    ],
)
def test_a_fault_says_what_happened(mode: str, kind: str, message: str) -> None:
    adapter = fake(mode)
    with pytest.raises(AdapterFault, match=message) as caught:
        adapter.ask(CASE, 0.5 if mode == "hangs" else 30)
    adapter.kill()
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("prints", "the adapter wrote 'Loading checkpoint shards': it is not JSON"),
        ("undeclared", "does not declare this event"),
        ("other-seq", "expected the seq '7'"),
    ],
)
def test_a_line_that_is_no_answer_is_shown(mode: str, message: str) -> None:
    adapter = fake(mode)
    with pytest.raises(HarnessError, match=message):
        adapter.ask(CASE, 30)
    adapter.kill()


@pytest.mark.parametrize(
    ("mode", "message"),
    [("old", "does not speak version 1: .*too new"), ("levitates", "implementation.ops.1")],
)
def test_an_introduction_that_does_not_fit_is_refused(mode: str, message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        fake(mode)


def test_a_line_after_the_end_is_an_error() -> None:
    adapter = fake("talks-on")
    with pytest.raises(HarnessError, match="nothing was asked"):
        adapter.stop()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no process handles here")
def test_children_end_with_their_adapter() -> None:
    process = AdapterProcess([sys.executable, FAKE, "children"], BOUNDS)
    process.send_line(b'{"cmd":"start","version":1}\n')
    process.next_line(monotonic() + 30)
    until = monotonic() + 30
    while not (tail := process.stderr_tail()) and monotonic() < until:
        sleep(0.01)  # stderr has a reader of its own
    child = int(tail.rpartition(" ")[2])
    process.end()
    assert has_ended(child)


HOLDS = """
import subprocess, sys
sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
subprocess.Popen(sleep, stdin=subprocess.DEVNULL, start_new_session=True)
sys.stderr.write("last words")
print('{"first": 1}')
print('{"last": 2}', end="", flush=True)
sys.exit(3)
"""


def test_who_holds_the_pipes_open_does_not_hide_the_end() -> None:
    with AdapterProcess([sys.executable, "-c", HOLDS], BOUNDS) as process:
        until = monotonic() + 60
        assert [process.next_line(until) for _ in range(2)] == [b'{"first": 1}', b'{"last": 2}']
        text = "the adapter ended with exit status 3; stderr ends: last words"
        with pytest.raises(AdapterFault, match=text):
            process.next_line(until)
    assert len(process.left) == 1


def test_an_adapter_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SOME_API_KEY", "SOME_SETTING"):
        monkeypatch.setenv(name, "of the user")
    code = "import json, os; print(json.dumps(sorted(k for k in os.environ if 'SOME_' in k)))"
    words = [sys.executable, "-c", code]
    with AdapterProcess(words, BOUNDS, ["SOME_SETTING"]) as process:
        assert process.next_line(monotonic() + 60) == b'["SOME_SETTING"]'


@pytest.mark.parametrize("command", ["no-such-adapter-anywhere", "", "'unclosed"])
def test_what_cannot_be_started_is_the_caller_s_mistake(command: str) -> None:
    with pytest.raises(UsageError, match="--client"):
        Adapter(command)


def test_the_tail_of_stderr_is_bounded() -> None:
    code = "import sys; sys.stderr.write('x' * 100000 + 'end'); sys.stderr.flush()"
    with (
        AdapterProcess([sys.executable, "-c", code], AdapterBounds(tail=10)) as process,
        pytest.raises(AdapterFault, match=r"stderr ends: x{7}end$"),
    ):
        process.next_line(monotonic() + 30)


def test_an_adapter_that_ends_at_once_is_none_of_our_faults() -> None:
    with pytest.raises(AdapterError, match="status 3; it never introduced itself"):
        Adapter([sys.executable, "-c", "raise SystemExit(3)"])
