"""What comes is taken in the turn in which it comes; what is not wanted waits."""

from __future__ import annotations

import asyncio

import pytest

from conformance.wire.passing_reader import PassingReader, TakeBytes


def taken_of(pieces: list[bytes], wanted: int) -> tuple[list[bytes], bytes]:
    """What is taken of bytes of which the first came early, and what waits to be read."""
    taken: list[bytes] = []

    def take(data: bytes) -> bool:
        taken.append(data)
        return len(taken) < wanted

    async def go() -> bytes:
        reader = PassingReader()
        reader.feed_data(pieces[0])
        passing = asyncio.create_task(reader.pass_on(take))
        await asyncio.sleep(0)
        for piece in pieces[1:]:
            reader.feed_data(piece)
        reader.feed_eof()
        await passing
        return await reader.read()

    return taken, asyncio.run(go())


@pytest.mark.parametrize(
    ("wanted", "taken", "waits"),
    [
        (1, [b"early"], b"onetwo"),
        (2, [b"early", b"one"], b"two"),
        (3, [b"early", b"one", b"two"], b""),
        (9, [b"early", b"one", b"two"], b""),
    ],
)
def test_what_is_not_wanted_yet_waits(wanted: int, taken: list[bytes], waits: bytes) -> None:
    assert taken_of([b"early", b"one", b"two"], wanted) == (taken, waits)


async def test_bytes_are_taken_before_any_task_wakes() -> None:
    reader, taken = PassingReader(), list[bytes]()

    def take(data: bytes) -> bool:
        taken.append(data)
        return True

    passing = asyncio.create_task(reader.pass_on(take))
    await asyncio.sleep(0)
    reader.feed_data(b"one")
    at_once = list(taken)
    reader.feed_eof()
    await passing
    assert at_once == [b"one"]


def refuse(_: bytes) -> bool:
    raise ValueError("taken wrongly")


@pytest.mark.parametrize(
    ("take", "error"), [(refuse, ValueError), (lambda _: True, ConnectionResetError)]
)
def test_failure_is_raised_to_who_waits(take: TakeBytes, error: type[Exception]) -> None:
    async def go() -> None:
        reader = PassingReader()
        passing = asyncio.create_task(reader.pass_on(take))
        await asyncio.sleep(0)
        reader.feed_data(b"one")
        reader.set_exception(ConnectionResetError())
        await passing

    with pytest.raises(error):
        asyncio.run(go())


async def test_an_end_that_came_before_is_one() -> None:
    reader = PassingReader()
    reader.feed_eof()
    await reader.pass_on(refuse)
    assert reader.at_eof()
