"""Every option, on the command line and in the configuration file; every argument of the marker."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from conformance.cassette import open_recording
from conformance.pytest_plugin import options
from conformance.pytest_plugin.settings import KEYS
from conformance.pytest_plugin.spec import _KEYS as SPEC_KEYS
from conformance.targets.replay import ThreadedServer
from tests.plugin.conftest import CASSETTES, PLAIN, Project, counts, recorded

PAGE = (Path(__file__).parents[2] / "docs/pytest.md").read_text(encoding="utf-8")
HOME = "cassettes/test_client/test_asks"
NAMES = [name for name, _, _ in options._VALUES] + [name for name, _ in options._FLAGS]
PLACES = pytest.mark.parametrize("place", ["command line", "file"])


def given(place: str, name: str, value: str = "") -> tuple[str, ...]:
    """The option as pytest's arguments; without a value it is a flag."""
    if place == "file":
        return ("-o", f"conformance_{name.replace('-', '_')}={value or 'true'}")
    return (f"--conformance-{name}={value}",) if value else (f"--conformance-{name}",)


@pytest.mark.parametrize("name", NAMES)
def test_option_is_documented(name: str) -> None:
    key = f"conformance_{name.replace('-', '_')}"
    assert re.search(rf"^\| `--conformance-{name}[ `].*\| `{key}` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("key", KEYS)
def test_argument_of_the_marker_is_documented(key: str) -> None:
    assert f"`{key}`" in PAGE


@pytest.mark.parametrize("key", SPEC_KEYS)
def test_key_of_a_file_is_documented(key: str) -> None:
    assert re.search(rf"^\|.*`{key}[`:]", PAGE, re.MULTILINE)


@PLACES
def test_url_names_recordings(project: Project, upstream: ThreadedServer, place: str) -> None:
    project.tests("def test_asks(conformance_server):\n    ask(conformance_server)\n")
    args = (*given(place, "url", upstream.url), *given(place, "record", "once"))
    counts(project.run(*args), passed=1)
    assert recorded(project) == ["0001-chat.cassette.jsonl"]


ASKS = """
@pytest.fixture
def slept(monkeypatch):
    taken = []
    monkeypatch.setattr("time.sleep", taken.append)
    return taken


def test_asks(conformance_transport, slept):
    with httpx.Client(transport=conformance_transport) as client:
        with client.stream("POST", "http://x/v1/chat/completions", json=BODY) as response:
            pieces = list(response.iter_raw())
    assert {claim}
"""


@PLACES
@pytest.mark.parametrize(("timing", "times"), [("recorded", 1), ("scale:2", 2), ("none", 0)])
def test_timing_is_that_of_recording(project: Project, place: str, timing: str, times: int) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    took = sum(each.ms or 0 for each in open_recording(PLAIN).exchanges[0].chunks) * times / 1000
    project.tests(ASKS.format(claim=f"sum(slept) == pytest.approx({took})"))
    counts(project.run(*given(place, "timing", timing)), passed=1)


@PLACES
def test_chunking_cuts_pieces(project: Project, place: str) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(ASKS.format(claim="max(map(len, pieces)) == 5"))
    counts(project.run(*given(place, "chunking", "bytes:5")), passed=1)


@PLACES
def test_profile_judges_traces_and_files(project: Project, place: str) -> None:
    project.take(PLAIN, "one.cassette.jsonl")
    project.tests(
        "def test_it(conformance_trace):\n"
        "    assert conformance_trace('one.cassette.jsonl').choices.profile == 'vllm'\n"
    )
    counts(project.run(*given(place, "profile", "vllm")), passed=1)


@PLACES
@pytest.mark.parametrize("name", ["strict", "require-exercised"])
def test_strictness_counts_in_plain_tests(project: Project, place: str, name: str) -> None:
    project.take(CASSETTES / "mutants/summary/request/comes-when-asked.cassette.jsonl", "one.jsonl")
    project.tests(
        "def test_it(conformance_trace):\n"
        "    conformance.assert_conforms(conformance_trace('one.jsonl'), 'summary')\n"
    )
    counts(project.run(), passed=1)
    counts(project.run(*given(place, name)), failed=1)


# An adapter that notes that it was started.
START = f"""
import os
import runpy
import sys

with open("started.txt", "a", encoding="utf-8") as file:
    print(os.getpid(), file=file)
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
runpy.run_module("reference_impl.client", run_name="__main__")
"""
CUT_SHORT = "harness --defect completed-on-cut"


@pytest.fixture
def adapter(project: Project) -> str:
    """A client that takes broken streams for complete, and two recordings for it."""
    project.write("adapter.py", START)
    for name in ("one", "two"):
        source = CASSETTES / "openai.chat/deepseek/parallel-tools.cassette.jsonl"
        project.take(source, f"{name}.cassette.jsonl")
    project.write(
        "a.conformance.yaml",
        "suites: [thinking]\ncassettes: [one.cassette.jsonl, two.cassette.jsonl]\n",
    )
    return f"{sys.executable} adapter.py {CUT_SHORT}"


def started(project: Project) -> int:
    return len((project.path / "started.txt").read_text(encoding="utf-8").splitlines())


@pytest.mark.slow
@PLACES
def test_cases_of_a_client_are_quick_or_full(project: Project, adapter: str, place: str) -> None:
    client = given(place, "client", adapter)
    assert "failed" not in project.run(*client).parseoutcomes()
    result = project.run(*client, *given(place, "cases", "full"))
    result.stdout.fnmatch_lines(["FAIL MUST harness/ending *"])
    assert started(project) == 2


@PLACES
def test_jobs_are_adapters_side_by_side(project: Project, adapter: str, place: str) -> None:
    result = project.run(*given(place, "client", adapter), *given(place, "jobs", "2"))
    assert "failed" not in result.parseoutcomes()
    assert started(project) == 2


def test_folder_of_recordings_is_chosen(project: Project) -> None:
    project.take(PLAIN, "tapes/test_client/test_asks/0001-chat.cassette.jsonl")
    project.tests(ASKS.format(claim="pieces"))
    counts(project.run("-o", "conformance_cassette_dir=tapes"), passed=1)


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (("--conformance-chunking=byte:5",), "*chunking: expected recorded, events, bytes:N*"),
        (("--conformance-timing=slow",), "*timing: expected recorded, none or scale:F*"),
        (("--conformance-record=twice",), "*invalid choice: 'twice'*"),
        (("--conformance-cases=some",), "*invalid choice: 'some'*"),
        (("--conformance-jobs=0",), "*jobs: expected a number from 1 to 1024, got '0'*"),
        (("--conformance-url=http://me:pw@x/v1",), "*a URL with a password in it is refused"),
        (("-o", "conformance_url=http://me@x"), "*a URL with a password in it is refused"),
        (("-o", "conformance_record=twice"), "*conformance_record: expected one of none, once*"),
        (("-o", "conformance_cases=some"), "*conformance_cases: expected one of quick, full*"),
        (("-o", "conformance_jobs=many"), "*jobs: expected a number from 1 to 1024, got 'many'*"),
        (("-o", "conformance_unused=perhaps"), "*expected one of fail, ignore, got 'perhaps'*"),
    ],
)
def test_wrong_option_stops_the_work(project: Project, args: tuple[str, ...], line: str) -> None:
    project.tests(ASKS.format(claim="pieces"))
    result = project.run(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([line])


@pytest.mark.parametrize(
    ("marker", "claim"),
    [
        ("chunking='events'", "all(piece.endswith(b'\\n\\n') for piece in pieces)"),
        ("timing='scale:3'", "sum(slept) > 0.5"),
        ("comments=True", "b'\\n:' in b''.join(pieces)"),
        ("crlf=True", "all(piece.endswith(b'\\r\\n') for piece in pieces)"),
    ],
)
def test_marker_says_how_to_replay(project: Project, marker: str, claim: str) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    text = ASKS.format(claim=claim)
    project.tests(
        text.replace("def test_asks", f"@pytest.mark.conformance({marker})\ndef test_asks")
    )
    counts(project.run(), passed=1)


@pytest.mark.parametrize(
    ("marker", "asked", "statuses"),
    [
        ("", [{}, {}], [200, 404]),
        ("repeat=True", [{}, {}], [200, 200]),
        ("ignore='n'", [{"n": 2}], [200]),
        ("ignore=['n', 'seed']", [{"n": 2, "seed": 1}], [200]),
        ("match_headers=['accept']", [{}], [404]),
    ],
)
def test_marker_says_what_answers(
    project: Project, marker: str, asked: list[dict[str, int]], statuses: list[int]
) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(
        f"@pytest.mark.conformance({marker})\n"
        "def test_asks(conformance_server):\n"
        f"    found = [ask(conformance_server, **more).status_code for more in {asked!r}]\n"
        f"    assert found == {statuses!r}, found\n"
    )
    result = project.run()
    assert (404 in statuses) is ("failed" in result.parseoutcomes())
    result.stdout.no_fnmatch_line("*AssertionError*")


def test_marker_may_let_a_stream_fall_silent(project: Project) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(
        "@pytest.mark.conformance(stall='event:2')\n"
        "def test_asks(conformance_transport):\n"
        "    client = httpx.Client(transport=conformance_transport)\n"
        "    with client, pytest.raises(httpx.ReadTimeout):\n"
        "        client.post('http://x/v1/chat/completions', json=BODY)\n"
    )
    counts(project.run(), passed=1)


def test_marker_says_how_traces_are_judged(project: Project) -> None:
    project.tests(
        "@pytest.mark.conformance(profile='ollama', dialect='openai.responses')\n"
        "def test_it(conformance_trace):\n"
        "    choices = conformance_trace(b'data: {}\\n\\n').choices\n"
        "    assert (choices.profile, choices.dialect) == ('ollama', 'openai.responses')\n"
    )
    counts(project.run(), passed=1)
