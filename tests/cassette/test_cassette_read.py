"""Reading cassettes: what a good file gives, and one clear line for each bad one."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.cassette import CassetteClock, exchanges, locate, read
from conformance.cassette.source import MAX_LINE
from conformance.core.errors import CassetteError, UsageError
from conformance.core.events import Chunk
from tests.growth import grows_linearly

HEADER = b'{"cassette":"1.0"}\n'
REQUEST = b'{"request":{"path":"/v1/responses"}}\n'
RESPONSE = b'{"response":{"status":200}}\n'
OPENED = HEADER + REQUEST + RESPONSE
END = b'{"end":"eof"}\n'
EMPTY_SHA = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

EXAMPLE = b"""\
{"cassette":"1.3","origin":"live","fidelity":"text","dialect":"openai.responses","profile":"ogx",\
"recorder":{"name":"x"},"target":{"name":"ogx","version":"1.5.0"},"model":{"id":"m"},\
"licence":"MIT","expect":{"wire/a/b":"FAIL"},"redactions":[{"rule":"header","count":2}],"new":7}
{"request":{"method":"POST","path":"/v1/responses","headers":[["a","b"]],"json":{"n":[1,2.5]}},\
"exchange":1,"scenario":"think","role":"plain"}
{"response":{"status":200,"http":"1.1","headers":[["content-type","text/event-stream"]]},"ms":412.0}
{"ms":0.31,"text":"event: response.created\\ndata: {}\\n\\n"}
{"text":"event: respon"}
{"novelty":true}
{"ms":52.21,"text":"se.in_progress\\n"}
{"ms":0.87,"hex":"c3"}
{"end":"eof","ms":0.19}
{"seen":[{"type":"thinking.start","ms":12.0}],"exchange":1}
"""


def written(folder: Path, data: bytes, name: str = "a.cassette.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_every_part_of_the_format_is_read(tmp_path: Path) -> None:
    cassette = read(written(tmp_path, EXAMPLE))
    header, [exchange] = cassette.header, cassette.exchanges
    assert (header.version, header.origin, header.fidelity) == ("1.3", "live", "text")
    assert (header.profile, header.licence) == ("ogx", "MIT")
    assert (header.target["version"], header.model) == ("1.5.0", {"id": "m"})
    assert (header.expect, header.extra) == ({"wire/a/b": "FAIL"}, {"new": 7})
    assert [(r.rule, r.count) for r in header.redactions] == [("header", 2)]
    assert exchange.request is not None
    assert exchange.request.json == {"n": [1, 2.5]}
    assert exchange.request.headers == (("a", "b"),)
    assert exchange.response is not None
    assert exchange.response.header("Content-Type") == "text/event-stream"
    assert (exchange.scenario, exchange.role, exchange.dialect) == (
        "think",
        "plain",
        "openai.responses",
    )
    assert exchange.chunks == (
        Chunk(b"event: response.created\ndata: {}\n\nevent: respon", 0.31),
        Chunk(b"se.in_progress\n", 52.21),
        Chunk(b"\xc3", 0.87),
    )
    assert exchange.end == "eof"
    assert exchange.seen == ({"type": "thinking.start", "ms": 12.0},)
    assert cassette.clocks == {1: CassetteClock(412.0, 0.19)}
    assert not cassette.torn
    assert cassette.notes == ("1 lines of kinds unknown to this version were skipped",)


def test_iterating_gives_the_same_as_reading(tmp_path: Path) -> None:
    path = written(tmp_path, EXAMPLE)
    assert tuple(exchanges(path)) == read(path).exchanges


def test_interleaved_exchanges_are_distinguished(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        HEADER
        + b'{"request":{},"exchange":4,"hop":"downstream","dialect":"openai.chat"}\n'
        + b'{"request":{},"exchange":7,"hop":"upstream","after":4}\n'
        + b'{"response":{"status":201}}\n{"response":{"status":202},"exchange":4}\n'
        + b'{"text":"b"}\n{"text":"a","exchange":4}\n{"ms":1,"text":"B"}\n{"end":"reset"}\n'
        + b'{"text":"a","exchange":4}\n{"end":"eof","exchange":4}\n'
        + b'{"seen":[],"exchange":4}\n',
    )
    first, second = read(path).exchanges
    assert (first.number, first.chunks, first.end) == (4, (Chunk(b"aa"),), "eof")
    assert (first.hop, first.dialect, first.seen) == ("downstream", "openai.chat", ())
    assert (second.number, second.after, second.hop) == (7, 4, "upstream")
    assert second.chunks == (Chunk(b"b"), Chunk(b"B", 1.0))
    assert second.end == "reset"


def test_null_stands_for_what_was_not_recorded(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + b'{"request":null}\n{"response":null}\n{"ms":null,"text":""}')
    [exchange] = read(path).exchanges
    assert exchange.request is None
    assert exchange.response is None
    assert exchange.chunks == (Chunk(b""),)


def is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_a_file_cut_anywhere_is_readable_up_to_the_cut(tmp_path: Path) -> None:
    whole = b"".join(chunk.data for chunk in read(written(tmp_path, EXAMPLE)).exchanges[0].chunks)
    ended_at = EXAMPLE.index(b',"ms":0.19}') + len(b',"ms":0.19}')
    for cut in range(EXAMPLE.index(b"\n"), len(EXAMPLE)):
        cassette = read(written(tmp_path, EXAMPLE[:cut]))
        tail = EXAMPLE[:cut].rsplit(b"\n", 1)[-1]
        ended = cut >= ended_at
        inside_line = bool(tail) and not is_json(tail)
        assert cassette.torn == (inside_line or (bool(cassette.exchanges) and not ended))
        for exchange in cassette.exchanges:
            assert exchange.end == ("eof" if ended else "open")
            assert whole.startswith(exchange.body)


BAD = {
    "empty": (b"", "1: expected a cassette header, got an empty file"),
    "blank": (b"  \n", "1: expected a cassette header"),
    "no header": (b'{"request":{}}\n', "1: expected a cassette header, got another object"),
    "cut header": (b'{"casset', "1:9: broken JSON"),
    "not an object": (b"[1]\n", "1: expected `object`, got `array`"),
    "newer major": (b'{"cassette":"2.0"}\n', "format 2.0; this version reads format 1"),
    "no version": (b'{"cassette":1}\n', "1: expected a format version such as '1.0', got 1"),
    "header types": (b'{"cassette":"1.0","expect":[]}\n', "1: expected `object`, got `array`"),
    "origin": (b'{"cassette":"1.0","origin":"dream"}\n', "1: invalid enum value 'dream'"),
    "not UTF-8": (HEADER + b'{"text":"\xff"}\n' + END, "2:10: not UTF-8"),
    "broken JSON": (HEADER + b'{"text":"a",}\n', "2:13: broken JSON: trailing comma"),
    "ends too soon": (HEADER + b'{"text":"a"\n' + END, "2:12: broken JSON"),
    "half a pair": (HEADER + b'{"text":"\\ud800"}\n' + END, "2:18: broken JSON"),
    "NaN": (HEADER + b'{"ms":NaN}\n', "2:7: broken JSON: invalid character"),
    "infinite": (HEADER + b'{"ms":1e999}\n', "2: number out of range"),
    "negative time": (OPENED + b'{"ms":-1,"text":""}\n', "4: expected `float` >= 0.0 at `ms`"),
    "deep": (HEADER + b'{"request":{"json":' + b"[" * 100_000 + b"\n", "2: the JSON is nested too"),
    "deep unknown": (HEADER + b'{"x":' + b"[" * 100_000 + b"\n", "2: the JSON is nested too"),
    "deep header": (b'{"cassette":' + b"[" * 100_000 + b"\n", "1: the JSON is nested too deeply"),
    "bad hex": (OPENED + b'{"hex":"c"}\n', "4: expected pairs of hexadecimal digits"),
    "blank in hex": (OPENED + b'{"hex":"c3 a9"}\n', "4: expected pairs of hexadecimal digits"),
    "second header": (HEADER * 2, "2: a second header"),
    "two kinds": (OPENED + b'{"text":"a","hex":"61"}\n', "4: one line holds both `text` and `hex`"),
    "data first": (HEADER + REQUEST + b'{"text":"a"}\n', "3: data before the response"),
    "data alone": (HEADER + b'{"text":"a"}\n', "2: `text` before the request"),
    "no request": (HEADER + RESPONSE, "2: `response` before the request"),
    "other exchange": (OPENED + b'{"text":"","exchange":2}\n', "4: `text` before the request"),
    "two responses": (OPENED + RESPONSE, "4: a second response of exchange 1"),
    "same number": (OPENED + b'{"request":{},"exchange":1}\n', "4: a second request of exchange 1"),
    "data after end": (OPENED + END + b'{"text":"a"}\n', "5: `text` after the end of exchange 1"),
    "two ends": (OPENED + END + END, "5: a second `end` of exchange 1"),
    "two seen": (OPENED + END + b'{"seen":[]}\n' * 2, "6: a second `seen` of exchange 1"),
    "unknown end": (OPENED + b'{"end":"boredom"}\n', "4: invalid enum value 'boredom' at `end`"),
    "unknown end, no LF": (OPENED + b'{"end":"boredom"}', "4: invalid enum value 'boredom'"),
    "deep, no LF": (OPENED + b'{"x":' + b"[" * 100_000, "4: the JSON is nested too deeply"),
    "exchange 0": (HEADER + b'{"request":{},"exchange":0}\n', "2: expected `int` >= 1"),
    "bytes": (OPENED + b'{"end":"eof","bytes":1}\n', "4: the end states 1 bytes, exchange 1 has 0"),
    "chunks": (OPENED + b'{"end":"eof","chunks":1}\n', "4: the end states 1 chunks"),
    "hash": (OPENED + b'{"end":"eof","sha256":"00"}\n', "4: the end states another sha256"),
    "type of text": (OPENED + b'{"text":1}\n', "4: expected `str`, got `int` at `text`"),
    "type of user_choices": (
        HEADER + b'{"request":{},"user_choices":[]}\n',
        "2: expected `object | null`, got `array` at `user_choices`",
    ),
    "type of seen": (OPENED + b'{"seen":[1]}\n', "4: expected `object`, got `int` at `seen[0]`"),
    "type of headers": (HEADER + b'{"request":{"headers":{}}}\n', "2: expected `array`"),
    "a long line": (
        HEADER + b'{"text":"' + b"a" * MAX_LINE + b'"}\n',
        "2: the line is longer than",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gives_one_clear_line(tmp_path: Path, case: str) -> None:
    data, expected = BAD[case]
    path = written(tmp_path, data)
    for reader in (read, lambda p: list(exchanges(p))):
        with pytest.raises(CassetteError) as caught:
            reader(path)
        message = str(caught.value)
        assert message.startswith(f"{path}:")
        assert expected in message
        assert "\n" not in message
        assert len(caught.value.text) <= 200


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.cassette.jsonl", None, "cannot be read: no such file"),
        (".", None, "cannot be read: is a directory"),
        ("a.cassette.jsonl.gz", b"plain", "damaged .gz file"),
        (
            "b.cassette.jsonl.gz",
            gzip.compress(HEADER, mtime=0)[:-8] + b"\0" * 8,
            "damaged .gz file",
        ),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, data: bytes | None, expected: str) -> None:
    path = tmp_path / name if data is None else written(tmp_path, data, name)
    with pytest.raises(CassetteError, match=expected):
        read(path)


def test_a_line_of_50_mb_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = written(tmp_path, OPENED + b'{"text":"' + b"a" * 50_000_000 + b'"}\n')
    tracemalloc.start()
    with pytest.raises(CassetteError, match="longer than 16,777,216 bytes"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * MAX_LINE


@pytest.mark.parametrize("filler", [b'{"x":"' + b"a" * 1000 + b'"}\n', b"a"])
def test_a_gzip_bomb_is_refused_in_bounded_memory(tmp_path: Path, filler: bytes) -> None:
    path = tmp_path / "bomb.cassette.jsonl.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(HEADER)
        for _ in range(64):
            stream.write(filler * (1_000_000 // len(filler)))
    tracemalloc.start()
    with pytest.raises(CassetteError, match=r"holds more than|longer than"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * MAX_LINE


def test_gzip_is_read_and_a_cut_one_is_torn(tmp_path: Path) -> None:
    packed = gzip.compress(EXAMPLE * 1, mtime=0)
    whole = read(written(tmp_path, packed, "a.cassette.jsonl.gz"))
    assert whole.exchanges[0].end == "eof"
    assert read(written(tmp_path, packed[:-30], "b.cassette.jsonl.gz")).torn


def test_zstd_without_a_module_has_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    path = written(tmp_path, b"", "a.cassette.jsonl.zst")
    with pytest.raises(CassetteError, match=r"needs Python 3\.14 or .*pip install"):
        read(path)


def test_zstd_is_read_with_either_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = SimpleNamespace(open=gzip.open, ZstdError=gzip.BadGzipFile)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "zstandard", stand_in)
    path = written(tmp_path, gzip.compress(EXAMPLE), "a.cassette.jsonl.zst")
    assert read(path).exchanges[0].end == "eof"


def test_max_bytes_bounds_the_file(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="holds more than 100 bytes"):
        read(written(tmp_path, EXAMPLE), max_bytes=100)


def test_a_seal_is_verified(tmp_path: Path) -> None:
    seal = f'{{"end":"eof","chunks":0,"bytes":0,"sha256":"{EMPTY_SHA}"}}\n'.encode()
    assert read(written(tmp_path, OPENED + seal)).sealed
    assert not read(written(tmp_path, OPENED + END)).sealed


def test_the_final_line_feed_may_be_missing(tmp_path: Path) -> None:
    cassette = read(written(tmp_path, (OPENED + END).rstrip()))
    assert not cassette.torn
    assert cassette.exchanges[0].end == "eof"


def test_bytes_are_located_on_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path, EXAMPLE)
    body = b"".join(chunk.data for chunk in read(path).exchanges[0].chunks)
    lines = EXAMPLE.split(b"\n")
    found = locate(path, 1, [-1, 0, 33, 34, 46, 47, len(body) - 1, len(body) + 9])
    assert found == [3, 4, 4, 5, 5, 7, 8, 8]
    assert lines[5 - 1] == b'{"text":"event: respon"}'
    with pytest.raises(UsageError, match="has no exchange 2"):
        locate(path, 2, [0])


def test_large_file_is_read_by_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The package exports a function of the module's name.
    monkeypatch.setattr(sys.modules["conformance.cassette.read"], "_HOLD", 2)
    one = REQUEST + RESPONSE + b'{"text":"data"}\n' + END
    late = written(tmp_path, HEADER + one * 2 + b'{"seen":[],"exchange":1}\n')
    assert read(late).exchanges[0].seen == ()
    found = exchanges(late)
    assert next(found).seen is None
    with pytest.raises(CassetteError, match=r":10: `seen` of exchange 1 comes too late"):
        next(found)
    early = written(tmp_path, HEADER + (one + b'{"seen":[]}\n') * 3)
    assert [exchange.seen for exchange in exchanges(early)] == [(), (), ()]


def test_many_small_exchanges_take_linear_time(tmp_path: Path) -> None:
    one = b'{"request":null}\n{"response":null}\n{"text":"a"}\n{"end":"eof"}\n'

    def read_exchanges(size: int) -> None:
        assert sum(1 for _ in exchanges(written(tmp_path, HEADER + one * size))) == size

    assert grows_linearly(read_exchanges, 10_000)


def test_requests_spelled_the_same_are_held_once(tmp_path: Path) -> None:
    """A true is no 1, and a 1 no 1.0: only what is spelled alike is one value."""
    bodies: list[Any] = [{"n": 1}, {"n": 1}, {"n": True}, {"n": 1.0}, {"n": 10**30}, {"n": 10**30}]
    path = tmp_path / "a.cassette.jsonl"
    asked = {"method": "POST", "path": "/", "headers": []}
    lines: list[Any] = [{"cassette": "1.0", "origin": "live"}]
    lines += [{"request": {**asked, "json": each}} for each in bodies]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    requests = [each.request for each in read(path).exchanges]
    assert [repr(each and each.json) for each in requests] == list(map(repr, bodies))
    assert requests[0] is requests[1]
    assert requests[2] is not requests[1]
