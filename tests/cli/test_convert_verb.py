from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette.read import read
from conformance.cli import main

SSE = b'data: {"choices":[]}\n\ndata: [DONE]\n\n'


@pytest.fixture
def sse(tmp_path: Path) -> Path:
    path = tmp_path / "a.sse"
    path.write_bytes(SSE)
    return path


def body(path: Path) -> bytes:
    return b"".join(chunk.data for e in read(path).exchanges for chunk in e.chunks)


def test_sse_file_comes_back(sse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cassette, again = tmp_path / "a.cassette.jsonl", tmp_path / "b.sse"
    arguments = ["convert", str(sse), str(cassette), "--dialect", "openai.chat", "--profile", "xai"]
    assert main([*arguments, "--seal"]) == 0
    assert capsys.readouterr().out == (
        f"{cassette}: 1 exchange, 1 chunk, {len(SSE)} bytes, 0 redacted\n"
    )
    header = read(cassette).header
    assert (header.origin, header.dialect, header.profile) == ("imported", "openai.chat", "xai")
    assert read(cassette).sealed
    assert body(cassette) == SSE
    assert main(["convert", str(cassette), str(again)]) == 0
    assert again.read_bytes() == SSE


def test_force_replaces_file(sse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "a.cassette.jsonl"
    target.write_text("mine")
    assert main(["convert", str(sse), str(target)]) == 2
    assert "already exists (--force replaces it)" in capsys.readouterr().err
    assert target.read_text() == "mine"
    assert main(["convert", str(sse), str(target), "--force"]) == 0
    assert body(target) == SSE


def test_secrets_go_unless_they_are_requested(tmp_path: Path) -> None:
    secret = b"sk-proj-" + b"a1B2" * 10
    source = tmp_path / "a.sse"
    source.write_bytes(b'data: {"key":"' + secret + b'"}\n\n')
    clean, kept = tmp_path / "clean.cassette.jsonl", tmp_path / "kept.cassette.jsonl"
    assert main(["convert", str(source), str(clean)]) == 0
    assert main(["convert", str(source), str(kept), "--no-redact"]) == 0
    assert secret not in body(clean)
    assert len(body(clean)) == len(body(kept))
    assert secret in body(kept)


def test_a_cassette_is_not_redacted_twice(sse: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.cassette.jsonl", tmp_path / "b.cassette.jsonl"
    sse.write_bytes(b'data: {"encrypted_content":"gAAAAABabcdefghijklmnopqrstuvwxyz012345"}\n\n')
    assert main(["convert", str(sse), str(first)]) == 0
    assert main(["convert", str(first), str(second)]) == 0
    assert first.read_bytes() == second.read_bytes()


def test_sse_is_one_exchange(sse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = tmp_path / "a.cassette.jsonl"
    main(["convert", str(sse), str(one)])
    lines = one.read_text().splitlines()
    two = tmp_path / "two.cassette.jsonl"
    later = [line.replace('"exchange":1', '"exchange":2') for line in lines[1:]]
    two.write_text("\n".join([*lines, *later]) + "\n")
    target = tmp_path / "out.sse"
    capsys.readouterr()
    assert main(["convert", str(two), str(target)]) == 2
    assert "2 fit (--exchange chooses, there are: 1, 2)" in capsys.readouterr().err
    assert main(["convert", str(two), str(target), "--exchange", "2"]) == 0
    assert target.read_bytes() == SSE


WRONG = [
    (["{sse}", "{folder}/x.txt"], "x.txt: expected a name in .cassette.jsonl or .sse"),
    (["{sse}", "{folder}/x.sse", "--dialect", "openai.chap"], "did you mean 'openai.chat'?"),
    (["{folder}/none.sse", "{folder}/x.sse"], "none.sse: "),
    (["{sse}", "{folder}/no/x.sse"], "cannot be written"),
    (["{sse}", "{folder}/no/x.cassette.jsonl"], "cannot be written"),
]


@pytest.mark.parametrize(("arguments", "line"), WRONG)
def test_a_wrong_call_leaves_nothing_over(
    arguments: list[str], line: str, sse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [each.format(sse=sse, folder=tmp_path) for each in arguments]
    assert main(["convert", *filled]) == 2
    err = capsys.readouterr().err
    assert line in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [sse]
