from __future__ import annotations

import io
import sys

import pytest

from conformance.cli.terminal import has_colour, progress_line, put


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


COLOUR = [
    ({}, True, True),
    ({"NO_COLOR": "1"}, True, False),
    ({"NO_COLOR": ""}, True, True),  # https://no-color.org: set and not empty
    ({"TERM": "dumb"}, True, False),
    ({}, False, False),
]


@pytest.mark.parametrize(("environment", "is_terminal", "wanted"), COLOUR)
def test_colour_only_on_a_willing_terminal(
    environment: dict[str, str], is_terminal: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal() if is_terminal else io.StringIO())
    assert has_colour() is wanted


def test_progress_is_silent_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_line("working"):
        pass
    assert stream.getvalue() == ""


def test_progress_clears_its_line_even_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(ValueError, match="no"), progress_line("working"):
        raise ValueError("no")
    assert stream.getvalue() == "\r\x1b[Kworking\r\x1b[K"


def test_put_ends_the_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    put("a")
    put("b\n")
    assert capsys.readouterr().out == "a\nb\n"
