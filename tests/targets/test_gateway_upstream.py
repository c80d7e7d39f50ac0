"""What stands behind a gateway answers by its script, and survives whatever the gateway asks."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping

import httpx
import pytest
from msgspec.structs import replace

from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Ending, Exchange, Response
from conformance.dialects import ENDPOINTS, base_path, dialect_at, get
from conformance.dialects.base import Reading
from conformance.dialects.requests import Question
from conformance.judging.transcript import Transcript, read_transcript
from conformance.recordings.api import check_chunks
from conformance.scenarios.model import UPSTREAM
from conformance.targets.gateway import MOST_TRIES, UpstreamCall, UpstreamStandIn, serve_upstream
from conformance.targets.model_calls import TurnSigns, call_shape
from conformance.targets.played_answers import (
    RecordedUpstream,
    ScriptedUpstream,
    UpstreamAnswer,
    scripted_answer,
)

PATH = {dialect: endpoint.path for dialect, endpoint in ENDPOINTS.items()}
DIALECTS = sorted(PATH)
ASKED = {"model": "scripted", "messages": [], "stream": True}
SUMMARY = {"reasoning": {"effort": "low", "summary": "auto"}}
WHOLE = ("answer", "tools", "length")
# They count thinking among the rest, and not by itself.
PROMPTED = ("ollama.generate", "sglang.generate", "huggingface.tgi")  # completions know no tools
COUNTS_NO_THINKING = ("bedrock.converse", "mistral.chat", "ollama.chat", *PROMPTED)


async def _posted(source: ScriptedUpstream | RecordedUpstream, body: object, path: str) -> _Posted:
    async with serve_upstream(0) as upstream:
        upstream.begin_request(source)
        base = f"http://127.0.0.1:{upstream.port}{base_path(path)}"
        async with httpx.AsyncClient(base_url=base, verify=False) as client:
            response = await client.post(path, json=body)
        return response, tuple(upstream.calls)


_Posted = tuple[httpx.Response, tuple[UpstreamCall, ...]]


def posted(
    source: ScriptedUpstream | RecordedUpstream | str, body: object, dialect: str = "openai.chat"
) -> _Posted:
    one = ScriptedUpstream((source,)) if isinstance(source, str) else source
    return asyncio.run(_posted(one, body, PATH[dialect]))


def exchange(dialect: str, said: UpstreamAnswer) -> Exchange:
    """What was said, as it would be recorded."""
    head = Response(said.status, "1.1", (("content-type", said.content_type),))
    end: Ending = "reset" if said.is_cut else "eof"
    return Exchange(dialect=dialect, response=head, chunks=tuple(map(Chunk, said.chunks)), end=end)


def read(dialect: str, said: UpstreamAnswer) -> Transcript:
    return read_transcript(exchange(dialect, said), get(dialect), Reading())


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("script", WHOLE)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("more", [{}, SUMMARY], ids=["plain", "summary"])
def test_upstream_conforms(
    dialect: str, script: str, stream: bool, more: dict[str, object]
) -> None:
    usage = {"stream_options": {"include_usage": True}} if stream else {}
    asked = {**ASKED, **more, "stream": stream, **(usage if dialect == "openai.chat" else {})}
    answer = scripted_answer(script, dialect, 1, asked)
    report = check_chunks(answer.chunks, dialect=dialect, profile="strict", request=asked)
    # Some APIs refuse the field that asks for a summary: a fault of the request.
    found = (f for f in report.findings if not f.rule.startswith("effort/"))
    assert [f"{f.rule}: {f.message}" for f in found] == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
def test_hidden_thinking_is_counted_and_not_shown(dialect: str, stream: bool) -> None:
    usage = {"stream_options": {"include_usage": True}} if dialect == "openai.chat" else {}
    asked = {**SUMMARY, "stream": stream, **(usage if stream else {})}
    answered = scripted_answer("hidden", dialect, 1, asked)
    answer = read(dialect, answered)
    assert not answer.thought
    assert answer.usage["output"]
    assert bool(answer.usage.get("reasoning")) == (dialect not in COUNTS_NO_THINKING)


def test_a_summary_is_reported_where_the_request_asks_for_one() -> None:
    for stream in (True, False):
        answer = scripted_answer("answer", "openai.responses", 3, {**SUMMARY, "stream": stream})
        assert "summary 3" in "".join(read("openai.responses", answer).summary)
        assert not read(
            "openai.responses", scripted_answer("answer", "openai.responses", 3, {})
        ).summary


ENDINGS = {
    "answer": "complete",
    "tools": "tools",
    "two-calls": "tools",
    "length": "length",
    "hidden": "complete",
    "plain": "complete",
    "no-finish": "cut",
    "cut": "cut",
    "error": "failed",
    "refused": "refused",
    "unavailable": "failed",
}
# Completions have no tools, and so nothing but an empty answer in place of a call.
TOOLLESS = {**ENDINGS, "tools": "complete", "two-calls": "complete"}
REASONLESS = {**TOOLLESS, "length": "complete"}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("script", UPSTREAM)
def test_every_script_ends_as_its_name_says(dialect: str, script: str) -> None:
    answer = scripted_answer(script, dialect, 1, ASKED)
    ends = TOOLLESS if dialect in PROMPTED else ENDINGS
    ends = ends if get(dialect).tells_reasons else REASONLESS
    assert read(dialect, answer).ending == ends[script]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("script", [each for each in UPSTREAM if each != "cut"])
def test_what_was_sent_is_what_was_kept(dialect: str, script: str) -> None:
    response, heard = posted(script, ASKED, dialect)
    (one,) = heard
    assert one.exchange.body == response.content
    # At a path that two dialects share the played server speaks the first of them.
    assert one.exchange.dialect == dialect_at(PATH[dialect])
    assert one.exchange.request is not None
    assert one.exchange.request.json == ASKED
    assert one.exchange.response is not None
    assert one.exchange.response.status == response.status_code


@pytest.mark.parametrize(
    ("body", "key"), [({"inputs": "Hi"}, "generated_text"), ({"text": "Hi"}, "meta_info")]
)
def test_a_path_of_two_servers_is_answered_as_the_one_that_is_asked(
    body: dict[str, str], key: str
) -> None:
    """`huggingface_hub` asks the base URL of a TGI, `sglang` that of its own server."""
    response, _ = posted("answer", body, "huggingface.tgi")
    assert key in response.json()


def test_a_cut_is_a_reset() -> None:
    with pytest.raises(httpx.HTTPError):
        posted("cut", ASKED)


async def _twice() -> list[int]:
    async with serve_upstream(0) as upstream:
        upstream.begin_request(ScriptedUpstream(("answer", "unavailable")))
        base = f"http://127.0.0.1:{upstream.port}/v1"
        async with httpx.AsyncClient(base_url=base, verify=False) as client:
            answers = [await client.post("/chat/completions", json=ASKED) for _ in range(3)]
        return [each.status_code for each in answers]


def test_each_call_of_a_request_has_a_word_of_its_own_and_the_last_goes_on() -> None:
    assert asyncio.run(_twice()) == [200, 500, 500]


@pytest.mark.parametrize(
    "wish",
    [{"includeThoughts": True}, {"include_thoughts": True}, {"include_thoughts": False}],
    ids=json.dumps,
)
@pytest.mark.parametrize("key", ["thinkingConfig", "thinking_config"])
def test_thoughts_are_shown_under_either_name(key: str, wish: Mapping[str, bool]) -> None:
    body = {"contents": [], "generationConfig": {key: wish}}
    path = "/v1beta/models/m:streamGenerateContent"
    answer = UpstreamStandIn().answer_call("POST", path, body)
    assert bool(read("gemini.generate", answer).thinking) is any(wish.values())


@pytest.mark.parametrize("word", ["cut", "error", "no-finish", "unavailable"])
@pytest.mark.parametrize("goes_on", [False, True], ids=["asks the same", "goes on"])
def test_who_tries_for_ever_is_refused_at_last(word: str, *, goes_on: bool) -> None:
    upstream = UpstreamStandIn()
    for _ in range(2):
        upstream.begin_request(ScriptedUpstream((word,)), TurnSigns("Go on."))
        found = [[{"role": "user", "content": "Go on." * (n if goes_on else 1)}] for n in range(6)]
        bodies = [{**ASKED, "messages": history} for history in found]
        given = [upstream.answer_call("POST", "/v1/chat/completions", body) for body in bodies]
        assert [each.status == 400 for each in given] == [False] * MOST_TRIES + [True, True]
        assert all(each.breaks_off for each in given)
        assert given[-1].kind == ("turn" if goes_on else "retry 5")


def test_longer_waits_are_refused_sooner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An agent waited 10, 15, 37 and 60 s: its turn was taken for one that never ends."""
    times = iter([0.3, 10.0, 25.3])
    monkeypatch.setattr("conformance.targets.gateway.monotonic", lambda: next(times))
    upstream = UpstreamStandIn()
    upstream.begin_request(ScriptedUpstream(("cut",)), TurnSigns("Go on."))
    given = [upstream.answer_call("POST", "/v1/chat/completions", ASKED) for _ in range(3)]
    assert [each.status for each in given] == [200, 200, 400]


@pytest.mark.parametrize(
    ("words", "signs"), [(("cut", "answer"), TurnSigns("Go on.")), (("cut",), None)]
)
def test_answered_client_is_not_refused(words: tuple[str, ...], signs: TurnSigns | None) -> None:
    upstream = UpstreamStandIn()
    upstream.begin_request(ScriptedUpstream(words), signs)
    given = [upstream.answer_call("POST", "/v1/chat/completions", ASKED) for _ in range(9)]
    assert {each.status for each in given} == {200}


@pytest.mark.parametrize(("word", "is_of_turn"), [("length", True), ("answer", False)])
def test_what_was_cut_at_a_limit_may_be_gone_on_with(word: str, *, is_of_turn: bool) -> None:
    asked = {"role": "user", "content": "What is 2 + 2?"}
    first = {**ASKED, "messages": [asked]}
    more = [asked, {"role": "assistant", "content": "4"}, {"role": "user", "content": "Go on."}]
    upstream = UpstreamStandIn()
    signs = TurnSigns(asked["content"], (call_shape("openai.chat", first, asked["content"]),))
    upstream.begin_request(ScriptedUpstream((word,)), signs)
    assert not upstream.answer_call("POST", "/v1/chat/completions", first).aside
    later = upstream.answer_call("POST", "/v1/chat/completions", {**ASKED, "messages": more})
    assert later.aside is not is_of_turn


RECORDED = Exchange(
    dialect="openai.chat",
    response=Response(200, "1.1", (("content-type", "text/event-stream"),)),
    chunks=(Chunk(b"data: {}\n"), Chunk(b"\ndata: [DONE]\n\n")),
)


def test_a_recording_is_reported_byte_for_byte_and_chunk_for_chunk() -> None:
    response, (one,) = posted(RecordedUpstream(RECORDED), ASKED)
    assert response.content == b"data: {}\n\ndata: [DONE]\n\n"
    assert [each.data for each in one.exchange.chunks] == [each.data for each in RECORDED.chunks]
    assert not one.misfit


@pytest.mark.parametrize(
    ("dialect", "asked", "why"),
    [
        ("openai.responses", ASKED, "in openai.responses, openai.chat was recorded"),
        ("openai.chat", {**ASKED, "stream": False}, "for a whole body, a stream was recorded"),
    ],
)
def test_missing_answer_is_reported(dialect: str, asked: dict[str, object], why: str) -> None:
    response, (one,) = posted(RecordedUpstream(RECORDED), asked, dialect)
    assert response.status_code == 501
    assert why in one.misfit


def test_a_recording_that_broke_breaks_again() -> None:
    with pytest.raises(httpx.HTTPError):
        posted(RecordedUpstream(replace(RECORDED, end="reset")), ASKED)


@pytest.mark.parametrize("body", [[], "text", 1, None, {"stream": "yes"}])
def test_odd_bodies_are_answered(body: object) -> None:
    response, _ = posted("answer", body)
    assert response.status_code == 200


async def _raw(data: bytes) -> bytes:
    async with serve_upstream(0) as upstream:
        reader, writer = await asyncio.open_connection("127.0.0.1", upstream.port)
        writer.write(data)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n", b"200"),
        (b"POST /v1/embeddings HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}", b"404"),
        (b"GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n", b""),
        (b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{}", b""),
        (b"\x16\x03\x01\x02\x00", b""),
        (b"", b""),
    ],
)
def test_whatever_is_asked_ends(data: bytes, status: bytes) -> None:
    answer = asyncio.run(_raw(data))
    assert answer.split(b" ")[1:2] == ([status] if status else [])
    if status == b"200":
        assert b"scripted" in answer


async def test_a_port_that_is_taken_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        async with serve_upstream(0) as upstream, serve_upstream(upstream.port):
            pass


@pytest.mark.parametrize("dialect", DIALECTS)
def test_answers_can_be_distinguished(dialect: str) -> None:
    form = get(dialect).request
    assert form is not None
    asked = form.ask(Question("x", limit=9, streams=False, thinks=True, summarises=True))
    first, second = (read(dialect, scripted_answer("answer", dialect, n, asked)) for n in (1, 2))
    assert first.text != second.text
    # A summary, where that is all that is ever shown; between tags, where a prompt is asked.
    assert first.thinking != second.thinking or "<think>" in "".join(first.text)


def test_a_call_for_an_earlier_request_is_not_counted_for_the_next() -> None:
    upstream = UpstreamStandIn()
    upstream.begin_request(ScriptedUpstream())
    late = UpstreamCall(RECORDED, 0.0)
    upstream.begin_request(ScriptedUpstream())
    upstream.keep_call(late, upstream.request - 1)
    assert upstream.calls == []
    upstream.keep_call(late, upstream.request)
    assert upstream.calls == [late]


def test_what_a_gateway_asks_is_kept_as_it_came() -> None:
    async def asked(body: bytes) -> UpstreamCall:
        async with serve_upstream(0) as upstream:
            upstream.begin_request(ScriptedUpstream(("answer",)))
            async with httpx.AsyncClient(verify=False) as client:
                url = f"http://127.0.0.1:{upstream.port}{PATH['openai.chat']}"
                await client.post(url, content=body)
            (call,) = upstream.calls
            return call

    request = asyncio.run(asked(b'{"temperature": NaN}')).exchange.request
    assert request is not None
    assert (request.json, request.raw) == (None, b'{"temperature": NaN}')


def test_no_id_comes_in_two_runs() -> None:
    """A gateway may keep what a model answered, by the ids of it."""

    def ids(start: int) -> set[str]:
        upstream = UpstreamStandIn(ids_from=start)
        upstream.begin_request(ScriptedUpstream(("two-calls",)))
        body = b"".join(upstream.answer_call("POST", "/v1/responses", {}).chunks)
        return set(re.findall(r'"(?:id|call_id)": "([^"]+)"', body.decode()))

    assert ids(0) == {"resp_scripted_1", "rs_1", "fc_00001", "call_00001", "fc_b0001", "call_b0001"}
    assert len(ids(50_000)) == len(ids(60_000)) == len(ids(0))
    assert not ids(50_000) & ids(60_000)
