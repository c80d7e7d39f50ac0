"""An application in this process is judged by a fixture."""

from __future__ import annotations

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


def test_strict_takes_advice_as_well(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    chosen = ("-k", "lost or back", "--conformance-strict")
    result = pytester.runpytest_inprocess("-p", "no:randomly", *chosen)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*FAIL SHOULD hop/opaque*"])
