"""Finding recordings, and what importing the package costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cassette import (
    Cassette,
    Header,
    convert,
    discover,
    inspect,
    is_recording,
    locate,
    open_recording,
    read,
    write,
)
from conformance.cassette.header import named_target
from conformance.core.errors import CassetteError, UsageError


def filled(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, Cassette(Header()))
    return path


def test_folders_give_their_cassettes_sorted(tmp_path: Path) -> None:
    found = [
        filled(tmp_path / name)
        for name in ("a.cassette.jsonl", "b/c.cassette.jsonl.gz", "b/d.sse", "e.CASSETTE.jsonl")
    ]
    for name in ("mutants/x.cassette.jsonl", "b/mutants/y/z.sse"):
        filled(tmp_path / name)
    for name in ("f.jsonl", "g.json", "h.yaml", "i.txt", "j"):
        (tmp_path / name).write_text('{"name": "something else"}\n')
    assert discover(tmp_path) == tuple(sorted(found))
    assert len(discover(tmp_path / "mutants")) == 1


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", filled(tmp_path / "out" / "a.sse")
    real = filled(inside / "b.sse")
    (inside / "c.sse").symlink_to(outside)
    (inside / "d").symlink_to(tmp_path / "out")
    (inside / "e.sse").symlink_to(real)
    (inside / "f.sse").symlink_to(inside / "f.sse")
    assert [path.name for path in discover(inside)] == ["b.sse", "e.sse"]


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="expected a folder"):
        discover(tmp_path / "missing")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.cassette.jsonl", "", True),
        ("a.cassette.jsonl.zst", "", True),
        ("a.SSE", "", True),
        ("a.chunks.txt", "", True),
        ("a.txt", "", False),
        ("a.py", "", False),
        ("a.yml", "version: 1\ninteractions: []\n", True),
        ("a.yaml", "suite: x\n", False),
    ],
)
def test_recordings_are_known_by_name(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert is_recording(path) == expected
    assert not is_recording(tmp_path / "missing.yaml")


def test_an_exchange_that_is_not_there_cannot_be_located(tmp_path: Path) -> None:
    path = tmp_path / "a.sse"
    path.write_text("data: 1\n\n")
    with pytest.raises(UsageError, match="has no exchange 0"):
        locate(path, 0, [0])


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, conformance.cassette; print({'yaml', 'httpx'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def captures() -> list[Path]:
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        return []
    files = (path for path in sorted(Path(folder).glob("*/*")) if path.is_file())
    return [path for path in files if path.suffix != ".bin"]


@pytest.mark.slow
@pytest.mark.captures
def test_real_recordings_survive_conversion(tmp_path: Path) -> None:
    paths = captures()
    if not paths:
        pytest.skip("CONFORMANCE_CAPTURES is not set")
    target, again = tmp_path / "a.cassette.jsonl", tmp_path / "b.cassette.jsonl"
    for path in paths:
        source = open_recording(path)
        convert(path, target, clean=False, seal=True)
        assert read(target).exchanges == source.exchanges, path
        write(again, read(target))
        assert again.read_bytes() == target.read_bytes()
        body = source.exchanges[0].body
        if source.header.fidelity == "bytes":
            assert body == path.read_bytes()
        clean = convert(path, target)
        assert len(clean.exchanges[0].body) == len(body)
        assert sum(1 for _ in inspect(clean.exchanges[0])) > 2
        [line] = source.locate(1, [len(body) - 1])
        assert 1 <= line <= path.read_bytes().count(b"\n") + 1


@pytest.mark.parametrize(
    ("named", "name", "version"),
    [
        ("ogx-1.5.0", "ogx", "1.5.0"),
        ("pydantic-ai-2.68.0", "pydantic-ai", "2.68.0"),
        ("vllm-v0.9.1-rc1", "vllm", "v0.9.1-rc1"),
        ("acme-2026-11-28", "acme", "2026-11-28"),
        ("acme-main", "acme", "main"),
        ("acme", "acme", None),
        ("", None, None),
    ],
)
def test_a_version_begins_with_a_digit(named: str, name: str | None, version: str | None) -> None:
    found = named_target(named)
    assert (found.get("name"), found.get("version")) == (name, version)
