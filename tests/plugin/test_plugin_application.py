"""An application in this process, and an agent as a command, are judged by fixtures."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

pytest_plugins = ("pytester",)

TEST: Final = """
import pytest
from tests.fakes.application import Application


def make(faults):
    return lambda model: Application(model, frozenset(faults))


@pytest.mark.parametrize(
    "faults", [(), ("leak",), ("lost-signature",)], ids=["none", "leak", "lost"]
)
def test_thinking_reaches_the_user(conformance_application, faults):
    conformance_application(
        make(faults), protocol="vercel.ui", path="/api/chat", scenarios=["app-answer"]
    )


def test_a_report_comes_back(conformance_application):
    report = conformance_application(make(()), protocol="vercel.ui", scenarios=["app-answer"])
    assert report.findings == ()


def test_another_protocol(conformance_application):
    conformance_application(make(()), protocol="chat")
"""


def test_an_application_is_judged_in_a_few_lines(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess("-p", "no:randomly")
    # A signature that is lost is advice: it fails with --conformance-strict alone.
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["*FAIL MUST hop/text*"])
    result.stdout.fnmatch_lines(["*no dialect is called 'chat'*"])


@pytest.mark.slow
def test_strict_takes_advice_as_well(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    chosen = ("-k", "lost or back", "--conformance-strict")
    result = pytester.runpytest_inprocess("-p", "no:randomly", *chosen)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*FAIL SHOULD hop/opaque*"])


GONE: Final = """
from tests.fakes.application import Application


def test_it_stops_answering(conformance_application):
    def make(model):
        application, calls = Application(model, frozenset()), []

        async def answer_three(scope, receive, send):
            calls.append(scope["type"])
            if calls.count("http") > 3:
                raise RuntimeError("no memory")
            await application(scope, receive, send)

        return answer_three

    conformance_application(make, protocol="vercel.ui", scenarios=["app-answer", "app-sealed"])
"""


def test_an_application_that_stops_answering_fails_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(GONE)
    result = pytester.runpytest_inprocess("-p", "no:randomly")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the application stopped answering at app-*no memory*"])


AGENT: Final = """
import sys

import pytest

SAMPLE = [sys.executable, "-m", "tests.fakes.acp_agent"]


@pytest.mark.parametrize("fault", ["thoughts-as-message", "lost-thoughts"])
def test_thinking_reaches_the_editor(conformance_agent, fault):
    conformance_agent([*SAMPLE, fault], scenarios=["app-answer"])


def test_a_command_line(conformance_agent):
    report = conformance_agent(" ".join(SAMPLE), scenarios=["app-answer"])
    assert report.findings == ()


def test_another_protocol(conformance_agent):
    conformance_agent(SAMPLE, protocol="agui")


def test_no_command(conformance_agent):
    conformance_agent("no-such-agent")


def test_too_slow(conformance_agent):
    slow = [sys.executable, "-c", "import time; time.sleep(60)"]
    conformance_agent(slow, scenarios=["app-answer"], timeout=0.3)
"""


@pytest.mark.slow
def test_agent_is_judged(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile(AGENT)
    result = pytester.runpytest_inprocess("-p", "no:randomly")
    # That thoughts are shown is advice.
    result.assert_outcomes(passed=2, failed=4)
    result.stdout.fnmatch_lines(["*FAIL MUST hop/text*"])
    result.stdout.fnmatch_lines(["no agent speaks 'agui' (one of *"])
    result.stdout.fnmatch_lines(["*--agent 'no-such-agent' cannot be started*"])
    result.stdout.fnmatch_lines(["*it had not ended after 0.3 s*"])
