"""Token ids as raw text, by tokenizers in files."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from conformance.cassette.recording import open_recording
from conformance.cassette.token_ids import detokenized
from conformance.cli import main
from conformance.core.errors import CassetteError, UsageError

SUN = "ひ".encode()
IDS = [200005, 0, 200008, 1, 2, 200007]
TEXT = "<|channel|>analysis<|message|>ひ<|end|>"


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    tokens = (b"analysis", SUN[:1], SUN[1:])
    lines = [f"{base64.b64encode(token).decode()} {n}\n" for n, token in enumerate(tokens)]
    path = tmp_path / "small.tiktoken"
    path.write_text("".join(lines))
    return path


@pytest.fixture
def hugging_face(tmp_path: Path) -> Path:
    # A byte-level vocabulary spells bytes as letters: E3, 81 and B2 are these.
    model = {"vocab": {"analysis": 0, "\u00e3": 1, "\u0123\u00b2": 2}, "type": "BPE"}
    added = {200005: "<|channel|>", 200007: "<|end|>", 200008: "<|message|>"}
    stated = [{"id": number, "content": text, "special": True} for number, text in added.items()]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": model, "added_tokens": stated}))
    return path


def stored(folder: Path, text: str, name: str = "ids.json") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("tokenizer", ["ranks", "hugging_face"])
def test_each_id_is_a_chunk(tokenizer: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    source = stored(tmp_path, json.dumps(IDS))
    [exchange] = detokenized(source, request.getfixturevalue(tokenizer)).exchanges
    assert exchange.body.decode() == TEXT
    assert len(exchange.chunks) == len(IDS)


def test_every_line_of_arrays_is_a_chunk(ranks: Path, tmp_path: Path) -> None:
    source = stored(tmp_path, "[200005, 0]\n[200008, 1]\n\n[2, 200007]\n", "ids.jsonl")
    [exchange] = detokenized(source, ranks).exchanges
    assert [len(chunk.data) for chunk in exchange.chunks] == [19, 12, 9]


def test_an_array_over_several_lines_is_one(ranks: Path, tmp_path: Path) -> None:
    source = stored(tmp_path, json.dumps(IDS, indent=1))
    assert detokenized(source, ranks).exchanges[0].body.decode() == TEXT


def test_a_token_that_is_not_known_is_named(ranks: Path, tmp_path: Path) -> None:
    source = stored(tmp_path, "[0, 77]")
    with pytest.raises(CassetteError, match="knows no token 77"):
        detokenized(source, ranks)


def test_what_is_no_array_of_numbers_is_refused(ranks: Path, tmp_path: Path) -> None:
    source = stored(tmp_path, '[0]\n["a"]\n')
    with pytest.raises(CassetteError, match=r":2: expected arrays of whole numbers"):
        detokenized(source, ranks)


@pytest.mark.parametrize("name", ["tokenizer.json", "broken.tiktoken", "none.tiktoken"])
def test_a_file_that_is_no_tokenizer_is_refused(name: str, tmp_path: Path) -> None:
    tokenizer = tmp_path / name
    if "none" not in name:
        tokenizer.write_text("{}")
    with pytest.raises(UsageError, match=name):
        detokenized(stored(tmp_path, "[0]"), tokenizer)


@pytest.mark.parametrize("name", ["ids.json", "ids.jsonl"])
def test_without_a_tokenizer_ids_are_refused_clearly(name: str, tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match=r"holds token ids .*--tokenizer"):
        open_recording(stored(tmp_path, "[200005, 0]\n", name))


def test_convert_makes_a_recording_of_ids(ranks: Path, tmp_path: Path) -> None:
    source, target = stored(tmp_path, json.dumps(IDS)), tmp_path / "out.cassette.jsonl"
    arguments = ["--tokenizer", str(ranks), "--dialect", "harmony"]
    assert main(["convert", str(source), str(target), *arguments]) == 0
    [exchange] = open_recording(target).exchanges
    assert (exchange.body.decode(), exchange.dialect) == (TEXT, "harmony")
