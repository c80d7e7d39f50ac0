"""The command ends quietly wherever it is interrupted."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from conformance.__main__ import main


@pytest.fixture
def handlers() -> Iterator[None]:
    kept = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, kept)


class Interrupting(ModuleType):
    """A module whose import Ctrl-C ends."""

    def __getattr__(self, name: str) -> object:
        raise KeyboardInterrupt


@pytest.mark.usefixtures("handlers")
def test_an_interrupted_import_is_one_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "conformance.cli", Interrupting("conformance.cli"))
    assert main() == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
