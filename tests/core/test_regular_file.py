"""A pipe or a device is refused before it is opened; a shell's own are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.core.regular_file import expect_regular


def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        expect_regular(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with pytest.raises(OSError, match="no regular file"):
        expect_regular(tmp_path / "link")


def test_a_device_is_refused_and_nothing_is_not_there() -> None:
    with pytest.raises(OSError, match="no regular file"):
        expect_regular(Path("/dev/zero"))
    with pytest.raises(FileNotFoundError):
        expect_regular(Path("/nowhere"))


def test_files_folders_and_what_a_shell_hands_over_are_let_through(tmp_path: Path) -> None:
    expect_regular(tmp_path)
    expect_regular(Path(__file__))
    read, write = os.pipe()
    try:
        expect_regular(Path(f"/dev/fd/{read}"))
    finally:
        os.close(read)
        os.close(write)
