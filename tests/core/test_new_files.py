"""Who may read what we write."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance.cassette import Cassette, Header, write
from conformance.core.new_files import create_file
from conformance.report.files import write_whole


@pytest.fixture(autouse=True)
def _open_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def write_cassette(path: Path) -> None:
    write(path, Cassette(Header(dialect="openai.chat"), ()))


WRITERS: list[Callable[[Path], None]] = [
    write_cassette,
    lambda path: write_whole(path, b"a report"),
    lambda path: create_file(path, exclusive=not path.exists()).close(),
]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("writes", WRITERS)
def test_a_new_file_is_for_its_owner_alone(writes: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "new.cassette.jsonl"
    writes(path)
    assert mode(path) == 0o600


@pytest.mark.parametrize("writes", WRITERS)
@pytest.mark.parametrize("kept", [0o644, 0o664, 0o400 | 0o200, 0o666])
def test_replaced_file_keeps_mode(
    writes: Callable[[Path], None], kept: int, tmp_path: Path
) -> None:
    path = tmp_path / "old.cassette.jsonl"
    path.touch()
    path.chmod(kept)
    writes(path)
    assert mode(path) == kept


@pytest.mark.parametrize("writes", WRITERS)
def test_shared_folder_keeps_its_readers(writes: Callable[[Path], None], tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o2775)
    writes(shared / "new.cassette.jsonl")
    assert mode(shared / "new.cassette.jsonl") == 0o644


@pytest.mark.parametrize("writes", WRITERS)
def test_an_access_list_of_a_folder_counts(
    writes: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getxattr", lambda *_: b"a list", raising=False)
    writes(tmp_path / "new.cassette.jsonl")
    assert mode(tmp_path / "new.cassette.jsonl") == 0o644
