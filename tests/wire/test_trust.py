from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.core.errors import UsageError
from conformance.wire.trust import certificates


def test_a_named_pipe_is_refused_unread(tmp_path: Path) -> None:
    """Reading it would wait for somebody who writes."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="cannot be read as certificates"):
        certificates(str(tmp_path / "pipe"))


def test_a_file_without_an_authority_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("x")
    with pytest.raises(UsageError, match="cannot be read as certificates"):
        certificates(str(tmp_path / "empty.pem"))
