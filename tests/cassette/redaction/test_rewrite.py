"""`redact` writes a file line by line: what it does not know stays, torn files stay torn."""

from __future__ import annotations

import gzip
import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import Redactor, read, redact
from conformance.cassette.redaction.rewrite import rewrite
from conformance.cassette.redaction.scan import scan
from conformance.core import shipped
from tests.each import each

KEY = "sk-ab12cd34ef56ab12cd34ef56"
OWN = "my-own-k3y-77"
HEADER = {"cassette": "1.3", "dialect": "openai.chat", "epoch": 7, "mood": {"api_key": "hunter22"}}
REQUEST = {
    "request": {
        "method": "POST",
        "path": f"/v1/chat?key={KEY}",
        "headers": [["x-own", OWN], ["accept", "*/*"]],
        "json": {"model": "m"},
        "trailers": [["x", OWN]],
    },
    "exchange": 3,
    "weather": f"{KEY} rain",
}
LINES: list[dict[str, Any]] = [
    HEADER,
    {"humidity": {"of": [1.50, OWN]}, "exchange": 3},
    REQUEST,
    {"response": {"status": 200, "headers": [["x-own", "a"]], "phase": "early"}, "ms": 4},
    {"ms": 1.0, "text": 'data: {"a": "', "colour": "red"},
    {"ms": 1.00, "text": KEY[:9]},
    {"text": KEY[9:] + '"}\n\n', "colour": KEY},
    {"ms": None, "hex": "c3"},
    {"seal": "broken", "note": OWN},
    {"end": "eof", "mood": "calm"},
    {"redactions": [{"rule": "header", "count": 2}]},
]


def clean(source: Path, target: Path) -> bytes:
    redactor, found = Redactor(), read(source)
    rewrite(source, target, found, redact(found, redactor), redactor)
    return target.read_bytes()


def written(path: Path, lines: list[Any], tail: str = "") -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines) + tail, encoding="utf-8")
    return path


def test_what_is_unknown_survives_without_secrets(tmp_path: Path) -> None:
    source = written(tmp_path / "a.cassette.jsonl", LINES)
    found = clean(source, tmp_path / "b.cassette.jsonl")
    assert KEY.encode() not in found
    assert OWN.encode() not in found
    assert b"hunter22" not in found
    assert not list(scan(tmp_path / "b.cassette.jsonl"))
    kept = [json.loads(line) for line in found.splitlines()]
    for before, after in zip(LINES, kept, strict=False):
        assert before.keys() - after.keys() == set()
    assert kept[0]["epoch"] == 7
    assert kept[1]["humidity"]["of"][0] == 1.5
    assert kept[2]["request"]["trailers"][0][0] == "x"
    assert kept[3]["response"]["phase"] == "early"
    raw = [json.dumps(each).encode() for each in LINES]
    assert [found.splitlines()[at] == raw[at] for at in (4, 7, 9)] == [True] * 3
    expected = redact(read(source), Redactor())
    again = read(tmp_path / "b.cassette.jsonl")
    assert [e.request and e.request.headers for e in again.exchanges] == [
        e.request and e.request.headers for e in expected.exchanges
    ]
    totals = {each.rule: each.count for each in chain(again.header.redactions, again.trailer)}
    assert totals["header"] >= 2
    assert clean(tmp_path / "b.cassette.jsonl", tmp_path / "c.cassette.jsonl") == found


@pytest.mark.parametrize("tail", ["", '{"en', '{"seen": [{"key": "' + KEY[:20], "{"])
def test_a_torn_file_stays_torn(tmp_path: Path, tail: str) -> None:
    source = written(tmp_path / "a.cassette.jsonl", LINES[: 10 if tail else 8], tail)
    assert read(source).torn
    found = clean(source, tmp_path / "b.cassette.jsonl")
    assert KEY[:20].encode() not in found
    again = read(tmp_path / "b.cassette.jsonl")
    assert again.torn
    assert [each.end for each in again.exchanges] == ["eof" if tail else "open"]
    assert clean(tmp_path / "b.cassette.jsonl", tmp_path / "c.cassette.jsonl") == found


def test_a_torn_exchange_says_what_was_touched(tmp_path: Path) -> None:
    source = written(tmp_path / "a.cassette.jsonl", LINES[:8])
    redactor, found = Redactor(), read(source)
    touched = tuple(replace(each, touched=("*",)) for each in redact(found, redactor).exchanges)
    target = tmp_path / "b.cassette.jsonl"
    rewrite(source, target, found, replace(found, exchanges=touched), redactor)
    again = read(target)
    assert again.torn
    assert again.exchanges[0].touched == ("*",)


def test_a_name_that_stands_twice_hides_nothing(tmp_path: Path) -> None:
    request = json.dumps({"request": {"method": "POST", "path": "/"}})
    headers = f'"headers": [["x-own", "{OWN}"]], "headers": []'
    twins = request.replace('{"method"', f'{{{headers}, "method"')
    source = written(tmp_path / "a.cassette.jsonl", [HEADER], f"{twins}\n")
    assert OWN.encode() not in clean(source, tmp_path / "b.cassette.jsonl")


@pytest.mark.slow
@each(sorted(shipped.cassettes().rglob("*.cassette.jsonl"))[::7])
def test_a_recording_without_secrets_stays_byte_for_byte(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.cassette.jsonl"
    found, redactor = clean(path, target), Redactor()
    redact(read(path), redactor)
    if not redactor.counts():
        assert found == path.read_bytes()
    assert clean(target, tmp_path / "b.cassette.jsonl") == found


def test_a_compressed_file_is_written_compressed(tmp_path: Path) -> None:
    source = tmp_path / "a.cassette.jsonl.gz"
    source.write_bytes(gzip.compress(written(tmp_path / "a.jsonl", LINES).read_bytes()))
    assert KEY.encode() not in gzip.decompress(clean(source, tmp_path / "b.cassette.jsonl.gz"))
