"""conformance_transport under clients of requests and aiohttp, which know no httpx."""

from __future__ import annotations

from tests.plugin.conftest import PLAIN, Project, counts

SAID = """
import asyncio
import json

import aiohttp
import pytest
import requests

URL = "http://x/v1/chat/completions"


def by_requests(transport):
    with requests.Session() as session:
        session.mount("http://", transport.requests_adapter())
        with session.post(URL, json=BODY, stream=True) as answer:
            return list(answer.iter_content(None))


def by_aiohttp(transport):
    async def ask():
        connector = transport.aiohttp_connector()
        async with aiohttp.ClientSession(connector=connector) as session:
            async with session.post(URL, json=BODY) as answer:
                return [data async for data, _ in answer.content.iter_chunks()]

    return asyncio.run(ask())


ENDS = {
    by_requests: requests.exceptions.ChunkedEncodingError,
    by_aiohttp: aiohttp.ClientPayloadError,
}
ways = pytest.mark.parametrize("read", ENDS)
"""


def test_other_clients_read_what_was_recorded_chunk_by_chunk(project: Project) -> None:
    project.take(PLAIN, "shared/a.cassette.jsonl")
    project.tests(f"""{SAID}
@ways
@pytest.mark.conformance("shared/a.cassette.jsonl", chunking="recorded")
def test_whole(read, conformance_transport):
    chunks = read(conformance_transport)
    assert len(chunks) > 3
    assert b"".join(chunks).endswith(b"[DONE]\\n\\n")


@ways
@pytest.mark.conformance("shared/a.cassette.jsonl", cut="event:3")
def test_cut(read, conformance_transport):
    with pytest.raises(ENDS[read]):
        read(conformance_transport)


@ways
@pytest.mark.conformance("shared/a.cassette.jsonl", unused="ignore")
def test_missed(read, conformance_transport):
    BODY["n"] = 7
    assert b"error" in b"".join(read(conformance_transport))
""")
    result = project.run()
    counts(result, passed=4, failed=2)
    result.stdout.fnmatch_lines(["*test_missed[[]by_requests*", "*test_missed[[]by_aiohttp*"])
