"""Requests that carry on a conversation share its file; others have their own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import Header, read
from conformance.core.errors import CassetteError
from conformance.core.events import Request
from conformance.targets.recording import Origin, RecordingFolder, RecordingOptions, RecordingProxy
from conformance.targets.recording.folder import Conversations, ExchangePlace
from tests.targets.record_peers import END, HEAD, Script, ask, chunked, origin, post

HI = {"role": "user", "content": "hi"}
HO = {"role": "assistant", "content": "ho"}
ON = {"role": "user", "content": "and?"}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
FIRST = ExchangePlace("a", 1)
SECOND = ExchangePlace("a", 2)


def chat(*messages: Any, key: str = "messages", **more: Any) -> Request:
    return Request(path="/v1/x", json={"model": "m", key: list(messages), **more})


@pytest.mark.parametrize(
    ("earlier", "later", "follows"),
    [
        ([chat(HI)], chat(HI, HO, ON), FIRST),
        ([chat(HI)], chat(HI, HO), FIRST),
        ([chat(HI)], chat(HI), None),
        ([chat(HI)], chat(HI, ON), None),
        ([chat(HI)], chat(ON, HO, HI), None),
        ([chat(HI), chat(HI, HO, ON)], chat(HI, HO, ON, HO, HI), SECOND),
        ([chat(HI), chat(HI)], chat(HI, HO, ON), None),
        ([chat(HI, key="input")], chat(HI, CALL, ON, key="input"), FIRST),
        ([Request(path="/v1/x", json={"input": "hi"})], chat(HI, HO, ON, key="input"), FIRST),
        ([chat(HI)], Request(path="/v1/x", json=None), None),
        ([chat(HI)], Request(path="/v1/y", json={"messages": [HI, HO]}), None),
        ([Request(path="/v1/x", json={"messages": 3})], chat(3, HO), None),
    ],
)
def test_a_request_follows_the_one_whose_history_it_carries_on(
    earlier: list[Request], later: Request, follows: ExchangePlace | None
) -> None:
    threads = Conversations()
    for number, request in enumerate(earlier, 1):
        threads.remember_request(request, ExchangePlace("a", number))
    assert threads.preceding_exchange(later) == follows


def test_a_request_follows_the_response_it_names() -> None:
    threads = Conversations()
    threads.remember_answer(
        b'event: x\ndata: {"response":{"id":"resp_1","object":"response"}}', FIRST
    )
    assert threads.preceding_exchange(chat(ON, key="input", previous_response_id="resp_1")) == FIRST
    assert threads.preceding_exchange(chat(ON, key="input", previous_response_id="resp_2")) is None


def test_memory_is_bounded() -> None:
    threads = Conversations()
    for number in range(10_050):
        threads.remember_request(chat({"n": number}), FIRST)
        threads.remember_answer(b'"id":"resp_%d"' % number, FIRST)
    assert threads.preceding_exchange(chat({"n": 0}, HO)) is None
    assert threads.preceding_exchange(chat({"n": 10_049}, HO)) == FIRST
    assert threads.preceding_exchange(chat(previous_response_id="resp_1")) is None


async def test_conversations_at_once_go_to_files_of_their_own(tmp_path: Path) -> None:
    async def talk(url: str, name: str) -> None:
        first = {"role": "user", "content": name}
        for messages in ([first], [first, HO, ON]):
            body = json.dumps({"model": "m", "messages": messages}).encode()
            assert (await ask(url, post("/v1/chat/completions", body))).end == "complete"

    script = Script([HEAD, *(chunked(b"data: %d\n\n" % n) for n in range(20)), END])
    async with origin(script) as server:
        shelf = RecordingFolder(tmp_path, RecordingOptions())
        async with RecordingProxy(Origin.parse(server.url), shelf) as proxy:
            await asyncio.gather(*(talk(proxy.url, f"talk {n}") for n in range(8)))
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == [f"{n:04}-chat.cassette.jsonl" for n in range(1, 9)]
    for path in files:
        one, two = read(path).exchanges
        assert (one.after, two.after) == (None, 1)
        assert one.request is not None
        assert two.request is not None
        assert two.request.json["messages"][0] == one.request.json["messages"][0]


def record(shelf: RecordingFolder, request: Request) -> None:
    """A request that nobody answers."""
    recorder = shelf.begin_exchange(request)
    shelf.record_rest(recorder, "eof")
    shelf.finish_exchange(recorder)


def test_files_that_are_there_are_kept(tmp_path: Path) -> None:
    (tmp_path / "0007-chat.cassette.jsonl").write_text("mine")
    shelf = RecordingFolder(tmp_path, RecordingOptions())
    for path in ("/v1/models", "/v1/threads/thread_abcdefghijklmnopqrstu", "/"):
        record(shelf, Request("GET", path))
    shelf.close()
    names = sorted(path.name.split(".")[0] for path in tmp_path.iterdir())
    assert names == ["0007-chat", "0008-models", "0009-other", "0010-other"]
    assert (tmp_path / "0007-chat.cassette.jsonl").read_text() == "mine"


def test_a_request_that_cannot_be_recorded_leaves_no_file(tmp_path: Path) -> None:
    shelf = RecordingFolder(tmp_path, RecordingOptions())
    secrets = tuple((f"x-token-{n}", f"secret-number-{n}") for n in range(1100))
    with pytest.raises(CassetteError, match="were sent"):
        shelf.begin_exchange(Request("GET", "/v1/models", secrets))
    shelf.close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_names_the_profile_only_where_its_api_has_it(tmp_path: Path) -> None:
    shelf = RecordingFolder(tmp_path, RecordingOptions(profile="groq"))
    for path in ("/v1/chat/completions", "/v1/messages"):
        record(shelf, Request(path=path, json={}))
    shelf.close()
    stated = {header.dialect: header.profile for header in headers(tmp_path)}
    assert stated == {"openai.chat": "groq", "anthropic.messages": None}


def headers(folder: Path) -> list[Header]:
    return [read(path).header for path in sorted(folder.iterdir())]


def test_idle_files_are_closed_when_many_are_open(tmp_path: Path) -> None:
    shelf = RecordingFolder(tmp_path, RecordingOptions())
    for number in range(150):
        record(shelf, chat({"n": number}))
    assert len(shelf._files) <= 129
    shelf.close()
    assert len(list(tmp_path.iterdir())) == 150
