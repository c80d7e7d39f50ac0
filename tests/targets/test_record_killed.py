"""A recorder that is killed leaves what it had passed on until 100 ms before.

What redaction held back is lost, too.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from conformance.cassette import Cassette, read
from tests.targets.record_peers import HEAD, Script, chunked, connect, origin, post

EVENTS = [b'data: {"n":%d}\n\n' % n for n in range(20)]


async def killed_after(count: int, script: Script, folder: Path, *, later: float = 0.3) -> None:
    """Kills a real recorder so much later than its client had so many bytes."""
    async with origin(script) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "conformance", "record", "--proxy", "127.0.0.1:0"),
            *("--upstream", server.url, "-o", str(folder)),
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        ready = (await process.stdout.readline()).decode().split()
        reader, writer = await connect(ready[1])
        writer.write(post("/v1/chat/completions"))
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(count)
        await asyncio.sleep(later)  # three times what is promised: machines are busy
        process.send_signal(signal.SIGKILL)
        await process.stdout.read()  # ends when the process that writes has ended, too
        await process.wait()
        writer.close()


def left(folder: Path) -> Cassette:
    (path,) = folder.iterdir()
    return read(path)


@pytest.mark.parametrize("sent", [1, 20])
def test_a_killed_recorder_loses_nothing_that_came_before(sent: int, tmp_path: Path) -> None:
    wire = [chunked(event) for event in EVENTS]
    script = Script([HEAD, *wire[:sent]], "silence")
    asyncio.run(killed_after(len(b"".join(wire[:sent])), script, tmp_path))
    cassette = left(tmp_path)
    assert cassette.torn
    assert cassette.exchanges[0].end == "open"
    assert [chunk.data for chunk in cassette.exchanges[0].chunks] == EVENTS[:sent]


def test_what_a_killed_recorder_leaves_is_the_beginning(tmp_path: Path) -> None:
    wire = [chunked(event) for event in EVENTS]
    script = Script([HEAD, *wire], "silence")
    asyncio.run(killed_after(len(b"".join(wire)), script, tmp_path, later=0))
    for path in tmp_path.iterdir():  # none, where the request came too late
        cassette = read(path)
        assert cassette.torn
        kept = [chunk.data for each in cassette.exchanges for chunk in each.chunks]
        assert kept == EVENTS[: len(kept)]


def test_a_killed_recorder_loses_what_redaction_held_back(tmp_path: Path) -> None:
    secret = "sk" + "-proj-Ab1cAb1cAb1cAb1cAb1c"
    body = b"".join(EVENTS) + f"data: {secret}\n".encode()  # the event does not end
    asyncio.run(
        killed_after(len(chunked(body)), Script([HEAD, chunked(body)], "silence"), tmp_path)
    )
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert left(tmp_path).torn
