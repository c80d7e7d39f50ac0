"""What the user names as a secret stands in nothing that pytest says of a stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_secret_option import SECRETS, write_recording
from tests.plugin.conftest import Project

FILE = "cassettes: [a.cassette.jsonl]\nprofile: strict\n"
TEST = """
import conformance

def test_trace(conformance_trace):
    conformance_trace("a.cassette.jsonl").assert_conforms(profile="strict")

def test_alone():
    conformance.assert_conforms("a.cassette.jsonl", profile="strict")
"""


def given(place: str) -> tuple[str, ...]:
    if place == "file":
        return ("-o", "conformance_secret=MY_SECRET")
    return ("--conformance-secret=MY_SECRET",)


@pytest.mark.parametrize("place", ["command line", "file"])
@pytest.mark.parametrize("kind", SECRETS)
def test_no_report_of_pytest_holds_what_was_named(
    project: Project, place: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SECRET", SECRETS[kind])
    write_recording(project.path / "a.cassette.jsonl", SECRETS[kind])
    project.write("streams.conformance.yaml", FILE)
    project.write("test_streams.py", TEST)
    result = project.run(*given(place), "-v", "--junitxml=results.xml")
    text = "\n".join((*result.outlines, *result.errlines))
    assert "no-markers" in text
    assert SECRETS[kind] not in text
    assert SECRETS[kind] not in Path(project.path / "results.xml").read_text(encoding="utf-8")


def test_a_name_that_is_none_is_a_mistake(project: Project) -> None:
    result = project.run("--conformance-secret=NO_SUCH_NAME")
    assert "no variable and no header is called so" in "\n".join(result.errlines)
