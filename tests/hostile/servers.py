"""The catalogue of hostile servers: what each does, and what a run says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.fakes.hostile import (
    CHUNK,
    Behaviour,
    bomb,
    built,
    chunked,
    dripping,
    head,
    then_reset,
    then_silent,
    whole,
)
from tests.hostile.answers import (
    ESCAPES,
    GOOD,
    JSON,
    body,
    choice,
    coded,
    error,
    event,
    fields,
    flooding,
    framed,
    models,
    numbered,
    one_choice,
    streamed,
    zipped,
)
from tests.hostile.limited import START_MB, START_S

FINDINGS: Final = 1
USAGE: Final = 2
REMOTE: Final = 3
BEYOND_A_CAP: Final = 4  # rules end with ERROR where a stream opens more than is followed
QUICK: Final = ("--timeout", "6", "--idle-timeout", "1")
QUESTION: Final = str(Path(__file__).with_name("question.json"))  # asks for a stream
CHAT: Final = ("--api", "chat", "--request", QUESTION, "--profile", "strict")


@dataclass(frozen=True, slots=True)
class HostileServer:
    """One way to misbehave. `seconds` of processor time and `megabytes` bound a whole run."""

    name: str
    behave: Behaviour
    code: int
    said: str = ""
    seconds: int = START_S
    megabytes: int = START_MB
    more: tuple[str, ...] = (*CHAT, "--model", "m", *QUICK)
    sampled: bool = False  # part of `make test`, too


def flood(
    name: str,
    behave: Behaviour,
    words: str = "it had not ended after",
    *,
    code: int = FINDINGS,
    seconds: int = 30,
    megabytes: int = 300,
    sampled: bool = False,
) -> HostileServer:
    """At the default limits, which are what a flood meets."""
    return HostileServer(
        name, behave, code, words, seconds, megabytes, (*CHAT, "--model", "m"), sampled
    )


SILENT: Final = (
    HostileServer("silence", then_silent(b""), REMOTE, "no response head within", sampled=True),
    HostileServer("silence in the status line", then_silent(b"HTTP/1.1 20"), REMOTE, "no response"),
    HostileServer("silence in the head", then_silent(head()[:-4]), REMOTE, "no response head"),
    HostileServer("silence after the head", then_silent(head()), FINDINGS, "nothing came for 1 s"),
    HostileServer("silence inside an event", then_silent(head() + CHUNK[:40]), FINDINGS, "nothing"),
    HostileServer("silence after the end", then_silent(head() + GOOD), FINDINGS, "ends-cleanly"),
    HostileServer(
        "a head byte by byte",
        dripping(head().replace(b": ", b": " + b" " * 900, 1)),
        REMOTE,
        "no response head",
    ),
    HostileServer("a body byte by byte", dripping(b":" * 999, head()), FINDINGS, "after 6 s"),
    HostileServer("a close", whole(b""), REMOTE, "disconnected"),
    HostileServer("a close inside the head", whole(head()[:30]), REMOTE, ""),
    HostileServer("a reset", then_reset(b""), REMOTE, "reset"),
    HostileServer("a reset inside an event", then_reset(head() + CHUNK[:50]), FINDINGS, "reset"),
)
FLOODS: Final = (
    flood("comments", flooding(b":\n"), "after 1,000,000 lines", sampled=True),
    flood("comments and blank lines", flooding(b":\n\n"), "after 1,000,000 lines"),
    flood("comments that end in CR", flooding(b":\r"), "after 1,000,000 lines"),
    flood("events without data", flooding(b"data:\n\n"), "after 1,000,000 lines"),
    flood("events of one byte", flooding(b"data: 1\n\n"), "after 1,000,000 lines"),
    flood("unknown events", flooding(b'data: {"type":"x"}\n\n'), "after 1,000,000 lines"),
    flood("unknown fields", flooding(b"x\n"), "after 1,000,000 lines"),
    flood("ids", flooding(b"id: x\n\n"), "after 1,000,000 lines"),
    flood("times to reconnect", flooding(b"retry: 1\n"), "after 1,000,000 lines"),
    flood("blank lines", flooding(b"\n"), "after 1,000,000 lines"),
    flood("names of events", numbered(b"event: e%d\ndata: {}\n\n"), "after 1,000,000 lines"),
    flood("control characters", flooding(b"data: " + b"\x01" * 999 + b"\n\n")),
    flood("bytes that are no UTF-8", flooding(b"data: " + b"\xffa" * 9 + b"\n")),
    flood("one line", flooding(b"x" * 999, head() + b"data: "), megabytes=600),
    flood("deltas", flooding(CHUNK), "67108864 bytes", seconds=120, megabytes=500),
    flood(
        "choices",
        numbered(CHUNK.replace(b'"index":0', b'"index":%d')),
        "67108864 bytes",
        code=BEYOND_A_CAP,
        seconds=240,
        megabytes=600,
    ),
    flood("lines of JSON", flooding(b"{}\n", head(kind="application/x-ndjson"))),
    flood("an array", flooding(b"[", head(kind=JSON)), megabytes=600),
    flood("digits", flooding(b"1", head(kind=JSON)), megabytes=600),
    flood("chunks of one byte", flooding(b"1\r\n:\r\n", head(transfer_encoding="chunked"))),
    flood(
        "interim responses",
        flooding(b"HTTP/1.1 103 Early Hints\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
        "no response head in 1,048,576 bytes",
        code=REMOTE,
        sampled=True,
    ),
    flood("headers", flooding(b"x: y\r\n", b"HTTP/1.1 200 OK\r\n"), "", code=REMOTE),
    flood("one header", flooding(b"y", b"HTTP/1.1 200 OK\r\nx: "), "", code=REMOTE),
    flood("a reason", flooding(b"y", b"HTTP/1.1 200 "), "", code=REMOTE),
    flood("trailers", flooding(b"x: y\r\n", head(transfer_encoding="chunked") + b"0\r\n"), ""),
    flood(
        "an extension of a chunk", flooding(b"y", head(transfer_encoding="chunked") + b"1;x="), ""
    ),
    flood("digits of a chunk's size", flooding(b"1", head(transfer_encoding="chunked")), ""),
)
LENGTHS: Final = (
    HostileServer("a length too long", framed("content-length: 99999"), FINDINGS, "protocol-error"),
    HostileServer("a length too short", framed("content-length: 50"), FINDINGS, ""),
    HostileServer("a length of nothing", framed("content-length: 0"), FINDINGS, ""),
    HostileServer("a negative length", framed("content-length: -1"), REMOTE, "bad Content-Length"),
    HostileServer("a length of 6,000 digits", framed("content-length: " + "9" * 6000), REMOTE, ""),
    HostileServer("a length of a quintillion", framed(f"content-length: {10**18}"), FINDINGS, ""),
    HostileServer("a length with a sign", framed("content-length: +9"), REMOTE, "Content-Length"),
    HostileServer("a hexadecimal length", framed("content-length: 0x99"), REMOTE, "Content-Length"),
    HostileServer(
        "two lengths", framed("content-length: 5", "content-length: 6"), REMOTE, "Content-Length"
    ),
    HostileServer("two lengths in one", framed("content-length: 5, 6"), REMOTE, "Content-Length"),
    HostileServer(
        "a length and chunks",
        whole(fields("content-length: 3", "transfer-encoding: chunked") + b"zz\r\n"),
        FINDINGS,
    ),
)
CHUNKED: Final = (
    HostileServer("a chunk without a size", coded(b"\r\n" + GOOD), FINDINGS),
    HostileServer("a size that is no number", coded(b"zz\r\n" + GOOD), FINDINGS),
    HostileServer("a negative size", coded(b"-5\r\n" + GOOD), FINDINGS),
    HostileServer("a size of 30 digits", coded(b"f" * 30 + b"\r\n" + GOOD), FINDINGS),
    HostileServer("a chunk longer than its size", coded(b"5\r\n" + GOOD), FINDINGS),
    HostileServer("a chunk shorter than its size", coded(b"fffff\r\n" + GOOD), FINDINGS),
    HostileServer("no last chunk", whole(chunked(GOOD, ended=False)), FINDINGS, "incomplete"),
    # What follows the end of a response may be thrown away (RFC 9112, section 6.3).
    HostileServer("a last chunk and more", coded(chunked(GOOD)[99:] + GOOD), 0),
    HostileServer(
        "trailers that are headers",
        coded(b"%x\r\n%s\r\n0\r\ncontent-length: 9\r\nhost: x\r\n\r\n" % (len(GOOD), GOOD)),
        0,
    ),
    HostileServer(
        "an unknown transfer coding", framed("transfer-encoding: gzip, chunked"), REMOTE, ""
    ),
    HostileServer("chunked twice", framed("transfer-encoding: chunked, chunked"), REMOTE, ""),
)
HEADS: Final = (
    HostileServer("HTTP/0.9", whole(GOOD), REMOTE),
    HostileServer("HTTP/2.0", whole(b"HTTP/2.0 200 OK\r\n\r\n" + GOOD), FINDINGS),
    HostileServer("HTTP/9.9", whole(b"HTTP/9.9 200 OK\r\n\r\n" + GOOD), FINDINGS),
    HostileServer("another protocol", whole(b"SSH-2.0-OpenSSH_9.6\r\n"), REMOTE),
    HostileServer("zeros", whole(b"\0" * 5000), REMOTE),
    HostileServer("status 99", whole(b"HTTP/1.1 99 Low\r\n\r\n"), REMOTE),
    HostileServer("status 1000", whole(b"HTTP/1.1 1000 High\r\n\r\n"), REMOTE),
    HostileServer("status 999", whole(b"HTTP/1.1 999 High\r\n\r\n"), FINDINGS, "HTTP 999"),
    HostileServer("status 204 with a body", whole(fields(status="204 No") + GOOD), FINDINGS),
    HostileServer("status 304", whole(fields(status="304 Not Modified")), FINDINGS),
    HostileServer("another protocol from here", whole(fields(status="101 Switch") + GOOD), REMOTE),
    HostileServer(
        "three interim responses", whole(b"HTTP/1.1 103 E\r\n\r\n" * 3 + chunked(GOOD)), 0
    ),
    HostileServer("a header without a colon", framed("nothing"), REMOTE),
    HostileServer("a space before the colon", framed("x : y"), REMOTE),
    HostileServer("a header with NUL", framed("x: a\0b"), REMOTE),
    HostileServer("a header with an escape", framed("x: \x1b[2J"), 0),
    HostileServer("a header over two lines", framed("x: a", " b"), 0),
    HostileServer("headers of 90 kB", framed(*["x: y"] * 15_000), 0),
    HostileServer("3,000 cookies", framed(*(f"set-cookie: a{n}=bcdefgh" for n in range(3000))), 0),
    HostileServer("a cookie of tags", framed("set-cookie: a=</think>"), 0),
    HostileServer("a cookie of keys", framed("set-cookie: finish_reason=content"), 0),
    HostileServer(
        "a content type with an escape", whole(fields("content-type: \x1b[2J")), FINDINGS
    ),
    HostileServer("two content types", framed(f"content-type: {JSON}"), FINDINGS),
)
REDIRECTS: Final = tuple(
    HostileServer(
        f"a redirect to {name}", whole(fields(f"location: {to}", status=status)), code, said
    )
    for name, to, status, code, said in (
        ("itself", "/v1/chat/completions", "307 Again", REMOTE, "more than 3 redirects"),
        ("another host", "http://other.invalid/", "307 Away", FINDINGS, "redirect"),
        ("another port", "http://127.0.0.1:1/", "308 Away", FINDINGS, "redirect"),
        ("a file", "file:///etc/passwd", "307 Away", FINDINGS, "redirect"),
        ("a script", "javascript:alert(1)", "308 Away", FINDINGS, "redirect"),
        ("a password", "http://a:b@127.0.0.1/", "307 Away", FINDINGS, "redirect"),
        ("no URL", "http://[::1", "307 Away", FINDINGS, "redirect"),
        ("a port of 99999", "http://127.0.0.1:99999/", "307 Away", FINDINGS, "redirect"),
        ("50,000 letters", "/" + "a" * 50_000, "307 Again", REMOTE, "more than 3 redirects"),
        ("nowhere", "", "307 Away", FINDINGS, "redirect"),
        ("a page", "/page", "302 Found", FINDINGS, "redirect"),
    )
)
WAITS: Final = tuple(
    HostileServer(f"retry-after {value}", error("429 Slow", retry_after=value), REMOTE, said)
    for value, said in (
        ("1e9", "after 4 requests"),  # no number of seconds: as if it were not there
        ("1000000000", "after 1 requests"),
        ("-5", "after 4 requests"),
        ("nan", "after 4 requests"),
        ("9" * 6000, "after 1 requests"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", "after 1 requests"),
        ("Fri, 31 Dec 99999 23:59:59 GMT", "after 4 requests"),
    )
)
CONTENTS: Final = (
    HostileServer("a web page", whole(head(kind="text/html") + b"<h1>no</h1>"), FINDINGS),
    HostileServer("no content type", whole(b"HTTP/1.1 200 OK\r\n\r\n" + GOOD), FINDINGS),
    HostileServer("no body", whole(head()), FINDINGS),
    HostileServer(
        "a gzip bomb", built(lambda: whole(bomb(200_000_000))), FINDINGS, "had not ended", 30, 600
    ),
    HostileServer(
        "a bomb of blank lines",
        built(lambda: whole(head(content_encoding="gzip") + zipped(b"\n" * 99_000_000))),
        FINDINGS,
        "lines",
        30,
        400,
    ),
    HostileServer("torn gzip", whole(head(content_encoding="gzip") + zipped(GOOD, keep=0.5)), 1),
    HostileServer("no gzip", whole(head(content_encoding="gzip") + GOOD), FINDINGS, "no gzip"),
    HostileServer("no deflate", whole(head(content_encoding="deflate") + GOOD), FINDINGS),
    HostileServer("an unknown coding", whole(head(content_encoding="sdch") + GOOD), FINDINGS),
    HostileServer(
        "UTF-16",
        whole(head(kind="text/event-stream; charset=utf-16") + GOOD.decode().encode("utf-16")),
        FINDINGS,
    ),
    # Event streams are UTF-8, whatever is said; the parameter "serves no purpose" (HTML).
    HostileServer("an unknown charset", whole(head(kind="text/event-stream; charset=x") + GOOD), 0),
    HostileServer("NUL bytes", whole(chunked(b"\0" * 99, GOOD)), 0, "wire/sse/fields-known"),
    HostileServer("half a character", streamed(choice("x").replace(b'"x"', b'"\xc3"')), FINDINGS),
    HostileServer("half a surrogate pair", streamed(choice("x").replace(b'"x"', b'"\\ud800"')), 1),
    HostileServer("ids with escapes", streamed(choice("x", id=ESCAPES)), FINDINGS, sampled=True),
    HostileServer("a model with escapes", streamed(choice("x", model=ESCAPES)), FINDINGS),
    HostileServer("text with escapes", streamed(choice(ESCAPES)), FINDINGS),
    HostileServer("an event with escapes", streamed(b"event: \x1b[2J\n" + choice("x")), FINDINGS),
    HostileServer("an error with escapes", error("400 No", ESCAPES), FINDINGS),
    HostileServer("an error of a megabyte", error("500 No", "a" * 1_000_000), FINDINGS),
    HostileServer("401", error("401 No", ESCAPES), REMOTE, "--api-key-env"),
    HostileServer("404", error("404 No"), REMOTE, "no such API"),
    HostileServer("418", error("418 Teapot"), FINDINGS, "HTTP 418"),
    HostileServer("500", error("500 No"), FINDINGS, "HTTP 500"),
    HostileServer("deep JSON", streamed(b"data: " + b"[" * 100_000 + b"]" * 100_000 + b"\n\n"), 1),
    HostileServer("deep objects", streamed(b"data: " + b'{"a":' * 90_000 + b"\n\n"), FINDINGS),
    HostileServer("a deep body", body(b"[" * 900_000 + b"]" * 900_000), FINDINGS),
    HostileServer("a number of 90,000 digits", streamed(b"data: " + b"9" * 90_000 + b"\n\n"), 1),
    HostileServer(
        "numbers beyond all", streamed(choice("x", created=1).replace(b"1", b"1e999")), 1
    ),
    HostileServer(
        "a choice beyond all",
        streamed(choice("x").replace(b'"index": 0', b'"index": 1' + b"0" * 999)),
        1,
    ),
    HostileServer(
        "100,000 keys",
        built(lambda: streamed(event({f"k{n}": n for n in range(100_000)}))),
        FINDINGS,
    ),
    HostileServer(
        "a key 50,000 times", streamed(b"data: {" + b'"id":1,' * 50_000 + b'"id":2}\n\n'), 1
    ),
    HostileServer(
        "100,000 choices",
        built(lambda: streamed(choice("x", choices=[one_choice("x", n) for n in range(100_000)]))),
        BEYOND_A_CAP,
        "",
        60,
        600,
    ),
    HostileServer(
        "keys of the wrong kind",
        streamed(event({"id": [], "object": {}, "choices": {"0": 1}, "usage": "x", "model": None})),
        FINDINGS,
    ),
    HostileServer(
        "usage beyond all",
        streamed(
            choice(
                "x", usage={"prompt_tokens": -1, "completion_tokens": 10**300, "total_tokens": "x"}
            )
        ),
        FINDINGS,
    ),
    HostileServer(
        "a tool call without end",
        streamed(
            choice("x").replace(
                b'"content": "x"',
                b'"tool_calls": [{"index": -1, "id": 7, "function": {"arguments": {"a": 1}}}]',
            )
        ),
        FINDINGS,
    ),
)
_ANY_MODEL: Final = (*CHAT, *QUICK)


def listing(
    name: str, make: Callable[[], bytes], words: str, code: int = USAGE, **more: str
) -> HostileServer:
    """A server that is asked which models it has."""
    answer = built(lambda: body(make(), **more))
    return HostileServer(f"models: {name}", answer, code, words, 20, 300, _ANY_MODEL)


LISTINGS: Final = (
    listing("100,000", lambda: models(100_000), "lists 100,000 models: m0, m1, m2, m3, m4, ..."),
    listing(
        "100,000 on many lines", lambda: models(100_000, indent=2), "lists 100,000 models: m0, m1"
    ),
    listing("none", lambda: models(0), "lists no model"),
    listing("escapes", lambda: models(2, ESCAPES + "%d"), "lists "),
    listing("one with escapes", lambda: models(1, ESCAPES), "", FINDINGS),
    listing("a megabyte of a name", lambda: models(2, "a" * 1_000_000 + "%d"), "xxxx, xxxx"),
    listing("no list", lambda: b'{"data": {"id": "m"}}', "lists no model"),
    listing("no names", lambda: b'{"data": [1, null, {"id": 5}, {"id": [1]}]}', "lists no model"),
    listing("no JSON", lambda: b"<h1>no</h1>", "lists no model"),
    listing("deep", lambda: b"[" * 900_000, "lists no model"),
    listing(
        "a bomb",
        lambda: zipped(b" " * 200_000_000),
        "after 67108864 bytes",
        REMOTE,
        content_encoding="gzip",
    ),
    listing("cut", lambda: models(100_000)[:-9], "lists no model"),
    listing("torn", lambda: models(9), "broke off its list", REMOTE, content_length="9999"),
    HostileServer(
        "models: a flood",
        flooding(b'{"id":"m"},', head(kind=JSON) + b'{"data":['),
        REMOTE,
        "after 67108864 bytes",
        30,
        600,
        _ANY_MODEL,
    ),
    HostileServer(
        "models: silence", then_silent(head(kind=JSON)), REMOTE, "after 6 s", more=_ANY_MODEL
    ),
)
SERVERS: Final = (
    *SILENT,
    *FLOODS,
    *LENGTHS,
    *CHUNKED,
    *HEADS,
    *REDIRECTS,
    *WAITS,
    *CONTENTS,
    *LISTINGS,
)
