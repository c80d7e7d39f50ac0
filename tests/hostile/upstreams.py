"""Hostile servers behind `record` and `watch`: of the catalogue of servers, and some more.

What passes is not bounded by a proxy, the client takes what it likes. So a flood is met by a client
that leaves, and what is bounded is what it costs.
"""

from __future__ import annotations

import zlib
from typing import Final

from tests.fakes.hostile import CHUNK, Behaviour, Writer, bomb, built, chunked, head, whole
from tests.hostile.answers import GOOD, coded, error, flooding, framed, zipped
from tests.hostile.servers import CHUNKED, FLOODS, HEADS, LENGTHS, REDIRECTS, SILENT

_GZIP: Final = head(content_encoding="gzip", transfer_encoding="chunked")
_TRAILERS: Final = b"".join(b"t%d: %s\r\n" % (n, b"v" * 90) for n in range(600))


def one_after_the_other(first: Behaviour, then: Behaviour) -> Behaviour:
    """The first client gets one answer, those after it another."""
    answers = iter([first])

    async def behave(writer: Writer) -> None:
        await next(answers, then)(writer)

    return behave


def cut_tls(data: bytes) -> Behaviour:
    """Sends this and closes the connection beneath TLS, which is told nothing of it."""

    async def behave(writer: Writer) -> None:
        writer.write(data)
        await writer.drain()
        beneath = writer.transport.get_extra_info("socket")
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # the stubs know no TLS
        beneath.shutdown(1)

    return behave


def zipped_chunks(size: int, level: int) -> Behaviour:
    """A bomb in many chunks, each of which grows by as much."""
    packer = zlib.compressobj(level, wbits=31)
    pieces = [
        packer.compress(b":" * (size // 64)) + packer.flush(zlib.Z_SYNC_FLUSH) for _ in range(64)
    ]
    return whole(_GZIP + b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in pieces))


MORE: Final[dict[str, Behaviour]] = {
    "a redirect to itself that never ends": whole(
        head("308 Again", location="/v1/chat/completions", content_length="0")
    ),
    "a redirect with a flood": flooding(b"x" * 999, head("307 Again", location="/")),
    "interim responses, one of them 60 kB": whole(
        b"HTTP/1.1 103 E\r\nlink: " + b"x" * 60_000 + b"\r\n\r\n" + chunked(GOOD)
    ),
    "interim responses without end": flooding(b"HTTP/1.1 102 P\r\n\r\n", b"HTTP/1.1 100 C\r\n\r\n"),
    "trailers of 60 kB": coded(b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(GOOD), GOOD, _TRAILERS)),
    "trailers that are events": coded(b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(GOOD), GOOD, CHUNK)),
    "a bomb": built(lambda: whole(bomb(90_000_000))),
    "a bomb in a bomb": built(
        lambda: whole(head(content_encoding="gzip, gzip") + zipped(zipped(b":" * 90_000_000)))
    ),
    "a bomb in chunks": built(lambda: zipped_chunks(90_000_000, 9)),
    "a flood of gzip": flooding(zipped(b":" * 90), _GZIP),
    "gzip whose end is cut": whole(head(content_encoding="gzip") + zipped(GOOD, keep=0.7)),
    "gzip that is none": whole(head(content_encoding="gzip") + GOOD),
    "a coding that nobody knows": whole(head(content_encoding="rot13") + GOOD),
    "a coding named 500 times": framed("content-encoding: " + ", ".join(["gzip"] * 500)),
    "an answer before the question": whole(chunked(GOOD) * 3),
    "a status of an error with a flood": flooding(b"x" * 999, head("500 No")),
    "an error with a cookie": error("401 No", set_cookie="a=</think>"),
}
BEHIND_A_PROXY: Final[dict[str, dict[str, Behaviour]]] = {
    "silence": {
        each.name: each.behave
        for each in SILENT
        if each.name in ("a close", "a reset", "a reset inside an event", "a close inside the head")
    },
    "floods": {each.name: each.behave for each in FLOODS},
    "lengths": {each.name: each.behave for each in LENGTHS},
    "chunks": {each.name: each.behave for each in CHUNKED},
    "heads": {each.name: each.behave for each in HEADS},
    "redirects": {each.name: each.behave for each in REDIRECTS},
    "more": MORE,
}
ASKED: Final[dict[str, Behaviour]] = {
    **{each.name: each.behave for each in (*LENGTHS, *CHUNKED, *HEADS[:12], *REDIRECTS[:3])},
    **{
        each.name: each.behave
        for each in FLOODS
        if each.name in ("comments", "one line", "interim responses", "headers", "trailers")
    },
    **MORE,
}
