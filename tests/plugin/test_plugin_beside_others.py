"""Other plugins in the same run: pytest-recording, xdist, randomly, asyncio plugins, syrupy."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from conformance.cassette import open_recording
from conformance.targets.replay import ThreadedServer
from tests.plugin.conftest import CASSETTES, PLAIN, SUMMARY, Project, counts

HOME = "cassettes/test_client/test_asks"
ASKS = """
def test_asks(conformance_server):
    assert ask(conformance_server).status_code == 200
"""


def needs(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(module) is None, reason=f"{module} is not installed")


@pytest.mark.slow
@needs("xdist")
def test_processes_of_xdist_record_side_by_side(project: Project, upstream: ThreadedServer) -> None:
    project.tests(
        "@pytest.mark.parametrize('x', range(12))\n"
        "def test_asks(conformance_server, x):\n"
        "    assert ask(conformance_server).status_code == 200\n"
    )
    args = ("-p", "xdist", "-n2")
    live = ("--conformance-record=once", f"--conformance-url={upstream.url}")
    counts(project.spawn(*args, *live), passed=12)
    assert upstream.requests == 12
    assert len(list(project.path.glob("cassettes/test_client/*/0001-chat.cassette.jsonl"))) == 12
    counts(project.spawn(*args), passed=12)


@pytest.mark.slow
@needs("xdist")
def test_reports_of_items_travel_through_xdist(project: Project) -> None:
    project.take(SUMMARY, "good.cassette.jsonl")
    project.write("a.conformance.yaml", "suites: [stripping]\ncassettes: [good.cassette.jsonl]\n")
    result = project.spawn("-p", "xdist", "-n2", "-rs")
    result.stdout.fnmatch_lines(["SKIPPED*a.conformance.yaml:2: VACUOUS stripping/*"])


@pytest.mark.slow
@needs("pytest_randomly")
def test_order_does_not_matter(project: Project) -> None:
    for number in range(4):
        project.take(PLAIN, f"{HOME[:-4]}{number}/0001-chat.cassette.jsonl")
    text = "".join(ASKS.replace("test_asks", f"test_{number}") for number in range(4))
    project.tests(text)
    for number in range(4):
        project.take(PLAIN, f"cassettes/test_client/test_{number}/0001-chat.cassette.jsonl")
    counts(project.spawn("-p", "pytest_randomly"), passed=4)


ASYNC = """
async def test_asks(conformance_server, conformance_trace):
    async with httpx.AsyncClient() as client:
        url = conformance_server + "/v1/chat/completions"
        async with client.stream("POST", url, json=BODY) as response:
            trace = await conformance_trace.aread(response)
    assert trace.text


async def test_records(conformance_transport):
    async with httpx.AsyncClient(transport=conformance_transport) as client:
        answer = await client.post("http://x/v1/chat/completions", json=BODY)
    assert answer.status_code == 200
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plugin", "marker"),
    [
        pytest.param("pytest_asyncio", "asyncio", marks=needs("pytest_asyncio")),
        pytest.param("anyio", "anyio", marks=needs("anyio")),
    ],
)
def test_asynchronous_tests_use_the_fixtures(
    project: Project, upstream: ThreadedServer, plugin: str, marker: str
) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.write(
        "conftest.py",
        "import pytest\n\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n",
    )
    project.tests(f"pytestmark = pytest.mark.{marker}\n{ASYNC}")
    asked: tuple[str, ...] = ("-p", "anyio.pytest_plugin")
    if plugin == "pytest_asyncio":  # without the option it warns of its own future
        option = "asyncio_default_fixture_loop_scope=function"
        asked = ("-p", "pytest_asyncio.plugin", "-o", option)
    live = ("--conformance-record=new_episodes", f"--conformance-url={upstream.url}")
    counts(project.spawn(*asked, *live), passed=2)
    counts(project.spawn(*asked), passed=2)
    assert upstream.requests == 1


@needs("pytest_recording")
def test_pytest_recording_mode_is_followed(project: Project, upstream: ThreadedServer) -> None:
    project.tests(ASKS)
    live = ("--record-mode=once", f"--conformance-url={upstream.url}")
    counts(project.spawn("-p", "pytest_recording.plugin", *live), passed=1)
    assert (project.path / HOME / "0001-chat.cassette.jsonl").exists()


@pytest.mark.slow
@needs("pytest_recording")
def test_vcr_in_the_same_test_is_reported(project: Project, upstream: ThreadedServer) -> None:
    project.tests(
        "@pytest.mark.vcr\n"
        "def test_asks(conformance_trace):\n"
        f"    response = ask({upstream.url!r})\n"
        "    trace = conformance_trace(response)\n"
        "    assert trace.recording.header.fidelity == 'text'\n"
        "    assert 'vcrpy is active' in trace.notes[0]\n"
    )
    args = ("-p", "pytest_recording.plugin", "--record-mode=once", "-W", "default")
    result = project.spawn(*args)
    counts(result, passed=1)
    result.stdout.fnmatch_lines(["*FlattenedWarning: vcrpy is active in this test*"])


@pytest.mark.slow
@needs("pytest_recording")
def test_vcr_next_to_a_recording_without_a_port_is_reported(project: Project) -> None:
    project.tests(
        "@pytest.mark.vcr\n"
        "@pytest.mark.conformance(url='http://127.0.0.1:9')\n"
        "def test_asks(conformance_transport):\n"
        "    pass\n"
    )
    recording = ("-p", "pytest_recording.plugin", "-W", "default")
    result = project.spawn(*recording, "--record-mode=once")
    result.stdout.fnmatch_lines(["*FlattenedWarning: vcrpy is active in this test*"])
    result = project.spawn(*recording)
    result.stdout.no_fnmatch_line("*FlattenedWarning*")


@pytest.mark.slow
@needs("pytest_recording")
def test_transport_needs_no_network(project: Project) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(
        "def test_asks(conformance_transport):\n"
        "    with httpx.Client(transport=conformance_transport) as client:\n"
        "        client.post('http://x/v1/chat/completions', json=BODY)\n"
    )
    counts(project.spawn("-p", "pytest_recording.plugin", "--block-network"), passed=1)


@pytest.mark.slow
@needs("pytest_recording")
def test_vcr_without_its_marker_is_no_matter(project: Project) -> None:
    project.take(PLAIN, f"{HOME}/0001-chat.cassette.jsonl")
    project.tests(ASKS)
    result = project.spawn("-p", "pytest_recording.plugin")
    counts(result, passed=1)
    result.stdout.no_fnmatch_line("*FlattenedWarning*")


SNAPSHOT = """
from conformance.pytest_plugin.snapshots import EventSequence

def test_sequence(snapshot, conformance_trace):
    assert conformance_trace("one.sse") == snapshot(extension_class=EventSequence)
"""


@pytest.mark.slow
@needs("syrupy")
def test_snapshot_is_readable_and_masks_ids(project: Project) -> None:
    chunks = open_recording(PLAIN).exchanges[0].chunks
    body = b"".join(chunk.data for chunk in chunks).decode()
    project.write("one.sse", body)
    project.tests(SNAPSHOT)
    counts(project.spawn("-p", "syrupy", "--snapshot-update"), passed=1)
    (file,) = project.path.rglob("*.events")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("message.start ")
    assert "<id 1>" in text
    assert "chatcmpl" not in text
    project.write("one.sse", body.replace("chatcmpl-", "chatcmpl-other"))
    counts(project.spawn("-p", "syrupy"), passed=1)
    project.write("one.sse", body.replace('"stop"', '"length"'))
    counts(project.spawn("-p", "syrupy"), failed=1)


@pytest.mark.slow
@needs("syrupy")
def test_snapshot_numbers_ids_and_opaque_data_apart(project: Project) -> None:
    project.take(CASSETTES / "anthropic.messages/anthropic/tool-round.cassette.jsonl")
    project.tests(SNAPSHOT.replace("one.sse", "tool-round.cassette.jsonl"))
    counts(project.spawn("-p", "syrupy", "--snapshot-update"), passed=1)
    (file,) = project.path.rglob("*.events")
    text = file.read_text(encoding="utf-8")
    assert 'message.start choice=0 role="assistant" id=<id 1>' in text
    assert "tool.end choice=0 index=0 id=<id 2> " in text
    assert 'kind="signature" data=<data 1>' in text
