"""One key, in every spelling, in every place, by every way out: it leaves by none.

The key has no shape that anybody published: it is known because our side sent it. What looks for
it here decodes by the standard library alone.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, Redactor, write
from conformance.cli.failures import describe_failure
from conformance.cli.terminal import put, warn
from conformance.core import own_keys
from conformance.core.errors import RemoteError
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.pytest_plugin.trace import ConformanceFailure, assert_conforms, trace_of
from conformance.recordings.check import check_paths, check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.recordings.redaction import redact_evidence
from conformance.report.files import render
from conformance.report.redacted import redact_report
from tests.cassette.redaction.test_known_secrets import KEY, SPELLINGS

RULES = Rulebook.load()
Place = Callable[[str], Exchange]
HEAD: Final = '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m"'


def stream(*events: str, more: tuple[tuple[str, str], ...] = (), **fields: Any) -> Exchange:
    """A chat stream that breaks rules: an unknown reason, and the end is missing."""
    last = f'{{{HEAD},"choices":[{{"index":0,"delta":{{}},"finish_reason":"whatever"}}]}}'
    body = "".join(f"data: {event}\n\n" for event in (*events, last))
    exchange = Exchange(
        request=Request("POST", "/v1/chat/completions", headers(), {"stream": True, "model": "m"}),
        response=Response(200, "1.1", (("content-type", "text/event-stream"), *more)),
        chunks=tuple(Chunk(each.encode(), 1.0) for each in re.split(r"(?<=\n\n)", body) if each),
        dialect="openai.chat",
    )
    return replace(exchange, **fields)


def headers() -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {KEY}"), ("content-type", "application/json"))


def delta(inside: str) -> str:
    return f'{{{HEAD},"choices":[{{"index":0,"delta":{{{inside}}},"finish_reason":null}}]}}'


def pieces(spelled: str) -> list[str]:
    """The inside of a JSON string in pieces, cut in no escape."""
    units = re.findall(r"\\u[0-9a-fA-F]{4}|\\.|.", spelled)
    return ["".join(units[at : at + 3]) for at in range(0, len(units), 3)]


def plain(spelled: str) -> str:
    """What stands in a JSON value where the spelling is its own."""
    spoken: str = json.loads(f'"{spelled}"')
    return spoken


def tokens(spelled: str) -> list[str]:
    events = []
    for piece in pieces(spelled):
        values = list(plain(piece).encode())
        token = f'{{"token":"{piece}","logprob":-1,"bytes":{json.dumps(values)},"top_logprobs":[]}}'
        choice = f'{{"index":0,"delta":{{"content":"x"}},"logprobs":{{"content":[{token}]}}}}'
        events.append(f'{{{HEAD},"choices":[{choice}]}}')
    return events


def request(**fields: Any) -> Exchange:
    exchange = stream(delta('"content":"x"'))
    assert exchange.request is not None
    return replace(exchange, request=replace(exchange.request, **fields))


def whole(body: str) -> Exchange:
    kind = (("content-type", "application/json"),)
    response = Response(400, "1.1", kind)
    return stream(chunks=(Chunk(body.encode(), 1.0),), response=response)


PLACES: Final[dict[str, Place]] = {
    "request header": lambda s: request(headers=(*headers(), ("x-note", plain(s)))),
    "request path": lambda s: request(path=f"/v1/chat/completions?token={plain(s)}"),
    "request body": lambda s: request(json={"stream": True, "model": plain(s)}),
    "text": lambda s: stream(delta(f'"content":"say {s}!"')),
    "text over events": lambda s: stream(*(delta(f'"content":"{p}"') for p in pieces(s))),
    "thinking": lambda s: stream(delta(f'"reasoning_content":"{s}"')),
    "thinking over events": lambda s: stream(
        *(delta(f'"reasoning_content":"{p}"') for p in pieces(s))
    ),
    "arguments over events": lambda s: stream(
        *(
            delta(f'"tool_calls":[{{"index":0,"function":{{"arguments":"{p}"}}}}]')
            for p in pieces(s)
        )
    ),
    "tokens and bytes": lambda s: stream(*tokens(s)),
    "id": lambda s: stream(delta('"content":"x"').replace("chatcmpl-1", s)),
    "a word": lambda s: stream(delta('"content":"x"').replace("null", f'"{s}"')),
    "a key": lambda s: stream(delta(f'"{s}":1,"content":"x"')),
    "an event that is no JSON": lambda s: stream(f"{s} {{"),
    "a comment": lambda s: stream(f'[]\n\n: {plain(s)}\n\nevent: {plain(s)}\ndata: "x"'),
    "error in a stream": lambda s: stream(f'{{"error":{{"message":"no {s}","code":"{s}"}}}}'),
    "error as a body": lambda s: whole(f'{{"error":{{"message":"no key {s}","type":"{s}"}}}}'),
    "answer as a body": lambda s: whole(f'{{"id":"{s}","choices":[{{"message":"{s}"}}]}}'),
    "response header": lambda s: stream("[]", more=(("server", plain(s)), ("via", plain(s)))),
    "name of a header": lambda s: stream("[]", more=((plain(s), "1"),)),
    "a client's report": lambda s: stream(
        "[]", seen=({"type": "error", "message": plain(s), "code": plain(s)},)
    ),
    "a line": lambda s: replace(
        whole(f'{{"model":"m","message":{{"content":"{s}"}},"done":"{s}"}}\n'),
        response=Response(200, "1.1", (("content-type", "application/x-ndjson"),)),
        dialect="ollama.chat",
    ),
}


class Way:
    """What leaves the process of one recording."""

    def __init__(self, exchange: Exchange, folder: Path) -> None:
        header = Header(origin="live", profile="strict", target={"name": "x", "version": KEY})
        self.evidence = Cassette(header, (exchange,))
        self.clean = redact_evidence(self.evidence)
        self.path = folder / "a.cassette.jsonl"
        write(self.path, self.clean)
        recording = InMemory(self.path, "cassette", self.evidence)
        results = check_recording(recording, RULES, CheckChoices())
        self.judged = Report(tuple(results), (f"error: {KEY}",), (f"note: {KEY}",))
        self.report = redact_report(self.judged)
        self.folder = folder

    def compressed(self) -> bytes:
        path = self.folder / "a.cassette.jsonl.gz"
        write(path, self.clean)
        return gzip.decompress(path.read_bytes())

    def failure(self) -> str:
        try:
            assert_conforms(trace_of(self.evidence.exchanges[0]))
        except ConformanceFailure as err:
            return str(err)
        return ""

    def snapshot(self) -> str:
        return "\n".join(trace_of(self.evidence.exchanges[0]).sequence)

    def record(self) -> str:
        folder = self.folder / "kept"
        trace = trace_of(self.evidence.exchanges[0], folder=folder)
        trace.judged(RULES)
        return "".join(path.read_text() for path in folder.rglob("*.jsonl"))

    def lines(self) -> str:
        exchange = self.evidence.exchanges[0]
        redactor = Redactor(opaque=False)
        if exchange.request:
            redactor.learn_request(exchange.request)
        trace = trace_of(exchange)
        return redactor.text(f"it said {trace.text!r}, it thought {trace.thinking!r}")


def rendered(name: str, way: Way) -> str:
    return render(way.report, name)


FORMATS: Final = ("text", "json", "junit", "sarif", "github", "markdown", "html", "badge")
WAYS: Final[dict[str, Callable[[Way], str | bytes]]] = {
    "cassette": lambda way: way.path.read_bytes(),
    "compressed cassette": Way.compressed,
    "pytest failure": Way.failure,
    "pytest snapshot": Way.snapshot,
    "pytest recording": Way.record,
    "line": Way.lines,
    "text in full": lambda way: render(way.report, "text", verbose=True, colour=True),
    **{name: partial(rendered, name) for name in FORMATS},
}


def unescape(text: str) -> str:
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
    return re.sub(r"\\+([^A-Za-z0-9\s])", r"\1", text)


def readings(text: str) -> Iterator[str]:
    """The text as whoever reads it may decode it, up to three times."""
    seen = {text}
    for _ in range(3):
        seen |= {
            decoded for one in seen for decoded in (html.unescape(one), unquote(one), unescape(one))
        }
    yield from seen
    lists = re.findall(r"\[\s*((?:\d{1,3}\s*,\s*)+\d{1,3})\s*\]", text)
    yield from ("".join(chr(int(n)) for n in one.split(",")) for one in lists)
    values = re.findall(r'"bytes":\s*\[([\d,\s]*)\]', text.replace('\\"', '"'))
    yield "".join(chr(int(n)) for one in values for n in one.split(",") if n.strip())
    for name in ("content", "reasoning_content", "arguments", "token"):
        strings = re.findall(rf'"{name}":"((?:[^"\\]|\\.)*)"', text.replace('\\"', '"'))
        joined = unescape("".join(strings))
        yield from (joined, html.unescape(joined), unquote(unquote(joined)))


CODED: Final = tuple(
    SPELLINGS[name][4:-4].lower()
    for name in SPELLINGS
    if name.startswith(("base64", "hexadecimal")) and "entities" not in name
)
TELLING: Final = (KEY[2:], *CODED)


def leaks(data: str | bytes) -> bool:
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    return any(
        part in one or part in one.lower() for one in set(readings(text)) for part in TELLING
    )


def table() -> Iterator[tuple[str, str]]:
    for at, place in enumerate(PLACES):
        for number, name in enumerate(SPELLINGS):
            if (at + number) % 9 == 0:
                yield place, name


def test_the_table_is_large() -> None:
    assert (len(SPELLINGS), len(PLACES), len(WAYS)) >= (20, 15, 12)
    assert len(PLACES) >= 15
    assert len(WAYS) >= 12
    for name, spelled in SPELLINGS.items():
        assert leaks(spelled), name


def plant(place: str, spelling: str, folder: Path) -> list[str]:
    """The ways out by which the key left."""
    exchange = PLACES[place](SPELLINGS[spelling])
    way = Way(exchange, folder)
    return [name for name, leave in WAYS.items() if leaks(leave(way))]


def planted(cases: Iterator[tuple[str, str]], folder: Path) -> list[tuple[str, str, str]]:
    found = []
    for number, (place, spelling) in enumerate(cases):
        inside = folder / str(number)
        inside.mkdir()
        found += [(place, spelling, way) for way in plant(place, spelling, inside)]
    return found


@pytest.fixture
def given_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(own_keys.KEYS, KEY, None)


@pytest.mark.slow
@pytest.mark.usefixtures("given_key")
def test_a_planted_key_leaves_by_no_way(tmp_path: Path) -> None:
    assert planted(table(), tmp_path) == []


@pytest.mark.long
@pytest.mark.usefixtures("given_key")
def test_a_planted_key_leaves_from_no_place_by_no_way(tmp_path: Path) -> None:
    assert planted(((place, name) for place in PLACES for name in SPELLINGS), tmp_path) == []


@pytest.mark.usefixtures("given_key")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_line_of_program_holds_key(spelling: str, capsys: pytest.CaptureFixture[str]) -> None:
    spoken = plain(SPELLINGS[spelling])
    put(f"result: {spoken}")
    warn(f"note: {SPELLINGS[spelling]}")
    warn(describe_failure(RemoteError(f"the server said {spoken}")))
    warn(describe_failure(ValueError(spoken)))
    out = capsys.readouterr()
    assert not leaks(out.out)
    assert not leaks(out.err)


def reported_of_file(place: str, spelling: str, folder: Path) -> list[str]:
    """The formats that show a key which only the recording itself tells: its request sent it."""
    exchange = PLACES[place](SPELLINGS[spelling])
    path = folder / "raw.cassette.jsonl"
    write(path, Cassette(Header(origin="live", profile="strict"), (exchange,)))
    report = redact_report(check_paths([path]))
    return [name for name in FORMATS if leaks(render(report, name))]


def test_no_report_of_a_raw_recording_shows_what_its_request_sent(tmp_path: Path) -> None:
    # A key that is the model's name, too, is none.
    names = ("plain", "percent", "base64")
    cases = [each for each in table() if each[1] in names and each[0] != "request body"]
    found = [(*each, reported_of_file(*each, tmp_path)) for each in cases]
    assert [each for each in found if each[2]] == []
