"""Clients of one provider, of other dialects, and clients that do more than a case asks for."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from conformance.core.errors import UsageError
from conformance.targets.client import AdapterBounds
from tests.targets.test_client_run import FAKE, SHORT, TOOLS, fake, run


def test_a_dialect_that_nobody_knows_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"no dialect is called cohere\.chat; .*cohere\.v2"):
        fake("speaks-cohere")


@pytest.mark.parametrize("server", [None, "groq", "strict", "reference-client"])
def test_a_client_of_one_provider_gets_what_that_provider_sends(server: str | None) -> None:
    """Shipped recordings of others hold fields that it never meets."""
    outcome = run(SHORT, "openai.chat/groq/error-in-the-middle", server=server, profile=server)
    seen = {Path(stream.file).parent.name for stream in outcome.report.streams} & {
        "groq",
        "deepseek",
    }
    assert seen == ({"groq"} if server == "groq" else {"groq", "deepseek"})
    notes = [note for note in outcome.report.notes if "only recordings of groq" in note]
    assert bool(notes) is (server == "groq")


def test_a_recording_is_read_by_the_variant_that_its_request_asked_for() -> None:
    """Groq thinks between tags where no format was asked: the client gets these tags."""
    outcome = run("openai.chat/groq/raw-by-default")
    assert outcome.report.findings == ()
    assert "groq-raw" in {stream.profile for stream in outcome.report.streams}


def test_a_client_that_reads_no_tags_refuses_nothing_that_it_declared() -> None:
    """Also where every recording that it got has its thinking between tags."""
    command = (sys.executable, FAKE, "reads-no-tags")
    outcome = run("openai.chat/groq/raw-by-default", command=command)
    assert outcome.report.findings == ()
    assert outcome.cases == 0


def test_a_client_that_carries_out_calls_learns_why_it_does_not_end() -> None:
    [found] = fake("second-loops", deadline=1.5, rules=("harness/answers",)).report.findings
    assert re.search(r"hangs.*; it asked \d+ times: .*loops that carry out calls", found.message)


def test_an_adapter_that_is_started_again_may_load_again() -> None:
    """Its fault in one case is no second one in the case that follows."""
    bounds = AdapterBounds(start=30, grace=0.2, first=20, line=1_000_000, case=3_000_000)
    command = (sys.executable, FAKE, "second-crashes-and-loads")
    chosen = {"bounds": bounds, "deadline": 0.6, "rules": ("harness/answers",)}
    found = run(SHORT, TOOLS, command=command, **chosen).report.findings
    assert found
    assert not [each for each in found if "hangs" in each.message]
