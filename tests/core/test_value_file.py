"""The file of built values: what is torn, damaged or another user's is as if it were not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.core.value_file import replace, sealed, unsealed

PACKED = b"packed values"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "build" / "values" / "some.pickle"
    replace(file, sealed(PACKED))
    return file


@pytest.mark.parametrize("only_own", [True, False])
def test_what_is_whole_is_read(file: Path, *, only_own: bool) -> None:
    assert unsealed(file, only_own=only_own) == PACKED


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("only_own", [True, False])
def test_what_is_torn_or_damaged_is_not(file: Path, *, only_own: bool) -> None:
    whole = file.read_bytes()
    torn = [whole[:size] for size in range(len(whole))]
    damaged = [flipped(whole, at) for at in range(len(whole))]
    for data in (*torn, *damaged, whole + b"\0"):
        file.write_bytes(data)
        assert unsealed(file, only_own=only_own) is None
    file.unlink()
    assert unsealed(file, only_own=only_own) is None


def as_link(file: Path) -> None:
    file.rename(file.with_name("other"))
    file.symlink_to("other")


def as_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def as_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def as_linked_folder(file: Path) -> None:
    file.parent.rename(file.parent.with_name("other"))
    file.parent.symlink_to("other")


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.chmod(0o620),
        lambda file: file.chmod(0o602),
        lambda file: file.parent.chmod(0o770),
        lambda file: file.parent.chmod(0o1777),
        as_link,
        as_linked_folder,
        as_pipe,
        as_folder,
    ],
)
def test_what_another_may_have_written_is_not(file: Path, change: Callable[[Path], None]) -> None:
    change(file)
    assert unsealed(file, only_own=True) is None


def test_what_another_user_owns_is_not(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    assert unsealed(file, only_own=True) is None


def test_no_file_is_trusted_without_owners(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "geteuid")
    assert unsealed(file, only_own=True) is None


def test_a_folder_and_its_file_are_for_their_owner(file: Path) -> None:
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600


def test_failed_write_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="no space"):
        replace(file, sealed(b"others"))
    assert [*file.parent.iterdir()] == [file]
    assert unsealed(file, only_own=True) == PACKED
