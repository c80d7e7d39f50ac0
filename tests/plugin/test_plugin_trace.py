"""`conformance_trace` and `assert_conforms`."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

import conformance
from conformance.cassette import open_recording
from conformance.core.errors import UsageError
from conformance.pytest_plugin.responses import aexchange_of, exchange_of
from conformance.pytest_plugin.trace import trace_of
from tests.plugin.conftest import BROKEN, CASSETTES, PLAIN, SUMMARY, Project, counts

PARTS = tuple(chunk.data for chunk in open_recording(PLAIN).exchanges[0].chunks)
BODY = b"".join(PARTS)
SEEN = min((CASSETTES / "openai.chat/client").glob("*.cassette.jsonl"))


class Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that breaks off."""

    def __iter__(self) -> Iterator[bytes]:
        yield PARTS[0]
        raise httpx.ReadError("gone")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield PARTS[0]
        raise httpx.ReadTimeout("silent")


def response(**more: object) -> httpx.Response:
    request = httpx.Request("POST", "http://x/v1/chat/completions?a=b", json={"stream": True})
    headers = {"content-type": "text/event-stream"}
    return httpx.Response(200, headers=headers, request=request, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [PLAIN, str(PLAIN), BODY, response(content=BODY)])
def test_every_source_gives_the_same_semantic_events(source: object) -> None:
    expected = trace_of(PLAIN)
    found = trace_of(source)
    assert [e.data for e in found.semantic] == [e.data for e in expected.semantic]
    assert (found.thinking, found.text) == (expected.thinking, expected.text)
    assert found.text


def test_events_are_all_layers_in_one_order() -> None:
    events = trace_of(PLAIN).events
    assert {event.layer for event in events} == {"transport", "wire", "semantic"}
    assert [event.number for event in events] == sorted(event.number for event in events)


def test_open_response_keeps_its_chunks_and_a_clock() -> None:
    exchange = exchange_of(response(stream=httpx.ByteStream(BODY)))
    assert [chunk.data for chunk in exchange.chunks] == [BODY]
    streamed = exchange_of(response(content=iter(PARTS)))
    assert tuple(chunk.data for chunk in streamed.chunks) == PARTS
    assert all(chunk.ms is not None for chunk in streamed.chunks)


def test_request_of_a_response_is_known() -> None:
    request = exchange_of(response(content=BODY)).request
    assert request is not None
    assert (request.method, request.path) == ("POST", "/v1/chat/completions?a=b")
    assert request.json == {"stream": True}


@pytest.mark.parametrize("raw", [b'{"temperature": NaN}', b"\x00\xff", b"", b"null"])
def test_a_request_that_is_no_json_is_kept_as_it_came(raw: bytes) -> None:
    request = httpx.Request("POST", "http://h/v1/chat/completions", content=raw)
    found = exchange_of(httpx.Response(200, content=BODY, request=request)).request
    assert found is not None
    assert (found.json, found.raw or b"") == (None, raw)


def test_broken_stream_ends_as_it_did() -> None:
    assert exchange_of(response(stream=Broken())).end == "reset"
    assert asyncio.run(aexchange_of(response(stream=Broken()))).end == "idle-timeout"


def test_asynchronous_response_is_read_by_aread_only() -> None:
    async def parts() -> AsyncIterator[bytes]:
        for part in PARTS:
            yield part

    with pytest.raises(UsageError, match="asynchronous and was not read"):
        exchange_of(response(content=parts()))
    read = asyncio.run(aexchange_of(response(content=parts())))
    assert tuple(chunk.data for chunk in read.chunks) == PARTS


def test_body_is_kept_without_its_compression() -> None:
    packed = response(content=gzip.compress(BODY))
    packed.headers["content-encoding"] = "gzip"
    unread = httpx.Response(200, headers=packed.headers, stream=httpx.ByteStream(packed.content))
    exchange = exchange_of(unread)
    assert exchange.body == BODY
    assert exchange.response is not None
    assert exchange.response.header("content-encoding") is None
    assert exchange.response.header("x-decoded-from") == "gzip"


@pytest.mark.parametrize("source", [3, None, object()])
def test_what_is_no_source_is_reported(source: object) -> None:
    with pytest.raises(UsageError, match="expected an httpx response, a path or bytes"):
        trace_of(source)


def test_seen_holds_what_a_client_reported() -> None:
    trace = trace_of(SEEN)
    assert trace.seen
    assert trace.seen == tuple(each for e in trace.exchanges for each in e.seen or ())


def test_error_body_is_distinguished_by_the_path_of_its_request() -> None:
    refused = response(content=b'{"oops": 1}')
    assert trace_of(refused).events


def test_conforming_trace_gives_its_report() -> None:
    report = conformance.assert_conforms(trace_of(SUMMARY), "summary/lifecycle")
    assert report.streams
    assert all(rule.startswith("summary/lifecycle/") for rule in report.verdicts)


def test_violation_raises_with_the_finding_and_the_report() -> None:
    with pytest.raises(conformance.ConformanceFailure, match=r"text-agrees.*:10 \(event 7") as info:
        conformance.assert_conforms(BROKEN, "summary/lifecycle")
    assert info.value.report.findings


def test_strict_and_exercised_are_as_on_the_command_line() -> None:
    should = CASSETTES / "mutants/summary/lifecycle/summary-streamed.cassette.jsonl"
    with pytest.raises(AssertionError, match="MUST summary/lifecycle/item-agrees"):
        conformance.assert_conforms(should, "summary/lifecycle")
    with pytest.raises(AssertionError, match="VACUOUS stripping/visible-text/no-tool-markers"):
        conformance.assert_conforms(SUMMARY, "stripping", require_exercised=True)


def test_nothing_judged_is_no_success() -> None:
    with pytest.raises(AssertionError, match=r"no rule judges openai\.responses"):
        conformance.assert_conforms(SUMMARY, "wire/chat")


def test_secrets_are_not_shown() -> None:
    key = "sk-proj-" + "A1b2C3d4" * 5
    body = b"".join(c.data for c in open_recording(BROKEN).exchanges[0].chunks)
    leaking = body.replace(b"Street", key.encode())
    with pytest.raises(AssertionError) as info:
        conformance.assert_conforms(leaking, "summary/lifecycle")
    assert key not in str(info.value)


def test_findings_in_memory_have_a_file_to_look_at(tmp_path: Path) -> None:
    body = b"".join(c.data for c in open_recording(BROKEN).exchanges[0].chunks)
    trace = trace_of(body, folder=tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(AssertionError, match=r"1-response.cassette.jsonl:\d+ "):
        conformance.assert_conforms(trace, "summary/lifecycle")
    with pytest.raises(AssertionError, match="text-agrees"):
        conformance.assert_conforms(trace_of(tmp_path / "1-response.cassette.jsonl"), "summary")


def test_fixture_takes_paths_next_to_the_test(project: Project) -> None:
    project.take(SUMMARY, "kept/one.cassette.jsonl")
    project.tests(
        "def test_it(conformance_trace):\n"
        "    trace = conformance_trace('kept/one.cassette.jsonl')\n"
        "    assert [e.type for e in trace.semantic][0] == 'message.start'\n"
        "    conformance.assert_conforms(trace, 'summary/lifecycle')\n"
    )
    counts(project.run(), passed=1)


def test_failure_shows_the_finding_and_not_the_plugin(project: Project) -> None:
    project.take(BROKEN, "bad.cassette.jsonl")
    project.tests(
        "def test_it(conformance_trace):\n"
        "    conformance.assert_conforms(conformance_trace('bad.cassette.jsonl'), 'summary')\n"
    )
    result = project.run("--tb=long")
    counts(result, failed=1)
    result.stdout.fnmatch_lines(["*FAIL MUST summary/lifecycle/text-agrees*"])
    result.stdout.no_fnmatch_line("*trace.py*def assert_conforms*")


def test_asynchronous_application_needs_no_port(project: Project) -> None:
    project.tests(
        "import asyncio\n"
        "from conformance.targets.asgi import AsgiTransport\n"
        "async def app(scope, receive, send):\n"
        "    head = {'type': 'http.response.start', 'status': 200,\n"
        "            'headers': [(b'content-type', b'text/event-stream')]}\n"
        "    await send(head)\n"
        f"    for part in {list(PARTS[:3])!r}:\n"
        "        await send({'type': 'http.response.body', 'body': part, 'more_body': True})\n"
        "    await send({'type': 'http.response.body', 'body': b''})\n"
        "def test_it(conformance_trace):\n"
        "    async def go():\n"
        "        async with httpx.AsyncClient(transport=AsgiTransport(app)) as client:\n"
        "            async with client.stream('POST', 'http://x/v1/chat/completions') as r:\n"
        "                return await conformance_trace.aread(r)\n"
        "    trace = asyncio.run(go())\n"
        "    assert len(trace.exchanges[0].chunks) == 3\n"
    )
    counts(project.run(), passed=1)


def test_a_trace_names_its_events_and_no_bytes() -> None:
    trace = trace_of(BODY)
    assert repr(trace).startswith("<trace of response.cassette.jsonl: message.start text.start ")
    assert len(repr(trace)) < 400
    assert [line.partition(" ")[0] for line in trace.sequence][-2:] == ["finish", "done"]


def test_a_failing_assert_reports_the_events_that_differ(project: Project) -> None:
    project.take(PLAIN, "a.cassette.jsonl")
    project.take(SEEN, "b.cassette.jsonl")
    project.tests(
        """
        def test_differ(conformance_trace):
            assert conformance_trace("a.cassette.jsonl") == conformance_trace("b.cassette.jsonl")

        def test_alike(conformance_trace):
            one = conformance_trace("a.cassette.jsonl")
            assert one.sequence == conformance_trace("a.cassette.jsonl").sequence
            assert one == conformance_trace("a.cassette.jsonl".encode())
    """.replace("\n        ", "\n")
    )
    result = project.run("-vv")
    counts(result, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*<trace of a.cassette.jsonl: *> == <trace of b.cassette.jsonl: *",
            "*events of the left (-) and of the right (+):*",
            "E*- text.delta *",
        ]
    )
