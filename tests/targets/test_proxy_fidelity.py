"""Through the proxy a client gets what it gets directly, and the cassette holds just that."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.cassette import read
from conformance.cassette.redaction.placeholders import is_stand_in
from conformance.core.events import Exchange
from conformance.targets.recording import Origin, RecordingFolder, RecordingOptions, RecordingProxy
from tests.targets.record_peers import END, HEAD, Got, Script, ask, chunked, connect, origin, post

FRAMES = (
    b'data: {"choices":[{"index":0,"delta":{"content":"%s "}}]}\n\n',
    b'event: response.output_text.delta\r\ndata: {"delta":"%s "}\r\n\r\n',
    b": %s\n\n",
    b"data: %s\n",
    b"%s ",
)
WORDS = (b"a", b"\xe2\x82", b"\xac", "é".encode(), b"\xff\x00", b'\\"', b"\r", b"\n", b"")
SECRET = "sk-proj-" + "Ab1c" * 8
ENDINGS = ("keep", "keep", "keep", "fin", "rst")


def chunks_of(rng: random.Random, secret: bytes = b"") -> list[bytes]:
    """A body as transfer chunks, cut anywhere."""
    words = (*WORDS, secret) if secret else WORDS
    body = b"".join(
        rng.choice(FRAMES).replace(b"%s", rng.choice(words)) for _ in range(rng.randint(1, 12))
    )
    chunks = []
    while body:
        size = rng.choice((1, 2, 3, 7, 30, 100, 5000))
        chunks.append(body[:size])
        body = body[size:]
    return chunks


def script(rng: random.Random, chunks: Sequence[bytes]) -> Script:
    """The chunks on the wire, its writes cut elsewhere than the chunks."""
    ending = rng.choice(ENDINGS)
    wire = b"".join(map(chunked, chunks)) + (END if ending == "keep" else b"")
    writes, at = [HEAD], 0
    while at < len(wire):
        size = rng.choice((1, 5, 50, 500, 100_000))
        writes.append(wire[at : at + size])
        at += size
    return Script(writes, ending)


async def both_ways(scripts: list[Script], folder: Path, *, redact: bool) -> list[tuple[Got, Got]]:
    """For each script, what a client gets directly and through the proxy."""
    pairs = []
    # Each script is played twice in a row.
    async with origin(*(one for one in scripts for _ in range(2))) as server:
        shelf = RecordingFolder(folder, RecordingOptions(redact=redact))
        async with RecordingProxy(Origin.parse(server.url), shelf) as proxy:
            for _ in scripts:
                direct = await ask(server.url, post("/v1/chat/completions"))
                pairs.append((direct, await ask(proxy.url, post("/v1/chat/completions"))))
            assert not proxy.failures
    return pairs


def recorded(folder: Path) -> list[Exchange]:
    cassettes = [read(path) for path in sorted(folder.iterdir())]
    assert all(one.sealed and not one.torn for one in cassettes)
    return [exchange for one in cassettes for exchange in one.exchanges]


def same_lengths(one: Sequence[bytes], other: Sequence[bytes]) -> bool:
    return [len(each) for each in one] == [len(each) for each in other]


def compare(seed: int, rounds: int, folder: Path, *, redact: bool) -> None:
    rng = random.Random(seed)
    secret = SECRET.encode() if redact else b""
    plans = [chunks_of(rng, secret) for _ in range(rounds)]
    scripts = [script(rng, chunks) for chunks in plans]
    pairs = asyncio.run(both_ways(scripts, folder, redact=redact))
    exchanges = recorded(folder)
    assert len(exchanges) == rounds
    for chunks, played, (direct, passed), exchange in zip(
        plans, scripts, pairs, exchanges, strict=True
    ):
        kept = [chunk.data for chunk in exchange.chunks]
        if played.ending == "rst":
            # What was under way when the reset came may be lost, on either path.
            assert exchange.end == "reset"
            assert passed.end == "reset"
            assert b"".join(chunks).startswith(b"".join(passed.chunks))
            continue
        assert passed.chunks == direct.chunks == tuple(chunks)
        assert passed.end == direct.end
        assert exchange.end == ("eof" if direct.end == "complete" else "protocol-error")
        assert same_lengths(kept, chunks)
        if redact:
            assert_equal_outside_stand_ins(b"".join(kept), b"".join(chunks))
        else:
            assert kept == chunks


def assert_equal_outside_stand_ins(kept: bytes, came: bytes) -> None:
    assert SECRET.encode() not in kept
    at = 0
    for match in re.finditer(re.escape(SECRET.encode()), came):
        assert kept[at : match.start() + 3] == came[at : match.start() + 3]
        assert is_stand_in(kept[match.start() + 3 : match.end()].decode())
        at = match.end()
    assert kept[at:] == came[at:]


@pytest.mark.parametrize("seed", range(5))
def test_bytes_cuts_and_ending_are_those_of_a_direct_client(seed: int, tmp_path: Path) -> None:
    compare(seed, 20, tmp_path, redact=False)


@pytest.mark.parametrize("seed", range(2))
def test_a_redacted_stream_is_equal_outside_the_stand_ins(seed: int, tmp_path: Path) -> None:
    compare(seed, 20, tmp_path, redact=True)


@pytest.mark.slow
@pytest.mark.parametrize("redact", [False, True])
def test_many_streams_come_as_they_come_directly(redact: bool, tmp_path: Path) -> None:
    compare(99, 400, tmp_path, redact=redact)


EVENT = chunked(b"data: 1\n\n")


@pytest.mark.parametrize(
    ("writes", "reads"),
    [
        ([HEAD + EVENT + END], [EVENT + END]),
        ([HEAD, EVENT, END], [b"", EVENT, END]),
        ([HEAD + EVENT[:1], EVENT[1:] + END], [b"", EVENT + END]),
    ],
    ids=["all at once", "one by one", "half a size with the head"],
)
async def test_nothing_waits_for_a_body(
    writes: list[bytes], reads: list[bytes], tmp_path: Path
) -> None:
    gate = asyncio.Semaphore(0)
    folder = RecordingFolder(tmp_path, RecordingOptions())
    async with (
        asyncio.timeout(20),
        origin(Script(writes, gate=gate)) as server,
        RecordingProxy(Origin.parse(server.url), folder) as proxy,
    ):
        reader, writer = await connect(proxy.url)
        writer.write(post("/v1/chat/completions"))
        got = []
        for _ in reads:
            got.append(await reader.read(1 << 16))
            gate.release()
        writer.close()
        first, *others = got
    assert [first.partition(b"\r\n\r\n")[2], *others] == reads
