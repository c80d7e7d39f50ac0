"""What a file is that holds no answer: every verb says it in words."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette.content import described_content
from conformance.cli import main
from tests.cassette.saved_files import stored


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.sse", "data: 1\n\n")
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.sse"))
    return out.getvalue()


PAGE: Final = "<!doctype html>\n<html><head><title>\n 502 Bad &amp; Gateway</title></head></html>"
SAID: Final[dict[str, tuple[bytes | str, str]]] = {
    "page": (PAGE, "an HTML page: 502 Bad & Gateway"),
    "page with a mark": ("\ufeff" + PAGE, "an HTML page: 502 Bad & Gateway"),
    "page without a title": ("<html><body><h1>Oh no</h1>", "an HTML page: Oh no"),
    "page of nothing": ("<HTML>", "an HTML page"),
    "xml": ("<?xml version='1.0'?><Error/>", "an XML document"),
    "error event": ('data: {"error":{"message":"overloaded"}}\n\n', "an error answer: overloaded"),
    "error body": ('{"error": "model not found"}', "an error answer: model not found"),
    "errors in a list": ('[{"error": {"message": "quota"}}]', "an error answer: quota"),
    "detail": ('{"detail": "Not Found"}', "an error answer: Not Found"),
    "text": ("The answer is 4.\nBye.", "text, and no stream: 'The answer is 4.'"),
    "zip": (zipped(), "a zip archive: unpack it first"),
    "tar": (tarred(), "a tar archive: unpack it first"),
    "packed twice": (gzip.compress(b"x"), "packed twice by gzip: unpack it first"),
    "picture": (b"\x89PNG\r\n\x1a\n", "a picture"),
}


@pytest.mark.parametrize("case", SAID)
def test_it_says_what_the_bytes_are(case: str) -> None:
    data, words = SAID[case]
    assert described_content(data.encode() if isinstance(data, str) else data) == words


@pytest.mark.parametrize("text", ["", ": ping\n\n", 'data: {"a": 1}\n\n', '{"a": 1}', "\x00\x01"])
def test_what_may_be_an_answer_is_not_described(text: str) -> None:
    assert described_content(text.encode()) is None


def test_words_are_one_line_and_short() -> None:
    text = described_content(json.dumps({"error": "a\n" * 500}).encode())
    assert text is not None
    assert len(text) < 150
    assert "\n" not in text


@given(st.binary(max_size=600))
def test_any_bytes_are_described_or_not(data: bytes) -> None:
    text = described_content(data)
    assert text is None or "\n" not in text


@pytest.mark.parametrize("verb", ["check", "identify"])
@pytest.mark.parametrize("name", ["a.sse", "a.html", "a"])
def test_a_verb_says_it_with_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, name: str
) -> None:
    file = stored(tmp_path, name, PAGE)
    assert main([verb, str(file)]) == 2
    error = capsys.readouterr().err
    assert f"{file}: no answer of a model, but an HTML page: 502 Bad & Gateway" in error
